"""Where an append goes: ids, parents and timestamps of new entries, and every reason to refuse it.

Pure: it reads a tree and what is already planned for the same write, and changes neither. Writing is `live`'s work.
Tool results follow their call: when the current leaf lies on another branch they attach to the path that issued the
call, and the leaf stays where it is (BR-016).
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from octavo.sessions.tree import LEAF_MARKER, is_leaf_marker
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

_NOT_ENTRIES = frozenset({"session", "title"})
_NEAR = 64
"""Steps up the path that are searched for a call before all entries are looked at."""


class Unset(Enum):
    """The type of `UNSET`: an argument that was left out, as distinct from None, which names the root."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET
MaybeId = str | None | Unset


class TreeView(Protocol):
    """What planning needs of a tree."""

    @property
    def by_id(self) -> Mapping[str, JsonObject]:
        """Every entry under its id."""
        ...

    @property
    def leaf_id(self) -> str | None:
        """Where the next entry attaches by default."""
        ...


@dataclass(frozen=True, slots=True)
class Draft:
    """What a caller wants appended.

    `entries` are entry objects without (or with) `id`, `parentId` and `timestamp`. `parent_id` is the parent of the
    first one; the others follow each other unless they name a parent. `ids` gives the ids, one per entry; an id that
    exists already makes its entry a no-op.
    """

    entries: tuple[JsonObject, ...]
    parent_id: MaybeId = UNSET
    expected_leaf_id: MaybeId = UNSET
    ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The outcome for one draft: the ids it answers with, the entries to write, and the leaf afterwards."""

    entry_ids: tuple[str, ...]
    new: tuple[JsonObject, ...]
    leaf_id: str | None


def drafts_of_messages(messages: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """Wrap messages into `message` entries."""
    return tuple({"type": "message", "message": message} for message in messages)


class Planner:
    """Plans the drafts of one write, each on top of those before it.

    Args:
        tree: The tree as it is on disk.
        new_id: Draws an id that is not in the given container.
        now: The ISO timestamp of entries that have none.
        session_id: For error data.
    """

    def __init__(self, tree: TreeView, *, new_id: Callable[[Container[str]], str], now: str, session_id: str) -> None:
        self._tree = tree
        self._new_id = new_id
        self._now = now
        self._session_id = session_id
        self._planned: dict[str, JsonObject] = {}
        self._added: dict[str, JsonObject] = {}
        self._leaf = tree.leaf_id

    def plan(self, draft: Draft) -> Plan:
        """Decide ids and parents; nothing is remembered of a draft that is refused.

        Raises:
            OctavoError: `invalid-params`, `entry-not-found` (parent) or `content-modified` (expected leaf).
        """
        self._added = {}
        ids = self._checked_ids(draft)
        known = [identifier is not None and self._get(identifier) is not None for identifier in ids]
        if all(known):
            return Plan(tuple(str(identifier) for identifier in ids), (), self._leaf)
        self._check_leaf(draft.expected_leaf_id)
        if len(draft.entries) == 1 and is_leaf_marker(draft.entries[0]) and _leaf_after(draft.entries[0]) == self._leaf:
            return Plan((), (), self._leaf)
        parent, moves = self._start(draft)
        explicit = draft.parent_id is not UNSET or not moves
        entry_ids: list[str] = []
        for raw, identifier, exists in zip(draft.entries, ids, known, strict=True):
            if exists and identifier is not None:
                parent = identifier
            else:
                if "parentId" in raw and (entry_ids or not explicit):
                    parent = self._checked_parent(raw["parentId"])
                elif not explicit:
                    self._check_result(raw, parent)
                parent = self._add(raw, identifier, parent)
            explicit = False if moves else explicit
            entry_ids.append(str(parent))
        if moves:
            # A repeated id at the end is not the last line of the file, and the last line is the leaf on reopening.
            self._leaf = _leaf_after(self._added[next(reversed(self._added))])
        else:
            self._add(leaf_marker(self._leaf), None, self._leaf)
        self._planned.update(self._added)
        return Plan(tuple(entry_ids), tuple(self._added.values()), self._leaf)

    def __contains__(self, identifier: object) -> bool:
        """Whether an id is taken, on disk or in what is planned."""
        return identifier in self._added or identifier in self._planned or identifier in self._tree.by_id

    def _get(self, identifier: str) -> JsonObject | None:
        for entries in (self._added, self._planned, self._tree.by_id):
            if (entry := entries.get(identifier)) is not None:
                return entry
        return None

    def _checked_ids(self, draft: Draft) -> list[str | None]:
        if not draft.entries:
            raise self._refused("There is nothing to append; give at least one entry or message.")
        for raw in draft.entries:
            self._check_shape(raw)
        given_ids = [raw.get("id") for raw in draft.entries] if draft.ids is None else draft.ids
        ids: list[str | None] = list(given_ids)
        if len(ids) != len(draft.entries):
            raise self._refused(f"{len(draft.entries)} entries were given with {len(ids)} ids; give one id per entry.")
        given: list[object] = [identifier for identifier in ids if identifier is not None]
        if not all(isinstance(identifier, str) and identifier for identifier in given):
            raise self._refused("An entry id is a string that is not empty.")
        if len(set(given)) != len(given):
            raise self._refused("The same id was given to two entries of one append.")
        return ids

    def _check_shape(self, raw: JsonObject) -> None:
        kind = raw.get("type")
        if not isinstance(kind, str) or not kind or kind in _NOT_ENTRIES:
            raise self._refused(f"An entry of type {kind!r} cannot be appended; the type names an entry type.")
        if kind == "message" and not isinstance(raw.get("message"), dict):
            raise self._refused("A message entry has an object under `message`.")
        if kind == "message" and not isinstance(raw["message"].get("role"), str):
            raise self._refused("A message has a `role`.")
        if is_leaf_marker(raw):
            data = raw.get("data")
            if not isinstance(data, dict) or "leafId" not in data:
                raise self._refused("A leaf marker names the leaf in `data.leafId`.")
            self._checked_parent(data["leafId"])
        timestamp = raw.get("timestamp")
        if timestamp is not None and not isinstance(timestamp, str):
            raise self._refused("The timestamp of an entry is an ISO 8601 string.")

    def _check_leaf(self, expected: MaybeId) -> None:
        if expected is UNSET or expected == self._leaf:
            return
        message = (
            f"The leaf is {self._leaf or 'the root'}, not {expected or 'the root'}; read the branch and try again."
        )
        raise OctavoError(
            ErrorKind.CONTENT_MODIFIED, message, sessionId=self._session_id, details={"leafId": self._leaf}
        )

    def _checked_parent(self, parent: object) -> str | None:
        if parent is None:
            return None
        found = self._get(parent) if isinstance(parent, str) else None
        if not isinstance(parent, str) or found is None or is_leaf_marker(found):
            message = f"Entry {parent} not found: a parent has to be in the session before its children."
            raise OctavoError(ErrorKind.ENTRY_NOT_FOUND, message, sessionId=self._session_id, entryId=str(parent))
        return parent

    def _start(self, draft: Draft) -> tuple[str | None, bool]:
        """The parent of the first entry, and whether the leaf follows the append."""
        if draft.parent_id is not UNSET:
            return self._checked_parent(draft.parent_id), True
        calls = [_called(entry) for entry in draft.entries]
        if calls[0] is None or "parentId" in draft.entries[0] or self._on_path(calls[0], self._leaf):
            return self._leaf, True
        issuer = self._issuer(calls[0])
        # Several results may come back at once; what else is in the draft cannot be meant for an abandoned branch.
        if not set(calls) <= _call_ids(issuer):
            message = f"Tool call {calls[0]} was issued on another branch; give parentId to say where this belongs."
            raise self._refused(message)
        return self._end_of_results(issuer), False

    def _check_result(self, raw: JsonObject, parent: str | None) -> None:
        call_id = _called(raw)
        if call_id is not None and not self._on_path(call_id, parent):
            self._issuer(call_id)
            message = f"Tool call {call_id} was issued on another branch; append its result by itself or give parentId."
            raise self._refused(message)

    def _on_path(self, call_id: str, leaf_id: str | None) -> bool:
        for step, entry in enumerate(self._ancestors(leaf_id)):
            if _issues(entry, call_id):
                return True
            if step >= _NEAR:
                break
        wanted = {entry["id"] for entry in self._everything() if _issues(entry, call_id)}
        return bool(wanted) and any(entry.get("id") in wanted for entry in self._ancestors(leaf_id))

    def _issuer(self, call_id: str) -> JsonObject:
        """The newest entry that issued the call."""
        newest = None
        for entry in self._everything():
            if _issues(entry, call_id):
                newest = entry
        if newest is None:
            message = (
                f"No tool call {call_id} was issued in this session; give parentId to say where its result belongs."
            )
            raise self._refused(message)
        return newest

    def _end_of_results(self, issuer: JsonObject) -> str:
        """Behind the results of the same turn that are there already, so that they stay one chain."""
        calls = _call_ids(issuer)
        end: str = issuer["id"]
        for entry in self._everything():
            if entry.get("parentId") == end and _called(entry) in calls:
                end = entry["id"]
        return end

    def _ancestors(self, identifier: str | None) -> Iterator[JsonObject]:
        seen: set[str] = set()
        while identifier is not None and identifier not in seen and (entry := self._get(identifier)) is not None:
            seen.add(identifier)
            yield entry
            parent = entry.get("parentId")
            identifier = parent if isinstance(parent, str) else None

    def _everything(self) -> Iterator[JsonObject]:
        yield from self._tree.by_id.values()
        yield from self._planned.values()
        yield from self._added.values()

    def _add(self, raw: JsonObject, identifier: str | None, parent: str | None) -> str:
        if identifier is None:
            identifier = self._new_id(self)
        timestamp = raw.get("timestamp") or self._now
        head = {"type": raw["type"], "id": identifier, "parentId": parent, "timestamp": timestamp}
        self._added[identifier] = head | {key: value for key, value in raw.items() if key not in head}
        return identifier

    def _refused(self, message: str) -> OctavoError:
        return OctavoError(ErrorKind.INVALID_PARAMS, message, sessionId=self._session_id)


def _leaf_after(entry: JsonObject) -> str | None:
    leaf_id: str | None = entry["data"]["leafId"] if is_leaf_marker(entry) else entry["id"]
    return leaf_id


def leaf_marker(leaf_id: str | None) -> JsonObject:
    """The draft of the entry that makes `leaf_id` the leaf again when the file is opened."""
    return {"type": "custom", "parentId": leaf_id, "customType": LEAF_MARKER, "data": {"leafId": leaf_id}}


def _called(entry: JsonObject) -> str | None:
    """The call a tool result answers, else None."""
    message = entry.get("message")
    if entry.get("type") != "message" or not isinstance(message, dict) or message.get("role") != "toolResult":
        return None
    call_id = message.get("toolCallId")
    return call_id if isinstance(call_id, str) and call_id else None


def _call_ids(entry: JsonObject) -> set[str]:
    message = entry.get("message")
    if entry.get("type") != "message" or not isinstance(message, dict) or message.get("role") != "assistant":
        return set()
    content = message.get("content")
    if not isinstance(content, list):
        return set()
    blocks = (block for block in content if isinstance(block, dict) and block.get("type") == "toolCall")
    return {block["id"] for block in blocks if isinstance(block.get("id"), str)}


def _issues(entry: JsonObject, call_id: str) -> bool:
    return call_id in _call_ids(entry)
