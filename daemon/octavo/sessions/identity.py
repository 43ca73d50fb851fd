"""Make every entry of a file addressable: one string id each, and a note of every parent link that leads nowhere.

A reference in a file means the most recent entry with that id before it; so when an id was used twice, the later entry
and what follows it stay together. Entries are replaced, never mutated. The tree itself copes with orphans and cycles;
they are reported here because this is where the whole file is seen once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from octavo.sessions.damage import Damage, DamageKind
from octavo_protocol.base import JsonObject

_REFERENCES = ("parentId", "targetId", "firstKeptEntryId")


@dataclass(slots=True)
class Identified:
    """Entries with unique string ids.

    Attributes:
        entries: In file order, copies of identical records left out.
        changed: Whether any entry differs from the file.
        offsets: The line offset of each entry, or empty.
        damage: Duplicates, missing ids, orphans and cycles.
        with_payload: Positions of assistant messages that carry a `providerPayload`.
    """

    entries: list[JsonObject]
    changed: bool = False
    offsets: Sequence[int] = ()
    damage: list[Damage] = field(default_factory=list)
    with_payload: list[int] = field(default_factory=list)


def identify(entries: Sequence[JsonObject], *, new_id: Callable[[], str], offsets: Sequence[int] = ()) -> Identified:
    """Return the entries with unique string ids; linear in their number.

    Args:
        entries: Migrated entries in file order.
        new_id: Draws an id; drawn again while it is taken.
        offsets: Where the line of each entry begins in the file, for the findings; empty when unknown.
    """
    result = _sound(entries, offsets) or _repaired(entries, new_id, offsets)
    for position, entry in enumerate(result.entries):
        if entry.get("type") == "message":
            message = entry.get("message")
            if type(message) is dict and "providerPayload" in message:
                result.with_payload.append(position)
    result.damage.extend(_broken_links(result.entries, result.offsets))
    return result


def _sound(entries: Sequence[JsonObject], offsets: Sequence[int]) -> Identified | None:
    """The common case, checked at the speed of one set: every id is a string and none repeats."""
    ids = [entry.get("id") for entry in entries]
    if all(type(i) is str and i for i in ids) and len(set(ids)) == len(ids):
        return Identified(list(entries), offsets=offsets)
    return None


def _repaired(entries: Sequence[JsonObject], new_id: Callable[[], str], offsets: Sequence[int]) -> Identified:
    kept_offsets: list[int] = []
    result = Identified([], changed=True, offsets=kept_offsets)
    by_id: dict[str, JsonObject] = {}
    latest: dict[str, str] = {}
    taken = {entry["id"] for entry in entries if isinstance(entry.get("id"), str)}

    def draw() -> str:
        while (candidate := new_id()) in taken:
            pass
        taken.add(candidate)
        return candidate

    for number, entry in enumerate(entries):
        offset = offsets[number] if offsets else 0
        found = entry.get("id")
        own = found if isinstance(found, str) and found else None
        if own is not None and own in by_id:
            if same(by_id[own], entry):
                result.damage.append(Damage(DamageKind.DUPLICATE_RECORD, 0, offset, 0, detail=own))
                continue
            result.damage.append(Damage(DamageKind.DUPLICATE_ID, 0, offset, 0, detail=own))
        repaired = _redirected(entry, latest)
        if own is None:
            result.damage.append(Damage(DamageKind.MISSING_ID, 0, offset, 0, detail=str(entry.get("type"))[:80]))
            parent = result.entries[-1]["id"] if result.entries else None
            repaired = {"parentId": parent, **repaired, "id": draw()}
        elif own in by_id:
            repaired = {**repaired, "id": draw()}
            latest[own] = repaired["id"]
        else:
            by_id[own] = entry
        result.entries.append(repaired)
        if offsets:
            kept_offsets.append(offset)
    return result


def same(one: JsonObject, other: JsonObject) -> bool:
    """Whether two entries are equal; no for what nests too deeply to be compared."""
    try:
        return one == other
    except RecursionError:
        return False


def _redirected(entry: JsonObject, latest: dict[str, str]) -> JsonObject:
    moved = {key: latest[entry[key]] for key in _REFERENCES if isinstance(entry.get(key), str) and entry[key] in latest}
    return {**entry, **moved} if moved else entry


def _broken_links(entries: Sequence[JsonObject], offsets: Sequence[int]) -> list[Damage]:
    seen: set[str] = set()
    ahead: list[tuple[int, str, object]] = []
    for number, entry in enumerate(entries):
        parent = entry.get("parentId")
        if parent is not None and (type(parent) is not str or parent not in seen):
            ahead.append((number, entry["id"], parent))
        seen.add(entry["id"])
    if not ahead:
        return []
    orphans = [
        Damage(DamageKind.ORPHAN_PARENT, 0, offsets[number] if offsets else 0, 0, detail=own)
        for number, own, parent in ahead
        if not isinstance(parent, str) or parent not in seen
    ]
    cycles = [Damage(DamageKind.CYCLE, 0, 0, 0, detail=own) for own in cycle_heads(entries)]
    return orphans + cycles


def cycle_heads(entries: Sequence[JsonObject]) -> list[str]:
    """Return, for every cycle of parent links, the id of its first entry in file order; linear in `len(entries)`."""
    parents = {entry["id"]: entry.get("parentId") for entry in entries}
    position = {own: number for number, own in enumerate(parents)}
    settled: set[str] = set()
    heads: list[str] = []
    for own in parents:
        trail: dict[str, None] = {}
        current: object = own
        while isinstance(current, str) and current in parents and current not in settled and current not in trail:
            trail[current] = None
            current = parents[current]
        if isinstance(current, str) and current in trail:
            chain = list(trail)
            heads.append(min(chain[chain.index(current) :], key=position.__getitem__))
        settled.update(trail)
    return heads
