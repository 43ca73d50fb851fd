"""Read the lines of a session file: fast when they are sound, forgiving and exact about it when they are not.

Knows bytes, lines and JSON, and does not touch the disk; what makes the objects a session is `reading`'s subject.
"""

import gc
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import orjson

from octavo.sessions.damage import Damage, DamageKind
from octavo.sessions.recovery import Recovered, recover_line
from octavo_protocol.base import JsonObject

Source = bytes | bytearray | memoryview | Iterable[bytes]
"""A whole file, or its content in pieces of any size."""

OnObject = Callable[[JsonObject, int, int], JsonObject]
"""`(object, offset of its line, length of its line in bytes) -> object to keep`, called while reading.

A caller that must not hold every payload of a large file in memory replaces heavy objects here.
"""

MAX_DAMAGE = 1000
"""Findings kept one by one; beyond it they are only counted (`damage_count`)."""
_SLICE = 4 << 20
_JOIN_LINES = 8  # physical lines one record with raw newlines may span
_JOIN_BYTES = 8 << 20
_CR = 13


@dataclass(slots=True)
class Lines:
    """The objects of a JSONL file and the state it was found in.

    Attributes:
        objects: Every object in file order; glued ones one after the other.
        offsets: For each object, the offset of the first byte of its line.
        damage: At most `MAX_DAMAGE` findings in file order.
        damage_count: How many findings there were altogether.
        size: Bytes read.
        unterminated_tail: Whether the file does not end with a newline.
        tail_offset: Where the unterminated last line begins; equal to `size` when there is none.
        tail_valid: Whether that last line is nevertheless a whole record (then it is in `objects`).
    """

    objects: list[JsonObject] = field(default_factory=list)
    offsets: "array[int]" = field(default_factory=lambda: array("Q"))
    damage: list[Damage] = field(default_factory=list)
    damage_count: int = 0
    size: int = 0
    unterminated_tail: bool = False
    tail_offset: int = 0
    tail_valid: bool = False

    def report(self, damage: Damage) -> None:
        """Count one finding and keep it while there is room."""
        self.damage_count += 1
        if len(self.damage) < MAX_DAMAGE:
            self.damage.append(damage)


def parse_lines(data: Source, *, on_object: OnObject | None = None) -> Lines:
    """Parse a JSONL file leniently.

    Only the byte 0x0A separates lines: U+2028 and its kin are ordinary characters. Blank lines are skipped silently;
    everything else that is not exactly one object per line is reported in `damage`.
    """
    parser = LineParser(on_object=on_object)
    with paused_gc():
        for chunk in _chunks(data):
            parser.feed(chunk)
        return parser.finish()


@contextmanager
def paused_gc() -> Iterator[None]:
    """Hold the cyclic collector back: decoding makes a million containers and no garbage."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _chunks(data: Source) -> Iterator[bytes]:
    if isinstance(data, bytes):
        yield data
    elif isinstance(data, bytearray | memoryview):
        view = memoryview(data)
        for start in range(0, len(view), _SLICE):
            yield bytes(view[start : start + _SLICE])
    else:
        yield from data


class LineParser:
    """Parses a file that arrives in pieces; memory beyond the objects is one piece and one line."""

    def __init__(self, *, on_object: OnObject | None = None) -> None:
        self.lines = Lines()
        self._on_object = on_object
        self._carry: list[bytes] = []
        self._line = 0
        self._offset = 0
        self._crlf = 0
        self._crlf_at = (0, 0)
        self._broken: list[tuple[int, int, bytes]] = []

    def feed(self, chunk: bytes) -> None:
        """Parse every line that `chunk` completes."""
        self.lines.size += len(chunk)
        start = 0
        if self._carry:
            end = chunk.find(b"\n")
            if end < 0:
                self._carry.append(chunk)
                return
            self._carry.append(chunk[:end])
            self._parse(b"".join(self._carry))
            self._carry.clear()
            start = end + 1
        rest = self._parse_whole_lines(chunk, start)
        if rest < len(chunk):
            self._carry.append(chunk[rest:] if rest else chunk)

    def finish(self) -> Lines:
        """Parse what is left and return the result."""
        lines = self.lines
        tail = b"".join(self._carry)
        self._carry.clear()
        lines.tail_offset = self._offset
        lines.unterminated_tail = bool(tail)
        if tail:
            self._parse_tail(tail)
        self._give_up_broken()
        if self._crlf:
            line, offset = self._crlf_at
            lines.report(Damage(DamageKind.CRLF, line, offset, 2, self._crlf))
        return lines

    def _parse_whole_lines(self, chunk: bytes, start: int) -> int:
        """Parse the complete lines of `chunk` from `start`; return where the incomplete one begins."""
        find, loads, view = chunk.find, orjson.loads, memoryview(chunk)
        keep, remember, on_object = self.lines.objects.append, self.lines.offsets.append, self._on_object
        base = self._offset - start
        while (end := find(b"\n", start)) >= 0:
            try:
                value = loads(view[start:end])
            except orjson.JSONDecodeError:
                value = None
            if type(value) is dict and not self._broken:
                self._line += 1
                if chunk[end - 1] == _CR:
                    self._count_crlf(self._line, base + end - 1)
                if on_object is not None:
                    value = on_object(value, base + start, end - start)
                keep(value)
                remember(base + start)
            else:
                self._offset = base + start
                self._parse(chunk[start:end])
            start = end + 1
        self._offset = base + start
        return start

    def _parse(self, raw: bytes) -> None:
        """Parse one line with all care; `_offset` is at its first byte and moves behind its newline."""
        offset, line = self._offset, self._line + 1
        self._line, self._offset = line, offset + len(raw) + 1
        if raw.endswith(b"\r"):
            self._count_crlf(line, offset + len(raw) - 1)
            raw = raw[:-1]
        if not raw.strip():
            return
        found = recover_line(raw, first=line == 1)
        if found.objects:
            self._give_up_broken()
            self._accept(found, line, offset, len(raw))
        elif all(finding.kind == DamageKind.SYNTAX for finding in found.findings) and self._may_join(raw):
            self._join_broken(line, offset, raw)
        else:
            self._report(found, line, offset)

    def _count_crlf(self, line: int, offset: int) -> None:
        if not self._crlf:
            self._crlf_at = (line, offset)
        self._crlf += 1

    def _parse_tail(self, raw: bytes) -> None:
        offset, line = self._offset, self._line + 1
        if not raw.strip():
            return
        self._give_up_broken()
        found = recover_line(raw, first=line == 1)
        torn = [finding for finding in found.findings if finding.kind in {DamageKind.SYNTAX, DamageKind.TOO_DEEP}]
        found.findings = [finding for finding in found.findings if finding not in torn]
        self._accept(found, line, offset, len(raw))
        self.lines.tail_valid = bool(found.objects) and not torn
        if self.lines.tail_valid:
            self.lines.report(Damage(DamageKind.UNTERMINATED_TAIL, line, offset, len(raw)))
        else:
            whole = torn[0].offset if found.objects and torn else 0
            self.lines.report(Damage(DamageKind.TORN_TAIL, line, offset + whole, len(raw) - whole))

    def _accept(self, found: Recovered, line: int, offset: int, length: int) -> None:
        for value in found.objects:
            self.lines.objects.append(self._on_object(value, offset, length) if self._on_object else value)
            self.lines.offsets.append(offset)
        self._report(found, line, offset)

    def _report(self, found: Recovered, line: int, offset: int) -> None:
        for item in found.findings:
            place = offset + item.offset
            self.lines.report(Damage(item.kind, line, place, item.length, item.count, item.detail))

    def _may_join(self, raw: bytes) -> bool:
        return bool(self._broken) or raw.lstrip().startswith(b"{")

    def _join_broken(self, line: int, offset: int, raw: bytes) -> None:
        """Try whether this unreadable line continues the ones before it: a raw newline inside a string does that."""
        self._broken.append((line, offset, raw))
        if len(self._broken) > 1 and sum(len(part) for _, _, part in self._broken) <= _JOIN_BYTES:
            try:
                value = orjson.loads(b"\\n".join(part for _, _, part in self._broken))
            except orjson.JSONDecodeError:
                value = None
            if type(value) is dict:
                line, offset, _ = self._broken[0]
                length = self._offset - 1 - offset
                found = Recovered([value])
                found.note(DamageKind.SPLIT_RECORD, 0, length, len(self._broken))
                self._broken.clear()
                self._accept(found, line, offset, length)
        if len(self._broken) >= _JOIN_LINES:
            self._give_up_broken()

    def _give_up_broken(self) -> None:
        for line, offset, raw in self._broken:
            self.lines.report(Damage(DamageKind.SYNTAX, line, offset, len(raw)))
        self._broken.clear()
