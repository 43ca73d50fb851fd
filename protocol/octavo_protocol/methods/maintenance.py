"""Params and results of maintenance: what the host asks at its turn ends, pruning, shaking, handoff, the tick."""

from typing import Literal, TypeAlias

from pydantic import Field

from octavo_protocol.base import MessageObject, Reply, Wire
from octavo_protocol.methods.common import ContextUsage, Notice, Reason, SessionParams, WorkDone
from octavo_protocol.methods.compaction import CompactionResult
from octavo_protocol.methods.session import SessionInfo

At: TypeAlias = Literal["turnEnd", "prePrompt", "midTurn"]
DirectiveAction: TypeAlias = Literal["none", "pruned", "compacted", "promoted", "handoff", "deferred"]
Next: TypeAlias = Literal["proceed", "retry", "autoContinue", "wait", "stop"]


class CheckMaintenanceParams(SessionParams, WorkDone):
    """Params of `session/checkMaintenance`."""

    at: At = Field(description="Where the host stands: after a turn, before a prompt, or between tool calls.")
    pending_messages: list[MessageObject] = Field(
        default_factory=list, description="Messages about to be appended, counted in (`prePrompt`)."
    )
    queued: bool = Field(default=False, description="Whether the host has user messages waiting for the next turn.")
    allow_defer: bool | None = Field(
        default=None, description="Whether a handoff may run later; absent means only at `turnEnd`."
    )
    auto_continue: bool | None = Field(
        default=None, description="Whether to continue by itself afterwards; absent means `compaction.autoContinue`."
    )


class Directive(Reply):
    """What was done and what the host does next (protocol.md §5)."""

    action: DirectiveAction = Field(description="What the daemon did.")
    next: Next = Field(description="What the host does now.")
    reason: Reason | None = Field(default=None, description="What set the action off.")
    skipped: str | None = Field(default=None, description="Why nothing was done although something was due.")
    drop_entry_id: str | None = Field(
        default=None, description="Failed or cut-off turn to leave out of the next request; it stays in the tree."
    )
    prompt: str | None = Field(default=None, description="Developer prompt to continue with (`autoContinue`).")
    model: str | None = Field(default=None, description="`provider/id` to use from now on, after a promotion.")
    new_session_id: str | None = Field(default=None, description="Session that takes over, after a handoff.")
    operation_id: str | None = Field(default=None, description="The run, as named in events.")
    delay_ms: int = Field(default=0, description="Time to wait before doing it.")
    tokens_freed: int = Field(default=0, description="Tokens pruning and shaking made room for.")
    result: CompactionResult | None = Field(default=None, description="The compaction, if there was one.")
    usage: ContextUsage = Field(description="How full the context is now.")
    notices: list[Notice] = Field(default_factory=list, description="What a user should know.")


class RunIdleCompactionParams(SessionParams, WorkDone):
    """Params of `session/runIdleCompaction`."""


class RunIdleCompactionResult(Reply):
    """Result of `session/runIdleCompaction`."""

    ran: bool = Field(description="Whether anything was done.")
    reason: str | None = Field(default=None, description="Why not, in a sentence.")
    result: CompactionResult | None = Field(default=None, description="The compaction, if there was one.")


class PruneParams(SessionParams):
    """Params of `session/prune`."""

    mode: Literal["outputs", "stale", "both"] = Field(
        default="both", description="Old tool outputs, superseded and useless results, or both."
    )
    dry_run: bool = Field(default=False, description="Count without changing anything.")


class PruneResult(Reply):
    """Result of `session/prune`."""

    pruned_count: int = Field(description="Tool results blanked.")
    tokens_saved: int = Field(description="Estimated tokens freed.")
    entry_ids: list[str] = Field(default_factory=list, description="Entries rewritten.")
    dry_run: bool = Field(default=False, description="Whether nothing was changed.")


class ShakeParams(SessionParams):
    """Params of `session/shake`."""

    mode: Literal["elide", "images"] = Field(
        default="elide", description="Move bulky text into an artifact, or remove images."
    )
    aggressive: bool = Field(default=True, description="Manual limits; false uses those of the automatic run.")
    protect_tokens: int | None = Field(
        default=None, ge=0, description="Newest tokens left alone, instead of the preset's."
    )
    min_savings: int | None = Field(
        default=None, ge=0, description="Smallest worthwhile saving, instead of the preset's."
    )
    dry_run: bool = Field(default=False, description="Count without changing anything.")


class ShakeResult(Reply):
    """Result of `session/shake`."""

    mode: Literal["elide", "images"] = Field(description="What was done.")
    tool_results_dropped: int = Field(default=0, description="Tool results replaced by a placeholder.")
    blocks_dropped: int = Field(default=0, description="Fenced or tagged blocks replaced by a placeholder.")
    images_dropped: int = Field(default=0, description="Images removed.")
    tokens_freed: int = Field(description="Estimated tokens freed.")
    artifact_id: str | None = Field(default=None, description="Where the text went (`session/readArtifact`).")
    entry_ids: list[str] = Field(default_factory=list, description="Entries rewritten.")
    dry_run: bool = Field(default=False, description="Whether nothing was changed.")


class HandoffParams(SessionParams, WorkDone):
    """Params of `session/handoff`."""

    custom_instructions: str | None = Field(default=None, description="What the document should look at.")
    model: str | None = Field(default=None, description="`provider/id` that writes it; absent means the session's.")
    save_to_disk: bool = Field(default=False, description="Also write the document beside the old session.")


class HandoffResult(Reply):
    """Result of `session/handoff`."""

    operation_id: str = Field(description="Names this run in events.")
    document: str | None = Field(default=None, description="The document; absent when the model wrote nothing.")
    saved_path: str | None = Field(default=None, description="Where it was saved.")
    new_session: SessionInfo | None = Field(
        default=None, description="Session that takes over, opened for this client."
    )
    model: str | None = Field(default=None, description="`provider/id` that wrote it.")


class TickParams(Wire):
    """Params of `maintenance/tick`."""

    idle_for_ms: int | None = Field(
        default=None, ge=0, description="Idle time a session needs, instead of `compaction.idleTimeoutSeconds`."
    )


class TickedSession(Reply):
    """What a tick did with one session."""

    session_id: str = Field(description="The session.")
    ran: bool = Field(description="Whether anything was done.")
    reason: str | None = Field(default=None, description="Why not, in a sentence.")
    tokens_before: int | None = Field(default=None, description="Tokens before, if it ran.")
    tokens_after: int | None = Field(default=None, description="Tokens after, if it ran.")


class TickResult(Reply):
    """Result of `maintenance/tick`."""

    sessions: list[TickedSession] = Field(description="Every open session.")
