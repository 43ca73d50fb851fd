"""Where bytes come from: the process's own stdio, and sockets (WebSocket is `websocket`'s).

A transport makes `ByteStream`s and serves a `Connection` over each; what the bytes mean is not its business.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import anyio.lowlevel
import anyio.to_thread

from octavo.server.connection import Connection
from octavo.server.daemon import Daemon
from octavo.server.framing import HEADERS, Framing

_log = logging.getLogger(__name__)

CHUNK = 1024 * 1024
"""Bytes asked for in one read."""
MAX_CONNECTIONS = 512
"""Clients of a daemon; more are closed at once."""
MAX_STRANGERS = 64
"""Clients that have not presented their token yet; more are closed at once."""
LOOPBACK = "127.0.0.1"
_MAX_PATH = 107 if os.uname().sysname == "Linux" else 103


class TransportError(Exception):
    """A transport cannot be opened; the message says why and what to do."""


class TakenError(TransportError):
    """Another daemon has the place."""


class StdioStream:
    """The two standard pipes of the process, without blocking on either.

    Args:
        source: File descriptor frames come from.
        sink: File descriptor frames go to.
        reader: Fed by the event loop from `source`; None when it is a file, which is read in a thread.
    """

    def __init__(self, source: int, sink: int, reader: asyncio.StreamReader | None) -> None:
        self._source = source
        self._sink = sink
        self._reader = reader
        self._aborted = False

    async def receive(self) -> bytes:
        """See `ByteStream`."""
        if self._reader is not None:
            return await self._reader.read(CHUNK)
        return await anyio.to_thread.run_sync(os.read, self._source, CHUNK, abandon_on_cancel=True)

    async def send(self, data: bytes) -> None:
        """See `ByteStream`."""
        rest = memoryview(data)
        while rest:
            if self._aborted:
                raise BrokenPipeError("stdout was given up")
            try:
                rest = rest[os.write(self._sink, rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._sink)
        await anyio.lowlevel.checkpoint()

    def abort(self) -> None:
        """See `ByteStream`."""
        self._aborted = True


@asynccontextmanager
async def stdio() -> AsyncIterator[StdioStream]:
    """Take the process's stdin and stdout for frames.

    While the context lasts, file descriptor 1 is stderr and 0 is empty, so that a stray print or a child process can
    neither write into the frames nor eat them.
    """
    source, sink = _take_descriptors()
    blocking = {fd: os.get_blocking(fd) for fd in (source, sink)}
    os.set_blocking(sink, False)
    for fd in (source, sink):
        _widen(fd)
    try:
        if _watchable(source):
            reader = asyncio.StreamReader(limit=CHUNK)
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(source), "rb", buffering=0)
            )
            with contextlib.closing(transport):
                yield StdioStream(source, sink, reader)
        else:
            yield StdioStream(source, sink, None)
    finally:
        for fd, was in blocking.items():
            # The description may be a terminal that outlives us.
            with contextlib.suppress(OSError):
                os.set_blocking(fd, was)
            os.close(fd)


def _widen(fd: int) -> None:
    """Let a pipe hold 1 MiB instead of 64 KiB: sixteen times fewer turns between the two processes for bulk."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        # No pipe, or over the user's quota: it works as it is.
        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 1 << 20)


def _watchable(fd: int) -> bool:
    """Whether the event loop can wait for input on it: not on regular files, nor on devices other than terminals."""
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)


def _take_descriptors() -> tuple[int, int]:
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        # There is no stderr either.
        os.dup2(nothing, 1)
    os.close(nothing)
    return source, sink


class SocketStream:
    """One accepted socket.

    Args:
        stream: anyio's view of it.
    """

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self._stream = stream
        self._socket = stream.extra(anyio.abc.SocketAttribute.raw_socket)  # noqa: S610 - not Django's

    async def receive(self) -> bytes:
        """See `ByteStream`."""
        try:
            return await self._stream.receive(CHUNK)
        except anyio.EndOfStream:
            return b""

    async def send(self, data: bytes) -> None:
        """See `ByteStream`."""
        await self._stream.send(data)

    def abort(self) -> None:
        """See `ByteStream`."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


async def serve_stdio(daemon: Daemon, framing: Framing = HEADERS) -> int:
    """Serve the one client on stdio; return the exit code it asked for, 0 at the end of input."""
    async with stdio() as stream:
        connection = Connection(daemon, stream, framing, name="stdio")
        await connection.serve()
    return connection.exit_code or 0


@asynccontextmanager
async def unix_listener(path: Path) -> AsyncIterator[anyio.abc.SocketListener]:
    """Listen on a socket file of mode 0600, and remove it afterwards.

    A lock file beside it says whether the file's owner lives: the socket of a dead daemon is removed, that of a living
    one never, and what is no socket is never touched.

    Raises:
        TransportError: The path is too long, taken, or not ours to use.
    """
    if len(os.fsencode(path)) > _MAX_PATH:
        raise TransportError(f"The socket path {path} is longer than {_MAX_PATH} bytes; choose a shorter one.")
    with _lock(path):
        _remove_stale(path)
        mask = os.umask(0o177)
        try:
            listener = await anyio.create_unix_listener(path)
        except OSError as error:
            raise TransportError(f"Cannot listen on {path}: {error.strerror}.") from error
        finally:
            os.umask(mask)
        ours = _inode(path)
        try:
            async with listener:
                yield listener
        finally:
            if _inode(path) == ours:
                path.unlink()  # noqa: ASYNC240 - a moment, at the end


async def tcp_listener(port: int) -> anyio.abc.SocketListener:
    """Listen on a port of the loopback interface, 0 for any free one; nothing else can reach it.

    Raises:
        TransportError: The port is taken or not ours to use.
    """
    try:
        multi = await anyio.create_tcp_listener(local_host=LOOPBACK, local_port=port)
    except OSError as error:
        raise TransportError(f"Cannot listen on {LOOPBACK}:{port}: {error.strerror or error}.") from error
    listener = multi.listeners[0]
    assert isinstance(listener, anyio.abc.SocketListener)
    return listener


async def serve_listener(
    daemon: Daemon,
    listener: anyio.abc.SocketListener,
    framing: Framing | None,
    name: str,
    token: str | None = None,
) -> None:
    """Serve every client that connects, until the daemon stops; those already there finish first.

    Args:
        daemon: Whom the clients are for.
        listener: Where they come from.
        framing: How their messages are delimited; None takes a client that begins with `{` for one of NDJSON.
        name: What the log calls them.
        token: What they must present.
    """
    count = 0

    async def serve_one(stream: anyio.abc.SocketStream) -> None:
        nonlocal count
        async with stream:
            if not has_room(daemon, stranger=token is not None):
                return
            count += 1
            await Connection(daemon, SocketStream(stream), framing, name=f"{name}#{count}", token=token).serve()

    async with anyio.create_task_group() as clients, anyio.create_task_group() as accepting:
        accepting.start_soon(listener.serve, serve_one, clients)
        await daemon.stopped()
        accepting.cancel_scope.cancel()


def has_room(daemon: Daemon, *, stranger: bool) -> bool:
    """Whether one more client may come in; a stranger is one that has to present a token yet."""
    if len(daemon.connections) >= MAX_CONNECTIONS:
        _log.warning("%d clients are connected; refusing one more", MAX_CONNECTIONS)
        return False
    if stranger and sum(one.stranger for one in daemon.connections) >= MAX_STRANGERS:
        _log.warning("%d clients have presented no token yet; refusing one more", MAX_STRANGERS)
        return False
    return True


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the lock of a socket path for as long as the context lasts."""
    try:
        fd = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise TransportError(f"Cannot lock {path}.lock: {error.strerror}; does its folder exist?") from error
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise TakenError(f"Another daemon listens on {path}; connect to it, or choose another path.") from error
        yield
    finally:
        os.close(fd)


def _inode(path: Path) -> int | None:
    try:
        return path.lstat().st_ino
    except FileNotFoundError:
        return None


def _remove_stale(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise TransportError(f"{path} exists and is no socket; it was left alone. Choose another path.")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
            return
        except OSError as error:
            raise TransportError(f"Cannot tell who owns {path}: {error.strerror}.") from error
    raise TransportError(f"Another program listens on {path}; choose another path.")
