"""The Python client against the real daemon, over a pipe and over a unix socket."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL

import anyio
import pytest

from octavo_client import Client, OctavoClientError, Options
from octavo_protocol.errors import ErrorKind
from octavo_protocol.methods import METHODS, Direction

SERVE = [sys.executable, "-m", "octavo", "serve"]
ASKED = {name for name, spec in METHODS.items() if spec.direction is Direction.CLIENT_TO_DAEMON}


@asynccontextmanager
async def daemon(options: Options | None = None) -> AsyncIterator[Client]:
    with anyio.fail_after(30):
        async with Client.spawn([*SERVE, "--stdio"], options, stderr=DEVNULL) as client:
            yield client


async def listening(path: Path) -> None:
    while True:
        try:
            await (await anyio.connect_unix(path)).aclose()
        except OSError:
            await anyio.lowlevel.checkpoint()
        else:
            return


async def test_the_daemon_greets_with_what_it_offers() -> None:
    async with daemon() as client:
        assert client.server_info["name"] == "octavo"
        assert set(client.capabilities.methods) <= ASKED
        assert client.capabilities.protocol_version == 1


async def test_every_request_of_the_table_is_known_and_gets_an_answer() -> None:
    """What is offered refuses wrong params by name; what is not offered says so."""
    async with daemon() as client:
        for name in sorted(ASKED):
            with pytest.raises(OctavoClientError) as caught:
                await client.request(name, {"noSuchField": 1})
            offered = name in client.capabilities.methods
            assert caught.value.kind is (ErrorKind.INVALID_PARAMS if offered else ErrorKind.NOT_AVAILABLE), name
            assert caught.value.message


async def test_a_name_no_table_has_is_refused() -> None:
    async with daemon() as client:
        with pytest.raises(OctavoClientError) as caught:
            await client.request("session/compress")
        assert caught.value.kind is ErrorKind.METHOD_NOT_FOUND


async def test_clients_share_one_daemon_on_a_socket_and_it_stays_when_they_leave(tmp_path: Path) -> None:
    path = tmp_path / "octavo.sock"
    with anyio.fail_after(30):
        async with await anyio.open_process([*SERVE, "--socket", str(path)], stdin=DEVNULL, stderr=DEVNULL) as process:
            await listening(path)
            async with Client.connect_unix(path) as first, Client.connect_unix(path) as second:
                assert first.server_info == second.server_info
            async with Client.connect_unix(path) as third:
                assert third.server_info["name"] == "octavo"
            process.terminate()
            await process.wait()
