"""A compaction as a transaction: plan, run, check, write one entry, tell; or hold, preview, apply or discard; or undo.

Nothing is written before every check has passed, and nothing is lost whatever happens: a failed, aborted or refused
attempt leaves the session as it was, and messages that arrive meanwhile stay behind the compaction, in the context.
Source: protocol.md §6, engine.md §13.4, §13.5, §15.
"""

from dataclasses import dataclass, replace
from functools import partial

import anyio
import anyio.to_thread

from octavo.compaction.prepare import Preparation
from octavo.maintenance import hooks
from octavo.maintenance.breaker import Breaker
from octavo.maintenance.drafts import Draft, Report, no_report
from octavo.maintenance.gate import Judged, judge
from octavo.maintenance.host import Host
from octavo.maintenance.measuring import estimate, fill, prepare
from octavo.maintenance.operations import OperationSlot
from octavo.maintenance.runs import Run
from octavo.maintenance.strategies import Maker, Wish, in_line
from octavo.sessions.live import UNSET
from octavo.sessions.planning import MaybeId
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.common import Notice, TokenUsage
from octavo_protocol.methods.compaction import CompactionResult, UndoCompactionResult
from octavo_protocol.notifications import SessionCompact

_WRITE_ATTEMPTS = 16
"""How often a write follows a leaf that moves on by appends before it gives up."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run starts from: the branch as it was, and what of it is condensed."""

    leaf_id: str | None
    path: list[JsonObject]
    preparation: Preparation


@dataclass(frozen=True, slots=True)
class Held:
    """A finished result that waits for the user."""

    run: Run
    plan: Plan
    draft: Draft
    result: CompactionResult


class Compactor:
    """The compactions of one session.

    Args:
        host: The session and its surroundings.
        slot: Room for one operation, shared with handoff and branch summaries.
    """

    def __init__(self, host: Host, slot: OperationSlot) -> None:
        self.host = host
        self.slot = slot
        self.breaker = Breaker()
        self.held: Held | None = None

    # -- running -------------------------------------------------------------------------------------------------

    async def compact(
        self,
        wish: Wish,
        *,
        hold: bool = False,
        expected_leaf_id: MaybeId = UNSET,
        will_retry: bool = False,
        report: Report = no_report,
    ) -> CompactionResult:
        """Compact the session.

        Args:
            wish: What was asked for, and why.
            hold: Keep the result for preview.
            expected_leaf_id: Refuse when the leaf is another.
            will_retry: Whether the host repeats a failed turn afterwards; told in the end event.
            report: Progress.

        Raises:
            OctavoError: `compaction-in-progress`, `content-modified`, `already-compacted`, `nothing-to-compact`,
                `cancelled`, `no-model`, `provider-error`, `strategy-unavailable`, `check-failed`, `hook-failed`, and
                whatever the disk says. Nothing was written then.
        """
        if self.held is not None:
            raise self._in_progress(self.held.run.operation.id)
        result: CompactionResult | None = None
        with self.slot.begin(self.host.new_id(), "compaction", self.host.now_ms()) as operation:
            run = Run(self.host, operation, wish.reason, in_line(self.host, wish)[0], will_retry)
            try:
                result = await self._attempt(run, wish, hold=hold, expected=expected_leaf_id, report=report)
            except OctavoError as error:
                self._note_failure(run, wish, error)
                raise
            except anyio.get_cancelled_exc_class():
                run.end(aborted=True)
                raise
            except BaseException as error:
                run.end(error=f"internal error ({type(error).__name__})")
                raise
        if result is None:
            raise OctavoError(ErrorKind.CANCELLED, "Compaction cancelled", sessionId=self._session_id)
        return result

    async def _attempt(
        self, run: Run, wish: Wish, *, hold: bool, expected: MaybeId, report: Report
    ) -> CompactionResult:
        if not wish.manual:
            run.start()
        elif self.host.busy:
            await self.host.abort_agent()
        report("prepare", "Planning")
        plan = await self._plan(expected)
        run.tokens_before = plan.preparation.tokens_before
        if not wish.manual:
            full = await anyio.to_thread.run_sync(fill, self.host, plan.path, abandon_on_cancel=True)
            run.fill_before = full.tokens
        run.start()
        judged = await self._judged(run, wish, plan, report)
        run.model = judged.draft.model
        if hold:
            result = await self._result(run, judged, held=True)
            self.held = Held(run, plan, judged.draft, result)
        else:
            report("write", "Writing")
            result = await self._write(run, plan, judged)
        self.breaker.succeeded()
        run.end(result)
        return result

    async def _plan(self, expected: MaybeId) -> Plan:
        session = self.host.session
        if expected is not UNSET and session.leaf_id != expected:
            raise self._moved()
        path = session.branch()
        if path and path[-1].get("type") == "compaction":
            raise OctavoError(ErrorKind.ALREADY_COMPACTED, "Already compacted", sessionId=self._session_id)
        leaf_id = session.leaf_id
        preparation = await anyio.to_thread.run_sync(prepare, self.host, path, abandon_on_cancel=True)
        if preparation is None:
            raise OctavoError(
                ErrorKind.NOTHING_TO_COMPACT, "Nothing to compact (session too small)", sessionId=self._session_id
            )
        return Plan(leaf_id, path, preparation)

    async def _judged(self, run: Run, wish: Wish, plan: Plan, report: Report) -> Judged:
        before = await hooks.before_compact(self.host, run, wish, plan.path, plan.preparation, report)
        if before.cancel:
            run.operation.aborted = True
            raise OctavoError(ErrorKind.CANCELLED, "Compaction cancelled", sessionId=self._session_id)
        if before.draft is not None:
            return await self._judge(plan, before.draft)
        context = await hooks.compacting(self.host, run, plan.preparation, wish, report)

        maker = Maker(self.host, plan.preparation, wish, context, report)
        return await maker.make(partial(self._judge, plan))

    async def _judge(self, plan: Plan, draft: Draft, *, edited: bool = False) -> Judged:
        return await judge(self.host, plan.path, plan.preparation, draft, edited=edited)

    # -- writing -------------------------------------------------------------------------------------------------

    async def _write(self, run: Run, plan: Plan, judged: Judged) -> CompactionResult:
        entry = judged.draft.entry()
        with anyio.CancelScope(shield=True):
            for _ in range(_WRITE_ATTEMPTS):
                leaf_id = self._leaf_behind(plan)
                try:
                    appended = await self.host.session.write_compaction(entry, leaf_id)
                except OctavoError as error:
                    if error.kind is ErrorKind.CONTENT_MODIFIED and self.host.session.leaf_id != leaf_id:
                        continue
                    raise
                written = self.host.session.tree.get(appended.entry_ids[0])
                self.host.tell_hook(
                    "sessionCompact",
                    SessionCompact(
                        session_id=self._session_id,
                        operation_id=run.operation.id,
                        compaction_entry=written,
                        from_extension=judged.draft.from_extension,
                    ),
                )
                return await self._result(run, judged, entry_id=appended.entry_ids[0])
        raise self._moved()

    def _leaf_behind(self, plan: Plan) -> str | None:
        """The leaf, if it is the planned one or has only moved on by appends since; they stay in the context."""
        session = self.host.session
        if session.leaf_id == plan.leaf_id:
            return plan.leaf_id
        path = session.branch()
        position = next((i for i, entry in enumerate(path) if entry.get("id") == plan.leaf_id), None)
        if position is None or any(entry.get("type") == "compaction" for entry in path[position + 1 :]):
            raise self._moved()
        return session.leaf_id

    async def _result(
        self, run: Run, judged: Judged, *, entry_id: str | None = None, held: bool = False
    ) -> CompactionResult:
        draft = judged.draft
        after = judged.tokens_after
        if not held:
            after = await anyio.to_thread.run_sync(estimate, self.host, self.host.session.branch())
        notices = [Notice(level="info", message=text, source="compaction") for text in draft.notices]
        if draft.redactions:
            text = f"{draft.redactions} secrets were redacted before the history was sent or drawn"
            notices.append(Notice(level="info", message=text, source="compaction"))
        return CompactionResult(
            operation_id=run.operation.id,
            reason=run.reason,
            action=draft.action,
            held=held,
            entry_id=entry_id,
            leaf_id=self.host.session.leaf_id,
            first_kept_entry_id=draft.first_kept_entry_id,
            summary=draft.summary,
            short_summary=draft.short_summary,
            tokens_before=judged.tokens_before,
            tokens_after=after,
            model=draft.model,
            frames=draft.frames,
            from_extension=draft.from_extension,
            usage=_spent(draft),
            duration_ms=run.duration_ms,
            checks=list(judged.checks),
            notices=notices,
            details=draft.details,
        )

    # -- held results, undo --------------------------------------------------------------------------------------

    async def apply(
        self, operation_id: str, summary: str | None = None, short_summary: str | None = None
    ) -> CompactionResult:
        """Write a held result, perhaps edited; an edited summary passes the checks again.

        Raises:
            OctavoError: `operation-not-found`, `content-modified` when the leaf went elsewhere (the result stays held),
                `check-failed`, `storage-failed`.
        """
        held = self._held(operation_id)
        draft = held.draft
        if summary is not None:
            draft = replace(draft, summary=summary)
        if short_summary is not None:
            draft = replace(draft, short_summary=short_summary)
        with self.slot.begin(operation_id, "compaction", held.run.operation.started_ms):
            self._leaf_behind(held.plan)
            judged = await self._judge(held.plan, draft, edited=summary is not None)
            result = await self._write(held.run, held.plan, judged)
            self.held = None
            return result
        raise OctavoError(ErrorKind.CANCELLED, "Compaction cancelled", sessionId=self._session_id)

    def held_result(self, operation_id: str) -> CompactionResult:
        """A held result as its maker was answered.

        Raises:
            OctavoError: `operation-not-found`.
        """
        return self._held(operation_id).result

    def discard(self, operation_id: str) -> None:
        """Drop a held result.

        Raises:
            OctavoError: `operation-not-found`.
        """
        self._held(operation_id)
        self.held = None

    def _held(self, operation_id: str) -> Held:
        if self.held is None or self.held.run.operation.id != operation_id:
            raise OctavoError(
                ErrorKind.OPERATION_NOT_FOUND,
                f"No compaction is held under {operation_id}; compact again with hold",
                sessionId=self._session_id,
            )
        return self.held

    async def undo(self, expected_leaf_id: MaybeId = UNSET) -> UndoCompactionResult:
        """Move the leaf to before the newest compaction of the branch; nothing is deleted.

        Raises:
            OctavoError: `nothing-to-compact` when the branch has no compaction, `compaction-in-progress`,
                `content-modified`.
        """
        if self.slot.current is not None:
            raise self._in_progress(self.slot.current.id)
        session = self.host.session
        path = session.branch()
        position = next((i for i in range(len(path) - 1, -1, -1) if path[i].get("type") == "compaction"), None)
        if position is None:
            raise OctavoError(
                ErrorKind.NOTHING_TO_COMPACT,
                "There is no compaction on this branch to undo",
                sessionId=self._session_id,
            )
        old_leaf = session.leaf_id
        before = path[position - 1]["id"] if position else None
        await session.set_leaf(before, expected_leaf_id=expected_leaf_id)
        self.breaker.succeeded()
        assert old_leaf is not None
        return UndoCompactionResult(
            compaction_entry_id=path[position]["id"],
            old_leaf_id=old_leaf,
            leaf_id=before,
            tokens=await anyio.to_thread.run_sync(estimate, self.host, path[:position]),
            seq=session.seq,
        )

    # -- small things --------------------------------------------------------------------------------------------

    @property
    def _session_id(self) -> str:
        return self.host.session.session_id

    def _note_failure(self, run: Run, wish: Wish, error: OctavoError) -> None:
        if error.kind in {ErrorKind.ALREADY_COMPACTED, ErrorKind.NOTHING_TO_COMPACT}:
            run.end(skip_reason=error.message)
            return
        run.end(aborted=run.operation.aborted, error=None if run.operation.aborted else error.message)
        if wish.manual or run.operation.aborted:
            return
        if self.breaker.failed(run.fill_before, self.circumstances()):
            self.host.notice(
                "warning",
                f"Automatic compaction failed {self.breaker.failures} times in a row and pauses until the session, the "
                f"model or the settings change; the last reason was: {error.message}",
                "compaction",
            )

    def circumstances(self) -> object:
        """What must differ for a paused automatic compaction to be tried again."""
        model = self.host.model
        return (
            self.host.settings.compaction,
            model.ref if model else None,
            tuple(self.host.settings.model_roles.items()),
        )

    def _moved(self) -> OctavoError:
        return OctavoError(
            ErrorKind.CONTENT_MODIFIED,
            "The leaf is another than the compaction was made for; nothing was written. Read the session again.",
            sessionId=self._session_id,
            details={"leafId": self.host.session.leaf_id},
        )

    def _in_progress(self, operation_id: str) -> OctavoError:
        return OctavoError(
            ErrorKind.COMPACTION_IN_PROGRESS,
            "Compaction already in progress",
            sessionId=self._session_id,
            details={"operationId": operation_id},
        )


def _spent(draft: Draft) -> TokenUsage | None:
    reports = [call.usage for call in draft.calls if call.usage]
    if not reports:
        return None

    def total(key: str) -> int:
        return sum(int(report.get(key) or 0) for report in reports)

    return TokenUsage(
        input=total("input"), output=total("output"), cache_read=total("cacheRead"), cache_write=total("cacheWrite")
    )
