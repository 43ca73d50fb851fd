"""A client that dials again when its connection ends, with growing pauses.

async with ReconnectingClient(lambda: Client.attach()) as client:
    await client.session_list()

A request whose connection ended is never sent twice by itself. Sessions that were open are not open on the new
connection; `follower.SessionFollower` opens its own again.
"""

import logging
import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from octavo_client.asking import OnProgress, R
from octavo_client.backoff import BACKOFF, Backoff
from octavo_client.client import Client
from octavo_client.errors import DaemonGoneError
from octavo_client.hearing import Hearing
from octavo_client.methods import Methods
from octavo_client.states import Closed, Connected, Connecting, ConnectionState, Waiting
from octavo_protocol.base import JsonObject, Wire

_log = logging.getLogger(__name__)

Dial: TypeAlias = Callable[[], AbstractAsyncContextManager[Client]]
"""Makes a connection, for example `lambda: Client.connect_unix(path)`."""


@dataclass(frozen=True, slots=True, eq=False)
class _Arrival:
    """A new connection on its way to a listener."""

    client: Client
    greeted: anyio.Event = field(default_factory=anyio.Event)


class ReconnectingClient(Methods, Hearing):
    """A client over one connection after another, from entering the context to leaving it.

    What `dial` raises is tried again if the system or the connection is the reason (`OSError`, of which
    `DaemonGoneError` is one). Anything else ends the client, such as a daemon that answered and refused
    (`OctavoClientError`): it would refuse again.

    Args:
        dial: Makes a connection each time; enters and leaves it.
        backoff: Pauses between attempts.
        random: From 0 to 1, for the jitter.
        sleep: Waits for so many seconds.
    """

    def __init__(
        self,
        dial: Dial,
        *,
        backoff: Backoff = BACKOFF,
        random: Callable[[], float] = random.random,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        super().__init__()
        self._dial = dial
        self._backoff = backoff
        self._random = random
        self._sleep = sleep
        self._state: ConnectionState = Closed()
        self._changed = anyio.Event()
        self._state_listeners: list[Callable[[ConnectionState], None]] = []
        self._present: Client | None = None
        self._watchers: list[MemoryObjectSendStream[_Arrival]] = []
        self._scope = anyio.CancelScope()
        self._life: AbstractAsyncContextManager[None] | None = None

    async def __aenter__(self) -> Self:
        if self._life is not None:
            raise RuntimeError("A reconnecting client is entered once; make another one.")
        self._life = self._living()
        await self._life.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        if self._life is None:
            raise RuntimeError("The reconnecting client was not entered.")
        return await self._life.__aexit__(kind, error, traceback)

    @property
    def state(self) -> ConnectionState:
        """Where it stands now."""
        return self._state

    def on_state(self, listener: Callable[[ConnectionState], None]) -> Callable[[], None]:
        """Call `listener` with every new state; return what ends that."""
        self._state_listeners.append(listener)

        def stop() -> None:
            with suppress(ValueError):
                self._state_listeners.remove(listener)

        return stop

    @property
    def resending(self) -> Methods:
        """The same requests, sent again on the next connection when theirs ends.

        For those that may be repeated: reads, and appends that give their `ids`.
        """
        return _Resending(self)

    async def ready(self) -> Client:
        """Return the present connection, or wait for the next one.

        Raises:
            Exception: what ended this client, when no more connections will come.
            DaemonGoneError: it was closed.
        """
        while True:
            state = self._state
            if isinstance(state, Connected) and state.client.gone is None:
                return state.client
            if isinstance(state, Closed):
                raise state.error or DaemonGoneError("The client is closed.")
            await self._changed.wait()

    async def ask(
        self,
        method: str,
        params: type[Wire],
        result: type[R],
        *,
        on_progress: OnProgress | None = None,
        resend: bool = False,
        **given: Any,
    ) -> R:
        """Wait for a connection and ask over it (see `Asking.ask`), again on the next one with `resend`."""
        while True:
            client = await self.ready()
            try:
                return await client.ask(method, params, result, on_progress=on_progress, **given)
            except DaemonGoneError:
                if not resend:
                    raise

    async def request(self, method: str, params: JsonObject | None = None, *, resend: bool = False) -> Any:
        """Wait for a connection and send any request over it; return its raw result.

        Args:
            method: Its name.
            params: Its params.
            resend: Send it again on the next connection when this one ends before the answer.

        Raises:
            OctavoClientError: the daemon answered with an error.
            DaemonGoneError: the connection ended before the answer: whether the daemon did it is not known.
        """
        while True:
            client = await self.ready()
            try:
                return await client.request(method, params)
            except DaemonGoneError:
                if not resend:
                    raise

    async def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Wait for a connection and send any notification over it."""
        await (await self.ready()).notify(method, params)

    async def each_connection(self, listener: Callable[[Client], Awaitable[None]]) -> Exception | None:
        """Await `listener` with the present connection and with every later one, before requests use it.

        It runs in the caller's task, one connection after the other, and should return soon: until then nobody else
        gets the connection. A `DaemonGoneError` it raises means the next one; anything else comes out of here.

        Returns:
            What ended this client, when no more connections will come; None when it was closed.
        """
        if isinstance(self._state, Closed):
            return self._reason()
        send, receive = anyio.create_memory_object_stream[_Arrival](math.inf)
        if self._present is not None:
            _announce(send, self._present)
        self._watchers.append(send)
        try:
            async for arrival in receive:
                try:
                    with suppress(DaemonGoneError):
                        await listener(arrival.client)
                finally:
                    arrival.greeted.set()
        finally:
            with suppress(ValueError):
                self._watchers.remove(send)
            send.close()
            _drain(receive)
        return self._reason()

    async def close(self) -> None:
        """End the connection and dial no more; waiting requests are raised `DaemonGoneError`."""
        self._scope.cancel()
        while not isinstance(self._state, Closed):
            await self._changed.wait()

    @asynccontextmanager
    async def _living(self) -> AsyncIterator[None]:
        failure: Exception | None = None
        self._enter(Connecting(1))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run)
            try:
                yield
            except Exception as error:  # noqa: BLE001 -- raised again below, not inside an exception group
                failure = error
            finally:
                tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _run(self) -> None:
        error: Exception | None = None
        try:
            with self._scope:
                error = await self._dial_on()
        finally:
            self._fall_silent()
            self._enter(Closed(error))
            for watcher in self._watchers:
                watcher.close()

    async def _dial_on(self) -> Exception:
        """Keep a connection until there is a reason not to; return it."""
        attempt = 1
        while True:
            connected, error = await self._once()
            attempt = 1 if connected else attempt + 1
            if not isinstance(error, OSError) or attempt > self._backoff.attempts:
                return error
            delay = self._backoff.pause_s(max(1, attempt - 1), self._random())
            self._enter(Waiting(attempt, delay, error))
            await self._sleep(delay)
            self._enter(Connecting(attempt))

    async def _once(self) -> tuple[bool, Exception]:
        """One connection from dialling to its end: whether there was one, and why there is none any more."""
        connected = False
        try:
            async with self._dial() as client:
                connected = True
                client.on_every(self._tell)
                error: Exception = await self._serve(client)
        except Exception as failure:  # noqa: BLE001 -- it is the client's state, and raised from every request
            error = failure
        return connected, error

    async def _serve(self, client: Client) -> Exception:
        """Give a connection to everybody, and wait for its end."""
        # In one step with the next line: whoever comes later sees the present client, and it alone.
        arrivals = [_announce(watcher, client) for watcher in self._watchers]
        self._present = client
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._welcome, client, arrivals)
                gone = await client.ended()
                tasks.cancel_scope.cancel()
        finally:
            self._present = None
        return gone or DaemonGoneError("The connection is closed.")

    async def _welcome(self, client: Client, arrivals: Sequence[_Arrival]) -> None:
        for arrival in arrivals:
            await arrival.greeted.wait()
        if client.gone is None:
            self._enter(Connected(client))

    def _enter(self, state: ConnectionState) -> None:
        self._state = state
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
        for listener in tuple(self._state_listeners):
            try:
                listener(state)
            except Exception:  # noqa: BLE001 -- a listener's mistake must not end the client
                _log.exception("A listener to the state of a client failed")

    def _reason(self) -> Exception | None:
        return self._state.error if isinstance(self._state, Closed) else None


class _Resending(Methods):
    """The requests of a reconnecting client, each sent again when its connection ends."""

    def __init__(self, client: ReconnectingClient) -> None:
        self._client = client

    async def ask(
        self, method: str, params: type[Wire], result: type[R], *, on_progress: OnProgress | None = None, **given: Any
    ) -> R:
        return await self._client.ask(method, params, result, on_progress=on_progress, resend=True, **given)


def _announce(watcher: MemoryObjectSendStream[_Arrival], client: Client) -> _Arrival:
    arrival = _Arrival(client)
    watcher.send_nowait(arrival)
    return arrival


def _drain(receive: MemoryObjectReceiveStream[_Arrival]) -> None:
    """Let nobody wait for a listener that is gone."""
    with suppress(anyio.WouldBlock, anyio.EndOfStream):
        while True:
            receive.receive_nowait().greeted.set()
    receive.close()
