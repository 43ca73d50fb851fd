"""Params and results of compacting: run, hold, apply, discard, abort, undo."""

from pydantic import Field, model_validator

from octavo_protocol.base import JsonObject, Reply
from octavo_protocol.methods.common import (
    Action,
    Check,
    Notice,
    Reason,
    SessionParams,
    Strategy,
    TokenUsage,
    WorkDone,
)


class CompactParams(SessionParams, WorkDone):
    """Params of `session/compact`."""

    custom_instructions: str | None = Field(
        default=None, description="What the summary should look at; only a model's summary can, so it implies one."
    )
    strategy: Strategy | None = Field(default=None, description="Strategy by name; absent means the configured one.")
    model: str | None = Field(default=None, description="`provider/id` that summarises; absent means the session's.")
    hold: bool = Field(default=False, description="Keep the result for preview instead of writing it.")
    expected_leaf_id: str | None = Field(
        default=None, description="Refuse with `content-modified` when the leaf is another."
    )

    @model_validator(mode="after")
    def _instructions_reach_somebody(self) -> "CompactParams":
        if self.custom_instructions and self.strategy not in {None, "context-full"}:
            raise ValueError(f"{self.strategy} follows no instructions; leave out `strategy` or the instructions")
        return self


class CompactionResult(Reply):
    """What a compaction made; `session/applyCompaction` and `session/getHeldCompaction` answer with it too."""

    operation_id: str = Field(description="Names this run in events, and in apply or discard.")
    reason: Reason = Field(description="What set it off.")
    action: Action = Field(description="What was done.")
    held: bool = Field(default=False, description="Whether it waits for apply or discard.")
    entry_id: str | None = Field(default=None, description="The compaction entry; absent while held.")
    leaf_id: str | None = Field(default=None, description="Leaf afterwards.")
    first_kept_entry_id: str = Field(description="First entry that stays verbatim.")
    summary: str = Field(description="Text that replaces the discarded part.")
    short_summary: str | None = Field(default=None, description="Two or three sentences for lists and dividers.")
    tokens_before: int = Field(description="Tokens of the context before.")
    tokens_after: int = Field(description="Estimated tokens of the context after.")
    model: str | None = Field(default=None, description="`provider/id` that wrote the summary; absent when none did.")
    frames: int = Field(default=0, description="Frames attached.")
    from_extension: bool = Field(default=False, description="Whether a hook supplied the result.")
    usage: TokenUsage | None = Field(default=None, description="What the model calls cost.")
    duration_ms: int = Field(description="Time from start to commit.")
    checks: list[Check] = Field(description="Every check with its figures, in the order they were made.")
    notices: list[Notice] = Field(default_factory=list, description="What a user should know about this run.")
    details: JsonObject | None = Field(
        default=None, description="Details stored with the entry, such as the file lists."
    )


class GetHeldCompactionParams(SessionParams):
    """Params of `session/getHeldCompaction`."""

    operation_id: str = Field(description="A held result, as `session/getInfo` lists them.")


class ApplyCompactionParams(SessionParams):
    """Params of `session/applyCompaction`."""

    operation_id: str = Field(description="A held result.")
    summary: str | None = Field(default=None, description="Edited summary; it is checked again.")
    short_summary: str | None = Field(default=None, description="Edited short summary.")


class DiscardCompactionParams(SessionParams):
    """Params of `session/discardCompaction`."""

    operation_id: str = Field(description="A held result.")


class DiscardCompactionResult(Reply):
    """Result of `session/discardCompaction`."""

    discarded: bool = Field(description="Always true; an unknown operation is an error.")


class UndoCompactionParams(SessionParams):
    """Params of `session/undoCompaction`."""

    expected_leaf_id: str | None = Field(
        default=None, description="Refuse with `content-modified` when the leaf is another."
    )


class UndoCompactionResult(Reply):
    """Result of `session/undoCompaction`: the entry stays in the tree, on its own branch."""

    compaction_entry_id: str = Field(description="The compaction left behind.")
    old_leaf_id: str = Field(description="Leaf before; entries after the compaction stay on that branch.")
    leaf_id: str | None = Field(default=None, description="Leaf now: the entry before the compaction.")
    tokens: int = Field(description="Tokens of the context now.")
    seq: int = Field(description="Number of the change.")
