"""Recognise that a request did not fit: by the provider's words, by its usage figures, by the size of its body.

Two sets of rules. `OverflowRules.SEED` is engine.md §14 exactly (26 patterns plus the empty 400/413 answers). Ours
(`OCTAVO`) asks negative tables first, because a throttling or media-limit message that is taken for an overflow
destroys history for nothing; it also tells a body that is too large from a context that is too long, and answers
"maybe" for words nobody knows when the window is nearly full.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from octavo_protocol.base import JsonObject

OverflowKind = Literal["tokens", "payload", "maybe", "none"]

NEAR_FULL = 0.95
"""Share of the window from which an unknown error counts as a possible overflow."""


class OverflowRules(StrEnum):
    """Whose judgement to apply."""

    SEED = "seed"
    OCTAVO = "octavo"


@dataclass(frozen=True, slots=True)
class OverflowFinding:
    """What was found, with the figures (tokens) that speak for it; 0 where unknown."""

    kind: OverflowKind
    used_tokens: int = 0
    context_window: int = 0


_PATTERNS = (
    r"prompt is too long",
    r"input is too long for requested model",
    r"exceeds the context window",
    r"input token count.*exceeds the maximum",
    r"maximum prompt length is \d+",
    r"reduce the length of the messages",
    r"maximum context length is \d+ tokens",
    r"exceeds the limit of \d+",
    r"exceeds the available context size",
    r"requested tokens?.*exceed.*context (?:window|length|size)",
    r"context (?:window|length|size).*(?:exceeded|overflow|too small)",
    r"(?:prompt|input).*too (?:long|large).*(?:context|n_ctx)",
    r"requested tokens?.*(?:exceeds?|greater than).*(?:n_ctx|context)",
    r"greater than the context length",
    r"context window exceeds limit",
    r"exceeded model token limit",
    r"context[_ ]length[_ ]exceeded",
    r"too many tokens",
    r"token limit exceeded",
    r"request_too_large",
    r"request exceeds the maximum size",
    r"payload too large",
    r"entity too large",
    r"413.*(?:request|payload|entity).*too large",
    r"model_context_window_exceeded",
    r"prompt filled the context window",
)
_PAYLOAD = frozenset(_PATTERNS[19:24])

_OURS_INSTEAD = {r"exceeds the limit of \d+": r"exceeds the limit of [\d,]+(?: tokens|\s*$)"}
_OURS_BESIDES = (
    r"exceeds? (?:the |model )?context limit",
    r"chat history exceeds the \d+[- ]message limit",
    r"prompt contains at least [\d,]+ (?:input )?tokens",
    r"(?:prompt|input) (?:length|tokens?).{0,80}(?:longer|larger|greater) than (?:the )?(?:maximum|max|context)",
    r"maximum context length (?:of|is)",
)
_NEGATIVE = (
    r"rate[ _-]?limit",
    r"too many requests",
    r"\b429\b",
    r"throttl",
    r"tokens? per (?:second|minute|min|hour|day)",
    r"\b[tr]p[md]\b",
    r"quota",
    r"overloaded",
    r"internal server error",
    r"bad gateway",
    r"service unavailable",
    r"gateway time-?out",
    r"(?:image|media|pdf|page|video|audio|attachment|file)s?\b.{0,60}(?:exceed|too (?:large|big|many)|limit|at most)",
    r"(?:exceed|too (?:large|big|many)|at most|more than)\b.{0,40}\b(?:image|pdf|page|video|attachment)s?\b",
    r"(?:max_tokens|max_completion_tokens|max_output_tokens)\b(?!.{0,80}context).{0,80}(?:maximum|exceeds|at most)",
)
_EMPTY_ANSWER = re.compile(r"4(?:00|13)\s*(?:status code)?\s*\(no body\)", re.IGNORECASE)
_SEED = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _PATTERNS)
_POSITIVE = tuple(
    (re.compile(_OURS_INSTEAD.get(pattern, pattern), re.IGNORECASE), pattern in _PAYLOAD) for pattern in _PATTERNS
) + tuple((re.compile(pattern, re.IGNORECASE), False) for pattern in _OURS_BESIDES)
_NEGATIVES = re.compile("|".join(f"(?:{pattern})" for pattern in _NEGATIVE), re.IGNORECASE)
_SCANNED_CHARS = 20_000


def overflow_patterns() -> tuple[re.Pattern[str], ...]:
    """The seed's patterns (engine.md §14), case-insensitive."""
    return _SEED


def is_context_overflow(
    message: JsonObject, context_window: int = 0, rules: OverflowRules = OverflowRules.OCTAVO
) -> bool:
    """Whether an assistant message reports, or by its usage proves, that the context did not fit.

    `context_window` is in tokens, 0 when unknown. Under our rules a "maybe" is no overflow; ask `find_overflow`.
    """
    if rules is OverflowRules.OCTAVO:
        return find_overflow(message, context_window).kind in ("tokens", "payload")
    text = _error_text(message)
    if text and (any(pattern.search(text) for pattern in _SEED) or _EMPTY_ANSWER.search(text)):
        return True
    return 0 < context_window < _input_tokens(message)


def find_overflow(
    message: JsonObject, context_window: int = 0, *, used_tokens: int = 0, status: int | None = None
) -> OverflowFinding:
    """Classify an assistant message under our rules.

    Args:
        message: The message; `stopReason`, `errorMessage` and `usage` are read and may be missing or malformed.
        context_window: Tokens, 0 when unknown.
        used_tokens: Our own estimate of the request, for the "maybe" of an unknown error near a full window.
        status: HTTP status of the answer if known.
    """
    reported = _input_tokens(message)
    used = max(reported, used_tokens)
    if 0 < context_window < reported:
        return OverflowFinding("tokens", used, context_window)
    text = _error_text(message)
    kind = classify_text(text, status) if text else "none"
    near = context_window > 0 and used >= NEAR_FULL * context_window
    if kind == "none" and text and near and not _NEGATIVES.search(text) and (status is None or status < 500):
        kind = "maybe"
    return OverflowFinding(kind, used, context_window)


def classify_text(text: str, status: int | None = None) -> OverflowKind:
    """Judge the words of an error alone: "tokens", "payload" (the body, in bytes) or "none"."""
    text = text[:_SCANNED_CHARS]
    if status == 429 or _NEGATIVES.search(text):
        return "none"
    for pattern, payload in _POSITIVE:
        if pattern.search(text):
            return "payload" if payload else "tokens"
    empty = _EMPTY_ANSWER.search(text)
    if empty:
        return "payload" if empty[0].startswith("413") else "tokens"
    return "payload" if status == 413 else "none"


def _error_text(message: JsonObject) -> str:
    text = message.get("errorMessage")
    return text if message.get("stopReason") == "error" and isinstance(text, str) else ""


def _input_tokens(message: JsonObject) -> int:
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return 0
    return sum(_tokens(usage.get(name)) for name in ("input", "cacheRead", "cacheWrite"))


def _tokens(value: object) -> int:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53:
        return int(value)
    return 0
