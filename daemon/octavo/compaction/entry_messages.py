"""The message an entry contributes, or none; the part that cut points, preparation, pruning and shake share.

One entry at a time: what a whole path becomes is `sessions.context`. Source: engine.md §3.1 "message-producing".
"""

from collections.abc import Sequence
from typing import Any

from octavo.sessions.context_entries import message_of
from octavo_protocol.base import JsonObject


def entry_message(entry: Any) -> JsonObject | None:
    """Return the message of a `message`, `custom_message` or `branch_summary` entry, else None."""
    if not isinstance(entry, dict):
        return None
    if entry.get("type") == "message":
        message = entry.get("message")
        return message if isinstance(message, dict) else None
    return message_of(entry, _unreported)


def stored_message(entry: Any) -> JsonObject:
    """Return the message of a `message` entry, an empty object for every other entry."""
    message = entry.get("message") if isinstance(entry, dict) and entry.get("type") == "message" else None
    return message if isinstance(message, dict) else {}


def blocks(content: Any, kind: str | None = None) -> list[JsonObject]:
    """Return the well-formed blocks of a content array, of one type if asked; none for text or nonsense."""
    if not isinstance(content, list):
        return []
    return [b for b in content if isinstance(b, dict) and (kind is None or b.get("type") == kind)]


def tool_calls(message: JsonObject) -> list[JsonObject]:
    """Return the tool-call blocks of an assistant message that have an id."""
    if message.get("role") != "assistant":
        return []
    return [block for block in blocks(message.get("content"), "toolCall") if isinstance(block.get("id"), str)]


def effective_compaction(path: Sequence[JsonObject], start: int = 0) -> tuple[int, int | None]:
    """Return the index of the compaction that a context is built from, and of its first kept entry if that is there.

    The newest compaction whose boundary resolves counts, else the newest (`sessions.context`, BR-019); -1 without any.
    """
    positions = {path[index].get("id"): index for index in range(start, len(path))}
    newest = -1
    for index in range(len(path) - 1, start - 1, -1):
        if path[index].get("type") != "compaction":
            continue
        newest = index if newest < 0 else newest
        boundary = path[index].get("firstKeptEntryId")
        kept = positions.get(boundary) if isinstance(boundary, str) else None
        if kept is not None and kept <= index:
            return index, kept
    return newest, None


def _unreported(*_: object) -> None:
    """Context building reports what it leaves out; here nothing is left out that it would not report."""
