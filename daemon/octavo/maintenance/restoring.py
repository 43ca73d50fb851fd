"""Give a branch back what was blanked after its end: whoever goes back to before a prune sees the outputs again.

Rewrites keep the former entries beside the session (`LiveSession.rewrite`); this puts them back where the leaf is older
than the rewrite (known failure BR-022). What was rewritten before the leaf existed stays as it is.
"""

from pathlib import Path

import anyio.to_thread

from octavo.sessions.actor import ORIGINALS
from octavo.sessions.ids import epoch_ms
from octavo.sessions.live import LiveSession
from octavo.sessions.store.side_lines import read_side_lines
from octavo.sessions.tree import SessionTree
from octavo_protocol.base import JsonObject


async def restore_rewritten(session: LiveSession) -> tuple[str, ...]:
    """Restore the entries of the branch that were rewritten after its last entry; returns their ids.

    Raises:
        OctavoError: `storage-failed`; the leaf has moved nevertheless.
    """
    folder = session.side_folder
    path = session.branch()
    if folder is None or not path:
        return ()
    end = max((epoch_ms(entry.get("timestamp")) or 0 for entry in path), default=0)
    ids = {entry["id"] for entry in path}
    former = await anyio.to_thread.run_sync(_former, folder / ORIGINALS, ids, end)
    if not former:
        return ()

    def put_back(tree: SessionTree) -> list[JsonObject]:
        return [former[entry_id] for entry_id in former if tree.get(entry_id) != former[entry_id]]

    return await session.rewrite(put_back, "restored")


def _former(path: Path, ids: set[str], after_ms: int) -> dict[str, JsonObject]:
    """What each entry was before its first rewrite after a moment."""
    found: dict[str, JsonObject] = {}
    for line in read_side_lines(path):
        entry, replaced_at = line.get("entry"), line.get("replacedAt")
        if not isinstance(entry, dict) or not isinstance(replaced_at, int | float) or replaced_at <= after_ms:
            continue
        if entry.get("id") in ids and line.get("reason") != "restored":
            found.setdefault(entry["id"], entry)
    return found
