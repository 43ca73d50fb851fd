"""One session of 2.4 MB from file to context: in process, over stdio, and the start of the daemon.

Prints the median of some rounds in milliseconds: open, buildContext, estimate of all messages, prepare, the round trip
of `session/buildContext` over stdio, and from spawn to the answer of `initialize` (goal 500 ms).
Run it with `python -m tests.bench.bench_session`.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from subprocess import DEVNULL

import anyio

from octavo.compaction.prepare import prepare_compaction
from octavo.sessions.context import build_context
from octavo.sessions.library import Library
from octavo.sessions.live import LiveSession
from octavo.sessions.llm_messages import to_llm_messages
from octavo.tokens.counting import count_tokens
from octavo.tokens.estimate import Estimator
from octavo_client import Client
from octavo_protocol.base import JsonObject
from octavo_protocol.settings import CompactionSettings

SAMPLE = Path(__file__).parents[3] / "shared" / "samples" / "pi" / "before-compaction.jsonl"
ROUNDS = 9
SERVE = [sys.executable, "-m", "octavo", "serve", "--stdio"]


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(_measure, Path(folder))


async def _measure(folder: Path) -> None:
    library = Library(folder / "sessions")

    async def opening() -> LiveSession:
        return await library.open_path(SAMPLE, mode="read")

    await _report("open", opening)
    session = await opening()
    whole = session.branch()
    uncompacted = [entry for entry in whole if entry.get("type") != "compaction"]
    messages = build_context(whole).messages
    every = build_context(whole, transcript=True).messages
    count_tokens("load the vocabulary")
    print(f"{'':34} {len(whole)} entries, {len(messages)} messages in the context, {len(every)} in the transcript")
    await _report("buildContext in process", _sync(lambda: to_llm_messages(build_context(session.branch()).messages)))
    await _report("estimate of all messages", _sync(lambda: Estimator().total(every)))
    settings = CompactionSettings()
    await _report("prepare", _sync(lambda: prepare_compaction(uncompacted, settings, estimator=Estimator())))
    session.release()
    environment = {**os.environ, "OCTAVO_CONFIG": "", "OCTAVO_SESSIONS_ROOT": str(folder / "sessions")}
    async with Client.spawn(SERVE, stderr=DEVNULL, env=environment) as client:
        opened = await client.session_open(path=str(SAMPLE), mode="read")
        params: JsonObject = {"sessionId": opened.session_id}
        await _report("session/buildContext over stdio", lambda: client.request("session/buildContext", params))
        await _report(
            "session/getTree over stdio", lambda: client.request("session/getTree", {**params, "window": 100})
        )
    await _starts(environment)


async def _starts(environment: dict[str, str]) -> None:
    took = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        async with Client.spawn(SERVE, stderr=DEVNULL, env=environment):
            took.append(time.perf_counter() - start)
    _print("spawn to initialize", took)


async def _report(name: str, work: Callable[[], Awaitable[object]]) -> None:
    took = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        found = await work()
        took.append(time.perf_counter() - start)
        if isinstance(found, LiveSession):
            found.release()
    _print(name, took)


def _sync(work: Callable[[], object]) -> Callable[[], Awaitable[object]]:
    async def run() -> object:
        return work()

    return run


def _print(name: str, took: list[float]) -> None:
    print(f"{name:34} {statistics.median(took) * 1000:9.2f} ms  (best {min(took) * 1000:.2f})")


if __name__ == "__main__":
    main()
