"""Reports of one long request under the client's `workDoneToken`: begin, throttled reports, end.

Not the events of a session (those go to every subscriber); this is the progress bar of the one who asked.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

from octavo_protocol.base import JsonObject

ProgressToken: TypeAlias = int | str

INTERVAL_MS = 100
"""Least time between two reports of one token, unless the phase changes."""


class Sink(Protocol):
    """Where reports go: a connection."""

    def notify(self, method: str, params: Any, *, ephemeral: bool = False, key: str | None = None) -> None:
        """Send one notification."""
        ...


class Progress:
    """A context manager around one long request; without a token it does nothing.

    Args:
        sink: The connection of the client that asked.
        token: `workDoneToken` of the request.
        title: What is being done, a few words.
        now_ms: Monotonic clock in milliseconds.
    """

    def __init__(self, sink: Sink, token: ProgressToken | None, title: str, now_ms: Callable[[], float]) -> None:
        self._sink = sink
        self._token = token
        self._title = title
        self._now_ms = now_ms
        self._started = 0.0
        self._last: float | None = None
        self._phase: str | None = None
        self._outcome = "failed"

    def __enter__(self) -> Self:
        if self._token is not None:
            self._started = self._now_ms()
            self._send({"kind": "begin", "title": self._title, "cancellable": True, "percentage": 0})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is None:
            return
        if kind is None:
            self._outcome = "done"
        elif not issubclass(kind, Exception):
            self._outcome = "cancelled"
        self._send({"kind": "end", "message": self._outcome})

    def report(self, phase: str, message: str | None = None, percentage: int | None = None, **figures: Any) -> None:
        """Say how far it is.

        Args:
            phase: One word for the present step; a change of phase is reported at once.
            message: A sentence for people; absent means the phase.
            percentage: 0 to 100.
            figures: Further members in wire spelling, such as `tokensOut`, `framesDone`, `framesTotal`.
        """
        if self._token is None:
            return
        now = self._now_ms()
        if phase == self._phase and self._last is not None and now - self._last < INTERVAL_MS:
            return
        self._phase, self._last = phase, now
        value: JsonObject = {"kind": "report", "message": message or phase}
        if percentage is not None:
            value["percentage"] = min(100, max(0, percentage))
        self._send({**value, "phase": phase, "elapsedMs": round(now - self._started), **figures}, ephemeral=True)

    def _send(self, value: JsonObject, *, ephemeral: bool = False) -> None:
        params = {"token": self._token, "value": value}
        self._sink.notify("$/progress", params, ephemeral=ephemeral, key=f"progress:{self._token!r}")
