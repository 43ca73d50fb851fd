"""Where the one daemon of a user is found: its folder, its socket, its record, its token; and how it is called.

Only the standard library, and little of it: `octavo attach` loads this in the time an editor waits. What the record
says is a hint; the truth is whether the socket can be connected to. Serving is `octavo.server`'s subject.
"""

from __future__ import annotations

import os
import socket
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VARIABLE = "OCTAVO_RUNTIME_DIR"
"""Environment variable that names the folder in which `octavo/` with the daemon's socket lies."""


class DiscoveryError(Exception):
    """The daemon's folder cannot be used; the message says why and what to do."""


class Places:
    """Paths of one daemon.

    Args:
        folder: Mode 0700; everything but the log lies in it.
        state: Folder of the log.
    """

    __slots__ = ("folder", "lock", "log", "record", "socket", "token")

    def __init__(self, folder: str, state: str) -> None:
        self.folder = folder
        self.socket = os.path.join(folder, "daemon.sock")
        """The unix socket."""
        self.record = os.path.join(folder, "daemon.json")
        """What the daemon says of itself: see `record`."""
        self.token = os.path.join(folder, "token")
        """The secret of clients on TCP and WebSocket, mode 0600."""
        self.lock = os.path.join(folder, "start.lock")
        """Held by whoever is starting the daemon."""
        self.log = os.path.join(state, "daemon.log")
        """The log of a daemon that `octavo attach` started."""


def places(environment: Mapping[str, str]) -> Places:
    """Return where a user's daemon lives.

    `$OCTAVO_RUNTIME_DIR/octavo`, else `$XDG_RUNTIME_DIR/octavo`, else `octavo/run` in the user's state folder. The log
    is in the state folder, or beside the socket when `OCTAVO_RUNTIME_DIR` is set.
    """
    home = environment.get("HOME") or os.path.expanduser("~")
    state = environment.get("XDG_STATE_HOME") or ""
    state = os.path.join(state if os.path.isabs(state) else os.path.join(home, ".local", "state"), "octavo")
    if named := environment.get(VARIABLE):
        folder = os.path.join(os.path.abspath(named), "octavo")
        state = folder
    elif os.path.isdir(system := environment.get("XDG_RUNTIME_DIR") or "") and os.path.isabs(system):
        folder = os.path.join(system, "octavo")
    else:
        folder = os.path.join(state, "run")
    return Places(folder, state)


def prepare(where: Places) -> None:
    """Make the folders, for their owner alone.

    Raises:
        DiscoveryError: A folder cannot be made, or belongs to another user.
    """
    for folder in (os.path.dirname(where.log), where.folder):
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise DiscoveryError(f"Cannot make the folder {folder}: {error.strerror}; set {VARIABLE}.") from error
    found = os.lstat(where.folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise DiscoveryError(f"{where.folder} is no folder of this user; remove it or set {VARIABLE}.")
    if found.st_mode & 0o077:
        os.chmod(where.folder, 0o700)


def record(where: Places) -> dict[str, Any] | None:
    """Return what the daemon last wrote of itself, or None when there is nothing readable.

    `{pid, socket, tcpPort?, websocketPort?, tokenFile?, version, protocolVersion, startedAtMs}`
    """
    import json  # noqa: PLC0415 - not needed where the record is not looked at

    try:
        with open(where.record, "rb") as file:
            found = json.loads(file.read(65_536))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def write_private(path: str, content: bytes) -> None:
    """Put a file of mode 0600 in place at once; readers see the old one or the new one whole.

    Raises:
        OSError: It cannot be written.
    """
    draft = f"{path}.{os.getpid()}"
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(fd)
        os.replace(draft, path)
    except OSError:
        os.unlink(draft)
        raise


def dial(path: str) -> socket.socket | None:
    """Connect to a daemon's socket; None when nobody listens there.

    Raises:
        OSError: Somebody might listen, but this process may not connect, or the path cannot be one.
    """
    link = socket.socket(socket.AF_UNIX)
    try:
        link.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        link.close()
        return None
    except OSError:
        link.close()
        raise
    return link


def peer_pid(link: socket.socket) -> int | None:
    """Return the process that listens at the other end, where the system tells."""
    try:
        if sys.platform == "linux":
            return int.from_bytes(link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], sys.byteorder)
        if sys.platform == "darwin":
            # SOL_LOCAL and LOCAL_PEERPID, which the standard library does not name.
            return link.getsockopt(0, 2)
    except OSError:
        return None
    return None
