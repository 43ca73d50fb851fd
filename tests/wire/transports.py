"""The same daemon behind every transport, for suites that run over all of them."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import websockets
from websockets.asyncio.client import ClientConnection, connect

from octavo_protocol.base import JsonObject
from wire.support import LIMIT_S, DaemonProcess, FrameClient

TRANSPORTS = ("stdio", "unix", "ndjson", "tcp", "websocket")
SHARED = TRANSPORTS[1:]
"""Those that take more than one client."""
PROBE = str(Path(__file__).with_name("probe_daemon.py"))


class LineClient(FrameClient):
    """One JSON document per line."""

    async def send(self, *messages: Any) -> None:
        bodies = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in messages]
        await self.send_bytes(b"".join(body + b"\n" for body in bodies))

    async def receive(self) -> JsonObject:
        with anyio.fail_after(LIMIT_S):
            line = await self.reader.readline()
            if not line:
                raise EOFError
            message: JsonObject = json.loads(line)
            return message


class WebSocketClient(FrameClient):
    """One message per text message."""

    def __init__(self, peer: ClientConnection) -> None:
        super().__init__(None, None)  # type: ignore[arg-type]
        self.peer = peer

    async def send_bytes(self, data: bytes) -> None:
        with anyio.fail_after(LIMIT_S):
            await self.peer.send(data, text=True)

    async def send(self, *messages: Any) -> None:
        for one in messages:
            await self.send_bytes(one if isinstance(one, bytes) else json.dumps(one).encode())

    async def receive(self) -> JsonObject:
        with anyio.fail_after(LIMIT_S):
            text = await self.peer.recv()
        assert isinstance(text, str), "only text messages leave the daemon"
        message: JsonObject = json.loads(text)
        return message

    async def at_end(self) -> bool:
        with anyio.fail_after(LIMIT_S):
            with suppress(websockets.ConnectionClosed):
                while True:
                    await self.peer.recv()
        return True

    async def close(self) -> None:
        await self.peer.close()


@dataclass
class Served:
    """A daemon and how to reach it."""

    kind: str
    process: asyncio.subprocess.Process
    socket: Path
    port: int
    token: str

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/"

    @property
    def options(self) -> dict[str, Any]:
        """What `initialize` has to say."""
        return {"token": self.token} if self.token else {}

    @asynccontextmanager
    async def dial(self) -> AsyncIterator[FrameClient]:
        """Connect one more client, which has said nothing yet."""
        if self.kind == "stdio":
            assert self.process.stdout is not None
            yield DaemonProcess(self.process)
            return
        if self.kind == "websocket":
            async with connect(self.url, max_size=None, compression=None, ping_interval=None) as peer:
                yield WebSocketClient(peer)
            return
        if self.kind == "tcp":
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**26)
        else:
            reader, writer = await asyncio.open_unix_connection(self.socket, limit=2**26)
        client = LineClient(reader, writer) if self.kind == "ndjson" else FrameClient(reader, writer)
        try:
            yield client
        finally:
            await client.close()

    @asynccontextmanager
    async def client(self, **options: Any) -> AsyncIterator[FrameClient]:
        """Connect one more client and initialize it."""
        async with self.dial() as client:
            answer = await client.initialize(**self.options, **options)
            assert "result" in answer, answer
            yield client


def environment(folder: Path, **more: str) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("OCTAVO_")}
    return {
        **ours,
        "OCTAVO_CONFIG": "",
        "OCTAVO_RUNTIME_DIR": str(folder / "run"),
        "OCTAVO_SESSIONS_ROOT": str(folder / "sessions"),
        **more,
    }


@asynccontextmanager
async def served(kind: str, folder: Path, *options: str, probe: bool = False, **more: str) -> AsyncIterator[Served]:
    """Run a daemon with one transport; with `probe` the one of `probe_daemon`. Killed at the end if it still runs."""
    socket, secret = folder / "s", folder / "token"
    offered = {
        "stdio": ("--stdio",),
        "unix": ("--socket", str(socket)),
        "ndjson": ("--socket", str(socket), "--framing", "ndjson"),
        "tcp": ("--tcp", "0", "--token-file", str(secret)),
        "websocket": ("--websocket", "0", "--token-file", str(secret)),
    }[kind]
    program = (PROBE,) if probe else ("-m", "octavo", "serve")
    async with AsyncExitStack() as stack:
        log = folder / "log"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *program, *offered, *options, "--log-level", "info", "--log-file", str(log)),
            stdin=asyncio.subprocess.PIPE if kind == "stdio" else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE if kind == "stdio" else asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment(folder, **more),
            limit=2**26,
        )
        stack.push_async_callback(_end, process)
        port = 0
        if kind != "stdio":
            ready = await logged(process, log, r"the token is in" if kind in ("tcp", "websocket") else r"listening on")
            if found := re.search(r"listening on (?:ws://)?127\.0\.0\.1:(\d+)", ready):
                port = int(found[1])
        token = secret.read_text() if secret.exists() else ""
        yield Served(kind, process, socket, port, token)


async def logged(process: asyncio.subprocess.Process, log: Path, pattern: str) -> str:
    """Wait until the daemon's log has a line with the pattern; return all of it."""
    with anyio.fail_after(LIMIT_S):
        while True:
            text = log.read_text() if log.exists() else ""  # noqa: ASYNC240 - a few bytes
            if re.search(pattern, text):
                return text
            assert process.returncode is None, f"the daemon ended: {text}"
            await anyio.sleep(0.01)


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.communicate()
