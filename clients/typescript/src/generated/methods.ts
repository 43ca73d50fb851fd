// Generated from the protocol models by `python -m octavo_protocol.generate`; do not edit.

import { NotificationType, RequestType } from "vscode-jsonrpc";

import type { RequestOptions } from "../options.js";
import type * as t from "./types.js";

/** Requests a client sends: params and result by method. */
export interface Requests {
  /** Start a session. Its file appears with the first assistant message, or at once when `path` is given. */
  "session/create": { params: t.CreateParams; result: t.SessionInfo };
  /**
   * Open a session file in place and subscribe to its notifications. Old versions are migrated in memory and
   * rewritten by the next append; foreign formats open read-only; a file that is no session is left untouched.
   */
  "session/open": { params: t.OpenParams; result: t.OpenResult };
  /** List session files, newest first, from their heads and tails. */
  "session/list": { params: t.ListParams; result: t.ListResult };
  /** Unsubscribe; the last connection to close a session gives its lease back. */
  "session/close": { params: t.SessionParams; result: t.CloseResult };
  /** Delete a session's file and artifacts. A session another process owns is refused. */
  "session/delete": { params: t.DeleteParams; result: t.DeleteResult };
  /** Set the title. */
  "session/rename": { params: t.RenameParams; result: t.RenameResult };
  /** Move a session's file and artifacts to another working directory. */
  "session/move": { params: t.MoveParams; result: t.SessionInfo };
  /** Copy a session, whole or one branch of it, into a new one that names its parent. */
  "session/fork": { params: t.ForkParams; result: t.SessionInfo };
  /** Turn another agent's transcript, or a provider's message array, into sessions. The source stays as it is. */
  "session/import": { params: t.ImportParams; result: t.ImportResult };
  /** Write a branch for another program or for a reader. */
  "session/export": { params: t.ExportParams; result: t.ExportResult };
  /**
   * Append messages or entries. The answer means they are durable; repeating an id is a no-op, so a request whose
   * answer was lost can be sent again.
   */
  "session/append": { params: t.AppendParams; result: t.AppendResult };
  /** Record the model from here on. */
  "session/setModel": { params: t.SetModelParams; result: t.EntryResult };
  /** Record the reasoning effort from here on. */
  "session/setThinkingLevel": { params: t.SetThinkingLevelParams; result: t.EntryResult };
  /** Label an entry, or remove its label. The label is an entry of its own and becomes the leaf. */
  "session/setLabel": { params: t.SetLabelParams; result: t.EntryResult };
  /**
   * Say that the host's agent loop started or ended. Idle maintenance waits for the end; a manual compaction asks
   * for `agent/abort` first.
   */
  "session/setBusy": { params: t.SetBusyParams; result: t.SetBusyResult };
  /** Tell the system prompt, tools and plan files of the host, for measures and handoffs. Nothing is stored. */
  "session/setHostContext": { params: t.SetHostContextParams; result: t.SetHostContextResult };
  /** Read back text that a shake moved out of the context. */
  "session/readArtifact": { params: t.ReadArtifactParams; result: t.ReadArtifactResult };
  /** Read the file again after another program changed it. */
  "session/reload": { params: t.ReloadParams; result: t.ReloadResult };
  /** What there is to know about a session without its entries. */
  "session/getInfo": { params: t.SessionParams; result: t.SessionInfo };
  /** A window of the tree in display order. Counts say what lies outside of it, so a view never needs the whole. */
  "session/getTree": { params: t.GetTreeParams; result: t.GetTreeResult };
  /** Entries from the root to a leaf, page by page. */
  "session/getBranch": { params: t.GetBranchParams; result: t.GetBranchResult };
  /** Entries by id, or everything that changed since a `seq` the client knows, or all in file order. */
  "session/getEntries": { params: t.GetEntriesParams; result: t.GetEntriesResult };
  /** Find text in the branch, in every branch, or in what compaction took out of the context. */
  "session/search": { params: t.SearchParams; result: t.SearchResult };
  /** Go to another entry, with a summary of what is left behind if wanted. Nothing is deleted. */
  "session/navigateTree": { params: t.NavigateTreeParams; result: t.NavigateTreeResult };
  /** Stop the branch summary that is being written; the session stays where it is. */
  "session/abortBranchSummary": { params: t.SessionParams; result: t.AbortResult };
  /** The messages to send to a model, valid for the API asked for; or the transcript for display. */
  "session/buildContext": { params: t.BuildContextParams; result: t.BuildContextResult };
  /** How full the context is, and of what. */
  "session/contextUsage": { params: t.ContextUsageParams; result: t.ContextUsage };
  /** Plan a compaction: what would be summarised, kept and paid, for each strategy. Writes nothing, asks no model. */
  "session/prepareCompaction": { params: t.PrepareCompactionParams; result: t.PrepareCompactionResult };
  /**
   * Replace old history by a summary or frames. Plan, run, check, write one entry, tell; with `hold` the result
   * waits for apply or discard. A failed or cancelled run leaves the session as it was.
   */
  "session/compact": { params: t.CompactParams; result: t.CompactionResult };
  /** Read a held result again, for a client that lost it or never saw it. */
  "session/getHeldCompaction": { params: t.GetHeldCompactionParams; result: t.CompactionResult };
  /** Write a held result, perhaps edited, if the leaf has not moved since. */
  "session/applyCompaction": { params: t.ApplyCompactionParams; result: t.CompactionResult };
  /** Drop a held result. */
  "session/discardCompaction": { params: t.DiscardCompactionParams; result: t.DiscardCompactionResult };
  /** Stop the manual compaction, automatic maintenance or handoff that is running. */
  "session/abortCompaction": { params: t.SessionParams; result: t.AbortResult };
  /** Move the leaf back to before the last compaction of the branch. */
  "session/undoCompaction": { params: t.UndoCompactionParams; result: t.UndoCompactionResult };
  /**
   * Look after the context and say what the host does next. Asked at a turn's end, before a prompt, or between tool
   * calls; the daemon itself never calls tools and never runs the agent loop.
   */
  "session/checkMaintenance": { params: t.CheckMaintenanceParams; result: t.Directive };
  /** Do now what idle maintenance would do, unless the session is busy or compacting. */
  "session/runIdleCompaction": { params: t.RunIdleCompactionParams; result: t.RunIdleCompactionResult };
  /** Blank old tool outputs, superseded reads and useless results. */
  "session/prune": { params: t.PruneParams; result: t.PruneResult };
  /** Move bulky results and blocks into an artifact, or remove images. */
  "session/shake": { params: t.ShakeParams; result: t.ShakeResult };
  /** Have the model write a document from the live context and start a new session with it. */
  "session/handoff": { params: t.HandoffParams; result: t.HandoffResult };
  /** One pass of idle maintenance over all open sessions, for timers outside the daemon. */
  "maintenance/tick": { params: t.TickParams; result: t.TickResult };
  /** Every shape of frames with its price. */
  "snapcompact/shapes": { params: t.ShapesParams; result: t.ShapesResult };
  /** What a text costs as frames and as text. Draws nothing. */
  "snapcompact/estimate": { params: t.EstimateParams; result: t.EstimateResult };
  /** Draw a text as frames. */
  "snapcompact/render": { params: t.RenderParams; result: t.RenderResult };
  /** Draw the system prompt and large tool results of one request as frames where that saves tokens. */
  "snapcompact/inline": { params: t.InlineParams; result: t.InlineResult };
  /** The models the daemon knows. */
  "model/list": { params: t.ModelListParams; result: t.ModelListResult };
  /** Add models, or replace what is known of them, until the daemon ends. */
  "model/register": { params: t.ModelRegisterParams; result: t.ModelRegisterResult };
  /** Settings in force, and who set them. */
  "settings/get": { params: t.SettingsGetParams; result: t.SettingsResult };
  /** Change settings for the daemon's life, for every session or one. A wrong value changes nothing. */
  "settings/update": { params: t.SettingsUpdateParams; result: t.SettingsResult };
  /** Who is connected to this daemon, which sessions are open, and what runs on them. */
  "daemon/status": { params: t.StatusParams; result: t.StatusResult };
  /** What was counted since the daemon started, as Prometheus reads it. */
  "daemon/metrics": { params: t.MetricsParams; result: t.MetricsResult };
}

/** Requests the daemon sends. */
export interface ServerRequests {
  /** Call a model with the host's credentials. Asked only of clients that said `complete`. */
  "llm/complete": { params: t.LlmCompleteParams; result: t.LlmCompleteResult };
  /**
   * Stop the running operation of the agent loop and answer when it has stopped. Asked only of clients that said
   * `agent`.
   */
  "agent/abort": { params: t.AgentAbortParams; result: t.AgentAbortResult };
  /**
   * May cancel a compaction or supply its result. Asked only of clients that registered it; a timeout
   * (`hooks.timeoutMs`) counts as no answer.
   */
  "hook/sessionBeforeCompact": { params: t.SessionBeforeCompactParams; result: t.SessionBeforeCompactResult };
  /** May add context, replace the prompt, or leave data with the entry. */
  "hook/sessionCompacting": { params: t.SessionCompactingParams; result: t.SessionCompactingResult };
  /** May cancel a navigation or supply its branch summary. */
  "hook/sessionBeforeTree": { params: t.SessionBeforeTreeParams; result: t.SessionBeforeTreeResult };
}

/** Payloads of the notifications the daemon sends. */
export interface ServerNotifications {
  /** A compaction or shake has begun. */
  "session/compactionStart": t.CompactionStart;
  /** It has ended: exactly one for every start, also after failures, aborts and shutdown. */
  "session/compactionEnd": t.CompactionEnd;
  /** A branch summary is being written. */
  "session/branchSummaryStart": t.BranchSummaryStart;
  /** It has ended: exactly one for every start. */
  "session/branchSummaryEnd": t.BranchSummaryEnd;
  /** A handoff document is being written. */
  "session/handoffStart": t.HandoffStart;
  /** It has ended: exactly one for every start. */
  "session/handoffEnd": t.HandoffEnd;
  /**
   * The session changed. Sent to every connection that has it open, before the answer of the request that changed
   * it; a gap in `seq` means to catch up with `session/getEntries`.
   */
  "session/didChange": t.DidChange;
  /** The host should call its model now. */
  "session/continue": t.Continue;
  /** The session switched to a model with a larger window. */
  "session/modelPromoted": t.ModelPromoted;
  /** Something a user should see. */
  "session/notice": t.SessionNotice;
  /** Where a long request with a `workDoneToken` stands. */
  "$/progress": t.Progress;
  /** A line for the client's log; how many is set with `$/setTrace`. */
  "window/logMessage": t.LogMessage;
  /** A compaction was written. Sent to clients that registered it. */
  "hook/sessionCompact": t.SessionCompact;
  /** The leaf was moved. Sent to clients that registered it. */
  "hook/sessionTree": t.SessionTree;
}

/** Payloads of the notifications a client sends. */
export interface ClientNotifications {
  /** The client has read the `initialize` result. */
  "initialized": t.Empty;
  /** The client hangs up. */
  "exit": t.Empty;
  /** Stop a request; sent either way. */
  "$/cancelRequest": t.CancelRequest;
  /** Set how much is logged to the client. */
  "$/setTrace": t.SetTrace;
  /** Replace the settings this client gave. A wrong value is reported with `session/notice` and changes nothing. */
  "workspace/didChangeConfiguration": t.DidChangeConfiguration;
}

/** Start a session. Its file appears with the first assistant message, or at once when `path` is given. */
export const SessionCreateRequest = new RequestType<t.CreateParams, t.SessionInfo, t.ErrorData>("session/create");

/**
 * Open a session file in place and subscribe to its notifications. Old versions are migrated in memory and
 * rewritten by the next append; foreign formats open read-only; a file that is no session is left untouched.
 */
export const SessionOpenRequest = new RequestType<t.OpenParams, t.OpenResult, t.ErrorData>("session/open");

/** List session files, newest first, from their heads and tails. */
export const SessionListRequest = new RequestType<t.ListParams, t.ListResult, t.ErrorData>("session/list");

/** Unsubscribe; the last connection to close a session gives its lease back. */
export const SessionCloseRequest = new RequestType<t.SessionParams, t.CloseResult, t.ErrorData>("session/close");

/** Delete a session's file and artifacts. A session another process owns is refused. */
export const SessionDeleteRequest = new RequestType<t.DeleteParams, t.DeleteResult, t.ErrorData>("session/delete");

/** Set the title. */
export const SessionRenameRequest = new RequestType<t.RenameParams, t.RenameResult, t.ErrorData>("session/rename");

/** Move a session's file and artifacts to another working directory. */
export const SessionMoveRequest = new RequestType<t.MoveParams, t.SessionInfo, t.ErrorData>("session/move");

/** Copy a session, whole or one branch of it, into a new one that names its parent. */
export const SessionForkRequest = new RequestType<t.ForkParams, t.SessionInfo, t.ErrorData>("session/fork");

/** Turn another agent's transcript, or a provider's message array, into sessions. The source stays as it is. */
export const SessionImportRequest = new RequestType<t.ImportParams, t.ImportResult, t.ErrorData>("session/import");

/** Write a branch for another program or for a reader. */
export const SessionExportRequest = new RequestType<t.ExportParams, t.ExportResult, t.ErrorData>("session/export");

/**
 * Append messages or entries. The answer means they are durable; repeating an id is a no-op, so a request whose
 * answer was lost can be sent again.
 */
export const SessionAppendRequest = new RequestType<t.AppendParams, t.AppendResult, t.ErrorData>("session/append");

/** Record the model from here on. */
export const SessionSetModelRequest = new RequestType<t.SetModelParams, t.EntryResult, t.ErrorData>("session/setModel");

/** Record the reasoning effort from here on. */
export const SessionSetThinkingLevelRequest = new RequestType<t.SetThinkingLevelParams, t.EntryResult, t.ErrorData>("session/setThinkingLevel");

/** Label an entry, or remove its label. The label is an entry of its own and becomes the leaf. */
export const SessionSetLabelRequest = new RequestType<t.SetLabelParams, t.EntryResult, t.ErrorData>("session/setLabel");

/**
 * Say that the host's agent loop started or ended. Idle maintenance waits for the end; a manual compaction asks
 * for `agent/abort` first.
 */
export const SessionSetBusyRequest = new RequestType<t.SetBusyParams, t.SetBusyResult, t.ErrorData>("session/setBusy");

/** Tell the system prompt, tools and plan files of the host, for measures and handoffs. Nothing is stored. */
export const SessionSetHostContextRequest = new RequestType<t.SetHostContextParams, t.SetHostContextResult, t.ErrorData>("session/setHostContext");

/** Read back text that a shake moved out of the context. */
export const SessionReadArtifactRequest = new RequestType<t.ReadArtifactParams, t.ReadArtifactResult, t.ErrorData>("session/readArtifact");

/** Read the file again after another program changed it. */
export const SessionReloadRequest = new RequestType<t.ReloadParams, t.ReloadResult, t.ErrorData>("session/reload");

/** What there is to know about a session without its entries. */
export const SessionGetInfoRequest = new RequestType<t.SessionParams, t.SessionInfo, t.ErrorData>("session/getInfo");

/** A window of the tree in display order. Counts say what lies outside of it, so a view never needs the whole. */
export const SessionGetTreeRequest = new RequestType<t.GetTreeParams, t.GetTreeResult, t.ErrorData>("session/getTree");

/** Entries from the root to a leaf, page by page. */
export const SessionGetBranchRequest = new RequestType<t.GetBranchParams, t.GetBranchResult, t.ErrorData>("session/getBranch");

/** Entries by id, or everything that changed since a `seq` the client knows, or all in file order. */
export const SessionGetEntriesRequest = new RequestType<t.GetEntriesParams, t.GetEntriesResult, t.ErrorData>("session/getEntries");

/** Find text in the branch, in every branch, or in what compaction took out of the context. */
export const SessionSearchRequest = new RequestType<t.SearchParams, t.SearchResult, t.ErrorData>("session/search");

/** Go to another entry, with a summary of what is left behind if wanted. Nothing is deleted. */
export const SessionNavigateTreeRequest = new RequestType<t.NavigateTreeParams, t.NavigateTreeResult, t.ErrorData>("session/navigateTree");

/** Stop the branch summary that is being written; the session stays where it is. */
export const SessionAbortBranchSummaryRequest = new RequestType<t.SessionParams, t.AbortResult, t.ErrorData>("session/abortBranchSummary");

/** The messages to send to a model, valid for the API asked for; or the transcript for display. */
export const SessionBuildContextRequest = new RequestType<t.BuildContextParams, t.BuildContextResult, t.ErrorData>("session/buildContext");

/** How full the context is, and of what. */
export const SessionContextUsageRequest = new RequestType<t.ContextUsageParams, t.ContextUsage, t.ErrorData>("session/contextUsage");

/** Plan a compaction: what would be summarised, kept and paid, for each strategy. Writes nothing, asks no model. */
export const SessionPrepareCompactionRequest = new RequestType<t.PrepareCompactionParams, t.PrepareCompactionResult, t.ErrorData>("session/prepareCompaction");

/**
 * Replace old history by a summary or frames. Plan, run, check, write one entry, tell; with `hold` the result
 * waits for apply or discard. A failed or cancelled run leaves the session as it was.
 */
export const SessionCompactRequest = new RequestType<t.CompactParams, t.CompactionResult, t.ErrorData>("session/compact");

/** Read a held result again, for a client that lost it or never saw it. */
export const SessionGetHeldCompactionRequest = new RequestType<t.GetHeldCompactionParams, t.CompactionResult, t.ErrorData>("session/getHeldCompaction");

/** Write a held result, perhaps edited, if the leaf has not moved since. */
export const SessionApplyCompactionRequest = new RequestType<t.ApplyCompactionParams, t.CompactionResult, t.ErrorData>("session/applyCompaction");

/** Drop a held result. */
export const SessionDiscardCompactionRequest = new RequestType<t.DiscardCompactionParams, t.DiscardCompactionResult, t.ErrorData>("session/discardCompaction");

/** Stop the manual compaction, automatic maintenance or handoff that is running. */
export const SessionAbortCompactionRequest = new RequestType<t.SessionParams, t.AbortResult, t.ErrorData>("session/abortCompaction");

/** Move the leaf back to before the last compaction of the branch. */
export const SessionUndoCompactionRequest = new RequestType<t.UndoCompactionParams, t.UndoCompactionResult, t.ErrorData>("session/undoCompaction");

/**
 * Look after the context and say what the host does next. Asked at a turn's end, before a prompt, or between tool
 * calls; the daemon itself never calls tools and never runs the agent loop.
 */
export const SessionCheckMaintenanceRequest = new RequestType<t.CheckMaintenanceParams, t.Directive, t.ErrorData>("session/checkMaintenance");

/** Do now what idle maintenance would do, unless the session is busy or compacting. */
export const SessionRunIdleCompactionRequest = new RequestType<t.RunIdleCompactionParams, t.RunIdleCompactionResult, t.ErrorData>("session/runIdleCompaction");

/** Blank old tool outputs, superseded reads and useless results. */
export const SessionPruneRequest = new RequestType<t.PruneParams, t.PruneResult, t.ErrorData>("session/prune");

/** Move bulky results and blocks into an artifact, or remove images. */
export const SessionShakeRequest = new RequestType<t.ShakeParams, t.ShakeResult, t.ErrorData>("session/shake");

/** Have the model write a document from the live context and start a new session with it. */
export const SessionHandoffRequest = new RequestType<t.HandoffParams, t.HandoffResult, t.ErrorData>("session/handoff");

/** One pass of idle maintenance over all open sessions, for timers outside the daemon. */
export const MaintenanceTickRequest = new RequestType<t.TickParams, t.TickResult, t.ErrorData>("maintenance/tick");

/** Every shape of frames with its price. */
export const SnapcompactShapesRequest = new RequestType<t.ShapesParams, t.ShapesResult, t.ErrorData>("snapcompact/shapes");

/** What a text costs as frames and as text. Draws nothing. */
export const SnapcompactEstimateRequest = new RequestType<t.EstimateParams, t.EstimateResult, t.ErrorData>("snapcompact/estimate");

/** Draw a text as frames. */
export const SnapcompactRenderRequest = new RequestType<t.RenderParams, t.RenderResult, t.ErrorData>("snapcompact/render");

/** Draw the system prompt and large tool results of one request as frames where that saves tokens. */
export const SnapcompactInlineRequest = new RequestType<t.InlineParams, t.InlineResult, t.ErrorData>("snapcompact/inline");

/** The models the daemon knows. */
export const ModelListRequest = new RequestType<t.ModelListParams, t.ModelListResult, t.ErrorData>("model/list");

/** Add models, or replace what is known of them, until the daemon ends. */
export const ModelRegisterRequest = new RequestType<t.ModelRegisterParams, t.ModelRegisterResult, t.ErrorData>("model/register");

/** Settings in force, and who set them. */
export const SettingsGetRequest = new RequestType<t.SettingsGetParams, t.SettingsResult, t.ErrorData>("settings/get");

/** Change settings for the daemon's life, for every session or one. A wrong value changes nothing. */
export const SettingsUpdateRequest = new RequestType<t.SettingsUpdateParams, t.SettingsResult, t.ErrorData>("settings/update");

/** Who is connected to this daemon, which sessions are open, and what runs on them. */
export const DaemonStatusRequest = new RequestType<t.StatusParams, t.StatusResult, t.ErrorData>("daemon/status");

/** What was counted since the daemon started, as Prometheus reads it. */
export const DaemonMetricsRequest = new RequestType<t.MetricsParams, t.MetricsResult, t.ErrorData>("daemon/metrics");

/** Call a model with the host's credentials. Asked only of clients that said `complete`. */
export const LlmCompleteRequest = new RequestType<t.LlmCompleteParams, t.LlmCompleteResult, t.ErrorData>("llm/complete");

/**
 * Stop the running operation of the agent loop and answer when it has stopped. Asked only of clients that said
 * `agent`.
 */
export const AgentAbortRequest = new RequestType<t.AgentAbortParams, t.AgentAbortResult, t.ErrorData>("agent/abort");

/**
 * May cancel a compaction or supply its result. Asked only of clients that registered it; a timeout
 * (`hooks.timeoutMs`) counts as no answer.
 */
export const HookSessionBeforeCompactRequest = new RequestType<t.SessionBeforeCompactParams, t.SessionBeforeCompactResult, t.ErrorData>("hook/sessionBeforeCompact");

/** May add context, replace the prompt, or leave data with the entry. */
export const HookSessionCompactingRequest = new RequestType<t.SessionCompactingParams, t.SessionCompactingResult, t.ErrorData>("hook/sessionCompacting");

/** May cancel a navigation or supply its branch summary. */
export const HookSessionBeforeTreeRequest = new RequestType<t.SessionBeforeTreeParams, t.SessionBeforeTreeResult, t.ErrorData>("hook/sessionBeforeTree");

/** A compaction or shake has begun. */
export const SessionCompactionStartNotification = new NotificationType<t.CompactionStart>("session/compactionStart");

/** It has ended: exactly one for every start, also after failures, aborts and shutdown. */
export const SessionCompactionEndNotification = new NotificationType<t.CompactionEnd>("session/compactionEnd");

/** A branch summary is being written. */
export const SessionBranchSummaryStartNotification = new NotificationType<t.BranchSummaryStart>("session/branchSummaryStart");

/** It has ended: exactly one for every start. */
export const SessionBranchSummaryEndNotification = new NotificationType<t.BranchSummaryEnd>("session/branchSummaryEnd");

/** A handoff document is being written. */
export const SessionHandoffStartNotification = new NotificationType<t.HandoffStart>("session/handoffStart");

/** It has ended: exactly one for every start. */
export const SessionHandoffEndNotification = new NotificationType<t.HandoffEnd>("session/handoffEnd");

/**
 * The session changed. Sent to every connection that has it open, before the answer of the request that changed
 * it; a gap in `seq` means to catch up with `session/getEntries`.
 */
export const SessionDidChangeNotification = new NotificationType<t.DidChange>("session/didChange");

/** The host should call its model now. */
export const SessionContinueNotification = new NotificationType<t.Continue>("session/continue");

/** The session switched to a model with a larger window. */
export const SessionModelPromotedNotification = new NotificationType<t.ModelPromoted>("session/modelPromoted");

/** Something a user should see. */
export const SessionNoticeNotification = new NotificationType<t.SessionNotice>("session/notice");

/** Where a long request with a `workDoneToken` stands. */
export const ProgressNotification = new NotificationType<t.Progress>("$/progress");

/** A line for the client's log; how many is set with `$/setTrace`. */
export const WindowLogMessageNotification = new NotificationType<t.LogMessage>("window/logMessage");

/** A compaction was written. Sent to clients that registered it. */
export const HookSessionCompactNotification = new NotificationType<t.SessionCompact>("hook/sessionCompact");

/** The leaf was moved. Sent to clients that registered it. */
export const HookSessionTreeNotification = new NotificationType<t.SessionTree>("hook/sessionTree");

/** The client has read the `initialize` result. */
export const InitializedNotification = new NotificationType<t.Empty>("initialized");

/** The client hangs up. */
export const ExitNotification = new NotificationType<t.Empty>("exit");

/** Stop a request; sent either way. */
export const CancelRequestNotification = new NotificationType<t.CancelRequest>("$/cancelRequest");

/** Set how much is logged to the client. */
export const SetTraceNotification = new NotificationType<t.SetTrace>("$/setTrace");

/** Replace the settings this client gave. A wrong value is reported with `session/notice` and changes nothing. */
export const WorkspaceDidChangeConfigurationNotification = new NotificationType<t.DidChangeConfiguration>("workspace/didChangeConfiguration");

/** Every request as a method: `session/getTree` is `session.getTree`. */
export abstract class Methods {
  /** Send a request and return its result. */
  abstract request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    options?: RequestOptions,
  ): Promise<Requests[M]["result"]>;

  /** Requests `session/…`. */
  readonly session = {
    /** Start a session. Its file appears with the first assistant message, or at once when `path` is given. */
    create: (params: t.CreateParams, options?: RequestOptions): Promise<t.SessionInfo> =>
      this.request("session/create", params, options),
    /**
     * Open a session file in place and subscribe to its notifications. Old versions are migrated in memory and
     * rewritten by the next append; foreign formats open read-only; a file that is no session is left untouched.
     */
    open: (params: t.OpenParams = {}, options?: RequestOptions): Promise<t.OpenResult> =>
      this.request("session/open", params, options),
    /** List session files, newest first, from their heads and tails. */
    list: (params: t.ListParams = {}, options?: RequestOptions): Promise<t.ListResult> =>
      this.request("session/list", params, options),
    /** Unsubscribe; the last connection to close a session gives its lease back. */
    close: (params: t.SessionParams, options?: RequestOptions): Promise<t.CloseResult> =>
      this.request("session/close", params, options),
    /** Delete a session's file and artifacts. A session another process owns is refused. */
    delete: (params: t.DeleteParams = {}, options?: RequestOptions): Promise<t.DeleteResult> =>
      this.request("session/delete", params, options),
    /** Set the title. */
    rename: (params: t.RenameParams, options?: RequestOptions): Promise<t.RenameResult> =>
      this.request("session/rename", params, options),
    /** Move a session's file and artifacts to another working directory. */
    move: (params: t.MoveParams, options?: RequestOptions): Promise<t.SessionInfo> =>
      this.request("session/move", params, options),
    /** Copy a session, whole or one branch of it, into a new one that names its parent. */
    fork: (params: t.ForkParams, options?: RequestOptions): Promise<t.SessionInfo> =>
      this.request("session/fork", params, options),
    /** Turn another agent's transcript, or a provider's message array, into sessions. The source stays as it is. */
    import: (params: t.ImportParams = {}, options?: RequestOptions): Promise<t.ImportResult> =>
      this.request("session/import", params, options),
    /** Write a branch for another program or for a reader. */
    export: (params: t.ExportParams, options?: RequestOptions): Promise<t.ExportResult> =>
      this.request("session/export", params, options),
    /**
     * Append messages or entries. The answer means they are durable; repeating an id is a no-op, so a request whose
     * answer was lost can be sent again.
     */
    append: (params: t.AppendParams, options?: RequestOptions): Promise<t.AppendResult> =>
      this.request("session/append", params, options),
    /** Record the model from here on. */
    setModel: (params: t.SetModelParams, options?: RequestOptions): Promise<t.EntryResult> =>
      this.request("session/setModel", params, options),
    /** Record the reasoning effort from here on. */
    setThinkingLevel: (params: t.SetThinkingLevelParams, options?: RequestOptions): Promise<t.EntryResult> =>
      this.request("session/setThinkingLevel", params, options),
    /** Label an entry, or remove its label. The label is an entry of its own and becomes the leaf. */
    setLabel: (params: t.SetLabelParams, options?: RequestOptions): Promise<t.EntryResult> =>
      this.request("session/setLabel", params, options),
    /**
     * Say that the host's agent loop started or ended. Idle maintenance waits for the end; a manual compaction asks
     * for `agent/abort` first.
     */
    setBusy: (params: t.SetBusyParams, options?: RequestOptions): Promise<t.SetBusyResult> =>
      this.request("session/setBusy", params, options),
    /** Tell the system prompt, tools and plan files of the host, for measures and handoffs. Nothing is stored. */
    setHostContext: (params: t.SetHostContextParams, options?: RequestOptions): Promise<t.SetHostContextResult> =>
      this.request("session/setHostContext", params, options),
    /** Read back text that a shake moved out of the context. */
    readArtifact: (params: t.ReadArtifactParams, options?: RequestOptions): Promise<t.ReadArtifactResult> =>
      this.request("session/readArtifact", params, options),
    /** Read the file again after another program changed it. */
    reload: (params: t.ReloadParams, options?: RequestOptions): Promise<t.ReloadResult> =>
      this.request("session/reload", params, options),
    /** What there is to know about a session without its entries. */
    getInfo: (params: t.SessionParams, options?: RequestOptions): Promise<t.SessionInfo> =>
      this.request("session/getInfo", params, options),
    /** A window of the tree in display order. Counts say what lies outside of it, so a view never needs the whole. */
    getTree: (params: t.GetTreeParams, options?: RequestOptions): Promise<t.GetTreeResult> =>
      this.request("session/getTree", params, options),
    /** Entries from the root to a leaf, page by page. */
    getBranch: (params: t.GetBranchParams, options?: RequestOptions): Promise<t.GetBranchResult> =>
      this.request("session/getBranch", params, options),
    /** Entries by id, or everything that changed since a `seq` the client knows, or all in file order. */
    getEntries: (params: t.GetEntriesParams, options?: RequestOptions): Promise<t.GetEntriesResult> =>
      this.request("session/getEntries", params, options),
    /** Find text in the branch, in every branch, or in what compaction took out of the context. */
    search: (params: t.SearchParams, options?: RequestOptions): Promise<t.SearchResult> =>
      this.request("session/search", params, options),
    /** Go to another entry, with a summary of what is left behind if wanted. Nothing is deleted. */
    navigateTree: (params: t.NavigateTreeParams, options?: RequestOptions): Promise<t.NavigateTreeResult> =>
      this.request("session/navigateTree", params, options),
    /** Stop the branch summary that is being written; the session stays where it is. */
    abortBranchSummary: (params: t.SessionParams, options?: RequestOptions): Promise<t.AbortResult> =>
      this.request("session/abortBranchSummary", params, options),
    /** The messages to send to a model, valid for the API asked for; or the transcript for display. */
    buildContext: (params: t.BuildContextParams, options?: RequestOptions): Promise<t.BuildContextResult> =>
      this.request("session/buildContext", params, options),
    /** How full the context is, and of what. */
    contextUsage: (params: t.ContextUsageParams, options?: RequestOptions): Promise<t.ContextUsage> =>
      this.request("session/contextUsage", params, options),
    /** Plan a compaction: what would be summarised, kept and paid, for each strategy. Writes nothing, asks no model. */
    prepareCompaction: (params: t.PrepareCompactionParams, options?: RequestOptions): Promise<t.PrepareCompactionResult> =>
      this.request("session/prepareCompaction", params, options),
    /**
     * Replace old history by a summary or frames. Plan, run, check, write one entry, tell; with `hold` the result
     * waits for apply or discard. A failed or cancelled run leaves the session as it was.
     */
    compact: (params: t.CompactParams, options?: RequestOptions): Promise<t.CompactionResult> =>
      this.request("session/compact", params, options),
    /** Read a held result again, for a client that lost it or never saw it. */
    getHeldCompaction: (params: t.GetHeldCompactionParams, options?: RequestOptions): Promise<t.CompactionResult> =>
      this.request("session/getHeldCompaction", params, options),
    /** Write a held result, perhaps edited, if the leaf has not moved since. */
    applyCompaction: (params: t.ApplyCompactionParams, options?: RequestOptions): Promise<t.CompactionResult> =>
      this.request("session/applyCompaction", params, options),
    /** Drop a held result. */
    discardCompaction: (params: t.DiscardCompactionParams, options?: RequestOptions): Promise<t.DiscardCompactionResult> =>
      this.request("session/discardCompaction", params, options),
    /** Stop the manual compaction, automatic maintenance or handoff that is running. */
    abortCompaction: (params: t.SessionParams, options?: RequestOptions): Promise<t.AbortResult> =>
      this.request("session/abortCompaction", params, options),
    /** Move the leaf back to before the last compaction of the branch. */
    undoCompaction: (params: t.UndoCompactionParams, options?: RequestOptions): Promise<t.UndoCompactionResult> =>
      this.request("session/undoCompaction", params, options),
    /**
     * Look after the context and say what the host does next. Asked at a turn's end, before a prompt, or between tool
     * calls; the daemon itself never calls tools and never runs the agent loop.
     */
    checkMaintenance: (params: t.CheckMaintenanceParams, options?: RequestOptions): Promise<t.Directive> =>
      this.request("session/checkMaintenance", params, options),
    /** Do now what idle maintenance would do, unless the session is busy or compacting. */
    runIdleCompaction: (params: t.RunIdleCompactionParams, options?: RequestOptions): Promise<t.RunIdleCompactionResult> =>
      this.request("session/runIdleCompaction", params, options),
    /** Blank old tool outputs, superseded reads and useless results. */
    prune: (params: t.PruneParams, options?: RequestOptions): Promise<t.PruneResult> =>
      this.request("session/prune", params, options),
    /** Move bulky results and blocks into an artifact, or remove images. */
    shake: (params: t.ShakeParams, options?: RequestOptions): Promise<t.ShakeResult> =>
      this.request("session/shake", params, options),
    /** Have the model write a document from the live context and start a new session with it. */
    handoff: (params: t.HandoffParams, options?: RequestOptions): Promise<t.HandoffResult> =>
      this.request("session/handoff", params, options),
  };

  /** Requests `maintenance/…`. */
  readonly maintenance = {
    /** One pass of idle maintenance over all open sessions, for timers outside the daemon. */
    tick: (params: t.TickParams = {}, options?: RequestOptions): Promise<t.TickResult> =>
      this.request("maintenance/tick", params, options),
  };

  /** Requests `snapcompact/…`. */
  readonly snapcompact = {
    /** Every shape of frames with its price. */
    shapes: (params: t.ShapesParams = {}, options?: RequestOptions): Promise<t.ShapesResult> =>
      this.request("snapcompact/shapes", params, options),
    /** What a text costs as frames and as text. Draws nothing. */
    estimate: (params: t.EstimateParams, options?: RequestOptions): Promise<t.EstimateResult> =>
      this.request("snapcompact/estimate", params, options),
    /** Draw a text as frames. */
    render: (params: t.RenderParams, options?: RequestOptions): Promise<t.RenderResult> =>
      this.request("snapcompact/render", params, options),
    /** Draw the system prompt and large tool results of one request as frames where that saves tokens. */
    inline: (params: t.InlineParams, options?: RequestOptions): Promise<t.InlineResult> =>
      this.request("snapcompact/inline", params, options),
  };

  /** Requests `model/…`. */
  readonly model = {
    /** The models the daemon knows. */
    list: (params: t.ModelListParams = {}, options?: RequestOptions): Promise<t.ModelListResult> =>
      this.request("model/list", params, options),
    /** Add models, or replace what is known of them, until the daemon ends. */
    register: (params: t.ModelRegisterParams, options?: RequestOptions): Promise<t.ModelRegisterResult> =>
      this.request("model/register", params, options),
  };

  /** Requests `settings/…`. */
  readonly settings = {
    /** Settings in force, and who set them. */
    get: (params: t.SettingsGetParams = {}, options?: RequestOptions): Promise<t.SettingsResult> =>
      this.request("settings/get", params, options),
    /** Change settings for the daemon's life, for every session or one. A wrong value changes nothing. */
    update: (params: t.SettingsUpdateParams, options?: RequestOptions): Promise<t.SettingsResult> =>
      this.request("settings/update", params, options),
  };

  /** Requests `daemon/…`. */
  readonly daemon = {
    /** Who is connected to this daemon, which sessions are open, and what runs on them. */
    status: (params: t.StatusParams = {}, options?: RequestOptions): Promise<t.StatusResult> =>
      this.request("daemon/status", params, options),
    /** What was counted since the daemon started, as Prometheus reads it. */
    metrics: (params: t.MetricsParams = {}, options?: RequestOptions): Promise<t.MetricsResult> =>
      this.request("daemon/metrics", params, options),
  };
}
