"""What can be wrong with a session file, and the record of where it was found.

Reading never throws damage away in silence and never rewrites the file: it recovers what it can and hands these records
to the caller. Deciding what to do about them (back up, repair on the next write, tell the client) is the store's work.
"""

from dataclasses import dataclass
from enum import StrEnum

from octavo_protocol.base import JsonObject


class DamageKind(StrEnum):
    """The stable reason of one finding."""

    SYNTAX = "syntax"
    """A line is not JSON and nothing in it could be recovered."""
    NOT_OBJECT = "not-object"
    """A line is JSON but not an object."""
    TORN_TAIL = "torn-tail"
    """The file ends inside a record."""
    UNTERMINATED_TAIL = "unterminated-tail"
    """The last record is complete but its newline is missing; the next append must write one first."""
    GLUED = "glued-records"
    """Several complete records share a line; all were read."""
    HALF_RECORD = "half-record"
    """A record broke off and another follows on the same line; the whole one was read."""
    SPLIT_RECORD = "split-record"
    """A record contained raw newlines and spread over several lines; it was joined."""
    NUL = "nul-bytes"
    """NUL bytes between records, as file systems leave after a power loss."""
    BOM = "byte-order-mark"
    """The file begins with a UTF-8 byte order mark."""
    CRLF = "crlf"
    """Lines end with CR LF; reported once with the number of lines."""
    INVALID_UTF8 = "invalid-utf8"
    """Bytes that are not UTF-8 were read as U+FFFD."""
    LONE_SURROGATE = "lone-surrogate"
    """Half of a surrogate pair was read as U+FFFD."""
    NON_FINITE = "non-finite-number"
    """NaN or Infinity was read as null."""
    TOO_DEEP = "too-deep"
    """A record nests deeper than the decoder goes."""
    DUPLICATE_RECORD = "duplicate-record"
    """The same record is there twice; the copy was left out."""
    DUPLICATE_ID = "duplicate-id"
    """Two different records share an id; the later one was given a new id."""
    DUPLICATE_HEADER = "duplicate-header"
    """A second session header stands among the entries; it was left out."""
    MISSING_ID = "missing-id"
    """An entry of a version that has ids has none; it was given one."""
    ORPHAN_PARENT = "orphan-parent"
    """`parentId` names no entry; the entry is a root."""
    CYCLE = "cycle"
    """Entries are each other's ancestors; the chain is cut at the first of them in file order."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One finding.

    Attributes:
        kind: What is wrong.
        line: Physical line, counted from 1; 0 when the finding concerns no single line.
        offset: First byte of the affected region in the file.
        length: Bytes of the affected region.
        count: How often, for kinds that are reported once per file or line.
        detail: The entry id or decoder message that helps a person find the place.
    """

    kind: DamageKind
    line: int
    offset: int
    length: int
    count: int = 1
    detail: str = ""

    def to_wire(self) -> JsonObject:
        """Return the object that `recovered.damage[]` carries."""
        found: JsonObject = {
            "kind": self.kind.value,
            "line": self.line,
            "offset": self.offset,
            "length": self.length,
            "count": self.count,
        }
        return {**found, "detail": self.detail} if self.detail else found
