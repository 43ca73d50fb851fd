"""How long to pause before trying again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Growing, jittered pauses.

    Attributes:
        initial_s: Seconds before the first retry.
        max_s: Seconds at most.
        factor: Growth from one pause to the next.
        jitter: Share of a pause that is random, so that many clients do not come at once: 0 to 1.
        attempts: Attempts in a row before giving up.
    """

    initial_s: float = 0.25
    max_s: float = 10.0
    factor: float = 2.0
    jitter: float = 0.3
    attempts: int = 16

    def pause_s(self, retry: int, random: float) -> float:
        """Return the seconds to pause before retry number `retry`, from 1; `random` is from 0 to 1."""
        full = self.initial_s
        for _ in range(retry - 1):
            if full >= self.max_s:
                break
            full *= self.factor
        return min(self.max_s, full) * (1 - self.jitter * random)


BACKOFF = Backoff()
"""A quarter of a second at first, ten seconds at most, and up to about two minutes in all."""
