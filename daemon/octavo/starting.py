"""Connecting to the one daemon of a user, and starting it when there is none.

Several processes may try at the same moment: whoever gets the lock starts it, the others find it running. Only the
standard library; what costs time is imported when a daemon really has to be started.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time

from octavo import discovery
from octavo.discovery import DiscoveryError, Places
from octavo_protocol.version import PROTOCOL_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from subprocess import Popen

START_S = 30.0
"""Seconds a daemon gets to come up, and an outdated one to end."""
TAKEN = 75
"""Exit code of a daemon that found another one in its place."""
MAX_LOG = 10 * 1024 * 1024
"""Bytes of the log above which it is put aside when a daemon starts."""
_POLL_S = 0.01


def connect(where: Places, *, start: bool = True) -> socket.socket:
    """Return a connection to the daemon, started if need be.

    An older daemon that speaks another version of the protocol is asked to end and replaced.

    Raises:
        DiscoveryError: None runs and none may be or can be started, or a newer one runs.
        OSError: The socket may not be connected to.
    """
    # Only who has the lock tells an outdated daemon to end: a second signal would make it drop what it is doing.
    if (link := _dial(where, replace=False)) is not None:
        return link
    if not start:
        raise DiscoveryError(
            f"No daemon that this octavo can speak to listens on {where.socket}; start one with: octavo serve --daemon"
        )
    discovery.prepare(where)
    lock = os.open(where.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _dial(where, replace=True) or _start(where)
    finally:
        os.close(lock)


def _dial(where: Places, *, replace: bool) -> socket.socket | None:
    """Connect to a daemon that speaks our protocol; None when there is none, or an older one (ended with `replace`)."""
    link = discovery.dial(where.socket)
    if link is None:
        return None
    said = discovery.record(where) or {}
    version, pid = said.get("protocolVersion"), discovery.peer_pid(link)
    # A record of another process is one that a killed daemon left, or a service manager holds the socket.
    if not isinstance(version, int) or version == PROTOCOL_VERSION or pid not in (None, said.get("pid")):
        return link
    link.close()
    if version > PROTOCOL_VERSION:
        raise DiscoveryError(
            f"The daemon on {where.socket} speaks protocol {version}, this octavo {PROTOCOL_VERSION}; update it."
        )
    if pid is None:
        raise DiscoveryError(f"The daemon on {where.socket} speaks the older protocol {version}; end it.")
    if replace:
        _replace(where, pid)
    return None


def _replace(where: Places, pid: int) -> None:
    """Let an outdated daemon finish what it is doing and end."""
    try:
        os.kill(pid, 15)
    except ProcessLookupError:
        # It has just ended by itself.
        return
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        link = discovery.dial(where.socket)
        if link is None:
            return
        link.close()
        time.sleep(_POLL_S)
    raise DiscoveryError(f"Daemon {pid} is outdated and does not end; end it and try again.")


def _start(where: Places) -> socket.socket:
    """Start a daemon and connect to it; one that is still ending is waited for."""
    deadline = time.monotonic() + START_S
    child = _spawn(where)
    while time.monotonic() < deadline:
        if (link := _dial(where, replace=True)) is not None:
            return link
        code = child.poll()
        if code == TAKEN:
            child = _spawn(where)
        elif code is not None:
            raise DiscoveryError(f"The daemon ended with code {code} before it listened; see {where.log}.")
        time.sleep(_POLL_S)
    child.kill()
    raise DiscoveryError(f"The daemon did not come up within {START_S:.0f} s; see {where.log}.")


def _spawn(where: Places) -> Popen[bytes]:
    import subprocess  # noqa: PLC0415 - see the module

    try:
        if os.stat(where.log).st_size > MAX_LOG:
            os.replace(where.log, f"{where.log}.1")
    except FileNotFoundError:
        pass
    log = os.open(where.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        return subprocess.Popen(
            # -P: a folder named `octavo` in the working directory must not be taken for the package.
            [sys.executable, "-P", "-m", "octavo", "serve", "--daemon"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(log)
