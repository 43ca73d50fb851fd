"""Sockets that a service manager opened for us (`LISTEN_FDS`, systemd's socket activation)."""

import os
import socket
from collections.abc import Mapping, MutableMapping

_FIRST = 3


def take_sockets(environment: MutableMapping[str, str], pid: int) -> list[socket.socket]:
    """Return the listening sockets that were passed to process `pid`, and hide them from its children.

    What is passed but does not listen as a unix or loopback stream is left alone.
    """
    if environment.get("LISTEN_PID") != str(pid):
        return []
    count = _count(environment)
    for name in ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"):
        environment.pop(name, None)
    found = []
    for fd in range(_FIRST, _FIRST + count):
        try:
            one = socket.socket(fileno=fd)
        except OSError:
            continue
        one.set_inheritable(False)
        if _usable(one):
            one.setblocking(False)
            found.append(one)
        else:
            one.detach()
    return found


def _count(environment: Mapping[str, str]) -> int:
    text = environment.get("LISTEN_FDS", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def _usable(one: socket.socket) -> bool:
    if one.type != socket.SOCK_STREAM or not one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        return False
    if one.family == socket.AF_UNIX:
        return True
    return one.family in (socket.AF_INET, socket.AF_INET6) and one.getsockname()[0] in ("127.0.0.1", "::1")


def process_environment() -> MutableMapping[str, str]:
    """The environment of this process, which `take_sockets` changes."""
    return os.environ
