"""How long anything keeps the event loop from turning while a large session is opened, measured and compacted.

Prints the longest gap between two beats of a 1 ms heart (goal: none above 50 ms), per strategy, and the time taken.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

sys.path.insert(0, str(Path(__file__).parents[1]))

from octavo.maintenance.compactor import Compactor
from octavo.maintenance.operations import OperationSlot
from octavo.maintenance.strategies import Wish
from octavo.sessions.library import Library
from octavo_protocol.settings import Settings
from support.scripted import ScriptedHost, text

MEGABYTES = int(os.environ.get("OCTAVO_BENCH_MB", "100"))


def write_session(path: Path, megabytes: int) -> int:
    """Write a session of about this size; returns the number of entries."""
    words = [text(400, seed=seed) for seed in range(97)]
    head = {"type": "session", "version": 3, "id": "bench", "timestamp": "2026-03-02T08:40:00.000Z", "cwd": "/x"}
    size = count = 0
    parent: str | None = None
    with path.open("w") as out:
        out.write(json.dumps(head) + "\n")
        while size < megabytes * 1_000_000:
            for message in _turn(count, words):
                entry = {"type": "message", "id": f"{count:08x}", "parentId": parent, "timestamp": head["timestamp"]}
                line = json.dumps({**entry, "message": message}) + "\n"
                out.write(line)
                size += len(line)
                parent = f"{count:08x}"
                count += 1
    return count


def _turn(number: int, words: list[str]) -> list[dict[str, Any]]:
    call = {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": {"path": f"src/part{number % 400}.ts"}}
    base = {"role": "assistant", "api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5"}
    said = [{"type": "text", "text": words[number % 97]}]
    read = [{"type": "text", "text": words[(number * 3) % 97] * 2}]
    return [
        {"role": "user", "content": f"Please go on with part {number}. {words[(number * 5) % 97][:200]}"},
        {**base, "content": [*said, call], "stopReason": "toolUse"},
        {"role": "toolResult", "toolCallId": f"c{number}", "toolName": "read", "content": read, "isError": False},
    ]


class Heart:
    """Beats every millisecond and remembers the longest pause."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def beat(self) -> None:
        last = time.perf_counter()
        while True:
            await anyio.sleep(0.001)
            now = time.perf_counter()
            self.longest = max(self.longest, now - last)
            last = now


async def watched(name: str, work: Callable[[], Awaitable[Any]]) -> Any:
    """Run some work with a heart beside it and print what it took."""
    heart = Heart()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(heart.beat)
        start = time.perf_counter()
        done = await work()
        took = time.perf_counter() - start
        await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    print(f"heartbeat: {name:<28} {took:6.2f} s, longest pause {heart.longest * 1000:6.1f} ms")
    return done


async def run(folder: Path) -> None:
    """Open a large session and compact it by every strategy, undoing each."""
    path = folder / "large.jsonl"
    count = write_session(path, MEGABYTES)
    print(f"heartbeat: a session of {path.stat().st_size / 1e6:.0f} MB, {count} entries")
    library = Library(folder / "sessions")
    session = await watched("open", lambda: library.open_path(path))
    host = ScriptedHost(session, settings=Settings())
    compactor = Compactor(host, OperationSlot(session.session_id))
    for strategy in ("extractive", "snapcompact", "context-full"):
        await watched(f"compact, {strategy}", lambda s=strategy: compactor.compact(Wish("manual", s)))
        await compactor.undo()
    await session.close()


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(run, Path(folder))


if __name__ == "__main__":
    main()
