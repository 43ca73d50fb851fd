"""What is counted over the whole tree of an open session: messages and usage, without counting anything twice.

Entries in a tree are immutable and only appended, so counting goes on where it stopped; a rewrite of the file by
another program or of single entries starts it anew.
"""

from octavo.sessions.live import LiveSession
from octavo.sessions.statistics import UsageStatistics, usage_statistics
from octavo.sessions.tree import is_leaf_marker
from octavo_protocol.base import JsonObject


class SessionNumbers:
    """Running totals of one session."""

    def __init__(self) -> None:
        self.entries = 0
        """Entries of the tree, markers not counted."""
        self.messages = 0
        """Entries of type `message`."""
        self.usage = UsageStatistics()
        """Sums over all of them."""
        self.seen = 0
        """Entries counted so far, markers included."""
        self._epoch = ""
        self._seq = 0

    def update(self, live: LiveSession) -> None:
        """Bring the totals up to what the session holds now; linear in what is new."""
        epoch, seq, end = live.epoch, live.seq, len(live.tree.entries)
        if self._must_restart(live):
            self.entries = self.messages = self.seen = 0
            self.usage = UsageStatistics()
        new = live.tree.entries[self.seen : end]
        shown = [entry for entry in new if not is_leaf_marker(entry)]
        self.entries += len(shown)
        self.messages += sum(entry.get("type") == "message" for entry in shown)
        _add(self.usage, usage_statistics(shown))
        self._epoch, self._seq, self.seen = epoch, seq, end

    def usage_to_wire(self) -> JsonObject:
        """Return the `TokenUsage` object of the protocol."""
        usage = self.usage
        return {
            "input": int(usage.input),
            "output": int(usage.output),
            "cacheRead": int(usage.cache_read),
            "cacheWrite": int(usage.cache_write),
            "premiumRequests": usage.premium_requests,
            "cost": usage.cost,
        }

    def _must_restart(self, live: LiveSession) -> bool:
        if live.epoch != self._epoch or len(live.tree.entries) < self.seen:
            return True
        changes = live.changes_since(self._seq)
        return changes is None or any(change.kind == "rewritten" for change in changes)


def _add(total: UsageStatistics, more: UsageStatistics) -> None:
    for name in UsageStatistics.__slots__:
        setattr(total, name, getattr(total, name) + getattr(more, name))
