"""Move about in the tree: to another entry, with or without a summary of what is left behind.

Nothing changes before a requested summary exists: an abort, a hook's veto and a failure leave leaf and file as they
were. Source: engine.md §2.3 (nav-01), seed.md "Branch summarization pipeline".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from octavo.compaction.branch_summary import BranchOptions, BranchSummary, summarize_branch
from octavo.compaction.neutralise import boundaries, has_boundary
from octavo.compaction.outcome import SummaryProgress
from octavo.maintenance.candidates import first_success
from octavo.maintenance.drafts import Report, no_report
from octavo.maintenance.host import Host
from octavo.maintenance.operations import Operation, OperationSlot
from octavo.maintenance.restoring import restore_rewritten
from octavo.maintenance.strategies import Wish, summary_models
from octavo.sessions.branching import Abandoned, collect_for_branch_summary, resolve_navigation
from octavo.sessions.entry_factory import ROOT
from octavo.sessions.live import UNSET
from octavo.sessions.planning import MaybeId
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.hooks import (
    HookTreeSummary,
    SessionBeforeTreeParams,
    SessionBeforeTreeResult,
    TreePreparation,
)
from octavo_protocol.notifications import BranchSummaryEnd, BranchSummaryStart, SessionTree


@dataclass(frozen=True, slots=True)
class Navigated:
    """Where a navigation ended: cancelled and aborted, or the new leaf and what came of it."""

    leaf_id: str | None
    old_leaf_id: str | None
    cancelled: bool = False
    aborted: bool = False
    editor_text: str | None = None
    summary_entry: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class _Summary:
    text: str
    details: JsonObject | None
    from_extension: bool

    def entry(self, leaf_id: str | None) -> JsonObject:
        """The branch_summary entry; `fromId` is where it hangs, not the leaf that was left (engine.md §2.1)."""
        details = {} if self.details is None else {"details": self.details}
        return {
            "type": "branch_summary",
            "fromId": ROOT if leaf_id is None else leaf_id,
            "summary": self.text,
            **details,
            "fromExtension": self.from_extension,
        }


class Navigator:
    """The navigations of one session."""

    def __init__(self, host: Host, slot: OperationSlot) -> None:
        self.host = host
        self.slot = slot

    async def navigate(
        self,
        target_id: str,
        *,
        summarize: bool = False,
        custom_instructions: str | None = None,
        label: str | None = None,
        expected_leaf_id: MaybeId = UNSET,
        report: Report = no_report,
    ) -> Navigated:
        """Make an entry (or, for messages that are written again, its parent) the leaf.

        Raises:
            OctavoError: `entry-not-found`, `content-modified`, `no-model` when a summary was asked for and nobody can
                write it, `compaction-in-progress`, `hook-failed`, and what the model or the disk says. The session is
                as it was then.
        """
        session = self.host.session
        old_leaf = session.leaf_id
        if expected_leaf_id is not UNSET and old_leaf != expected_leaf_id:
            raise self._moved()
        goal = resolve_navigation(session.tree, target_id)
        if goal.stays:
            await self._label(old_leaf, label)
            return Navigated(session.leaf_id, old_leaf)
        if summarize:
            self._expect_model()
        abandoned = collect_for_branch_summary(session.tree, old_leaf, target_id)
        hook = await self._ask_hook(target_id, old_leaf, abandoned, summarize=summarize)
        if hook is not None and hook.cancel:
            return Navigated(old_leaf, old_leaf, cancelled=True)
        summary: _Summary | None = None
        if summarize and hook is not None and hook.summary is not None:
            summary = self._hooks_summary(hook.summary)
        elif summarize and abandoned.entries:
            summary = await self._summarize(target_id, abandoned, custom_instructions, report)
            if summary is None:
                return Navigated(old_leaf, old_leaf, cancelled=True, aborted=True)
        entry = await self._move(goal.leaf_id, old_leaf, summary)
        await restore_rewritten(session)
        await self._label(session.leaf_id, label)
        self.host.tell_hook(
            "sessionTree",
            SessionTree(
                session_id=session.session_id,
                new_leaf_id=session.leaf_id,
                old_leaf_id=old_leaf,
                summary_entry=entry,
                from_extension=summary.from_extension if entry is not None and summary is not None else None,
            ),
        )
        return Navigated(session.leaf_id, old_leaf, editor_text=goal.editor_text, summary_entry=entry)

    async def _move(self, leaf_id: str | None, old_leaf: str | None, summary: _Summary | None) -> JsonObject | None:
        session = self.host.session
        with anyio.CancelScope(shield=True):
            if summary is None or not summary.text:
                await session.set_leaf(leaf_id, expected_leaf_id=old_leaf)
                return None
            done = await session.append([summary.entry(leaf_id)], parent_id=leaf_id, expected_leaf_id=old_leaf)
            return session.tree.get(done.entry_ids[0])
        raise AssertionError("a shielded scope ends by itself")

    async def _label(self, entry_id: str | None, label: str | None) -> None:
        if label and entry_id is not None:
            await self.host.session.set_label(entry_id, label)

    def _hooks_summary(self, given: HookTreeSummary) -> _Summary:
        if has_boundary(given.summary):
            self.host.notice("info", "boundary tags inside a hook's summary were made harmless", "branchSummary")
        return _Summary(boundaries(given.summary), given.details, from_extension=True)

    # -- the summary ---------------------------------------------------------------------------------------------

    async def _summarize(
        self, target_id: str, abandoned: Abandoned, instructions: str | None, report: Report
    ) -> _Summary | None:
        """Write the summary; None when it was aborted."""
        host = self.host
        done: BranchSummary | None = None
        with self.slot.begin(host.new_id(), "branchSummary", host.now_ms()) as operation:
            host.emit(
                "session/branchSummaryStart",
                BranchSummaryStart(
                    session_id=host.session.session_id,
                    operation_id=operation.id,
                    target_id=target_id,
                    entries=len(abandoned.entries),
                ),
            )
            try:
                model, done = await self._write(abandoned.entries, instructions, report)
            except OctavoError as error:
                aborted = error.kind is ErrorKind.CANCELLED
                self._end(operation, aborted=aborted, error=None if aborted else error.message)
                if aborted:
                    return None
                raise
            except BaseException:
                self._end(operation, aborted=True)
                raise
            self._end(operation, model=model)
        if done is None:
            return None
        for notice in done.notices:
            host.notice("info", notice, "branchSummary")
        return _Summary(done.summary, done.details, from_extension=False)

    async def _write(
        self, entries: Sequence[JsonObject], instructions: str | None, report: Report
    ) -> tuple[Model, BranchSummary]:
        host, settings = self.host, self.host.settings

        def progress(at: SummaryProgress) -> None:
            report("summary", "Summarising the branch", tokensOut=at.characters // 4)

        async def attempt(model: Model) -> BranchSummary:
            options = BranchOptions(
                custom_instructions=instructions,
                reserve_tokens=settings.branch_summary.reserve_tokens,
                language=None if settings.language == "auto" else settings.language,
            )
            return await summarize_branch(entries, host.completion, model, options, on_progress=progress)

        models = summary_models(host, Wish("manual"))
        return await first_success(models, attempt, settings.retry, any_failure=False)

    def _expect_model(self) -> None:
        if not summary_models(self.host, Wish("manual")):
            raise OctavoError(
                ErrorKind.NO_MODEL, "No model available for summarization", sessionId=self.host.session.session_id
            )

    def _end(
        self, operation: Operation, *, model: Model | None = None, aborted: bool = False, error: str | None = None
    ) -> None:
        host = self.host
        host.emit(
            "session/branchSummaryEnd",
            BranchSummaryEnd(
                session_id=host.session.session_id,
                operation_id=operation.id,
                aborted=aborted,
                error_message=error,
                model=model.ref if model else None,
                duration_ms=max(0, host.now_ms() - operation.started_ms),
            ),
        )

    async def _ask_hook(
        self, target_id: str, old_leaf: str | None, abandoned: Abandoned, *, summarize: bool
    ) -> SessionBeforeTreeResult | None:
        if not self.host.has_hook("sessionBeforeTree"):
            return None
        params = SessionBeforeTreeParams(
            session_id=self.host.session.session_id,
            preparation=TreePreparation(
                target_id=target_id,
                old_leaf_id=old_leaf,
                common_ancestor_id=abandoned.common_ancestor_id,
                entries_to_summarize=abandoned.entries,
                user_wants_summary=summarize,
            ),
        )
        return await self.host.ask_hook("sessionBeforeTree", params, SessionBeforeTreeResult)

    def _moved(self) -> OctavoError:
        return OctavoError(
            ErrorKind.CONTENT_MODIFIED,
            "The leaf is another than expected; read the tree and try again.",
            sessionId=self.host.session.session_id,
            details={"leafId": self.host.session.leaf_id},
        )
