"""Copies of session files to work on, complete with the pictures and artifacts that lie beside the original.

The original is only read. What is no session is refused before anything is written.
"""

import os
import re
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import platformdirs

from octavo.cli.daemon_child import CommandError
from octavo.sessions.library import Library
from octavo.sessions.listing import header_of
from octavo.sessions.paths import SUFFIX, checked_path, existing_file, expect_session
from octavo.sessions.side_folders import copy_side_folder
from octavo.sessions.state import side_folder
from octavo_client import Client
from octavo_protocol.errors import OctavoError

_REFERENCE = re.compile(rb"blob:sha256:([0-9a-f]{64})")
_CHUNK = 1 << 22
_OVERLAP = 128


def session_file(name: str) -> Path:
    """The regular file a user named, after a look at its head.

    Raises:
        OctavoError: session-not-found, session-unreadable, invalid-params, storage-failed.
    """
    real = existing_file(checked_path(name))
    try:
        expect_session(real)
    except OctavoError as error:
        if str(real) in error.message:
            raise
        raise OctavoError(error.kind, f"{real}: {error.message}") from error
    return real


def free_target(source: Path, wanted: str | None) -> Path:
    """Where a copy goes: the file the user named, else `<name>.compacted.jsonl` in the working directory.

    Raises:
        CommandError: the named file exists, or the folder its artifacts would be in.
    """
    if wanted is not None:
        target = checked_path(wanted)
        for place in (target, side_folder(target)):
            # Artifacts must not get among somebody else's files, and a copy that fails takes its folder with it.
            if os.path.lexists(place):
                raise CommandError(f"{place} exists; name another file with --out.")
        return target
    stem = source.name.removesuffix(SUFFIX)
    for number in count(1):
        target = Path.cwd() / f"{stem}.compacted{'' if number == 1 else f'-{number}'}{SUFFIX}"
        if not os.path.lexists(target) and not os.path.lexists(side_folder(target)):
            return target
    raise AssertionError("count() does not end")


async def sessions_folder(client: Client) -> Path:
    """The sessions folder of a daemon (see `server.hub`); pictures lie beside it."""
    answer = await client.settings_get(keys=["sessions.root"])
    named = answer.settings.get("sessions.root")
    return checked_path(named) if named else Path(platformdirs.user_data_dir("octavo")) / "sessions"


def copy_session(source: Path, target: Path, root: Path) -> None:
    """Copy a session with what belongs to it; `root` is the sessions folder the copy will be opened under.

    Raises:
        CommandError: the target's folder cannot be written.
        OSError: the copy failed.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"The folder {target.parent} cannot be made: {error.strerror}.") from error
    shutil.copyfile(source, target)
    copy_side_folder(source, target, (header_of(source) or {}).get("id"))
    theirs = Library(root).blobs_for(source)
    ours = Library(root).blobs_for(target)
    if ours.folder == theirs.folder:
        return
    for digest in sorted(set(_digests(source))):
        data = theirs.get(digest)
        if data is not None and ours.get(digest) is None:
            ours.put(data)


def begins_like(path: Path, other: Path) -> bool:
    """Whether a file is another one with something appended."""
    with path.open("rb") as longer, other.open("rb") as shorter:
        while piece := shorter.read(_CHUNK):
            if longer.read(len(piece)) != piece:
                return False
    return True


def remove_copy(target: Path) -> None:
    """Take back a copy at a free target that came to nothing; pictures stay, another session may show them."""
    target.unlink(missing_ok=True)
    shutil.rmtree(side_folder(target), ignore_errors=True)


def _digests(path: Path) -> Iterator[str]:
    """Digests of the pictures a file refers to, read piece by piece: a line may be as large as the file."""
    with path.open("rb") as stream:
        rest = b""
        while piece := stream.read(_CHUNK):
            for found in _REFERENCE.finditer(rest + piece):
                yield found[1].decode()
            rest = piece[-_OVERLAP:]
