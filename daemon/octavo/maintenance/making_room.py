"""One automatic attempt to make room by the configured strategy: shake, handoff, or a compaction (engine.md §13.4).

Every attempt has a start and an end event; what could not be done is told and never raised, because the host's agent
loop waits for an answer it can act on. When to try, and what follows, is decided by `triggers`.
"""

from dataclasses import dataclass, field

import anyio

from octavo.maintenance.auto_shake import auto_shake
from octavo.maintenance.compactor import Compactor
from octavo.maintenance.drafts import Report, no_report
from octavo.maintenance.handoff_session import HandoffSession, HandoffWish
from octavo.maintenance.host import Host
from octavo.maintenance.operations import Operation, OperationSlot
from octavo.maintenance.runs import Run
from octavo.maintenance.strategies import Wish
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.common import Action, Reason
from octavo_protocol.methods.compaction import CompactionResult
from octavo_protocol.methods.maintenance import DirectiveAction, HandoffResult

NOTHING_DONE = frozenset({ErrorKind.ALREADY_COMPACTED, ErrorKind.NOTHING_TO_COMPACT})
"""Ends of an attempt that are no failures: there was nothing to do."""

PAUSED = "automatic compaction pauses after three failures until something changes"
"""Why the breaker refuses an attempt."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is to be tried.

    `trigger_tokens` is the figure that set it off, None where none did. `may_hand_off` is False where a new session
    would pull the loop away from under the host.
    """

    reason: Reason
    will_retry: bool = False
    trigger_tokens: int | None = None
    may_hand_off: bool = True


@dataclass(slots=True)
class Room:
    """What came of an attempt; `tokens_freed` are those of shaking."""

    action: DirectiveAction = "none"
    operation_id: str | None = None
    tokens_freed: int = 0
    result: CompactionResult | None = None
    handoff: HandoffResult | None = None
    error: OctavoError | None = None
    aborted: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def made(self) -> bool:
        """Whether there is more room now."""
        return self.action != "none"


async def make_room(
    host: Host, slot: OperationSlot, compactor: Compactor, attempt: Attempt, report: Report = no_report
) -> Room:
    """Try the configured strategy, and a compaction where that one does not do."""
    strategy = host.settings.compaction.strategy
    freed = 0
    try:
        if strategy == "shake":
            shaken = await auto_shake(
                host, slot, attempt.reason, will_retry=attempt.will_retry, trigger_tokens=attempt.trigger_tokens
            )
            freed = shaken.tokens_freed
            if not shaken.falls_back:
                return Room(
                    "pruned" if freed else "none",
                    shaken.operation_id,
                    freed,
                    error=shaken.error,
                    aborted=shaken.aborted,
                )
        if strategy == "handoff" and attempt.reason != "overflow" and attempt.may_hand_off:
            room = await _hand_off(host, slot, attempt, report)
            if room is not None:
                return room
        result = await compactor.compact(Wish(attempt.reason), will_retry=attempt.will_retry, report=report)
    except OctavoError as error:
        aborted = error.kind is ErrorKind.CANCELLED
        return Room("pruned" if freed else "none", tokens_freed=freed, error=error, aborted=aborted)
    return Room("compacted", result.operation_id, freed, result)


async def _hand_off(host: Host, slot: OperationSlot, attempt: Attempt, report: Report) -> Room | None:
    """Hand the session over; None when the model gave no document and a compaction takes its place."""
    run = Run(host, Operation(host.new_id(), "handoff", host.now_ms()), attempt.reason, "handoff")
    run.start()
    try:
        done = await HandoffSession(host, slot).hand_off(
            HandoffWish(attempt.reason, save=host.settings.compaction.handoff_save_to_disk), report
        )
    except OctavoError as error:
        if error.kind is ErrorKind.CANCELLED:
            run.end(aborted=True)
            return Room(error=error, aborted=True)
        if error.kind is ErrorKind.CHECK_FAILED or error.kind in NOTHING_DONE:
            run.end(skip_reason=error.message)
            return None
        run.end(error=error.message)
        return Room(error=error)
    except anyio.get_cancelled_exc_class():
        run.end(aborted=True)
        raise
    except BaseException as error:
        run.end(error=f"internal error ({type(error).__name__})")
        raise
    run.end(done=True)
    return Room("handoff", done.operation_id, handoff=done)


def tell_skip(host: Host, reason: Reason, why: str, *, will_retry: bool = False, error: str | None = None) -> str:
    """Say with a start and an end event that an attempt was due and is not made; returns its operation id."""
    action: Action = "context-full"
    run = Run(host, Operation(host.new_id(), "compaction", host.now_ms()), reason, action, will_retry)
    run.start()
    run.end(skip_reason=why if error is None else None, error=error)
    return run.operation.id
