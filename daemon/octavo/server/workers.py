"""Runs the requests of one connection: each in its own cancel scope, found by the request's key.

Tasks are reused, because starting an anyio task costs three times what a small request does. A task whose job was
cancelled is not used again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc

_MAX_IDLE = 32


@dataclass(slots=True, eq=False)
class _Job:
    key: Hashable
    call: Callable[[], Awaitable[Any]]
    done: "Future[Any]"
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class Workers:
    """The running requests of one connection.

    Args:
        group: Where their tasks live; when it is cancelled, jobs end without an outcome.
    """

    def __init__(self, group: anyio.abc.TaskGroup) -> None:
        self._group = group
        self._jobs: dict[Hashable, _Job] = {}
        self._idle: list[asyncio.Future[_Job]] = []
        self._changed = anyio.Event()

    def submit(self, key: Hashable, call: Callable[[], Awaitable[Any]], done: "Future[Any]") -> None:
        """Run `call()` soon and put its result, its exception or its cancellation into `done`."""
        job = _Job(key, call, done)
        self._jobs[key] = job
        while self._idle:
            seat = self._idle.pop()
            if not seat.done():
                seat.set_result(job)
                return
        self._group.start_soon(self._work, job)

    def cancel(self, key: Hashable) -> bool:
        """Cancel the job of `key`; False when there is none."""
        job = self._jobs.get(key)
        if job is not None:
            job.scope.cancel()
        return job is not None

    def cancel_all(self, *, except_for: Hashable = None) -> None:
        """Cancel every job but one."""
        for key in tuple(self._jobs):
            if key != except_for:
                self.cancel(key)

    async def idle(self, *, except_for: Hashable = None) -> None:
        """Wait until no job runs, or only the one of `except_for`."""
        while self._jobs.keys() - {except_for}:
            self._changed = anyio.Event()
            await self._changed.wait()

    async def _work(self, job: _Job) -> None:
        while True:
            await self._run(job)
            if job.scope.cancel_called or len(self._idle) >= _MAX_IDLE:
                return
            seat: asyncio.Future[_Job] = asyncio.get_running_loop().create_future()
            self._idle.append(seat)
            job = await seat

    async def _run(self, job: _Job) -> None:
        result: Any = None
        failure: Exception | None = None
        try:
            with job.scope:
                try:
                    result = await job.call()
                except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
                    failure = error
        finally:
            if self._jobs.get(job.key) is job:
                del self._jobs[job.key]
            self._changed.set()
        if job.scope.cancelled_caught:
            job.done.cancel()
        elif failure is not None:
            job.done.set_exception(failure)
        else:
            job.done.set_result(result)
