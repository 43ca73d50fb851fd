"""A frame client for tests that drive a real daemon process, and the process itself."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio

from octavo_protocol.base import JsonObject

LIMIT_S = 20.0
"""Bound of every wait: far above what anything takes, below the suite's own timeout."""


def frame(message: Any) -> bytes:
    """One message in LSP base-protocol framing; bytes are taken as a body."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameClient:
    """Speaks frames over a pair of asyncio streams."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.seen: list[JsonObject] = []
        self._count = 0

    async def send_bytes(self, data: bytes) -> None:
        self.writer.write(data)
        with anyio.fail_after(LIMIT_S):
            await self.writer.drain()

    async def send(self, *messages: Any) -> None:
        await self.send_bytes(b"".join(frame(message) for message in messages))

    async def receive(self) -> JsonObject:
        with anyio.fail_after(LIMIT_S):
            head = await self.reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"Content-Length: "), head
            message: JsonObject = json.loads(await self.reader.readexactly(int(head.split(b":")[1])))
            return message

    async def start(self, method: str, params: Any = None) -> str:
        """Send a request without waiting for its answer; return its id."""
        self._count += 1
        message_id = f"test-{self._count}"
        await self.send({"jsonrpc": "2.0", "id": message_id, "method": method, "params": params})
        return message_id

    async def answer_to(self, message_id: Any) -> JsonObject:
        """Wait for an answer; what comes before it is kept in `seen`."""
        while True:
            message = await self.receive()
            if "method" not in message and message.get("id") == message_id:
                return message
            self.seen.append(message)

    async def request(self, method: str, params: Any = None) -> JsonObject:
        return await self.answer_to(await self.start(method, params))

    async def notify(self, method: str, params: Any = None) -> None:
        await self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def initialize(self, process_id: int | None = None, **options: Any) -> JsonObject:
        params = {"processId": process_id, "capabilities": {}, "initializationOptions": options}
        answer = await self.request("initialize", params)
        await self.notify("initialized", {})
        return answer

    async def at_end(self) -> bool:
        """Whether the daemon has hung up (waits for it)."""
        with anyio.fail_after(LIMIT_S):
            return await self.reader.read(1) == b""

    async def close(self) -> None:
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()


class DaemonProcess(FrameClient):
    """A child process that serves stdio."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        super().__init__(process.stdout, process.stdin)
        self.process = process

    @property
    def pid(self) -> int:
        return self.process.pid

    async def exit_code(self) -> int:
        with anyio.fail_after(LIMIT_S):
            return await self.process.wait()

    async def stderr(self) -> str:
        """Everything the process wrote to stderr, once it has ended."""
        assert self.process.stderr is not None
        with anyio.fail_after(LIMIT_S):
            return (await self.process.stderr.read()).decode()


@asynccontextmanager
async def spawn(*command: str, **environment: str) -> AsyncIterator[DaemonProcess]:
    """Run `python <command>`, by default `-m octavo serve --stdio`; kill it at the end if it still runs."""
    arguments = command or ("-m", "octavo", "serve", "--stdio")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
        limit=2**20,
    )
    daemon = DaemonProcess(process)
    try:
        yield daemon
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await daemon.close()
        await process.communicate()


@asynccontextmanager
async def spawn_socket(path: Path, *command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a daemon that listens on a unix socket, and wait until it does."""
    arguments = command or ("-m", "octavo", "serve", "--socket", str(path), "--log-level", "info")
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        with anyio.fail_after(LIMIT_S):
            while b"listening on" not in (line := await process.stderr.readline()):
                assert line, "the daemon ended before it listened"
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


@asynccontextmanager
async def dial(path: Path) -> AsyncIterator[FrameClient]:
    """Connect to a daemon's unix socket."""
    reader, writer = await asyncio.open_unix_connection(path, limit=2**20)
    client = FrameClient(reader, writer)
    try:
        yield client
    finally:
        await client.close()
