"""The session tree: entries by id, the leaf, paths, children and labels (engine.md §2.1).

Pure and append-only: adding, navigating and asking never delete or change an entry; `replace` swaps one for a new
object with the same id. Adding and moving the leaf cost the same at any size; a path costs its own length.

Deviation from the seed: **leaf markers**. The file format stores no leaf, so the seed forgets a navigation that no
append followed. A `custom` entry of type `octavo/leaf` with `data.leafId` (an id or null), when it is the last entry of
the file, names the leaf. Its `parentId` is that same leaf, so that a program that does not know markers sees the same
path. Markers are hidden: never a leaf, never in a path, a child list or the roots; what another program attached to one
belongs to its parent.
"""

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from octavo.sessions.identity import cycle_heads, identify
from octavo.sessions.ids import epoch_ms, stable_ids
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

LEAF_MARKER = "octavo/leaf"
"""`customType` of the entries that remember a navigation."""


def is_leaf_marker(entry: JsonObject) -> bool:
    """Whether `entry` is a hidden leaf marker."""
    return entry.get("type") == "custom" and entry.get("customType") == LEAF_MARKER


def entry_not_found(entry_id: object) -> OctavoError:
    """Return the error for an id that the session does not have."""
    return OctavoError(ErrorKind.ENTRY_NOT_FOUND, f"Entry {entry_id} not found", entryId=str(entry_id))


class SessionTree:
    """The entries of one session and the position in them.

    Attributes:
        header: The session header.
        entries: Every entry in file order, markers included. Read only.
        by_id: Every entry by its id. Read only.
        leaf_id: The entry the next append will hang under; None before the first root or after `move_leaf(None)`.
        steps: How many entries the tree has looked at since it was made: lets a test assert that work is linear.
    """

    def __init__(self, header: JsonObject, entries: Iterable[JsonObject] = ()) -> None:
        self.header = header
        self.entries: list[JsonObject] = list(entries)
        self.by_id: dict[str, JsonObject] = {e["id"]: e for e in self.entries if type(e.get("id")) is str}
        if len(self.by_id) != len(self.entries):
            self.entries = identify(self.entries, new_id=stable_ids(str(header.get("id")))).entries
            self.by_id = {entry["id"]: entry for entry in self.entries}
        self.steps = len(self.entries)
        self._labels: dict[str, str] = {}
        self._positions: dict[str, int] | None = None
        self._children: dict[str | None, list[str]] | None = None
        self._missing: set[str] = set()
        self._cut: frozenset[str] | None = None
        for entry in self.entries:
            if entry.get("type") == "label":
                self._replay_label(entry)
        self.leaf_id = self._stored_leaf()

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self.by_id

    # -- changing ------------------------------------------------------------------------------------------------

    def add(self, entry: JsonObject) -> None:
        """Append an entry and make it the leaf; a marker sets the leaf to what it names instead.

        Raises:
            OctavoError: `invalid-params` when the id is missing or taken.
        """
        own = entry.get("id")
        if not isinstance(own, str) or not own or own in self.by_id:
            raise OctavoError(
                ErrorKind.INVALID_PARAMS, f"An entry needs an id of its own; {own!r} is missing or taken.", entryId=own
            )
        self.steps += 1
        if self._positions is not None:
            self._positions[own] = len(self.entries)
        self.entries.append(entry)
        self.by_id[own] = entry
        if is_leaf_marker(entry):
            self.leaf_id = self._marked_leaf(entry)
            return
        if entry.get("type") == "label":
            self._replay_label(entry)
        self._link(own, entry)
        self.leaf_id = own

    def move_leaf(self, entry_id: str | None) -> None:
        """Make an entry the leaf, or with None make the next append a new root.

        Raises:
            OctavoError: `entry-not-found`.
        """
        if entry_id is not None:
            self.get(entry_id)
        self.leaf_id = entry_id

    def replace(self, entry: JsonObject) -> None:
        """Swap the entry with this id for a new object; its place in the file and the leaf stay.

        Raises:
            OctavoError: `entry-not-found`.
        """
        own = entry.get("id")
        old = self.by_id.get(own) if isinstance(own, str) else None
        if not isinstance(own, str) or old is None:
            raise entry_not_found(own)
        if self._positions is None:
            self._positions = {e["id"]: number for number, e in enumerate(self.entries)}
            self.steps += len(self.entries)
        self.entries[self._positions[own]] = entry
        self.by_id[own] = entry
        self.steps += 1
        if old.get("parentId") != entry.get("parentId"):
            self._children = self._cut = None
        if "label" in (old.get("type"), entry.get("type")):
            self._labels.clear()
            for each in self.entries:
                if each.get("type") == "label":
                    self._replay_label(each)

    # -- asking --------------------------------------------------------------------------------------------------

    def get(self, entry_id: str) -> JsonObject:
        """Return the entry with this id.

        Raises:
            OctavoError: `entry-not-found`, also for markers.
        """
        entry = self.by_id.get(entry_id)
        if entry is None or is_leaf_marker(entry):
            raise entry_not_found(entry_id)
        return entry

    def parent_of(self, entry_id: str) -> str | None:
        """Return the id of the visible parent; None for a root, that is: no parent, itself, or one that is missing."""
        by_id = self.by_id
        current = entry_id
        passed = {entry_id}
        while True:
            parent = by_id[current].get("parentId")
            if type(parent) is not str or parent in passed or parent not in by_id:
                return None
            self.steps += 1
            if not is_leaf_marker(by_id[parent]):
                return parent
            passed.add(parent)
            current = parent

    def path(self, leaf_id: str | None) -> list[JsonObject]:
        """Return the entries from the root to `leaf_id`; a new list that later changes do not disturb.

        The walk ends at a missing parent and at an id it has already met.

        Raises:
            OctavoError: `entry-not-found`.
        """
        if leaf_id is None:
            return []
        entry: JsonObject | None = self.get(leaf_id)
        current: Any = leaf_id
        chain: list[JsonObject] = []
        met: set[str] = set()
        by_id = self.by_id
        while entry is not None and current not in met:
            met.add(current)
            if entry.get("customType") != LEAF_MARKER or not is_leaf_marker(entry):
                chain.append(entry)
            current = entry.get("parentId")
            entry = by_id.get(current) if type(current) is str else None
        self.steps += len(met)
        chain.reverse()
        return chain

    def children(self, entry_id: str | None) -> list[str]:
        """Return the ids of the children in the order they were added; with None the roots."""
        return list(self._child_index().get(entry_id, ()))

    def sorted_children(self, entry_id: str | None) -> list[str]:
        """Return the children sorted by timestamp, equal ones in the order they were added."""
        found = self._child_index().get(entry_id, ())
        if len(found) < 2:
            return list(found)
        dated = [(epoch_ms(self.by_id[child].get("timestamp")) or 0, child) for child in found]
        self.steps += len(dated)
        return [child for _, child in sorted(dated, key=itemgetter(0))]

    def label_of(self, entry_id: str) -> str | None:
        """Return the label in effect for an entry."""
        return self._labels.get(entry_id)

    @property
    def labels(self) -> dict[str, str]:
        """The labels in effect, by target id, in the order they were first set."""
        return dict(self._labels)

    # -- inside --------------------------------------------------------------------------------------------------

    def _link(self, own: str, entry: JsonObject) -> None:
        if self._children is None:
            return
        if own in self._missing:  # entries that waited for this id are no roots any more
            self._children = self._cut = None
            return
        parent = self.parent_of(own)
        self._children.setdefault(parent, []).append(own)
        if parent is None and type(entry.get("parentId")) is str:
            self._missing.add(entry["parentId"])

    def _replay_label(self, entry: JsonObject) -> None:
        target, label = entry.get("targetId"), entry.get("label")
        if not isinstance(target, str):
            return
        if isinstance(label, str) and label:
            self._labels[target] = label
        else:
            self._labels.pop(target, None)

    def _stored_leaf(self) -> str | None:
        if self.entries and is_leaf_marker(self.entries[-1]):
            return self._marked_leaf(self.entries[-1])
        return self._last_visible()

    def _marked_leaf(self, marker: JsonObject) -> str | None:
        data = marker.get("data")
        if isinstance(data, dict) and "leafId" in data:
            named = data["leafId"]
            if named is None:
                return None
            if isinstance(named, str) and named in self.by_id and not is_leaf_marker(self.by_id[named]):
                return named
        return self._last_visible()

    def _last_visible(self) -> str | None:
        for entry in reversed(self.entries):
            self.steps += 1
            if not is_leaf_marker(entry):
                found: str = entry["id"]
                return found
        return None

    def _visible_cycle_heads(self) -> frozenset[str]:
        """The entries that stand as roots of cycles; a hidden marker on a cycle cannot be one."""
        if not cycle_heads(self.entries):
            return frozenset()
        visible = [entry["id"] for entry in self.entries if not is_leaf_marker(entry)]
        return frozenset(cycle_heads([{"id": own, "parentId": self.parent_of(own)} for own in visible]))

    def _child_index(self) -> dict[str | None, list[str]]:
        if self._children is None:
            if self._cut is None:
                self._cut = self._visible_cycle_heads()
            index: dict[str | None, list[str]] = {}
            self._missing.clear()
            for entry in self.entries:
                if not is_leaf_marker(entry):
                    own = entry["id"]
                    parent = None if own in self._cut else self.parent_of(own)
                    index.setdefault(parent, []).append(own)
                    if parent is None and type(entry.get("parentId")) is str:
                        self._missing.add(entry["parentId"])
            self._children = index
            self.steps += len(self.entries)
        return self._children
