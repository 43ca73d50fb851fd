"""One end of a JSON-RPC connection: sends requests and correlates answers, serves requests, hands on notifications.

Knows no method by name; `client` does.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any, TypeAlias

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, TaskGroup

from octavo_client.errors import DaemonGoneError, OctavoClientError
from octavo_client.framing import FrameReader, frame, parse
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ERRORS, ErrorKind, OctavoError

_log = logging.getLogger(__name__)
_OUTGOING = 64

Serve: TypeAlias = Callable[[str, Any], Awaitable[Any]]
Notice: TypeAlias = Callable[[str, Any], None]


class _Pending:
    """A request that waits for its answer."""

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.answer: JsonObject = {}
        self.failure: DaemonGoneError | None = None


class Peer:
    """A connection that runs in a task group.

    Args:
        receive: Stream frames come from.
        send: Stream frames go to.
        serve: Answers a request of the other side; raises `OctavoError` to refuse it.
        notice: Takes a notification of the other side; must return at once.
    """

    def __init__(self, receive: ByteReceiveStream, send: ByteSendStream, serve: Serve, notice: Notice) -> None:
        self._reader = FrameReader(receive)
        self._sink = send
        self._serve = serve
        self._notice = notice
        self._ids = count(1)
        self._pending: dict[int, _Pending] = {}
        self._serving: dict[str | int, anyio.CancelScope] = {}
        self._outgoing, self._frames = anyio.create_memory_object_stream[bytes](_OUTGOING)
        self._written = anyio.Event()
        self._loops: list[anyio.CancelScope] = []
        self.gone: DaemonGoneError | None = None
        """Why the connection ended, once it has."""
        self.ended = anyio.Event()
        """Set when the connection has ended."""

    def start(self, tasks: TaskGroup, *, closed: Callable[[], None]) -> None:
        """Read and write in `tasks` until the connection ends, and then call `closed`, or until `stop`.

        Cancelling `tasks` alone ends the handlers but leaves the connection up, so that one can say goodbye.
        """
        tasks.start_soon(self._loop, self._write)
        tasks.start_soon(self._loop, partial(self._read, tasks, closed))

    def stop(self) -> None:
        """End reading and writing; requests that still wait are told that the connection is gone."""
        self._end(DaemonGoneError("The connection is closed."))
        for scope in self._loops:
            scope.cancel()
        self._outgoing.close()
        self._frames.close()

    async def request(self, method: str, params: JsonObject | None = None) -> Any:
        """Send a request and return its result. Cancelling the caller's scope sends `$/cancelRequest`.

        Raises:
            OctavoClientError: the other side answered with an error.
            DaemonGoneError: the connection ended before the answer.
        """
        number = next(self._ids)
        pending = self._pending[number] = _Pending()
        sent = False
        try:
            await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})
            sent = True
            await pending.answered.wait()
        except anyio.get_cancelled_exc_class():
            if sent:
                with anyio.move_on_after(1, shield=True):
                    await self._cancel(number)
            raise
        finally:
            del self._pending[number]
        if pending.failure is not None:
            raise pending.failure
        if "error" in pending.answer:
            raise OctavoClientError.of(pending.answer["error"])
        return pending.answer.get("result")

    async def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Send a notification.

        Raises:
            DaemonGoneError: the connection has ended.
        """
        await self._send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    async def flush(self) -> None:
        """Take no more to send, and return when everything before is written."""
        self._outgoing.close()
        await self._written.wait()

    async def _loop(self, body: Callable[[], Awaitable[None]]) -> None:
        with anyio.CancelScope(shield=True) as scope:
            self._loops.append(scope)
            await body()

    async def _cancel(self, number: int) -> None:
        with suppress(DaemonGoneError):
            await self._send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}})

    async def _send(self, message: JsonObject) -> None:
        """Queue a message whole, so that cancelling the sender never tears a frame."""
        if self.gone is not None:
            raise DaemonGoneError(str(self.gone))
        try:
            await self._outgoing.send(frame(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise DaemonGoneError("The connection is closed.") from None

    async def _write(self) -> None:
        try:
            async with self._frames:
                async for data in self._frames:
                    await self._sink.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._end(DaemonGoneError("The daemon closed the connection."))
        finally:
            self._written.set()

    async def _read(self, tasks: TaskGroup, closed: Callable[[], None]) -> None:
        try:
            while True:
                self._take(parse(await self._reader.read()), tasks)
        except DaemonGoneError as error:
            self._end(error)
        except ValueError:
            self._end(DaemonGoneError("The daemon sent something that is not JSON."))
        finally:
            closed()

    def _end(self, error: DaemonGoneError) -> None:
        self.gone = self.gone or error
        self.ended.set()
        for pending in self._pending.values():
            pending.failure = DaemonGoneError(str(self.gone))
            pending.answered.set()
        for scope in self._serving.values():
            scope.cancel()

    def _take(self, message: Any, tasks: TaskGroup) -> None:
        if not isinstance(message, dict):
            raise DaemonGoneError("The daemon sent something that is no message.")
        method, number = message.get("method"), message.get("id")
        if method is None:
            pending = self._pending.get(number) if isinstance(number, int) else None
            if pending is not None:
                pending.answer = message
                pending.answered.set()
        elif number is not None:
            scope = self._serving[number] = anyio.CancelScope()
            tasks.start_soon(self._answer, scope, number, method, message.get("params"))
        elif method == "$/cancelRequest":
            self._cancelled(message.get("params"))
        else:
            self._notice(method, message.get("params"))

    def _cancelled(self, params: Any) -> None:
        number = params.get("id") if isinstance(params, dict) else None
        scope = self._serving.get(number) if isinstance(number, str | int) else None
        if scope is not None:
            scope.cancel()

    async def _answer(self, scope: anyio.CancelScope, number: str | int, method: str, params: Any) -> None:
        answer: JsonObject = _error(ErrorKind.CANCELLED, "The request was cancelled.")
        with scope:
            try:
                answer = {"result": await self._serve(method, params)}
            except OctavoError as error:
                answer = {"error": {"code": error.code, "message": error.message, "data": error.data}}
            except Exception:  # noqa: BLE001 -- whatever a handler raises, the daemon gets its answer
                _log.exception("The handler of %s failed", method)
                answer = _error(ErrorKind.INTERNAL_ERROR, f"The client's handler of `{method}` failed.")
            finally:
                self._serving.pop(number, None)
        with suppress(DaemonGoneError):
            await self._send({"jsonrpc": "2.0", "id": number, **answer})


def _error(kind: ErrorKind, message: str) -> JsonObject:
    return {"error": {"code": ERRORS[kind].code, "message": message, "data": {"kind": kind.value}}}
