"""Take a session off the disk: its file, its link if it was named by one, and its side folder; nothing else.

What is no session is refused and stays, as does a folder of the same name that holds other things than the session's.
"""

import os
from pathlib import Path

from octavo.sessions.lease import Lease
from octavo.sessions.listing import header_of
from octavo.sessions.paths import existing_file, expect_session
from octavo.sessions.side_folders import remove_side_folder
from octavo.sessions.store.disk import Durability, flush_folder, storage_errors


def delete_session(path: Path, now_ms: int, durability: Durability) -> list[Path]:
    """Remove a session file and its side folder; returns what is gone (nothing when there was nothing).

    Raises:
        OctavoError: `session-unreadable` when the file is no session, `session-locked`, `storage-failed`.
    """
    if not os.path.lexists(path):
        return []
    real = existing_file(path)
    expect_session(real)
    session_id = (header_of(real) or {}).get("id")
    lease = Lease.acquire(real, now_ms)
    removed: list[Path] = []
    try:
        with storage_errors("delete", path):
            for place in {real, path}:
                place.unlink(missing_ok=True)
                removed.append(place)
            removed += remove_side_folder(real, session_id)
            flush_folder(real.parent, durability)
    finally:
        lease.release()
    return sorted(removed)
