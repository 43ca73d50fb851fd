"""The client: spawns or joins a daemon, greets it, and offers every request as a typed coroutine.

async with Client.spawn(["octavo", "serve", "--stdio"]) as client:
    session = await client.session_open(path="session.jsonl")
    result = await client.session_compact(session_id=session.session_id)

It does not connect again when the connection ends; `reconnect` does.
"""

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from subprocess import PIPE
from typing import IO, Any, Self

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from octavo_client.asking import UNSET, OnProgress, R
from octavo_client.child import child
from octavo_client.errors import DaemonGoneError, OctavoClientError
from octavo_client.hearing import Hearing, Notification
from octavo_client.methods import Methods
from octavo_client.options import Options, asked_of_clients
from octavo_client.peer import Peer
from octavo_protocol.base import JsonObject, Wire
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.lifecycle import SessionTreeCapabilities
from octavo_protocol.notifications import Progress

GRACE_S = 5.0
"""Seconds the daemon gets to answer `shutdown`."""


class Client(Methods, Hearing):
    """A connection to a daemon.

    Made by `spawn`, `attach`, `connect_unix`, `connect_tcp` or `over`, all async context managers.
    """

    def __init__(self, receive: ByteReceiveStream, send: ByteSendStream, options: Options) -> None:
        super().__init__()
        unknown = [name for name in options.handlers if asked_of_clients(name) is None]
        if unknown:
            raise ValueError(f"no daemon asks a client for {', '.join(unknown)}")
        self._options = options
        self._peer = Peer(receive, send, self._serve, self._hear)
        self._tokens = count(1)
        self._progress: dict[str | int, OnProgress] = {}
        self._leaving = False
        self.on("$/progress", self._report)
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
        async with (
            child(command, cwd=cwd, env=env, stderr=stderr) as process,
            cls.over(process.receive, process.send, options, process_id=os.getpid()) as client,
        ):
            yield client

    @classmethod
    @asynccontextmanager
    async def attach(
        cls,
        options: Options | None = None,
        *,
        start: bool = True,
        program: Sequence[str] = (sys.executable, "-P", "-m", "octavo"),
        env: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Self]:
        """Join the one daemon of this user, started if need be; it stays when the context ends.

        Args:
            options: What to say in `initialize`. No token is needed.
            start: Start a daemon when none runs.
            program: What runs `octavo`; absent means the one installed for this interpreter.
            env: Environment in which the daemon is looked for and started; absent means this process's.

        Raises:
            DaemonGoneError: none runs, and none may be or can be started; it says why.
            OctavoClientError: the daemon refused `initialize`.
        """
        command = [*program, "attach", *([] if start else ["--no-start"])]
        # Without a process id: the bridge ends with this process, and what it leads to belongs to everybody.
        async with child(command, env=env, stderr=PIPE) as bridge:
            greeted = False
            try:
                async with cls.over(bridge.receive, bridge.send, options) as client:
                    greeted = True
                    yield client
            except DaemonGoneError as error:
                if greeted or not (complaint := await bridge.complaint()):
                    raise
                raise DaemonGoneError(complaint) from error

    @classmethod
    @asynccontextmanager
    async def connect_unix(cls, path: str | Path, options: Options | None = None) -> AsyncIterator[Self]:
        """Connect to a daemon that listens on a unix socket; it stays when the context ends.

        Raises:
            OSError: nobody listens there, or this process may not connect.
        """
        async with await anyio.connect_unix(path) as stream, cls.over(stream, stream, options) as client:
            yield client

    @classmethod
    @asynccontextmanager
    async def connect_tcp(
        cls, host: str, port: int, *, token: str, options: Options | None = None
    ) -> AsyncIterator[Self]:
        """Connect to a daemon that listens on a port of this machine; it stays when the context ends.

        Args:
            host: `127.0.0.1`, as daemons listen on the loopback interface only.
            port: The port, which is `tcpPort` in the daemon's record.
            token: What is in the daemon's token file: a new one with every start.
            options: What else to say in `initialize`.

        Raises:
            OctavoClientError: the token is wrong.
            OSError: nobody listens there.
        """
        said = replace(options or Options(), token=token)
        async with await anyio.connect_tcp(host, port) as stream, cls.over(stream, stream, said) as client:
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
            client._peer.start(tasks, closed=client._fall_silent)
            try:
                await client._greet(process_id)
                yield client
            except Exception as error:  # noqa: BLE001 -- raised again below, not inside an exception group
                failure = error
            finally:
                client._leaving = client._peer.gone is None
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

    @property
    def gone(self) -> DaemonGoneError | None:
        """Why the connection ended, once it has."""
        return self._peer.gone

    async def ended(self) -> DaemonGoneError | None:
        """Wait until the connection has ended, and return why; None when this side ended it."""
        await self._peer.ended.wait()
        return None if self._leaving else self._peer.gone

    async def each_connection(self, listener: Callable[["Client"], Awaitable[None]]) -> Exception | None:
        """Await `listener` with this one connection, wait for its end, and return why it ended.

        A client that reconnects calls it for every connection (`ReconnectingClient.each_connection`).
        """
        with suppress(DaemonGoneError):
            await listener(self)
        return await self.ended()

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
        spec, handler = asked_of_clients(method), self._options.handlers.get(method)
        if spec is None or handler is None:
            raise OctavoError(ErrorKind.METHOD_NOT_FOUND, f"This client does not answer `{method}`.")
        answer = await handler(spec.params.model_validate(params or {}, extra="ignore"))
        return answer.to_wire() if isinstance(answer, Wire) else answer

    def _hear(self, method: str, raw: Any) -> None:
        notification = Notification(method, raw if isinstance(raw, dict) else {})
        self._tell(notification)

    def _report(self, progress: Progress) -> None:
        listener = self._progress.get(progress.token)
        if listener is not None:
            listener(progress.value)
