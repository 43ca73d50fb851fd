"""What the daemon tells without being asked, and those who listen to it: streams and callbacks.

Where notifications come from is `client`'s and `reconnect`'s subject.
"""

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from octavo_protocol.base import JsonObject
from octavo_protocol.notifications import NOTIFICATIONS

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Notification:
    """Something the daemon told: its name and its payload, raw and as a model."""

    method: str
    raw: JsonObject

    @cached_property
    def params(self) -> Any:
        """The payload as the model of the notification table; the raw object if the name is not known here."""
        spec = NOTIFICATIONS.get(self.method)
        return self.raw if spec is None else spec.params.model_validate(self.raw, extra="ignore")


class Hearing:
    """Anything whose notifications can be listened to."""

    def __init__(self) -> None:
        self._subscribers: dict[MemoryObjectSendStream[Notification], frozenset[str]] = {}
        self._callbacks: list[tuple[str | None, Callable[[Notification], None]]] = []
        self._silent = False

    @contextmanager
    def subscribe(self, *methods: str) -> Iterator[MemoryObjectReceiveStream[Notification]]:
        """Give a stream of the named notifications (all when none is named), to be read with `async for`.

        It ends when no more can come. Notifications wait in it unbounded until they are read.
        """
        send, receive = anyio.create_memory_object_stream[Notification](math.inf)
        with send, receive:
            if self._silent:
                send.close()
            else:
                self._subscribers[send] = frozenset(methods)
            try:
                yield receive
            finally:
                self._subscribers.pop(send, None)

    def on(self, method: str, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Call `callback` with the payload of every such notification; return what ends that."""
        return self._listen(method, lambda notification: callback(notification.params))

    def on_every(self, callback: Callable[[Notification], None]) -> Callable[[], None]:
        """Call `callback` with every notification; return what ends that."""
        return self._listen(None, callback)

    def _listen(self, method: str | None, callback: Callable[[Notification], None]) -> Callable[[], None]:
        entry = (method, callback)
        self._callbacks.append(entry)

        def stop() -> None:
            with suppress(ValueError):
                self._callbacks.remove(entry)

        return stop

    def _tell(self, notification: Notification) -> None:
        """Hand a notification to everybody who listens."""
        for method, callback in tuple(self._callbacks):
            if method is None or method == notification.method:
                try:
                    callback(notification)
                except Exception:  # noqa: BLE001 -- a listener's mistake must not end the connection
                    _log.exception("A listener to %s failed", notification.method)
        for stream, wanted in tuple(self._subscribers.items()):
            if not wanted or notification.method in wanted:
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    stream.send_nowait(notification)

    def _fall_silent(self) -> None:
        """End every stream: nothing more comes."""
        self._silent = True
        for stream in self._subscribers:
            stream.close()
        self._subscribers.clear()
