"""Every error a client can receive: its code, its kind, what it means and what to do about it.

Code below the server raises `OctavoError` with a kind; the server turns it into a wire error in one place.
Codes follow JSON-RPC and LSP where those define one; our own lie outside both reserved ranges.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import Field

from octavo_protocol.base import JsonObject, Reply


class ErrorKind(StrEnum):
    """The stable name a client switches on (`error.data.kind`)."""

    PARSE_ERROR = "parse-error"
    INVALID_REQUEST = "invalid-request"
    METHOD_NOT_FOUND = "method-not-found"
    INVALID_PARAMS = "invalid-params"
    INTERNAL_ERROR = "internal-error"
    NOT_INITIALIZED = "not-initialized"
    CANCELLED = "cancelled"
    CONTENT_MODIFIED = "content-modified"
    NOT_AVAILABLE = "not-available"
    SESSION_NOT_FOUND = "session-not-found"
    ENTRY_NOT_FOUND = "entry-not-found"
    SESSION_LOCKED = "session-locked"
    SESSION_UNREADABLE = "session-unreadable"
    SESSION_READ_ONLY = "session-read-only"
    STORAGE_FAILED = "storage-failed"
    ALREADY_COMPACTED = "already-compacted"
    NOTHING_TO_COMPACT = "nothing-to-compact"
    COMPACTION_IN_PROGRESS = "compaction-in-progress"
    AGENT_BUSY = "agent-busy"
    STRATEGY_UNAVAILABLE = "strategy-unavailable"
    CHECK_FAILED = "check-failed"
    OPERATION_NOT_FOUND = "operation-not-found"
    NO_MODEL = "no-model"
    PROVIDER_ERROR = "provider-error"
    CONTEXT_OVERFLOW = "context-overflow"
    HOOK_FAILED = "hook-failed"


@dataclass(frozen=True, slots=True)
class ErrorSpec:
    """One row of the error table: `code` on the wire, when it happens, and the remedy."""

    code: int
    when: str
    remedy: str


ERRORS: dict[ErrorKind, ErrorSpec] = {
    ErrorKind.PARSE_ERROR: ErrorSpec(
        -32700,
        "The frame is not JSON, or its header is malformed.",
        "Send UTF-8 JSON in LSP base-protocol frames.",
    ),
    ErrorKind.INVALID_REQUEST: ErrorSpec(
        -32600,
        "The message is JSON but not a JSON-RPC 2.0 request, is too large, or came after `shutdown`.",
        "Send single requests (no batches) and stay below `server.maxMessageBytes`.",
    ),
    ErrorKind.METHOD_NOT_FOUND: ErrorSpec(
        -32601, "No method has this name.", "See `capabilities.experimental.sessionTree.methods`."
    ),
    ErrorKind.INVALID_PARAMS: ErrorSpec(
        -32602,
        "The params do not fit the method; `details` lists every bad field as `{loc, msg}`.",
        "Correct the named fields.",
    ),
    ErrorKind.INTERNAL_ERROR: ErrorSpec(
        -32603,
        "A defect of the daemon; its log has the traceback.",
        "Report it with the log lines around it.",
    ),
    ErrorKind.NOT_INITIALIZED: ErrorSpec(-32002, "A request arrived before `initialize`.", "Send `initialize` first."),
    ErrorKind.CANCELLED: ErrorSpec(
        -32800,
        "The request was cancelled by `$/cancelRequest` or an abort method.",
        "Nothing was written; try again.",
    ),
    ErrorKind.CONTENT_MODIFIED: ErrorSpec(
        -32801,
        "`expectedLeafId` did not match, the leaf moved while a result was computed, or the file changed on disk.",
        "Read the session again and repeat the request.",
    ),
    ErrorKind.NOT_AVAILABLE: ErrorSpec(
        -31001,
        "The method is part of the protocol but this daemon does not offer it.",
        "Check `capabilities.experimental.sessionTree.methods` before calling.",
    ),
    ErrorKind.SESSION_NOT_FOUND: ErrorSpec(
        -31010, "No session has this id, or no file is at this path.", "List the sessions or check the path."
    ),
    ErrorKind.ENTRY_NOT_FOUND: ErrorSpec(
        -31011, "The session has no entry with this id.", "Read the tree again; ids never change."
    ),
    ErrorKind.SESSION_LOCKED: ErrorSpec(
        -31012,
        "Another process owns the session file; `details` names its pid and host.",
        "Open it with mode `read`, or close the other process.",
    ),
    ErrorKind.SESSION_UNREADABLE: ErrorSpec(
        -31013,
        "The file is not a session; it was left untouched.",
        "Check the path, or import a foreign format.",
    ),
    ErrorKind.SESSION_READ_ONLY: ErrorSpec(
        -31014, "The session was opened with mode `read`.", "Open it with mode `write` to change it."
    ),
    ErrorKind.STORAGE_FAILED: ErrorSpec(
        -31015,
        "The disk refused a write (full, quota, I/O error, permissions); the file is as it was before.",
        "Free space or fix the permissions and repeat the request.",
    ),
    ErrorKind.ALREADY_COMPACTED: ErrorSpec(
        -31020, "The last entry is already a compaction.", "Append something first, or undo the compaction."
    ),
    ErrorKind.NOTHING_TO_COMPACT: ErrorSpec(
        -31021, "The session is too small to compact.", "Nothing needs to be done."
    ),
    ErrorKind.COMPACTION_IN_PROGRESS: ErrorSpec(
        -31022, "A compaction of this session is running or held.", "Wait for it, abort it, or discard it."
    ),
    ErrorKind.AGENT_BUSY: ErrorSpec(
        -31026,
        "The host's agent loop is running and the request would pull the session away from under it.",
        "Stop the agent or wait until its turn has ended (`session/setBusy`).",
    ),
    ErrorKind.STRATEGY_UNAVAILABLE: ErrorSpec(
        -31023,
        "The strategy asked for by name cannot run here (for example frames on a text-only model).",
        "Leave the strategy out, or name one that the model supports.",
    ),
    ErrorKind.CHECK_FAILED: ErrorSpec(
        -31024,
        "A result failed a check before it was written; `details` has every check with its figures.",
        "Try another strategy or model; the session is unchanged.",
    ),
    ErrorKind.OPERATION_NOT_FOUND: ErrorSpec(
        -31025, "No held compaction has this operation id.", "Compact again with `hold`."
    ),
    ErrorKind.NO_MODEL: ErrorSpec(
        -31030,
        "No model is selected, or the provider has no credential.",
        "Register a model, configure a credential, or use a strategy that needs none.",
    ),
    ErrorKind.PROVIDER_ERROR: ErrorSpec(
        -31031,
        "The model provider answered with an error; `status` and `retryAfterMs` are set when known.",
        "Follow the provider's message, or choose another model.",
    ),
    ErrorKind.CONTEXT_OVERFLOW: ErrorSpec(
        -31032, "Even the summarisation input does not fit the model.", "Use a model with a larger window."
    ),
    ErrorKind.HOOK_FAILED: ErrorSpec(
        -31040, "A client's hook answered with an error or a wrong shape.", "Fix the hook or unregister it."
    ),
}


class OctavoError(Exception):
    """A failure the user can act on.

    Args:
        kind: Row of `ERRORS`.
        message: One sentence that names the thing and the remedy; never a secret, never a traceback.
        data: Further fields of `error.data` (`sessionId`, `entryId`, `provider`, `status`, `retryAfterMs`,
            `details`), in wire spelling.
    """

    def __init__(self, kind: ErrorKind, message: str, **data: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.data: JsonObject = {"kind": kind.value, **data}

    @property
    def code(self) -> int:
        """The JSON-RPC error code of the kind."""
        return ERRORS[self.kind].code


class ErrorData(Reply):
    """`error.data` on the wire."""

    kind: ErrorKind = Field(description="What to switch on.")
    session_id: str | None = Field(default=None, description="Session it is about.")
    entry_id: str | None = Field(default=None, description="Entry it is about.")
    provider: str | None = Field(default=None, description="Provider that failed.")
    status: int | None = Field(default=None, description="HTTP status of the provider.")
    retry_after_ms: int | None = Field(default=None, description="Time the provider asked to wait.")
    details: Any = Field(
        default=None, description="Further facts: a list of `{loc, msg}` for invalid params, else an object."
    )
