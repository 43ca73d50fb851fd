"""WebSocket on the loopback interface: one text message is one JSON-RPC message.

Any page that a browser shows can reach this port, so the browser's word for where the page is from (`Origin`) must be
absent or allowed by name, and every client needs the token: as `Authorization: Bearer …`, as `?token=…`, or in
`initializationOptions`.
"""

import http
import logging
import urllib.parse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import websockets
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from octavo.server.connection import STRANGER_BYTES, Connection
from octavo.server.daemon import Daemon
from octavo.server.framing import MESSAGES
from octavo.server.greeting import token_fits
from octavo.server.transports import LOOPBACK, TransportError, has_room

_log = logging.getLogger(__name__)

_OPEN_S = 10.0
_CLOSE_S = 2.0


class WebSocketStream:
    """One accepted WebSocket.

    Args:
        peer: The library's view of it.
    """

    def __init__(self, peer: ServerConnection) -> None:
        self._peer = peer

    async def receive(self) -> bytes:
        """See `ByteStream`."""
        try:
            return await self._peer.recv(decode=False)
        except websockets.ConnectionClosedOK:
            return b""
        except websockets.ConnectionClosed as error:
            raise ConnectionError(str(error)) from error

    async def send(self, data: bytes) -> None:
        """See `ByteStream`."""
        try:
            await self._peer.send(data, text=True)
        except websockets.ConnectionClosed as error:
            raise ConnectionError(str(error)) from error

    def abort(self) -> None:
        """See `ByteStream`."""
        self._peer.transport.abort()


@asynccontextmanager
async def listening(daemon: Daemon, port: int, token: str, origins: tuple[str, ...] = ()) -> AsyncIterator[int]:
    """Serve clients on a port of the loopback interface (0: any free one) while the context lasts; yields the port.

    Args:
        daemon: Whom the clients are for.
        port: Where to listen.
        token: What they must present.
        origins: Values of `Origin` that are welcome beside its absence.

    The daemon must have been asked to stop when the context ends.

    Raises:
        TransportError: The port is taken or not ours to use.
    """
    count = 0
    present: set[ServerConnection] = set()
    empty = anyio.Event()

    def admit(peer: ServerConnection, request: Request) -> Response | None:
        if (origin := foreign_origin(request, origins)) is not None:
            _log.warning("a page of %r was refused", origin)
            text = f"Origin {origin!r} may not use this daemon; allow it with --allow-origin.\n"
            return peer.respond(http.HTTPStatus.FORBIDDEN, text)
        given = presented_token(request)
        if given is not None and not token_fits(token, given):
            _log.warning("a WebSocket client presented a wrong token")
            return peer.respond(http.HTTPStatus.UNAUTHORIZED, "The token is wrong; read it from the token file.\n")
        if not has_room(daemon, stranger=given is None):
            return peer.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, "Too many clients are connected.\n")
        return None

    async def serve_one(peer: ServerConnection) -> None:
        nonlocal count, empty
        count += 1
        known = peer.request is not None and presented_token(peer.request) is not None

        def welcome() -> None:
            peer.protocol.max_message_size = daemon.max_message_bytes

        stream = WebSocketStream(peer)
        secret = None if known else token
        connection = Connection(daemon, stream, MESSAGES, name=f"websocket#{count}", token=secret, on_welcome=welcome)
        if not present:
            empty = anyio.Event()
        present.add(peer)
        try:
            await connection.serve()
        finally:
            present.discard(peer)
            if not present:
                empty.set()

    try:
        server = await serve(
            serve_one,
            LOOPBACK,
            port,
            process_request=admit,
            compression=None,
            max_size=STRANGER_BYTES,
            open_timeout=_OPEN_S,
            close_timeout=_CLOSE_S,
            # Whether a client reads is the outbox's concern; one that stands in a debugger is not gone.
            ping_interval=None,
            server_header=None,
        )
    except OSError as error:
        raise TransportError(f"Cannot listen on {LOOPBACK}:{port}: {error.strerror or error}.") from error
    try:
        yield port_of(server)
    finally:
        # Clients end by themselves when the daemon stops; only what is left then is closed by force.
        server.server.close()
        while present:
            await empty.wait()
        server.close()
        with anyio.move_on_after(_CLOSE_S, shield=True):
            await server.wait_closed()


def port_of(server: Server) -> int:
    """Return the port a server listens on."""
    return int(next(iter(server.sockets)).getsockname()[1])


def foreign_origin(request: Request, welcome: tuple[str, ...]) -> str | None:
    """Return the origin of a page that may not come in; None when there is no page or it is welcome."""
    for origin in request.headers.get_all("Origin"):
        if origin not in welcome:
            return origin
    return None


def presented_token(request: Request) -> str | None:
    """Return the token a handshake carries, None when it carries none."""
    for value in request.headers.get_all("Authorization"):
        scheme, _, token = value.partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""
    given = urllib.parse.parse_qs(urllib.parse.urlsplit(request.path).query, keep_blank_values=True).get("token")
    return None if given is None else given[0]
