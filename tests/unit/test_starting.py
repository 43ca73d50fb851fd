"""Replacing an outdated daemon when several programs find it at the same moment."""

import fcntl
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from octavo import discovery, starting
from octavo_protocol.version import PROTOCOL_VERSION

OLD_PID = 4_000_000


class OldDaemon:
    """Listens in the imagination of `starting`: speaks an older protocol and ends when it is told to."""

    def __init__(self, where: discovery.Places) -> None:
        self.where = where
        self.alive = True
        self.lock_held: list[bool] = []

    def dial(self, _: str) -> socket.socket | None:
        return socket.socket(socket.AF_UNIX) if self.alive else None

    def kill(self, pid: int, _: int) -> None:
        assert pid == OLD_PID
        self.lock_held.append(locked(self.where))
        self.alive = False


def locked(where: discovery.Places) -> bool:
    if not Path(where.lock).exists():
        return False
    with Path(where.lock).open() as other:
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> discovery.Places:
    found = discovery.places({discovery.VARIABLE: str(tmp_path)})
    monkeypatch.setattr(discovery, "record", lambda _: {"protocolVersion": PROTOCOL_VERSION - 1, "pid": OLD_PID})
    monkeypatch.setattr(discovery, "peer_pid", lambda _: OLD_PID)
    return found


def new_daemon(monkeypatch: pytest.MonkeyPatch) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    monkeypatch.setattr(starting, "_start", lambda _: link)
    return link


def test_an_outdated_daemon_is_told_to_end_only_by_whoever_has_the_lock(
    where: discovery.Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second signal would make it drop what it is doing."""
    daemon = OldDaemon(where)
    monkeypatch.setattr(discovery, "dial", daemon.dial)
    monkeypatch.setattr(os, "kill", daemon.kill)
    with new_daemon(monkeypatch) as expected:
        assert starting.connect(where) is expected
    assert daemon.lock_held == [True]


def test_an_outdated_daemon_lives_on_when_none_may_be_started(
    where: discovery.Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = OldDaemon(where)
    monkeypatch.setattr(discovery, "dial", daemon.dial)
    monkeypatch.setattr(os, "kill", daemon.kill)
    with pytest.raises(discovery.DiscoveryError):
        starting.connect(where, start=False)
    assert daemon.alive


def test_an_outdated_daemon_that_just_ended_by_itself_is_replaced(
    where: discovery.Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = OldDaemon(where)

    def dial(path: str) -> socket.socket | None:
        link = daemon.dial(path)
        daemon.alive = False
        return link

    def kill(*_: Any) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(discovery, "dial", dial)
    monkeypatch.setattr(os, "kill", kill)
    with new_daemon(monkeypatch) as expected:
        assert starting.connect(where) is expected
