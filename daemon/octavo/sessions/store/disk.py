"""Bytes onto stable storage: full writes, flushes, exclusive creation, atomic replacement, and what failed in words.

This module knows files and folders, not sessions: it never looks at what the bytes mean.
Every failure of the operating system becomes `OctavoError(storage-failed)`; a caller that has to undo something
first catches `OSError` from the plain helpers (`write_all`, `flush_file`) and converts with `storage_failed`.
"""

import contextlib
import errno
import fcntl
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal
from uuid import uuid4

from octavo_protocol.errors import ErrorKind, OctavoError

Durability = Literal["fsync", "os"]
"""`fsync`: acknowledged bytes are on stable storage. `os`: they survive this process's death, not the machine's."""

_REMEDIES = {
    errno.ENOSPC: "free some disk space",
    errno.EDQUOT: "free some of the disk quota",
    errno.EFBIG: "raise the file size limit",
    errno.EACCES: "fix the permissions",
    errno.EPERM: "fix the permissions",
    errno.EROFS: "use a writable file system",
    errno.EIO: "check the disk",
}


NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
"""How file systems say that they have no hard links; those in user space say ENOSYS."""
_LOCAL = frozenset({"ext2", "ext3", "ext4", "xfs", "f2fs", "bcachefs", "tmpfs", "ramfs"})


def storage_failed(action: str, path: Path, error: OSError, **data: object) -> OctavoError:
    """Say what the disk refused, about which file, and what to do; `details.errno` is the symbolic name."""
    remedy = _REMEDIES.get(error.errno or 0, "check the disk")
    reason = error.strerror or str(error)
    name = errno.errorcode.get(error.errno or 0, "unknown")
    message = f"Could not {action} {path}: {reason}; {remedy} and try again."
    return OctavoError(ErrorKind.STORAGE_FAILED, message, details={"errno": name, "path": str(path)}, **data)


@contextlib.contextmanager
def storage_errors(action: str, path: Path) -> Iterator[None]:
    """Turn every `OSError` of the block into `storage-failed`."""
    try:
        yield
    except OSError as error:
        raise storage_failed(action, path, error) from error


def on_local_disk(path: Path) -> bool:
    """Whether the file is on a disk of this machine, as far as the system tells; network and FUSE never are."""
    try:
        device = path.stat().st_dev
        mounts = Path("/proc/self/mountinfo").read_text()
    except OSError:
        return False
    wanted = f"{os.major(device)}:{os.minor(device)}"
    kinds = {line.partition(" - ")[2].split(" ")[0] for line in mounts.splitlines() if line.split(" ")[2] == wanted}
    return bool(kinds) and kinds <= _LOCAL


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write every byte, however many calls that takes; raises `OSError` when the disk stops accepting them."""
    view = memoryview(data)
    while view:
        written = os.write(descriptor, view)
        if written == 0:
            raise OSError(errno.EIO, "the disk accepted no bytes")
        view = view[written:]


def flush_file(descriptor: int, durability: Durability) -> None:
    """Force the file's bytes to stable storage when the durability asks for it; raises `OSError`."""
    if durability == "os":
        return
    if sys.platform == "darwin":
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        return
    os.fsync(descriptor)


def flush_folder(folder: Path, durability: Durability) -> None:
    """Make creations, renames and deletions inside the folder survive a power cut; raises `OSError`."""
    if durability == "os":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network and FUSE file systems have no directory flush; their rename is durable by itself or never.
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(descriptor)


def make_folder(folder: Path, durability: Durability) -> None:
    """Create the folder and its missing parents (mode 0700), each one flushed into its parent."""
    missing = []
    cursor = folder
    with storage_errors("create the folder", folder):
        while not cursor.is_dir():
            missing.append(cursor)
            cursor = cursor.parent
        for path in reversed(missing):
            path.mkdir(mode=0o700, exist_ok=True)
            flush_folder(path.parent, durability)


def temporary_beside(path: Path) -> Path:
    """A name in the same folder that listings ignore: `.<name>.<random>.tmp`."""
    return path.parent / f".{path.name}.{uuid4().hex[:12]}.tmp"


def remove_leftovers(path: Path) -> None:
    """Remove temporaries of this file that a killed process left; the caller holds the file's lease."""
    pattern = re.compile(re.escape(f".{path.name}.") + r"[0-9a-f]{12}\.tmp")
    with contextlib.suppress(OSError), os.scandir(path.parent) as found:
        for item in found:
            if pattern.fullmatch(item.name):
                Path(item.path).unlink(missing_ok=True)


def create_exclusively(path: Path, chunks: Iterable[bytes], durability: Durability, mode: int = 0o600) -> None:
    """Make a new file appear with its whole content or not at all.

    Raises:
        FileExistsError: Something has this name already; it is untouched.
        OctavoError: `storage-failed`.
    """
    temporary = write_temporary(path, chunks, durability, mode)
    try:
        _link_or_rename(temporary, path)
        flush_folder(path.parent, durability)
    except FileExistsError:
        raise
    except OSError as error:
        raise storage_failed("create", path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _link_or_rename(source: Path, target: Path) -> None:
    """A hard link refuses an existing name atomically; where there are none, rename after looking."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _rename_unless_present(source, target)


def _rename_unless_present(source: Path, target: Path) -> None:
    """For file systems without hard links; the tiny window between check and rename is covered by the lease."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    source.rename(target)


def write_temporary(path: Path, chunks: Iterable[bytes], durability: Durability, mode: int = 0o600) -> Path:
    """Write a flushed temporary beside `path` and return it; nothing is left behind when that fails."""
    temporary = temporary_beside(path)
    try:
        with storage_errors("write", path):
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            try:
                for chunk in chunks:
                    write_all(descriptor, chunk)
                os.fchmod(descriptor, mode)
                flush_file(descriptor, durability)
            finally:
                os.close(descriptor)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def replace_atomically(path: Path, chunks: Iterable[bytes], durability: Durability) -> None:
    """Replace (or create) a file so that readers see the old content or the new, never a mixture."""
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
    temporary = write_temporary(path, chunks, durability, mode)
    try:
        with storage_errors("replace", path):
            temporary.replace(path)
            flush_folder(path.parent, durability)
    finally:
        temporary.unlink(missing_ok=True)


def rename_together(pairs: Sequence[tuple[Path, Path]], durability: Durability) -> None:
    """Rename every source that exists to its target; all of them or none, and nothing is overwritten.

    Raises:
        OctavoError: `storage-failed`.
    """
    done: list[tuple[Path, Path]] = []
    source, target = pairs[0]
    try:
        for source, target in pairs:
            if os.path.lexists(source):
                _rename_unless_present(source, target)
                done.append((source, target))
        for folder in {place.parent for pair in pairs for place in pair}:
            flush_folder(folder, durability)
    except OSError as error:
        for moved, to in reversed(done):
            to.rename(moved)
        raise storage_failed("move", source, error) from error
