"""Make room while nobody works: the conditions, one pass over sessions, and the timer of one session.

The conditions are checked when the timer starts to run and again when it fires (engine.md §13.7, §17c 89, 108). Clock
and sleep are passed in. Which sessions exist, and whose task the timers run in, is the daemon's.
"""

from collections.abc import Awaitable, Callable

import anyio
import anyio.to_thread

from octavo.maintenance.drafts import Report, no_report
from octavo.maintenance.making_room import PAUSED, Attempt, make_room, tell_skip
from octavo.maintenance.measuring import fill
from octavo.maintenance.triggers import Maintainer
from octavo_protocol.methods.maintenance import RunIdleCompactionResult
from octavo_protocol.settings import CompactionSettings

SHORTEST_S, LONGEST_S = 60.0, 3600.0


def idle_seconds(settings: CompactionSettings) -> float:
    """How long a session must be idle, in seconds, within the bounds."""
    return min(LONGEST_S, max(SHORTEST_S, settings.idle_timeout_seconds))


def hindrance(maintainer: Maintainer) -> str | None:
    """Why idle maintenance must not run now, whatever the size of the context."""
    if maintainer.host.settings.compaction.strategy == "off":
        return "automatic compaction is off (compaction.strategy)"
    if maintainer.host.busy:
        return "the agent is working"
    if maintainer.slot.current is not None:
        return f"a {maintainer.slot.current.kind} is running"
    if maintainer.memory.deferred:
        return "a handoff is about to begin"
    if maintainer.compactor.held is not None:
        return "a compaction is held for preview"
    return None


async def run_idle(maintainer: Maintainer, report: Report = no_report) -> RunIdleCompactionResult:
    """Make room now; never tells the host to go on. `compaction.enabled` does not matter, `strategy: off` does."""
    if (why := hindrance(maintainer)) is not None:
        return RunIdleCompactionResult(ran=False, reason=why)
    host, compactor, memory = maintainer.host, maintainer.compactor, maintainer.memory
    tokens = (await anyio.to_thread.run_sync(fill, host, host.session.branch())).tokens
    if (why := hindrance(maintainer)) is not None:
        return RunIdleCompactionResult(ran=False, reason=why)
    if compactor.breaker.refuses(tokens, compactor.circumstances()):
        if memory.is_news(PAUSED):
            tell_skip(host, "idle", PAUSED)
        return RunIdleCompactionResult(ran=False, reason=PAUSED)
    room = await make_room(host, maintainer.slot, compactor, Attempt("idle"), report)
    if room.result is not None:
        memory.settle(room.result.tokens_after, compactor.circumstances())
    why = "aborted" if room.aborted else room.error.message if room.error is not None else None
    if why is None and not room.made:
        why = "there is nothing to make smaller"
    return RunIdleCompactionResult(ran=room.made, reason=why, result=room.result)


async def not_due(maintainer: Maintainer) -> str | None:
    """Why idle maintenance is not due now although the session has been idle for long enough; None when it is."""
    settings = maintainer.host.settings.compaction
    if not settings.idle_enabled:
        return "idle maintenance is disabled (compaction.idleEnabled)"
    if (why := hindrance(maintainer)) is not None:
        return why
    if settings.idle_threshold_tokens <= 0:
        return "no idle threshold is set (compaction.idleThresholdTokens)"
    host = maintainer.host
    path = host.session.branch()
    if path and path[-1].get("type") == "compaction":
        return "it is compacted already"
    tokens = (await anyio.to_thread.run_sync(fill, host, path)).tokens
    if tokens < settings.idle_threshold_tokens:
        return f"{tokens} tokens are below compaction.idleThresholdTokens ({settings.idle_threshold_tokens})"
    return None


async def watch(
    maintainer: Maintainer,
    idle_for: Callable[[], float],
    open_still: Callable[[], bool],
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> None:
    """Run idle maintenance of one session whenever it is due, until it is closed.

    What runs is told in events; a session that was looked at is left alone until it is used again.

    Args:
        maintainer: The session's maintenance.
        idle_for: Seconds since the session was changed or its agent began or ended a turn; by a clock that never jumps.
        open_still: Whether to go on.
        sleep: Waits for seconds.
    """
    looked = False
    while open_still():
        idle, needed = idle_for(), idle_seconds(maintainer.host.settings.compaction)
        if idle < needed:
            looked = False
            await sleep(needed - idle)
        elif looked:
            await sleep(SHORTEST_S)
        else:
            looked = True
            if await not_due(maintainer) is None and open_still():
                await run_idle(maintainer)
