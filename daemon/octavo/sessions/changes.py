"""The numbered history of an open session's changes, so that a client that was away catches up exactly.

Numbers count up by one and mean something only within one opening of the session (`epoch`). The log is bounded;
asking for more than it holds gets None, which means: read everything again.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

ChangeKind = Literal["appended", "rewritten", "leaf", "title", "label", "closed"]
LIMIT = 10_000
"""Changes kept; older ones are answered with a reset."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change: its number, what happened, to which entries, and the leaf and title after it."""

    seq: int
    kind: ChangeKind
    entry_ids: tuple[str, ...]
    leaf_id: str | None
    title: str | None = None


Subscriber = Callable[[Change], None]


class ChangeLog:
    """Numbers changes and remembers the latest of them."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._changes: deque[Change] = deque(maxlen=limit)
        self._seq = 0

    @property
    def seq(self) -> int:
        """Number of the last change; 0 before the first."""
        return self._seq

    def record(
        self, kind: ChangeKind, entry_ids: tuple[str, ...], leaf_id: str | None, title: str | None = None
    ) -> Change:
        """Give the change its number and keep it."""
        self._seq += 1
        change = Change(self._seq, kind, entry_ids, leaf_id, title)
        self._changes.append(change)
        return change

    def since(self, seq: int) -> list[Change] | None:
        """Every change after `seq` in order, or None when they are not all known any more (or never happened here)."""
        if seq > self._seq or seq < 0:
            return None
        wanted = self._seq - seq
        if wanted > len(self._changes):
            return None
        return list(self._changes)[len(self._changes) - wanted :]
