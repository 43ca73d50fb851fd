"""A finished but unwritten compaction, whoever made it: a model, the local summary, frames, or a client's hook."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from octavo.compaction.outcome import CompactionOutcome, SummaryCall
from octavo_protocol.base import JsonObject
from octavo_protocol.methods.common import Action

Report = Callable[..., None]
"""`report(phase, message=None, percentage=None, **figures)`: progress of a run, for whoever asked for it."""


def no_report(*_: object, **__: object) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of a compaction entry and how it came about.

    `model` is the `provider/id` that wrote it, None when none did; `frames` counts attached images and
    `frame_tokens` is their price; `notices` are
    sentences for the user; `redactions` how many secrets were kept out of what was sent or drawn.
    """

    action: Action
    summary: str
    short_summary: str | None
    first_kept_entry_id: str
    tokens_before: int
    details: JsonObject | None = None
    preserve_data: JsonObject | None = None
    model: str | None = None
    frames: int = 0
    frame_tokens: int = 0
    from_extension: bool = False
    calls: Sequence[SummaryCall] = ()
    notices: Sequence[str] = ()
    redactions: int = 0

    @classmethod
    def from_outcome(cls, outcome: CompactionOutcome, action: Action, model: str | None) -> "Draft":
        """Take over what `compaction` produced."""
        return cls(
            action=action,
            summary=outcome.summary,
            short_summary=outcome.short_summary,
            first_kept_entry_id=outcome.first_kept_entry_id,
            tokens_before=outcome.tokens_before,
            details=outcome.details,
            preserve_data=outcome.preserve_data,
            model=model,
            calls=outcome.calls,
            notices=outcome.notices,
            redactions=outcome.redactions,
        )

    def entry(self) -> JsonObject:
        """The compaction entry (engine.md §1.3), absent values left out; id, parent and time are the session's."""
        optional = {
            "shortSummary": self.short_summary,
            "details": self.details,
            "preserveData": self.preserve_data,
        }
        return {
            "type": "compaction",
            "summary": self.summary,
            "firstKeptEntryId": self.first_kept_entry_id,
            "tokensBefore": self.tokens_before,
            **{key: value for key, value in optional.items() if value is not None},
            "fromExtension": self.from_extension,
        }
