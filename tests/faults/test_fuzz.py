"""Damaged and arbitrary frames against a real daemon: it answers or closes that connection, and the others work on.

2,000 mutated frames; OCTAVO_SOAK=1 makes it 100,000.
"""

import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LONG = bool(os.environ.get("OCTAVO_SOAK"))
FRAMES = 100_000 if LONG else 2_000
BATCH = 20
"""Frames of one connection; a length that lies may swallow those behind it."""
LIMIT_S = 60.0
GOLDEN = Path(__file__).parents[1] / "wire/golden/requests"
INITIALIZE = {"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {"capabilities": {}}}
PING = {"jsonrpc": "2.0", "id": "ping", "method": "settings/get", "params": {"keys": ["server.maxMessageBytes"]}}


def frame(message: Any) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Peer:
    """A blocking client."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LIMIT_S)
        self.socket.connect(str(path))
        self.rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def receive(self) -> Any:
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        length = int(head.split(b":")[1])
        while len(self.rest) < length:
            self._more()
        body, self.rest = self.rest[:length], self.rest[length:]
        return json.loads(body)

    def _more(self) -> None:
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError
        self.rest += data

    def ping(self) -> None:
        """It must be answered."""
        self.socket.sendall(frame(PING))
        while (message := self.receive()).get("id") != "ping":
            pass
        assert "result" in message

    def finish(self) -> list[Any]:
        """End our half and take everything up to the end of the daemon's."""
        answers = []
        try:
            self.socket.shutdown(socket.SHUT_WR)
            while True:
                answers.append(self.receive())
        except TimeoutError:
            pytest.fail("the daemon neither answered nor closed")
        except (EOFError, OSError):
            return answers


@pytest.fixture(scope="module")
def daemon() -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """A daemon on a unix socket that keeps to a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="octavo-") as name:
        folder = Path(name)
        path = folder / "s"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("OCTAVO_")}
        environment |= {
            "OCTAVO_CONFIG": "",
            "OCTAVO_SESSIONS_ROOT": str(folder / "sessions"),
            "OCTAVO_SERVER_MAX_MESSAGE_BYTES": "1000000",
            "HOME": name,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "octavo", "serve", "--socket", str(path), "--framing", "content-length"],
            env=environment,
            cwd=name,
            stderr=subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + LIMIT_S
            while not path.exists():
                assert process.poll() is None
                assert time.monotonic() < deadline
            yield path, process
        finally:
            process.kill()
            process.wait()


def requests(folder: Path) -> list[bytes]:
    """Sound frames to damage: one of every method, with paths that lead nowhere but here."""
    texts = [
        path.read_text("utf-8").replace("/home/ada", str(folder / "home")) for path in sorted(GOLDEN.glob("*.json"))
    ]
    return [frame(json.loads(text)["request"]) for text in texts]


def mutate(sound: bytes, choose: random.Random, others: list[bytes]) -> bytes:
    """Damage a frame in one of the ways that bytes get damaged."""
    data = bytearray(sound)
    for _ in range(choose.choice((1, 1, 2, 5, 20))):
        at = choose.randrange(len(data) + 1)
        match choose.randrange(9):
            case 0:
                data[at : at + 1] = bytes([choose.randrange(256)])
            case 1:
                del data[at : at + choose.randrange(1, 40)]
            case 2:
                data[at:at] = choose.randbytes(choose.randrange(1, 40))
            case 3:
                piece = data[at : at + choose.randrange(1, 60)]
                data[at:at] = piece * choose.randrange(1, 4)
            case 4:
                other = choose.choice(others)
                data[at:] = other[choose.randrange(len(other)) :]
            case 5 if choose.random() < 0.2:
                data[:20] = b"Content-Length: %d" % choose.choice((0, 1, 7, 10**9, 10**19, 2**63))
            case 6:
                data[at:at] = choose.choice((b"[" * 5000, b'{"a":' * 3000, b"\x00", b"\xff\xfe", b"\\ud800", b"1e999"))
            case 7:
                data[at:at] = choose.choice((b"\r\n", b"\r\n\r\n", b"Content-Length: 5\r\n\r\n", b"\n"))
            case _:
                data[at : at + 1] = choose.choice(
                    (b"null", b"-1", b"true", b'""', b"[]", b"{}", b"99999999999999999999")
                )
        if not data:
            return b"\r\n"
    return bytes(data)


def descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def resident_kib(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0])


@pytest.mark.timeout(3600 if LONG else 300)
def test_mutated_frames_cost_their_own_connection_at_most(daemon: tuple[Path, subprocess.Popen[bytes]]) -> None:
    path, process = daemon
    sound = requests(path.parent)
    choose = random.Random(20260302)
    with Peer(path) as watcher:
        watcher.socket.sendall(frame(INITIALIZE))
        watcher.receive()
        watcher.ping()
        before = descriptors(process.pid)
        answered = 0
        for count in range(0, FRAMES, BATCH):
            with Peer(path) as peer:
                frames = [mutate(choose.choice(sound), choose, sound) for _ in range(BATCH)]
                # It may hang up on us before we have said everything.
                with suppress(BrokenPipeError, ConnectionResetError):
                    peer.socket.sendall(frame(INITIALIZE) + b"".join(frames))
                answers = peer.finish()
            answered += sum("error" in one or "result" in one for one in answers)
            assert process.poll() is None, f"the daemon ended among frames {count} to {count + BATCH}"
            watcher.ping()
        assert answered > FRAMES / 3, answered
        deadline = time.monotonic() + LIMIT_S
        while descriptors(process.pid) > before:
            assert time.monotonic() < deadline, "connections stayed open"
            watcher.ping()
        assert resident_kib(process.pid) < 300_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
METHODS = sorted(json.loads(path.read_text("utf-8"))["request"]["method"] for path in GOLDEN.glob("*.json"))
MESSAGE = JSON | st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | JSON},
    optional={
        "id": st.integers(0, 99) | JSON,
        "method": st.sampled_from(METHODS) | st.sampled_from(["initialize", "$/cancelRequest", "$/setTrace"]) | JSON,
        "params": JSON,
        "result": JSON,
        "error": JSON,
    },
)


@settings(max_examples=2000 if LONG else 50, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(messages=st.lists(MESSAGE, min_size=1, max_size=20))
def test_arbitrary_messages_in_sound_frames_are_answered_and_the_connection_lives(
    daemon: tuple[Path, subprocess.Popen[bytes]], messages: list[Any]
) -> None:
    path, process = daemon
    with Peer(path) as peer:
        peer.socket.sendall(frame(INITIALIZE))
        assert "result" in peer.receive()
        peer.socket.sendall(b"".join(frame(one) for one in messages))
        peer.ping()
    assert process.poll() is None
