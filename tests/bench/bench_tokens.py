"""Speed of counting, estimating and planning on the 2.4 MB sample; `main()` prints one line per figure."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from octavo.compaction.checks import check_compaction
from octavo.compaction.prepare import prepare_compaction
from octavo.compaction.prune import PruneConfig, prune_tool_outputs
from octavo.compaction.shake import RESCUE_SHAKE, collect_shake_regions
from octavo.sessions.context import build_context
from octavo.sessions.reading import load_session
from octavo.sessions.tree import SessionTree
from octavo.tokens.breakdown import context_usage
from octavo.tokens.counting import count_tokens
from octavo.tokens.estimate import Estimator
from octavo_protocol.settings import Settings

SAMPLE = Path(__file__).parents[3] / "shared" / "samples" / "pi" / "before-compaction.jsonl"
HOSTILE = ("a", " ", "\n", "\t\n", "7", "=", "日", "😀", "\u0301")
LOAD = """
import time
start = time.perf_counter()
from octavo.tokens.counting import count_tokens
count_tokens("x")
print((time.perf_counter() - start) * 1000)
"""


def best(run: Callable[[], Any], rounds: int = 5) -> float:
    """Least milliseconds of several rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1000)
    return min(times)


def load_ms() -> float:
    runs = [subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=True) for _ in range(5)]
    return statistics.median(float(run.stdout) for run in runs)


def linearity(piece: str) -> tuple[float, float]:
    """Milliseconds for a million characters, and how many times longer than for a quarter of it (4 is linear).

    The lengths are odd ones, so that nothing is answered from a cache.
    """

    def text(size: int) -> str:
        return (piece * size)[:size]

    short = min(best(lambda n=n: count_tokens(text(249_997 + n)), 1) for n in range(3))  # type: ignore[misc]
    long = min(best(lambda n=n: count_tokens(text(999_990 + n)), 1) for n in range(3))  # type: ignore[misc]
    return long, long / short


def rows() -> Sequence[tuple[str, str]]:
    data = SAMPLE.read_bytes()
    raw = data.decode()
    session = load_session(data)
    tree = SessionTree(session.header, session.entries)
    path = tree.path(tree.leaf_id)
    messages = build_context(path, transcript=True).messages
    settings = Settings().compaction
    count_tokens(raw)
    speed = len(raw) / best(lambda: count_tokens(raw)) / 1000
    found = [
        ("tokenizer load (median of 5 processes)", f"{load_ms():.0f} ms"),
        ("count the sample as one text", f"{speed:.0f} M chars/s"),
    ]
    for piece in HOSTILE:
        long, ratio = linearity(piece)
        found.append((f"count {piece!a} x 1e6", f"{long:.0f} ms, {ratio:.1f} times a quarter of it"))
    warm = Estimator()
    warm.total(messages)
    plan = prepare_compaction(path, settings, estimator=warm)
    assert plan is not None
    draft = {"type": "compaction", "summary": "## Goal\nGo on.", "firstKeptEntryId": plan.first_kept_entry_id}
    context = build_context(path)
    timed: list[tuple[str, Callable[[], Any]]] = [
        ("estimate all messages, cold", lambda: Estimator().total(messages)),
        ("estimate all messages, known", lambda: warm.total(messages)),
        ("prepare, cold", lambda: prepare_compaction(path, settings)),
        ("prepare, known", lambda: prepare_compaction(path, settings, estimator=warm)),
        ("context usage, known", lambda: context_usage(path, context, None, settings, estimator=warm)),
        ("checks of a draft", lambda: check_compaction(path, draft, plan, warm)),
        ("prune", lambda: prune_tool_outputs(path, PruneConfig(), 1, warm)),
        ("shake regions", lambda: collect_shake_regions(path, RESCUE_SHAKE, warm)),
    ]
    found += [(name, f"{best(run):.1f} ms") for name, run in timed]
    many = [{"role": "user", "content": f"message number {n}"} for n in range(40_000)]
    big = Estimator()
    big.total(many)
    found.append(("estimate 40,000 known messages", f"{best(lambda: big.total(many)):.1f} ms"))
    return found


def main() -> None:
    """Print the figures."""
    for name, figure in rows():
        print(f"{name:<44} {figure}")


if __name__ == "__main__":
    main()
