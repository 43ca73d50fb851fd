"""Read a session: windows of its tree, branches and entries page by page, and everything since a client looked."""

from functools import partial
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from octavo.server.connection import Connection
from octavo.server.hub import SessionHub
from octavo.server.paging import Pages
from octavo.server.registry import handles
from octavo.sessions.tree import is_leaf_marker
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.tree import GetBranchParams, GetEntriesParams, GetTreeParams, SearchParams

if TYPE_CHECKING:
    from octavo.sessions.live import LiveSession
    from octavo.sessions.search import Hit

SEARCH_LIMIT = 20
"""Hits of a page when a search does not say."""


@handles("session/getTree")
async def get_tree(connection: Connection, params: GetTreeParams) -> JsonObject:
    """Return a window of the tree in display order."""
    from octavo.sessions.tree_view import view_tree  # noqa: PLC0415 - keeps start-up short

    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    live = await session.fresh()
    shown = params.filter or session.host.settings.tree_filter_mode
    seq = live.seq
    still = await session.still_tree()
    work = partial(
        view_tree, still, filter_mode=shown, max_depth=params.max_depth, around=params.around, window=params.window
    )
    window = await anyio.to_thread.run_sync(work)
    wire: JsonObject = {
        "nodes": [row.to_wire() for row in window.rows],
        "hiddenBefore": window.hidden_before,
        "hiddenAfter": window.hidden_after,
        "matching": window.matching,
        "total": window.total,
        "filter": shown,
        "seq": seq,
    }
    return wire if window.leaf_id is None else {**wire, "leafId": window.leaf_id}


@handles("session/getBranch")
async def get_branch(connection: Connection, params: GetBranchParams) -> JsonObject:
    """Return entries from the root to a leaf, one page of them; a cursor stays with the branch it began on."""
    live = await connection.daemon.service(SessionHub).get(connection, params.session_id).fresh()
    pages = Pages(f"branch:{live.epoch}:{params.order}:{params.leaf_id}", params)
    leaf_id, bound = _branch_place(pages, params, live)
    path = live.tree.path(leaf_id)
    limit = params.limit if params.limit is not None else len(path)
    if params.order == "rootFirst":
        start = 0 if bound is None else bound
        end = min(len(path), start + limit)
        following = end if end < len(path) else None
    else:
        end = len(path) if bound is None else min(bound, len(path))
        start = max(0, end - limit)
        following = start if start > 0 else None
    wire: JsonObject = {
        "entries": await _entries(live, path[start:end]),
        "total": len(path),
        "seq": live.seq,
        "leafId": leaf_id,
        "nextCursor": None if following is None else pages.cursor([leaf_id, following]),
    }
    return {name: value for name, value in wire.items() if value is not None}


@handles("session/getEntries")
async def get_entries(connection: Connection, params: GetEntriesParams) -> JsonObject:
    """Return entries by id, since a change, or all in file order."""
    live = await connection.daemon.service(SessionHub).get(connection, params.session_id).fresh()
    if params.since_seq is not None:
        return await _since(live, params, params.since_seq)
    if params.ids is not None:
        return await _by_ids(live, params, params.ids)
    pages = Pages(f"entries:{live.epoch}", params)
    everything = live.tree.entries
    start, _ = pages.slice(len(everything))
    chosen: list[JsonObject] = []
    place = start
    while place < len(everything) and (params.limit is None or len(chosen) < params.limit):
        if not is_leaf_marker(everything[place]):
            chosen.append(everything[place])
        place += 1
    more = pages.cursor(place) if any(not is_leaf_marker(e) for e in everything[place:]) else None
    return await _answer(live, chosen, nextCursor=more)


@handles("session/search")
async def search(connection: Connection, params: SearchParams) -> JsonObject:
    """Find text in the branch, in every branch, or in what compaction took out of the context."""
    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    await session.fresh()
    asked = f"search:{params.scope}:{params.regex:d}{params.case_sensitive:d}:{params.query}"
    pages = Pages(asked, params)
    offset = 0 if pages.place is None else pages.place
    if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
        raise _bad_cursor()
    limit = params.limit or SEARCH_LIMIT
    page = await session.searcher.search(
        params.query,
        regex=params.regex,
        case_sensitive=params.case_sensitive,
        scope=params.scope,
        limit=limit,
        offset=offset,
    )
    wire: JsonObject = {"hits": [_hit(hit) for hit in page.hits]}
    return {**wire, "nextCursor": pages.cursor(offset + limit)} if page.more else wire


async def _by_ids(live: "LiveSession", params: GetEntriesParams, ids: list[str]) -> JsonObject:
    pages = Pages("ids", params)
    start, end = pages.slice(len(ids))
    asked = ids[start:end]
    found = {entry_id: entry for entry_id in asked if (entry := _visible(live, entry_id)) is not None}
    missing = [entry_id for entry_id in asked if entry_id not in found]
    more = pages.cursor(end) if end < len(ids) else None
    chosen = [found[entry_id] for entry_id in asked if entry_id in found]
    return await _answer(live, chosen, missing=missing, nextCursor=more)


async def _since(live: "LiveSession", params: GetEntriesParams, since: int) -> JsonObject:
    from octavo.server.open_session import change_to_wire  # noqa: PLC0415 - keeps start-up short

    known_epoch = params.epoch is None or params.epoch == live.epoch
    changes = live.changes_since(since) if known_epoch else None
    if changes is None:
        return await _answer(live, [], reset=True)
    pages = Pages(f"since:{live.epoch}:{since}", params)
    upto, offset = _since_place(pages, live)
    changes = [change for change in changes if change.seq <= upto]
    ids = list(dict.fromkeys(entry_id for change in changes for entry_id in change.entry_ids))
    end = len(ids) if params.limit is None else min(len(ids), offset + params.limit)
    asked = ids[offset:end]
    found = [entry for entry_id in asked if (entry := _visible(live, entry_id)) is not None]
    answer = await _answer(
        live,
        found,
        missing=[entry_id for entry_id in asked if _visible(live, entry_id) is None],
        changes=[change_to_wire(change) for change in changes] if offset == 0 else [],
        nextCursor=pages.cursor([upto, end]) if end < len(ids) else None,
    )
    return {**answer, "seq": upto}


async def _answer(live: "LiveSession", entries: list[JsonObject], **more: Any) -> JsonObject:
    wire: JsonObject = {"seq": live.seq, "epoch": live.epoch, "leafId": live.leaf_id, **more}
    wire["entries"] = await _entries(live, entries)
    return {name: value for name, value in wire.items() if value is not None}


async def _entries(live: "LiveSession", entries: list[JsonObject]) -> list[JsonObject]:
    """Return whole entries as they were appended: with the payloads and pictures that are kept elsewhere."""
    whole = [live.whole(entry) for entry in entries]
    resolved = await anyio.to_thread.run_sync(live.resolved, whole)
    found: list[JsonObject] = resolved.value
    return found


def _hit(hit: "Hit") -> JsonObject:
    wire: JsonObject = {
        "entryId": hit.entry_id,
        "type": hit.type,
        "role": hit.role,
        "timestamp": hit.timestamp,
        "snippet": hit.snippet,
        "matches": [{"start": start, "end": end} for start, end in hit.matches],
        "onBranch": hit.on_branch,
        "archived": hit.archived,
    }
    return {name: value for name, value in wire.items() if value is not None}


def _visible(live: "LiveSession", entry_id: str) -> JsonObject | None:
    entry = live.tree.by_id.get(entry_id)
    return None if entry is None or is_leaf_marker(entry) else entry


def _branch_place(pages: Pages, params: GetBranchParams, live: "LiveSession") -> tuple[str | None, int | None]:
    """Return the end of the branch and where its page begins (or, newest first, ends)."""
    if pages.place is None:
        return (live.leaf_id if params.leaf_id is None else params.leaf_id), None
    leaf_id, bound = _pair(pages.place)
    if not isinstance(leaf_id, str) or not isinstance(bound, int) or bound < 0:
        raise _bad_cursor()
    return leaf_id, bound


def _since_place(pages: Pages, live: "LiveSession") -> tuple[int, int]:
    if pages.place is None:
        return live.seq, 0
    upto, offset = _pair(pages.place)
    if not isinstance(upto, int) or not isinstance(offset, int) or offset < 0:
        raise _bad_cursor()
    return upto, offset


def _pair(place: Any) -> tuple[Any, Any]:
    if not isinstance(place, list) or len(place) != 2:
        raise _bad_cursor()
    return place[0], place[1]


def _bad_cursor() -> OctavoError:
    message = "The cursor does not belong to this request; begin again without it."
    return OctavoError(ErrorKind.INVALID_PARAMS, message, details=[{"loc": ["cursor"], "msg": message}])
