"""An open session and what other programs do to its file: notice, merge, reload, and lose nobody's entries.

Growth is read incrementally; any other change makes the session read the file again. What another program took out
stays out (a repair must count, BR-028), but what we had acknowledged of it is kept in the side folder and reported.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count

from octavo.sessions.identity import same
from octavo.sessions.reading import LoadedSession
from octavo.sessions.state import SessionState, side_folder
from octavo.sessions.store.disk import make_folder, replace_atomically
from octavo.sessions.store.jsonl import encode_line
from octavo.sessions.store.offload import is_stub
from octavo.sessions.store.session_file import SessionFile
from octavo.sessions.tree import SessionTree, is_leaf_marker
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError


@dataclass(slots=True)
class _News:
    """What another program did to the file: entries it added, or the file read anew with the ids that differ."""

    added: list[JsonObject] = field(default_factory=list)
    store: SessionFile | None = None
    tree: SessionTree | None = None
    changed: tuple[str, ...] = ()


class FollowingSession(SessionState):
    """Adds catching up; the caller holds the session's turn."""

    async def _catch_up(self, *, force: bool = False, keep_leaf: bool = False) -> bool:
        """Take over what another program did to the file; returns whether anything differs."""
        if self._store is None:
            return False
        news = await self._in_thread(partial(self._look, force=force))
        if news is None:
            return False
        if news.store is None or news.tree is None:
            self._add_foreign(news.added, keep_leaf=keep_leaf)
            return bool(news.added)
        leaf = self.tree.leaf_id
        self._store.close()
        self._store, self.tree = news.store, news.tree
        if keep_leaf and (leaf is None or leaf in self.tree):
            self.tree.move_leaf(leaf)
        self._stubs = {entry["id"] for entry in self.tree.entries if is_stub(entry)}
        self._large.clear()
        self._keep_payload_of_branch()
        if news.changed:
            self._announce("rewritten", news.changed)
        return bool(news.changed)

    async def _take_over(self, entries: Sequence[JsonObject]) -> None:
        """Add what a rewrite carried along; where that uses an id again, only reading everything anew is sound."""
        if self._are_new(entries):
            self._add_foreign(entries, keep_leaf=True)
        else:
            await self._catch_up(force=True, keep_leaf=True)

    def _add_foreign(self, entries: Sequence[JsonObject], *, keep_leaf: bool) -> None:
        leaf = self.tree.leaf_id
        for entry in entries:
            self.tree.add(entry)
        if keep_leaf:
            self.tree.move_leaf(leaf)
        if entries:
            self._keep_payload_of_branch()
            self._announce("appended", tuple(entry["id"] for entry in entries if not is_leaf_marker(entry)))

    def _look(self, *, force: bool) -> _News | None:
        assert self._store is not None
        assert self.path is not None
        drift = self._store.drift()
        if drift == "same" and not force:
            return None
        if drift == "missing":
            message = f"The session file {self.path} was removed by another program; fork the session to save it."
            raise OctavoError(ErrorKind.CONTENT_MODIFIED, message, sessionId=self.session_id)
        if drift == "grown" and not force:
            added = self._store.growth(whole_lines=self.mode == "read")
            if added is not None and self._are_new(added):
                return _News(added)
        store, loaded = SessionFile.open(self.path, self._surroundings.durability, writable=self.mode == "write")
        try:
            tree = SessionTree(loaded.header, loaded.entries)
            self._keep_vanished(tree, store)
        except BaseException:
            store.close()
            raise
        return _News(store=store, tree=tree, changed=self._differences(loaded, tree))

    def _are_new(self, entries: Sequence[JsonObject]) -> bool:
        ids = [entry["id"] for entry in entries]
        return len(set(ids)) == len(ids) and not any(entry_id in self.tree for entry_id in ids)

    def _differences(self, loaded: LoadedSession, tree: SessionTree) -> tuple[str, ...]:
        old = self.tree
        ids = [
            entry["id"]
            for entry in loaded.entries
            if entry["id"] not in old.by_id or not (is_stub(entry) or same(old.by_id[entry["id"]], entry))
        ]
        ids += [entry_id for entry_id in old.by_id if entry_id not in tree.by_id]
        if not ids and (tree.leaf_id != old.leaf_id or tree.header != old.header):
            return tuple(tree.by_id)[-1:]
        return tuple(ids)

    def _keep_vanished(self, tree: SessionTree, store: SessionFile) -> None:
        """Save what we had acknowledged and somebody else took out of the file."""
        assert self.path is not None
        assert self._store is not None
        gone = {entry_id for entry_id in self._own if entry_id not in tree}
        vanished = [entry for entry in self.tree.entries if entry["id"] in gone] if gone else []
        if not vanished:
            return
        whole = [self._store.restore(entry) if is_stub(entry) else entry for entry in vanished]
        folder = side_folder(self.path)
        make_folder(folder, self._surroundings.durability)
        # A clock that was set back may show a moment that has been.
        stem = f"vanished-{self._surroundings.now_ms()}"
        names = chain((f"{stem}.jsonl",), (f"{stem}-{number}.jsonl" for number in count(1)))
        target = next(place for name in names if not os.path.lexists(place := folder / name))
        replace_atomically(target, map(encode_line, whole), self._surroundings.durability)
        store.recovery.vanished = tuple(entry["id"] for entry in vanished)
        store.recovery.vanished_path = target
        self._own.difference_update(store.recovery.vanished)

    def _generation(self) -> int:
        return self._store.file.generation if self._store is not None else 0
