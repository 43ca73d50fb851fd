"""SIGKILL of a real daemon under concurrent appends of real clients: what they were told is durable is there."""

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from octavo_client import Client, DaemonGoneError, OctavoClientError

ROUNDS = int(os.environ.get("OCTAVO_SOAK_ROUNDS", "200"))
PER_SESSION = 40
CLIENTS = 3
APPENDERS = 2
"""Concurrent appends of each client."""


class Daemons:
    """Talks to `forked_daemons.py`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def line(self) -> str:
        assert self._process.stdout is not None
        with anyio.fail_after(30):
            return (await self._process.stdout.readline()).decode().strip()

    async def start(self, socket: Path) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{socket}\n".encode())
        return int((await self.line()).removeprefix("pid "))

    async def kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        assert await self.line() == f"dead {pid}"


@asynccontextmanager
async def daemons() -> AsyncIterator[Daemons]:
    script = Path(__file__).with_name("forked_daemons.py")
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(script), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    yield Daemons(process)
    process.stdin.close()
    with anyio.fail_after(30):
        assert await process.wait() == 0


class Round:
    """One life of a daemon: who appended what, and when it is time to die."""

    def __init__(self, name: str, chance: random.Random) -> None:
        self.name = name
        self.chance = chance
        self.acknowledged: list[str] = []
        self.fatal_at = chance.randint(1, 30)
        self.time_to_die = anyio.Event()
        self.ready = 0

    async def appender(self, client: Client, session: str, number: int) -> None:
        count = 0
        while True:
            count += 1
            ids = [f"{self.name}-{number}-{count}-{part}" for part in range(self.chance.randint(1, 3))]
            messages = [{"role": "user", "content": "text " * self.chance.randint(1, 300)} for _ in ids]
            done = await client.session_append(session_id=session, messages=messages, ids=ids)
            self.acknowledged += done.entry_ids
            if len(self.acknowledged) >= self.fatal_at:
                self.time_to_die.set()

    async def client(self, socket: Path, path: Path, number: int) -> None:
        try:
            async with Client.connect_unix(socket) as client, anyio.create_task_group() as group:
                session = (await client.session_open(path=str(path))).session_id
                for appender in range(APPENDERS):
                    group.start_soon(self.appender, client, session, number * APPENDERS + appender)
        except* (DaemonGoneError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # it was killed, as planned


def check(path: Path, acknowledged: set[str]) -> None:
    *lines, _torn = path.read_bytes().split(b"\n")
    header, *entries = [json.loads(line) for line in lines]
    assert header["type"] == "session"
    ids = [entry["id"] for entry in entries]
    assert len(ids) == len(set(ids))
    assert acknowledged <= set(ids)
    seen: set[str | None] = {None}
    for entry in entries:
        assert entry["parentId"] in seen
        seen.add(entry["id"])


@pytest.mark.timeout(60 + ROUNDS * 3)
async def test_sigkill_of_the_daemon_loses_nothing_a_client_was_told_is_durable(tmp_path: Path) -> None:
    """The path from an acknowledgement over the wire back to the disk; `make soak` runs it longer."""
    chance = random.Random(20260302)
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-02T08:40:00.000Z", "cwd": "/x"}
    counted = 0
    async with daemons() as found:
        for number in range(ROUNDS):
            path = tmp_path / f"{number // PER_SESSION}.jsonl"
            if number % PER_SESSION == 0:
                path.write_text(json.dumps(header) + "\n")
                acknowledged: set[str] = set()
            socket = tmp_path / f"{number}.sock"
            life = Round(str(number), chance)
            pid = await found.start(socket)
            with anyio.fail_after(60):
                async with anyio.create_task_group() as group:
                    for client in range(CLIENTS):
                        group.start_soon(life.client, socket, path, client)
                    await life.time_to_die.wait()
                    for _ in range(chance.randint(0, 20)):  # a little later, perhaps in the middle of a write
                        await anyio.lowlevel.checkpoint()
                    await found.kill(pid)
            acknowledged |= set(life.acknowledged)
            counted += len(life.acknowledged)
            check(path, acknowledged)
    assert counted > ROUNDS


async def test_a_client_that_repeats_an_append_after_the_crash_writes_it_once(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-02T08:40:00.000Z", "cwd": "/x"}
    path.write_text(json.dumps(header) + "\n")
    async with daemons() as found:
        for attempt in range(2):
            socket = tmp_path / f"{attempt}.sock"
            pid = await found.start(socket)
            async with Client.connect_unix(socket) as client:
                session = (await client.session_open(path=str(path))).session_id
                message = {"role": "user", "content": "once"}
                done = await client.session_append(session_id=session, messages=[message], ids=["only"])
                assert done.repeated_ids == ([] if attempt == 0 else ["only"])
                await found.kill(pid)
                with pytest.raises((DaemonGoneError, OctavoClientError)):
                    await client.session_get_info(session_id=session)
    assert path.read_text().count("once") == 1
