"""Server-sent events, without I/O: bytes in, events out.

Every streaming provider speaks this format. Bytes may be cut anywhere, also inside a character.
"""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_EVENT_CHARS = 16 * 1024 * 1024
"""A single event above this is not an answer but an accident; the stream is given up."""


class EventTooLargeError(ValueError):
    """The peer sent an event beyond `MAX_EVENT_CHARS`."""


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event: its name ("message" when the peer gave none) and its data lines joined by newlines."""

    name: str
    data: str


@dataclass(slots=True)
class SseDecoder:
    """Feed it bytes as they come; it yields each event when its blank line has arrived."""

    _decode: codecs.IncrementalDecoder = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"))
    _line: list[str] = field(default_factory=list)
    _data: list[str] = field(default_factory=list)
    _name: str = ""
    _size: int = 0
    _after_cr: bool = False

    def feed(self, chunk: bytes) -> Iterator[SseEvent]:
        """Decode a chunk.

        Raises:
            EventTooLargeError: One event exceeds the bound.
        """
        text = self._decode.decode(chunk)
        if self._after_cr and text.startswith("\n"):
            text = text[1:]
        if text:
            self._after_cr = text.endswith("\r")
        *whole, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for piece in whole:
            line = "".join((*self._line, piece))
            self._line.clear()
            if (event := self._accept(line)) is not None:
                yield event
        if rest:
            self._line.append(rest)
            self._grow(len(rest))

    def _accept(self, line: str) -> SseEvent | None:
        if not line:
            return self._dispatch()
        self._grow(len(line))
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        return None

    def _dispatch(self) -> SseEvent | None:
        event = SseEvent(self._name or "message", "\n".join(self._data)) if self._data else None
        self._data, self._name, self._size = [], "", 0
        return event

    def _grow(self, chars: int) -> None:
        self._size += chars
        if self._size > MAX_EVENT_CHARS:
            raise EventTooLargeError(f"an event of more than {MAX_EVENT_CHARS} characters")
