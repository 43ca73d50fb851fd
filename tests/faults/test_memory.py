"""Large sessions in bounded memory and in work that does not grow with what is not touched."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import storekit as kit
from octavo.sessions.tree import SessionTree

CAPPED = """
import anyio, resource, sys
from pathlib import Path
import storekit as kit
from octavo.sessions.context import build_context

async def main(path):
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = 300 << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    assert used < limit
    library = kit.library(path.parent)
    session = await library.open_path(path)
    assert len(session.tree) == 801
    found = session.branch()
    assert [len(e["summary"]) for e in found if e["type"] == "compaction"][-1] == 1_000_000
    assert len(build_context(found).messages[0]["summary"]) == 1_000_000
    await session.append(messages=[kit.user("after")])
    entry = {"type": "compaction", "summary": "n" * 1_000_000, "firstKeptEntryId": session.leaf_id, "tokensBefore": 1}
    await session.write_compaction(entry, session.leaf_id)
    assert len(session.entries(["c7"])[0]["summary"]) == 1_000_000
    await session.rewrite(lambda tree: [{**tree.by_id["e0"], "pruned": True}], "prune")
    await session.close()
    print("ok")

anyio.run(main, Path(sys.argv[1]))
"""

RESIDENT = """
import anyio, os, resource, sys
from pathlib import Path
import storekit as kit
from octavo.sessions.context import build_context

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

async def main(path):
    library = kit.library(path.parent)
    session = await library.open_path(path)
    build_context(session.branch())
    await session.append(messages=[kit.user("x")])
    # Not ru_maxrss: that remembers the process this one was forked from.
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    size, peak = path.stat().st_size, int(status["VmHWM"].split()[0]) * 1024
    print(resident() / size, peak / size)
    await session.close()

anyio.run(main, Path(sys.argv[1]))
"""


def compacted(path: Path, count: int, size: int) -> Path:
    """A session in which every second entry is a compaction of `size` bytes."""
    with path.open("w") as stream:
        stream.write(json.dumps(kit.HEADER) + "\n" + json.dumps(kit.entry("e0", None)) + "\n")
        for number in range(count):
            entry = kit.compaction(f"c{number}", f"e{number}", f"e{number}", chr(97 + number % 26) * size)
            stream.write(json.dumps(entry) + "\n" + json.dumps(kit.entry(f"e{number + 1}", f"c{number}")) + "\n")
    return path


def large(path: Path, entries: int, size: int) -> Path:
    """A session of that many messages in the usual mixture."""
    with path.open("w") as stream:
        stream.write(json.dumps(kit.HEADER) + "\n")
        for number in range(entries):
            kind = number % 3
            text = f"{number} word " * (size // 12)
            message = [kit.user(text), kit.assistant(f"c{number}", text=text), kit.result(f"c{number - 1}", text)][kind]
            head = {"type": "message", "id": f"e{number}", "parentId": f"e{number - 1}" if number else None}
            stream.write(json.dumps({**head, "timestamp": "2026-01-01T00:00:00.000Z", "message": message}) + "\n")
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="address space limits and /proc are Linux's")
def test_four_hundred_compactions_of_a_megabyte_open_under_a_cap(tmp_path: Path) -> None:
    """BR-007."""
    path = compacted(tmp_path / "s.jsonl", 400, 1_000_000)
    assert kit.output(CAPPED, path) == "ok\n"
    assert path.stat().st_size > 400_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_a_hundred_megabytes_stay_below_three_and_a_half_times_the_file(tmp_path: Path) -> None:
    resident, peak = map(float, kit.output(RESIDENT, large(tmp_path / "s.jsonl", 40_000, 2400)).split())
    assert resident <= 3.4
    assert peak <= 3.4


def steps(tree: SessionTree, work: Any) -> int:
    before = tree.steps
    work()
    return tree.steps - before


async def test_appending_and_navigating_cost_the_same_at_twice_the_size(tmp_path: Path) -> None:
    """engine.md §17d 132; counted operations, not time."""
    costs = []
    for size in (500, 1000):
        path = kit.write(tmp_path / f"{size}.jsonl", kit.HEADER, *kit.chain(size))
        async with kit.opened(tmp_path, path) as session:
            before = session.tree.steps
            for number in range(20):
                await session.append(messages=[kit.user(str(number))])
            await session.set_leaf(f"e{size // 2}")
            await session.set_label(f"e{size // 2}", "x")
            costs.append(session.tree.steps - before)
    assert costs[0] == costs[1]


async def test_opening_looks_at_each_entry_a_fixed_number_of_times(tmp_path: Path) -> None:
    costs = []
    for size in (500, 1000):
        path = kit.write(tmp_path / f"{size}.jsonl", kit.HEADER, *kit.chain(size))
        async with kit.opened(tmp_path, path) as session:
            session.branch()
            costs.append(session.tree.steps)
    assert costs[1] <= 2 * costs[0] + 10
