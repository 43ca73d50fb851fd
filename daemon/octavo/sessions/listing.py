"""What a list of sessions shows, from the head and the tail of each file (engine.md §1.10).

A file costs two small reads whatever its size. One bad line never hides a session; a file without a readable header
is no session and is left out. Nothing is opened for writing, nothing is cached.

Beyond the seed: when the head has no user message or the tail no whole message, a larger piece (at most 1 MiB) is
looked at, so that a session does not say "(no messages)" because its first record is long.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from octavo.sessions.lines import Lines, parse_lines
from octavo.sessions.paths import project_folders, restore_orphaned_backups, session_files
from octavo.sessions.store.writer import WriterThreads
from octavo_protocol.base import JsonObject

HEAD_BYTES = 4096
TAIL_BYTES = 32_768
LIMIT_BYTES = 1 << 20
"""The most that is read of either end."""
BATCH = 64
"""Files looked at between two chances to cancel."""
NO_MESSAGES = "(no messages)"
_MARKER = b'"type":"message"'

Status = Literal["complete", "interrupted", "aborted", "error", "pending", "unknown"]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One line of a list.

    `modified_ns` is the file's mtime; `message_count` a lower bound from the head; `all_text` the texts of the user's
    and assistant's messages in the head.
    """

    id: str
    path: Path
    cwd: str
    title: str | None
    parent_session: str | None
    created: str | None
    modified_ns: int
    size: int
    message_count: int
    first_message: str
    all_text: str
    status: Status

    def matches(self, words: Iterable[str]) -> bool:
        """Whether every word occurs in the title, id, path, working directory or first message, whatever its case."""
        text = "\n".join((self.title or "", self.id, str(self.path), self.cwd, self.first_message)).casefold()
        return all(word.casefold() in text for word in words)


def summarise(path: Path) -> SessionSummary | None:
    """The summary of one file; None when it is no session or cannot be read (any more)."""
    try:
        found = path.stat()
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
            size = found.st_size
            if b"\n" not in head and len(head) < size:
                head += stream.read(LIMIT_BYTES - len(head))
            lines = _whole_lines(head, complete=len(head) >= size)
            header = read_header(lines.objects)
            if header is None:
                return None
            first = _first_user_text(lines.objects)
            if first is None and len(head) < size:
                more = head + stream.read(LIMIT_BYTES - len(head))
                first = _first_user_text(_whole_lines(more, complete=len(more) >= size).objects)
            tail = _tail(stream, size, TAIL_BYTES)
            status = _status(tail)
            if status is None and size > TAIL_BYTES:
                status = _status(_tail(stream, size, LIMIT_BYTES))
    except OSError:
        return None
    return SessionSummary(
        id=header["id"],
        path=path,
        cwd=_string(header.get("cwd")) or "",
        title=_string(header.get("title")) or _short_summary(lines.objects),
        parent_session=_string(header.get("parentSession")),
        created=_string(header.get("timestamp")),
        modified_ns=found.st_mtime_ns,
        size=size,
        message_count=max(sum(_is_message(value) for value in lines.objects), head.count(_MARKER)),
        first_message=NO_MESSAGES if first is None else first,
        all_text=" ".join(text for value in lines.objects if (text := _spoken(value))),
        status=status or "unknown",
    )


def read_header(objects: Sequence[JsonObject]) -> JsonObject | None:
    """The header among the first objects of a file, with the title of a title slot; None when it is no session."""
    slot = objects[0] if objects and objects[0].get("type") == "title" else None
    candidates = objects[0 if slot is None else 1 :][:1]
    if not candidates or candidates[0].get("type") != "session":
        return None
    header = candidates[0]
    if not isinstance(header.get("id"), str) or not header["id"]:
        return None
    return {**header, "title": slot["title"]} if slot is not None and _string(slot.get("title")) else header


def header_of(path: Path) -> JsonObject | None:
    """The header of a file, or None when it is no session or cannot be read."""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
            if head.count(b"\n") < 2:
                head += stream.read(LIMIT_BYTES - len(head))
    except OSError:
        return None
    return read_header(parse_lines(head).objects)


def folders_to_list(root: Path, folder: Path | None) -> list[Path]:
    """The folders whose files are listed: one project's, or the root itself and every project's."""
    return [folder] if folder is not None else [root, *project_folders(root)]


async def stream_summaries(
    folders: Sequence[Path], writers: WriterThreads, *, query: str = ""
) -> AsyncIterator[list[SessionSummary]]:
    """Yield summaries in batches, in no particular order; cancelling takes effect between two batches."""
    words = query.split()
    for folder in folders:
        paths = await writers.run(partial(_paths, folder))
        for start in range(0, len(paths), BATCH):
            batch = await writers.run(partial(_summaries, paths[start : start + BATCH]))
            yield [summary for summary in batch if summary.matches(words)]


async def list_sessions(folders: Sequence[Path], writers: WriterThreads, *, query: str = "") -> list[SessionSummary]:
    """Every session of the folders whose texts contain the words of `query`, the latest modified first."""
    found = [summary async for batch in stream_summaries(folders, writers, query=query) for summary in batch]
    return sorted(found, key=lambda summary: (-summary.modified_ns, str(summary.path)))


def _paths(folder: Path) -> list[Path]:
    restore_orphaned_backups(folder)
    return list(session_files(folder))


def _summaries(paths: Sequence[Path]) -> list[SessionSummary]:
    return [summary for path in paths if (summary := summarise(path)) is not None]


def _whole_lines(data: bytes, *, complete: bool) -> Lines:
    """Parse the lines of a piece from the file's beginning; its last line counts only when the file ends there."""
    return parse_lines(data if complete else data[: data.rfind(b"\n") + 1] or data)


def _tail(stream: Any, size: int, window: int) -> list[JsonObject]:
    start = max(0, size - window)
    stream.seek(start)
    data: bytes = stream.read(window)
    if start:
        data = data[data.find(b"\n") + 1 :]
    return parse_lines(data).objects


def _status(tail: Sequence[JsonObject]) -> Status | None:
    """How the last message left the session; None when the piece has no message."""
    for value in reversed(tail):
        if _is_message(value):
            return _left_by(value["message"])
    return None


def _left_by(message: JsonObject) -> Status:
    role, stop = message.get("role"), message.get("stopReason")
    if role == "assistant":
        if stop == "error":
            return "error"
        if stop == "aborted":
            return "aborted"
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        calls = any(isinstance(block, dict) and block.get("type") == "toolCall" for block in blocks)
        return "interrupted" if stop == "length" or calls else "complete"
    return "interrupted" if role == "toolResult" else "pending" if role == "user" else "unknown"


def _is_message(value: JsonObject) -> bool:
    return value.get("type") == "message" and isinstance(value.get("message"), dict)


def _first_user_text(objects: Sequence[JsonObject]) -> str | None:
    for value in objects:
        if _is_message(value) and value["message"].get("role") == "user" and (text := _text(value["message"])):
            return text
    return None


def _spoken(value: JsonObject) -> str:
    if not _is_message(value) or value["message"].get("role") not in {"user", "assistant"}:
        return ""
    return _text(value["message"])


def _text(message: JsonObject) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text")
    return " ".join(text for text in texts if isinstance(text, str) and text)


def _short_summary(objects: Sequence[JsonObject]) -> str | None:
    for value in reversed(objects):
        if value.get("type") == "compaction" and (text := _string(value.get("shortSummary"))):
            return text
    return None


def _string(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
