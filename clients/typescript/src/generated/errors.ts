// Generated from the protocol models by `python -m octavo_protocol.generate`; do not edit.

import type { ErrorKind } from "./types.js";

/** Every kind of error: its code, when it happens, and what to do about it. */
export const ERRORS: { readonly [K in ErrorKind]: { readonly code: number; readonly when: string; readonly remedy: string } } = {
  "parse-error": {
    code: -32700,
    when: "The frame is not JSON, or its header is malformed.",
    remedy: "Send UTF-8 JSON in LSP base-protocol frames.",
  },
  "invalid-request": {
    code: -32600,
    when: "The message is JSON but not a JSON-RPC 2.0 request, is too large, or came after `shutdown`.",
    remedy: "Send single requests (no batches) and stay below `server.maxMessageBytes`.",
  },
  "method-not-found": {
    code: -32601,
    when: "No method has this name.",
    remedy: "See `capabilities.experimental.sessionTree.methods`.",
  },
  "invalid-params": {
    code: -32602,
    when: "The params do not fit the method; `details` lists every bad field as `{loc, msg}`.",
    remedy: "Correct the named fields.",
  },
  "internal-error": {
    code: -32603,
    when: "A defect of the daemon; its log has the traceback.",
    remedy: "Report it with the log lines around it.",
  },
  "not-initialized": {
    code: -32002,
    when: "A request arrived before `initialize`.",
    remedy: "Send `initialize` first.",
  },
  "cancelled": {
    code: -32800,
    when: "The request was cancelled by `$/cancelRequest` or an abort method.",
    remedy: "Nothing was written; try again.",
  },
  "content-modified": {
    code: -32801,
    when: "`expectedLeafId` did not match, the leaf moved while a result was computed, or the file changed on disk.",
    remedy: "Read the session again and repeat the request.",
  },
  "not-available": {
    code: -31001,
    when: "The method is part of the protocol but this daemon does not offer it.",
    remedy: "Check `capabilities.experimental.sessionTree.methods` before calling.",
  },
  "session-not-found": {
    code: -31010,
    when: "No session has this id, or no file is at this path.",
    remedy: "List the sessions or check the path.",
  },
  "entry-not-found": {
    code: -31011,
    when: "The session has no entry with this id.",
    remedy: "Read the tree again; ids never change.",
  },
  "session-locked": {
    code: -31012,
    when: "Another process owns the session file; `details` names its pid and host.",
    remedy: "Open it with mode `read`, or close the other process.",
  },
  "session-unreadable": {
    code: -31013,
    when: "The file is not a session; it was left untouched.",
    remedy: "Check the path, or import a foreign format.",
  },
  "session-read-only": {
    code: -31014,
    when: "The session was opened with mode `read`.",
    remedy: "Open it with mode `write` to change it.",
  },
  "storage-failed": {
    code: -31015,
    when: "The disk refused a write (full, quota, I/O error, permissions); the file is as it was before.",
    remedy: "Free space or fix the permissions and repeat the request.",
  },
  "already-compacted": {
    code: -31020,
    when: "The last entry is already a compaction.",
    remedy: "Append something first, or undo the compaction.",
  },
  "nothing-to-compact": {
    code: -31021,
    when: "The session is too small to compact.",
    remedy: "Nothing needs to be done.",
  },
  "compaction-in-progress": {
    code: -31022,
    when: "A compaction of this session is running or held.",
    remedy: "Wait for it, abort it, or discard it.",
  },
  "agent-busy": {
    code: -31026,
    when: "The host's agent loop is running and the request would pull the session away from under it.",
    remedy: "Stop the agent or wait until its turn has ended (`session/setBusy`).",
  },
  "strategy-unavailable": {
    code: -31023,
    when: "The strategy asked for by name cannot run here (for example frames on a text-only model).",
    remedy: "Leave the strategy out, or name one that the model supports.",
  },
  "check-failed": {
    code: -31024,
    when: "A result failed a check before it was written; `details` has every check with its figures.",
    remedy: "Try another strategy or model; the session is unchanged.",
  },
  "operation-not-found": {
    code: -31025,
    when: "No held compaction has this operation id.",
    remedy: "Compact again with `hold`.",
  },
  "no-model": {
    code: -31030,
    when: "No model is selected, or the provider has no credential.",
    remedy: "Register a model, configure a credential, or use a strategy that needs none.",
  },
  "provider-error": {
    code: -31031,
    when: "The model provider answered with an error; `status` and `retryAfterMs` are set when known.",
    remedy: "Follow the provider's message, or choose another model.",
  },
  "context-overflow": {
    code: -31032,
    when: "Even the summarisation input does not fit the model.",
    remedy: "Use a model with a larger window.",
  },
  "hook-failed": {
    code: -31040,
    when: "A client's hook answered with an error or a wrong shape.",
    remedy: "Fix the hook or unregister it.",
  },
};
