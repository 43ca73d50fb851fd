"""Shake as a run of its own: with events, and with the decision whether a summary must follow (engine.md §13.6).

Moving text out is `reducing`'s work.
"""

import math
from dataclasses import dataclass

import anyio
import anyio.to_thread

from octavo.compaction.shake import AUTO_SHAKE, ShakeConfig
from octavo.maintenance.host import Host
from octavo.maintenance.measuring import estimate, fill, threshold
from octavo.maintenance.operations import OperationSlot
from octavo.maintenance.reducing import Shaken, shake, shake_images
from octavo.maintenance.runs import Run
from octavo_protocol.errors import OctavoError
from octavo_protocol.methods.common import Reason

RESIDUAL = 0.8
"""Share of the threshold a context must come down to, or the next turn would be over it again."""

_FALLS_BACK = "falling back to context-full compaction."


@dataclass(frozen=True, slots=True)
class AutoShaken:
    """How a shake ended; token figures are estimates."""

    operation_id: str
    tokens_freed: int = 0
    tokens_after: int = 0
    falls_back: bool = False
    aborted: bool = False
    error: OctavoError | None = None


async def auto_shake(
    host: Host, slot: OperationSlot, reason: Reason, *, will_retry: bool = False, trigger_tokens: int | None = None
) -> AutoShaken:
    """Shake with the automatic limits and say whether a summary must follow.

    Args:
        host: The session.
        slot: Its room for one operation.
        reason: What set it off.
        will_retry: Whether the failed turn is repeated afterwards.
        trigger_tokens: The figure that set it off, which the residual is judged by.

    Raises:
        OctavoError: `compaction-in-progress`.
    """
    outcome: AutoShaken | None = None
    with slot.begin(host.new_id(), "shake", host.now_ms()) as operation:
        run = Run(host, operation, reason, "shake", will_retry)
        run.start()
        try:
            outcome = await _shaken(host, run, trigger_tokens)
        except OctavoError as error:
            run.end(remark=f"Auto-shake failed: {error.message}")
            outcome = AutoShaken(operation.id, falls_back=reason == "overflow", error=error)
        except anyio.get_cancelled_exc_class():
            run.end(aborted=True)
            raise
        except BaseException as error:
            run.end(remark=f"Auto-shake failed: internal error ({type(error).__name__})")
            raise
    if outcome is None:
        outcome = AutoShaken(operation.id, aborted=True)
    return outcome


async def _shaken(host: Host, run: Run, trigger_tokens: int | None) -> AutoShaken:
    done = await shake(host, AUTO_SHAKE)
    freed = done.result.tokens_freed
    path = host.session.branch()
    after = await anyio.to_thread.run_sync(estimate, host, path)
    if trigger_tokens is not None:
        left, limit = max(0, trigger_tokens - freed), math.floor(threshold(host) * RESIDUAL)
    else:
        left, limit = (await anyio.to_thread.run_sync(fill, host, path)).tokens, threshold(host)
    over = limit > 0 and left > limit
    falls_back = run.reason != "idle" and (over or (run.reason == "overflow" and not freed))
    remark = None
    if falls_back:
        remark = (
            f"Auto-shake reclaimed ~{freed} tokens but context is still above the threshold; {_FALLS_BACK}"
            if freed
            else f"Auto-shake found nothing eligible to drop; {_FALLS_BACK}"
        )
    run.end(
        skip_reason=None if freed else "there is nothing to shake out",
        remark=remark,
        done=not falls_back,
        tokens_after=after,
    )
    return AutoShaken(run.operation.id, freed, after, falls_back)


async def rescue_shake(
    host: Host, slot: OperationSlot, reason: Reason, config: ShakeConfig | None, *, will_retry: bool = False
) -> AutoShaken:
    """Shake with the given limits, or with None drop every image, as a run with events and no second thoughts.

    Raises:
        OctavoError: `compaction-in-progress`, `storage-failed`.
    """
    done: Shaken | None = None
    with slot.begin(host.new_id(), "shake", host.now_ms()) as operation:
        run = Run(host, operation, reason, "shake", will_retry)
        run.start()
        try:
            done = await (shake_images(host) if config is None else shake(host, config))
            after = await anyio.to_thread.run_sync(estimate, host, host.session.branch())
        except OctavoError as error:
            run.end(remark=f"Auto-shake failed: {error.message}")
            raise
        except BaseException:
            run.end(aborted=True)
            raise
        freed = done.result.tokens_freed
        run.end(skip_reason=None if freed else "there is nothing to drop", done=freed > 0, tokens_after=after)
        return AutoShaken(operation.id, freed, after)
    return AutoShaken(operation.id, aborted=True)
