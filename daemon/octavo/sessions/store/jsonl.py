"""One session file on disk: durable appends, repair of torn tails, atomic rewrites, notice of foreign changes.

The file is lines of JSON; this module knows lines and bytes, not entries: it parses only a torn tail, to decide
whether it is a whole record that lacks its newline. It takes no lease and knows no other thread: its owner calls one
method at a time.

Promise: `append` returns after the bytes are on stable storage (`durability="fsync"`); when it raises, the file has
its former length, and the next append works as soon as the disk does.
"""

import contextlib
import errno
import json
import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

import orjson

from octavo.sessions.store.disk import (
    Durability,
    flush_file,
    flush_folder,
    replace_atomically,
    storage_failed,
    temporary_beside,
    write_all,
)
from octavo_protocol.errors import ErrorKind, OctavoError

TAIL_BYTES = 4096
"""How many bytes before the known end are compared to tell growth from replacement."""
_COPY_BYTES = 4 << 20

Drift = Literal["same", "grown", "replaced", "missing"]
"""What happened to the file since we last touched it."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A range of the present file that a rewrite takes over byte for byte."""

    offset: int
    length: int


Piece: TypeAlias = bytes | Copy


@dataclass(frozen=True, slots=True)
class Repair:
    """What the write did to a torn tail: how many bytes went where (`backup` is None when only a newline lacked)."""

    offset: int
    length: int
    backup: Path | None


def encode_line(entry: dict[str, Any]) -> bytes:
    """One entry as a line with its newline.

    Raises:
        TypeError: The entry holds something JSON in UTF-8 cannot (see `persistence.normalise`).
        RecursionError: It nests deeper than about a thousand levels.
    """
    try:
        return orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError as error:
        if "ecursion" not in str(error):
            raise
        # The fast encoder stops at 254 levels, where JSON itself does not.
        return json.dumps(entry, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def damage_sidecar(path: Path, now_ms: int) -> Path:
    """A free name `<name>.damaged-<time>` for bytes that are taken out of the file."""
    time = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y%m%dT%H%M%S%f")[:-3]
    base = path.parent / f"{path.name}.damaged-{time}Z"
    candidate, number = base, 1
    while os.path.lexists(candidate):
        candidate, number = base.with_name(f"{base.name}-{number}"), number + 1
    return candidate


class JsonlFile:
    """An existing session file, open for reading and appending.

    Args:
        path: The file itself (not a link to it: a rewrite would replace the link).
        durability: What `append` waits for.
        writable: False opens for reading only; a write is then refused by the system and reported as `storage-failed`.
    """

    def __init__(self, path: Path, durability: Durability = "fsync", *, writable: bool = True) -> None:
        self.path = path
        self.durability: Durability = durability
        self._writable = writable
        self._descriptor = -1
        self._size = 0
        self._tail = b""
        self._stamp = (0, 0, 0, 0)
        self._cut_first: int | None = None
        self.generation = 0
        """Counts up whenever offsets into the file lose their meaning: at each reopening and rewrite."""
        self.switching = threading.Lock()
        """Held for the moment in which a rewrite takes effect; who reads an offset on another thread holds it too."""
        self._open()

    @property
    def size(self) -> int:
        """Bytes known to be in the file: everything before this offset was read or written by us."""
        return self._size

    def close(self) -> None:
        """Release the descriptor; harmless when repeated."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def read(self, offset: int, length: int) -> bytes:
        """Return exactly this range, or raise `storage-failed` when the file no longer has it."""
        try:
            data = os.pread(self._descriptor, length, offset)
            while len(data) < length and (more := os.pread(self._descriptor, length - len(data), offset + len(data))):
                data += more
        except OSError as error:
            raise storage_failed("read", self.path, error) from error
        if len(data) < length:
            shorter = OSError(errno.EIO, "the file is shorter than it was")
            raise storage_failed("read", self.path, shorter) from shorter
        return data

    def chunks(self, start: int = 0, size: int = 8 << 20) -> Iterator[bytes]:
        """Yield the bytes from `start` to the end known at each step."""
        while start < self._size:
            data = self.read(start, min(size, self._size - start))
            start += len(data)
            yield data

    def drift(self) -> Drift:
        """Compare the path with what we last knew; cheap when nothing happened."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return "missing"
        except OSError as error:
            raise storage_failed("look at", self.path, error) from error
        if _stamp(found) == self._stamp:
            return "same"
        if (found.st_dev, found.st_ino) != self._stamp[:2] or found.st_size <= self._size:
            return "replaced"
        before = self.read(self._size - len(self._tail), len(self._tail))
        return "grown" if before == self._tail else "replaced"

    def accept_growth(self, *, whole_lines: bool) -> bytes:
        """Return what was appended by others and count it as known; with `whole_lines` up to its last newline."""
        start = self._size
        found = os.fstat(self._descriptor)
        data = self.read(start, max(0, found.st_size - start))
        if whole_lines:
            data = data[: data.rfind(b"\n") + 1]
        self._size = start + len(data)
        self._tail = (self._tail + data[-TAIL_BYTES:])[-TAIL_BYTES:]
        # The stamp keeps the known size: a half line that was left out still counts as growth next time.
        self._stamp = (found.st_dev, found.st_ino, self._size, found.st_mtime_ns)
        return data

    def line_around(self, offset: int, length: int) -> tuple[int, int]:
        """Extend a range to whole lines: (first byte, byte behind the last newline or the end)."""
        end = min(offset + length, self._size)
        while end < self._size:
            block = self.read(end, min(_COPY_BYTES, self._size - end))
            found = block.find(b"\n")
            end += len(block) if found < 0 else found + 1
            if found >= 0:
                break
        return self._line_start(offset), end

    def reopen(self) -> None:
        """Accept what is at the path now as the file, whole (after `replaced` or `grown`)."""
        self.close()
        self._open()

    def append(self, data: bytes, now_ms: int) -> tuple[int, Repair | None]:
        """Add complete lines in one write and wait until they are durable.

        Returns:
            The offset of the first added byte, and what was done about a torn tail.

        Raises:
            OctavoError: `content-modified` when another program changed the file (call `drift`, reload, repeat);
                `storage-failed`, after which the file is as before.
        """
        self._expect_unchanged()
        if self._cut_first is not None:
            self._cut(self._cut_first)
        repair, prefix = self._prepare_tail(now_ms)
        before = self._size
        try:
            write_all(self._descriptor, prefix + data if prefix else data)
            flush_file(self._descriptor, self.durability)
        except OSError as error:
            self._take_back(before)
            raise storage_failed("append to", self.path, error) from error
        self._size = before + len(prefix) + len(data)
        self._tail = (self._tail + prefix + data[-TAIL_BYTES:])[-TAIL_BYTES:]
        # The size is the one we account for: a line that somebody else put beside ours shows as a change next time.
        found = os.fstat(self._descriptor)
        self._stamp = (found.st_dev, found.st_ino, self._size, found.st_mtime_ns)
        return before + len(prefix), repair

    def rewrite(self, pieces: Iterable[Piece], accounted: int, on_switch: Callable[[], None] = lambda: None) -> bytes:
        """Replace the content atomically; what was appended after `accounted` bytes is carried over behind it.

        Args:
            pieces: New bytes and ranges of the present file, in order, each a whole number of lines.
            accounted: How many bytes of the present file the pieces stand for.
            on_switch: Called, with `switching` held, when reads begin to come from the new file.

        Returns:
            The carried bytes: lines that somebody added behind `accounted`; the owner has to read them.

        Raises:
            OctavoError: `content-modified` when the file is not the one the pieces were made from; `storage-failed`.
                Either way the file is untouched.
        """
        self._expect_unchanged(growth_is_fine=True)
        mode = stat.S_IMODE(os.fstat(self._descriptor).st_mode)
        temporary = temporary_beside(self.path)
        try:
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_APPEND, 0o600)
        except OSError as error:
            raise storage_failed("rewrite", self.path, error) from error
        try:
            self._write_pieces(descriptor, pieces)
            os.fchmod(descriptor, mode)
            carried = self._carry(descriptor, accounted)
            flush_file(descriptor, self.durability)
            self._expect_unchanged(growth_is_fine=True)
            temporary.replace(self.path)
            carried += self._adopt(descriptor, accounted + len(carried), on_switch)
        except BaseException as error:
            if self._descriptor != descriptor:
                os.close(descriptor)
                temporary.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise storage_failed("rewrite", self.path, error) from error
            raise
        return carried

    def back_up(self, ranges: Iterable[tuple[int, int]], now_ms: int) -> Path:
        """Copy (offset, length) ranges into a new durable sidecar and return it.

        Each range is preceded by a line `{"offset":…,"length":…}` and followed by a newline.
        """

        def content() -> Iterator[bytes]:
            for offset, length in ranges:
                yield orjson.dumps({"offset": offset, "length": length}) + b"\n"
                yield from self._copy(Copy(offset, length))
                yield b"\n"

        sidecar = damage_sidecar(self.path, now_ms)
        replace_atomically(sidecar, content(), self.durability)
        return sidecar

    def _open(self) -> None:
        self._cut_first = None
        self.generation += 1
        flags = (os.O_RDWR | os.O_APPEND if self._writable else os.O_RDONLY) | os.O_CLOEXEC
        try:
            self._descriptor = os.open(self.path, flags)
        except OSError as error:
            raise storage_failed("open", self.path, error) from error
        try:
            self._note_identity(os.fstat(self._descriptor))
        except BaseException:
            self.close()
            raise

    def _note_identity(self, found: os.stat_result) -> None:
        self._stamp = _stamp(found)
        self._size = found.st_size
        length = min(TAIL_BYTES, self._size)
        self._tail = self.read(self._size - length, length)

    def _expect_unchanged(self, *, growth_is_fine: bool = False) -> None:
        drift = self.drift()
        if drift == "same" or (growth_is_fine and drift == "grown"):
            return
        message = f"The session file {self.path} was changed by another program ({drift}); reload it and try again."
        raise OctavoError(ErrorKind.CONTENT_MODIFIED, message, details={"path": str(self.path), "change": drift})

    def _prepare_tail(self, now_ms: int) -> tuple[Repair | None, bytes]:
        """Make the file end in a newline, or say which byte completes it; damaged bytes are backed up first."""
        if self._tail.endswith(b"\n") or self._size == 0:
            return None, b""
        start = self._line_start(self._size)
        tail = self.read(start, self._size - start)
        if is_record(tail):
            return Repair(start, len(tail), None), b"\n"
        backup = self.back_up([(start, len(tail))], now_ms)
        self._cut(start)
        return Repair(start, len(tail), backup), b""

    def _line_start(self, end: int) -> int:
        """Offset behind the last newline before `end`."""
        while end > 0:
            begin = max(0, end - _COPY_BYTES)
            found = self.read(begin, end - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            end = begin
        return 0

    def _cut(self, length: int) -> None:
        try:
            os.ftruncate(self._descriptor, length)
            flush_file(self._descriptor, self.durability)
        except OSError as error:
            raise storage_failed("repair", self.path, error) from error
        self._cut_first = None
        self._note_identity(os.fstat(self._descriptor))

    def _take_back(self, length: int) -> None:
        """Undo a partial write; if even that is refused, the next append begins with it."""
        self._cut_first = length
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, length)
            flush_file(self._descriptor, self.durability)
            self._cut_first = None
        self._note_identity(os.fstat(self._descriptor))

    def _write_pieces(self, descriptor: int, pieces: Iterable[Piece]) -> None:
        pending: list[bytes] = []
        held = 0
        for piece in pieces:
            for block in self._copy(piece) if isinstance(piece, Copy) else (piece,):
                pending.append(block)
                held += len(block)
                if held >= _COPY_BYTES:
                    write_all(descriptor, b"".join(pending))
                    pending, held = [], 0
        write_all(descriptor, b"".join(pending))

    def _copy(self, piece: Copy) -> Iterator[bytes]:
        offset, end = piece.offset, piece.offset + piece.length
        while offset < end:
            block = self.read(offset, min(_COPY_BYTES, end - offset))
            offset += len(block)
            yield block

    def _carry(self, descriptor: int, start: int) -> bytes:
        """Copy what the present file has from `start` on; repeated until it stops growing."""
        carried = b""
        while (size := os.fstat(self._descriptor).st_size) > start + len(carried):
            begin = start + len(carried)
            block = self.read(begin, size - begin)
            write_all(descriptor, block)
            carried += block
        return carried

    def _adopt(self, descriptor: int, start: int, on_switch: Callable[[], None]) -> bytes:
        """Switch to the new file, taking along what reached the old one between the last look and the rename."""
        late = self._carry(descriptor, start)
        if late:
            flush_file(descriptor, self.durability)
        with self.switching:
            self.close()
            self._descriptor = descriptor
            self._cut_first = None
            self.generation += 1
            on_switch()
        self._note_identity(os.fstat(descriptor))
        flush_folder(self.path.parent, self.durability)
        return late


def is_record(line: bytes) -> bool:
    """Whether the bytes are one whole JSON object."""
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        try:
            return isinstance(json.loads(line), dict)
        except ValueError:
            return False


def _stamp(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
