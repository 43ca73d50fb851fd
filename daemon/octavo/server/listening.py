"""Opens what a daemon listens on, and tells its user's other programs where that is.

The order matters: first the place is taken (only one daemon has it), then the token and the ports exist, then the
record names them.
"""

import json
import logging
import os
import secrets
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio.abc

from octavo import __version__, discovery
from octavo.server import inherited, transports
from octavo.server.daemon import Daemon
from octavo.server.framing import HEADERS, Framing
from octavo.server.transports import TransportError
from octavo_protocol.base import JsonObject
from octavo_protocol.version import PROTOCOL_VERSION

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What `octavo serve` was asked for: at least one transport.

    Attributes:
        stdio: Serve one client on the standard pipes.
        socket: Path of a unix socket.
        framing: Of stdio and sockets; None takes every socket client at its first byte.
        tcp: Port on the loopback interface, 0 for any free one.
        websocket: The same for WebSocket.
        token_file: Where the token of the two goes; else where the user's daemon has it.
        origins: Pages that may use the WebSocket.
        discoverable: Be the one daemon of the user, at the place where `octavo attach` looks.
        idle_exit_s: Seconds without clients and work after which the daemon ends; None: `server.idleExitSeconds` when
            it is discoverable, else never.
    """

    stdio: bool = False
    socket: Path | None = None
    framing: Framing | None = HEADERS
    tcp: int | None = None
    websocket: int | None = None
    token_file: Path | None = None
    origins: tuple[str, ...] = ()
    discoverable: bool = False
    idle_exit_s: float | None = None


@dataclass(frozen=True, slots=True)
class Door:
    """A socket that clients come in by, what the log calls them, and the token they must present."""

    listener: anyio.abc.SocketListener
    name: str
    token: str | None = None


@asynccontextmanager
async def opened(options: ServeOptions, daemon: Daemon) -> AsyncIterator[list[Door]]:
    """Open everything asked for; WebSocket clients are served while the context lasts, the others are the caller's.

    Raises:
        TransportError: Something cannot be opened; nothing stays open.
    """
    where = discovery.places(os.environ)
    passed = inherited.take_sockets(os.environ, os.getpid())
    async with AsyncExitStack() as stack:
        doors = []
        for path in _paths(options, where, passed):
            doors.append(Door(await stack.enter_async_context(transports.unix_listener(path)), "unix"))
            _log.info("listening on %s", path)
        secret = _Secret(options, where)
        for one in passed:
            doors.append(await _inherited(one, secret))
            _log.info("listening on %s, which was passed to this process", one.getsockname())
        ports: JsonObject = {}
        if options.tcp is not None:
            listener = await stack.enter_async_context(await transports.tcp_listener(options.tcp))
            ports["tcpPort"] = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610 - not Django's
            doors.append(Door(listener, "tcp", secret.token))
            _log.info("listening on %s:%d", transports.LOOPBACK, ports["tcpPort"])
        if options.websocket is not None:
            from octavo.server import websocket  # noqa: PLC0415 - most daemons have none

            serving = websocket.listening(daemon, options.websocket, secret.token, options.origins)
            ports["websocketPort"] = await stack.enter_async_context(serving)
            _log.info("listening on ws://%s:%d", transports.LOOPBACK, ports["websocketPort"])
        stack.enter_context(secret.written())
        if options.discoverable:
            stack.enter_context(_recorded(where, ports, secret))
        yield doors


def _paths(options: ServeOptions, where: discovery.Places, passed: list[socket.socket]) -> list[Path]:
    """The unix sockets to make; the discoverable one may have been passed to us."""
    paths = [] if options.socket is None else [options.socket]
    if options.discoverable:
        try:
            discovery.prepare(where)
        except discovery.DiscoveryError as error:
            raise TransportError(str(error)) from error
        if where.socket not in [one.getsockname() for one in passed]:
            paths.append(Path(where.socket))
    return paths


async def _inherited(one: socket.socket, secret: "_Secret") -> Door:
    listener = await anyio.abc.SocketListener.from_socket(one)
    return Door(listener, "unix") if one.family == socket.AF_UNIX else Door(listener, "tcp", secret.token)


class _Secret:
    """The token of clients on TCP and WebSocket, made when the first transport needs it.

    Args:
        options: Where it goes, if the user said so.
        where: Where it goes otherwise.
    """

    def __init__(self, options: ServeOptions, where: discovery.Places) -> None:
        own = where.token if options.discoverable else f"{where.token}-{os.getpid()}"
        self.path = own if options.token_file is None else str(options.token_file)
        self._where = where
        self._token: str | None = None

    @property
    def token(self) -> str:
        """The token."""
        if self._token is None:
            self._token = secrets.token_urlsafe(32)
        return self._token

    @property
    def needed(self) -> bool:
        """Whether anybody asked for it."""
        return self._token is not None

    @contextmanager
    def written(self) -> Iterator[None]:
        """Have it in its file while the context lasts, if it is needed.

        Raises:
            TransportError: The file cannot be written.
        """
        if self._token is None:
            yield
            return
        try:
            discovery.prepare(self._where)
            discovery.write_private(self.path, self._token.encode())
        except (OSError, discovery.DiscoveryError) as error:
            raise TransportError(f"Cannot write the token to {self.path}: {error}.") from error
        _log.info("the token is in %s", self.path)
        try:
            yield
        finally:
            with suppress(FileNotFoundError):
                Path(self.path).unlink()


@contextmanager
def _recorded(where: discovery.Places, ports: JsonObject, secret: _Secret) -> Iterator[None]:
    """Say in `daemon.json` where this daemon is, while the context lasts."""
    said: JsonObject = {
        "pid": os.getpid(),
        "socket": where.socket,
        **ports,
        "version": __version__,
        "protocolVersion": PROTOCOL_VERSION,
        "startedAtMs": time.time_ns() // 1_000_000,
    }
    if secret.needed:
        said["tokenFile"] = secret.path
    try:
        discovery.write_private(where.record, json.dumps(said, indent=2).encode() + b"\n")
    except OSError as error:
        raise TransportError(f"Cannot write {where.record}: {error.strerror}.") from error
    try:
        yield
    finally:
        if (found := discovery.record(where)) is not None and found.get("pid") == os.getpid():
            with suppress(FileNotFoundError):
                Path(where.record).unlink()
