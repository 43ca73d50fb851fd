"""Take a failed turn out of the active context before it is tried again, and put it back when that fails.

The turn is never deleted: the leaf goes back to its parent, the turn stays in the tree as a branch of its own
(engine.md §17c 107).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from octavo.maintenance.findings import Turn, is_last_message
from octavo.sessions.live import LiveSession
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

_OWN = ("id", "parentId", "timestamp")


@dataclass(frozen=True, slots=True)
class Dropped:
    """A turn that was taken out: its entry, the leaf before, and the leaf after (the same where nothing moved)."""

    entry_id: str
    old_leaf_id: str | None
    leaf_id: str | None

    @property
    def moved(self) -> bool:
        """Whether the leaf moved."""
        return self.old_leaf_id != self.leaf_id


async def drop_turn(session: LiveSession, path: Sequence[JsonObject], turn: Turn) -> Dropped:
    """Move the leaf to before the turn; settings that were changed after it come along.

    A turn that the conversation has gone on from stays where it is.

    Raises:
        OctavoError: `content-modified` when the leaf has moved meanwhile, `storage-failed`.
    """
    old = session.leaf_id
    if not is_last_message(path, turn):
        return Dropped(turn.entry_id, old, old)
    parent = path[turn.position - 1]["id"] if turn.position else None
    after = [{k: v for k, v in entry.items() if k not in _OWN} for entry in path[turn.position + 1 :]]
    if after:
        done = await session.append(after, parent_id=parent, expected_leaf_id=old)
        return Dropped(turn.entry_id, old, done.leaf_id)
    await session.set_leaf(parent, expected_leaf_id=old)
    return Dropped(turn.entry_id, old, parent)


async def put_back(session: LiveSession, dropped: Dropped) -> bool:
    """Make the failed turn part of the context again, unless something was appended meanwhile; says whether it is."""
    if not dropped.moved:
        return True
    try:
        await session.set_leaf(dropped.old_leaf_id, expected_leaf_id=dropped.leaf_id)
    except OctavoError as error:
        if error.kind is not ErrorKind.CONTENT_MODIFIED:
            raise
        return False
    return True
