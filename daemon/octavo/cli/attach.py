"""Connect stdin and stdout to the one daemon of this user, starting it when there is none.

For editors and agents that start a language server as a child process. Exit code: 0 after `exit` or the end of input; 1
when the daemon hung up by itself; 2 when there is none and none can be started.
"""

from __future__ import annotations

import _thread
import os
import sys

from octavo import discovery, starting

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

CHUNK = 1 << 18
"""Bytes moved at once, in either direction."""
REPLAY = 1 << 20
"""Bytes of a client that are kept until the daemon has said its first word, in case it was just ending."""
ATTEMPTS = 3
"""Times that a daemon which hangs up before its first word is replaced."""
_EXITS = 4096
_SHUT_WR = 1


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of `octavo attach`."""
    parser.add_argument("--no-start", action="store_true", help="fail when no daemon runs instead of starting one")


def run(arguments: Namespace) -> int:
    """Pump bytes until one side ends."""
    return attach(start=not arguments.no_start)


def attach(*, start: bool = True) -> int:
    """Connect and pump; see the module for the exit code."""
    where = discovery.places(os.environ)
    try:
        link = starting.connect(where, start=start)
    except (discovery.DiscoveryError, OSError) as error:
        return _fail(2, str(error))
    try:
        return _Pump(link, lambda: starting.connect(where, start=start)).run()
    except (discovery.DiscoveryError, OSError) as error:
        return _fail(1, str(error))
    except KeyboardInterrupt:
        return 130


class _Pump:
    """Bytes in both directions, each with a thread that blocks: a side that does not read stops the other one.

    Args:
        link: The daemon.
        again: Connects anew.
    """

    def __init__(self, link: socket.socket, again: Callable[[], socket.socket]) -> None:
        self._link = link
        self._again = again
        self._lock = _thread.allocate_lock()
        self._replay: bytearray | None = bytearray()
        self._last = b""
        self._ended = False

    def run(self) -> int:
        """Pump until the daemon hangs up or nobody reads our output."""
        _thread.start_new_thread(self._feed, ())
        attempts = 0
        while True:
            data = self._receive()
            if data:
                self._replay = None
                if not _write_out(data):
                    return 0
            elif self._replay and attempts < ATTEMPTS and not self._said_exit():
                attempts += 1
                self._reconnect()
            elif self._ended or self._said_exit():
                return 0
            else:
                return _fail(1, "the daemon hung up; start again to reconnect.")

    def _receive(self) -> bytes:
        try:
            return self._link.recv(CHUNK)
        except ConnectionError:
            return b""

    def _reconnect(self) -> None:
        """Say everything again to another daemon: the first one ended before it answered."""
        with self._lock:
            self._link.close()
            self._link = self._again()
            self._link.sendall(self._replay or b"")
            if self._ended:
                self._link.shutdown(_SHUT_WR)

    def _feed(self) -> None:
        """Pass input on until it ends."""
        while data := _read_in():
            self._last = (self._last + data)[-_EXITS:]
            with self._lock:
                replay = self._replay
                if replay is not None:
                    replay += data
                    if len(replay) > REPLAY:
                        self._replay = None
                try:
                    self._link.sendall(data)
                except OSError:
                    if self._replay is None:
                        return
        with self._lock:
            self._ended = True
            try:
                self._link.shutdown(_SHUT_WR)
            except OSError:
                # It hung up first, which the other thread sees.
                return

    def _said_exit(self) -> bool:
        return b'"exit"' in self._last


def _read_in() -> bytes:
    try:
        return os.read(0, CHUNK)
    except OSError:
        # A terminal that is gone, or no stdin at all: the same as its end.
        return b""


def _write_out(data: bytes) -> bool:
    """Write all of it; False when nobody reads any more."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(1, view) :]
        except BrokenPipeError:
            return False
    return True


def _fail(code: int, message: str) -> int:
    sys.stderr.write(f"octavo attach: {message}\n")
    return code
