"""Many clients at once, some of which sleep or are killed: nobody else sees an error, and everything comes back.

20 clients for three seconds; OCTAVO_SOAK=1 makes it 100 for a minute.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from octavo_protocol.base import JsonObject
from wire.support import LIMIT_S, FrameClient, frame
from wire.transports import Served, served

LONG = bool(os.environ.get("OCTAVO_SOAK"))
CLIENTS, SLEEPERS, KILLED, SECONDS = (100, 5, 10, 60.0) if LONG else (20, 2, 4, 3.0)
QUEUE = 2_000_000
ALLOWANCE_KIB = 60_000
"""What the process may hold more than before: caches, and what the allocator keeps."""

VICTIM = """
import socket, sys, time
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
link.sendall(sys.stdin.buffer.read())
print("sent", flush=True)
time.sleep(600)
"""


def descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def resident_kib(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0])


def children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, IndexError):
            if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.name))
    return found


async def alone(client: FrameClient) -> JsonObject:
    """Wait until every other client is gone, and return the daemon's status."""
    with anyio.fail_after(LIMIT_S):
        while True:
            status: JsonObject = (await client.request("daemon/status"))["result"]
            if len(status["clients"]) == 1 and not status["sessions"]:
                return status
            await anyio.lowlevel.checkpoint()


async def worker(daemon: Served, number: int, shared: list[str], ends: float, done: list[int]) -> None:
    """Write and read, in a session of its own and in a shared one, until the time is over."""
    async with daemon.client() as client:
        own = (await client.request("session/create", {"cwd": "/", "ephemeral": True}))["result"]["sessionId"]
        common = shared[number % len(shared)]
        assert "result" in await client.request("session/open", {"sessionId": common})
        rounds = 0
        while anyio.current_time() < ends:
            for session in (own, common):
                message = {"role": "user", "content": f"{number}/{rounds} " + "tide " * 50}
                answer = await client.request("session/append", {"sessionId": session, "messages": [message]})
                assert "result" in answer, answer
            context = (await client.request("session/buildContext", {"sessionId": own}))["result"]["messages"]
            assert len(context) == rounds + 1
            assert context[-1]["content"].startswith(f"{number}/{rounds} ")
            client.seen.clear()
            rounds += 1
        done.append(rounds)


async def sleeper(daemon: Served, shared: list[str]) -> None:
    """Ask for a lot and never read."""
    async with daemon.client() as client:
        await client.request("session/open", {"sessionId": shared[0]})
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        ask = {"jsonrpc": "2.0", "method": "settings/get", "params": {}}
        with suppress(OSError):
            for start in range(0, 100_000, 500):
                await client.send(*({**ask, "id": start + i} for i in range(500)))
        client.writer.transport.abort()


async def victim(daemon: Served, shared: list[str], number: int) -> None:
    """A process of its own that is killed in the middle of a frame."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
    opening = {"jsonrpc": "2.0", "id": 2, "method": "session/open", "params": {"sessionId": shared[number % 2]}}
    said = frame(hello) + frame(opening) + b"Content-Length: 1000\r\n\r\n{"
    process = await anyio.open_process(
        [sys.executable, "-S", "-c", VICTIM, str(daemon.socket)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    async with process:
        assert process.stdin is not None
        assert process.stdout is not None
        await process.stdin.send(said)
        await process.stdin.aclose()
        assert b"sent" in await process.stdout.receive()
        process.send_signal(signal.SIGKILL)
        await process.wait()


@pytest.mark.timeout(600 if LONG else 180)
async def test_sleeping_and_killed_clients_hurt_nobody_and_everything_comes_back(tmp_path: Path) -> None:
    limits = {"OCTAVO_SERVER_MAX_QUEUE_BYTES": str(QUEUE)}
    async with served("unix", tmp_path, **limits) as daemon, daemon.client() as watcher:
        pid = daemon.process.pid
        shared = [
            (await watcher.request("session/create", {"cwd": "/", "path": str(tmp_path / f"{i}.jsonl")}))["result"][
                "sessionId"
            ]
            for i in range(2)
        ]
        done: list[int] = []
        # Everything is loaded once before it is measured.
        await worker(daemon, 0, shared, anyio.current_time() + 0.2, [])
        for session in shared:
            await watcher.request("session/close", {"sessionId": session})
        await alone(watcher)
        before = (descriptors(pid), resident_kib(pid))
        for session in shared:
            await watcher.request("session/open", {"path": str(tmp_path / f"{shared.index(session)}.jsonl")})
        ends = anyio.current_time() + SECONDS
        async with anyio.create_task_group() as group:
            for number in range(CLIENTS):
                group.start_soon(worker, daemon, number, shared, ends, done)
            for _ in range(SLEEPERS):
                group.start_soon(sleeper, daemon, shared)
            for number in range(KILLED):
                group.start_soon(victim, daemon, shared, number)
        assert len(done) == CLIENTS
        assert min(done) > 0
        for session in shared:
            assert "result" in await watcher.request("session/close", {"sessionId": session})
        watcher.seen.clear()
        await alone(watcher)
        assert "does not read" in (tmp_path / "log").read_text()
        assert descriptors(pid) <= before[0]
        assert resident_kib(pid) - before[1] < ALLOWANCE_KIB
        assert children(pid) == []
        for i in range(2):
            lines = (tmp_path / f"{i}.jsonl").read_text().splitlines()
            assert all(isinstance(json.loads(line), dict) for line in lines)
            assert len([line for line in lines if '"message"' in line]) >= sum(done) // 2 - CLIENTS
        daemon.process.terminate()
        with anyio.fail_after(LIMIT_S):
            assert await daemon.process.wait() == 0
    with socket.socket(socket.AF_UNIX) as nobody, pytest.raises(FileNotFoundError):
        nobody.connect(str(daemon.socket))
