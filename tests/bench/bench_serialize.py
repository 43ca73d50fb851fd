"""Prepare and serialise the 2.4 MB sample, as every summary starts: goal 150 ms.

Run it with `python tests/bench/bench_serialize.py`; it prints the best of some rounds in milliseconds.
"""

import time
from collections.abc import Callable
from pathlib import Path

from octavo.compaction.extractive import summarize_locally
from octavo.compaction.neutralise import Redactor
from octavo.compaction.prepare import Preparation, prepare_compaction
from octavo.compaction.serialize import serialize_for_summary
from octavo.sessions.llm_messages import to_llm_messages
from octavo.sessions.migrate import migrate_to_current
from octavo.sessions.reading import parse_lines
from octavo.tokens.counting import count_tokens
from octavo_protocol.base import JsonObject
from octavo_protocol.settings import CompactionSettings

SAMPLE = Path(__file__).parents[3] / "shared" / "samples" / "pi" / "before-compaction.jsonl"
ROUNDS = 5


def best(work: Callable[[], object]) -> float:
    """Milliseconds of the fastest round."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def main() -> None:
    """Print the figures."""
    header, *entries = parse_lines(SAMPLE.read_bytes()).objects
    counter = iter(range(len(entries)))
    path = migrate_to_current(header, entries, new_id=lambda: f"e{next(counter)}").entries
    path = [entry for entry in path if entry["type"] != "compaction"]
    count_tokens("warm")

    def prepare() -> Preparation:
        found = prepare_compaction(path, CompactionSettings())
        assert found is not None
        return found

    preparation = prepare()

    def serialise() -> str:
        messages: list[JsonObject] = to_llm_messages(preparation.discarded_messages)
        return serialize_for_summary(messages, "anthropic")

    text = serialise()
    print(f"messages to summarise     {len(preparation.discarded_messages)}, {len(text)} characters serialised")
    print(f"prepare                   {best(prepare):7.1f} ms")
    print(f"serialise                 {best(serialise):7.1f} ms")
    print(f"redact                    {best(lambda: Redactor().text(text)):7.1f} ms")
    print(f"count the whole prompt    {best(lambda: count_tokens(text)):7.1f} ms")
    print(f"local summary             {best(lambda: summarize_locally(preparation)):7.1f} ms")


if __name__ == "__main__":
    main()
