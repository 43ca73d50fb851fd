"""Who may come in by TCP and WebSocket: whoever has the token, and no page of a browser."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import websockets
from websockets.asyncio.client import ClientConnection, connect

from octavo.server import connection
from octavo.server.connection import Connection
from octavo.server.daemon import Daemon
from octavo.server.registry import Table
from wire.support import LIMIT_S
from wire.transports import Served, WebSocketClient, served


@pytest.mark.parametrize("kind", ["tcp", "websocket"])
@pytest.mark.parametrize("options", [{}, {"token": ""}, {"token": "wrong"}, {"token": "ä" * 50}])
async def test_a_missing_or_wrong_token_is_refused_once_with_a_reason(
    kind: str, options: dict[str, Any], tmp_path: Path
) -> None:
    async with served(kind, tmp_path, probe=True) as daemon:
        async with daemon.dial() as client:
            answer = await client.request("initialize", {"capabilities": {}, "initializationOptions": options})
            assert "token" in answer["error"]["message"]
            assert await client.at_end(), "one guess costs one connection"
        async with daemon.client() as client:
            assert (await client.request("probe/ping"))["result"] == {"ok": True}


@pytest.mark.parametrize("kind", ["tcp", "websocket"])
async def test_the_token_is_for_its_owner_alone_and_never_in_the_log(kind: str, tmp_path: Path) -> None:
    async with served(kind, tmp_path) as daemon, daemon.client():
        assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
        assert len(daemon.token) >= 43
        assert daemon.token not in (tmp_path / "log").read_text()


async def test_a_client_without_token_gets_little_memory(tmp_path: Path) -> None:
    async with served("tcp", tmp_path) as daemon, daemon.dial() as client:
        await client.send_bytes(b'Content-Length: 50000000\r\n\r\n{"jsonrpc":"2.0","id":1,')
        answer = await client.receive()
        assert answer["error"]["data"]["details"]["limit"] == connection.STRANGER_BYTES
    (other := tmp_path / "other").mkdir()
    async with served("websocket", other) as daemon, daemon.dial() as client:
        await client.send_bytes(b'{"pad":"' + b"x" * (2 * connection.STRANGER_BYTES) + b'"}')
        assert await client.at_end()


async def test_a_client_that_never_greets_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "STRANGER_S", 0.01)
    sent: list[bytes] = []

    class Silent:
        async def receive(self) -> bytes:
            await anyio.sleep_forever()
            return b""

        async def send(self, data: bytes) -> None:
            sent.append(data)

        def abort(self) -> None:
            raise AssertionError

    with anyio.fail_after(LIMIT_S):
        async with Daemon(Table({}, {})) as daemon:
            await Connection(daemon, Silent(), token="secret").serve()
            assert not daemon.connections
    assert b"No initialize with the token" in sent[0]


@asynccontextmanager
async def dialled(daemon: Served, path: str = "", **options: Any) -> AsyncIterator[WebSocketClient]:
    async with connect(daemon.url + path, **options) as peer:
        assert isinstance(peer, ClientConnection)
        yield WebSocketClient(peer)


async def refusal(daemon: Served, path: str = "", **options: Any) -> tuple[int, str]:
    with pytest.raises(websockets.InvalidStatus) as info:
        async with dialled(daemon, path, **options):
            pass
    response = info.value.response
    return response.status_code, bytes(response.body or b"").decode()


async def test_a_page_of_a_browser_may_not_come_in_even_with_the_token(tmp_path: Path) -> None:
    async with served("websocket", tmp_path, "--allow-origin", "vscode-webview://here") as daemon:
        bearer = {"Authorization": f"Bearer {daemon.token}"}
        for origin in ("https://example.org", "http://127.0.0.1", "null", "vscode-webview://here.example.org", ""):
            status, reason = await refusal(daemon, additional_headers={**bearer, "Origin": origin})
            assert (status, "--allow-origin" in reason) == (403, True), origin
        async with dialled(daemon, origin="vscode-webview://here", additional_headers=bearer) as client:
            assert "result" in await client.initialize()


async def test_the_token_may_come_with_the_handshake(tmp_path: Path) -> None:
    async with served("websocket", tmp_path) as daemon:
        async with dialled(daemon, additional_headers={"Authorization": f"Bearer {daemon.token}"}) as client:
            assert "result" in await client.initialize()
        async with dialled(daemon, f"?token={daemon.token}") as client:
            assert "result" in await client.initialize()
        assert (await refusal(daemon, "?token=wrong"))[0] == 401
        assert (await refusal(daemon, "?token="))[0] == 401
        assert (await refusal(daemon, additional_headers={"Authorization": "Basic eDp5"}))[0] == 401


async def test_a_request_of_a_browser_to_the_tcp_port_is_no_greeting(tmp_path: Path) -> None:
    async with served("tcp", tmp_path) as daemon:
        reader, writer = await asyncio.open_connection("127.0.0.1", daemon.port)
        writer.write(
            b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://example.org\r\nContent-Length: 2\r\n\r\n{}"
        )
        with anyio.fail_after(LIMIT_S):
            answer = await reader.readuntil(b"}")
        assert b'"result"' not in answer
        writer.close()
        await writer.wait_closed()
