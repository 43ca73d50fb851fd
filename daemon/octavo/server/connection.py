"""One client: its bytes in, its bytes out, and what handlers may ask of it.

A connection reads frames, lets the greeting answer until `initialize` has succeeded, and then gives every message to
its engine (the pygls adapter in `rpc`, loaded on first need: importing it takes longer than everything before it). It
ends when the peer hangs up, sends `exit`, stops reading, sends what is no frame at all, or when its process is gone.
"""

import logging
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import anyio
import anyio.abc
import anyio.lowlevel
from pydantic import BaseModel, ValidationError

from octavo.server import codec, envelope, failures, framing
from octavo.server.framing import Reader
from octavo.server.greeting import Greeted, Greeting
from octavo.server.outbox import Outbox
from octavo.server.progress import Progress, ProgressToken
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.lifecycle import InitializationOptions

if TYPE_CHECKING:
    from octavo.server.daemon import Daemon

_log = logging.getLogger(__name__)

M = TypeVar("M", bound=BaseModel)

FLUSH_S = 2.0
"""Seconds that a closing connection gets to write what is queued."""
GRACE_S = 1.0
"""Seconds that running requests get after the client's end of input."""
STRANGER_BYTES = 1024 * 1024
"""Largest message of a client that has to present a token yet."""
STRANGER_S = 10.0
"""Seconds a client gets to present its token."""
_PAUSE_S = 0.25
_BURST = 256
_LOG_LEVELS = {"error": 1, "warning": 2, "info": 3, "log": 4}


class ClientError(Exception):
    """The client answered a request of ours with an error, or in a wrong shape."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class ClientGone(Exception):  # noqa: N818 - a state of the world, not a defect
    """The client went away before it answered a request of ours."""


class ByteStream(Protocol):
    """A transport's two directions. `receive` returns b"" at the end of input; both raise OSError on a broken peer."""

    async def receive(self) -> bytes:
        """Return what arrived, at most a few hundred KiB, or one whole message."""
        ...

    async def send(self, data: bytes) -> None:
        """Write all of `data`, waiting while the peer's buffers are full."""
        ...

    def abort(self) -> None:
        """Drop the peer at once; pending and later calls fail or end."""
        ...


class Engine(Protocol):
    """What the protocol engine does for a connection after the greeting."""

    def feed(self, body: bytes) -> None:
        """Take one message body; every request in it gets exactly one answer."""
        ...

    async def ask(self, method: str, params: Any, timeout_s: float | None) -> Any:
        """Send a request to the client and return its raw result."""
        ...

    async def idle(self) -> None:
        """Wait until no request is being answered."""
        ...

    def requests(self) -> list[str]:
        """Methods of the requests that are being answered."""
        ...

    def close(self) -> None:
        """Fail every request that waits for the client."""
        ...


class Connection:
    """One client of the daemon.

    Args:
        daemon: The hub it belongs to.
        stream: Its bytes.
        framing: How messages are delimited on it; None: as its first bytes tell.
        name: What the log calls it.
        token: Secret that `initializationOptions.token` must equal; None on transports the system already guards.
        on_welcome: Called when `initialize` has succeeded, before its answer is sent.
    """

    def __init__(
        self,
        daemon: "Daemon",
        stream: ByteStream,
        framing: framing.Framing | None = framing.HEADERS,
        *,
        name: str = "client",
        token: str | None = None,
        on_welcome: Callable[[], None] | None = None,
    ) -> None:
        self.daemon = daemon
        self.name = name
        self.number = daemon.served
        """Counts up over all clients of the daemon."""
        self.options = InitializationOptions()
        """What the client said in `initialize`: settings, models, what it can do (`options.client`)."""
        self.exit_code: int | None = None
        """Set by `exit`: 0 after `shutdown`, else 1; None when the peer just went away."""
        self._stream = stream
        self._framing = framing
        self._token = token
        self._on_welcome = on_welcome
        self._reader: Reader | None = None
        merges = framing is None or framing.merges
        self._outbox = Outbox(stream.send, self.hang_up, merges=merges, hard_mark=daemon.max_queue_bytes)
        self._greeting = Greeting(daemon.offered, token)
        self._engine: Engine | None = None
        self._reading: anyio.CancelScope | None = None
        self._tasks: anyio.abc.TaskGroup | None = None
        self._closed = anyio.Event()

    # -- for handlers

    def notify(self, method: str, params: Any, *, ephemeral: bool = False, key: str | None = None) -> None:
        """Send a notification to this client.

        Args:
            method: Its name.
            params: A model of the protocol, or the JSON object it would become.
            ephemeral: May be dropped when the client reads too slowly.
            key: An ephemeral notification replaces a waiting one of the same key.

        Raises:
            UnencodableError: When the params have no JSON form.
        """
        self.send_body(codec.notification(method, params), ephemeral=ephemeral, key=key)

    def send_body(self, body: bytes, *, ephemeral: bool = False, key: str | None = None) -> None:
        """Queue an encoded message; after the client is gone it is discarded."""
        self._outbox.write((self._framing or framing.HEADERS).encode(body), ephemeral=ephemeral, key=key)

    async def ask(self, method: str, params: Any, result: type[M], *, timeout_s: float | None = None) -> M:
        """Send a request to the client and return its answer as a model; null counts as an empty object.

        Cancelling the caller, or the timeout, cancels the request at the client.

        Raises:
            ClientError: The client answered with an error or in a wrong shape.
            ClientGone: The client went away.
            TimeoutError: No answer within `timeout_s` seconds.
        """
        if self._engine is None or self._closed.is_set():
            raise ClientGone(f"{self.name} is gone")
        raw = await self._engine.ask(method, params, timeout_s)
        try:
            return result.model_validate({} if raw is None else raw)
        except ValidationError as error:
            first = failures.fields(error)[0]
            where = ".".join(map(str, first["loc"])) or "the answer itself"
            message = f"the client's answer to {method} has a wrong shape ({where}: {first['msg']})"
            raise ClientError(-32603, message) from error

    def progress(self, token: ProgressToken | None, title: str) -> Progress:
        """Return the context manager that reports under the client's `workDoneToken`."""
        return Progress(self, token, title, lambda: time.monotonic() * 1000)

    def log_message(self, level: Literal["error", "warning", "info", "log"], message: str) -> None:
        """Show a line in the client's log of the server (`window/logMessage`)."""
        self.notify("window/logMessage", {"type": _LOG_LEVELS[level], "message": message}, ephemeral=level == "log")

    async def drained(self) -> None:
        """Wait until the client has been sent everything queued; for producers of bulk."""
        await self._outbox.drained()

    @property
    def crowded(self) -> bool:
        """Whether so much is queued that bulk should wait for `drained`."""
        return self._outbox.crowded

    @property
    def requests(self) -> list[str]:
        """Methods of the client's requests that are not answered yet."""
        return [] if self._engine is None else self._engine.requests()

    @property
    def queued_bytes(self) -> int:
        """Bytes that wait for the client to read."""
        return self._outbox.waiting

    async def closed(self) -> None:
        """Wait until the client is gone."""
        await self._closed.wait()

    # -- for transports and the engine

    @property
    def stranger(self) -> bool:
        """Whether it has to present a token and has not done so."""
        return self._token is not None

    @property
    def tasks(self) -> anyio.abc.TaskGroup:
        """Where this client's requests run; ends with the connection."""
        if self._tasks is None:
            raise RuntimeError("the connection is not being served")
        return self._tasks

    def finish(self, exit_code: int) -> None:
        """End after the client's `exit`: stop its work, write what is queued, close."""
        self.exit_code = exit_code
        self._stop_reading()

    def hang_up(self) -> None:
        """Drop the client at once."""
        self._outbox.abort()
        self._stream.abort()
        self._stop_reading()

    async def serve(self) -> None:
        """Serve until the client is gone; never raises for what the client does."""
        self.daemon.connected(self)
        try:
            async with anyio.create_task_group() as io:
                io.start_soon(self._pump)
                async with anyio.create_task_group() as self._tasks:
                    with anyio.CancelScope() as self._reading:
                        if self.daemon.stopping:
                            self._reading.cancel()
                        await self._read()
                    if self.exit_code != 1:
                        await self._finish_work()
                    self._tasks.cancel_scope.cancel()
                self._outbox.close()
                with anyio.move_on_after(FLUSH_S):
                    await self._outbox.drained()
                io.cancel_scope.cancel()
        finally:
            self._closed.set()
            if self._engine is not None:
                self._engine.close()
            self.daemon.disconnected(self)
            _log.info("%s is gone", self.name)

    async def _pump(self) -> None:
        try:
            await self._outbox.pump()
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            _log.info("%s does not take bytes any more: %s", self.name, error)
            self.hang_up()

    async def _finish_work(self) -> None:
        """Let requests under way end for a moment: the client may have closed its half after asking."""
        from octavo.server.daemon import DRAIN_S  # noqa: PLC0415 - the hub imports this module's types

        if self._engine is not None and not self._outbox.closed:
            with anyio.move_on_after(DRAIN_S if self.daemon.stopping else GRACE_S):
                await self._engine.idle()

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    async def _read(self) -> None:
        self.tasks.start_soon(self._stop_with_daemon)
        if self._token is not None:
            self.tasks.start_soon(self._expect_token)
        try:
            while True:
                data: bytes | None = None
                owes = self._reader is not None and self._reader.owes_report
                with anyio.move_on_after(_PAUSE_S if owes else float("inf")):
                    data = await self._stream.receive()
                if self._reader is None:
                    self._framing = self._framing or framing.tell(data or b"")
                    self._reader = self._framing.reader(self._limit)
                events = self._reader.flush() if not data else self._reader.feed(data)
                if not await self._take(events) or data == b"":
                    return
        except (OSError, EOFError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            _log.info("%s sends no more bytes: %s", self.name, error)

    @property
    def _limit(self) -> int:
        """Largest message taken now: whoever has presented no token gets little memory."""
        largest = self.daemon.max_message_bytes
        return min(largest, STRANGER_BYTES) if self.stranger else largest

    async def _expect_token(self) -> None:
        await anyio.sleep(STRANGER_S)
        if self.stranger:
            _log.warning("%s presented no token", self.name)
            text = f"No initialize with the token came within {STRANGER_S:.0f} s."
            self._refuse(None, OctavoError(ErrorKind.INVALID_REQUEST, text))
            self._stop_reading()

    async def _stop_with_daemon(self) -> None:
        await self.daemon.stopped()
        self._stop_reading()

    async def _take(self, events: Iterator[framing.Event]) -> bool:
        """Handle events; False when nothing more shall be read."""
        for count, event in enumerate(events, 1):
            if count % _BURST == 0:
                await anyio.lowlevel.checkpoint()
            match event:
                case framing.Body(data):
                    if self._engine is not None:
                        self._engine.feed(data)
                    else:
                        await self._greet(data)
                case framing.BadHeader(reason, fatal):
                    _log.warning("%s sent what is no frame: %s", self.name, reason)
                    self._refuse(None, OctavoError(ErrorKind.PARSE_ERROR, f"Bad frame: {reason}."))
                    if fatal:
                        return False
                case framing.Oversized(length, prefix):
                    self._refuse(envelope.sniff_id(prefix), self._too_large(length))
            if self.exit_code is not None or self._outbox.closed:
                return False
        return True

    def _too_large(self, length: int | None) -> OctavoError:
        limit = self._limit
        size = "" if length is None else f" of {length} bytes"
        return OctavoError(
            ErrorKind.INVALID_REQUEST,
            f"The message{size} is larger than server.maxMessageBytes ({limit}) and was skipped; send less at a time.",
            details={"length": length, "limit": limit},
        )

    def _refuse(self, message_id: envelope.MessageId | None, error: OctavoError) -> None:
        wire = failures.to_wire(error, "the message")
        self.send_body(codec.error(message_id, wire.code, wire.message, wire.data))

    async def _greet(self, body: bytes) -> None:
        outcome = self._greeting.take(body)
        if outcome.greeted is not None:
            self._token = None
            if self._on_welcome is not None:
                self._on_welcome()
        if outcome.answer is not None:
            self.send_body(outcome.answer)
        if outcome.refused:
            _log.warning("%s presented a wrong token or none", self.name)
            self.finish(0)
        if outcome.exit_code is not None:
            self.finish(outcome.exit_code)
        if outcome.greeted is not None:
            await self._become_engine(outcome.greeted)

    async def _become_engine(self, greeted: Greeted) -> None:
        from octavo.server.lifecycle import load_engine, process_gone  # noqa: PLC0415 - keeps start-up short

        self.options = greeted.options
        if greeted.client_name:
            self.name = f"{self.name} ({greeted.client_name})"
        if greeted.process_id is not None:
            self.tasks.start_soon(self._follow, greeted.process_id, process_gone)
        await self._outbox.drained()
        rpc = await load_engine(self.daemon)
        self._outbox.hard_mark = self.daemon.max_queue_bytes
        self._engine = rpc.make_engine(self, greeted)
        if self._reader is not None:
            self._reader.limit = self._limit

    async def _follow(self, pid: int, process_gone: Callable[[int], Any]) -> None:
        await process_gone(pid)
        _log.info("process %d of %s is gone", pid, self.name)
        self.hang_up()
