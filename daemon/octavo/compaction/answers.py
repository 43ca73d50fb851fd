"""Judge what a summarising model answered: repair what can be repaired without guessing, refuse the rest.

Knows text, not sessions: whether a whole compaction may be committed is `checks`' subject. Known failures BR-070,
BR-071, BR-073; engine.md §17b item 59.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from octavo.compaction.file_operations import strip_file_blocks
from octavo.compaction.neutralise import boundaries, has_boundary
from octavo.js_text import utf16_length, well_formed

UNKNOWN_INPUT = 1 << 60
"""`Judge.input_tokens` of a text of which nobody knows what it condenses: neither too large nor too small."""

MIN_LENGTH = 20
"""UTF-16 characters below which an answer is no summary."""

ALWAYS_ALLOWED_TOKENS = 1024
"""A summary this small is never called larger than its input: headings alone outweigh a tiny talk."""

NO_NOTES_TOKENS = 100
"""Fewer tokens than this, without any of the headings asked for, are a refusal or small talk and no notes..."""

NO_NOTES_RATIO = 20
"""... unless there was not much to take notes of: the input has to be this many times larger."""

_HEADING = re.compile(r"^#{1,6} |^\*\*[^*\n]+\*\*", re.MULTILINE)
_REASONING = re.compile(r"\A\s*<(think|thinking|reasoning|analysis)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_WRAPPER = re.compile(
    r"\A\s*<(summary|previous-summary|conversation)>(.*)</\1>\s*\Z",
    re.DOTALL | re.IGNORECASE,
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,400}`", re.DOTALL)
_PROTOCOL = re.compile(
    r"</?(?:tool_call|function_calls?|function_results|invoke|antml:[a-z_]+|tool_response|tool_use|think|thinking)\b[^>\n]{0,200}>"
    r"|<\|[a-z_]{2,40}\|>|<｜[^｜\n]{1,40}｜>|^\[(?:Tool Call|Tool Result|TOOL_CALLS)\]|^```tool_(?:code|outputs)",
    re.MULTILINE | re.IGNORECASE,
)
_TURN = re.compile(r"^(?:Human|\[User\]|\[Assistant\]): ", re.MULTILINE)
_LONG_LINE = 60


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judged answer: its repaired text, why it cannot be used (None when it can), and what was repaired."""

    text: str
    refusal: str | None = None
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judge:
    """What an answer is measured against.

    `prompts` are the instructions the model was given; `input_tokens` is the size of what it should have condensed;
    `count` counts tokens of a text.
    """

    prompts: Sequence[str]
    input_tokens: int
    count: Callable[[str], int]
    minimum: int = MIN_LENGTH
    _lines: list[frozenset[str]] = field(default_factory=list, init=False)

    def judge(self, answer: str) -> Verdict:
        """Return the verdict on one answer."""
        text, notices = _repaired(answer)
        return Verdict(text, self._refusal(text), tuple(notices))

    def _refusal(self, text: str) -> str | None:
        if not text:
            return "it held no text"
        if utf16_length(text) < self.minimum:
            return f"it was only {utf16_length(text)} characters long"
        prose = _CODE.sub(" ", text)
        if _PROTOCOL.search(prose):
            return "it held tool-call or reasoning markup"
        if _TURN.search(prose):
            return "it carried the conversation on"
        if self._echoes(text):
            return "it repeated its instructions"
        tokens = self.count(text)
        if self._says_nothing(text, tokens):
            return f"it had none of the headings asked for and {tokens} tokens for {self.input_tokens}"
        if tokens > max(self.input_tokens, ALWAYS_ALLOWED_TOKENS):
            return f"it was larger than what it summarises ({tokens} of {self.input_tokens} tokens)"
        return None

    def _says_nothing(self, text: str, tokens: int) -> bool:
        """A polite refusal would take the place of everything that was said, and look like a summary doing so."""
        asked = any(_HEADING.search(prompt) for prompt in self.prompts)
        return (
            asked
            and tokens < NO_NOTES_TOKENS
            and NO_NOTES_TOKENS * NO_NOTES_RATIO <= self.input_tokens < UNKNOWN_INPUT
            and _HEADING.search(text) is None
        )

    def _echoes(self, text: str) -> bool:
        said = {line.strip() for line in text.splitlines()}
        return any(
            line.strip() in said for prompt in self.prompts for line in prompt.splitlines() if len(line) >= _LONG_LINE
        )


def without_reasoning(text: str) -> str:
    """The text without a block of reasoning in front of it."""
    return _REASONING.sub("", text)


def _repaired(answer: str) -> tuple[str, list[str]]:
    notices: list[str] = []
    text = well_formed(answer).strip()
    for pattern, group, notice in (
        (_REASONING, None, "reasoning in front of a summary was removed"),
        (_WRAPPER, 2, "a wrapper element around a summary was removed"),
    ):
        if found := pattern.match(text):
            text = (found[group] if group else text[found.end() :]).strip()
            notices.append(notice)
    bare = strip_file_blocks(text).strip()
    if bare != text:
        text = bare
        notices.append("a file list written by the model was replaced by the recorded one")
    if has_boundary(text):
        text = boundaries(text)
        notices.append("boundary tags inside a summary were made harmless")
    return text, notices
