"""Turn the bytes of a session file into a header and entries that are safe to build a tree from (engine.md §1.5).

Pure: the store reads the bytes and decides what to rewrite. A file without a session header is refused with a typed
error and never guessed at; everything behind the header is recovered as far as possible and reported.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from octavo.sessions.damage import Damage, DamageKind
from octavo.sessions.identity import Identified, identify
from octavo.sessions.ids import stable_ids
from octavo.sessions.lines import Lines, OnObject, Source, parse_lines, paused_gc
from octavo.sessions.migrate import migrate_to_current, sanitise_replay, version_of
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

__all__ = ["Damage", "DamageKind", "Lines", "LoadedSession", "load_session", "parse_lines", "parse_session_lines"]


@dataclass(slots=True)
class LoadedSession:
    """A session as it can be worked with.

    Attributes:
        header: The session header at the current version, with the title slot folded in.
        entries: The entries in file order; ids are strings and unique.
        title_slot: The title slot object if the file begins with one (later upstream), else None.
        damage: What was wrong with the file, at most `MAX_DAMAGE` findings; `damage_count` has their number.
        needs_rewrite: Whether `header` and `entries` differ from the file by more than the title slot, so that
            appending to the file as it is would mix versions or lose a repair.
        version_on_disk: The header's version before migration; absent means 1.
        lines: Size, tail and line offsets of the file.
    """

    header: JsonObject
    entries: list[JsonObject]
    title_slot: JsonObject | None
    damage: list[Damage]
    damage_count: int
    needs_rewrite: bool
    version_on_disk: float
    lines: Lines

    @property
    def damaged(self) -> bool:
        """Whether anything at all was found to be wrong."""
        return self.damage_count > 0


def load_session(
    data: Source, *, new_id: Callable[[], str] | None = None, on_object: OnObject | None = None
) -> LoadedSession:
    """Load a session file.

    Args:
        data: The whole file, or its content in pieces.
        new_id: Draws ids for entries of version 1 and for entries that lost theirs. Left out, they are derived from the
            session id, so that every opening of an unchanged file agrees.
        on_object: See `lines.OnObject`.

    Raises:
        OctavoError: `session-unreadable`, `details.reason` one of `empty`, `not-jsonl`, `no-header`, `bad-header-id`.
    """
    with paused_gc():
        return parse_session_lines(parse_lines(data, on_object=on_object), new_id=new_id)


def parse_session_lines(lines: Lines, *, new_id: Callable[[], str] | None = None) -> LoadedSession:
    """Make a session of lines that were parsed before; arguments and errors as `load_session`."""
    objects = lines.objects
    slot = objects[0] if objects and _is_title_slot(objects[0]) else None
    start = 0 if slot is None else 1
    header = _header(lines, start)
    version = version_of(header)
    entries = objects[start + 1 :]
    offsets: Sequence[int] = lines.offsets[start + 1 :]
    if any(entry.get("type") == "session" for entry in entries):
        entries, offsets = _without_headers(lines, entries, offsets)
    draw = new_id or stable_ids(header["id"])
    migrated = migrate_to_current(header, entries, new_id=draw)
    identified = identify(migrated.entries, new_id=draw, offsets=offsets)
    for damage in identified.damage:
        lines.report(damage)
    entries, sanitised = _sanitise(identified)
    return LoadedSession(
        header=_fold_title(migrated.header, slot),
        entries=entries,
        title_slot=slot,
        damage=lines.damage,
        damage_count=lines.damage_count,
        needs_rewrite=migrated.changed or identified.changed or sanitised,
        version_on_disk=version,
        lines=lines,
    )


def _is_title_slot(value: JsonObject) -> bool:
    return value.get("type") == "title" and "v" in value


def _header(lines: Lines, position: int) -> JsonObject:
    if position >= len(lines.objects):
        reason = "no-header" if position else "not-jsonl" if lines.damage_count else "empty"
        sentence = {
            "empty": "The file is empty, so it is not a session; it was left untouched.",
            "not-jsonl": "The file holds no readable JSON object, so it is not a session; it was left untouched.",
            "no-header": "The file has a title but no session header; it was left untouched.",
        }[reason]
        raise OctavoError(ErrorKind.SESSION_UNREADABLE, sentence, details={"reason": reason})
    header = lines.objects[position]
    if header.get("type") != "session":
        raise OctavoError(
            ErrorKind.SESSION_UNREADABLE,
            "The first record is not a session header, so the file was left untouched; open a session file of pi or "
            "oh-my-pi.",
            details={"reason": "no-header", "type": str(header.get("type"))[:80]},
        )
    if not isinstance(header.get("id"), str) or not header["id"]:
        raise OctavoError(
            ErrorKind.SESSION_UNREADABLE,
            "The session header has no id, so the file was left untouched; restore the id from the file name.",
            details={"reason": "bad-header-id"},
        )
    return header


def _without_headers(
    lines: Lines, entries: list[JsonObject], offsets: Sequence[int]
) -> tuple[list[JsonObject], list[int]]:
    kept: list[JsonObject] = []
    places: list[int] = []
    for entry, offset in zip(entries, offsets, strict=True):
        if entry.get("type") == "session":
            lines.report(Damage(DamageKind.DUPLICATE_HEADER, 0, offset, 0, detail=str(entry.get("id"))[:80]))
        else:
            kept.append(entry)
            places.append(offset)
    return kept, places


def _fold_title(header: JsonObject, slot: JsonObject | None) -> JsonObject:
    """Let the title slot win over the header: it is the one that is rewritten in place."""
    if slot is None:
        return header
    folded = {key: value for key, value in header.items() if key not in {"title", "titleSource"}}
    if isinstance(title := slot.get("title"), str) and title:
        folded["title"] = title
        if isinstance(source := slot.get("source"), str):
            folded["titleSource"] = source
    return folded


def _sanitise(identified: Identified) -> tuple[list[JsonObject], bool]:
    entries = identified.entries
    changed = False
    for position in identified.with_payload:
        cleaned = sanitise_replay(entries[position])
        changed = changed or cleaned is not entries[position]
        entries[position] = cleaned
    return entries, changed
