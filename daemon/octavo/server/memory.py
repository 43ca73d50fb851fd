"""A connection without a transport: messages go in and come out as Python values, in one process.

For tests and for commands that want the daemon's own behaviour without a second process.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from octavo.server import codec, framing
from octavo.server.connection import Connection
from octavo.server.daemon import Daemon
from octavo_protocol.base import JsonObject


class MemoryStream:
    """The daemon's end: a `ByteStream` whose chunks are whole messages."""

    def __init__(self) -> None:
        self.to_daemon, self._inbound = anyio.create_memory_object_stream[bytes](float("inf"))
        self._outbound, self.from_daemon = anyio.create_memory_object_stream[bytes](0)

    async def receive(self) -> bytes:
        """See `ByteStream`."""
        try:
            return await self._inbound.receive()
        except anyio.EndOfStream:
            return b""

    async def send(self, data: bytes) -> None:
        """See `ByteStream`."""
        await self._outbound.send(data)

    def abort(self) -> None:
        """See `ByteStream`."""
        self._outbound.close()
        self.to_daemon.close()

    def close(self) -> None:
        """Close all four ends."""
        for end in (self.to_daemon, self._inbound, self._outbound, self.from_daemon):
            end.close()


class MemoryClient:
    """The client's end.

    Args:
        connection: The daemon's view of this client.
        stream: What carries its messages.
    """

    def __init__(self, connection: Connection, stream: MemoryStream) -> None:
        self.connection = connection
        self.notifications: list[JsonObject] = []
        """Notifications and requests that came while `request` waited for its answer."""
        self._stream = stream
        self._count = 0

    def send_bytes(self, body: bytes) -> None:
        """Send one message body as it is."""
        self._stream.to_daemon.send_nowait(body)

    def send(self, message: Any) -> None:
        """Send one message."""
        self.send_bytes(codec.encode(message))

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def receive(self) -> JsonObject:
        """Return the next message.

        Raises:
            anyio.EndOfStream: The daemon hung up.
        """
        message: JsonObject = codec.decode(await self._stream.from_daemon.receive())
        return message

    async def request(self, method: str, params: Any = None) -> JsonObject:
        """Send a request and return its answer (with `result` or `error`), keeping what comes before it."""
        self._count += 1
        message_id = f"memory-{self._count}"
        self.send({"jsonrpc": "2.0", "id": message_id, "method": method, "params": params})
        while True:
            message = await self.receive()
            if message.get("id") == message_id and "method" not in message:
                return message
            self.notifications.append(message)

    async def initialize(self, **options: Any) -> JsonObject:
        """Do the LSP handshake with `initializationOptions` and return the answer to `initialize`."""
        params = {"processId": None, "capabilities": {}, "initializationOptions": options}
        answer = await self.request("initialize", params)
        self.notify("initialized", {})
        return answer

    def hang_up(self) -> None:
        """End the input of the daemon."""
        self._stream.to_daemon.close()


@asynccontextmanager
async def connect(daemon: Daemon) -> AsyncIterator[MemoryClient]:
    """Serve one in-memory client of `daemon` for as long as the context lasts."""
    stream = MemoryStream()
    connection = Connection(daemon, stream, framing.MESSAGES, name="memory")
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(connection.serve)
            yield MemoryClient(connection, stream)
            connection.hang_up()
    finally:
        stream.close()
