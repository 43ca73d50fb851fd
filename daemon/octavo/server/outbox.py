"""What waits to be written to one peer: ordered, bounded, never blocking the writer of a notification.

Frames leave in the order they came, so a notification sent before an answer arrives before it. An *ephemeral* frame
(progress, gauges) with a key replaces the waiting one of the same key; above the soft mark ephemeral frames are
dropped. Above the hard mark the peer is taken for asleep and hung up on; other peers do not notice. A producer that
can wait asks `drained()`.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

_log = logging.getLogger(__name__)

SOFT_MARK = 4 * 1024 * 1024
"""Bytes waiting above which ephemeral frames are dropped and large answers wait."""
HARD_MARK = 64 * 1024 * 1024
"""Bytes waiting above which the peer is hung up on; a single larger frame is fine when nothing else waits."""
_MERGE_BELOW = 16 * 1024
_MERGE_TO = 64 * 1024


@dataclass(slots=True)
class _Item:
    data: bytes
    key: str | None


class Outbox:
    """The queue of one connection.

    Args:
        send: Writes bytes to the peer and returns when the transport wants more; raises OSError or anyio's
            BrokenResourceError when the peer is gone.
        hang_up: Called once when the hard mark is passed.
        merges: Whether small frames may be joined into one write.
    """

    def __init__(
        self,
        send: Callable[[bytes], Awaitable[None]],
        hang_up: Callable[[], None],
        *,
        merges: bool = True,
        soft_mark: int = SOFT_MARK,
        hard_mark: int = HARD_MARK,
    ) -> None:
        self._send = send
        self._hang_up = hang_up
        self._merges = merges
        self._soft_mark = soft_mark
        self.hard_mark = hard_mark
        """Bytes waiting above which the peer is hung up on."""
        self._queue: deque[_Item] = deque()
        self._by_key: dict[str, _Item] = {}
        self._wake = anyio.Event()
        self._idle = anyio.Event()
        self._idle.set()
        self.waiting = 0
        """Bytes not yet handed to the transport."""
        self.dropped = 0
        """Ephemeral frames that were dropped or replaced."""
        self.closed = False

    @property
    def crowded(self) -> bool:
        """Whether more than the soft mark waits."""
        return self.waiting > self._soft_mark

    def write(self, data: bytes, *, ephemeral: bool = False, key: str | None = None) -> None:
        """Queue one frame; after `close` it is discarded."""
        if self.closed:
            return
        if ephemeral and self._coalesced(data, key):
            return
        if self.waiting and self.waiting + len(data) > self.hard_mark:
            _log.warning("a client does not read: %d bytes wait for it; closing its connection", self.waiting)
            self.abort()
            self._hang_up()
            return
        item = _Item(data, key if ephemeral else None)
        self._queue.append(item)
        if item.key is not None:
            self._by_key[item.key] = item
        self.waiting += len(data)
        if self._idle.is_set():
            self._idle = anyio.Event()
        self._wake.set()

    def close(self) -> None:
        """Accept nothing more; `pump` ends when the rest has been sent."""
        self.closed = True
        self._wake.set()

    def abort(self) -> None:
        """Discard what waits and accept nothing more."""
        self._queue.clear()
        self._by_key.clear()
        self.waiting = 0
        self._idle.set()
        self.close()

    async def drained(self) -> None:
        """Wait until everything queued has been handed to the transport (or discarded)."""
        await self._idle.wait()

    async def pump(self) -> None:
        """Send until closed and empty; the errors of `send` end it and discard the rest."""
        try:
            while True:
                while not self._queue:
                    self._idle.set()
                    if self.closed:
                        return
                    self._wake = anyio.Event()
                    await self._wake.wait()
                chunk = self._take()
                await self._send(chunk)
                self.waiting = max(0, self.waiting - len(chunk))
        finally:
            self.abort()

    def _coalesced(self, data: bytes, key: str | None) -> bool:
        """Whether an ephemeral frame found its place without being queued anew."""
        if key is not None and (item := self._by_key.get(key)) is not None:
            self.waiting += len(data) - len(item.data)
            item.data = data
            self.dropped += 1
            return True
        if self.crowded:
            self.dropped += 1
            return True
        return False

    def _take(self) -> bytes:
        first = self._pop()
        if not self._merges or len(first) >= _MERGE_BELOW or not self._queue:
            return first
        parts, size = [first], len(first)
        while self._queue and size + len(self._queue[0].data) <= _MERGE_TO:
            parts.append(self._pop())
            size += len(parts[-1])
        return b"".join(parts)

    def _pop(self) -> bytes:
        item = self._queue.popleft()
        if item.key is not None and self._by_key.get(item.key) is item:
            del self._by_key[item.key]
        return item.data
