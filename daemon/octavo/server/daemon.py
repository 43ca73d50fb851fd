"""What all connections share: who is connected, who listens to which session, and the work that outlives a client.

The daemon knows no session itself. Handlers keep their shared state in services (`service(SessionHub)`), which are made
on first use, hear of connections that go, and are closed before the process ends.
"""

import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, TypeVarTuple, runtime_checkable

import anyio
import anyio.abc

from octavo.server import codec
from octavo.server.outbox import HARD_MARK
from octavo.server.registry import Offered, Table

if TYPE_CHECKING:
    from octavo.server.connection import Connection

_log = logging.getLogger(__name__)

DRAIN_S = 5.0
"""Seconds that running work gets to end when the daemon is asked to stop."""

S = TypeVar("S")
Ts = TypeVarTuple("Ts")


@runtime_checkable
class Closing(Protocol):
    """A service that has something to put away before the process ends."""

    async def aclose(self) -> None:
        """Finish or roll back what is under way and release locks; runs shielded and bounded."""
        ...


@runtime_checkable
class Watching(Protocol):
    """A service that wants to know when a client is gone."""

    def connection_closed(self, connection: "Connection") -> None:
        """Forget the connection; its subscriptions are gone already."""
        ...


@runtime_checkable
class Working(Protocol):
    """A service that may have work to do although no client is there."""

    @property
    def working(self) -> bool:
        """Whether the process must not end for want of clients."""
        ...


class Daemon:
    """The hub of one process; an async context manager that owns the background work.

    Args:
        table: What can be called, or how to make it when it is first needed.
        offered: What the table will offer, so that clients can be greeted before it is made; needed with a function.
        options: Figures of the command line that handlers may need, by name.
    """

    def __init__(self, table: Table | Callable[[], Table], offered: Offered | None = None, **options: Any) -> None:
        self._table = table
        self._offered = offered
        self.loading = anyio.Lock()
        """Held while the engine and the table are loaded."""
        self.options = options
        self.connections: set[Connection] = set()
        self.max_message_bytes = 256 * 1024 * 1024
        """Largest message a client may send (`server.maxMessageBytes`); holds for connections made afterwards."""
        self.max_queue_bytes = HARD_MARK
        """Most bytes that may wait for one client (`server.maxQueueBytes`); holds for connections made afterwards."""
        self.served = 0
        """Clients that ever connected."""
        self._subscribers: dict[str, set[Connection]] = {}
        self._services: dict[type[Any], Any] = {}
        self._background: anyio.abc.TaskGroup | None = None
        self._stopping = anyio.Event()

    async def __aenter__(self) -> Self:
        self._background = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self.stop()
        with anyio.move_on_after(DRAIN_S, shield=True):
            await self._close_services()
        group = self._background
        if group is None:
            return None
        group.cancel_scope.cancel()
        return await group.__aexit__(kind, error, trace)

    @property
    def table(self) -> Table:
        """What can be called; made on first use, which takes a while."""
        if not isinstance(self._table, Table):
            self._table = self._table()
        return self._table

    @property
    def offered(self) -> Offered:
        """What clients are told that can be called."""
        return self.table if self._offered is None else self._offered

    @property
    def working(self) -> bool:
        """Whether a service has work to do although perhaps no client is there."""
        return any(service.working for service in self._services.values() if isinstance(service, Working))

    @property
    def stopping(self) -> bool:
        """Whether the daemon has been asked to stop."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Ask the daemon to stop: no new connections, the present ones finish what they are doing."""
        self._stopping.set()

    async def stopped(self) -> None:
        """Wait until `stop` is called."""
        await self._stopping.wait()

    def start(self, work: Callable[[*Ts], Awaitable[Any]], *args: *Ts) -> None:
        """Run `work(*args)` in the background, whatever becomes of the client; a failure is logged."""
        if self._background is None:
            raise RuntimeError("the daemon is not running")
        self._background.start_soon(self._guarded, work, args)

    def service(self, kind: type[S]) -> S:
        """Return the shared instance of `kind`, made as `kind(daemon)` on first use."""
        if kind not in self._services:
            self._services[kind] = kind(self)  # type: ignore[call-arg]
        found: S = self._services[kind]
        return found

    def subscribe(self, session_id: str, connection: "Connection") -> None:
        """Send every notification of the session to this connection from now on."""
        self._subscribers.setdefault(session_id, set()).add(connection)

    def unsubscribe(self, session_id: str, connection: "Connection") -> None:
        """Stop doing so; unknown pairs are fine."""
        if (group := self._subscribers.get(session_id)) is not None:
            group.discard(connection)
            if not group:
                del self._subscribers[session_id]

    def subscribers(self, session_id: str) -> frozenset["Connection"]:
        """Return the connections that have the session open."""
        return frozenset(self._subscribers.get(session_id, ()))

    def broadcast(
        self, session_id: str, method: str, params: Any, *, ephemeral: bool = False, key: str | None = None
    ) -> None:
        """Notify every subscriber of the session; encoded once.

        Raises:
            UnencodableError: When the params have no JSON form; nobody was notified.
        """
        if group := self._subscribers.get(session_id):
            body = codec.notification(method, params)
            for connection in tuple(group):
                connection.send_body(body, ephemeral=ephemeral, key=key)

    def connected(self, connection: "Connection") -> None:
        """Count a connection in; called by the connection itself."""
        self.connections.add(connection)
        self.served += 1

    def disconnected(self, connection: "Connection") -> None:
        """Count it out, end its subscriptions and tell the services; called by the connection itself."""
        self.connections.discard(connection)
        for session_id in [s for s, group in self._subscribers.items() if connection in group]:
            self.unsubscribe(session_id, connection)
        for service in tuple(self._services.values()):
            if isinstance(service, Watching):
                service.connection_closed(connection)

    async def _guarded(self, work: Callable[..., Awaitable[Any]], args: tuple[Any, ...]) -> None:
        try:
            await work(*args)
        except Exception:  # noqa: BLE001 - one failure must not end the work of others
            _log.exception("background work failed: %s", getattr(work, "__qualname__", work))

    async def _close_services(self) -> None:
        for service in reversed(tuple(self._services.values())):
            if isinstance(service, Closing):
                try:
                    await service.aclose()
                except Exception:  # noqa: BLE001 - the other services are closed all the same
                    _log.exception("%s could not be closed", type(service).__name__)
