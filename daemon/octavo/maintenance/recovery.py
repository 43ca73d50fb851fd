"""Recover a turn that failed because of the context: it did not fit, or its answer was cut off.

The failed turn leaves the active context, room is made, and the host is told to call its model again; when nothing
helps, the turn comes back and a person is told. Bounded: one recovery from an overflow and three from cut-off answers
until a turn succeeds (BR-038, engine.md §13.2, §17c 97-101, 107).
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.to_thread

from octavo.maintenance.byte_budget import ImageSizes
from octavo.maintenance.check import Check, continue_prompt
from octavo.maintenance.compactor import Compactor
from octavo.maintenance.failed_turn import Dropped, drop_turn, put_back
from octavo.maintenance.findings import Finding, is_last_message, last_turn
from octavo.maintenance.host import Host
from octavo.maintenance.making_room import NOTHING_DONE, PAUSED, Attempt, Room, make_room, tell_skip
from octavo.maintenance.measuring import window
from octavo.maintenance.memory import INCOMPLETE_LIMIT, OVERFLOW_LIMIT, Memory
from octavo.maintenance.operations import OperationSlot
from octavo.maintenance.promotion import promote, promotion_of
from octavo.maintenance.reducing import shake_images
from octavo.maintenance.rescue import rescue
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.common import Reason
from octavo_protocol.methods.maintenance import Directive, Next

PAYLOAD_OCCUPANCY = 0.9
"""Share of the window from which a body that is too large may be one because of its tokens."""

_HELPLESS = NOTHING_DONE | {ErrorKind.CHECK_FAILED, ErrorKind.CONTEXT_OVERFLOW}


class Recovery:
    """The recoveries of one session."""

    def __init__(self, host: Host, slot: OperationSlot, compactor: Compactor, memory: Memory) -> None:
        self.host = host
        self.slot = slot
        self.compactor = compactor
        self.memory = memory
        self.images = ImageSizes(host)

    async def recover(self, check: Check, reason: Reason) -> Directive:
        """Recover from an overflow or a cut-off answer.

        Raises:
            OctavoError: `content-modified` when the leaf moved meanwhile, `storage-failed`.
        """
        turn = check.turn
        assert turn is not None
        if reason == "incomplete" and not is_last_message(check.path, turn):
            return await check.nothing("the conversation has gone on since the answer was cut off")
        if (spent := self.spent(reason)) is not None:
            return await self._give_up(check, reason, spent)
        if (promotion := promotion_of(self.host)) is not None:
            dropped = await self._drop(check)
            async with self._or_back(dropped):
                await promote(self.host, promotion, reason)
            return await check.answer(
                "promoted", self._again(check), reason=reason, model=promotion.after.ref, drop_entry_id=dropped.entry_id
            )
        if (why := self._forbidden(check, reason)) is not None:
            return await self._refused(check, reason, why)
        dropped = await self._drop(check)
        trigger = check.full.tokens if reason == "incomplete" else None
        attempt = Attempt(reason, will_retry=True, trigger_tokens=trigger)
        async with self._or_back(dropped):
            room = await make_room(self.host, self.slot, self.compactor, attempt, check.report)
            check.tokens_freed += room.tokens_freed
            if room.handoff is not None:
                return await self._handed_off(check, reason, room, dropped)
            return await self._made_room(check, reason, room, dropped)
        raise AssertionError("the block above returns or raises")

    async def too_many_bytes(self, check: Check, finding: Finding) -> Directive:
        """Recover from a request whose body was too large: by its images if it has any, else by its tokens."""
        size = window(self.host)
        if (spent := self.spent("overflow")) is not None:
            return await self._give_up(check, "overflow", spent)
        total = await anyio.to_thread.run_sync(self.images.total, check.path)
        if total and self._forbidden(check, "overflow") is None:
            dropped = await self._drop(check)
            async with self._or_back(dropped):
                done = await shake_images(self.host, keep_bytes=total // 2)
            if done.result.images_dropped:
                self.memory.overflows += 1
                check.tokens_freed += done.result.tokens_freed
                check.notice(
                    "info", f"{done.result.images_dropped} old images left the context: the request was too large"
                )
                return await check.answer(
                    "pruned", self._again(check), reason="overflow", drop_entry_id=dropped.entry_id
                )
            await put_back(self.host.session, dropped)
        if size > 0 and finding.used_tokens >= PAYLOAD_OCCUPANCY * size:
            return await self.recover(check, "overflow")
        why = (
            f"the provider refused the size of the request, but its {finding.used_tokens} tokens do not fill the "
            f"window of {size}"
        )
        check.notice("warning", f"Nothing was compacted: {why}")
        return await check.nothing(why, "stop")

    # -- after the attempt -----------------------------------------------------------------------------------------

    async def _made_room(self, check: Check, reason: Reason, room: Room, dropped: Dropped) -> Directive:
        refused = reason == "overflow" and not room.made
        if room.aborted:
            await put_back(self.host.session, dropped)
            return await check.nothing("aborted", "stop", reason=reason)
        if room.error is not None and not (refused and room.error.kind in _HELPLESS) and not room.made:
            await put_back(self.host.session, dropped)
            return await self._not_recovered(check, reason, room)
        saved = await rescue(self.host, self.slot, reason, will_retry=True, refused=refused)
        check.tokens_freed += saved.tokens_freed
        if saved.aborted or not saved.fits or (refused and not saved.tokens_freed):
            back = not room.made and await put_back(self.host.session, dropped)
            return await self._dead_end(check, reason, room, saved.tokens, None if back else dropped)
        self._count(reason)
        self.memory.settle(saved.tokens, self.compactor.circumstances())
        if room.result is not None:
            await check.warn_of_circle()
        return await check.answer(
            "compacted" if room.result is not None else "pruned",
            self._again(check),
            reason=reason,
            drop_entry_id=dropped.entry_id,
            operation_id=room.operation_id,
            result=room.result,
        )

    async def _handed_off(self, check: Check, reason: Reason, room: Room, dropped: Dropped) -> Directive:
        assert room.handoff is not None
        session = room.handoff.new_session
        following: Next = "autoContinue" if check.at == "turnEnd" and check.may_continue else "proceed"
        self._count(reason)
        return await check.answer(
            "handoff",
            following,
            reason=reason,
            prompt=continue_prompt() if following == "autoContinue" else None,
            drop_entry_id=dropped.entry_id,
            operation_id=room.operation_id,
            new_session_id=session.session_id if session is not None else None,
        )

    async def _not_recovered(self, check: Check, reason: Reason, room: Room) -> Directive:
        assert room.error is not None
        if reason == "incomplete" and room.error.kind in NOTHING_DONE:
            check.notice("warning", "The answer was cut off at its length limit, and there is nothing to compact")
            return await check.nothing(room.error.message, reason=reason)
        return await check.nothing(room.error.message, "stop", reason=reason)

    async def _dead_end(
        self, check: Check, reason: Reason, room: Room, tokens: int, dropped: Dropped | None
    ) -> Directive:
        size = window(self.host)
        text = (
            f"The context still takes about {tokens} tokens of a window of {size} after everything that can be done "
            "without a person: navigate to an earlier entry, start anew, or use a model with a larger window"
        )
        tell_skip(self.host, reason, text, error=text)
        check.notice("error", text)
        return await check.answer(
            "compacted" if room.result is not None else "pruned" if check.tokens_freed else "none",
            "stop",
            reason=reason,
            skipped=text,
            drop_entry_id=dropped.entry_id if dropped is not None else None,
            result=room.result,
        )

    # -- reasons not to try ------------------------------------------------------------------------------------------

    def spent(self, reason: Reason) -> str | None:
        """Why no further recovery is tried until a turn succeeds or a person prompts anew; None while one may be."""
        if reason == "overflow" and self.memory.overflows >= OVERFLOW_LIMIT:
            return "the context was too long again right after a recovery"
        if reason == "incomplete" and self.memory.incompletes >= INCOMPLETE_LIMIT:
            return f"the answer was cut off {self.memory.incompletes + 1} times in a row"
        return None

    async def _give_up(self, check: Check, reason: Reason, why: str) -> Directive:
        operation = tell_skip(self.host, reason, why, error=f"{why}; no further attempt is made until a turn succeeds")
        check.notice("error", f"No further recovery is tried: {why}")
        return await check.nothing(why, "stop", reason=reason, operation_id=operation)

    def _forbidden(self, check: Check, reason: Reason) -> str | None:
        settings = self.host.settings.compaction
        if not settings.enabled:
            return "automatic compaction is disabled (compaction.enabled)"
        if settings.strategy == "off":
            return "automatic compaction is off (compaction.strategy)"
        if settings.local_fallback != "never" and reason == "overflow":
            return None  # what needs no model still helps, and the limit above bounds it
        if self.compactor.breaker.refuses(check.full.tokens, self.compactor.circumstances()):
            return PAUSED
        return None

    async def _refused(self, check: Check, reason: Reason, why: str) -> Directive:
        what = "The context is too long for the model" if reason == "overflow" else "The answer was cut off"
        check.notice("warning", f"{what}, and {why}")
        settings = self.host.settings.compaction
        if settings.enabled and settings.strategy != "off":
            tell_skip(self.host, reason, why, will_retry=True)
        return await check.nothing(why, "stop" if reason == "overflow" else "proceed", reason=reason)

    # -- small things ------------------------------------------------------------------------------------------------

    async def _drop(self, check: Check) -> Dropped:
        assert check.turn is not None
        dropped = await drop_turn(self.host.session, check.path, check.turn)
        before = last_turn(check.path[: check.turn.position])
        self.memory.recovering(before.entry_id if before is not None else None)
        return dropped

    @asynccontextmanager
    async def _or_back(self, dropped: Dropped) -> AsyncIterator[None]:
        """Put the failed turn back when the block does not come to its end, whatever ends it."""
        try:
            yield
        except BaseException:
            with anyio.CancelScope(shield=True), suppress(OctavoError):
                await put_back(self.host.session, dropped)
            raise

    def _count(self, reason: Reason) -> None:
        if reason == "overflow":
            self.memory.overflows += 1
        else:
            self.memory.incompletes += 1

    def _again(self, check: Check) -> Next:
        return "retry" if check.at == "turnEnd" else "proceed"
