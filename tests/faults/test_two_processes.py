"""Two processes and one file: the lease among ourselves, and programs that know no lease."""

import asyncio
import json
from pathlib import Path

import anyio
import pytest

import storekit as kit
from octavo_protocol.errors import ErrorKind, OctavoError

FIGHTER = """
import anyio, sys
from pathlib import Path
import storekit as kit
from octavo_protocol.errors import ErrorKind, OctavoError

async def main(path, name):
    library = kit.library(path.parent)
    done = 0
    while done < 15:
        try:
            session = await library.open_path(path)
        except OctavoError as error:
            assert error.kind == ErrorKind.SESSION_LOCKED, error
            assert error.data["details"]["path"] == str(path)
            await anyio.lowlevel.checkpoint()
            continue
        await session.append(messages=[kit.user(name)], ids=[f"{name}-{done}"])
        await session.close()
        print(f"{name}-{done}", flush=True)
        done += 1

anyio.run(main, Path(sys.argv[1]), sys.argv[2])
"""

STRANGER = """
import json, sys
path, count = sys.argv[1], int(sys.argv[2])
parent = "e0"
with open(path, "ab", buffering=0) as stream:
    for number in range(count):
        entry = {"type": "custom", "id": f"stranger-{number}", "parentId": parent, "timestamp": "t", "customType": "x"}
        stream.write(json.dumps(entry).encode() + b"\\n")
        parent = entry["id"]
        print(parent, flush=True)
        sys.stdin.readline()
"""


async def test_daemons_fighting_for_a_file_take_turns_and_lose_nothing(tmp_path: Path) -> None:
    """BR-002."""
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, kit.entry("e0", None))
    fighters = [kit.python(FIGHTER, path, name) for name in ("one", "two", "three")]
    with anyio.fail_after(60):
        told = await asyncio.gather(*(asyncio.to_thread(fighter.communicate) for fighter in fighters))
    assert [fighter.returncode for fighter in fighters] == [0, 0, 0]
    acknowledged = [line for out, _ in told for line in out.split()]
    lines = kit.read(path)[2:]
    assert sorted(line["id"] for line in lines) == sorted(acknowledged)
    assert [line["parentId"] for line in lines] == ["e0", *(line["id"] for line in lines[:-1])]
    assert kit.files(tmp_path) == ["s.jsonl"]


async def test_a_second_daemon_is_told_who_writes_and_may_read(tmp_path: Path) -> None:
    """BR-002."""
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, kit.entry("e0", None))
    holder = "import sys\nfrom pathlib import Path\nfrom octavo.sessions.lease import Lease\n"
    holder += "lease = Lease.acquire(Path(sys.argv[1]), 1)\nprint('held', flush=True)\nsys.stdin.read()\n"
    with kit.python(holder, path) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(OctavoError) as caught:
            await kit.library(tmp_path).open_path(path)
        assert caught.value.kind == ErrorKind.SESSION_LOCKED
        assert caught.value.data["details"]["pid"] == other.pid
        assert str(other.pid) in caught.value.message
        async with kit.opened(tmp_path, path, mode="read") as reader:
            assert reader.leaf_id == "e0"
        other.kill()
    async with kit.opened(tmp_path, path) as session:
        await session.append(messages=[kit.user("mine now")])


async def test_a_program_without_a_lease_that_appends_while_we_do_loses_nothing(tmp_path: Path) -> None:
    """BR-002: both sides append in turns, each behind the other's lines."""
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, kit.entry("e0", None))
    async with kit.opened(tmp_path, path) as session:
        with kit.python(STRANGER, path, 20) as stranger:
            assert stranger.stdin is not None
            assert stranger.stdout is not None
            ours, theirs = [], []
            for number in range(20):
                theirs.append(stranger.stdout.readline().strip())
                await session.append(messages=[kit.user("x")], ids=[f"ours-{number}"])
                stranger.stdin.write("\n")
                stranger.stdin.flush()
                ours.append(f"ours-{number}")
        assert set(session.tree.by_id) == {"e0", *ours, *theirs}
        assert session.leaf_id == ours[-1]
        assert [entry["id"] for entry in session.branch()] == ["e0", *ours]
    lines = [json.loads(line) for line in path.read_text().splitlines()][2:]
    assert [line["id"] for line in lines] == [entry_id for pair in zip(theirs, ours, strict=True) for entry_id in pair]


async def test_rewrites_racing_appends_of_two_processes_keep_every_acknowledged_entry(tmp_path: Path) -> None:
    """One process rewrites as fast as it can while a reader follows; the reader never sees a half file."""
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(50))
    reader = """
import anyio, sys
from pathlib import Path
import storekit as kit

async def main(path):
    seen = 0
    async with kit.opened(path.parent, path, mode="read") as session:
        print("open", flush=True)
        while "last" not in session.tree:
            await session.reload()
            assert not session.recovery, session.recovery
            ids = [entry["id"] for entry in session.branch()]
            assert len(ids) >= seen, "an entry was there and is gone"
            seen = len(ids)
    print(seen)

anyio.run(main, Path(sys.argv[1]))
"""
    with kit.python(reader, path) as follower:
        assert follower.stdout is not None
        assert follower.stdout.readline() == "open\n"
        async with kit.opened(tmp_path, path) as session:
            for number in range(60):
                await session.append(messages=[kit.user("x")])
                if number % 3 == 0:
                    await session.set_title(f"title {number}")
            await session.append(messages=[kit.user("end")], ids=["last"])
        with anyio.fail_after(30):
            out = await asyncio.to_thread(follower.stdout.read)
    assert follower.returncode == 0
    assert out == "111\n"
