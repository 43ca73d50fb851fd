"""When a session is maintained, and what its host does next (engine.md §13.1-13.4, §13.6; protocol.md §5).

A host asks at three places: after a turn, before a prompt, between tool calls. The answer is a directive; whatever is
done is told in events as well. Every check makes at most one attempt and one rescue, so that nothing here can loop.

Differs from the seed as the later versions do (engine.md §17c): decisions rest on the larger of the measurement and our
own estimate, never on a measurement from before the latest compaction or by another model; nothing is repeated before
the context has grown by a margin; a result above 80 % of the threshold ends automatic continuation with a warning; a
host is told to go on only where there is something to go on with; long tool loops are maintained in their middle; a
failed turn stays in the tree; images are bounded in bytes.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import anyio.to_thread

from octavo.maintenance.auto_shake import RESIDUAL
from octavo.maintenance.byte_budget import IMAGE_BYTES, KEPT_BYTES
from octavo.maintenance.check import Check, continue_prompt
from octavo.maintenance.compactor import Compactor
from octavo.maintenance.drafts import Report, no_report
from octavo.maintenance.findings import NOTHING, Finding, find_failure, last_turn
from octavo.maintenance.host import Host
from octavo.maintenance.making_room import NOTHING_DONE, PAUSED, Attempt, Room, make_room, tell_skip
from octavo.maintenance.measuring import Fill, fill, fits, plain_estimate, threshold, window
from octavo.maintenance.memory import Memory
from octavo.maintenance.operations import OperationSlot
from octavo.maintenance.promotion import promote, promotion_of
from octavo.maintenance.recovery import Recovery
from octavo.maintenance.reducing import Pass, prune, shake_images
from octavo.maintenance.rescue import rescue
from octavo_protocol.base import JsonObject
from octavo_protocol.methods.maintenance import At, Directive, Next
from octavo_protocol.notifications import Continue

Background: TypeAlias = Callable[[Callable[[], Awaitable[None]]], None]
"""Runs work after the answer was given; it belongs to the session and ends with the daemon."""


class Maintainer:
    """The automatic maintenance of one session.

    Args:
        host: The session and its surroundings.
        slot: Room for one operation.
        compactor: Its compactions, which also hold the breaker.
        background: Runs a deferred handoff; None never defers.
    """

    def __init__(
        self, host: Host, slot: OperationSlot, compactor: Compactor, background: Background | None = None
    ) -> None:
        self.host = host
        self.slot = slot
        self.compactor = compactor
        self.background = background
        self.memory = Memory()
        self.recovery = Recovery(host, slot, compactor, self.memory)

    # -- the host asks -----------------------------------------------------------------------------------------------

    async def check_maintenance(
        self,
        at: At,
        *,
        pending_messages: Sequence[JsonObject] = (),
        queued: bool = False,
        allow_defer: bool | None = None,
        auto_continue: bool | None = None,
        report: Report = no_report,
    ) -> Directive:
        """Do what is due and say what the host does next.

        Args:
            at: Where the host stands.
            pending_messages: Messages it is about to append (before a prompt).
            queued: Whether its user has messages waiting.
            allow_defer: Whether a handoff may run after the answer; None means only after a turn.
            auto_continue: Whether it wants to be told to go on; None means yes.
            report: Progress of a run.

        Raises:
            OctavoError: `content-modified` when the leaf moved under a recovery, `storage-failed`.
        """
        check = Check(
            self.host,
            at,
            pending=pending_messages,
            queued=queued,
            may_defer=at == "turnEnd" if allow_defer is None else allow_defer,
            may_continue=auto_continue is not False,
            report=report,
        )
        if (occupied := await self._occupied(check)) is not None:
            return occupied
        check.path = self.host.session.branch()
        check.turn = turn = last_turn(check.path)
        if at == "turnEnd" and (turn is None or turn.stop_reason == "aborted"):
            return await check.nothing()
        check.full = await anyio.to_thread.run_sync(fill, self.host, check.path, check.pending)
        finding = self._finding(check)
        if (held := await self._held(check, finding)) is not None:
            return held
        if finding.kind == "overflow" or (finding.kind == "incomplete" and at == "turnEnd"):
            return await self._with_prompt(check, await self.recovery.recover(check, finding.kind))
        if finding.kind == "payload":
            return await self._with_prompt(check, await self.recovery.too_many_bytes(check, finding))
        if finding.kind == "maybe" and at == "turnEnd":
            return await self._maybe(check)
        if any(message.get("role") == "user" for message in pending_messages):
            self.memory.prompted()
        if turn is not None and not turn.failed and turn.has_output:
            self.memory.saw(turn.entry_id)
        return await self._by_size(check)

    def _finding(self, check: Check) -> Finding:
        turn = check.turn
        if turn is None or check.at == "midTurn":
            return NOTHING
        if check.at == "prePrompt" and (turn.has_output or self.recovery.spent("overflow") is not None):
            return NOTHING  # whoever prompts has read what there is of the answer, or that nothing helped
        return find_failure(check.path, turn, self.host.model, estimate=check.full.plain)

    async def _occupied(self, check: Check) -> Directive | None:
        running = self.slot.current
        if running is not None:
            why = f"a {running.kind} is running"
            return await check.nothing(why, "wait", operation_id=running.id)
        if self.memory.deferred:
            return await check.nothing("a handoff is about to begin", "wait")
        return None

    async def _held(self, check: Check, finding: Finding) -> Directive | None:
        """While a result is held nothing is done; a turn that was too long cannot be repeated before it is decided."""
        held = self.compactor.held
        if held is None:
            return None
        why = "a compaction is held for preview; apply or discard it"
        if check.at == "turnEnd" and finding.kind in {"overflow", "payload"}:
            check.notice("warning", f"The context is too long for the model, and {why}, then try again")
            return await check.nothing(why, "stop", operation_id=held.run.operation.id)
        return await check.nothing(why, operation_id=held.run.operation.id)

    async def _with_prompt(self, check: Check, done: Directive) -> Directive:
        """After a recovery before a prompt: see to it that the prompt fits as well.

        A recovery that came to nothing does not keep a person from trying something else: only the size does.
        """
        if check.at != "prePrompt":
            return done
        done = done.model_copy(update={"next": "proceed"})
        check.path = self.host.session.branch()
        check.turn = last_turn(check.path)
        check.full = await anyio.to_thread.run_sync(fill, self.host, check.path, check.pending)
        if not self._over(check.full, threshold(self.host)):
            return done
        more = await self._by_size(check)
        action = done.action if more.action == "none" else more.action
        return more.model_copy(update={"action": action, "drop_entry_id": done.drop_entry_id})

    async def _maybe(self, check: Check) -> Directive:
        full, size = check.full.tokens, window(self.host)
        why = f"the model failed with an unknown error at about {full} of {size} tokens; the context may be too long"
        check.notice("warning", f"{why[0].upper()}{why[1:]}: compact it if the next attempt fails too")
        return await check.nothing(why)

    # -- by size -------------------------------------------------------------------------------------------------------

    async def _by_size(self, check: Check) -> Directive:
        settings, turn = self.host.settings.compaction, check.turn
        if check.at != "prePrompt":
            await self._prune(check, "stale")
        if not settings.enabled or settings.strategy == "off":
            return await check.nothing()
        if check.at == "midTurn" and not settings.mid_turn_enabled:
            return await check.nothing()
        if check.at == "turnEnd" and turn is not None and turn.stop_reason == "error":
            return await check.nothing()
        await self._bound_images(check)
        limit = threshold(self.host)
        if check.at == "turnEnd" or self._over(check.full, limit):
            await self._prune(check, "outputs")
        if not self._over(check.full, limit):
            return await check.nothing()
        if (promotion := promotion_of(self.host)) is not None:
            await promote(self.host, promotion, check.reason)
            return await check.answer("promoted", "proceed", reason=check.reason, model=promotion.after.ref)
        if (why := self._pointless(check, limit)) is not None:
            return await self._skip(check, why, limit)
        if settings.strategy == "handoff" and check.at == "turnEnd" and check.may_defer and self.background is not None:
            return await self._defer(check)
        attempt = Attempt(check.reason, trigger_tokens=check.full.tokens, may_hand_off=check.at != "midTurn")
        room = await make_room(self.host, self.slot, self.compactor, attempt, check.report)
        check.tokens_freed += room.tokens_freed
        return await self._made_room(check, room, limit)

    def _over(self, full: Fill, limit: int) -> bool:
        return limit > 0 and full.tokens > limit

    async def _prune(self, check: Check, name: Pass) -> None:
        done = await prune(self.host, name)
        if done.count:
            check.tokens_freed += done.tokens_saved
            await self._measure_again(check, done.tokens_saved)

    async def _bound_images(self, check: Check) -> None:
        total = await anyio.to_thread.run_sync(self.recovery.images.total, check.path, check.pending)
        if total <= IMAGE_BYTES:
            return
        done = await shake_images(self.host, keep_bytes=KEPT_BYTES)
        if done.result.images_dropped:
            check.tokens_freed += done.result.tokens_freed
            check.notice(
                "info",
                f"{done.result.images_dropped} old images left the context: {total} bytes of images are more than "
                "providers take in one request",
            )
            await self._measure_again(check, done.result.tokens_freed)

    async def _measure_again(self, check: Check, freed: int) -> None:
        check.path = self.host.session.branch()
        plain = await anyio.to_thread.run_sync(plain_estimate, self.host, check.path, check.pending)
        check.full = check.full.less(freed, plain)

    def _pointless(self, check: Check, limit: int) -> str | None:
        """Why another attempt would only repeat the last one."""
        circumstances = self.compactor.circumstances()
        # Failures were counted on the session alone: a longer prompt is no reason to try again.
        stored = check.full.tokens - self.host.estimator.total(check.pending)
        if self.compactor.breaker.refuses(stored, circumstances):
            return PAUSED
        settled = self.memory.settled_under(circumstances)
        grown = self.memory.must_grow_to(limit, window(self.host))
        if settled is not None and check.full.tokens < grown and settled > limit * RESIDUAL:
            return f"the last run left {settled} tokens; it is tried again from {grown}"
        return None

    async def _skip(self, check: Check, why: str, limit: int) -> Directive:
        if self._exceeds(check.full.plain):
            return await self._made_room(check, Room(), limit)
        operation = tell_skip(self.host, check.reason, why) if self.memory.is_news(why) else None
        return await check.nothing(why, reason=check.reason, operation_id=operation)

    # -- after an attempt --------------------------------------------------------------------------------------------

    async def _made_room(self, check: Check, room: Room, limit: int) -> Directive:
        if room.handoff is not None:
            session = room.handoff.new_session
            self.memory.settled = None
            return await check.go_on(
                "handoff",
                reason=check.reason,
                operation_id=room.operation_id,
                new_session_id=session.session_id if session is not None else None,
            )
        if room.aborted:
            return await check.nothing("aborted", reason=check.reason)
        left = await self._left(check)
        stand_in = self.host.settings.compaction.local_fallback != "never"
        if self._exceeds(left) and room.result is None and stand_in:
            # The request would overflow: now what needs no model may stand in, as it may after an overflow.
            room = await make_room(self.host, self.slot, self.compactor, Attempt("overflow"), check.report)
            check.tokens_freed += room.tokens_freed
            left = await self._left(check)
        if self._exceeds(left) or (room.result is not None and not fits(self.host, left)):
            saved = await rescue(self.host, self.slot, check.reason)
            check.tokens_freed += saved.tokens_freed
            left = await self._left(check)
        if room.made or room.error is None or room.error.kind in NOTHING_DONE:
            self.memory.settle(left, self.compactor.circumstances())
        if self._exceeds(left):
            return await self._too_large(check, room, left)
        why = room.error.message if room.error is not None else None
        if room.result is None and room.error is None and room.made:
            return await check.go_on(room.action, reason=check.reason, operation_id=room.operation_id)
        if room.result is None:
            return await check.nothing(why, reason=check.reason, operation_id=room.operation_id)
        fields = {"reason": check.reason, "operation_id": room.operation_id, "result": room.result}
        in_circles = await check.warn_of_circle()
        if left > limit * RESIDUAL:
            check.notice(
                "warning",
                f"The context still takes {left} tokens after the compaction, close to the threshold of {limit}; the "
                "agent does not go on by itself",
            )
        if in_circles or left > limit * RESIDUAL:
            wanted = check.at == "turnEnd" and check.may_continue and check.has_work_left
            following: Next = "stop" if wanted and self.host.settings.compaction.auto_continue else "proceed"
            return await check.answer("compacted", following, **fields)
        return await check.go_on("compacted", **fields)

    async def _left(self, check: Check) -> int:
        path = self.host.session.branch()
        return await anyio.to_thread.run_sync(plain_estimate, self.host, path, check.pending)

    def _exceeds(self, tokens: int) -> bool:
        return 0 < window(self.host) < tokens

    async def _too_large(self, check: Check, room: Room, tokens: int) -> Directive:
        text = (
            f"The next request would take about {tokens} tokens of a window of {window(self.host)}, and nothing more "
            "can be taken out without a person: shorten the message, go to an earlier entry, or use a larger model"
        )
        if self.memory.is_news(text):
            tell_skip(self.host, check.reason, text, error=text)
            check.notice("error", text)
        return await check.answer(
            "compacted" if room.result is not None else "pruned" if check.tokens_freed else "none",
            "stop",
            reason=check.reason,
            skipped=text,
            operation_id=room.operation_id,
            result=room.result,
        )

    # -- work that runs later ----------------------------------------------------------------------------------------

    async def _defer(self, check: Check) -> Directive:
        assert self.background is not None
        self.memory.deferred = True
        tokens = check.full.tokens

        async def work() -> None:
            self.memory.deferred = False
            # The request that would report progress is answered by now.
            attempt = Attempt(check.reason, trigger_tokens=tokens)
            room = await make_room(self.host, self.slot, self.compactor, attempt)
            if room.result is not None:
                self.memory.settle(room.result.tokens_after, self.compactor.circumstances())
            self._tell_continue(check, room)

        self.background(work)
        return await check.answer("deferred", "wait", reason=check.reason)

    def _tell_continue(self, check: Check, room: Room) -> None:
        """Have the host go on after a deferred run, in the session that is the right one now."""
        wanted = check.may_continue and self.host.settings.compaction.auto_continue
        if not room.made or not wanted or not check.has_work_left:
            return
        successor = room.handoff.new_session if room.handoff is not None else None
        self.host.emit(
            "session/continue",
            Continue(
                session_id=successor.session_id if successor is not None else self.host.session.session_id,
                kind="autoContinue",
                prompt=continue_prompt(),
                model=self.host.model.ref if self.host.model is not None else None,
            ),
        )
