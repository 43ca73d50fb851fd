"""A real HTTP server on loopback that answers like a model provider, or misbehaves like one.

Use it as an async context manager inside a test. Each request takes the next reply of the script; the last one repeats.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc


@dataclass(frozen=True)
class Reply:
    """What one request gets.

    `body` is sent in `chunks` pieces. `hang` keeps the connection open after the body instead of ending it; `cut` drops
    the connection in the middle of the announced body; `silent` accepts the request and never says a word.
    """

    status: int = 200
    body: bytes = b""
    content_type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    chunks: int = 1
    hang: bool = False
    cut: bool = False
    silent: bool = False


def error(status: int, message: str, **headers: str) -> Reply:
    """A refusal in the usual JSON shape."""
    body = json.dumps({"error": {"message": message, "type": "some_error"}}).encode()
    return Reply(status, body, "application/json", headers)


def chat(text: str, *, usage: dict[str, int] | None = None, finish: str = "stop") -> Reply:
    """A streamed Chat Completions answer."""
    events: list[Any] = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in _pieces(text)]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if usage:
        events.append({"choices": [], "usage": usage})
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    return Reply(body=body.encode(), chunks=len(events))


def _pieces(text: str) -> list[str]:
    return [text[i : i + 40] for i in range(0, len(text), 40)] or [""]


@dataclass
class ModelServer:
    """The running server: where it is, what it was asked, who is connected."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    script: list[Reply] = field(default_factory=list)
    open_connections: int = 0
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def wait_until(self, *, asked: int | None = None, connected: int | None = None) -> None:
        """Return when so many requests have arrived, or so many connections are open; bounded by ten seconds."""
        with anyio.fail_after(10):
            while (asked is not None and len(self.requests) < asked) or (
                connected is not None and self.open_connections != connected
            ):
                await self._changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def _serve(self, stream: anyio.abc.SocketStream) -> None:
        self.open_connections += 1
        self._tell()
        try:
            async with stream:
                await self._answer(stream)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the client went away, which is what some tests are about
        finally:
            self.open_connections -= 1
            self._tell()

    async def _answer(self, stream: anyio.abc.SocketStream) -> None:
        data = b""
        while b"\r\n\r\n" not in data:
            data += await stream.receive()
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        while len(body) < int(headers.get("content-length", 0)):
            body += await stream.receive()
        self.paths.append(first.split(" ")[1])
        self.headers.append(headers)
        self.requests.append(json.loads(body))
        reply = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        self._tell()
        await _send(stream, reply)


async def _send(stream: anyio.abc.SocketStream, reply: Reply) -> None:
    if reply.silent:
        await _wait_for_hang_up(stream)
    announced = len(reply.body) + (1 if reply.cut or reply.hang else 0)
    head = [f"HTTP/1.1 {reply.status} X", f"content-type: {reply.content_type}", f"content-length: {announced}"]
    head += [f"{name.replace('_', '-')}: {value}" for name, value in reply.headers.items()]
    await stream.send(("\r\n".join([*head, "connection: close", "", ""])).encode())
    step = max(1, -(-len(reply.body) // reply.chunks))
    for start in range(0, len(reply.body), step):
        await stream.send(reply.body[start : start + step])
    if reply.hang:
        await _wait_for_hang_up(stream)


async def _wait_for_hang_up(stream: anyio.abc.SocketStream) -> None:
    while True:
        await stream.receive()


@asynccontextmanager
async def model_server(*script: Reply) -> AsyncIterator[ModelServer]:
    """Run a server that answers with the given replies."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    server = ModelServer(f"http://127.0.0.1:{port}", script=list(script))
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server._serve)
        try:
            yield server
        finally:
            tasks.cancel_scope.cancel()
