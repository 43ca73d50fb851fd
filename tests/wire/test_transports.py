"""One suite over every transport: what a client gets does not depend on how it is connected."""

import signal
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
import websockets

from octavo_protocol.base import JsonObject
from wire.support import LIMIT_S, FrameClient
from wire.transports import SHARED, TRANSPORTS, Served, logged, served

every_transport = pytest.mark.parametrize("kind", TRANSPORTS)
every_shared_transport = pytest.mark.parametrize("kind", SHARED)


def said(text: str) -> JsonObject:
    return {"role": "user", "content": text}


async def create(client: FrameClient) -> str:
    answer = await client.request("session/create", {"cwd": "/"})
    session_id: str = answer["result"]["sessionId"]
    return session_id


def peak_kib(served: Served) -> int:
    return int(Path(f"/proc/{served.process.pid}/status").read_text().split("VmHWM:")[1].split()[0])


@every_transport
async def test_a_session_is_opened_written_and_read_back(kind: str, tmp_path: Path) -> None:
    async with served(kind, tmp_path) as daemon, daemon.client() as client:
        session = await create(client)
        for text in ("one", "zwei äöü 🐙", "three"):
            answer = await client.request("session/append", {"sessionId": session, "messages": [said(text)]})
            assert len(answer["result"]["entryIds"]) == 1
        context = (await client.request("session/buildContext", {"sessionId": session}))["result"]
        assert [message["content"] for message in context["messages"]] == ["one", "zwei äöü 🐙", "three"]
        assert (await client.request("shutdown"))["result"] is None
        await client.notify("exit")
        assert await client.at_end()


@every_transport
async def test_the_change_is_told_before_the_request_that_made_it_is_answered(kind: str, tmp_path: Path) -> None:
    async with served(kind, tmp_path) as daemon, daemon.client() as client:
        session = await create(client)
        for expected in range(1, 6):
            client.seen.clear()
            await client.request("session/append", {"sessionId": session, "messages": [said(f"{expected}")]})
            changes = [m["params"] for m in client.seen if m.get("method") == "session/didChange"]
            assert [change["kind"] for change in changes] == ["appended"]


@every_transport
async def test_a_running_request_is_cancelled(kind: str, tmp_path: Path) -> None:
    async with served(kind, tmp_path, probe=True) as daemon, daemon.client() as client:
        message_id = await client.start("probe/hang")
        while (await client.receive()).get("method") != "probe/hanging":
            pass
        await client.notify("$/cancelRequest", {"id": message_id})
        answer = await client.answer_to(message_id)
        assert answer["error"]["data"]["kind"] == "cancelled"
        assert "probe/stopped" in [message.get("method") for message in client.seen]


@every_transport
async def test_large_messages_pass_both_ways(kind: str, tmp_path: Path) -> None:
    async with served(kind, tmp_path, probe=True) as daemon, daemon.client() as client:
        entries = [{"type": "message", "text": "ü" * 1000}] * 10_000
        assert (await client.request("probe/count", {"entries": entries}))["result"] == {"count": 10_000}
        answer = await client.request("probe/make", {"bytes": 20_000_000})
        assert len(answer["result"]["value"]) == 20_000_000 // 1030


@every_transport
async def test_pipelined_requests_get_one_answer_each(kind: str, tmp_path: Path) -> None:
    async with served(kind, tmp_path, probe=True) as daemon, daemon.client() as client:
        ids = [await client.start("probe/echo", {"text": f"{i}"}) for i in range(500)]
        answers: dict[str, str] = {}
        while len(answers) < len(ids):
            message = await client.receive()
            if "method" not in message:
                answers[message["id"]] = message["result"]["text"]
        assert answers == {message_id: f"{i}" for i, message_id in enumerate(ids)}


@every_shared_transport
async def test_clients_share_a_session_and_both_hear_of_changes(kind: str, tmp_path: Path) -> None:
    async with served(kind, tmp_path) as daemon, daemon.client() as one, daemon.client() as two:
        session = await create(one)
        await one.request("session/append", {"sessionId": session, "messages": [said("first")]})
        await two.request("session/open", {"sessionId": session})
        await one.request("session/append", {"sessionId": session, "messages": [said("second")]})
        while (await two.receive()).get("method") != "session/didChange":
            pass
        context = (await two.request("session/buildContext", {"sessionId": session}))["result"]
        assert [message["content"] for message in context["messages"]] == ["first", "second"]


@every_shared_transport
async def test_sigterm_ends_clients_and_daemon_in_order(kind: str, tmp_path: Path) -> None:
    async with served(kind, tmp_path) as daemon, daemon.client() as client:
        await create(client)
        daemon.process.send_signal(signal.SIGTERM)
        assert await client.at_end()
        with anyio.fail_after(LIMIT_S):
            assert await daemon.process.wait() == 0
        assert not (tmp_path / "token").exists()
        assert not daemon.socket.exists()


# -- bad input ---------------------------------------------------------------------------------------------------------


@every_transport
async def test_bad_messages_are_refused_with_a_reason_and_the_connection_lives(kind: str, tmp_path: Path) -> None:
    deep = b'{"jsonrpc":"2.0","id":9,"method":"probe/echo","params":{"value":' + b"[" * 200_000 + b"]" * 200_000 + b"}}"
    bad: list[tuple[bytes, str]] = [
        (b"[]", "invalid-request"),
        (b'[{"jsonrpc":"2.0","id":1,"method":"probe/ping"}]', "invalid-request"),
        (b"{nonsense", "parse-error"),
        (b'"text"', "invalid-request"),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":"probe/ping"}', "invalid-request"),
        (deep, "parse-error"),
    ]
    async with served(kind, tmp_path, probe=True) as daemon, daemon.client() as client:
        for body, reason in bad:
            await client.send(body)
            answer = await client.receive()
            assert answer["error"]["data"]["kind"] in (reason, "invalid-params"), body[:60]
            assert answer["error"]["message"]
        await client.send({"jsonrpc": "2.0", "id": "never asked", "result": {}})
        assert (await client.request("probe/ping"))["result"] == {"ok": True}
        assert peak_kib(daemon) < 400_000


@every_transport
async def test_an_id_in_flight_is_not_taken_twice(kind: str, tmp_path: Path) -> None:
    async with served(kind, tmp_path, probe=True) as daemon, daemon.client() as client:
        await client.send({"jsonrpc": "2.0", "id": 7, "method": "probe/hang"})
        while (await client.receive()).get("method") != "probe/hanging":
            pass
        await client.send({"jsonrpc": "2.0", "id": 7, "method": "probe/ping"})
        answer = await client.answer_to(7)
        assert "in flight" in answer["error"]["message"]
        await client.notify("$/cancelRequest", {"id": 7})
        assert (await client.answer_to(7))["error"]["data"]["kind"] == "cancelled"


@pytest.mark.parametrize("kind", ["stdio", "unix", "tcp"])
async def test_ten_gigabytes_announced_cost_no_memory_and_half_a_frame_nobody(kind: str, tmp_path: Path) -> None:
    async with served(kind, tmp_path, probe=True) as daemon:
        async with daemon.client() as client:
            await client.send_bytes(b'Content-Length: 10000000000\r\n\r\n{"jsonrpc":"2.0","id":5,"method":"probe/ping"')
            answer = await client.answer_to(5)
            assert "larger than" in answer["error"]["message"]
            await client.send_bytes(b" " * 4_000_000)
            assert peak_kib(daemon) < 200_000
        if kind == "stdio":
            return
        async with daemon.dial() as half, daemon.client() as other:
            await half.send_bytes(b"Content-Length: 100\r\n\r\n{")
            assert (await other.request("probe/ping"))["result"] == {"ok": True}


async def test_a_message_over_the_limit_ends_a_websocket_with_a_reason(tmp_path: Path) -> None:
    limit = {"OCTAVO_SERVER_MAX_MESSAGE_BYTES": "70000"}
    async with served("websocket", tmp_path, **limit) as daemon, daemon.client() as client:
        await client.send_bytes(b'{"jsonrpc":"2.0","method":"x","params":{"pad":"' + b"x" * 80_000 + b'"}}')
        assert await client.at_end()
        peer = client.peer  # type: ignore[attr-defined]
        assert peer.close_code == 1009
        async with daemon.client() as other:
            assert "result" in await other.request("settings/get")


@every_shared_transport
async def test_a_flood_of_connections_is_bounded_and_those_inside_work_on(kind: str, tmp_path: Path) -> None:
    async with served(kind, tmp_path, probe=True) as daemon, daemon.client() as inside:
        async with anyio.create_task_group() as group:

            async def knock() -> None:
                with suppress(OSError, websockets.WebSocketException):
                    async with daemon.dial() as client:
                        await client.at_end()

            for _ in range(100 if daemon.token else 560):
                group.start_soon(knock)
            await logged(daemon.process, tmp_path / "log", "refusing one more")
            assert (await inside.request("probe/ping"))["result"] == {"ok": True}
            group.cancel_scope.cancel()
        with anyio.fail_after(LIMIT_S):
            while not await welcome(daemon):
                await anyio.lowlevel.checkpoint()


async def welcome(daemon: Served) -> bool:
    """Whether there is room for one more client: those who left are gone a moment later."""
    try:
        async with daemon.client() as client:
            return "result" in await client.request("probe/ping")
    except (OSError, EOFError, websockets.WebSocketException):
        return False


@pytest.mark.parametrize("kind", ["unix", "tcp", "websocket"])
async def test_a_client_that_does_not_read_is_dropped_alone(kind: str, tmp_path: Path) -> None:
    queue = {"OCTAVO_SERVER_MAX_QUEUE_BYTES": "4000000"}
    async with served(kind, tmp_path, probe=True, **queue) as daemon, daemon.client() as other:
        async with daemon.client() as sleeper:
            transport = (
                sleeper.peer.transport  # type: ignore[attr-defined]
                if kind == "websocket"
                else sleeper.writer.transport
            )
            transport.pause_reading()
            await sleeper.start("probe/flood", {"bytes": 60_000_000})
            await logged(daemon.process, tmp_path / "log", "does not read")
            assert (await other.request("probe/ping"))["result"] == {"ok": True}
            assert peak_kib(daemon) < 200_000
            transport.abort()
        assert (await other.request("probe/ping"))["result"] == {"ok": True}
