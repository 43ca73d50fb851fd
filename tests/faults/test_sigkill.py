"""SIGKILL at random points under concurrent appends: what was acknowledged is there, and the file is a session."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

import storekit as kit

ROUNDS = int(os.environ.get("OCTAVO_SOAK_ROUNDS", "200"))
PER_SESSION = 50
MOST_LINES = 25
"""Lines a victim may say before it is killed; one in four is killed by the clock instead, perhaps while opening."""
SHORT_LIFE = 0.02
PATIENCE = 30.0


class Victims:
    """Talks to `killable.py`."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._buffer = b""

    def order(self, path: Path, number: int, seed: int) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"path": str(path), "round": number, "seed": seed}).encode() + b"\n")
        self._process.stdin.flush()

    def line(self, until: float) -> str | None:
        """The next line, or None when there is none by then."""
        assert self._process.stdout is not None
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                return None
            data = os.read(self._process.stdout.fileno(), 1 << 16)
            assert data, "the process that forks the victims ended"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode()


@contextmanager
def victims() -> Iterator[Victims]:
    script = Path(__file__).with_name("killable.py")
    process = subprocess.Popen([sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        yield Victims(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def live_and_die(found: Victims, path: Path, number: int, chance: random.Random) -> list[str]:
    """One round; returns every line the victim said after its pid."""
    found.order(path, number, chance.randrange(1 << 30))
    first = found.line(time.monotonic() + PATIENCE)
    assert first is not None
    pid = int(first.removeprefix("pid "))
    said: list[str] = []
    early = chance.random() < 0.25
    for _ in range(0 if early else chance.randint(1, MOST_LINES)):
        line = found.line(time.monotonic() + PATIENCE)
        assert line is not None
        assert not line.startswith("dead"), "the victim ended by itself"
        said.append(line)
    end = time.monotonic() + chance.uniform(0, SHORT_LIFE if early else SHORT_LIFE / 10)
    while (line := found.line(end)) is not None:
        assert not line.startswith("dead"), "the victim ended by itself"
        said.append(line)
    os.kill(pid, signal.SIGKILL)
    while (line := found.line(time.monotonic() + PATIENCE)) != f"dead {pid}":
        assert line is not None
        said.append(line)
    return said


def check(path: Path, acknowledged: set[str], titles: list[str]) -> None:
    *lines, tail = path.read_bytes().split(b"\n")
    entries = [json.loads(line) for line in lines]
    assert entries[0]["type"] == "session"
    ids = [entry["id"] for entry in entries[1:]]
    assert len(set(ids)) == len(ids)
    missing = acknowledged - set(ids)
    assert not missing, f"acknowledged but gone: {sorted(missing)[:5]}"
    seen: set[str | None] = {None}
    for entry in entries[1:]:
        assert entry["parentId"] in seen, f"{entry['id']} was written before its parent"
        seen.add(entry["id"])
    if titles:
        wanted = int(titles[-1].split()[-1]), int(titles[-1].split()[0])
        title = entries[0]["title"]
        assert (int(title.split()[0]), int(title.split()[1])) >= wanted[::-1]
    assert b"\0" not in tail


async def open_and_close(folder: Path, path: Path) -> None:
    async with kit.opened(folder, path) as session:
        await session.append(messages=[kit.user("after all that")])


@pytest.mark.timeout(60 + ROUNDS * 2)
def test_sigkill_under_concurrent_appends_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """BR-020; the issue's 200 rounds, `make soak` runs more."""
    chance = random.Random(20260101)
    counted = 0
    with victims() as found:
        for start in range(0, ROUNDS, PER_SESSION):
            path = kit.write(tmp_path / f"{start}.jsonl", kit.HEADER)
            acknowledged: set[str] = set()
            titles: list[str] = []
            for number in range(start, min(start + PER_SESSION, ROUNDS)):
                said = live_and_die(found, path, number, chance)
                acknowledged.update(line.removeprefix("ack ") for line in said if line.startswith("ack "))
                titles += [line.removeprefix("title ") for line in said if line.startswith("title ")]
                check(path, acknowledged, titles)
            counted += len(acknowledged)
    assert counted > 5 * ROUNDS, "the victims were killed before they did anything"
    for path in tmp_path.glob("*.jsonl"):
        anyio.run(open_and_close, tmp_path, path)
    assert {name for name in kit.files(tmp_path) if name.endswith((".tmp", ".lock"))} == set()
