"""What a finished summary hands to whoever writes the entry, and what it reports while it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from octavo_protocol.base import JsonObject

Phase: TypeAlias = Literal["native", "history", "turnPrefix", "short", "branch", "handoff"]
Source: TypeAlias = Literal["model", "remote", "native", "extractive", "hook"]


@dataclass(frozen=True, slots=True)
class SummaryProgress:
    """Where a summary stands: `piece` of `pieces` of a phase, and output characters received so far."""

    phase: Phase
    piece: int
    pieces: int
    characters: int
    source: Source


OnSummaryProgress: TypeAlias = Callable[[SummaryProgress], None]


@dataclass(frozen=True, slots=True)
class SummaryCall:
    """One call that was made: what for, by whom, how it ended; `usage` as the provider reported it."""

    phase: Phase
    source: Source
    model: str
    stop_reason: str
    usage: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class CompactionOutcome:
    """The content of a compaction entry, not yet checked against the session and not written.

    `source` says which path produced the summary, `notices` what was repaired or went another way than asked,
    `redactions` how many secrets were kept out of the requests.
    """

    summary: str
    short_summary: str | None
    first_kept_entry_id: str
    tokens_before: int
    details: JsonObject
    preserve_data: JsonObject | None = None
    calls: tuple[SummaryCall, ...] = ()
    notices: tuple[str, ...] = ()
    source: Source = "model"
    redactions: int = 0

    def to_wire(self) -> JsonObject:
        """Return the result object of engine.md §7.3, absent values left out."""
        optional = {"shortSummary": self.short_summary, "preserveData": self.preserve_data}
        return {
            "summary": self.summary,
            "firstKeptEntryId": self.first_kept_entry_id,
            "tokensBefore": self.tokens_before,
            "details": self.details,
            **{key: value for key, value in optional.items() if value is not None},
        }
