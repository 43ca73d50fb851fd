"""The protocol engine of one connection: pygls' language server protocol with our codec, cancellation and errors.

From pygls come the LSP lifecycle, the feature table, the correlation of our own requests and every LSP type. Replaced
are decoding (pygls structures every nested object and drops what it cannot), encoding (it blocks or grows without
bound), cancellation (its native `Task.cancel` pierces anyio's shields) and the cases in which it would never answer.
This is the only module that knows pygls and lsprotocol; a contract test guards the private names it relies on.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import anyio
import attrs
from cattrs import Converter
from lsprotocol import types
from pydantic import BaseModel
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

from octavo import __version__
from octavo.server import codec, envelope, failures
from octavo.server.connection import ClientError, ClientGone, Connection
from octavo.server.counters import Counters
from octavo.server.greeting import COMMAND_PREFIX, Greeted
from octavo.server.registry import Handler
from octavo.server.workers import Outcome, Workers
from octavo_protocol.errors import ERRORS, ErrorKind, OctavoError

_log = logging.getLogger(__name__)

MAX_IN_FLIGHT = 4096
"""Requests of one client that may be unanswered at a time."""
SHUTDOWN_GRACE_S = 1.0
"""Seconds that `shutdown` lets the client's other requests finish before it cancels them."""

_NOTIFICATIONS = frozenset(name for name, (_, response, *_) in types.METHOD_TO_TYPES.items() if response is None)
_KIND_OF_CODE = {spec.code: kind for kind, spec in ERRORS.items()}


@cache
def _converter() -> Converter:
    """The one converter of the process: making it is what is slow about an engine."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    return converter


@dataclass(slots=True)
class _InFlight:
    method: str
    started: float
    token: int | str | None


class _Protocol(LanguageServerProtocol):
    """See the module; one instance per connection."""

    _server: "Engine"

    def __init__(self, server: "Engine", converter: Converter) -> None:
        super().__init__(server, converter)
        builtin = self.fm.builtin_features
        for name in [n for n in builtin if n.startswith(("textDocument/", "notebookDocument/"))]:
            del builtin[name]
        self._connection = server.connection
        self._table = server.connection.daemon.table
        self._counters = server.connection.daemon.service(Counters)
        self.workers = Workers(server.connection.tasks)
        self._in_flight: dict[envelope.MessageId, _InFlight] = {}
        self._asked: set[envelope.MessageId] = set()
        self._asked_count = 0
        for name, handler in self._table.handlers.items():
            self.fm.features[name] = self._bound(handler)
            self.fm.commands[COMMAND_PREFIX + name] = self.fm.features[name]
        ours = set(self.fm.features.values())
        self._asynchronous = {f for f in (*ours, *builtin.values()) if asyncio.iscoroutinefunction(f)}
        self._immediate = ours - self._asynchronous

    # -- inbound

    def feed(self, body: bytes) -> None:
        """Dispatch one message body."""
        message = envelope.read(body)
        if isinstance(message, envelope.Request):
            self._take_request(message)
        elif isinstance(message, envelope.Notification):
            self._take_notification(message)
        elif isinstance(message, envelope.Response):
            self._take_response(message)
        else:
            self._refuse(message.id, message.error, "the message")

    def _take_request(self, request: envelope.Request) -> None:
        try:
            self._admit(request)
            params = self._params(request.method, request.params, request.id)
        except OctavoError as error:
            self._refuse(request.id, error, request.method)
            return
        token = getattr(params, "work_done_token", None)
        self._shutdown = request.method == types.SHUTDOWN
        self._in_flight[request.id] = _InFlight(request.method, time.monotonic(), token)
        self._handle_request(request.id, request.method, params)

    def _admit(self, request: envelope.Request) -> None:
        """Refuse what must not run, whatever its params say."""
        method = request.method
        if self._shutdown:
            raise OctavoError(ErrorKind.INVALID_REQUEST, f"{method} came after shutdown; send exit.")
        if method in _NOTIFICATIONS or method in self._table.notifications:
            raise OctavoError(ErrorKind.INVALID_REQUEST, f"{method} is a notification; send it without an id.")
        if method == types.INITIALIZE:
            raise OctavoError(ErrorKind.INVALID_REQUEST, "This connection is initialized already.")
        if request.id in self._in_flight:
            raise OctavoError(ErrorKind.INVALID_REQUEST, f"Request id {request.id!r} is in flight already.")
        if len(self._in_flight) >= MAX_IN_FLIGHT:
            raise OctavoError(ErrorKind.INVALID_REQUEST, f"{MAX_IN_FLIGHT} requests are unanswered; wait for some.")
        if method not in self.fm.builtin_features and self._table.get(method) is None:
            if method in self._table:
                raise OctavoError(ErrorKind.NOT_AVAILABLE, f"{method} is not offered by this daemon.")
            raise OctavoError(ErrorKind.METHOD_NOT_FOUND, f"There is no method {method}.")

    def _params(self, method: str, raw: Any, message_id: envelope.MessageId | None = None) -> Any:
        """Validate params: ours with their model, LSP's with lsprotocol's types."""
        if (handler := self._table.get(method)) is not None:
            return handler.validate(raw)
        message_type = self.get_message_type(method)
        if message_type is None:
            return raw
        message = {"jsonrpc": "2.0", "method": method, "params": raw, "id": message_id}
        try:
            return getattr(self._converter.structure(message, message_type), "params", None)
        except Exception as error:  # cattrs raises what the types' own validators raise
            _log.info("invalid params for %s: %s", method, error)
            raise failures.bad_params(method, [{"loc": [], "msg": "params do not fit LSP's type"}]) from error

    def _take_notification(self, notification: envelope.Notification) -> None:
        method = notification.method
        if self._shutdown and method != types.EXIT:
            return
        known = method in self.fm.builtin_features or method in self.fm.features or method == types.CANCEL_REQUEST
        if not known:
            if not method.startswith("$/"):
                _log.info("%s sent %s, which nothing listens to", self._connection.name, method)
            return
        try:
            params = self._params(method, notification.params)
        except OctavoError as error:
            _log.warning("%s sent a bad notification: %s", self._connection.name, error.message)
            return
        self._handle_notification(method, params)

    def _take_response(self, response: envelope.Response) -> None:
        if response.id not in self._asked:
            _log.info("%s answered a request that is not open: %r", self._connection.name, response.id)
            return
        error = None
        if response.error is not None:
            code, message = response.error.get("code"), response.error.get("message")
            error = types.ResponseError(
                code=code if isinstance(code, int) else -32603,
                message=message if isinstance(message, str) else "the client gave no reason",
                data=response.error.get("data"),
            )
        self._handle_response(response.id, response.result, error)

    def in_flight(self) -> list[str]:
        """Methods of the requests that are being answered."""
        return [flight.method for flight in self._in_flight.values()]

    # -- running handlers

    def _bound(self, handler: Handler) -> Callable[[BaseModel], Any]:
        if asyncio.iscoroutinefunction(handler.function):
            return partial(self._call, handler)
        return partial(handler.function, self._connection)

    async def _call(self, handler: Handler, params: BaseModel) -> Any:
        result = handler.function(self._connection, params)
        if isinstance(result, Awaitable):
            result = await result
        # A client that pipelines bulk gets it as fast as it reads, instead of being hung up on.
        while self._connection.crowded:
            await self._connection.drained()
        return result

    def _execute_handler(
        self,
        msg_id: envelope.MessageId,
        handler: Callable[..., Any],
        callback: Callable[[Any], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        if handler in self._asynchronous:
            self.workers.submit(msg_id, partial(handler, *args or (), **kwargs or {}), callback)
        elif handler in self._immediate:
            try:
                outcome = Outcome(handler(*args or (), **kwargs or {}))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
                outcome = Outcome(error=error)
            callback(outcome)
        else:
            super()._execute_handler(msg_id, handler, callback, args, kwargs)

    def _handle_cancel_notification(self, msg_id: envelope.MessageId) -> None:
        if not self.workers.cancel(msg_id):
            _log.debug("nothing to cancel for id %r", msg_id)

    def _check_handler_result(self, future: Outcome | Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            wire = self._describe(error, "a notification")
            _log.warning("a notification failed: %s", wire.message)

    def _send_handler_result(self, future: Outcome | Future[Any], *, msg_id: envelope.MessageId) -> None:
        self._request_futures.pop(msg_id, None)
        flight = self._in_flight.pop(msg_id)
        outcome, result = "ok", None
        if future.cancelled():
            self._send_error(msg_id, failures.cancelled(flight.method))
            outcome = ErrorKind.CANCELLED.value
        elif (error := future.exception()) is not None:
            wire = self._describe(error, flight.method)
            self._send_error(msg_id, wire)
            outcome = str(wire.data["kind"])
        else:
            result = future.result()
            self._send_result(msg_id, flight.method, result)
        self._counters.answered(flight.method, outcome, time.monotonic() - flight.started, result)
        if self.trace != types.TraceValue.Off:
            took = (time.monotonic() - flight.started) * 1000
            self._connection.log_message("log", f"{flight.method} ({msg_id!r}) was answered after {took:.1f} ms.")

    def _describe(self, error: BaseException, method: str) -> failures.WireError:
        if isinstance(error, JsonRpcException):
            kind = _KIND_OF_CODE.get(error.code, ErrorKind.INTERNAL_ERROR)
            error = OctavoError(kind, error.message)
        return failures.to_wire(error, method)

    # -- outbound

    def _refuse(self, msg_id: envelope.MessageId | None, error: OctavoError, method: str) -> None:
        self._send_error(msg_id, failures.to_wire(error, method))

    def _send_result(self, msg_id: envelope.MessageId, method: str, result: Any) -> None:
        try:
            body = codec.result(msg_id, self._plain(result))
        except codec.UnencodableError as error:
            self._send_error(msg_id, failures.to_wire(error, method))
        else:
            self._connection.send_body(body)

    def _send_error(self, msg_id: envelope.MessageId | None, error: failures.WireError) -> None:
        try:
            body = codec.error(msg_id, error.code, error.message, error.data)
        except codec.UnencodableError:
            _log.exception("the data of an error cannot be encoded")
            body = codec.error(msg_id, error.code, error.message, {"kind": error.data.get("kind")})
        self._connection.send_body(body)

    def _send_data(self, data: Any) -> None:
        """Send a request or notification that pygls built."""
        params = self._plain(getattr(data, "params", None))
        if hasattr(data, "id"):
            self._connection.send_body(codec.request(data.id, data.method, params))
        else:
            self._connection.send_body(codec.notification(data.method, params))

    def _plain(self, value: Any) -> Any:
        return self._converter.unstructure(value) if attrs.has(type(value)) else value

    async def ask(self, method: str, params: Any, timeout_s: float | None) -> Any:
        """Send a request to the client; see `connection.Engine`."""
        self._asked_count += 1
        msg_id = f"octavo-{self._asked_count}"
        self._asked.add(msg_id)
        answered = False
        try:
            future = asyncio.wrap_future(self.send_request(method, params, msg_id=msg_id))
            with anyio.fail_after(timeout_s):
                result = await future
            answered = True
        except JsonRpcException as error:
            answered = True
            raise ClientError(error.code, error.message, error.data) from None
        else:
            return result
        finally:
            self._asked.discard(msg_id)
            self._request_futures.pop(msg_id, None)
            self._result_types.pop(msg_id, None)
            if not answered:
                self._connection.notify(types.CANCEL_REQUEST, {"id": msg_id})

    def fail_asked(self) -> None:
        """End every wait for the client with `ClientGone`."""
        for msg_id in tuple(self._asked):
            future = self._request_futures.pop(msg_id, None)
            if future is not None and not future.done():
                future.set_exception(ClientGone(f"{self._connection.name} went away before it answered"))

    # pygls caches these two in tables of the class that would keep closed connections alive.

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """Return LSP's type of a message."""
        return types.METHOD_TO_TYPES.get(method, (None,))[0]

    def get_result_type(self, method: str) -> type[Any] | None:  # type: ignore[override]  # noqa: ARG002
        """Return None: answers of the client are validated by whoever asked."""
        return None

    # -- LSP's own methods

    @lsp_method(types.SHUTDOWN)
    async def lsp_shutdown(self, *args: Any) -> None:  # type: ignore[override]  # noqa: ARG002
        """Let the client's other requests finish for a moment, then cancel them."""
        me = next((i for i, flight in self._in_flight.items() if flight.method == types.SHUTDOWN), None)
        with anyio.move_on_after(SHUTDOWN_GRACE_S):
            await self.workers.idle(except_for=me)
        self.workers.cancel_all(except_for=me)
        await self.workers.idle(except_for=me)

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> None:  # type: ignore[override]  # noqa: ARG002
        """Hang up this client; the process ends only if it served this client alone."""
        self._connection.finish(0 if self._shutdown else 1)

    @lsp_method(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(self, params: types.WorkDoneProgressCancelParams) -> None:
        """Cancel the request that reports under the token."""
        for msg_id, flight in tuple(self._in_flight.items()):
            if flight.token is not None and flight.token == params.token:
                self.workers.cancel(msg_id)

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(  # type: ignore[override]
        self, params: types.ExecuteCommandParams
    ) -> Any:
        """Call `octavo.<method>` with its one argument, for editors that cannot send methods of their own."""
        handler = self._table.get(params.command.removeprefix(COMMAND_PREFIX))
        if handler is None or not params.command.startswith(COMMAND_PREFIX):
            raise failures.bad_params(types.WORKSPACE_EXECUTE_COMMAND, [{"loc": ["command"], "msg": "no such command"}])
        arguments = params.arguments or []
        if len(arguments) > 1:
            raise failures.bad_params(
                types.WORKSPACE_EXECUTE_COMMAND, [{"loc": ["arguments"], "msg": "give one object: the method's params"}]
            )
        return await self._call(handler, handler.validate(arguments[0] if arguments else None))

    def adopt(self, params: Any) -> None:
        """Take over from the greeting: bring pygls into the state `initialize` would have led to."""
        message = {"jsonrpc": "2.0", "id": 0, "method": types.INITIALIZE, "params": {"capabilities": {}, **params}}
        try:
            structured = self._converter.structure(message, types.InitializeRequest).params
        except Exception as error:  # noqa: BLE001 - a client newer than these types is welcome all the same
            _log.info("the capabilities of %s are not understood: %s", self._connection.name, error)
            structured = types.InitializeParams(capabilities=types.ClientCapabilities())
        self._execute_handler("initialize", self.lsp_initialize, self._check_handler_result, (structured,))


class Engine(LanguageServer):
    """What `connection.Engine` asks for, over pygls.

    Args:
        connection: The client it serves.
        greeted: Its `initialize`.
    """

    protocol: _Protocol

    def __init__(self, connection: Connection, greeted: Greeted) -> None:
        self.connection = connection
        super().__init__(
            "octavo",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.None_,
            protocol_cls=_Protocol,
            converter_factory=_converter,
        )
        self.feed = self.protocol.feed
        self.ask = self.protocol.ask
        self.protocol.adopt(greeted.params)

    def requests(self) -> list[str]:
        """Methods of the requests that are being answered."""
        return self.protocol.in_flight()

    async def idle(self) -> None:
        """Wait until no request is being answered."""
        await self.protocol.workers.idle()

    def close(self) -> None:
        """Fail every request that waits for the client."""
        self.protocol.fail_asked()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log; the stock server shows a message box for every failed notification."""
        _log.error("%s: %s", getattr(source, "__name__", source), error)


def make_engine(connection: Connection, greeted: Greeted) -> Engine:
    """Return the engine of a connection that has been greeted; call it while the connection is served."""
    return Engine(connection, greeted)
