"""Params and results of the hooks the daemon asks its clients (engine.md §15)."""

from pydantic import Field

from octavo_protocol.base import EntryObject, JsonObject, MessageObject, Reply, Wire
from octavo_protocol.methods.common import Reason


class FileOperations(Reply):
    """Files tool calls touched, before they are sorted into read and modified."""

    read: list[str] = Field(default_factory=list, description="Paths read, without selectors.")
    written: list[str] = Field(default_factory=list, description="Paths written.")
    edited: list[str] = Field(default_factory=list, description="Paths edited.")


class HookPreparation(Reply):
    """A compaction that is about to run."""

    first_kept_entry_id: str = Field(description="First entry that stays verbatim.")
    messages_to_summarize: list[MessageObject] = Field(description="What the summary replaces.")
    turn_prefix_messages: list[MessageObject] = Field(description="Beginning of a split turn.")
    recent_messages: list[MessageObject] = Field(default_factory=list, description="What stays.")
    is_split_turn: bool = Field(description="Whether the cut falls inside a turn.")
    tokens_before: int = Field(description="Tokens of the context now.")
    previous_summary: str | None = Field(default=None, description="Summary that is carried on.")
    file_ops: FileOperations = Field(description="Files touched so far.")


class SessionBeforeCompactParams(Reply):
    """Params of `hook/sessionBeforeCompact`."""

    session_id: str = Field(description="The session.")
    operation_id: str = Field(description="The run, as named in events.")
    reason: Reason = Field(description="What set it off.")
    preparation: HookPreparation = Field(description="What is planned.")
    branch_entries: list[EntryObject] = Field(description="The whole branch.")
    custom_instructions: str | None = Field(default=None, description="The user's instructions.")


class HookCompaction(Wire):
    """A compaction a hook made instead of the daemon."""

    summary: str = Field(min_length=1, description="Text that replaces the discarded part.")
    short_summary: str | None = Field(default=None, description="Two or three sentences for lists and dividers.")
    first_kept_entry_id: str | None = Field(default=None, description="Absent means the planned one.")
    tokens_before: int | None = Field(default=None, ge=0, description="Absent means the measured figure.")
    details: JsonObject | None = Field(default=None, description="Stored with the entry.")
    preserve_data: JsonObject | None = Field(default=None, description="Stored with the entry and carried on.")


class SessionBeforeCompactResult(Wire):
    """Result of `hook/sessionBeforeCompact`; null or nothing set lets the compaction run."""

    cancel: bool = Field(default=False, description="Do not compact.")
    compaction: HookCompaction | None = Field(default=None, description="Write this instead.")


class SessionCompactingParams(Reply):
    """Params of `hook/sessionCompacting`."""

    session_id: str = Field(description="The session.")
    operation_id: str = Field(description="The run, as named in events.")
    messages: list[MessageObject] = Field(description="What will be summarised, the split turn's beginning included.")


class SessionCompactingResult(Wire):
    """Result of `hook/sessionCompacting`; null or nothing set changes nothing."""

    context: list[str] | None = Field(default=None, description="Lines for the summariser's additional context.")
    prompt: str | None = Field(default=None, description="Prompt instead of the standard one.")
    preserve_data: JsonObject | None = Field(default=None, description="Stored with the entry and carried on.")


class TreePreparation(Reply):
    """A navigation that is about to happen."""

    target_id: str = Field(description="Entry to go to.")
    old_leaf_id: str | None = Field(default=None, description="Leaf now.")
    common_ancestor_id: str | None = Field(default=None, description="Where the two branches part.")
    entries_to_summarize: list[EntryObject] = Field(description="What is left behind, oldest first.")
    user_wants_summary: bool = Field(description="Whether a summary was asked for.")


class SessionBeforeTreeParams(Reply):
    """Params of `hook/sessionBeforeTree`."""

    session_id: str = Field(description="The session.")
    preparation: TreePreparation = Field(description="What is planned.")


class HookTreeSummary(Wire):
    """A branch summary a hook made instead of the daemon."""

    summary: str = Field(description="Its text.")
    details: JsonObject | None = Field(default=None, description="Stored with the entry.")


class SessionBeforeTreeResult(Wire):
    """Result of `hook/sessionBeforeTree`; null or nothing set lets the navigation happen."""

    cancel: bool = Field(default=False, description="Stay where we are.")
    summary: HookTreeSummary | None = Field(default=None, description="Used only when a summary was asked for.")
