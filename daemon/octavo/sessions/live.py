"""An open session: one actor that serialises its changes, and reads that never wait for them.

Every change is planned on the tree, written durably in a worker thread, applied to the tree, told to subscribers in
commit order, and only then acknowledged. Concurrent appends share one write and one flush (group commit): whoever
gets the turn first takes along everything that waits. A failed write changes neither file nor tree.

Reads are plain methods on the event loop's thread. Entries are immutable, so a list they return stays valid.

What is a session's place on disk, its creation and deletion is `library`'s subject; bytes are `store`'s.

Lazy creation (engine.md §1.6) exists for embedding hosts: nothing is on disk before the first assistant message. The
daemon forces creation, because it acknowledges appends only when they are durable.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from octavo.sessions.actor import Appended, SessionActor
from octavo.sessions.blobs import Resolved, resolve
from octavo.sessions.changes import Change, ChangeKind, Subscriber
from octavo.sessions.planning import UNSET, Draft, MaybeId, drafts_of_messages, leaf_marker
from octavo.sessions.state import Mode, Surroundings, compactions_in_force, side_folder
from octavo.sessions.store.offload import is_stub
from octavo.sessions.store.session_file import Recovery
from octavo.sessions.store.side_lines import read_side_lines
from octavo.sessions.titles import TitleSource, retitled
from octavo.sessions.tree import SessionTree
from octavo.sessions.writing import ORIGINALS
from octavo_protocol.base import JsonObject

__all__ = ["UNSET", "Appended", "Change", "LiveSession", "Mode", "Snapshot", "Surroundings"]

Transform = Callable[[SessionTree], Iterable[JsonObject]]
"""Returns the entries to put in place of those with the same ids; called with the tree at its newest."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A session at one moment: change number, header, leaf, and the path from the root to it."""

    seq: int
    header: JsonObject
    leaf_id: str | None
    path: tuple[JsonObject, ...]


class LiveSession(SessionActor):
    """One open session; make it with `library.Library` or `LiveSession.in_memory`.

    Attributes:
        tree: The tree as acknowledged. Read only. A superseded compaction whose line is large may be a stub there:
            take paths from `path`, which returns payloads where a context needs them.
        path: The file, None for an ephemeral session.
        recovery: What was wrong with the file and what becomes of it.
        epoch: Identifies the numbering of changes; differs at every opening.
    """

    @classmethod
    def in_memory(cls, header: JsonObject, surroundings: Surroundings) -> "LiveSession":
        """A session without a file; it ends with the process."""
        return cls(SessionTree(header), surroundings, path=None)

    # -- reads ---------------------------------------------------------------------------------------------------

    @property
    def header(self) -> JsonObject:
        """The header; a new object after each change of it."""
        return self.tree.header

    @property
    def leaf_id(self) -> str | None:
        """Where the next entry attaches; None means a new root."""
        return self.tree.leaf_id

    @property
    def title(self) -> str | None:
        """The title, if one was set."""
        title = self.header.get("title")
        return title if isinstance(title, str) and title else None

    @property
    def seq(self) -> int:
        """Number of the last change."""
        return self._log.seq

    @property
    def ephemeral(self) -> bool:
        """Whether the session has no place on disk."""
        return self.path is None

    @property
    def on_disk(self) -> bool:
        """Whether the file exists (an ephemeral session never, a lazy one from its first assistant message)."""
        return self._store is not None

    @property
    def size_bytes(self) -> int:
        """Bytes of the file, 0 while there is none."""
        return self._store.size if self._store is not None else 0

    @property
    def recovery(self) -> Recovery:
        """State of damage, migration and repair; false when the file is in perfect order."""
        return self._store.recovery if self._store is not None else Recovery()

    @property
    def side_folder(self) -> Path | None:
        """The session path without `.jsonl`: artifacts, index, originals. It may not exist yet."""
        return None if self.path is None else side_folder(self.path)

    def branch(self, leaf_id: MaybeId = UNSET, *, whole: bool = False) -> list[JsonObject]:
        """The path from the root to an entry (default: the leaf), with the payload of the compaction in force.

        Older large compactions on it are stubs unless `whole`, which may need much memory.

        Raises:
            OctavoError: `entry-not-found`.
        """
        path = self.tree.path(self.tree.leaf_id if leaf_id is UNSET else leaf_id)
        if self._stubs:
            for number in range(len(path)) if whole else compactions_in_force(path):
                path[number] = self.whole(path[number])
        return path

    def entries(self, ids: Iterable[str]) -> list[JsonObject]:
        """The entries with these ids, whole.

        Raises:
            OctavoError: `entry-not-found`.
        """
        return [self.whole(self.tree.get(entry_id)) for entry_id in ids]

    def whole(self, entry: JsonObject) -> JsonObject:
        """The entry with its payload."""
        return self._store.restore(entry) if is_stub(entry) and self._store is not None else entry

    def resolved(self, value: list[JsonObject]) -> Resolved:
        """Entries or messages with their pictures put back from the blob store; reads files, so better in a thread."""
        return resolve(value, self.blobs)

    def snapshot(self) -> Snapshot:
        """The session as it is now; later changes do not reach it."""
        return Snapshot(self.seq, self.header, self.leaf_id, tuple(self.branch()))

    def changes_since(self, seq: int) -> list[Change] | None:
        """Every change after `seq`, or None: read everything again."""
        return self._log.since(seq)

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` for every change, in commit order, before the change is acknowledged.

        It runs on the event loop and must not block. Returns the function that ends the subscription.
        """
        self._subscribers.append(subscriber)

        def unsubscribe() -> None:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

        return unsubscribe

    # -- appends -------------------------------------------------------------------------------------------------

    async def append(
        self,
        entries: Sequence[JsonObject] = (),
        *,
        messages: Sequence[JsonObject] = (),
        parent_id: MaybeId = UNSET,
        expected_leaf_id: MaybeId = UNSET,
        ids: Sequence[str] | None = None,
    ) -> Appended:
        """Append entries (then messages) and return when they are durable.

        An id that exists already makes its entry a no-op, so a request may be repeated. Cancelling before the write
        began withdraws the append; afterwards it happens, and repeating it with the same ids is safe.

        Raises:
            OctavoError: `invalid-params`, `entry-not-found` (parent), `content-modified` (expected leaf, or the file
                was changed in a way that cannot be merged), `storage-failed`, `session-read-only`.
        """
        drafts = (*entries, *drafts_of_messages(messages))
        draft = Draft(drafts, parent_id, expected_leaf_id, None if ids is None else tuple(ids))
        return await self._submit(draft, "appended")

    async def set_label(self, target_id: str, label: str | None) -> Appended:
        """Label an entry, or with nothing remove its label; the label entry becomes the leaf (engine.md §1.8)."""
        self.tree.get(target_id)
        entry: JsonObject = {"type": "label", "targetId": target_id}
        return await self._submit(Draft(({**entry, "label": label} if label else entry,)), "label")

    async def set_model(self, model: str, role: str | None = None) -> Appended:
        """Record the model (`provider/id`) in force from here on."""
        entry: JsonObject = {"type": "model_change", "model": model}
        return await self._submit(Draft(({**entry, "role": role} if role else entry,)), "appended")

    async def set_thinking_level(self, level: str | None) -> Appended:
        """Record the reasoning effort in force from here on; None means off."""
        return await self._submit(Draft(({"type": "thinking_level_change", "thinkingLevel": level},)), "appended")

    async def write_compaction(self, entry: JsonObject, expected_leaf_id: str | None) -> Appended:
        """Append a compaction made from the path to `expected_leaf_id`; `content-modified` when the leaf has moved."""
        return await self._submit(Draft((entry,), expected_leaf_id=expected_leaf_id), "appended")

    async def set_leaf(self, leaf_id: str | None, *, expected_leaf_id: MaybeId = UNSET) -> Appended:
        """Navigate: the next append hangs under this entry, or with None starts a new root. Survives reopening.

        Raises:
            OctavoError: `entry-not-found`, `content-modified`, `storage-failed`, `session-read-only`.
        """
        if leaf_id is not None:
            self.tree.get(leaf_id)
        moved = await self._submit(Draft((leaf_marker(leaf_id),), expected_leaf_id=expected_leaf_id), "leaf")
        return Appended((), (), moved.leaf_id, moved.seq)

    # -- rewrites ------------------------------------------------------------------------------------------------

    async def rewrite(self, transform: Transform, reason: str) -> tuple[str, ...]:
        """Replace entries atomically (prune, shake); the former ones go to `originals.jsonl` in the side folder first.

        Returns the ids of the replaced entries; nothing is written when the transform changes nothing.

        Raises:
            OctavoError: `entry-not-found` for an unknown id, `storage-failed`, `content-modified`.
        """
        async with self._exclusive():
            await self._catch_up(keep_leaf=True)
            replaced = {entry["id"]: entry for entry in transform(self.tree)}
            originals = [self.tree.get(entry_id) for entry_id in replaced]
            replaced = {old["id"]: replaced[old["id"]] for old in originals if replaced[old["id"]] is not old}
            if not replaced:
                return ()
            kept = [old for old in originals if old["id"] in replaced]
            stored, foreign = await self._rewriting(partial(self._rewrite_entries, replaced, kept, reason))
            for entry in stored.values():
                self.tree.replace(entry)
            self._stubs -= stored.keys()
            self._announce("rewritten", tuple(stored))
            await self._take_over(foreign)
            return tuple(stored)

    async def set_title(self, title: str, source: TitleSource = "user") -> bool:
        """Rename the session; False when the title is empty or an automatic one met one the user chose (§1.9).

        Raises:
            OctavoError: `storage-failed`, `content-modified`, `session-read-only`.
        """
        return await self.change_header(lambda header: retitled(header, title, source), "title")

    async def change_header(self, change: Callable[[JsonObject], JsonObject | None], kind: ChangeKind) -> bool:
        """Store another header (title, cwd) atomically; `change` makes it from the newest one, or None to leave it.

        Raises:
            OctavoError: `storage-failed`, `content-modified`, `session-read-only`.
        """
        async with self._exclusive():
            await self._catch_up(keep_leaf=True)
            header = change(self.header)
            if header is None:
                return False
            foreign = await self._rewriting(partial(self._rewrite_file, header, {})) if self._store else []
            self.tree.header = header
            self._announce(kind, ())
            await self._take_over(foreign)
            return True

    async def original(self, entry_id: str) -> JsonObject | None:
        """The entry as it was before its first rewrite, or None when it was never rewritten."""
        folder = self.side_folder
        return None if folder is None else await self._in_thread(partial(_original, folder / ORIGINALS, entry_id))

    # -- disk ----------------------------------------------------------------------------------------------------

    async def ensure_on_disk(self) -> None:
        """Create the file of a lazy session now."""
        async with self._exclusive():
            if self.path is not None and self._store is None:
                await self._in_thread(partial(self._materialise, []))

    async def relocate(self, path: Path) -> None:
        """Rename the file and its side folder; nothing moves when either cannot, or a name is taken.

        Raises:
            OctavoError: `storage-failed`, `session-locked`, `session-read-only`.
        """
        async with self._exclusive():
            if self.path is None or path == self.path:
                return
            await self._in_thread(partial(self._rename, path))

    async def reload(self, *, force: bool = False) -> bool:
        """Read the file again when another program changed it (or `force`); returns whether anything differs.

        Entries this process had written and the other program removed stay removed; they are kept in the side folder
        and named in `recovery`.

        Raises:
            OctavoError: `session-unreadable` when the file is no session any more; the session stays as it was.
        """
        async with self._exclusive(writing=False):
            return await self._catch_up(force=force)

    async def close(self) -> None:
        """Finish what was begun, tell subscribers, release the file and the lease. Harmless when repeated."""
        with anyio.CancelScope(shield=True):
            async with self._turn:
                if self.closed:
                    return
                await self._commit_queue()
                self.closed = True
                self._announce("closed", ())
                self._subscribers.clear()
                self.release()

    def release(self) -> None:
        """Give up file and lease at once, without a word to subscribers; `close` is the orderly way."""
        self.closed = True
        if self._store is not None:
            self._store.close()
        if self._lease is not None:
            self._lease.release()


def _original(path: Path, entry_id: str) -> JsonObject | None:
    for line in read_side_lines(path):
        entry = line.get("entry")
        if isinstance(entry, dict) and entry.get("id") == entry_id:
            return entry
    return None
