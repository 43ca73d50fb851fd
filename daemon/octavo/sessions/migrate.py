"""Bring older session files to the current version (engine.md §1.4) and drop stale replay data (§1.5).

Pure: entries are never mutated, a changed one is a new object. Whether and when the file is rewritten is the store's
decision; `Migrated.changed` only says that the objects differ from the file.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from octavo_protocol.base import JsonObject

CURRENT_VERSION = 3


@dataclass(frozen=True, slots=True)
class Migrated:
    """Header and entries at `CURRENT_VERSION` (or untouched, if their version is newer)."""

    header: JsonObject
    entries: list[JsonObject]
    changed: bool


def version_of(header: JsonObject) -> float:
    """Return the header's version; absent or null is 1, anything that is no number counts as newer than ours."""
    version = header.get("version")
    if version is None:
        return 1
    if isinstance(version, int | float):
        return version
    return float("inf")


def migrate_to_current(header: JsonObject, entries: Sequence[JsonObject], *, new_id: Callable[[], str]) -> Migrated:
    """Return the session at the current version; one of an unknown higher version is returned as it is.

    Args:
        header: The session header.
        entries: The other objects of the file in order; in version 1 `firstKeptEntryIndex` counts them from 1, the
            header being 0.
        new_id: Draws the ids that version 1 lacks; never the same twice.
    """
    version = version_of(header)
    if version >= CURRENT_VERSION:
        return Migrated(header, list(entries), changed=False)
    current = _give_ids(entries, new_id) if version < 2 else list(entries)
    return Migrated({**header, "version": CURRENT_VERSION}, [_rename_hook_role(e) for e in current], changed=True)


def _give_ids(entries: Sequence[JsonObject], new_id: Callable[[], str]) -> list[JsonObject]:
    chained: list[JsonObject] = []
    parent: str | None = None
    for entry in entries:
        linked = {**entry, "id": new_id(), "parentId": parent}
        parent = linked["id"]
        if linked.get("type") == "compaction" and "firstKeptEntryIndex" in linked:
            _resolve_boundary(linked, chained, entries)
        chained.append(linked)
    return chained


def _resolve_boundary(compaction: JsonObject, before: list[JsonObject], entries: Sequence[JsonObject]) -> None:
    """Replace the index of a compaction entry by an id, if the index means an entry that has one by now."""
    index = compaction["firstKeptEntryIndex"]
    if isinstance(index, bool) or not isinstance(index, int | float):
        return
    del compaction["firstKeptEntryIndex"]
    if not math.isfinite(index) or index != int(index):
        return
    position = int(index) - 1
    if 0 <= position < len(before):
        compaction["firstKeptEntryId"] = before[position]["id"]
    elif position == len(before) and position < len(entries):
        compaction["firstKeptEntryId"] = compaction["id"]


def _rename_hook_role(entry: JsonObject) -> JsonObject:
    message = entry.get("message")
    if entry.get("type") == "message" and isinstance(message, dict) and message.get("role") == "hookMessage":
        return {**entry, "message": {**message, "role": "custom"}}
    return entry


def sanitise_replay(entry: JsonObject) -> JsonObject:
    """Return `entry` without an OpenAI-Responses replay payload (engine.md §1.5).

    The payload belongs to the connection that made it; after a reload neither it nor the thinking signatures of the
    same message can be replayed, so both go. An entry without such a payload is returned by identity.
    """
    message = entry.get("message")
    if not isinstance(message, dict) or message.get("role") != "assistant" or not _is_replay(message):
        return entry
    cleaned = {key: value for key, value in message.items() if key != "providerPayload"}
    if isinstance(content := cleaned.get("content"), list):
        cleaned["content"] = [without_signature(block) for block in content]
    return {**entry, "message": cleaned}


def _is_replay(message: JsonObject) -> bool:
    payload = message.get("providerPayload")
    return isinstance(payload, dict) and payload.get("type") == "openaiResponsesHistory"


def without_signature(block: Any) -> Any:
    """Return a thinking block without its signature, anything else unchanged."""
    if isinstance(block, dict) and block.get("type") == "thinking" and "thinkingSignature" in block:
        return {key: value for key, value in block.items() if key != "thinkingSignature"}
    return block
