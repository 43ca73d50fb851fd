"""One writer per session file across processes: an advisory lock on a sidecar that dies with its owner.

The lock is `flock` on `.<name>.lock` beside the session, so the kernel releases it when the owner is killed; the
sidecar's content (pid, host, start time) only serves the message to whoever comes second. Programs that do not know
the lease are not kept out: `store.jsonl` notices what they do to the file.
"""

import contextlib
import errno
import fcntl
import os
import socket
from pathlib import Path

import orjson

from octavo.sessions.store.disk import storage_failed
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError


def lock_path(path: Path) -> Path:
    """The sidecar of a session file; a dot file, so listings and other programs pass over it."""
    return path.parent / f".{path.name}.lock"


class Lease:
    """The right to write one session file, held until `release` or the end of the process."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, path: Path, now_ms: int, session_id: str | None = None) -> "Lease":
        """Take the lease of the session file at `path`.

        Raises:
            OctavoError: `session-locked` naming the owner's pid, host and start in `details`; `storage-failed` when
                the folder refuses a lock file.
        """
        sidecar = lock_path(path)
        while True:
            descriptor = _open(sidecar)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                owner = _owner(descriptor)
                os.close(descriptor)
                if error.errno in {errno.EWOULDBLOCK, errno.EACCES}:
                    raise _locked(path, owner, session_id) from error
                raise storage_failed("lock", path, error) from error
            if _same_file(descriptor, sidecar):
                break
            # The former owner removed the sidecar between our open and our lock: a new one may exist already.
            os.close(descriptor)
        _record_owner(descriptor, now_ms)
        return cls(path, descriptor)

    @property
    def held(self) -> bool:
        """Whether this object still keeps others out."""
        return self._descriptor >= 0

    def release(self) -> None:
        """Let others write; removes the sidecar. Harmless when repeated."""
        if self._descriptor < 0:
            return
        with contextlib.suppress(OSError):
            lock_path(self.path).unlink()
        os.close(self._descriptor)
        self._descriptor = -1


def _open(sidecar: Path) -> int:
    try:
        return os.open(sidecar, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise storage_failed("lock with", sidecar, error) from error


def _same_file(descriptor: int, path: Path) -> bool:
    held = os.fstat(descriptor)
    try:
        found = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return False
    return (held.st_dev, held.st_ino) == (found.st_dev, found.st_ino)


def _record_owner(descriptor: int, now_ms: int) -> None:
    # A full disk must not prevent opening: the lock is the flock, the words are a courtesy.
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, orjson.dumps({"pid": os.getpid(), "host": socket.gethostname(), "startedAt": now_ms}), 0)


def _owner(descriptor: int) -> JsonObject:
    try:
        owner = orjson.loads(os.pread(descriptor, 4096, 0))
    except (OSError, orjson.JSONDecodeError):
        return {}
    return owner if isinstance(owner, dict) else {}


def _locked(path: Path, owner: JsonObject, session_id: str | None) -> OctavoError:
    who = f"process {owner.get('pid', 'unknown')} on {owner.get('host', 'an unknown host')}"
    message = f"The session file {path} is being written by {who}; open it with mode read, or close it there."
    data = {"sessionId": session_id} if session_id else {}
    return OctavoError(ErrorKind.SESSION_LOCKED, message, details={**owner, "path": str(path)}, **data)
