"""The store against bare loops in the same run: appends, opening, memory, search.

Run it with `python tests/bench/bench_store.py`. Goals: appends at least 0.7 of a bare write and fsync with one client
and more than 3 times it with sixteen; opening 100 MB in at most 1.8 of a bare parse of its lines; resident memory at
most 3.4 times the file; a search below 150 ms once the session was searched.
"""

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import orjson

from octavo.sessions.context import build_context
from octavo.sessions.library import Library
from octavo.sessions.live import LiveSession

APPENDS = 50
CLIENTS = 16
ROUNDS = 40
MEGABYTES = 100
ENTRIES = 40_000
QUERIES: tuple[tuple[str, bool], ...] = (
    ("qqzzxxnothing", False),
    ("word7", False),
    ("zebra word12", False),
    (r"nothing\s+here\d", True),
)


def message(text: str) -> dict[str, object]:
    """A user message."""
    return {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}


def bare_appends(path: Path, count: int) -> float:
    """Appends per second of a loop of write and fsync with lines of the same length."""
    entry = {"type": "message", "id": "x" * 8, "parentId": "y" * 8, "timestamp": "2026-01-01T00:00:00.000Z"}
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    line = orjson.dumps({**entry, "message": message("text " * 40)}) + b"\n"
    start = time.perf_counter()
    for _ in range(count):
        os.write(descriptor, line)
        os.fsync(descriptor)
    took = time.perf_counter() - start
    os.close(descriptor)
    return count / took


async def our_appends(session: LiveSession, count: int, clients: int) -> float:
    """Appends per second of so many clients that each wait for the acknowledgement."""

    async def client() -> None:
        for _ in range(count // clients):
            await session.append(messages=[message("text " * 40)])

    start = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    return count / (time.perf_counter() - start)


async def appends(folder: Path) -> None:
    """Compare in short neighbouring rounds, so that a busy disk is busy for both; the median round counts."""
    library = Library(folder / "sessions")
    session = await library.create("/p")
    await our_appends(session, APPENDS, 1)
    rounds = []
    for _ in range(ROUNDS):
        bare = bare_appends(folder / "bare", APPENDS)
        one = await our_appends(session, APPENDS, 1)
        many = await our_appends(session, APPENDS * CLIENTS, CLIENTS)
        rounds.append((bare, one, many))
    await session.close()
    library.close()
    bare, one, many = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio_one = statistics.median(one / bare for bare, one, _ in rounds)
    ratio_many = statistics.median(many / bare for bare, _, many in rounds)
    print(f"bare write + fsync        {bare:9.0f} /s")
    print(f"append, one client        {one:9.0f} /s   {ratio_one:5.2f} of bare (goal 0.7)")
    print(f"append, {CLIENTS} clients       {many:9.0f} /s   {ratio_many:5.2f} of bare (goal 3)")


def make_session(path: Path, megabytes: int, entries: int) -> None:
    """A session of the usual mixture of messages, calls and results."""
    chance = random.Random(1)
    words = [f"word{n}" for n in range(3000)] + ["zebra"]
    size = megabytes * 1_000_000 // entries
    with path.open("w") as stream:
        head = {"type": "session", "version": 3, "id": "bench", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/p"}
        stream.write(json.dumps(head) + "\n")
        for number in range(entries):
            text = " ".join(chance.choices(words, k=size // 9))
            block: dict[str, object] = {"type": "text", "text": text}
            call = {"type": "toolCall", "id": f"c{number}", "name": "bash", "arguments": {"command": "make"}}
            body: dict[str, object] = {"role": "user", "content": [block]}
            if number % 3 == 1:
                usage = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "totalTokens": 10}
                body = {"role": "assistant", "content": [block, call], "usage": usage, "stopReason": "toolUse"}
            elif number % 3 == 2:
                body = {"role": "toolResult", "toolCallId": f"c{number - 1}", "toolName": "bash", "content": [block]}
            entry = {"type": "message", "id": f"{number:08x}", "parentId": f"{number - 1:08x}" if number else None}
            stream.write(json.dumps({**entry, "timestamp": "2026-01-01T00:00:00.000Z", "message": body}) + "\n")


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def bare_parse(path: Path) -> float:
    """Seconds to parse every line and keep the objects."""
    start = time.perf_counter()
    with path.open("rb") as stream:
        kept = [orjson.loads(line) for line in stream]
    took = time.perf_counter() - start
    del kept
    return took


async def timed(call: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    await call()
    return (time.perf_counter() - start) * 1000


async def large(path: Path) -> None:
    """What a large session costs, in a process of its own."""
    library = Library(path.parent / "sessions")
    start = time.perf_counter()
    session = await library.open_path(path)
    opened = time.perf_counter() - start
    memory = resident() / session.size_bytes
    start = time.perf_counter()
    build_context(session.branch())
    context = (time.perf_counter() - start) * 1000
    append = min([await timed(lambda: session.append(messages=[message("x")])) for _ in range(20)])
    found = library.searcher(session)
    searches = {}
    for query, regex in QUERIES:
        times = [await timed(lambda q=query, r=regex: found.search(q, regex=r)) for _ in range(4)]  # type: ignore[misc]
        searches[query] = [times[0], min(times[1:])]
    searched = resident() / session.size_bytes
    rewrite = await timed(lambda: session.set_title("another title"))
    await session.close()
    told = {"opened": opened, "memory": memory, "context": context, "append": append, "rewrite": rewrite}
    print(json.dumps({**told, "searches": searches, "searched": searched}))


def measure_large(folder: Path) -> None:
    """Alternate bare parses and openings, each in a fresh process, and compare the best."""
    path = folder / "large.jsonl"
    make_session(path, MEGABYTES, ENTRIES)
    bare, ours = [], []
    for _ in range(3):
        for kind, into in (("bare", bare), ("large", ours)):
            done = subprocess.run(
                [sys.executable, __file__, kind, str(path)], capture_output=True, text=True, check=True
            )
            into.append(json.loads(done.stdout))
    parse, best = min(bare), min(ours, key=lambda told: told["opened"])
    print(f"bare parse of the lines   {parse * 1000:9.0f} ms   {path.stat().st_size / 1e6:.0f} MB, {ENTRIES} entries")
    print(
        f"open                      {best['opened'] * 1000:9.0f} ms   {best['opened'] / parse:5.2f} of bare (goal 1.8)"
    )
    print(f"resident after opening    {best['memory']:9.2f} x the file (goal 3.4)")
    print(f"resident after a search   {best['searched']:9.2f} x the file (goal 3.4)")
    print(f"branch and buildContext   {min(told['context'] for told in ours):9.1f} ms (goal 100)")
    print(f"append to it              {min(told['append'] for told in ours):9.2f} ms")
    print(f"rewrite it (title)        {min(told['rewrite'] for told in ours):9.0f} ms")
    for query, _ in QUERIES:
        first = min(told["searches"][query][0] for told in ours)
        later = min(told["searches"][query][1] for told in ours)
        print(f"search {query:22.22s} {later:7.1f} ms (goal 150), the first time {first:.0f} ms")


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(appends(folder))
        measure_large(folder)


if __name__ == "__main__":
    if sys.argv[1:2] == ["bare"]:
        print(json.dumps(bare_parse(Path(sys.argv[2]))))
    elif sys.argv[1:2] == ["large"]:
        asyncio.run(large(Path(sys.argv[2])))
    else:
        main()
