"""Stop automatic attempts after three failures in a row, until something changes (protocol.md §6).

What counts as change: a success, other settings, another model, or a context that grew by a margin since.
"""

from dataclasses import dataclass

LIMIT = 3
GROWTH = 1.1
"""A context this many times larger than at the last failure is worth another attempt."""


@dataclass(slots=True)
class Breaker:
    """Counts failures of one session's automatic maintenance."""

    failures: int = 0
    _tokens: int = 0
    _circumstances: object = None

    def failed(self, tokens: int, circumstances: object) -> bool:
        """Count a failure; True when this one opened the breaker."""
        self.failures += 1
        self._tokens, self._circumstances = tokens, circumstances
        return self.failures == LIMIT

    def succeeded(self) -> None:
        """Forget all failures."""
        self.failures = 0

    def refuses(self, tokens: int, circumstances: object) -> bool:
        """Whether an automatic attempt must not be made now.

        Args:
            tokens: Size of the context now.
            circumstances: Whatever would make another attempt worthwhile when it differs (settings, model).
        """
        if self.failures < LIMIT:
            return False
        if circumstances != self._circumstances or tokens > self._tokens * GROWTH:
            self.failures = 0
            return False
        return True
