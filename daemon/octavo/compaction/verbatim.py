"""What must survive a compaction word for word: the user's newest request and an unanswered question.

Both come from storage, never from a model. A text that is neither kept nor in the summary is appended to it in a fence,
which the context template passes through unchanged. Known failures BR-068, BR-070.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from octavo import templates
from octavo.compaction.entry_messages import blocks, stored_message
from octavo.compaction.extractive_facts import collect_facts, is_request
from octavo.compaction.neutralise import boundaries
from octavo.compaction.summary_sections import quoted
from octavo_protocol.base import JsonObject


@dataclass(frozen=True, slots=True)
class Request:
    """The newest thing a user asked: the entry, its message, and its text."""

    entry_id: str
    message: JsonObject
    text: str

    def is_in(self, messages: Iterable[JsonObject]) -> bool:
        """Whether the very message is among these."""
        return any(message is self.message for message in messages)


def newest_request(path: Sequence[JsonObject]) -> Request | None:
    """Return the newest user message with text on the path, wherever compactions put their boundaries."""
    for entry in reversed(path):
        if entry.get("type") == "reset_boundary":
            return None
        message = stored_message(entry)
        if is_request(message) and (text := user_text(message)):
            return Request(str(entry.get("id")), message, text)
    return None


def user_text(message: JsonObject) -> str:
    """Return the text of a user message, blocks joined by newlines, without white space around it."""
    content = message.get("content")
    if isinstance(content, str):
        return content.strip()
    texts = (block.get("text") for block in blocks(content, "text"))
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def open_question(messages: Sequence[JsonObject]) -> str:
    """Return the question the talk ends with and the user has not answered, "" without one."""
    last = max((i for i, m in enumerate(messages) if m.get("role") == "user"), default=-1)
    return collect_facts(messages[last + 1 :]).question


def holds(summary: str, text: str) -> bool:
    """Whether the summary carries the text; only white space at line ends, and disarmed tags, may differ."""
    found = _lines(summary)
    return _lines(text) in found or _lines(boundaries(text)) in found


def with_section(summary: str, template: str, name: str, text: str) -> str:
    """Return the summary with a section that quotes the text, in place of an older section of that heading."""
    section = templates.render(template, **{name: quoted(boundaries(text))}).strip()
    bare = without_section(summary, section.partition("\n")[0]).rstrip()
    return f"{bare}\n\n{section}" if bare else section


def without_section(summary: str, heading: str) -> str:
    """Remove a section: its heading line and everything up to the next heading of the same depth, fences opaque."""
    kept: list[str] = []
    fence = ""
    inside = False
    for line in summary.split("\n"):
        mark = line.lstrip()
        if fence:
            fence = "" if mark.rstrip() == fence else fence
        elif mark.startswith("```"):
            fence = "`" * (len(mark) - len(mark.lstrip("`")))
        elif line.startswith("## "):
            inside = line.rstrip() == heading
        if not inside:
            kept.append(line)
    return "\n".join(kept)


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
