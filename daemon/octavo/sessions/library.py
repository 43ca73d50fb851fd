"""The sessions folder: create, find, open, fork, move and delete sessions.

Files are found by id inside the folder, or by a path the user named; `paths` has the rules for both. What an open
session does is `live`'s subject, and which sessions a daemon has open is the server's.

Layout: `<root>/<folder of the working directory>/<timestamp>_<id>.jsonl`, beside each file its side folder (same name
without `.jsonl`), and `<root>/../blobs` for pictures. A file of another program that has its own `blobs` two folders
up is read and written with that store, so that both programs can resolve each other's pictures.
"""

import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import anyio

from octavo.sessions.artifacts import Artifacts
from octavo.sessions.blobs import BlobStore
from octavo.sessions.branching import branch_out
from octavo.sessions.deletion import delete_session
from octavo.sessions.entry_factory import session_header
from octavo.sessions.ids import iso_timestamp, new_entry_id, new_session_id, session_file_name, session_folder_name
from octavo.sessions.lease import Lease
from octavo.sessions.listing import SessionSummary, folders_to_list, header_of, list_sessions
from octavo.sessions.live import LiveSession, Mode, Surroundings
from octavo.sessions.paths import (
    SUFFIX,
    checked_name,
    checked_path,
    existing_file,
    expect_session,
    matching,
    project_folders,
    restore_orphaned_backups,
)
from octavo.sessions.persistence import normalise
from octavo.sessions.recovery import scrub_surrogates
from octavo.sessions.search import Searcher
from octavo.sessions.side_folders import copy_side_folder
from octavo.sessions.state import side_folder, wall_clock_ms
from octavo.sessions.store.disk import Durability, remove_leftovers, storage_errors
from octavo.sessions.store.memory import MemoryBlobs
from octavo.sessions.store.session_file import SessionFile
from octavo.sessions.store.writer import WriterThreads
from octavo.sessions.titles import retitled
from octavo.sessions.tree import SessionTree
from octavo.sessions.writing import ORIGINALS
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

_GENERATIONS = 8
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Library:
    """The sessions of one root folder.

    Args:
        root: The sessions folder; created when the first session is.
        durability: What an acknowledgement means.
        home, temp: For the names of project folders (engine.md §1.1).
        now_ms, random_bytes: Clock and randomness.
        writers: Threads for disk work, shared by all sessions.
    """

    root: Path
    durability: Durability = "fsync"
    home: Path = field(default_factory=Path.home)
    temp: Path = field(default_factory=lambda: Path(tempfile.gettempdir()))
    now_ms: Callable[[], int] = wall_clock_ms
    random_bytes: Callable[[int], bytes] = os.urandom
    writers: WriterThreads = field(default_factory=WriterThreads)

    def close(self) -> None:
        """End the threads that wait for disks; sessions are closed before."""
        self.writers.close()

    # -- making and opening --------------------------------------------------------------------------------------

    async def create(
        self,
        cwd: str,
        *,
        title: str | None = None,
        parent_session: str | None = None,
        path: str | Path | None = None,
        ephemeral: bool = False,
        lazy: bool = False,
        entries: Sequence[JsonObject] = (),
        header: JsonObject | None = None,
    ) -> LiveSession:
        """Start a session and open it for writing.

        Args:
            cwd: Working directory, absolute; stored as given.
            title: Title, as chosen by the user.
            parent_session: Id or path of the session it continues.
            path: File to create instead of one in the sessions folder, absolute or relative to `cwd`; an existing
                empty file is taken over.
            ephemeral: Keep it in memory only.
            lazy: Create the file with the first assistant message (engine.md §1.6) instead of now.
            entries: Entries it begins with, complete with ids.
            header: Further header fields.

        Raises:
            OctavoError: `invalid-params`, `storage-failed`, `session-locked`.
        """
        now = self.now_ms()
        session_id = new_session_id(now, self.random_bytes)
        head = session_header(session_id, iso_timestamp(now), cwd, parent_session=parent_session) | (header or {})
        head = (retitled(head, title, "user") or head) if title else head
        head = normalise(head)
        if ephemeral:
            surroundings = replace(self._surroundings(None), blobs=MemoryBlobs((self.root.parent / "blobs",)))
            return LiveSession(SessionTree(head, entries), surroundings, path=None)
        target = self.path_for(head) if path is None else checked_path(path, Path(cwd))
        live = LiveSession(SessionTree(head, entries), self._surroundings(target), path=target)
        if not lazy:
            await self.writers.run(partial(_remove_empty, target))
            await self._fill(live, entries)
        return live

    async def open(self, name: str, *, mode: Mode = "write", cwd: str | None = None) -> LiveSession:
        """Open a session by its id, or by the beginning of its id or file name; sessions of `cwd` are tried first.

        Raises:
            OctavoError: `session-not-found`, `invalid-params` (also when the name fits several), and as `open_path`.
        """
        return await self.open_path(await self.writers.run(partial(self.find, name, cwd=cwd)), mode=mode)

    async def open_path(self, path: str | Path, *, mode: Mode = "write", base: Path | None = None) -> LiveSession:
        """Open a session file wherever it is; opening writes nothing to it.

        Raises:
            OctavoError: `session-not-found`, `session-unreadable`, `session-locked`, `storage-failed`,
                `invalid-params`.
        """
        return await self.writers.run(partial(self._open, checked_path(path, base), mode))

    def find(self, name: str, *, cwd: str | None = None) -> Path:
        """The file whose id or name begins with `name`: among the sessions of `cwd`, then everywhere (§1.10).

        Raises:
            OctavoError: `session-not-found`, `invalid-params`.
        """
        checked_name(name)
        first = [self.folder_for(cwd)] if cwd is not None else []
        for folders in (first, [folder for folder in project_folders(self.root) if folder not in first]):
            hits: list[Path] = []
            for folder in folders:
                restore_orphaned_backups(folder)
                hits += matching(folder, name)
            exact = [hit for hit in hits if hit.name.removesuffix(SUFFIX).lower().endswith(f"_{name.lower()}")]
            hits = exact if len(exact) == 1 else hits
            if len(hits) > 1:
                message = f"{len(hits)} sessions begin with {name!r}; give more of the id."
                names = sorted(hit.name for hit in hits)[:20]
                raise OctavoError(ErrorKind.INVALID_PARAMS, message, details={"candidates": names})
            if hits:
                return hits[0]
        message = f"No session begins with {name!r} in {self.root}; list the sessions or give a path."
        raise OctavoError(ErrorKind.SESSION_NOT_FOUND, message, sessionId=name)

    async def summaries(
        self, *, cwd: str | None = None, root: Path | None = None, query: str = ""
    ) -> list[SessionSummary]:
        """The sessions of a working directory, of another root, or all of them; the latest modified first."""
        folders = folders_to_list(root or self.root, self.folder_for(cwd) if cwd is not None else None)
        return await list_sessions(folders, self.writers, query=query)

    def searcher(self, session: LiveSession) -> Searcher:
        """A search over an open session; keep it as long as the session, for the second search is the fast one."""
        return Searcher(session, self.writers)

    def artifacts(self, session: LiveSession) -> Artifacts:
        """The artifacts of a session and of those it continues (at most 8 steps back)."""
        return Artifacts(session.side_folder, partial(self._ancestors, session.header), self.durability)

    # -- copies --------------------------------------------------------------------------------------------------

    async def fork(self, source: LiveSession, *, ephemeral: bool = False, cwd: str | None = None) -> LiveSession:
        """A new session with every entry of `source`, its title and leaf; its artifacts are copied.

        `parentSession` is the source's id (engine.md §1.11). Pictures are shared in the blob store, never copied.
        """
        forked = await self.create(
            cwd if cwd is not None else str(source.header.get("cwd") or ""),
            parent_session=source.session_id,
            ephemeral=ephemeral,
            lazy=True,
            header=_inherited(source.header),
        )
        await self._fill(forked, await self.writers.run(partial(_whole, source, source.tree.entries, forked)))
        try:
            await self.writers.run(partial(_copy_side_folder, source, forked))
        except BaseException:
            # Half a copy is no fork: neither its file nor its lease may stay behind.
            forked.release()
            if forked.path is not None:
                with anyio.CancelScope(shield=True):
                    await self.delete(forked.path)
            raise
        return forked

    async def branch_out(self, source: LiveSession, entry_id: str, *, ephemeral: bool = False) -> LiveSession:
        """A new session with the path from the root to `entry_id`, its labels, and the title (engine.md §1.11).

        `parentSession` is the source's path (its id when it has none). Calls still running in the source get an aborted
        result, so that the branch can be continued.

        Raises:
            OctavoError: `entry-not-found`, `storage-failed`.
        """
        draw = partial(new_entry_id, random_bytes=self.random_bytes, now_ms=self.now_ms)
        drawn = set(source.tree.by_id)

        def new_id() -> str:
            drawn.add(found := draw(drawn))
            return found

        now = iso_timestamp(self.now_ms())
        entries = branch_out(source.tree, entry_id, new_id=new_id, timestamp=now, close_open_calls=True)
        parent = source.session_id if source.path is None else str(source.path)
        branched = await self.create(
            str(source.header.get("cwd") or ""),
            parent_session=parent,
            ephemeral=ephemeral,
            lazy=True,
            header=_inherited(source.header),
        )
        await self._fill(branched, await self.writers.run(partial(_whole, source, entries, branched)))
        return branched

    async def _fill(self, session: LiveSession, entries: Sequence[JsonObject]) -> None:
        """Give a session that is not on disk yet its entries, and create its file."""
        session.tree = SessionTree(session.header, entries)
        try:
            await session.ensure_on_disk()
        except BaseException:
            session.release()
            raise

    # -- moving and deleting -------------------------------------------------------------------------------------

    async def move(self, session: LiveSession, cwd: str) -> None:
        """Let an open session belong to another working directory; a session inside the root changes its folder.

        File and side folder are renamed (both or neither), then the header is rewritten; a failure undoes all of it.

        Raises:
            OctavoError: `storage-failed`, `session-read-only`.
        """
        with anyio.CancelScope(shield=True):
            old = session.path
            if old is not None and old.is_relative_to(self.root.resolve()):
                await session.relocate(self.folder_for(cwd) / old.name)
            try:
                await session.change_header(lambda header: {**header, "cwd": cwd}, "rewritten")
            except OctavoError:
                if old is not None:
                    await session.relocate(old)
                raise

    async def delete(self, path: str | Path) -> list[Path]:
        """Remove a session file and its side folder; returns what is gone (nothing when there was nothing).

        Raises:
            OctavoError: `session-unreadable` when the file is no session (it stays), `session-locked` when it is
                open somewhere, `storage-failed`.
        """
        return await self.writers.run(partial(delete_session, checked_path(path), self.now_ms(), self.durability))

    # -- places --------------------------------------------------------------------------------------------------

    def folder_for(self, cwd: str) -> Path:
        """The folder of a working directory's sessions, whatever a header says that directory is."""
        cwd = _CONTROL.sub("-", scrub_surrogates(cwd))
        real, home, temp = (os.path.realpath(place) for place in (cwd, self.home, self.temp))
        return self.root / session_folder_name(real, home=home, temp=temp)

    def path_for(self, header: JsonObject) -> Path:
        """Where a session with this header is created."""
        return self.folder_for(header["cwd"]) / session_file_name(header["timestamp"], header["id"])

    def blobs_for(self, path: Path | None) -> BlobStore:
        """The blob store of a session file: its own program's when there is one, else ours."""
        ours = self.root.parent / "blobs"
        if path is not None and not path.is_relative_to(self.root):
            theirs = path.parent.parent.parent / "blobs"
            if theirs.is_dir():
                return BlobStore(theirs, (ours,), self.durability)
        return BlobStore(ours, (), self.durability)

    # -- in the thread -------------------------------------------------------------------------------------------

    def _surroundings(self, path: Path | None) -> Surroundings:
        return Surroundings(self.blobs_for(path), self.writers, self.durability, self.now_ms, self.random_bytes)

    def _open(self, path: Path, mode: Mode) -> LiveSession:
        real = existing_file(path)
        expect_session(real)
        lease = Lease.acquire(real, self.now_ms()) if mode == "write" else None
        try:
            if lease is not None:
                remove_leftovers(real)
                remove_leftovers(side_folder(real) / ORIGINALS)
            store, loaded = SessionFile.open(real, self.durability, writable=mode == "write")
            tree = SessionTree(loaded.header, loaded.entries)
            return LiveSession(tree, self._surroundings(real), path=real, mode=mode, store=store, lease=lease)
        except BaseException:
            if lease is not None:
                lease.release()
            raise

    def _ancestors(self, header: JsonObject) -> Sequence[Path]:
        """Side folders of the chain of parents; a parent is named by its path or its id, and may be gone."""
        folders: dict[Path, None] = {}
        parent = header.get("parentSession")
        while isinstance(parent, str) and parent and len(folders) < _GENERATIONS:
            path = Path(parent) if os.sep in parent else self._by_id(parent)
            if path is None or (folder := side_folder(path)) in folders:
                break
            folders[folder] = None
            parent = (header_of(path) or {}).get("parentSession")
        return tuple(folders)

    def _by_id(self, session_id: str) -> Path | None:
        try:
            return self.find(session_id)
        except OctavoError:
            return None


def _copy_side_folder(source: LiveSession, target: LiveSession) -> None:
    if source.path is None or target.path is None:
        return
    with storage_errors("copy the artifacts to", side_folder(target.path)):
        copy_side_folder(source.path, target.path, source.session_id, ignore=("index.*", "vanished-*"))


def _inherited(header: JsonObject) -> JsonObject:
    """What a copy's header takes over; id, time, place and origin are its own."""
    own = {"type", "version", "id", "timestamp", "cwd", "parentSession"}
    return {key: value for key, value in header.items() if key not in own}


def _whole(source: LiveSession, taken: Sequence[JsonObject], target: LiveSession) -> list[JsonObject]:
    """Entries of the source as the target can hold them: with their pictures when the target's store lacks them."""
    entries = [source.whole(entry) for entry in taken]
    if source.blobs.folder in (target.blobs.folder, *target.blobs.elsewhere):
        return entries
    resolved: list[JsonObject] = source.resolved(entries).value
    return resolved


def _remove_empty(path: Path) -> None:
    """An empty file at the place of a new session is taken over, as the user asked for creation there."""
    with storage_errors("take over", path):
        if path.is_file() and path.stat().st_size == 0:
            path.unlink()
