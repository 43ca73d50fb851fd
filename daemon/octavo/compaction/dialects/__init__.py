"""Transcripts in the markup each model family was trained on, so that a summariser reads its own tongue.

Rendering only: nothing here decides what a transcript contains. Exact strings: vectors `ser-02-*`; engine.md §7.1.
"""

import re
from collections.abc import Callable

from octavo.compaction.dialects import chatml, delimited, google, prose
from octavo.compaction.dialects.turns import Turns

DIALECTS: dict[str, Callable[[Turns], str]] = {
    "anthropic": prose.anthropic,
    "xml": prose.xml,
    "harmony": delimited.harmony,
    "kimi": delimited.kimi,
    "deepseek": delimited.deepseek,
    "glm": delimited.glm,
    "gemini": google.gemini,
    "gemma": google.gemma,
    "qwen3": chatml.qwen3,
    "hermes": chatml.hermes,
    "pi": chatml.pi,
}

_FAMILIES = (
    ("anthropic", re.compile(r"claude|anthropic")),
    ("harmony", re.compile(r"openai|gpt|codex|(?<![a-z0-9])o[1-9](?![0-9a-z])")),
    ("gemini", re.compile(r"gemini")),
    ("gemma", re.compile(r"gemma")),
    ("glm", re.compile(r"(?<![a-z])glm")),
    ("kimi", re.compile(r"kimi|moonshot")),
    ("qwen3", re.compile(r"qwen|qwq")),
    ("deepseek", re.compile(r"deepseek")),
)


def render(dialect: str, turns: Turns) -> str:
    """Return the transcript in the named dialect; an empty one is the empty string in all of them."""
    return DIALECTS[dialect](turns) if turns else ""


def dialect_of(model_id: str) -> str:
    """Return the dialect of the family a model id names, `xml` for a family we do not know."""
    name = model_id.lower()
    return next((dialect for dialect, pattern in _FAMILIES if pattern.search(name)), "xml")
