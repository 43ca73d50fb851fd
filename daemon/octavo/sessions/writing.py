"""How an open session's changes reach the disk: everything here runs in a thread while the session's turn is held.

Encoding, the choice between appending, rewriting and creating the file, renaming it, and keeping what a rewrite
replaces. It reads the tree and changes only the file; `actor` applies what was written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from octavo.sessions.following import FollowingSession
from octavo.sessions.lease import Lease
from octavo.sessions.persistence import persist_line
from octavo.sessions.planning import Plan
from octavo.sessions.state import Line, side_folder
from octavo.sessions.store.disk import make_folder, rename_together
from octavo.sessions.store.offload import is_stub
from octavo.sessions.store.session_file import SessionFile
from octavo.sessions.store.side_lines import append_side_lines
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

ORIGINALS = "originals.jsonl"
"""File in the side folder with what rewrites replaced: lines `{entry, replacedAt, reason}`."""


@dataclass(slots=True)
class Outcome:
    """What the writing thread did: the stored form of each plan's entries, or the appends that cannot be encoded."""

    stored: list[list[Line]]
    foreign: list[JsonObject] = field(default_factory=list)
    rejected: dict[int, OctavoError] = field(default_factory=dict)


class WritingSession(FollowingSession):
    """Adds the blocking half of a change; see the module."""

    def _write(self, plans: Sequence[Plan]) -> Outcome:
        outcome = Outcome([])
        for number, plan in enumerate(plans):
            try:
                outcome.stored.append([persist_line(entry, self.blobs) for entry in plan.new])
            except (TypeError, ValueError, RecursionError) as error:
                message = f"An entry cannot be stored as JSON ({error}); correct it and append it again."
                outcome.rejected[number] = OctavoError(ErrorKind.INVALID_PARAMS, message, sessionId=self.session_id)
                outcome.stored.append([])
        lines = [line for stored in outcome.stored for line in stored]
        if lines and not outcome.rejected:
            outcome.foreign = self._write_lines(lines)
        return outcome

    def _write_lines(self, lines: Sequence[Line]) -> list[JsonObject]:
        """Bring the lines to disk in the way the state of the file asks for; returns foreign entries found thereby."""
        if self.path is None:
            return []
        if self._store is None:
            if any(_is_assistant(entry) for entry, _ in lines):
                self._materialise(lines)
            return []
        if self._store.must_rewrite:
            return self._rewrite_file(self.tree.header, {}, lines)
        self._store.append(lines, self._surroundings.now_ms())
        return []

    def _rewrite_file(
        self, header: JsonObject, replaced: Mapping[str, JsonObject], lines: Sequence[Line] = ()
    ) -> list[JsonObject]:
        assert self._store is not None
        now = self._surroundings.now_ms()
        return self._store.rewrite(header, self.tree.entries, replaced, lines, now)

    def _materialise(self, lines: Sequence[Line]) -> None:
        """Create the file with everything so far; the lease comes first."""
        assert self.path is not None
        make_folder(self.path.parent, self._surroundings.durability)
        lease = self._lease or Lease.acquire(self.path, self._surroundings.now_ms(), self.session_id)
        try:
            former = [persist_line(entry, self.blobs) for entry in self.tree.entries]
            self._store = SessionFile.create(
                self.path, self.tree.header, [*former, *lines], self._surroundings.durability
            )
        except BaseException:
            if self._lease is None:
                lease.release()
            raise
        self._lease = lease

    def _rename(self, new: Path) -> None:
        """Move file and side folder, both or neither, under the lease of the new place."""
        assert self.path is not None
        old, self_held = self.path, self._lease
        make_folder(new.parent, self._surroundings.durability)
        lease = Lease.acquire(new, self._surroundings.now_ms(), self.session_id)
        try:
            rename_together([(old, new), (side_folder(old), side_folder(new))], self._surroundings.durability)
        except BaseException:
            lease.release()
            raise
        if self_held is not None:
            self_held.release()
        self._lease = lease
        self.path = new
        if self._store is not None:
            self._store.file.path = new

    def _rewrite_entries(
        self, replaced: Mapping[str, JsonObject], originals: Sequence[JsonObject], reason: str
    ) -> tuple[dict[str, JsonObject], list[JsonObject]]:
        """Keep the originals, then rewrite; returns the stored entries and foreign ones found thereby."""
        stored = {entry_id: persist_line(entry, self.blobs)[0] for entry_id, entry in replaced.items()}
        if self.path is None or self._store is None:
            return stored, []
        now = self._surroundings.now_ms()
        kept = [
            {"entry": self._store.restore(old) if is_stub(old) else old, "replacedAt": now, "reason": reason}
            for old in originals
        ]
        append_side_lines(side_folder(self.path) / ORIGINALS, kept, self._surroundings.durability, now)
        return stored, self._rewrite_file(self.tree.header, stored)


def _is_assistant(entry: JsonObject) -> bool:
    message = entry.get("message")
    return entry.get("type") == "message" and isinstance(message, dict) and message.get("role") == "assistant"
