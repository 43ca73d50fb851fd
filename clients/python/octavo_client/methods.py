# ruff: noqa: A002 -- the names are the wire's
"""Typed helpers, one for each request a client sends.

Generated from the method table by `python -m octavo_protocol.generate`; do not edit.
"""

from typing import Any, Literal

from octavo_client.asking import UNSET, Asking, OnProgress, Unset
from octavo_protocol.methods.append import (
    AppendParams,
    AppendResult,
    EntryResult,
    ReadArtifactParams,
    ReadArtifactResult,
    SetBusyParams,
    SetBusyResult,
    SetHostContextParams,
    SetHostContextResult,
    SetLabelParams,
    SetModelParams,
    SetThinkingLevelParams,
)
from octavo_protocol.methods.common import ContextFormat, ContextUsage, SessionParams, Strategy
from octavo_protocol.methods.compaction import (
    ApplyCompactionParams,
    CompactionResult,
    CompactParams,
    DiscardCompactionParams,
    DiscardCompactionResult,
    GetHeldCompactionParams,
    UndoCompactionParams,
    UndoCompactionResult,
)
from octavo_protocol.methods.context import (
    BuildContextParams,
    BuildContextResult,
    ContextUsageParams,
    PrepareCompactionParams,
    PrepareCompactionResult,
)
from octavo_protocol.methods.daemon import MetricsParams, MetricsResult, StatusParams, StatusResult
from octavo_protocol.methods.maintenance import (
    At,
    CheckMaintenanceParams,
    Directive,
    HandoffParams,
    HandoffResult,
    PruneParams,
    PruneResult,
    RunIdleCompactionParams,
    RunIdleCompactionResult,
    ShakeParams,
    ShakeResult,
    TickParams,
    TickResult,
)
from octavo_protocol.methods.models import ModelListParams, ModelListResult, ModelRegisterParams, ModelRegisterResult
from octavo_protocol.methods.session import (
    CloseResult,
    CreateParams,
    DeleteParams,
    DeleteResult,
    ExportFormat,
    ExportParams,
    ExportResult,
    ForkParams,
    ImportParams,
    ImportResult,
    ListParams,
    ListResult,
    Mode,
    MoveParams,
    OpenParams,
    OpenResult,
    ReloadParams,
    ReloadResult,
    RenameParams,
    RenameResult,
    SessionInfo,
)
from octavo_protocol.methods.settings import SettingsGetParams, SettingsResult, SettingsUpdateParams
from octavo_protocol.methods.snapcompact import (
    EstimateParams,
    EstimateResult,
    InlineParams,
    InlineResult,
    Layout,
    RenderParams,
    RenderResult,
    ShapesParams,
    ShapesResult,
)
from octavo_protocol.methods.tree import (
    AbortResult,
    GetBranchParams,
    GetBranchResult,
    GetEntriesParams,
    GetEntriesResult,
    GetTreeParams,
    GetTreeResult,
    NavigateTreeParams,
    NavigateTreeResult,
    SearchParams,
    SearchResult,
    TreeFilter,
)
from octavo_protocol.model_info import ModelInfo


class Methods(Asking):
    """Every request, by name."""

    async def session_create(
        self,
        *,
        system_prompt: str | list[str] | Unset | None = UNSET,
        tools: list[dict[str, Any]] | Unset | None = UNSET,
        plan_files: list[str] | Unset | None = UNSET,
        cwd: str,
        title: str | Unset | None = UNSET,
        model: str | Unset | None = UNSET,
        thinking_level: str | Unset | None = UNSET,
        parent_session: str | Unset | None = UNSET,
        path: str | Unset | None = UNSET,
        ephemeral: bool | Unset = UNSET,
    ) -> SessionInfo:
        """Start a session.

        Its file appears with the first assistant message, or at once when `path` is given.
        """
        return await self.ask(
            "session/create",
            CreateParams,
            SessionInfo,
            system_prompt=system_prompt,
            tools=tools,
            plan_files=plan_files,
            cwd=cwd,
            title=title,
            model=model,
            thinking_level=thinking_level,
            parent_session=parent_session,
            path=path,
            ephemeral=ephemeral,
        )

    async def session_open(
        self,
        *,
        system_prompt: str | list[str] | Unset | None = UNSET,
        tools: list[dict[str, Any]] | Unset | None = UNSET,
        plan_files: list[str] | Unset | None = UNSET,
        session_id: str | Unset | None = UNSET,
        path: str | Unset | None = UNSET,
        cwd: str | Unset | None = UNSET,
        mode: Mode | Unset = UNSET,
    ) -> OpenResult:
        """Open a session file in place and subscribe to its notifications.

        Old versions are migrated in memory and rewritten by the next append; foreign formats open read-only; a file
        that is no session is left untouched.
        """
        return await self.ask(
            "session/open",
            OpenParams,
            OpenResult,
            system_prompt=system_prompt,
            tools=tools,
            plan_files=plan_files,
            session_id=session_id,
            path=path,
            cwd=cwd,
            mode=mode,
        )

    async def session_list(
        self,
        *,
        limit: int | Unset | None = UNSET,
        cursor: str | Unset | None = UNSET,
        cwd: str | Unset | None = UNSET,
        root: str | Unset | None = UNSET,
        query: str | Unset | None = UNSET,
    ) -> ListResult:
        """List session files, newest first, from their heads and tails."""
        return await self.ask(
            "session/list",
            ListParams,
            ListResult,
            limit=limit,
            cursor=cursor,
            cwd=cwd,
            root=root,
            query=query,
        )

    async def session_close(
        self,
        *,
        session_id: str,
    ) -> CloseResult:
        """Unsubscribe; the last connection to close a session gives its lease back."""
        return await self.ask(
            "session/close",
            SessionParams,
            CloseResult,
            session_id=session_id,
        )

    async def session_delete(
        self,
        *,
        session_id: str | Unset | None = UNSET,
        path: str | Unset | None = UNSET,
    ) -> DeleteResult:
        """Delete a session's file and artifacts.

        A session another process owns is refused.
        """
        return await self.ask(
            "session/delete",
            DeleteParams,
            DeleteResult,
            session_id=session_id,
            path=path,
        )

    async def session_rename(
        self,
        *,
        session_id: str,
        title: str,
        source: Literal["auto", "user"] | Unset = UNSET,
    ) -> RenameResult:
        """Set the title."""
        return await self.ask(
            "session/rename",
            RenameParams,
            RenameResult,
            session_id=session_id,
            title=title,
            source=source,
        )

    async def session_move(
        self,
        *,
        session_id: str,
        cwd: str,
    ) -> SessionInfo:
        """Move a session's file and artifacts to another working directory."""
        return await self.ask(
            "session/move",
            MoveParams,
            SessionInfo,
            session_id=session_id,
            cwd=cwd,
        )

    async def session_fork(
        self,
        *,
        session_id: str,
        entry_id: str | Unset | None = UNSET,
        ephemeral: bool | Unset = UNSET,
    ) -> SessionInfo:
        """Copy a session, whole or one branch of it, into a new one that names its parent."""
        return await self.ask(
            "session/fork",
            ForkParams,
            SessionInfo,
            session_id=session_id,
            entry_id=entry_id,
            ephemeral=ephemeral,
        )

    async def session_import(
        self,
        *,
        path: str | Unset | None = UNSET,
        messages: list[dict[str, Any]] | Unset | None = UNSET,
        format: str | Unset | None = UNSET,
        cwd: str | Unset | None = UNSET,
        target_path: str | Unset | None = UNSET,
        ephemeral: bool | Unset = UNSET,
        on_progress: OnProgress | None = None,
    ) -> ImportResult:
        """Turn another agent's transcript, or a provider's message array, into sessions.

        The source stays as it is.
        """
        return await self.ask(
            "session/import",
            ImportParams,
            ImportResult,
            path=path,
            messages=messages,
            format=format,
            cwd=cwd,
            target_path=target_path,
            ephemeral=ephemeral,
            on_progress=on_progress,
        )

    async def session_export(
        self,
        *,
        session_id: str,
        format: ExportFormat,
        path: str | Unset | None = UNSET,
        leaf_id: str | Unset | None = UNSET,
        transcript: bool | Unset = UNSET,
        include_images: bool | Unset = UNSET,
    ) -> ExportResult:
        """Write a branch for another program or for a reader."""
        return await self.ask(
            "session/export",
            ExportParams,
            ExportResult,
            session_id=session_id,
            format=format,
            path=path,
            leaf_id=leaf_id,
            transcript=transcript,
            include_images=include_images,
        )

    async def session_append(
        self,
        *,
        session_id: str,
        messages: list[dict[str, Any]] | Unset | None = UNSET,
        entries: list[dict[str, Any]] | Unset | None = UNSET,
        parent_id: str | Unset | None = UNSET,
        expected_leaf_id: str | Unset | None = UNSET,
        ids: list[str] | Unset | None = UNSET,
    ) -> AppendResult:
        """Append messages or entries.

        The answer means they are durable; repeating an id is a no-op, so a request whose answer was lost can be sent
        again.
        """
        return await self.ask(
            "session/append",
            AppendParams,
            AppendResult,
            session_id=session_id,
            messages=messages,
            entries=entries,
            parent_id=parent_id,
            expected_leaf_id=expected_leaf_id,
            ids=ids,
        )

    async def session_set_model(
        self,
        *,
        session_id: str,
        model: str,
        role: str | Unset | None = UNSET,
    ) -> EntryResult:
        """Record the model from here on."""
        return await self.ask(
            "session/setModel",
            SetModelParams,
            EntryResult,
            session_id=session_id,
            model=model,
            role=role,
        )

    async def session_set_thinking_level(
        self,
        *,
        session_id: str,
        thinking_level: str | None,
    ) -> EntryResult:
        """Record the reasoning effort from here on."""
        return await self.ask(
            "session/setThinkingLevel",
            SetThinkingLevelParams,
            EntryResult,
            session_id=session_id,
            thinking_level=thinking_level,
        )

    async def session_set_label(
        self,
        *,
        session_id: str,
        target_id: str,
        label: str | Unset | None = UNSET,
    ) -> EntryResult:
        """Label an entry, or remove its label.

        The label is an entry of its own and becomes the leaf.
        """
        return await self.ask(
            "session/setLabel",
            SetLabelParams,
            EntryResult,
            session_id=session_id,
            target_id=target_id,
            label=label,
        )

    async def session_set_busy(
        self,
        *,
        session_id: str,
        busy: bool,
        turn_id: str | Unset | None = UNSET,
    ) -> SetBusyResult:
        """Say that the host's agent loop started or ended.

        Idle maintenance waits for the end; a manual compaction asks for `agent/abort` first.
        """
        return await self.ask(
            "session/setBusy",
            SetBusyParams,
            SetBusyResult,
            session_id=session_id,
            busy=busy,
            turn_id=turn_id,
        )

    async def session_set_host_context(
        self,
        *,
        system_prompt: str | list[str] | Unset | None = UNSET,
        tools: list[dict[str, Any]] | Unset | None = UNSET,
        plan_files: list[str] | Unset | None = UNSET,
        session_id: str,
    ) -> SetHostContextResult:
        """Tell the system prompt, tools and plan files of the host, for measures and handoffs.

        Nothing is stored.
        """
        return await self.ask(
            "session/setHostContext",
            SetHostContextParams,
            SetHostContextResult,
            system_prompt=system_prompt,
            tools=tools,
            plan_files=plan_files,
            session_id=session_id,
        )

    async def session_read_artifact(
        self,
        *,
        session_id: str,
        artifact_id: str,
        offset: int | Unset = UNSET,
        limit: int | Unset = UNSET,
    ) -> ReadArtifactResult:
        """Read back text that a shake moved out of the context."""
        return await self.ask(
            "session/readArtifact",
            ReadArtifactParams,
            ReadArtifactResult,
            session_id=session_id,
            artifact_id=artifact_id,
            offset=offset,
            limit=limit,
        )

    async def session_reload(
        self,
        *,
        session_id: str,
        force: bool | Unset = UNSET,
    ) -> ReloadResult:
        """Read the file again after another program changed it."""
        return await self.ask(
            "session/reload",
            ReloadParams,
            ReloadResult,
            session_id=session_id,
            force=force,
        )

    async def session_get_info(
        self,
        *,
        session_id: str,
    ) -> SessionInfo:
        """What there is to know about a session without its entries."""
        return await self.ask(
            "session/getInfo",
            SessionParams,
            SessionInfo,
            session_id=session_id,
        )

    async def session_get_tree(
        self,
        *,
        session_id: str,
        filter: TreeFilter | Unset | None = UNSET,
        max_depth: int | Unset | None = UNSET,
        around: str | Unset | None = UNSET,
        window: int | Unset = UNSET,
    ) -> GetTreeResult:
        """A window of the tree in display order.

        Counts say what lies outside of it, so a view never needs the whole.
        """
        return await self.ask(
            "session/getTree",
            GetTreeParams,
            GetTreeResult,
            session_id=session_id,
            filter=filter,
            max_depth=max_depth,
            around=around,
            window=window,
        )

    async def session_get_branch(
        self,
        *,
        limit: int | Unset | None = UNSET,
        cursor: str | Unset | None = UNSET,
        session_id: str,
        leaf_id: str | Unset | None = UNSET,
        order: Literal["rootFirst", "newestFirst"] | Unset = UNSET,
    ) -> GetBranchResult:
        """Entries from the root to a leaf, page by page."""
        return await self.ask(
            "session/getBranch",
            GetBranchParams,
            GetBranchResult,
            limit=limit,
            cursor=cursor,
            session_id=session_id,
            leaf_id=leaf_id,
            order=order,
        )

    async def session_get_entries(
        self,
        *,
        limit: int | Unset | None = UNSET,
        cursor: str | Unset | None = UNSET,
        session_id: str,
        ids: list[str] | Unset | None = UNSET,
        since_seq: int | Unset | None = UNSET,
        epoch: str | Unset | None = UNSET,
    ) -> GetEntriesResult:
        """Entries by id, or everything that changed since a `seq` the client knows, or all in file order."""
        return await self.ask(
            "session/getEntries",
            GetEntriesParams,
            GetEntriesResult,
            limit=limit,
            cursor=cursor,
            session_id=session_id,
            ids=ids,
            since_seq=since_seq,
            epoch=epoch,
        )

    async def session_search(
        self,
        *,
        limit: int | Unset | None = UNSET,
        cursor: str | Unset | None = UNSET,
        session_id: str,
        query: str,
        regex: bool | Unset = UNSET,
        case_sensitive: bool | Unset = UNSET,
        scope: Literal["branch", "tree", "archived"] | Unset = UNSET,
    ) -> SearchResult:
        """Find text in the branch, in every branch, or in what compaction took out of the context."""
        return await self.ask(
            "session/search",
            SearchParams,
            SearchResult,
            limit=limit,
            cursor=cursor,
            session_id=session_id,
            query=query,
            regex=regex,
            case_sensitive=case_sensitive,
            scope=scope,
        )

    async def session_navigate_tree(
        self,
        *,
        session_id: str,
        target_id: str,
        summarize: bool | Unset = UNSET,
        custom_instructions: str | Unset | None = UNSET,
        label: str | Unset | None = UNSET,
        expected_leaf_id: str | Unset | None = UNSET,
        include_context: bool | Unset = UNSET,
        on_progress: OnProgress | None = None,
    ) -> NavigateTreeResult:
        """Go to another entry, with a summary of what is left behind if wanted.

        Nothing is deleted.
        """
        return await self.ask(
            "session/navigateTree",
            NavigateTreeParams,
            NavigateTreeResult,
            session_id=session_id,
            target_id=target_id,
            summarize=summarize,
            custom_instructions=custom_instructions,
            label=label,
            expected_leaf_id=expected_leaf_id,
            include_context=include_context,
            on_progress=on_progress,
        )

    async def session_abort_branch_summary(
        self,
        *,
        session_id: str,
    ) -> AbortResult:
        """Stop the branch summary that is being written; the session stays where it is."""
        return await self.ask(
            "session/abortBranchSummary",
            SessionParams,
            AbortResult,
            session_id=session_id,
        )

    async def session_build_context(
        self,
        *,
        session_id: str,
        leaf_id: str | Unset | None = UNSET,
        transcript: bool | Unset = UNSET,
        format: ContextFormat | Unset | None = UNSET,
        include_images: bool | Unset = UNSET,
        system_prompt: str | list[str] | Unset | None = UNSET,
        drop_entry_ids: list[str] | Unset = UNSET,
    ) -> BuildContextResult:
        """The messages to send to a model, valid for the API asked for; or the transcript for display."""
        return await self.ask(
            "session/buildContext",
            BuildContextParams,
            BuildContextResult,
            session_id=session_id,
            leaf_id=leaf_id,
            transcript=transcript,
            format=format,
            include_images=include_images,
            system_prompt=system_prompt,
            drop_entry_ids=drop_entry_ids,
        )

    async def session_context_usage(
        self,
        *,
        session_id: str,
        leaf_id: str | Unset | None = UNSET,
        model: str | Unset | None = UNSET,
        pending_messages: list[dict[str, Any]] | Unset = UNSET,
    ) -> ContextUsage:
        """How full the context is, and of what."""
        return await self.ask(
            "session/contextUsage",
            ContextUsageParams,
            ContextUsage,
            session_id=session_id,
            leaf_id=leaf_id,
            model=model,
            pending_messages=pending_messages,
        )

    async def session_prepare_compaction(
        self,
        *,
        session_id: str,
        strategy: Strategy | Unset | None = UNSET,
        custom_instructions: str | Unset | None = UNSET,
        model: str | Unset | None = UNSET,
    ) -> PrepareCompactionResult:
        """Plan a compaction: what would be summarised, kept and paid, for each strategy.

        Writes nothing, asks no model.
        """
        return await self.ask(
            "session/prepareCompaction",
            PrepareCompactionParams,
            PrepareCompactionResult,
            session_id=session_id,
            strategy=strategy,
            custom_instructions=custom_instructions,
            model=model,
        )

    async def session_compact(
        self,
        *,
        session_id: str,
        custom_instructions: str | Unset | None = UNSET,
        strategy: Strategy | Unset | None = UNSET,
        model: str | Unset | None = UNSET,
        hold: bool | Unset = UNSET,
        expected_leaf_id: str | Unset | None = UNSET,
        on_progress: OnProgress | None = None,
    ) -> CompactionResult:
        """Replace old history by a summary or frames.

        Plan, run, check, write one entry, tell; with `hold` the result waits for apply or discard. A failed or
        cancelled run leaves the session as it was.
        """
        return await self.ask(
            "session/compact",
            CompactParams,
            CompactionResult,
            session_id=session_id,
            custom_instructions=custom_instructions,
            strategy=strategy,
            model=model,
            hold=hold,
            expected_leaf_id=expected_leaf_id,
            on_progress=on_progress,
        )

    async def session_get_held_compaction(
        self,
        *,
        session_id: str,
        operation_id: str,
    ) -> CompactionResult:
        """Read a held result again, for a client that lost it or never saw it."""
        return await self.ask(
            "session/getHeldCompaction",
            GetHeldCompactionParams,
            CompactionResult,
            session_id=session_id,
            operation_id=operation_id,
        )

    async def session_apply_compaction(
        self,
        *,
        session_id: str,
        operation_id: str,
        summary: str | Unset | None = UNSET,
        short_summary: str | Unset | None = UNSET,
    ) -> CompactionResult:
        """Write a held result, perhaps edited, if the leaf has not moved since."""
        return await self.ask(
            "session/applyCompaction",
            ApplyCompactionParams,
            CompactionResult,
            session_id=session_id,
            operation_id=operation_id,
            summary=summary,
            short_summary=short_summary,
        )

    async def session_discard_compaction(
        self,
        *,
        session_id: str,
        operation_id: str,
    ) -> DiscardCompactionResult:
        """Drop a held result."""
        return await self.ask(
            "session/discardCompaction",
            DiscardCompactionParams,
            DiscardCompactionResult,
            session_id=session_id,
            operation_id=operation_id,
        )

    async def session_abort_compaction(
        self,
        *,
        session_id: str,
    ) -> AbortResult:
        """Stop the manual compaction, automatic maintenance or handoff that is running."""
        return await self.ask(
            "session/abortCompaction",
            SessionParams,
            AbortResult,
            session_id=session_id,
        )

    async def session_undo_compaction(
        self,
        *,
        session_id: str,
        expected_leaf_id: str | Unset | None = UNSET,
    ) -> UndoCompactionResult:
        """Move the leaf back to before the last compaction of the branch."""
        return await self.ask(
            "session/undoCompaction",
            UndoCompactionParams,
            UndoCompactionResult,
            session_id=session_id,
            expected_leaf_id=expected_leaf_id,
        )

    async def session_check_maintenance(
        self,
        *,
        session_id: str,
        at: At,
        pending_messages: list[dict[str, Any]] | Unset = UNSET,
        queued: bool | Unset = UNSET,
        allow_defer: bool | Unset | None = UNSET,
        auto_continue: bool | Unset | None = UNSET,
        on_progress: OnProgress | None = None,
    ) -> Directive:
        """Look after the context and say what the host does next.

        Asked at a turn's end, before a prompt, or between tool calls; the daemon itself never calls tools and never
        runs the agent loop.
        """
        return await self.ask(
            "session/checkMaintenance",
            CheckMaintenanceParams,
            Directive,
            session_id=session_id,
            at=at,
            pending_messages=pending_messages,
            queued=queued,
            allow_defer=allow_defer,
            auto_continue=auto_continue,
            on_progress=on_progress,
        )

    async def session_run_idle_compaction(
        self,
        *,
        session_id: str,
        on_progress: OnProgress | None = None,
    ) -> RunIdleCompactionResult:
        """Do now what idle maintenance would do, unless the session is busy or compacting."""
        return await self.ask(
            "session/runIdleCompaction",
            RunIdleCompactionParams,
            RunIdleCompactionResult,
            session_id=session_id,
            on_progress=on_progress,
        )

    async def session_prune(
        self,
        *,
        session_id: str,
        mode: Literal["outputs", "stale", "both"] | Unset = UNSET,
        dry_run: bool | Unset = UNSET,
    ) -> PruneResult:
        """Blank old tool outputs, superseded reads and useless results."""
        return await self.ask(
            "session/prune",
            PruneParams,
            PruneResult,
            session_id=session_id,
            mode=mode,
            dry_run=dry_run,
        )

    async def session_shake(
        self,
        *,
        session_id: str,
        mode: Literal["elide", "images"] | Unset = UNSET,
        aggressive: bool | Unset = UNSET,
        protect_tokens: int | Unset | None = UNSET,
        min_savings: int | Unset | None = UNSET,
        dry_run: bool | Unset = UNSET,
    ) -> ShakeResult:
        """Move bulky results and blocks into an artifact, or remove images."""
        return await self.ask(
            "session/shake",
            ShakeParams,
            ShakeResult,
            session_id=session_id,
            mode=mode,
            aggressive=aggressive,
            protect_tokens=protect_tokens,
            min_savings=min_savings,
            dry_run=dry_run,
        )

    async def session_handoff(
        self,
        *,
        session_id: str,
        custom_instructions: str | Unset | None = UNSET,
        model: str | Unset | None = UNSET,
        save_to_disk: bool | Unset = UNSET,
        on_progress: OnProgress | None = None,
    ) -> HandoffResult:
        """Have the model write a document from the live context and start a new session with it."""
        return await self.ask(
            "session/handoff",
            HandoffParams,
            HandoffResult,
            session_id=session_id,
            custom_instructions=custom_instructions,
            model=model,
            save_to_disk=save_to_disk,
            on_progress=on_progress,
        )

    async def maintenance_tick(
        self,
        *,
        idle_for_ms: int | Unset | None = UNSET,
    ) -> TickResult:
        """One pass of idle maintenance over all open sessions, for timers outside the daemon."""
        return await self.ask(
            "maintenance/tick",
            TickParams,
            TickResult,
            idle_for_ms=idle_for_ms,
        )

    async def snapcompact_shapes(
        self,
        *,
        model: str | Unset | None = UNSET,
        api: str | Unset | None = UNSET,
    ) -> ShapesResult:
        """Every shape of frames with its price."""
        return await self.ask(
            "snapcompact/shapes",
            ShapesParams,
            ShapesResult,
            model=model,
            api=api,
        )

    async def snapcompact_estimate(
        self,
        *,
        model: str | Unset | None = UNSET,
        api: str | Unset | None = UNSET,
        shape: str | Unset | None = UNSET,
        frame_size: int | Unset | None = UNSET,
        layout: Layout | Unset | None = UNSET,
        text: str,
    ) -> EstimateResult:
        """What a text costs as frames and as text.

        Draws nothing.
        """
        return await self.ask(
            "snapcompact/estimate",
            EstimateParams,
            EstimateResult,
            model=model,
            api=api,
            shape=shape,
            frame_size=frame_size,
            layout=layout,
            text=text,
        )

    async def snapcompact_render(
        self,
        *,
        model: str | Unset | None = UNSET,
        api: str | Unset | None = UNSET,
        shape: str | Unset | None = UNSET,
        frame_size: int | Unset | None = UNSET,
        layout: Layout | Unset | None = UNSET,
        text: str,
        max_frames: int | Unset | None = UNSET,
        on_progress: OnProgress | None = None,
    ) -> RenderResult:
        """Draw a text as frames."""
        return await self.ask(
            "snapcompact/render",
            RenderParams,
            RenderResult,
            model=model,
            api=api,
            shape=shape,
            frame_size=frame_size,
            layout=layout,
            text=text,
            max_frames=max_frames,
            on_progress=on_progress,
        )

    async def snapcompact_inline(
        self,
        *,
        model: str | Unset | None = UNSET,
        api: str | Unset | None = UNSET,
        shape: str | Unset | None = UNSET,
        frame_size: int | Unset | None = UNSET,
        layout: Layout | Unset | None = UNSET,
        system_prompt: list[str] | Unset = UNSET,
        messages: list[dict[str, Any]],
        system_prompt_mode: Literal["none", "agents-md", "all"] | Unset | None = UNSET,
        tool_results: bool | Unset | None = UNSET,
        plan_only: bool | Unset = UNSET,
        session_id: str | Unset | None = UNSET,
        on_progress: OnProgress | None = None,
    ) -> InlineResult:
        """Draw the system prompt and large tool results of one request as frames where that saves tokens."""
        return await self.ask(
            "snapcompact/inline",
            InlineParams,
            InlineResult,
            model=model,
            api=api,
            shape=shape,
            frame_size=frame_size,
            layout=layout,
            system_prompt=system_prompt,
            messages=messages,
            system_prompt_mode=system_prompt_mode,
            tool_results=tool_results,
            plan_only=plan_only,
            session_id=session_id,
            on_progress=on_progress,
        )

    async def model_list(
        self,
        *,
        provider: str | Unset | None = UNSET,
    ) -> ModelListResult:
        """The models the daemon knows."""
        return await self.ask(
            "model/list",
            ModelListParams,
            ModelListResult,
            provider=provider,
        )

    async def model_register(
        self,
        *,
        models: list[ModelInfo],
    ) -> ModelRegisterResult:
        """Add models, or replace what is known of them, until the daemon ends."""
        return await self.ask(
            "model/register",
            ModelRegisterParams,
            ModelRegisterResult,
            models=models,
        )

    async def settings_get(
        self,
        *,
        session_id: str | Unset | None = UNSET,
        keys: list[str] | Unset | None = UNSET,
    ) -> SettingsResult:
        """Settings in force, and who set them."""
        return await self.ask(
            "settings/get",
            SettingsGetParams,
            SettingsResult,
            session_id=session_id,
            keys=keys,
        )

    async def settings_update(
        self,
        *,
        settings: dict[str, Any],
        scope: Literal["daemon", "session"] | Unset = UNSET,
        session_id: str | Unset | None = UNSET,
    ) -> SettingsResult:
        """Change settings for the daemon's life, for every session or one.

        A wrong value changes nothing.
        """
        return await self.ask(
            "settings/update",
            SettingsUpdateParams,
            SettingsResult,
            settings=settings,
            scope=scope,
            session_id=session_id,
        )

    async def daemon_status(self) -> StatusResult:
        """Who is connected to this daemon, which sessions are open, and what runs on them."""
        return await self.ask(
            "daemon/status",
            StatusParams,
            StatusResult,
        )

    async def daemon_metrics(self) -> MetricsResult:
        """What was counted since the daemon started, as Prometheus reads it."""
        return await self.ask(
            "daemon/metrics",
            MetricsParams,
            MetricsResult,
        )
