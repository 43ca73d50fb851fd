"""A session on disk, as its owner writes it: creation, appends, rewrites, repair, and where each entry's line is.

Everything here blocks and is called by one thread at a time (`live` sees to both). It takes entries and gives back
entries; the tree, the queue and the notifications are `live`'s. Lines that did not change are copied byte for byte
by a rewrite, so fields we do not understand keep even their spelling.
"""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from octavo.sessions.damage import Damage, DamageKind
from octavo.sessions.ids import iso_timestamp
from octavo.sessions.lines import parse_lines, paused_gc
from octavo.sessions.reading import LoadedSession, load_session
from octavo.sessions.store.disk import Durability, create_exclusively, make_folder
from octavo.sessions.store.jsonl import Copy, Drift, JsonlFile, Piece, encode_line, is_record
from octavo.sessions.store.offload import is_large, is_stub, place_of, restore, stub
from octavo.sessions.titles import title_slot
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

_FREEZE_BYTES = 4 << 20
_LENGTH_BITS = 34
_LENGTH_MASK = (1 << _LENGTH_BITS) - 1
_HARMLESS = frozenset(
    {
        DamageKind.BOM,
        DamageKind.CRLF,
        DamageKind.UNTERMINATED_TAIL,
        DamageKind.TORN_TAIL,
        DamageKind.ORPHAN_PARENT,
        DamageKind.CYCLE,
        DamageKind.NOT_OBJECT,
        DamageKind.TOO_DEEP,
    }
)
"""Findings that a strict reader of the file survives, or that the next append repairs by itself."""


@dataclass(slots=True)
class Recovery:
    """What was wrong with the file and what is or will be done about it (`recovered` of `session/open`)."""

    migrated_from: float | None = None
    damage: list[Damage] = field(default_factory=list)
    damage_count: int = 0
    backup: Path | None = None
    rewrite_pending: bool = False
    vanished: tuple[str, ...] = ()
    """Entries this process had written and another program removed; kept in the side folder."""
    vanished_path: Path | None = None

    def __bool__(self) -> bool:
        return self.migrated_from is not None or self.damage_count > 0 or self.rewrite_pending or bool(self.vanished)


class SessionFile:
    """The file of one session.

    Attributes:
        recovery: State of damage, migration and repair.
        file: The open file.
    """

    def __init__(self, file: JsonlFile) -> None:
        self.file = file
        self.recovery = Recovery()
        self._places: dict[str, int] = {}
        self._slot: JsonObject | None = None
        self._copyable = True
        self._repair_by_rewrite = False

    @classmethod
    def create(
        cls, path: Path, header: JsonObject, lines: Sequence[tuple[JsonObject, bytes]], durability: Durability
    ) -> "SessionFile":
        """Create the file with its whole content at once.

        Raises:
            OctavoError: `storage-failed`; also when the name is taken, and then nothing was touched.
        """
        make_folder(path.parent, durability)
        head = encode_line(header)
        try:
            create_exclusively(path, (head, *(line for _, line in lines)), durability)
        except FileExistsError as error:
            message = f"{path} exists already; choose another path or open it."
            raise OctavoError(ErrorKind.STORAGE_FAILED, message, details={"path": str(path)}) from error
        created = cls(JsonlFile(path, durability))
        created._remember(lines, len(head))
        return created

    @classmethod
    def open(cls, path: Path, durability: Durability, *, writable: bool) -> tuple["SessionFile", LoadedSession]:
        """Open and read the file; nothing is written.

        Raises:
            OctavoError: `session-unreadable`, `storage-failed`.
        """
        opened = cls(JsonlFile(path, durability, writable=writable))
        try:
            return opened, opened.load()
        except BaseException:
            opened.file.close()
            raise

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.file.size

    def load(self) -> LoadedSession:
        """Read the whole file; large compactions arrive as stubs.

        Raises:
            OctavoError: `session-unreadable`, `storage-failed`.
        """
        places: list[int] = []

        def place(value: JsonObject, offset: int, length: int) -> JsonObject:
            places.append(found := offset << _LENGTH_BITS | length)
            return stub(value, found) if is_large(value, length) else value

        with paused_gc():
            loaded = load_session(self.file.chunks(), on_object=place)
            if self.file.size > _FREEZE_BYTES:
                # A million containers without a cycle among them: walking them would stall the next append.
                gc.freeze()
        # Entries that were left out or renamed while reading no longer pair up with lines by position.
        skipped = 1 if loaded.title_slot is None else 2
        aligned = len(places) == len(loaded.entries) + skipped
        self._places = {}
        if aligned:
            self._places = {e["id"]: place for e, place in zip(loaded.entries, places[skipped:], strict=True)}
        self._slot = loaded.title_slot
        self._assess(loaded, aligned=aligned)
        return loaded

    def append(self, lines: Sequence[tuple[JsonObject, bytes]], now_ms: int) -> None:
        """Write the lines durably behind the last one, in one write.

        Raises:
            OctavoError: `content-modified` when the file drifted, `storage-failed`; the file is as before.
        """
        offset, repair = self.file.append(b"".join(line for _, line in lines), now_ms)
        if repair is not None and repair.backup is not None:
            self.recovery.backup = repair.backup
        self._remember(lines, offset)

    @property
    def must_rewrite(self) -> bool:
        """Whether the next append has to rewrite the file (older version, damage, repaired ids)."""
        return self.recovery.rewrite_pending

    def rewrite(
        self,
        header: JsonObject,
        entries: Sequence[JsonObject],
        replaced: Mapping[str, JsonObject],
        lines: Sequence[tuple[JsonObject, bytes]],
        now_ms: int,
    ) -> list[JsonObject]:
        """Replace the content atomically: the header, the entries with those replaced, then the new lines.

        Damaged stretches go to a sidecar first. Returns entries that another program appended meanwhile; they are in
        the new file.

        Raises:
            OctavoError: `content-modified`, `storage-failed`; unless `file.generation` changed, nothing happened.
        """
        # Kept from an attempt that failed: on a full disk every retry would make it fuller.
        if self._repair_by_rewrite and self.recovery.backup is None:
            self.recovery.backup = self.file.back_up(self._damaged_ranges(), now_ms)
        places: dict[str, int] = {}
        written = 0

        def pieces() -> Iterator[Piece]:
            nonlocal written
            for piece, entry_id in self._pieces(header, entries, replaced, lines, now_ms):
                length = piece.length if isinstance(piece, Copy) else len(piece)
                if entry_id is not None:
                    places[entry_id] = written << _LENGTH_BITS | (length - 1)
                written += length
                yield piece

        def switch() -> None:
            self._places = places

        carried = self.file.rewrite(pieces(), self.file.size, switch)
        self._copyable, self._repair_by_rewrite = True, False
        self.recovery.rewrite_pending = False
        return self._read_foreign(carried, written) if carried else []

    def growth(self, *, whole_lines: bool) -> list[JsonObject] | None:
        """Entries another program appended since, or None when only loading again gives a sound answer.

        Whether their ids are new is for the caller to check.
        """
        start = self.file.size
        data = self.file.accept_growth(whole_lines=whole_lines)
        foreign = self._read_foreign(data, start)
        return foreign if len(foreign) == data.count(b"\n") and data.endswith(b"\n") else None

    def restore(self, entry: JsonObject) -> JsonObject:
        """The whole entry of a stub.

        Raises:
            OctavoError: `storage-failed` when the file no longer gives it.
        """
        # A rewrite may be running in a thread: the place and the bytes have to be of the same file.
        with self.file.switching:
            place = self._places.get(entry["id"]) or place_of(entry)
            line = self.file.read(place >> _LENGTH_BITS, place & _LENGTH_MASK)
        found = parse_lines(line).objects
        if not found:
            message = f"The payload of entry {entry['id']} is gone from {self.file.path}; reload the session."
            raise OctavoError(ErrorKind.CONTENT_MODIFIED, message, entryId=entry["id"])
        return restore(entry, found[0])

    def offload(self, entry: JsonObject) -> JsonObject:
        """The stub of an entry, if its line is large and its place known; else the entry itself."""
        place = self._places.get(entry["id"])
        if place is None or is_stub(entry) or not is_large(entry, place & _LENGTH_MASK):
            return entry
        return stub(entry, place)

    def line_length(self, entry_id: str) -> int:
        """Bytes of the entry's line, 0 when unknown."""
        return self._places.get(entry_id, 0) & _LENGTH_MASK

    def close(self) -> None:
        """Release the file."""
        self.file.close()

    def drift(self) -> Drift:
        """See `JsonlFile.drift`."""
        return self.file.drift()

    def _remember(self, lines: Iterable[tuple[JsonObject, bytes]], offset: int) -> None:
        for entry, line in lines:
            self._places[entry["id"]] = offset << _LENGTH_BITS | (len(line) - 1)
            offset += len(line)

    def _assess(self, loaded: LoadedSession, *, aligned: bool) -> None:
        lines = loaded.lines
        holds_records = bool(lines.offsets) and lines.offsets[-1] >= lines.tail_offset
        tail_needs_care = (
            lines.unterminated_tail
            and holds_records
            and not is_record(self.file.read(lines.tail_offset, lines.size - lines.tail_offset))
        )
        # A torn tail is reported as a syntax error too; cutting it off is the append's own repair.
        broken = any(
            damage.kind not in _HARMLESS and not (lines.unterminated_tail and damage.offset >= lines.tail_offset)
            for damage in loaded.damage
        )
        self._repair_by_rewrite = broken or tail_needs_care or loaded.damage_count > len(loaded.damage)
        self._copyable = aligned and not loaded.needs_rewrite and not self._repair_by_rewrite
        self.recovery = Recovery(
            migrated_from=loaded.version_on_disk if loaded.version_on_disk < loaded.header.get("version", 0) else None,
            damage=loaded.damage,
            damage_count=loaded.damage_count,
            rewrite_pending=loaded.needs_rewrite or self._repair_by_rewrite,
        )

    def _damaged_ranges(self) -> list[tuple[int, int]]:
        """Whole lines around every finding, merged; the whole file when not every finding was kept."""
        if self.recovery.damage_count > len(self.recovery.damage):
            return [(0, self.file.size)]
        ranges: list[tuple[int, int]] = []
        for damage in sorted(self.recovery.damage, key=lambda found: found.offset):
            if damage.kind in {DamageKind.CRLF, DamageKind.ORPHAN_PARENT, DamageKind.CYCLE, DamageKind.BOM}:
                continue
            start, end = self.file.line_around(damage.offset, damage.length)
            if ranges and start < sum(ranges[-1]):
                ranges[-1] = (ranges[-1][0], max(end, sum(ranges[-1])) - ranges[-1][0])
            else:
                ranges.append((start, end - start))
        return ranges

    def _pieces(
        self,
        header: JsonObject,
        entries: Sequence[JsonObject],
        replaced: Mapping[str, JsonObject],
        lines: Sequence[tuple[JsonObject, bytes]],
        now_ms: int,
    ) -> Iterator[tuple[Piece, str | None]]:
        if self._slot is not None:
            yield self._title_line(header, now_ms), None
        yield encode_line(header), None
        for entry in entries:
            entry_id: str = entry["id"]
            place = self._places.get(entry_id)
            if entry_id in replaced:
                yield encode_line(replaced[entry_id]), entry_id
            elif self._copyable and place is not None:
                # The last line may lack its newline, so newlines are never part of what is copied.
                yield from self._copied(place, entry_id)
            else:
                yield encode_line(self.restore(entry) if is_stub(entry) else entry), entry_id
        for entry, line in lines:
            yield line, entry["id"]

    @staticmethod
    def _title_line(header: JsonObject, now_ms: int) -> bytes:
        title, source = header.get("title"), header.get("titleSource")
        text = title if isinstance(title, str) else ""
        return title_slot(text, source if isinstance(source, str) else None, iso_timestamp(now_ms))

    def _copied(self, place: int, entry_id: str) -> Iterator[tuple[Piece, str | None]]:
        offset, length = place >> _LENGTH_BITS, place & _LENGTH_MASK
        if offset + length < self.file.size:
            yield Copy(offset, length + 1), entry_id
        else:
            yield self.file.read(offset, length) + b"\n", entry_id

    def _read_foreign(self, data: bytes, start: int) -> list[JsonObject]:
        entries: list[JsonObject] = []

        def place(value: JsonObject, offset: int, length: int) -> JsonObject:
            entry_id = value.get("id")
            if isinstance(entry_id, str) and value.get("type") not in {"session", "title"}:
                entries.append(value)
                if entry_id not in self._places:
                    self._places[entry_id] = (start + offset) << _LENGTH_BITS | length
            return value

        parse_lines(data, on_object=place)
        return entries
