"""What an open session consists of: tree, file, lease, change log and subscribers; and which payloads stay in memory.

The lowest layer of a live session: no queue and no waiting here. `following` adds what other programs do to the file,
`actor` the writing, `live` the methods people call.
"""

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from octavo.sessions.blobs import BlobStore
from octavo.sessions.changes import ChangeKind, ChangeLog, Subscriber
from octavo.sessions.ids import iso_timestamp
from octavo.sessions.lease import Lease
from octavo.sessions.store.disk import Durability
from octavo.sessions.store.offload import is_stub
from octavo.sessions.store.session_file import SessionFile
from octavo.sessions.store.writer import WriterThreads
from octavo.sessions.tree import SessionTree
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

_LOG = logging.getLogger(__name__)
T = TypeVar("T")
Mode = Literal["write", "read"]
Line = tuple[JsonObject, bytes]
"""An entry in its stored form, and its line with the newline."""


def wall_clock_ms() -> int:
    """Epoch milliseconds of the system clock."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a session takes from outside: the blob store, threads for disk work, the clock and randomness."""

    blobs: BlobStore
    writers: WriterThreads = field(default_factory=WriterThreads)
    durability: Durability = "fsync"
    now_ms: Callable[[], int] = wall_clock_ms
    random_bytes: Callable[[int], bytes] = os.urandom


def side_folder(path: Path) -> Path:
    """Where a session keeps artifacts, index and originals: its path without `.jsonl`."""
    return path.with_suffix("") if path.suffix == ".jsonl" else path.with_name(path.name + ".d")


class SessionState:
    """State of one open session; see the module."""

    def __init__(
        self,
        tree: SessionTree,
        surroundings: Surroundings,
        *,
        path: Path | None,
        mode: Mode = "write",
        store: SessionFile | None = None,
        lease: Lease | None = None,
    ) -> None:
        self.tree = tree
        self.path = path
        self.mode: Mode = mode
        self.blobs = surroundings.blobs
        self.epoch = surroundings.random_bytes(8).hex()
        self.closed = False
        self._surroundings = surroundings
        self._store = store
        self._lease = lease
        self._log = ChangeLog()
        self._subscribers: list[Subscriber] = []
        self._second = (-1, "")
        self._own: set[str] = set()
        self._large: set[str] = set()
        self._stubs: set[str] = {entry["id"] for entry in tree.entries if is_stub(entry)}
        self._keep_payload_of_branch()

    @property
    def session_id(self) -> str:
        """The session's own id."""
        return str(self.tree.header["id"])

    def _expect_open(self) -> None:
        if self.closed:
            message = f"Session {self.session_id} was closed; open it again."
            raise OctavoError(ErrorKind.SESSION_NOT_FOUND, message, sessionId=self.session_id)

    def _expect_writable(self) -> None:
        self._expect_open()
        if self.mode == "read":
            message = f"Session {self.session_id} was opened with mode read; open it with mode write to change it."
            raise OctavoError(ErrorKind.SESSION_READ_ONLY, message, sessionId=self.session_id)

    def _announce(self, kind: ChangeKind, entry_ids: tuple[str, ...]) -> None:
        title = self.tree.header.get("title") if kind == "title" else None
        change = self._log.record(kind, entry_ids, self.tree.leaf_id, title if isinstance(title, str) else None)
        for subscriber in tuple(self._subscribers):
            try:
                subscriber(change)
            except Exception:  # noqa: BLE001 - logged; the change is durable and the others must hear of it
                _LOG.exception("a subscriber of session %s failed on change %d", self.session_id, change.seq)

    async def _in_thread(self, call: Callable[[], T]) -> T:
        return await self._surroundings.writers.run(call)

    def _now(self) -> str:
        """The time as entries carry it; the form of a second is made once."""
        now = self._surroundings.now_ms()
        second, millisecond = divmod(now, 1000)
        if self._second[0] != second:
            self._second = (second, iso_timestamp(second * 1000)[:-4])
        return f"{self._second[1]}{millisecond:03d}Z"

    # -- payloads of superseded compactions ----------------------------------------------------------------------

    def _note_compaction(self, entry: JsonObject) -> None:
        """After a compaction was added: the one in force keeps its payload in memory, the others go."""
        if entry.get("type") != "compaction" or self._store is None:
            return
        for entry_id in self._large:
            stub = self._store.offload(self.tree.by_id[entry_id])
            if is_stub(stub):
                self.tree.replace(stub)
                self._stubs.add(entry_id)
        self._large.clear()
        if is_stub(self._store.offload(entry)):
            self._large.add(entry["id"])
        self._keep_payload_of_branch()

    def _keep_payload_of_branch(self) -> None:
        """Have the compaction that is in force on the current branch whole in the tree."""
        if not self._stubs or self._store is None:
            return
        for number in compactions_in_force(path := self.tree.path(self.tree.leaf_id)):
            entry = path[number]
            if is_stub(entry):
                self.tree.replace(self._store.restore(entry))
                self._stubs.discard(entry["id"])
                self._large.add(entry["id"])


def compactions_in_force(path: Sequence[JsonObject]) -> list[int]:
    """Positions of the compactions a context of this path may use.

    That is the newest one whose boundary is on the path before it, and the newest one at all.
    """
    compactions = [number for number, entry in enumerate(path) if entry.get("type") == "compaction"]
    if not compactions:
        return []
    positions = {entry["id"]: number for number, entry in enumerate(path)}
    for number in reversed(compactions):
        boundary = path[number].get("firstKeptEntryId")
        if isinstance(boundary, str) and positions.get(boundary, number) < number:
            return sorted({number, compactions[-1]})
    return compactions[-1:]
