"""Which names and paths a session may have, and how a name given by a person finds its file.

Ids are names, never paths: they are looked up inside the sessions folder and nothing that a link leads out of it to is
touched. A path, on the other hand, is the user's own word: links are followed and the file may be anywhere.
"""

import logging
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from octavo.sessions.lines import parse_lines
from octavo.sessions.reading import parse_session_lines
from octavo.sessions.recovery import scrub_surrogates
from octavo.sessions.store.disk import storage_errors, storage_failed
from octavo_protocol.errors import ErrorKind, OctavoError

_LOG = logging.getLogger(__name__)
SUFFIX = ".jsonl"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HEAD_BYTES = 1 << 20
_BACKUP = re.compile(r"(?P<primary>.+\.jsonl)\.[0-9A-Za-z]+\.bak")


def checked_name(name: str) -> str:
    """An id, or the beginning of an id or file name, that cannot be taken for a path.

    Raises:
        OctavoError: `invalid-params`.
    """
    if not _ID.fullmatch(name) or ".." in name:
        shown = name[:80].encode("unicode_escape").decode()
        message = f"{shown!r} is not a session id; give an id, the beginning of one, or open the file by its path."
        raise OctavoError(ErrorKind.INVALID_PARAMS, message)
    return name


def checked_path(path: str | Path, base: Path | None = None) -> Path:
    """The path as an absolute one, `~` expanded, links in it not yet followed.

    Raises:
        OctavoError: `invalid-params` for an empty path, and for control characters or broken ones in it.
    """
    text = str(path)
    if not text or _CONTROL.search(text) or not _encodes(text):
        shown = text[:200].encode("unicode_escape").decode()
        message = f"{shown!r} is not a path for a session: it is empty or holds control characters or broken ones."
        raise OctavoError(ErrorKind.INVALID_PARAMS, message)
    try:
        expanded = Path(text).expanduser()
    except RuntimeError as error:
        raise OctavoError(ErrorKind.INVALID_PARAMS, f"{text!r} names a home directory that does not exist.") from error
    return expanded if expanded.is_absolute() else (base or Path.cwd()) / expanded


def checked_cwd(cwd: str) -> str:
    """A working directory that a header can hold and a folder be named after.

    Raises:
        OctavoError: `invalid-params` when it is not absolute, or holds control characters or lone surrogates.
    """
    if Path(cwd).is_absolute() and not _CONTROL.search(cwd) and scrub_surrogates(cwd) == cwd:
        return cwd
    shown = cwd[:200].encode("unicode_escape").decode()
    message = f"The working directory {shown!r} must be an absolute path without control characters or broken ones."
    raise OctavoError(ErrorKind.INVALID_PARAMS, message, details=[{"loc": ["cwd"], "msg": message}])


def existing_file(path: Path) -> Path:
    """The regular file at the end of all links.

    Raises:
        OctavoError: `session-not-found`; `session-unreadable` for folders, devices and pipes, which are not opened.
    """
    try:
        real = path.resolve(strict=True)
        found = real.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise OctavoError(ErrorKind.SESSION_NOT_FOUND, f"There is no file {path}; check the path.") from error
    except RuntimeError as error:
        message = f"{path} is a circle of links; check the path."
        raise OctavoError(ErrorKind.SESSION_NOT_FOUND, message) from error
    except OSError as error:
        raise storage_failed("open", path, error) from error
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "not a regular file"
        message = f"{path} is {what}, so it is not a session; it was left untouched."
        raise OctavoError(ErrorKind.SESSION_UNREADABLE, message, details={"reason": "not-a-file"})
    return real


def expect_session(path: Path) -> None:
    """Refuse a file that is no session before anything is created beside it (BR-011).

    Raises:
        OctavoError: `session-unreadable`, `storage-failed`.
    """
    with storage_errors("read", path), path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
        if b"\n" not in head:
            # However long the first line is: what is not known to be a session must not be deleted as one.
            head += stream.readline()
        parse_session_lines(parse_lines(head))


def session_files(folder: Path) -> Iterator[Path]:
    """The session files directly inside a folder; hidden files and what links lead out of `folder` to are left out."""
    for item in _scan(folder):
        if not item.name.endswith(SUFFIX) or item.name.startswith("."):
            continue
        if item.is_symlink() and not _inside(Path(item.path), folder):
            continue
        if item.is_file():
            yield Path(item.path)


def project_folders(root: Path) -> list[Path]:
    """The folders of the sessions root, one per working directory; links out of the root are left out."""
    return sorted(
        Path(item.path)
        for item in _scan(root)
        if item.is_dir() and not item.name.startswith(".") and (not item.is_symlink() or _inside(Path(item.path), root))
    )


def matching(folder: Path, name: str) -> list[Path]:
    """Files whose id, stem, or part of the stem after the last `_`, begins with `name`, whatever its case."""
    wanted = name.lower()
    hits = []
    for path in session_files(folder):
        stem = path.name.removesuffix(SUFFIX).lower()
        if stem.startswith(wanted) or stem.rpartition("_")[2].startswith(wanted):
            hits.append(path)
    return hits


def restore_orphaned_backups(folder: Path) -> list[Path]:
    """Rename `<file>.jsonl.<id>.bak` back where its primary is gone, the newest first; returns the restored files.

    Some programs replace a file by moving it aside first; a crash in between leaves only the backup.
    """
    newest: dict[Path, tuple[int, Path]] = {}
    for item in _scan(folder):
        match = _BACKUP.fullmatch(item.name)
        if match is None or not item.is_file(follow_symlinks=False):
            continue
        primary = folder / match["primary"]
        age = item.stat().st_mtime_ns
        if not os.path.lexists(primary) and age > newest.get(primary, (-1, primary))[0]:
            newest[primary] = (age, Path(item.path))
    restored = []
    for primary, (_, backup) in newest.items():
        with storage_errors("restore", primary):
            backup.rename(primary)
        restored.append(primary)
    return restored


def _scan(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except FileNotFoundError:
        return []
    except OSError as error:
        # Somebody else's folder must not hide everybody's sessions.
        _LOG.warning("passing over the folder %s: %s", folder, error.strerror)
        return []


def _encodes(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve(strict=True).is_relative_to(folder.resolve(strict=True))
    except (OSError, RuntimeError):
        return False
