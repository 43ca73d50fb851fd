"""The method table: every request of the protocol, once. Names, models and reference sentences come from here."""

from octavo_protocol.errors import ErrorKind
from octavo_protocol.methods import (
    append,
    common,
    compaction,
    context,
    daemon,
    hooks,
    maintenance,
    models,
    session,
    settings,
    snapcompact,
    tree,
)
from octavo_protocol.methods.common import SessionParams
from octavo_protocol.methods.spec import Direction, MethodSpec

_WRITES = (ErrorKind.SESSION_READ_ONLY, ErrorKind.STORAGE_FAILED)
_PROVIDER = (ErrorKind.NO_MODEL, ErrorKind.PROVIDER_ERROR, ErrorKind.CONTEXT_OVERFLOW)
_COMPACTS = (
    ErrorKind.ALREADY_COMPACTED,
    ErrorKind.NOTHING_TO_COMPACT,
    ErrorKind.COMPACTION_IN_PROGRESS,
    ErrorKind.STRATEGY_UNAVAILABLE,
    ErrorKind.CHECK_FAILED,
    ErrorKind.CONTENT_MODIFIED,
    ErrorKind.HOOK_FAILED,
    *_PROVIDER,
    *_WRITES,
)

_SESSION = (
    MethodSpec(
        "session/create",
        session.CreateParams,
        session.SessionInfo,
        "Start a session. Its file appears with the first assistant message, or at once when `path` is given.",
        errors=(ErrorKind.STORAGE_FAILED, ErrorKind.SESSION_LOCKED),
    ),
    MethodSpec(
        "session/open",
        session.OpenParams,
        session.OpenResult,
        "Open a session file in place and subscribe to its notifications. Old versions are migrated in memory and "
        "rewritten by the next append; foreign formats open read-only; a file that is no session is left untouched.",
        errors=(ErrorKind.SESSION_NOT_FOUND, ErrorKind.SESSION_UNREADABLE, ErrorKind.SESSION_LOCKED),
    ),
    MethodSpec(
        "session/list",
        session.ListParams,
        session.ListResult,
        "List session files, newest first, from their heads and tails.",
        cancellable=True,
    ),
    MethodSpec(
        "session/close",
        SessionParams,
        session.CloseResult,
        "Unsubscribe; the last connection to close a session gives its lease back.",
        errors=(ErrorKind.STORAGE_FAILED,),
    ),
    MethodSpec(
        "session/delete",
        session.DeleteParams,
        session.DeleteResult,
        "Delete a session's file and artifacts. A session another process owns is refused.",
        errors=(ErrorKind.SESSION_LOCKED, ErrorKind.STORAGE_FAILED),
    ),
    MethodSpec("session/rename", session.RenameParams, session.RenameResult, "Set the title.", errors=_WRITES),
    MethodSpec(
        "session/move",
        session.MoveParams,
        session.SessionInfo,
        "Move a session's file and artifacts to another working directory.",
        errors=_WRITES,
    ),
    MethodSpec(
        "session/fork",
        session.ForkParams,
        session.SessionInfo,
        "Copy a session, whole or one branch of it, into a new one that names its parent.",
        errors=(ErrorKind.ENTRY_NOT_FOUND, ErrorKind.STORAGE_FAILED),
    ),
    MethodSpec(
        "session/import",
        session.ImportParams,
        session.ImportResult,
        "Turn another agent's transcript, or a provider's message array, into sessions. The source stays as it is.",
        long_running=True,
        cancellable=True,
        errors=(ErrorKind.SESSION_NOT_FOUND, ErrorKind.SESSION_UNREADABLE, ErrorKind.STORAGE_FAILED),
    ),
    MethodSpec(
        "session/export",
        session.ExportParams,
        session.ExportResult,
        "Write a branch for another program or for a reader.",
        cancellable=True,
        errors=(ErrorKind.ENTRY_NOT_FOUND, ErrorKind.STORAGE_FAILED),
    ),
    MethodSpec(
        "session/append",
        append.AppendParams,
        append.AppendResult,
        "Append messages or entries. The answer means they are durable; repeating an id is a no-op, so a request whose "
        "answer was lost can be sent again.",
        errors=(ErrorKind.ENTRY_NOT_FOUND, ErrorKind.CONTENT_MODIFIED, *_WRITES),
    ),
    MethodSpec(
        "session/setModel",
        append.SetModelParams,
        append.EntryResult,
        "Record the model from here on.",
        errors=_WRITES,
    ),
    MethodSpec(
        "session/setThinkingLevel",
        append.SetThinkingLevelParams,
        append.EntryResult,
        "Record the reasoning effort from here on.",
        errors=_WRITES,
    ),
    MethodSpec(
        "session/setLabel",
        append.SetLabelParams,
        append.EntryResult,
        "Label an entry, or remove its label. The label is an entry of its own and becomes the leaf.",
        errors=(ErrorKind.ENTRY_NOT_FOUND, *_WRITES),
    ),
    MethodSpec(
        "session/setBusy",
        append.SetBusyParams,
        append.SetBusyResult,
        "Say that the host's agent loop started or ended. Idle maintenance waits for the end; a manual compaction asks "
        "for `agent/abort` first.",
    ),
    MethodSpec(
        "session/setHostContext",
        append.SetHostContextParams,
        append.SetHostContextResult,
        "Tell the system prompt, tools and plan files of the host, for measures and handoffs. Nothing is stored.",
    ),
    MethodSpec(
        "session/readArtifact",
        append.ReadArtifactParams,
        append.ReadArtifactResult,
        "Read back text that a shake moved out of the context.",
        errors=(ErrorKind.ENTRY_NOT_FOUND,),
    ),
    MethodSpec(
        "session/reload",
        session.ReloadParams,
        session.ReloadResult,
        "Read the file again after another program changed it.",
        errors=(ErrorKind.SESSION_UNREADABLE, ErrorKind.COMPACTION_IN_PROGRESS),
    ),
)

_TREE = (
    MethodSpec(
        "session/getInfo",
        SessionParams,
        session.SessionInfo,
        "What there is to know about a session without its entries.",
    ),
    MethodSpec(
        "session/getTree",
        tree.GetTreeParams,
        tree.GetTreeResult,
        "A window of the tree in display order. Counts say what lies outside of it, so a view never needs the whole.",
        errors=(ErrorKind.ENTRY_NOT_FOUND,),
    ),
    MethodSpec(
        "session/getBranch",
        tree.GetBranchParams,
        tree.GetBranchResult,
        "Entries from the root to a leaf, page by page.",
        errors=(ErrorKind.ENTRY_NOT_FOUND,),
    ),
    MethodSpec(
        "session/getEntries",
        tree.GetEntriesParams,
        tree.GetEntriesResult,
        "Entries by id, or everything that changed since a `seq` the client knows, or all in file order.",
    ),
    MethodSpec(
        "session/search",
        tree.SearchParams,
        tree.SearchResult,
        "Find text in the branch, in every branch, or in what compaction took out of the context.",
        cancellable=True,
    ),
    MethodSpec(
        "session/navigateTree",
        tree.NavigateTreeParams,
        tree.NavigateTreeResult,
        "Go to another entry, with a summary of what is left behind if wanted. Nothing is deleted.",
        long_running=True,
        cancellable=True,
        errors=(ErrorKind.ENTRY_NOT_FOUND, ErrorKind.CONTENT_MODIFIED, ErrorKind.HOOK_FAILED, *_PROVIDER, *_WRITES),
    ),
    MethodSpec(
        "session/abortBranchSummary",
        SessionParams,
        tree.AbortResult,
        "Stop the branch summary that is being written; the session stays where it is.",
    ),
)

_CONTEXT = (
    MethodSpec(
        "session/buildContext",
        context.BuildContextParams,
        context.BuildContextResult,
        "The messages to send to a model, valid for the API asked for; or the transcript for display.",
        errors=(ErrorKind.ENTRY_NOT_FOUND,),
    ),
    MethodSpec(
        "session/contextUsage", context.ContextUsageParams, common.ContextUsage, "How full the context is, and of what."
    ),
    MethodSpec(
        "session/prepareCompaction",
        context.PrepareCompactionParams,
        context.PrepareCompactionResult,
        "Plan a compaction: what would be summarised, kept and paid, for each strategy. Writes nothing, asks no model.",
        cancellable=True,
    ),
)

_COMPACTION = (
    MethodSpec(
        "session/compact",
        compaction.CompactParams,
        compaction.CompactionResult,
        "Replace old history by a summary or frames. Plan, run, check, write one entry, tell; with `hold` the result "
        "waits for apply or discard. A failed or cancelled run leaves the session as it was.",
        long_running=True,
        cancellable=True,
        errors=_COMPACTS,
    ),
    MethodSpec(
        "session/getHeldCompaction",
        compaction.GetHeldCompactionParams,
        compaction.CompactionResult,
        "Read a held result again, for a client that lost it or never saw it.",
        errors=(ErrorKind.OPERATION_NOT_FOUND,),
    ),
    MethodSpec(
        "session/applyCompaction",
        compaction.ApplyCompactionParams,
        compaction.CompactionResult,
        "Write a held result, perhaps edited, if the leaf has not moved since.",
        errors=(ErrorKind.OPERATION_NOT_FOUND, ErrorKind.CONTENT_MODIFIED, ErrorKind.CHECK_FAILED, *_WRITES),
    ),
    MethodSpec(
        "session/discardCompaction",
        compaction.DiscardCompactionParams,
        compaction.DiscardCompactionResult,
        "Drop a held result.",
        errors=(ErrorKind.OPERATION_NOT_FOUND,),
    ),
    MethodSpec(
        "session/abortCompaction",
        SessionParams,
        tree.AbortResult,
        "Stop the manual compaction, automatic maintenance or handoff that is running.",
    ),
    MethodSpec(
        "session/undoCompaction",
        compaction.UndoCompactionParams,
        compaction.UndoCompactionResult,
        "Move the leaf back to before the last compaction of the branch.",
        errors=(ErrorKind.ENTRY_NOT_FOUND, ErrorKind.CONTENT_MODIFIED, *_WRITES),
    ),
)

_MAINTENANCE = (
    MethodSpec(
        "session/checkMaintenance",
        maintenance.CheckMaintenanceParams,
        maintenance.Directive,
        "Look after the context and say what the host does next. Asked at a turn's end, before a prompt, or between "
        "tool calls; the daemon itself never calls tools and never runs the agent loop.",
        long_running=True,
        cancellable=True,
        errors=_WRITES,
    ),
    MethodSpec(
        "session/runIdleCompaction",
        maintenance.RunIdleCompactionParams,
        maintenance.RunIdleCompactionResult,
        "Do now what idle maintenance would do, unless the session is busy or compacting.",
        long_running=True,
        cancellable=True,
        errors=_WRITES,
    ),
    MethodSpec(
        "session/prune",
        maintenance.PruneParams,
        maintenance.PruneResult,
        "Blank old tool outputs, superseded reads and useless results.",
        errors=_WRITES,
    ),
    MethodSpec(
        "session/shake",
        maintenance.ShakeParams,
        maintenance.ShakeResult,
        "Move bulky results and blocks into an artifact, or remove images.",
        errors=_WRITES,
    ),
    MethodSpec(
        "session/handoff",
        maintenance.HandoffParams,
        maintenance.HandoffResult,
        "Have the model write a document from the live context and start a new session with it.",
        long_running=True,
        cancellable=True,
        errors=(ErrorKind.NOTHING_TO_COMPACT, ErrorKind.COMPACTION_IN_PROGRESS, *_PROVIDER, *_WRITES),
    ),
    MethodSpec(
        "maintenance/tick",
        maintenance.TickParams,
        maintenance.TickResult,
        "One pass of idle maintenance over all open sessions, for timers outside the daemon.",
        cancellable=True,
    ),
)

_DAEMON = (
    MethodSpec(
        "daemon/status",
        daemon.StatusParams,
        daemon.StatusResult,
        "Who is connected to this daemon, which sessions are open, and what runs on them.",
    ),
    MethodSpec(
        "daemon/metrics",
        daemon.MetricsParams,
        daemon.MetricsResult,
        "What was counted since the daemon started, as Prometheus reads it.",
    ),
)

_SNAPCOMPACT = (
    MethodSpec(
        "snapcompact/shapes",
        snapcompact.ShapesParams,
        snapcompact.ShapesResult,
        "Every shape of frames with its price.",
    ),
    MethodSpec(
        "snapcompact/estimate",
        snapcompact.EstimateParams,
        snapcompact.EstimateResult,
        "What a text costs as frames and as text. Draws nothing.",
        errors=(ErrorKind.STRATEGY_UNAVAILABLE,),
    ),
    MethodSpec(
        "snapcompact/render",
        snapcompact.RenderParams,
        snapcompact.RenderResult,
        "Draw a text as frames.",
        long_running=True,
        cancellable=True,
        errors=(ErrorKind.STRATEGY_UNAVAILABLE,),
    ),
    MethodSpec(
        "snapcompact/inline",
        snapcompact.InlineParams,
        snapcompact.InlineResult,
        "Draw the system prompt and large tool results of one request as frames where that saves tokens.",
        long_running=True,
        cancellable=True,
        errors=(ErrorKind.STRATEGY_UNAVAILABLE,),
    ),
)

_MODELS_AND_SETTINGS = (
    MethodSpec("model/list", models.ModelListParams, models.ModelListResult, "The models the daemon knows."),
    MethodSpec(
        "model/register",
        models.ModelRegisterParams,
        models.ModelRegisterResult,
        "Add models, or replace what is known of them, until the daemon ends.",
    ),
    MethodSpec(
        "settings/get", settings.SettingsGetParams, settings.SettingsResult, "Settings in force, and who set them."
    ),
    MethodSpec(
        "settings/update",
        settings.SettingsUpdateParams,
        settings.SettingsResult,
        "Change settings for the daemon's life, for every session or one. A wrong value changes nothing.",
    ),
)

_TO_CLIENT = (
    MethodSpec(
        "llm/complete",
        models.LlmCompleteParams,
        models.LlmCompleteResult,
        "Call a model with the host's credentials. Asked only of clients that said `complete`.",
        Direction.DAEMON_TO_CLIENT,
        cancellable=True,
    ),
    MethodSpec(
        "agent/abort",
        models.AgentAbortParams,
        models.AgentAbortResult,
        "Stop the running operation of the agent loop and answer when it has stopped. Asked only of clients that said "
        "`agent`.",
        Direction.DAEMON_TO_CLIENT,
        cancellable=True,
    ),
    MethodSpec(
        "hook/sessionBeforeCompact",
        hooks.SessionBeforeCompactParams,
        hooks.SessionBeforeCompactResult,
        "May cancel a compaction or supply its result. Asked only of clients that registered it; a timeout "
        "(`hooks.timeoutMs`) counts as no answer.",
        Direction.DAEMON_TO_CLIENT,
        cancellable=True,
    ),
    MethodSpec(
        "hook/sessionCompacting",
        hooks.SessionCompactingParams,
        hooks.SessionCompactingResult,
        "May add context, replace the prompt, or leave data with the entry.",
        Direction.DAEMON_TO_CLIENT,
        cancellable=True,
    ),
    MethodSpec(
        "hook/sessionBeforeTree",
        hooks.SessionBeforeTreeParams,
        hooks.SessionBeforeTreeResult,
        "May cancel a navigation or supply its branch summary.",
        Direction.DAEMON_TO_CLIENT,
        cancellable=True,
    ),
)

_GROUPS = (
    _SESSION,
    _TREE,
    _CONTEXT,
    _COMPACTION,
    _MAINTENANCE,
    _SNAPCOMPACT,
    _MODELS_AND_SETTINGS,
    _DAEMON,
    _TO_CLIENT,
)

METHODS: dict[str, MethodSpec] = {spec.name: spec for group in _GROUPS for spec in group}
"""Every request by name, in the order the reference lists them."""
