"""What automatic maintenance remembers of one session between checks, so that it never goes round in circles.

Counts and figures only; nothing here is stored, a new process starts afresh with the bounds it has anyway.
"""

from dataclasses import dataclass

OVERFLOW_LIMIT = 1
"""Recoveries from an overflow without a successful turn in between (BR-038)."""
INCOMPLETE_LIMIT = 3
"""Recoveries from cut-off answers in a row (engine.md §17c 101)."""
MARGIN = 0.05
"""Share of the threshold by which a context must grow before it is worked on again (BR-049)."""


@dataclass(slots=True)
class Memory:
    """See the module.

    Attributes:
        overflows: Recoveries from overflow since the last turn that succeeded, or the last prompt.
        incompletes: Recoveries from cut-off answers since then.
        settled: Tokens the last run left behind, or found and could not change; None before the first.
        deferred: Whether a handoff waits for its turn.
    """

    overflows: int = 0
    incompletes: int = 0
    settled: int | None = None
    deferred: bool = False
    _seen: str | None = None
    _told: str | None = None
    _circumstances: object = None

    def saw(self, turn_id: str) -> None:
        """A turn succeeded: failures before it are history, unless it is the one a failed turn followed."""
        if turn_id != self._seen:
            self._seen = turn_id
            self.overflows = self.incompletes = 0

    def prompted(self) -> None:
        """A person asks for something: what failed before was another attempt."""
        self.overflows = self.incompletes = 0

    def recovering(self, last_success: str | None) -> None:
        """A recovery begins; only a turn other than this one, newer therefore, is progress."""
        self._seen = last_success

    def settle(self, tokens: int, circumstances: object) -> None:
        """Remember what the context is after a run, and under which settings and model."""
        self.settled = tokens
        self._circumstances = circumstances
        self._told = None

    def settled_under(self, circumstances: object) -> int | None:
        """`settled`, unless it was under other circumstances, which deserve an attempt of their own."""
        return self.settled if circumstances == self._circumstances else None

    def must_grow_to(self, threshold: int, window: int) -> int:
        """Tokens below which another run would only repeat the last one; 0 when there was none.

        The margin shrinks with the room that is left, so that a nearly full window is never left alone for long.
        """
        if self.settled is None:
            return 0
        room = max(0, window - self.settled)
        return self.settled + max(1, min(int(threshold * MARGIN), room // 2))

    def is_news(self, reason: str) -> bool:
        """Whether a reason not to act differs from the one told last; a long tool loop need not hear it every time."""
        told, self._told = self._told, reason
        return told != reason
