"""The folder beside a session file: what in it is the session's, so that nobody else's files are copied or deleted.

A session in the sessions folder has its id in its name, and a folder of that name can only be its own. A file that a
user named may be `project.jsonl` beside the folder `project`, which is then the user's work: of such a folder only the
files that we write count as the session's.
"""

import re
import shutil
from pathlib import Path

from octavo.sessions.state import side_folder

_OURS = re.compile(r"\d+\.[A-Za-z0-9_-]+\.log|\.?originals\.jsonl(?:\..*)?|index\..*|vanished-.*\.jsonl|handoff-.*\.md")
_MIN_ID = 8
"""Characters of an id that nobody calls a folder by chance."""


def carries_id(path: Path, session_id: object) -> bool:
    """Whether the name of a session file, and so of its side folder, says which session it is."""
    return isinstance(session_id, str) and len(session_id) >= _MIN_ID and path.stem.endswith(f"_{session_id}")


def copy_side_folder(source: Path, target: Path, session_id: object, *, ignore: tuple[str, ...] = ()) -> None:
    """Copy what belongs to the session file `source` to where it belongs to `target`; raises `OSError`."""
    beside = side_folder(source)
    if not beside.is_dir():
        return
    if carries_id(source, session_id):
        ignored = shutil.ignore_patterns(*ignore)
        shutil.copytree(beside, side_folder(target), symlinks=True, dirs_exist_ok=True, ignore=ignored)
        return
    for path in _own_files(beside):
        if not any(path.match(pattern) for pattern in ignore):
            side_folder(target).mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, side_folder(target) / path.name)


def remove_side_folder(path: Path, session_id: object) -> list[Path]:
    """Remove the folder of a session file if all of it is the session's; returns what is gone; raises `OSError`.

    Of a link the link is removed, never what it leads to.
    """
    folder = side_folder(path)
    ours = carries_id(path, session_id)
    if folder.is_symlink() and ours:
        folder.unlink()
        return [folder]
    if folder.is_symlink() or not folder.is_dir():
        return []
    if not ours and len(_own_files(folder)) < len(list(folder.iterdir())):
        return []
    shutil.rmtree(folder)
    return [folder]


def _own_files(folder: Path) -> list[Path]:
    found = (path for path in folder.iterdir() if not path.is_symlink() and path.is_file())
    return sorted(path for path in found if _OURS.fullmatch(path.name))
