"""The client: spawns or connects to a daemon, greets it, and offers every request as a typed coroutine.

async with Client.spawn(["octavo", "serve", "--stdio"]) as client:
    session = await client.session_open(path="session.jsonl")
    result = await client.session_compact(session_id=session.session_id)
"""

import logging
import math
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from subprocess import PIPE
from typing import IO, Any, Self, TypeAlias

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from octavo_client.asking import UNSET, OnProgress, R
from octavo_client.errors import DaemonGoneError, OctavoClientError
from octavo_client.methods import Methods
from octavo_client.peer import Peer
from octavo_protocol.base import JsonObject, Wire
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.lifecycle import ClientOptions, InitializationOptions, SessionTreeCapabilities
from octavo_protocol.methods import METHODS, Direction
from octavo_protocol.model_info import ModelInfo
from octavo_protocol.notifications import NOTIFICATIONS, Progress

_log = logging.getLogger(__name__)

Handler: TypeAlias = Callable[[Any], Awaitable[Wire | JsonObject | None]]
"""Answers a request of the daemon; takes the params model of the method, returns its result model or an object."""

GRACE_S = 5.0
"""Seconds the daemon gets to answer `shutdown`, and again to end."""


@dataclass(frozen=True)
class Options:
    """What a client says in `initialize`.

    Attributes:
        handlers: Answers to the daemon's requests by name: `llm/complete`, `agent/abort`, `hook/…`.
        hooks: Further hooks to hear of: `sessionCompact`, `sessionTree`.
        settings: Settings by dotted key or nested.
        models: Models to register.
        token: Token of the daemon, needed over TCP and WebSocket.
        name: Name of the client in the daemon's log.
    """

    handlers: Mapping[str, Handler] = field(default_factory=dict)
    hooks: Sequence[str] = ()
    settings: JsonObject | None = None
    models: Sequence[ModelInfo] | None = None
    token: str | None = None
    name: str = "octavo-client"

    def to_wire(self) -> JsonObject:
        """Return `initializationOptions`."""
        hooks = [name.removeprefix("hook/") for name in self.handlers if name.startswith("hook/")]
        said = InitializationOptions(
            settings=self.settings,
            models=None if self.models is None else list(self.models),
            token=self.token,
            client=ClientOptions(
                complete="llm/complete" in self.handlers,
                agent="agent/abort" in self.handlers,
                hooks=[*hooks, *self.hooks],
            ),
        )
        return said.to_wire()


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


class Client(Methods):
    """A connection to a daemon. Made by `spawn`, `connect_unix` or `over`, all async context managers."""

    def __init__(self, receive: ByteReceiveStream, send: ByteSendStream, options: Options) -> None:
        unknown = [name for name in options.handlers if _asked_of_clients(name) is None]
        if unknown:
            raise ValueError(f"no daemon asks a client for {', '.join(unknown)}")
        self._options = options
        self._peer = Peer(receive, send, self._serve, self._hear)
        self._tokens = count(1)
        self._progress: dict[str | int, OnProgress] = {}
        self._subscribers: dict[MemoryObjectSendStream[Notification], frozenset[str]] = {}
        self._callbacks: dict[str, list[Callable[[Any], None]]] = {}
        self.server_info: JsonObject = {}
        """Name and version of the daemon."""
        self.capabilities = SessionTreeCapabilities(methods=[], notifications=[], strategies=[], formats=[])
        """What the daemon offers."""

    @classmethod
    @asynccontextmanager
    async def spawn(
        cls,
        command: Sequence[str],
        options: Options | None = None,
        *,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        stderr: int | IO[Any] | None = None,
    ) -> AsyncIterator[Self]:
        """Start a daemon that speaks over stdin and stdout, and end it with the context.

        Args:
            command: Program and arguments, for example `["octavo", "serve", "--stdio"]`.
            options: What to say in `initialize`.
            cwd: Working directory of the daemon.
            env: Environment of the daemon; absent means this process's.
            stderr: Where its log goes, as for `subprocess`; absent means this process's stderr.
        """
        process = await anyio.open_process(command, stdin=PIPE, stdout=PIPE, stderr=stderr, cwd=cwd, env=env)
        try:
            receive, send = process.stdout, process.stdin
            if receive is None or send is None:
                raise DaemonGoneError("The daemon has no stdin or stdout.")
            async with cls.over(receive, send, options, process_id=os.getpid()) as client:
                yield client
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)

    @classmethod
    @asynccontextmanager
    async def connect_unix(cls, path: str | Path, options: Options | None = None) -> AsyncIterator[Self]:
        """Connect to a daemon that listens on a unix socket; it stays when the context ends."""
        async with await anyio.connect_unix(path) as stream, cls.over(stream, stream, options) as client:
            yield client

    @classmethod
    @asynccontextmanager
    async def over(
        cls,
        receive: ByteReceiveStream,
        send: ByteSendStream,
        options: Options | None = None,
        *,
        process_id: int | None = None,
    ) -> AsyncIterator[Self]:
        """Speak over streams that exist already; `process_id` ties the daemon's life to that process.

        Raises:
            OctavoClientError: the daemon refused `initialize`.
            DaemonGoneError: the connection ended before the answer.
        """
        client = cls(receive, send, options or Options())
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            client._peer.start(tasks, closed=client._close_subscribers)
            try:
                await client._greet(process_id)
                yield client
            except Exception as error:  # noqa: BLE001 -- raised again below, not inside an exception group
                failure = error
            finally:
                with anyio.move_on_after(GRACE_S, shield=True):
                    await client._leave()
                client._peer.stop()
                tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def ask(
        self, method: str, params: type[Wire], result: type[R], *, on_progress: OnProgress | None = None, **given: Any
    ) -> R:
        """Send `method` with the given fields of `params` and return the answer as `result` (see `Asking.ask`)."""
        fields = {name: value for name, value in given.items() if value is not UNSET}
        if on_progress is None:
            return await self._ask(method, params.model_validate(fields), result)
        token = f"octavo-client-{next(self._tokens)}"
        self._progress[token] = on_progress
        try:
            return await self._ask(method, params.model_validate({**fields, "work_done_token": token}), result)
        finally:
            del self._progress[token]

    async def request(self, method: str, params: JsonObject | None = None) -> Any:
        """Send any request and return its raw result; raises as `Asking.ask` does, but validates nothing."""
        return await self._peer.request(method, params)

    async def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Send any notification.

        Raises:
            DaemonGoneError: the connection has ended.
        """
        await self._peer.notify(method, params)

    @contextmanager
    def subscribe(self, *methods: str) -> Iterator[MemoryObjectReceiveStream[Notification]]:
        """Give a stream of the named notifications (all when none is named), to be read with `async for`.

        It ends when the connection does. Notifications wait in it unbounded until they are read.
        """
        send, receive = anyio.create_memory_object_stream[Notification](math.inf)
        with send, receive:
            if self._peer.gone is not None:
                send.close()
            else:
                self._subscribers[send] = frozenset(methods)
            try:
                yield receive
            finally:
                self._subscribers.pop(send, None)

    def on(self, method: str, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Call `callback` with the payload of every such notification; return what ends that."""
        callbacks = self._callbacks.setdefault(method, [])
        callbacks.append(callback)
        return lambda: callbacks.remove(callback)

    async def _ask(self, method: str, params: Wire, result: type[R]) -> R:
        answer = await self._peer.request(method, params.model_dump(by_alias=True, exclude_unset=True))
        return result.model_validate(answer if answer is not None else {}, extra="ignore")

    async def _greet(self, process_id: int | None) -> None:
        answer = await self._peer.request(
            "initialize",
            {
                "processId": process_id,
                "rootUri": None,
                "clientInfo": {"name": self._options.name},
                "capabilities": {"window": {"workDoneProgress": True}},
                "initializationOptions": self._options.to_wire(),
            },
        )
        self.server_info = answer.get("serverInfo") or {}
        offered = answer.get("capabilities", {}).get("experimental", {}).get("sessionTree")
        if offered is not None:
            self.capabilities = SessionTreeCapabilities.model_validate(offered, extra="ignore")
        await self._peer.notify("initialized")

    async def _leave(self) -> None:
        with suppress(DaemonGoneError, OctavoClientError):
            await self._peer.request("shutdown")
            await self._peer.notify("exit")
        await self._peer.flush()

    async def _serve(self, method: str, params: Any) -> Any:
        if method == "window/workDoneProgress/create":
            return None
        spec, handler = _asked_of_clients(method), self._options.handlers.get(method)
        if spec is None or handler is None:
            raise OctavoError(ErrorKind.METHOD_NOT_FOUND, f"This client does not answer `{method}`.")
        answer = await handler(spec.params.model_validate(params or {}, extra="ignore"))
        return answer.to_wire() if isinstance(answer, Wire) else answer

    def _hear(self, method: str, raw: Any) -> None:
        notification = Notification(method, raw if isinstance(raw, dict) else {})
        try:
            if method == "$/progress" and isinstance(notification.params, Progress):
                listener = self._progress.get(notification.params.token)
                if listener is not None:
                    listener(notification.params.value)
            for callback in tuple(self._callbacks.get(method, ())):
                callback(notification.params)
        except Exception:  # noqa: BLE001 -- a listener's mistake must not end the connection
            _log.exception("A listener to %s failed", method)
        for stream, wanted in tuple(self._subscribers.items()):
            if not wanted or method in wanted:
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    stream.send_nowait(notification)

    def _close_subscribers(self) -> None:
        for stream in self._subscribers:
            stream.close()
        self._subscribers.clear()


def _asked_of_clients(method: str) -> Any:
    spec = METHODS.get(method)
    return spec if spec is not None and spec.direction is Direction.DAEMON_TO_CLIENT else None


async def _end(process: Process) -> None:
    """Close the process's stdin and wait for its end, with more and more force."""
    if process.stdin is not None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    for force in (None, process.terminate, process.kill):
        with suppress(ProcessLookupError):
            if force is not None:
                force()
        with anyio.move_on_after(GRACE_S):
            await process.wait()
            break
    await process.aclose()
