"""The agent message that a single entry contributes to a context (engine.md §3.1, §3.2).

Knows one entry at a time; order, boundaries and pairing are `context`'s subject.
"""

from collections.abc import Callable
from typing import Any

from octavo.sessions.ids import epoch_ms
from octavo_protocol.base import JsonObject

NoteEntry = Callable[..., None]
"""`note(kind, entry, detail="")`."""


def message_of(entry: JsonObject, note: NoteEntry) -> JsonObject | None:
    """Return the message of an entry that is neither a `message` nor a `compaction`; None when it has none."""
    kind = entry.get("type")
    if kind == "custom_message":
        return _custom(entry, note)
    if kind == "branch_summary":
        summary = entry.get("summary")
        if isinstance(summary, str) and summary:
            return _with_time(entry, {"role": "branchSummary", **_copied(entry, "summary", "fromId")})
    return None


def compaction_message(entry: JsonObject, images: list[JsonObject], replay: JsonObject | None = None) -> JsonObject:
    """Return the summary message of a compaction.

    Args:
        entry: The compaction.
        images: Image blocks of its frame archive, oldest first.
        replay: Provider payload of a remote compaction that stands for the kept messages.
    """
    summary = entry.get("summary")
    message: JsonObject = {"role": "compactionSummary", "summary": summary if isinstance(summary, str) else ""}
    message |= _copied(entry, "shortSummary", "tokensBefore")
    if replay is not None:
        message["providerPayload"] = replay
    if images:
        message["images"] = images
    return _with_time(entry, message)


def remote_history(entry: JsonObject) -> JsonObject | None:
    """Return the provider payload of a compaction's remote replacement history, or None without a valid one."""
    remote = _preserved(entry, "openaiRemoteCompaction")
    provider, items = remote.get("provider"), remote.get("replacementHistory")
    if not isinstance(provider, str) or not provider or not isinstance(items, list):
        return None
    return {"type": "openaiResponsesHistory", "provider": provider, "items": items}


def archive_images(entry: JsonObject, note: NoteEntry) -> list[JsonObject]:
    """Return the frames that a compaction archived as image blocks, oldest first (snapcompact.md §7.1).

    A frame whose data is missing, or still a reference to a blob that is gone, is left out and reported.
    """
    frames = _preserved(entry, "snapcompact").get("frames")
    images: list[JsonObject] = []
    for number, frame in enumerate(frames if isinstance(frames, list) else ()):
        if not _is_frame(frame):
            note("missing-frame", entry, str(number))
            continue
        image = {"type": "image", "data": frame["data"], "mimeType": frame["mimeType"]}
        if isinstance(frame.get("detail"), str):
            image["detail"] = frame["detail"]
        images.append(image)
    return images


def _is_frame(frame: Any) -> bool:
    if not isinstance(frame, dict):
        return False
    data, mime = frame.get("data"), frame.get("mimeType")
    return (
        isinstance(data, str)
        and bool(data)
        and not data.startswith("blob:sha256:")
        and isinstance(mime, str)
        and bool(mime)
        and all(isinstance(frame.get(key), int | float) for key in ("cols", "rows", "chars"))
    )


def _preserved(entry: JsonObject, key: str) -> JsonObject:
    preserved = entry.get("preserveData")
    found = preserved.get(key) if isinstance(preserved, dict) else None
    return found if isinstance(found, dict) else {}


def _custom(entry: JsonObject, note: NoteEntry) -> JsonObject | None:
    content = entry.get("content")
    if isinstance(content, list):
        blocks = [block for block in content if isinstance(block, dict)]
        if len(blocks) != len(content):
            note("malformed-custom-message", entry)
            if not blocks:
                return None
            content = blocks
    elif not isinstance(content, str):
        note("malformed-custom-message", entry)
        return None
    copied = _copied(entry, "customType", "display", "details", "attribution")
    return _with_time(entry, {"role": "custom", **copied, "content": content})


def _copied(entry: JsonObject, *keys: str) -> JsonObject:
    return {key: entry[key] for key in keys if key in entry}


def _with_time(entry: JsonObject, message: JsonObject) -> JsonObject:
    message["timestamp"] = epoch_ms(entry.get("timestamp")) or 0
    return message
