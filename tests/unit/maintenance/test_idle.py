"""Maintenance while nobody works: when it is due, what it does, and the timer of one session."""

from typing import Any

import anyio
import pytest

from octavo.maintenance.idle import LONGEST_S, SHORTEST_S, idle_seconds, not_due, run_idle, watch
from octavo_protocol.settings import CompactionSettings, Settings
from support.scripted import Scene, ScriptedModel, failing, scene, talk, user

IDLE = {
    "compaction.keepRecentTokens": 600,
    "compaction.idleEnabled": True,
    "compaction.idleThresholdTokens": 2_000,
    "retry.baseDelayMs": 0,
}


async def idle(turns: int = 8, **changes: Any) -> Scene:
    dotted = {**IDLE, **changes.pop("dotted", {})}
    made = await scene(settings=Settings.from_dotted(dotted), **changes)
    await talk(made.session, turns)
    return made


@pytest.mark.parametrize(("given", "taken"), [(0, SHORTEST_S), (59, 60), (300, 300), (7_200, LONGEST_S)])
def test_the_idle_time_is_taken_within_its_bounds(given: float, taken: float) -> None:
    assert idle_seconds(CompactionSettings(idle_timeout_seconds=given)) == taken


async def test_a_large_idle_session_is_compacted_and_nothing_is_continued() -> None:
    made = await idle()
    assert await not_due(made.maintainer) is None
    done = await run_idle(made.maintainer)
    assert done.ran
    assert done.result is not None
    assert [e.reason for e in made.host.named("session/compactionEnd")] == ["idle"]
    assert made.host.named("session/continue") == []
    assert "compacted already" in (await not_due(made.maintainer) or "")


@pytest.mark.parametrize(
    ("dotted", "why"),
    [
        ({"compaction.idleEnabled": False}, "idleEnabled"),
        ({"compaction.strategy": "off"}, "strategy"),
        ({"compaction.idleThresholdTokens": 0}, "idleThresholdTokens"),
        ({"compaction.idleThresholdTokens": 10**6}, "idleThresholdTokens"),
    ],
)
async def test_settings_say_when_an_idle_session_is_left_alone(dotted: dict[str, Any], why: str) -> None:
    made = await idle(dotted=dotted)
    assert why in (await not_due(made.maintainer) or "")


async def test_it_never_runs_while_the_agent_works_or_something_is_held_or_running() -> None:
    """engine.md §17c 89, 108."""
    made = await idle()
    made.host.busy = True
    assert "working" in ((await run_idle(made.maintainer)).reason or "")
    made.host.busy = False
    made.host.completion = ScriptedModel(hang=True)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_idle, made.maintainer)
            await made.host.completion.asked.wait()
            assert "running" in ((await run_idle(made.maintainer)).reason or "")
            made.slot.abort()
    assert [e.aborted for e in made.host.named("session/compactionEnd")] == [True]


async def test_failures_open_the_breaker_for_idle_runs_too() -> None:
    made = await idle(completion=ScriptedModel([failing("invalid request", 400)]))
    for _ in range(3):
        assert not (await run_idle(made.maintainer)).ran
    calls = len(made.host.completion.requests)
    assert "pauses" in ((await run_idle(made.maintainer)).reason or "")
    assert len(made.host.completion.requests) == calls
    assert made.host.named("session/compactionEnd")[-1].skipped


class Clock:
    """Time that passes only in sleeps; at some of them something happens."""

    def __init__(self) -> None:
        self.now = 0.0
        self.used = 0.0
        self.sleeps: list[float] = []
        self.at: dict[int, Any] = {}

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds
        happens = self.at.get(len(self.sleeps))
        if happens is not None:
            happens()
        await anyio.lowlevel.checkpoint()

    def idle_for(self) -> float:
        return self.now - self.used

    def use(self) -> None:
        self.used = self.now


async def test_the_timer_starts_anew_with_every_use_and_fires_once() -> None:
    made = await idle()
    clock = Clock()
    clock.at[1] = clock.use
    with anyio.fail_after(10):
        await watch(made.maintainer, clock.idle_for, lambda: len(clock.sleeps) < 6, clock.sleep)
    assert clock.sleeps[:2] == [300, 300]
    assert len(made.host.named("session/compactionEnd")) == 1


async def test_the_conditions_are_looked_at_again_when_the_timer_fires() -> None:
    made = await idle()
    clock = Clock()

    def work() -> None:
        made.host.busy = True

    clock.at[1] = work
    await watch(made.maintainer, clock.idle_for, lambda: len(clock.sleeps) < 4, clock.sleep)
    assert made.host.named("session/compactionStart") == []


async def test_a_session_that_was_looked_at_is_looked_at_again_after_it_was_used() -> None:
    made = await idle(2, dotted={"compaction.idleThresholdTokens": 10**6})
    clock = Clock()
    looked: list[float] = []

    def use() -> None:
        looked.append(clock.now)
        made.host.settings = Settings.from_dotted(IDLE)
        clock.use()

    clock.at[2] = use
    await watch(made.maintainer, clock.idle_for, lambda: len(clock.sleeps) < 6, clock.sleep)
    assert looked
    assert len(made.host.named("session/compactionEnd")) == 1
    await made.session.append(messages=[user("still here")])
