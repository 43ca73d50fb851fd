"""The WebSocket transport when the daemon stops."""

import json

import anyio
from websockets.asyncio.client import ClientConnection, connect

from octavo.server import websocket
from octavo.server.connection import Connection
from octavo.server.daemon import Daemon
from octavo.server.registry import Table
from octavo_protocol.base import Reply, Wire
from octavo_protocol.methods import MethodSpec


class Nothing(Wire):
    pass


class Pong(Reply):
    ok: bool


async def initialized(peer: ClientConnection) -> None:
    await peer.send(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}}))
    assert "result" in json.loads(await peer.recv())


async def test_a_stopping_daemon_answers_those_who_are_there_also_when_others_had_left_before() -> None:
    began, go_on = anyio.Event(), anyio.Event()

    async def work(_: Connection, __: Nothing) -> Pong:
        began.set()
        await go_on.wait()
        return Pong(ok=True)

    spec = MethodSpec("test/work", Nothing, Pong, "Works.")
    ended = anyio.Event()

    async def serve(daemon: Daemon, ports: list[int]) -> None:
        async with websocket.listening(daemon, 0, "secret") as port:
            ports.append(port)
            await daemon.stopped()
        ended.set()

    with anyio.fail_after(30):
        async with Daemon(Table({spec.name: spec}, {spec.name: work})) as daemon, anyio.create_task_group() as group:
            ports: list[int] = []
            group.start_soon(serve, daemon, ports)
            while not ports:
                await anyio.lowlevel.checkpoint()
            url = f"ws://127.0.0.1:{ports[0]}/?token=secret"
            async with connect(url, ping_interval=None) as gone:
                await initialized(gone)
            while daemon.connections:
                await anyio.lowlevel.checkpoint()
            async with connect(url, ping_interval=None) as peer:
                await initialized(peer)
                await peer.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "test/work", "params": {}}))
                await began.wait()
                daemon.stop()
                await anyio.wait_all_tasks_blocked()
                assert not ended.is_set()
                go_on.set()
                answers = [json.loads(message) async for message in peer]
                assert [answer["result"] for answer in answers if answer.get("id") == 1] == [{"ok": True}]
