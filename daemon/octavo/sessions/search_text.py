"""The words of an entry that a search looks at: what was said, thought, called, answered and summarised.

Not the words of its envelope (ids, usage, signatures) and no payloads. Pure.
"""

from collections.abc import Iterator
from typing import Any

from octavo_protocol.base import JsonObject

_BLOCK_TEXT = ("text", "thinking")
_MESSAGE_TEXT = ("command", "code", "output", "summary", "errorMessage")
_ENTRY_TEXT = ("summary", "shortSummary", "label", "systemPrompt", "task")


def searchable_text(entry: JsonObject) -> str:
    """The text of an entry, its parts on lines of their own; empty when there is nothing to find in it."""
    return "\n".join(part for part in _parts(entry) if part)


def _parts(entry: JsonObject) -> Iterator[str]:
    message = entry.get("message")
    if isinstance(message, dict):
        yield from _content(message.get("content"))
        yield from _strings(message, _MESSAGE_TEXT)
    yield from _content(entry.get("content"))
    yield from _strings(entry, _ENTRY_TEXT)


def _strings(owner: JsonObject, keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        value = owner.get(key)
        if isinstance(value, str):
            yield value


def _content(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict):
                yield from _block(block)


def _block(block: JsonObject) -> Iterator[str]:
    yield from _strings(block, _BLOCK_TEXT)
    if block.get("type") == "toolCall":
        name = block.get("name")
        if isinstance(name, str):
            yield name
        yield from _values(block.get("arguments"))


def _values(value: Any) -> Iterator[str]:
    """Every string inside the arguments of a call, depth first; without recursion, as they may be nested deeply."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, dict):
            waiting.extend(reversed(list(current.values())))
        elif isinstance(current, list):
            waiting.extend(reversed(current))
