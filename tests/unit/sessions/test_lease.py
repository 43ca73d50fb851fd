"""One writer per file, also across processes."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from octavo.sessions.lease import Lease, lock_path
from octavo_protocol.errors import ErrorKind, OctavoError

HOLDER = """
import sys, time
from pathlib import Path
from octavo.sessions.lease import Lease
lease = Lease.acquire(Path(sys.argv[1]), 7)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_lease_is_refused_and_names_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first = Lease.acquire(path, 42)
    with pytest.raises(OctavoError) as caught:
        Lease.acquire(path, 43, "the-id")
    assert caught.value.kind == ErrorKind.SESSION_LOCKED
    owner = caught.value.data["details"]
    assert (owner["pid"], owner["host"], owner["startedAt"]) == (os.getpid(), socket.gethostname(), 42)
    assert caught.value.data["sessionId"] == "the-id"
    first.release()
    first.release()
    Lease.acquire(path, 44).release()
    assert list(tmp_path.iterdir()) == []


def test_the_lease_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(OctavoError) as caught:
            Lease.acquire(path, 1)
        assert caught.value.data["details"]["pid"] == holder.pid
        holder.send_signal(signal.SIGKILL)
        holder.wait(10)
    assert lock_path(path).exists()
    Lease.acquire(path, 1).release()


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    lock_path(tmp_path / "s.jsonl").symlink_to(victim)
    with pytest.raises(OctavoError) as caught:
        Lease.acquire(tmp_path / "s.jsonl", 1)
    assert caught.value.kind == ErrorKind.STORAGE_FAILED
    assert victim.read_text() == "precious"
