"""A daemon of this process with clients in memory, for tests of the server's inside."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel

from octavo.server.daemon import Daemon
from octavo.server.memory import MemoryClient, connect
from octavo.server.registry import table
from octavo_protocol.base import JsonObject


@asynccontextmanager
async def running() -> AsyncIterator[Daemon]:
    """A daemon with every handler; the test must be done in 30 s."""
    with anyio.fail_after(30):
        async with Daemon(table()) as daemon:
            yield daemon


@asynccontextmanager
async def client(daemon: Daemon, **options: Any) -> AsyncIterator[MemoryClient]:
    """A client that was greeted."""
    async with connect(daemon) as peer:
        await peer.initialize(**options)
        yield peer


async def call(peer: MemoryClient, method: str, **params: Any) -> JsonObject:
    """The result of a request that must succeed."""
    answer = await peer.request(method, params)
    assert "error" not in answer, answer
    result: JsonObject = answer["result"]
    return result


async def until(condition: Any) -> None:
    """Let others run until the condition holds; bounded by the daemon's own limit."""
    while not condition():
        await anyio.lowlevel.checkpoint()
