"""Find entries by words or a regular expression, also what compaction took out of the context.

The scope is the branch, the whole tree, or the archived part of the branch. `corpus` finds candidates fast,
`search_query` decides; this module knows branches, pages and snippets.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import anyio

from octavo.sessions.corpus import Corpus
from octavo.sessions.live import LiveSession
from octavo.sessions.search_query import Query, parse_query
from octavo.sessions.search_text import searchable_text
from octavo.sessions.state import compactions_in_force
from octavo.sessions.store.writer import WriterThreads
from octavo.sessions.tree import SessionTree, is_leaf_marker
from octavo_protocol.base import JsonObject

Scope = Literal["branch", "tree", "archived"]
SNIPPET_CHARS = 300
"""UTF-16 chars of a snippet at most."""
_BEFORE = 80
"""Chars shown before the first match."""
_MAX_MATCHES = 50
_MOST_GROWN = 1000
_ARCHIVING = frozenset({"compaction", "reset_boundary"})


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry that matches; `matches` are (start, end) within the snippet in UTF-16 units."""

    entry_id: str
    type: str
    role: str | None
    timestamp: str | None
    snippet: str
    matches: tuple[tuple[int, int], ...]
    on_branch: bool
    archived: bool


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Hits, the newest first, and whether there are more."""

    hits: tuple[Hit, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class _View:
    """The session at the moment of a search: its entries, its leaf, ids on the branch and in its archived part."""

    entries: Sequence[JsonObject]
    leaf_id: str | None
    branch: frozenset[str]
    archived: frozenset[str]

    def covers(self, entry: JsonObject, scope: Scope) -> bool:
        if is_leaf_marker(entry):
            return False
        return scope == "tree" or entry["id"] in (self.branch if scope == "branch" else self.archived)


class Searcher:
    """Searches one open session; keeps its corpus between searches."""

    def __init__(self, session: LiveSession, writers: WriterThreads) -> None:
        self._session = session
        self._writers = writers
        self._corpus = Corpus(session.whole)
        self._last: tuple[int, SessionTree, _View] | None = None
        self._turn = anyio.Lock()

    async def search(
        self,
        query: str,
        *,
        regex: bool = False,
        case_sensitive: bool = False,
        scope: Scope = "branch",
        limit: int = 20,
        offset: int = 0,
    ) -> SearchPage:
        """Search in a thread; a search of one session waits for the one before it.

        Args:
            query: Words (phrases in double quotes) that must all occur in an entry, or a regular expression.
            regex: Take it as an expression.
            case_sensitive: Tell capitals from small letters.
            scope: Where to search.
            limit: Most hits to return.
            offset: Hits to pass over, counted from the newest.

        Raises:
            OctavoError: `invalid-params`.
        """
        asked = parse_query(query, regex=regex, case_sensitive=case_sensitive)
        async with self._turn:
            view = self._view()
            # The thread goes on whoever has gone: no other search may touch the corpus before it ends.
            with anyio.CancelScope(shield=True):
                return await self._writers.run(partial(self._find, view, asked, scope, limit, offset))
        raise AssertionError("a shielded scope ends by itself")

    def _view(self) -> _View:
        """The present view, made from the last one where only the branch grew: so a search after an append is fast."""
        tree, seq = self._session.tree, self._session.seq
        last = self._last
        if last is not None and last[0] == seq and last[1] is tree:
            return last[2]
        grown = _grown(tree, last[2]) if last is not None and last[1] is tree else None
        view = grown if grown is not None else _new_view(tree)
        self._last = (seq, tree, view)
        return view

    def _find(self, view: _View, query: Query, scope: Scope, limit: int, offset: int) -> SearchPage:
        self._corpus.update(view.entries)
        found: list[Hit] = []
        for number, (entry, text, spans) in enumerate(self._matching(view, query, scope)):
            if number >= offset + limit:
                return SearchPage(tuple(found), more=True)
            if number >= offset:
                found.append(_hit(entry, text, spans, view))
        return SearchPage(tuple(found), more=False)

    def _matching(
        self, view: _View, query: Query, scope: Scope
    ) -> Iterator[tuple[JsonObject, str, list[tuple[int, int]]]]:
        for position in self._corpus.candidates(query):
            entry = view.entries[position]
            if not view.covers(entry, scope):
                continue
            text = searchable_text(self._session.whole(entry))
            spans = query.spans(text)
            if spans is not None:
                yield entry, text, spans


def _new_view(tree: SessionTree) -> _View:
    path = tree.path(tree.leaf_id)
    archived = frozenset(entry["id"] for entry in path[: archived_until(path)])
    return _View(list(tree.entries), tree.leaf_id, frozenset(entry["id"] for entry in path), archived)


def _grown(tree: SessionTree, last: _View) -> _View | None:
    """The view after the branch grew by a few entries that archive nothing; None when anything else happened."""
    added: list[str] = []
    current = tree.leaf_id
    while current is not None and current != last.leaf_id and len(added) < _MOST_GROWN:
        if tree.by_id[current].get("type") in _ARCHIVING:
            return None
        added.append(current)
        current = tree.parent_of(current)
    if current != last.leaf_id:
        return None
    return _View(list(tree.entries), tree.leaf_id, last.branch.union(added), last.archived)


def archived_until(path: Sequence[JsonObject]) -> int:
    """How many entries at the beginning of a path the model no longer sees.

    That is what lies before the first entry kept by the compaction in force, or before a reset boundary.
    """
    reset = max((n + 1 for n, entry in enumerate(path) if entry.get("type") == "reset_boundary"), default=0)
    in_force = [number for number in compactions_in_force(path) if number >= reset]
    if not in_force:
        return reset
    number = in_force[0]
    boundary = path[number].get("firstKeptEntryId")
    kept = next((n for n in range(reset, number) if path[n]["id"] == boundary), number)
    return max(kept, reset)


def _hit(entry: JsonObject, text: str, spans: list[tuple[int, int]], view: _View) -> Hit:
    snippet, matches = snippet_of(text, spans)
    message = entry.get("message")
    role = message.get("role") if isinstance(message, dict) else None
    timestamp = entry.get("timestamp")
    return Hit(
        entry_id=entry["id"],
        type=str(entry.get("type")),
        role=role if isinstance(role, str) else None,
        timestamp=timestamp if isinstance(timestamp, str) else None,
        snippet=snippet,
        matches=matches,
        on_branch=entry["id"] in view.branch,
        archived=entry["id"] in view.archived,
    )


def snippet_of(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Text around the first match on one line, at most `SNIPPET_CHARS` long, with the matches inside it.

    White space of one character each becomes a space, so that places stay where they were; an ellipsis marks a cut.
    """
    first = spans[0][0] if spans else 0
    start = max(0, first - _BEFORE)
    lead = "…" if start else ""
    body = _fitting(text[start : start + SNIPPET_CHARS], SNIPPET_CHARS - len(lead) - 1)
    end = start + len(body)
    shown = "".join(" " if char.isspace() or ord(char) < 32 else char for char in body)
    snippet = lead + shown + ("…" if end < len(text) else "")

    def unit(place: int) -> int:
        return len(lead) + _units(shown[: place - start])

    inside = [(begin, min(stop, end)) for begin, stop in spans[:_MAX_MATCHES] if begin < end]
    return snippet, tuple((unit(begin), unit(stop)) for begin, stop in inside)


def _units(text: str) -> int:
    return len(text) + sum(char > "\uffff" for char in text)


def _fitting(text: str, units: int) -> str:
    """The beginning of a text that has at most so many UTF-16 units; no pair is split."""
    while _units(text) > units:
        text = text[: len(text) - max(1, (_units(text) - units) // 2)]
    return text
