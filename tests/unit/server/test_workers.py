"""Requests share tasks without sharing fates."""

import anyio
import anyio.lowlevel
import pytest

from octavo.server.workers import Outcome, Workers


async def test_a_job_that_waits_does_not_hold_up_those_behind_it() -> None:
    order: list[str] = []
    gate = anyio.Event()

    async def wait() -> None:
        await gate.wait()

    async def quick() -> None:
        return

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            workers = Workers(group)
            for n in range(200):
                name = f"{n}"
                workers.submit(name, wait if n % 2 else quick, lambda _, name=name: order.append(name))  # type: ignore[misc]
            while len(order) < 100:
                await anyio.lowlevel.checkpoint()
            assert order == [f"{n}" for n in range(0, 200, 2)]
            gate.set()
            await workers.idle()
            assert sorted(order, key=int) == [f"{n}" for n in range(200)]
            group.cancel_scope.cancel()


async def test_cancelling_one_job_leaves_the_others_alone() -> None:
    outcomes: dict[int, Outcome] = {}
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            workers = Workers(group)
            for n in range(5):
                workers.submit(n, anyio.sleep_forever, lambda outcome, n=n: outcomes.update({n: outcome}))  # type: ignore[misc]
            await anyio.wait_all_tasks_blocked()
            assert workers.cancel(2)
            assert not workers.cancel("unknown")
            await anyio.wait_all_tasks_blocked()
            assert list(outcomes) == [2]
            workers.cancel_all(except_for=4)
            await workers.idle(except_for=4)
            assert sorted(outcomes) == [0, 1, 2, 3]
            assert all(outcome.cancelled() for outcome in outcomes.values())
            workers.cancel_all()
            await workers.idle()
            group.cancel_scope.cancel()


async def test_a_job_after_a_cancelled_one_runs_undisturbed() -> None:
    outcomes: list[Outcome] = []

    async def several_steps() -> int:
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        return 7

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            workers = Workers(group)
            for round_number in range(50):
                workers.submit("hang", anyio.sleep_forever, outcomes.append)
                if round_number % 2:
                    await anyio.wait_all_tasks_blocked()
                workers.cancel("hang")
                workers.submit("next", several_steps, outcomes.append)
                await workers.idle()
            group.cancel_scope.cancel()
    assert [outcome.cancelled() for outcome in outcomes] == [True, False] * 50
    assert {outcome.value for outcome in outcomes if not outcome.cancelled()} == {7}


async def test_what_a_job_raises_is_its_outcome() -> None:
    outcomes: list[Outcome] = []

    async def fail() -> None:
        raise ZeroDivisionError

    async with anyio.create_task_group() as group:
        workers = Workers(group)
        workers.submit(1, fail, outcomes.append)
        await workers.idle()
        group.cancel_scope.cancel()
    assert isinstance(outcomes[0].exception(), ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        outcomes[0].result()


async def test_when_the_connection_ends_jobs_end_without_an_outcome() -> None:
    outcomes: list[Outcome] = []
    async with anyio.create_task_group() as group:
        workers = Workers(group)
        workers.submit(1, anyio.sleep_forever, outcomes.append)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert outcomes == []
