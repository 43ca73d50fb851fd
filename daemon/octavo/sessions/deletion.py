"""Take a session off the disk: its file, its link if it was named by one, and its side folder; nothing else.

What is no session is refused and stays; a link is removed, never what it leads to outside.
"""

import os
import shutil
from pathlib import Path

from octavo.sessions.lease import Lease
from octavo.sessions.paths import existing_file, expect_session
from octavo.sessions.state import side_folder
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
    lease = Lease.acquire(real, now_ms)
    removed: list[Path] = []
    try:
        with storage_errors("delete", path):
            for place in {real, path}:
                place.unlink(missing_ok=True)
                removed.append(place)
            if _remove_tree(folder := side_folder(real)):
                removed.append(folder)
            flush_folder(real.parent, durability)
    finally:
        lease.release()
    return sorted(removed)


def _remove_tree(folder: Path) -> bool:
    if folder.is_symlink():
        folder.unlink()
        return True
    if not folder.is_dir():
        return False
    shutil.rmtree(folder)
    return True
