"""`octavo attach`: one daemon for everybody who starts one, found by its socket alone."""
# ruff: noqa: ASYNC240 - a test may look at small files

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from octavo import discovery
from octavo_protocol.version import PROTOCOL_VERSION
from wire.support import LIMIT_S, DaemonProcess, dial

EVERYTHING_LOADED = (
    "import sys; from octavo.cli import attach; "
    "print([m for m in sys.modules if m.split('.')[0] in ('pydantic', 'anyio', 'asyncio', 'argparse', 'subprocess') "
    "or m.startswith('octavo.server')])"
)


def environment(folder: Path, **more: str) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("OCTAVO_")}
    return {
        **ours,
        "OCTAVO_CONFIG": "",
        "OCTAVO_RUNTIME_DIR": str(folder),
        "OCTAVO_SESSIONS_ROOT": str(folder / "sessions"),
        "OCTAVO_SERVER_IDLE_EXIT_SECONDS": "600",
        **more,
    }


def places(folder: Path) -> discovery.Places:
    return discovery.places(environment(folder))


def running(folder: Path) -> int | None:
    """The pid of the daemon that can be connected to."""
    link = discovery.dial(places(folder).socket)
    if link is None:
        return None
    with link:
        return discovery.peer_pid(link)


async def gone(pid: int) -> None:
    with anyio.fail_after(LIMIT_S):
        while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split(") ")[1][:1]:
            await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def attached(folder: Path, *options: str, **more: str) -> AsyncIterator[DaemonProcess]:
    """A client that speaks through `octavo attach`."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "octavo", "attach", *options),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(folder, **more),
        limit=2**20,
    )
    client = DaemonProcess(process)
    try:
        yield client
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await client.close()
        await process.communicate()


@asynccontextmanager
async def home() -> AsyncIterator[Path]:
    """A runtime folder with a short name; whatever daemon runs there at the end is stopped."""
    async with anyio.TemporaryDirectory(prefix="octavo-") as name:
        folder = Path(name)
        try:
            yield folder
        finally:
            if (pid := running(folder)) is not None:
                os.kill(pid, signal.SIGTERM)
                await gone(pid)


async def test_the_first_client_starts_the_daemon_and_the_second_finds_it() -> None:
    async with home() as folder:
        async with attached(folder) as one:
            assert "result" in await one.initialize()
            pid = running(folder)
            async with attached(folder) as two:
                assert "result" in await two.initialize()
                assert running(folder) == pid
                await two.request("shutdown")
                await two.notify("exit")
                assert await two.exit_code() == 0
            assert "result" in await one.request("settings/get")
        said = json.loads(Path(places(folder).record).read_text())
        assert (said["pid"], said["protocolVersion"]) == (pid, PROTOCOL_VERSION)
        assert said["socket"] == places(folder).socket
        for path in (places(folder).record, places(folder).socket):
            assert Path(path).stat().st_mode & 0o777 == 0o600
        assert Path(places(folder).folder).stat().st_mode & 0o777 == 0o700


async def test_five_simultaneous_starts_give_one_daemon() -> None:
    async with home() as folder:
        answers: list[Any] = []

        async def one() -> None:
            async with attached(folder) as client:
                answers.append(await client.initialize())
                await client.request("shutdown")

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(one)
        assert [("result" in answer) for answer in answers] == [True] * 5
        assert len(daemons(folder)) == 1


def daemons(folder: Path) -> list[int]:
    """Every daemon process of this runtime folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if not (entry.name.isdigit() and b"--daemon" in (entry / "cmdline").read_bytes()):
                continue
            if f"OCTAVO_RUNTIME_DIR={folder}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


async def test_after_the_daemon_was_killed_the_next_client_starts_another() -> None:
    async with home() as folder:
        async with attached(folder) as client:
            await client.initialize()
            pid = running(folder)
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            assert await client.at_end()
            assert await client.exit_code() == 1
            assert "hung up" in await client.stderr()
        await gone(pid)
        assert Path(places(folder).record).exists(), "a killed daemon cannot clean up"
        async with attached(folder) as client:
            assert "result" in await client.initialize()
            assert running(folder) not in (None, pid)


async def test_end_of_input_ends_the_bridge_after_the_answers_and_leaves_the_daemon() -> None:
    async with home() as folder:
        async with attached(folder) as client:
            message_id = await client.start("initialize", {"capabilities": {}})
            client.writer.close()
            assert "result" in await client.answer_to(message_id)
            assert await client.exit_code() == 0
        assert running(folder) is not None


async def test_bulk_passes_both_ways_unharmed() -> None:
    async with home() as folder, attached(folder) as client:
        await client.initialize()
        session = (await client.request("session/create", {"cwd": "/", "ephemeral": True}))["result"]["sessionId"]
        texts = [f"{i} " + "ä" * 200_000 for i in range(40)]
        messages = [{"role": "user", "content": text} for text in texts]
        assert "result" in await client.request("session/append", {"sessionId": session, "messages": messages})
        context = (await client.request("session/buildContext", {"sessionId": session}))["result"]
        assert [message["content"] for message in context["messages"]] == texts


async def test_one_document_per_line_is_recognised_by_the_first_byte() -> None:
    async with home() as folder, attached(folder) as client:
        await client.send_bytes(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}\n')
        with anyio.fail_after(LIMIT_S):
            answer = json.loads(await client.reader.readline())
        assert answer["id"] == 1
        assert "result" in answer


async def test_without_a_daemon_and_without_leave_to_start_one_it_says_so() -> None:
    async with home() as folder, attached(folder, "--no-start") as client:
        assert await client.exit_code() == 2
        assert "octavo serve --daemon" in await client.stderr()
        assert running(folder) is None


async def test_an_older_daemon_of_another_protocol_is_replaced_and_a_newer_one_is_not() -> None:
    async with home() as folder:
        async with attached(folder) as client:
            await client.initialize()
            old = running(folder)
            record = Path(places(folder).record)
            said = json.loads(record.read_text())
            record.write_text(json.dumps(said | {"protocolVersion": PROTOCOL_VERSION + 1}))
            async with attached(folder) as other:
                assert await other.exit_code() == 2
                assert "update" in await other.stderr()
            assert running(folder) == old
            record.write_text(json.dumps(said | {"protocolVersion": PROTOCOL_VERSION - 1}))
            async with attached(folder) as other:
                assert "result" in await other.initialize()
                assert running(folder) not in (None, old)


async def test_a_daemon_without_clients_ends_by_itself_and_removes_its_traces() -> None:
    async with home() as folder:
        async with attached(folder, OCTAVO_SERVER_IDLE_EXIT_SECONDS="1") as client:
            await client.initialize()
            pid = running(folder)
            assert pid is not None
            async with dial(Path(places(folder).socket)) as other:
                assert "result" in await other.initialize()
        await gone(pid)
        assert not Path(places(folder).socket).exists()
        assert not Path(places(folder).record).exists()


async def test_sigterm_lets_a_running_request_finish() -> None:
    async with home() as folder, attached(folder) as client:
        await client.initialize()
        pid = running(folder)
        assert pid is not None
        message_id = await client.start("session/create", {"cwd": "/", "ephemeral": True})
        answer = await client.answer_to(message_id)
        os.kill(pid, signal.SIGTERM)
        assert "result" in answer
        assert await client.at_end()
        await gone(pid)


async def test_a_folder_of_somebody_else_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    where = places(tmp_path)
    Path(where.folder).mkdir(mode=0o755)
    discovery.prepare(where)
    assert Path(where.folder).stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000)
    with pytest.raises(discovery.DiscoveryError, match="no folder of this user"):
        discovery.prepare(where)


async def test_the_bridge_loads_nothing_that_takes_long() -> None:
    with anyio.fail_after(LIMIT_S):
        done = await anyio.run_process([sys.executable, "-c", EVERYTHING_LOADED])
    assert done.stdout.decode().strip() == "[]"


async def test_the_record_of_a_killed_daemon_says_nothing_about_the_next_one() -> None:
    async with home() as folder:
        async with attached(folder) as client:
            await client.initialize()
            pid = running(folder)
            record = Path(places(folder).record)
            said = json.loads(record.read_text())
            record.write_text(json.dumps(said | {"pid": 1, "protocolVersion": PROTOCOL_VERSION - 1}))
            async with attached(folder) as other:
                assert "result" in await other.initialize()
            record.write_text("{torn")
            async with attached(folder) as other:
                assert "result" in await other.initialize()
            assert running(folder) == pid
