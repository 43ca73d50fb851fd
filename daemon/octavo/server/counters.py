"""What a daemon counted since it started, and how Prometheus reads it.

Requests by method and outcome with their latencies, compactions by what they were and how they ended, tokens they made
room for. Nothing is kept per session or client, so that the text stays small.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from octavo_protocol.methods.maintenance import PruneResult, ShakeResult
from octavo_protocol.notifications import CompactionEnd

if TYPE_CHECKING:
    from octavo.server.daemon import Daemon

BOUNDS_S = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0)
"""Upper bounds of the latency buckets, in seconds."""


class Latencies:
    """A histogram."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)
        self.total_s = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.total_s += seconds


class Counters:
    """A service; see the module."""

    def __init__(self, daemon: "Daemon") -> None:
        self._daemon = daemon
        self._started = time.monotonic()
        self._requests: Counter[tuple[str, str]] = Counter()
        self._latencies: dict[str, Latencies] = {}
        self._compactions: Counter[tuple[str, str, str]] = Counter()
        self._tokens_saved: Counter[str] = Counter()

    @property
    def uptime_s(self) -> float:
        """Seconds since counting began, with the daemon."""
        return time.monotonic() - self._started

    def answered(self, method: str, outcome: str, seconds: float, result: Any = None) -> None:
        """Count a request: `outcome` is `ok` or the kind of the error."""
        self._requests[method, outcome] += 1
        self._latencies.setdefault(method, Latencies()).add(seconds)
        if isinstance(result, PruneResult) and not result.dry_run:
            self._tokens_saved["prune"] += result.tokens_saved
        elif isinstance(result, ShakeResult) and not result.dry_run:
            self._tokens_saved["shake"] += result.tokens_freed

    def compaction_ended(self, end: CompactionEnd) -> None:
        """Count a compaction, or whatever else reports as one."""
        if end.aborted:
            outcome = "aborted"
        elif end.skipped:
            outcome = "skipped"
        else:
            outcome = "failed" if end.error_message else "done"
        self._compactions[end.action, end.reason, outcome] += 1
        if outcome == "done" and end.tokens_before is not None and end.tokens_after is not None:
            self._tokens_saved[end.action] += max(0, end.tokens_before - end.tokens_after)

    def text(self, memory_bytes: int | None, sessions: int) -> str:
        """Return everything in Prometheus's text format."""
        gauges = {
            "octavo_uptime_seconds": ("Seconds since the start.", round(self.uptime_s, 3)),
            "octavo_clients": ("Clients connected now.", len(self._daemon.connections)),
            "octavo_sessions": ("Sessions open now.", sessions),
        }
        if memory_bytes is not None:
            gauges["octavo_resident_memory_bytes"] = ("Resident memory.", memory_bytes)
        lines = [line for name, (doc, value) in gauges.items() for line in _family(name, "gauge", doc, [("", value)])]
        lines += _family("octavo_clients_total", "counter", "Clients ever connected.", [("", self._daemon.served)])
        lines += _family(
            "octavo_requests_total",
            "counter",
            "Requests answered, by method and outcome.",
            [(_labels(method=m, outcome=o), n) for (m, o), n in sorted(self._requests.items())],
        )
        lines += self._histogram()
        lines += _family(
            "octavo_compactions_total",
            "counter",
            "Compactions ended, by what they were, why they ran, and how they ended.",
            [
                (_labels(action=action, reason=reason, outcome=outcome), n)
                for (action, reason, outcome), n in sorted(self._compactions.items())
            ],
        )
        lines += _family(
            "octavo_tokens_saved_total",
            "counter",
            "Estimated tokens taken out of contexts.",
            [(_labels(by=by), n) for by, n in sorted(self._tokens_saved.items())],
        )
        return "\n".join(lines) + "\n"

    def _histogram(self) -> Iterator[str]:
        name = "octavo_request_seconds"
        yield f"# HELP {name} Time to answer, by method."
        yield f"# TYPE {name} histogram"
        for method, latencies in sorted(self._latencies.items()):
            below = 0
            for bound, count in zip((*BOUNDS_S, "+Inf"), latencies.counts, strict=True):
                below += count
                yield f"{name}_bucket{_labels(method=method, le=bound)} {below}"
            yield f"{name}_sum{_labels(method=method)} {latencies.total_s:.6f}"
            yield f"{name}_count{_labels(method=method)} {below}"


def _family(name: str, kind: str, doc: str, samples: list[tuple[str, float]]) -> list[str]:
    head = [f"# HELP {name} {doc}", f"# TYPE {name} {kind}"]
    return head + [f"{name}{labels} {value}" for labels, value in samples]


def _labels(**values: object) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in values.items()) + "}"
