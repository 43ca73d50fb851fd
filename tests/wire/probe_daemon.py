"""A daemon with methods of its own, for what no real method does on purpose: hang, print, spin, send bulk, fail.

Run as a script with the options of `octavo serve`.
"""

import sys
from typing import Any

import anyio
import anyio.to_thread

from octavo.server import serving
from octavo.server.connection import Connection
from octavo.server.daemon import Daemon
from octavo.server.registry import Table
from octavo_protocol.base import JsonObject, Reply, Wire
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods import MethodSpec


class PingParams(Wire):
    a: int = 0
    work_done_token: str | int | None = None


class Pong(Reply):
    ok: bool


class CountParams(Wire):
    entries: list[JsonObject]


class CountResult(Reply):
    count: int


class MakeParams(Wire):
    bytes: int


class EchoParams(Wire):
    value: Any = None
    text: str = ""


class Echo(Reply):
    value: Any = None
    text: str = ""


async def ping(_: Connection, __: PingParams) -> Pong:
    return Pong(ok=True)


def ping_now(_: Connection, __: PingParams) -> Pong:
    return Pong(ok=True)


async def count(_: Connection, params: CountParams) -> CountResult:
    return CountResult(count=len(params.entries))


async def make(_: Connection, params: MakeParams) -> Echo:
    entry = {"type": "message", "text": "x" * 1000}
    return Echo(value=[entry] * (params.bytes // 1030))


async def echo(_: Connection, params: EchoParams) -> Echo:
    return Echo(value=params.value, text=params.text)


async def hang(connection: Connection, params: PingParams) -> Pong:
    with connection.progress(params.work_done_token, "Hanging") as bar:
        bar.report("waiting")
        connection.notify("probe/hanging", {})
        try:
            await anyio.sleep_forever()
        finally:
            connection.notify("probe/stopped", {})
    return Pong(ok=False)


async def stubborn(connection: Connection, _: PingParams) -> Pong:
    with anyio.CancelScope(shield=True):
        connection.notify("probe/writing", {})
        await anyio.sleep(0.05)
        connection.notify("probe/written", {})
    await anyio.sleep_forever()
    return Pong(ok=False)


async def shout(_: Connection, __: PingParams) -> Pong:
    print("a stray line")  # noqa: T201 - that is the probe
    await anyio.run_process(["echo", "a child's line"], stdout=None)
    return Pong(ok=True)


async def unencodable(_: Connection, __: PingParams) -> JsonObject:
    return {"value": object()}


async def bug(_: Connection, __: PingParams) -> Pong:
    raise ZeroDivisionError("secret detail in /home/someone")


async def refuse(_: Connection, __: PingParams) -> Pong:
    raise OctavoError(ErrorKind.ENTRY_NOT_FOUND, "Entry e1 not found.", sessionId="s", entryId="e1")


async def ask(connection: Connection, params: EchoParams) -> Echo:
    return await connection.ask("probe/question", {"value": params.value}, Echo, timeout_s=30)


async def flood(connection: Connection, params: MakeParams) -> Pong:
    for _ in range(params.bytes // 10_000):
        connection.notify("probe/note", {"pad": "x" * 10_000})
    return Pong(ok=True)


async def outlive(connection: Connection, params: EchoParams) -> Pong:
    """Write a file a moment later, whatever becomes of the client."""

    async def later() -> None:
        await connection.closed()
        await anyio.Path(params.text).write_text("done")

    connection.daemon.start(later)
    return Pong(ok=True)


_METHODS: dict[str, tuple[Any, type[Wire]]] = {
    "probe/ping": (ping, PingParams),
    "probe/pingNow": (ping_now, PingParams),
    "probe/count": (count, CountParams),
    "probe/make": (make, MakeParams),
    "probe/echo": (echo, EchoParams),
    "probe/hang": (hang, PingParams),
    "probe/stubborn": (stubborn, PingParams),
    "probe/shout": (shout, PingParams),
    "probe/unencodable": (unencodable, PingParams),
    "probe/bug": (bug, PingParams),
    "probe/refuse": (refuse, PingParams),
    "probe/ask": (ask, EchoParams),
    "probe/flood": (flood, MakeParams),
    "probe/outlive": (outlive, EchoParams),
}


def probe_table() -> Table:
    specs = {name: MethodSpec(name, params, Pong, "A probe.") for name, (_, params) in _METHODS.items()}
    specs["probe/missing"] = MethodSpec("probe/missing", PingParams, Pong, "In the protocol, but not implemented.")
    return Table(specs, {name: function for name, (function, _) in _METHODS.items()})


if __name__ == "__main__":
    from octavo.cli import main

    serving.new_daemon = lambda: Daemon(probe_table())
    sys.exit(main.run(["serve", *sys.argv[1:]]))
