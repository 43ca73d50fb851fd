"""Threads for disk work, and how long the event loop waits for them."""

import os
import threading
from pathlib import Path

import anyio
import pytest

import storekit as kit
from octavo.sessions.store import disk
from octavo.sessions.store.disk import on_local_disk
from octavo.sessions.store.writer import WriterThreads


@pytest.fixture
def writers() -> WriterThreads:
    return WriterThreads(limit=2)


async def test_results_and_errors_come_back(writers: WriterThreads) -> None:
    def fail() -> None:
        raise ValueError("from the thread")

    assert await writers.run(threading.get_ident) != threading.get_ident()
    with pytest.raises(ValueError, match="from the thread"):
        await writers.run(fail)
    writers.close()


async def test_two_threads_at_most_and_a_third_call_waits(writers: WriterThreads) -> None:
    gate, started = threading.Event(), threading.Semaphore(0)

    def wait() -> int:
        started.release()
        assert gate.wait(10)
        return threading.get_ident()

    threads: set[int] = set()

    async def call() -> None:
        threads.add(await writers.run(wait))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(call)
            await anyio.to_thread.run_sync(started.acquire)
            await anyio.to_thread.run_sync(started.acquire)
            assert not started.acquire(blocking=False)
            gate.set()
    assert len(threads) == 2
    writers.close()


async def test_cancelling_ends_the_wait_and_not_the_call(writers: WriterThreads) -> None:
    gate, ran = threading.Event(), threading.Event()

    def work() -> None:
        assert gate.wait(10)
        ran.set()

    with anyio.move_on_after(0.01) as scope:
        await writers.run(work)
    assert scope.cancelled_caught
    gate.set()
    writers.close()
    assert ran.is_set()


async def test_a_flush_that_hangs_stops_neither_the_loop_nor_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kit.created(tmp_path) as session:
        await session.append(messages=[kit.user("before")])
        gate = threading.Event()
        fsync = os.fsync
        monkeypatch.setattr(disk.os, "fsync", lambda fd: (gate.wait(10), fsync(fd))[1])
        done = anyio.Event()

        async def append(text: str) -> None:
            await session.append(messages=[kit.user(text)])
            done.set()

        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                group.start_soon(append, "slow")
                group.start_soon(append, "behind it")
                for _ in range(5):
                    await anyio.lowlevel.checkpoint()
                    assert len(session.branch()) == 1
                assert not done.is_set()
                gate.set()
        assert [entry["message"]["content"] for entry in session.branch()] == ["before", "slow", "behind it"]


async def test_a_fast_local_disk_is_written_to_in_place_until_it_is_slow_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octavo.sessions.actor.on_local_disk", lambda _: True)
    monkeypatch.setattr("octavo.sessions.actor._IN_PLACE", 5.0)
    where: list[int] = []
    monkeypatch.setattr(disk.os, "fsync", lambda _: where.append(threading.get_ident()))
    async with kit.created(tmp_path) as session:
        for number in range(40):
            await session.append(messages=[kit.user(str(number))])
        here = threading.get_ident()
        assert here not in where[:16]
        assert set(where[-5:]) == {here}
        monkeypatch.setattr("octavo.sessions.actor._IN_PLACE", 0.0)
        await session.append(messages=[kit.user("slow")])
        await session.append(messages=[kit.user("careful again")])
        assert where[-1] != here
    assert len(kit.read(session.path)) == 43


async def test_a_disk_that_is_not_local_is_never_written_to_on_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octavo.sessions.actor.on_local_disk", lambda _: False)
    monkeypatch.setattr("octavo.sessions.actor._IN_PLACE", 5.0)
    where: set[int] = set()
    monkeypatch.setattr(disk.os, "fsync", lambda _: where.add(threading.get_ident()))
    async with kit.created(tmp_path) as session:
        for number in range(50):
            await session.append(messages=[kit.user(str(number))])
    assert threading.get_ident() not in where


def test_only_what_the_system_calls_a_local_disk_is_one(tmp_path: Path) -> None:
    assert not on_local_disk(Path("/proc/self/status"))
    assert not on_local_disk(tmp_path / "nothing")
