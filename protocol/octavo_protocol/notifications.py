"""Every notification of the protocol: its name, its payload, who tells whom, and when.

`NOTIFICATIONS` is the one table. Requests are in `methods`; the LSP lifecycle is in `lifecycle`.
"""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from octavo_protocol.base import EntryObject, JsonObject, Reply, Wire
from octavo_protocol.methods.common import Action, Empty, Reason
from octavo_protocol.methods.compaction import CompactionResult
from octavo_protocol.methods.maintenance import HandoffResult
from octavo_protocol.methods.spec import Direction
from octavo_protocol.methods.tree import Change


class Operation(Reply):
    """Mixin: a run that has a start and an end."""

    session_id: str = Field(description="The session.")
    operation_id: str = Field(description="Names the run; its start and its end carry the same.")


class CompactionStart(Operation):
    """Payload of `session/compactionStart`."""

    reason: Reason = Field(description="What set it off.")
    action: Action = Field(description="What is about to be done.")
    tokens_before: int | None = Field(default=None, description="Tokens of the context now.")


class CompactionEnd(Operation):
    """Payload of `session/compactionEnd`: exactly one for every start, whatever happened."""

    reason: Reason = Field(description="What set it off.")
    action: Action = Field(description="What was done or tried last.")
    result: CompactionResult | None = Field(default=None, description="The compaction, when there is one.")
    entry_id: str | None = Field(default=None, description="The compaction entry, when one was written.")
    aborted: bool = Field(description="Whether it was cancelled or aborted.")
    will_retry: bool = Field(description="Whether the failed turn is tried again.")
    skipped: bool = Field(default=False, description="Whether there was nothing to do.")
    skip_reason: str | None = Field(default=None, description="Why there was nothing to do, in a sentence.")
    error_message: str | None = Field(default=None, description="Why it failed, in a sentence.")
    tokens_before: int | None = Field(default=None, description="Tokens of the context before.")
    tokens_after: int | None = Field(default=None, description="Estimated tokens of the context after.")
    model: str | None = Field(default=None, description="`provider/id` that was asked last.")
    duration_ms: int = Field(default=0, description="Time since the start.")


class BranchSummaryStart(Operation):
    """Payload of `session/branchSummaryStart`."""

    target_id: str = Field(description="Entry navigated to.")
    entries: int = Field(description="Entries left behind.")


class BranchSummaryEnd(Operation):
    """Payload of `session/branchSummaryEnd`: exactly one for every start, whatever happened."""

    entry_id: str | None = Field(default=None, description="The stored summary, when there is one.")
    aborted: bool = Field(description="Whether it was cancelled or aborted.")
    error_message: str | None = Field(default=None, description="Why it failed, in a sentence.")
    model: str | None = Field(default=None, description="`provider/id` that was asked.")
    duration_ms: int = Field(default=0, description="Time since the start.")


class HandoffStart(Operation):
    """Payload of `session/handoffStart`."""

    reason: Reason = Field(description="What set it off.")


class HandoffEnd(Operation):
    """Payload of `session/handoffEnd`: exactly one for every start, whatever happened."""

    reason: Reason = Field(description="What set it off.")
    result: HandoffResult | None = Field(default=None, description="The handoff, when there is one.")
    aborted: bool = Field(description="Whether it was cancelled or aborted.")
    error_message: str | None = Field(default=None, description="Why it failed, in a sentence.")
    duration_ms: int = Field(default=0, description="Time since the start.")


class DidChange(Change):
    """Payload of `session/didChange`."""

    session_id: str = Field(description="The session.")
    epoch: str = Field(description="Numbering `seq` belongs to.")
    title: str | None = Field(default=None, description="New title, for kind `title`.")


class Continue(Reply):
    """Payload of `session/continue`."""

    session_id: str = Field(description="The session.")
    kind: Literal["retry", "autoContinue"] = Field(description="Repeat the failed turn, or go on with a prompt.")
    prompt: str | None = Field(default=None, description="Developer prompt to go on with.")
    model: str | None = Field(default=None, description="`provider/id` to call.")
    drop_entry_id: str | None = Field(default=None, description="Failed turn to leave out of the request.")


class ModelPromoted(Reply):
    """Payload of `session/modelPromoted`."""

    session_id: str = Field(description="The session.")
    from_: str = Field(alias="from", description="`provider/id` before.")
    to: str = Field(description="`provider/id` from now on.")
    reason: Reason = Field(description="What set it off.")


class SessionNotice(Reply):
    """Payload of `session/notice`."""

    session_id: str | None = Field(default=None, description="The session; absent when it concerns the daemon.")
    level: Literal["info", "warning", "error"] = Field(description="How much it matters.")
    message: str = Field(description="One sentence, without secrets.")
    source: str = Field(description="Part of the daemon that speaks, for example `compaction` or `hooks`.")


class ProgressValue(Reply):
    """Value of `$/progress`: LSP's work-done progress with our figures beside it."""

    kind: Literal["begin", "report", "end"] = Field(description="Place in the sequence.")
    title: str | None = Field(default=None, description="What is being done; with `begin`.")
    message: str | None = Field(default=None, description="What is being done now.")
    percentage: int | None = Field(default=None, ge=0, le=100, description="How much is done, where that is known.")
    cancellable: bool | None = Field(default=None, description="Whether `$/cancelRequest` stops it.")
    phase: str | None = Field(
        default=None,
        description="`prepare`, `hooks`, `summary`, `turnPrefix`, `shortSummary`, `frames`, `checks`, `write`.",
    )
    tokens_in: int | None = Field(default=None, description="Tokens the model was given so far, estimated.")
    tokens_out: int | None = Field(default=None, description="Tokens the model wrote so far, estimated.")
    frames_done: int | None = Field(default=None, description="Frames drawn.")
    frames_total: int | None = Field(default=None, description="Frames to draw.")


class Progress(Reply):
    """Payload of `$/progress`."""

    token: str | int = Field(description="`workDoneToken` of the request.")
    value: ProgressValue = Field(description="Where it stands.")


class LogMessage(Reply):
    """Payload of `window/logMessage`."""

    type: int = Field(ge=1, le=5, description="1 error, 2 warning, 3 info, 4 log, 5 debug.")
    message: str = Field(description="One line for a log.")


class SessionCompact(Reply):
    """Payload of `hook/sessionCompact`."""

    session_id: str = Field(description="The session.")
    operation_id: str = Field(description="The run, as named in events.")
    compaction_entry: EntryObject = Field(description="The entry as it was written.")
    from_extension: bool = Field(description="Whether a hook supplied the result.")


class SessionTree(Reply):
    """Payload of `hook/sessionTree`."""

    session_id: str = Field(description="The session.")
    new_leaf_id: str | None = Field(default=None, description="Leaf now: the summary, if one was written.")
    old_leaf_id: str | None = Field(default=None, description="Leaf before.")
    summary_entry: EntryObject | None = Field(default=None, description="The stored branch summary.")
    from_extension: bool | None = Field(default=None, description="With a summary: whether a hook supplied it.")


class CancelRequest(Wire):
    """Payload of `$/cancelRequest`."""

    id: str | int = Field(description="Id of the request that shall stop; it is still answered.")


class SetTrace(Wire):
    """Payload of `$/setTrace`."""

    value: Literal["off", "messages", "verbose"] = Field(description="How much `window/logMessage` says.")


class DidChangeConfiguration(Wire):
    """Payload of `workspace/didChangeConfiguration`."""

    settings: JsonObject = Field(description="Settings, by dotted key or nested; perhaps under the key `octavo`.")


@dataclass(frozen=True, slots=True)
class NotificationSpec:
    """One notification: its name on the wire, its payload, and the sentence the reference prints."""

    name: str
    params: type[Wire]
    doc: str
    direction: Direction = Direction.DAEMON_TO_CLIENT


_ALL = (
    NotificationSpec("session/compactionStart", CompactionStart, "A compaction or shake has begun."),
    NotificationSpec(
        "session/compactionEnd",
        CompactionEnd,
        "It has ended: exactly one for every start, also after failures, aborts and shutdown.",
    ),
    NotificationSpec("session/branchSummaryStart", BranchSummaryStart, "A branch summary is being written."),
    NotificationSpec("session/branchSummaryEnd", BranchSummaryEnd, "It has ended: exactly one for every start."),
    NotificationSpec("session/handoffStart", HandoffStart, "A handoff document is being written."),
    NotificationSpec("session/handoffEnd", HandoffEnd, "It has ended: exactly one for every start."),
    NotificationSpec(
        "session/didChange",
        DidChange,
        "The session changed. Sent to every connection that has it open, before the answer of the request that changed "
        "it; a gap in `seq` means to catch up with `session/getEntries`.",
    ),
    NotificationSpec("session/continue", Continue, "The host should call its model now."),
    NotificationSpec("session/modelPromoted", ModelPromoted, "The session switched to a model with a larger window."),
    NotificationSpec("session/notice", SessionNotice, "Something a user should see."),
    NotificationSpec("$/progress", Progress, "Where a long request with a `workDoneToken` stands."),
    NotificationSpec(
        "window/logMessage", LogMessage, "A line for the client's log; how many is set with `$/setTrace`."
    ),
    NotificationSpec(
        "hook/sessionCompact", SessionCompact, "A compaction was written. Sent to clients that registered it."
    ),
    NotificationSpec("hook/sessionTree", SessionTree, "The leaf was moved. Sent to clients that registered it."),
    NotificationSpec("initialized", Empty, "The client has read the `initialize` result.", Direction.CLIENT_TO_DAEMON),
    NotificationSpec("exit", Empty, "The client hangs up.", Direction.CLIENT_TO_DAEMON),
    NotificationSpec("$/cancelRequest", CancelRequest, "Stop a request; sent either way.", Direction.CLIENT_TO_DAEMON),
    NotificationSpec("$/setTrace", SetTrace, "Set how much is logged to the client.", Direction.CLIENT_TO_DAEMON),
    NotificationSpec(
        "workspace/didChangeConfiguration",
        DidChangeConfiguration,
        "Replace the settings this client gave. A wrong value is reported with `session/notice` and changes nothing.",
        Direction.CLIENT_TO_DAEMON,
    ),
)

NOTIFICATIONS: dict[str, NotificationSpec] = {spec.name: spec for spec in _ALL}
"""Every notification by name, in the order the reference lists them."""
