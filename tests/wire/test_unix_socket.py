"""Many clients of one process over a unix socket."""

import asyncio
import os
import socket
import sys
from pathlib import Path

import anyio

from wire.support import LIMIT_S, dial, spawn_socket

PROBE = str(Path(__file__).with_name("probe_daemon.py"))


def command(path: Path, *more: str) -> tuple[str, ...]:
    return (PROBE, "--socket", str(path), "--log-level", "info", *more)


def peak_kib(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0])


def descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


async def outcome(*arguments: str) -> tuple[int, str]:
    """Run a daemon that is expected to refuse to start."""
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stderr=asyncio.subprocess.PIPE)
    try:
        with anyio.fail_after(LIMIT_S):
            _, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, errors.decode()


async def test_the_socket_is_for_its_owner_alone_and_removed_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with spawn_socket(path, *command(path)) as process:
        assert path.stat().st_mode & 0o777 == 0o600
        process.terminate()
        with anyio.fail_after(LIMIT_S):
            assert await process.wait() == 0
    assert not path.exists()


async def test_clients_get_their_own_answers_and_one_exit_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with spawn_socket(path, *command(path)), dial(path) as one, dial(path) as two:
        await one.initialize()
        await two.initialize()
        first = await one.start("probe/echo", {"text": "one"})
        second = await two.start("probe/echo", {"text": "two"})
        assert (await two.answer_to(second))["result"] == {"text": "two"}
        assert (await one.answer_to(first))["result"] == {"text": "one"}
        await one.request("shutdown")
        await one.notify("exit")
        assert await one.at_end()
        assert (await two.request("probe/ping"))["result"] == {"ok": True}


async def test_a_client_that_vanishes_takes_its_hanging_request_with_it(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with spawn_socket(path, *command(path)), dial(path) as other:
        await other.initialize()
        async with dial(path) as one:
            await one.initialize()
            await one.start("probe/hang")
            await one.receive()
            one.writer.transport.abort()
        assert (await other.request("probe/ping"))["result"] == {"ok": True}


async def test_a_reader_that_sleeps_is_dropped_alone_and_memory_stays_bounded(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with spawn_socket(path, *command(path)) as process, dial(path) as other:
        await other.initialize()
        await other.request("probe/ping")
        with socket.socket(socket.AF_UNIX) as sleeper:
            sleeper.connect(str(path))
            async with dial(path) as asking:
                await asking.initialize()
                asking.reader._transport.pause_reading()  # type: ignore[attr-defined]
                await asking.start("probe/flood", {"bytes": 300_000_000})
                with anyio.fail_after(LIMIT_S):
                    assert process.stderr is not None
                    while b"does not read" not in await process.stderr.readline():
                        pass
                assert (await other.request("probe/ping"))["result"] == {"ok": True}
                assert peak_kib(process.pid) < 250_000


async def test_a_client_that_pipelines_bulk_and_reads_later_gets_everything(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with spawn_socket(path, *command(path)), dial(path) as client:
        await client.initialize()
        ids = [await client.start("probe/make", {"bytes": 20_000_000}) for _ in range(6)]
        for message_id in ids:
            assert len((await client.answer_to(message_id))["result"]["value"]) > 10_000


async def test_the_socket_of_a_killed_daemon_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with spawn_socket(path, *command(path)) as process:
        process.kill()
        await process.wait()
    assert path.exists()
    async with spawn_socket(path, *command(path)), dial(path) as client:
        assert "result" in await client.initialize()


async def test_the_socket_of_a_living_daemon_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with spawn_socket(path, *command(path)), dial(path) as client:
        code, errors = await outcome(*command(path))
        assert code == 75
        assert "Another daemon listens" in errors
        assert "result" in await client.initialize()


async def test_what_is_no_socket_or_listened_on_by_another_program_is_never_removed(tmp_path: Path) -> None:
    note = tmp_path / "note"
    note.write_text("mine")
    code, errors = await outcome(*command(note))
    assert (code, note.read_text()) == (2, "mine")
    assert "no socket" in errors
    foreign = tmp_path / "foreign"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(foreign))
        listener.listen()
        code, errors = await outcome(*command(foreign))
        assert code == 2
        assert "Another program" in errors
        assert foreign.exists()


async def test_a_path_too_long_or_in_no_folder_is_refused_with_a_reason(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / ("x" * 120), "longer than"), (tmp_path / "none" / "s", "does its folder exist")):
        code, errors = await outcome(*command(path))
        assert code == 2
        assert reason in errors


async def test_a_client_whose_process_is_gone_is_hung_up_on_and_the_daemon_lives(tmp_path: Path) -> None:
    path = tmp_path / "s"
    editor = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(600)")
    async with spawn_socket(path, *command(path)), dial(path) as other, dial(path) as client:
        await client.initialize(editor.pid)
        await client.request("probe/ping")
        editor.kill()
        await editor.wait()
        assert await client.at_end()
        assert "result" in await other.initialize()


async def test_after_many_clients_no_descriptor_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "s"

    async def visit() -> None:
        async with dial(path) as client:
            await client.initialize(os.getpid())
            assert (await client.request("probe/ping"))["result"] == {"ok": True}
            await client.request("shutdown")
            await client.notify("exit")
            assert await client.at_end()

    async with spawn_socket(path, *command(path)) as process:
        await visit()
        before = descriptors(process.pid)
        for _ in range(5):
            async with anyio.create_task_group() as group:
                for _ in range(20):
                    group.start_soon(visit)
        await visit()
        assert descriptors(process.pid) <= before + 1


async def test_sigterm_lets_clients_finish(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with spawn_socket(path, *command(path)) as process, dial(path) as client:
        await client.initialize()
        await client.start("probe/stubborn")
        assert (await client.receive())["method"] == "probe/writing"
        process.terminate()
        assert (await client.receive())["method"] == "probe/written"
        process.terminate()
        with anyio.fail_after(LIMIT_S):
            assert await process.wait() == 0
