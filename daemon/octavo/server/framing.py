"""Bytes into message bodies and back, without any I/O.

A `Framing` names one way to delimit messages: LSP base-protocol headers, one JSON document per line, or a transport
that delimits messages itself. `reader()` gives a state machine that is fed whatever arrived and yields events;
`encode()` gives one buffer to write. Readers never raise on bad input, hold at most one announced message plus
8 KiB, and resynchronise at the next header, so that one bad frame costs one error and not the connection.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

MAX_LINE = 8 * 1024
"""Bytes of one header line that are kept while looking for its end."""
MAX_JUNK = 1024 * 1024
"""Bytes that may be skipped between two good frames before the peer is taken for something else."""
PREFIX = 1024
"""Bytes of a refused message that are kept to find its request id."""

_LENGTH = re.compile(rb"(?i)content-length[ \t]*:[ \t]*(\d{1,20})[ \t]*$")
_PLAIN = re.compile(rb"Content-Length: (\d{1,18})\r\n\r\n")
"""What nearly every peer sends; anything else is read line by line."""
_HEADER = re.compile(rb"[A-Za-z0-9-]+[ \t]*:")


@dataclass(frozen=True, slots=True)
class Body:
    """One complete message."""

    data: bytes


@dataclass(frozen=True, slots=True)
class BadHeader:
    """Bytes that are no frame were skipped; with `fatal` nothing more will be read."""

    reason: str
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class Oversized:
    """A message of `length` bytes (None: unknown yet) is being skipped; `prefix` is how it begins."""

    length: int | None
    prefix: bytes


Event: TypeAlias = Body | BadHeader | Oversized


class Reader(Protocol):
    """Incremental reader of one connection. `limit` is the largest message it takes, in bytes, and may change."""

    limit: int

    @property
    def owes_report(self) -> bool:
        """Whether a refused message waits for its first bytes; `flush` reports it without them."""
        ...

    def feed(self, data: bytes) -> Iterator[Event]:
        """Yield what `data` completes; the iterator must be exhausted before the next call."""
        ...

    def flush(self) -> Iterator[Event]:
        """Yield what can be said without more bytes: at end of input, or when the peer pauses."""
        ...


@dataclass(frozen=True, slots=True)
class Framing:
    """One way to delimit messages. `merges` says whether several frames may be joined into one write."""

    name: str
    reader: Callable[[int], Reader]
    encode: Callable[[bytes], bytes]
    merges: bool = True


class HeaderReader:
    """LSP base protocol: `Content-Length: N` in any case, other headers ignored, N counted in bytes.

    Args:
        limit: Largest body in bytes; longer ones are announced as `Oversized` and skipped without being stored.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._buffer = bytearray()
        self._length: int | None = None
        self._in_body = False
        self._skip = 0
        self._refused: int | None = None
        self._junk = 0
        self._complained = False
        self._dead = False

    @property
    def owes_report(self) -> bool:
        """See `Reader`."""
        return self._refused is not None

    def feed(self, data: bytes) -> Iterator[Event]:
        """See `Reader`."""
        if self._dead:
            return
        self._buffer += data
        while True:
            before = len(self._buffer)
            if self._skip:
                yield from self._skip_body()
            elif self._in_body:
                if self._length is not None and before < self._length:
                    return
                yield self._take_body()
            else:
                yield from self._read_line()
            if len(self._buffer) == before or self._dead:
                return

    def flush(self) -> Iterator[Event]:
        """See `Reader`."""
        if self._refused is not None:
            yield self._refusal()

    def _take_body(self) -> Body:
        length = self._length or 0
        body = bytes(memoryview(self._buffer)[:length])
        del self._buffer[:length]
        self._in_body, self._length = False, None
        self._junk, self._complained = 0, False
        return Body(body)

    def _skip_body(self) -> Iterator[Event]:
        if self._refused is not None and self._buffer:
            yield self._refusal()
        gone = min(self._skip, len(self._buffer))
        del self._buffer[:gone]
        self._skip -= gone

    def _refusal(self) -> Oversized:
        length, self._refused = self._refused, None
        return Oversized(length, bytes(self._buffer[: min(PREFIX, self._skip)]))

    def _read_line(self) -> Iterator[Event]:
        if self._length is None and (match := _PLAIN.match(self._buffer)):
            self._length, end = int(match[1]), match.end()
            # A match holds on to the buffer, which then cannot shrink.
            del match
            del self._buffer[:end]
            yield from self._end_of_headers()
            return
        end = self._buffer.find(b"\n")
        if end < 0:
            # A header can only be at the end of a line, so of an endless one the tail is enough.
            if (surplus := len(self._buffer) - MAX_LINE) > 0:
                del self._buffer[:surplus]
                yield from self._complain("a header line is too long", surplus)
            return
        line = bytes(self._buffer[:end]).rstrip(b"\r")
        del self._buffer[: end + 1]
        if not line:
            yield from self._end_of_headers()
        elif match := _LENGTH.search(line):
            # Junk without a line end may be glued to the header that follows it.
            if match.start():
                yield from self._complain("there are bytes before a header", match.start())
            length = int(match[1])
            if self._length is not None and self._length != length:
                yield from self._complain("a frame announces two lengths", 0)
            self._length = length
        elif line.lower().startswith(b"content-length") or not _HEADER.match(line):
            yield from self._complain("a header line is malformed", end + 1)

    def _end_of_headers(self) -> Iterator[Event]:
        if self._length is None:
            yield from self._complain("a frame has no Content-Length", 2)
        elif self._length > self.limit:
            self._refused, self._skip = self._length, self._length
            self._length = None
        else:
            self._in_body = True
            if self._length == 0:
                yield self._take_body()

    def _complain(self, reason: str, size: int) -> Iterator[Event]:
        """Report the first of a run of bad bytes; give up after `MAX_JUNK` of them."""
        self._junk += size
        if self._junk > MAX_JUNK:
            self._dead = True
            self._buffer.clear()
            yield BadHeader(f"more than {MAX_JUNK} bytes are no frame", fatal=True)
        elif not self._complained:
            self._complained = True
            yield BadHeader(reason)


class LineReader:
    """One JSON document per line (ndjson); blank lines are ignored.

    Args:
        limit: Largest line in bytes; longer ones are skipped up to their end.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._buffer = bytearray()
        self._searched = 0
        self._skipping = False

    @property
    def owes_report(self) -> bool:
        """See `Reader`: a refused line is always reported at once."""
        return False

    def feed(self, data: bytes) -> Iterator[Event]:
        """See `Reader`."""
        self._buffer += data
        start = 0
        while (end := self._buffer.find(b"\n", max(start, self._searched))) >= 0:
            line = bytes(memoryview(self._buffer)[start:end])
            start = end + 1
            if self._skipping:
                self._skipping = False
            elif len(line) > self.limit:
                yield Oversized(len(line), line[:PREFIX])
            elif line.strip():
                yield Body(line)
        del self._buffer[:start]
        if self._skipping or len(self._buffer) > self.limit:
            if not self._skipping:
                yield Oversized(None, bytes(self._buffer[:PREFIX]))
            self._skipping = True
            self._buffer.clear()
        self._searched = len(self._buffer)

    def flush(self) -> Iterator[Event]:
        """See `Reader`; a last line without its end counts as a message."""
        line = bytes(self._buffer)
        self._buffer.clear()
        self._searched = 0
        if line.strip() and not self._skipping:
            yield Body(line)


class MessageReader:
    """For transports that deliver whole messages (WebSocket): every chunk is one body."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    @property
    def owes_report(self) -> bool:
        """See `Reader`: chunks are complete."""
        return False

    def feed(self, data: bytes) -> Iterator[Event]:
        """See `Reader`."""
        yield Body(data) if len(data) <= self.limit else Oversized(len(data), data[:PREFIX])

    def flush(self) -> Iterator[Event]:
        """See `Reader`."""
        yield from ()


def _with_header(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _with_newline(body: bytes) -> bytes:
    return body + b"\n"


def _as_it_is(body: bytes) -> bytes:
    return body


HEADERS = Framing("content-length", HeaderReader, _with_header)
NDJSON = Framing("ndjson", LineReader, _with_newline)
MESSAGES = Framing("message", MessageReader, _as_it_is, merges=False)


def tell(beginning: bytes) -> Framing:
    """Tell the framing of a client from its first bytes: JSON without a header means one document per line."""
    return NDJSON if beginning.lstrip()[:1] in (b"{", b"[") else HEADERS
