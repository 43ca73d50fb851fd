"""Runs the requests of one connection: each in its own cancel scope, found by the request's key.

Starting an anyio task costs more than a small request does. So a task takes one job after the other for as long as
they end without waiting for anything; when one does wait, another task goes on with the queue. A task whose job was
cancelled is not used again.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel

_MAX_IDLE = 32
_BURST = 64
"""Jobs one task runs before it lets the rest of the process have a turn."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended; has the three questions of a future that is done."""

    value: Any = None
    error: Exception | None = None
    was_cancelled: bool = False

    def cancelled(self) -> bool:
        """Whether the job's scope was cancelled."""
        return self.was_cancelled

    def exception(self) -> Exception | None:
        """What the job raised."""
        return self.error

    def result(self) -> Any:
        """What the job returned; raises what it raised."""
        if self.error is not None:
            raise self.error
        return self.value


@dataclass(slots=True, eq=False)
class _Job:
    key: Hashable
    call: Callable[[], Awaitable[Any]]
    done: Callable[[Outcome], None]
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class Workers:
    """The running requests of one connection.

    Args:
        group: Where their tasks live; when it is cancelled, jobs end without an outcome.
    """

    def __init__(self, group: anyio.abc.TaskGroup) -> None:
        self._group = group
        self._jobs: dict[Hashable, _Job] = {}
        self._queue: deque[_Job] = deque()
        self._idle: list[asyncio.Future[None]] = []
        self._coming = False
        self._watched = False
        self._changed = anyio.Event()

    def submit(self, key: Hashable, call: Callable[[], Awaitable[Any]], done: Callable[[Outcome], None]) -> None:
        """Run `call()` soon and give its outcome to `done`."""
        job = _Job(key, call, done)
        self._jobs[key] = job
        self._queue.append(job)
        self._ensure_task()

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

    def _ensure_task(self) -> None:
        """See to it that a task is on its way to the queue."""
        self._watched = False
        if not self._queue or self._coming:
            return
        self._coming = True
        while self._idle:
            seat = self._idle.pop()
            if not seat.done():
                seat.set_result(None)
                return
        self._group.start_soon(self._work)

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._coming = False
            burst = 0
            while self._queue:
                job = self._queue.popleft()
                if self._queue and not self._watched:
                    # Runs only if this task gives the loop a turn, which is when somebody else must go on.
                    self._watched = True
                    loop.call_soon(self._ensure_task)
                await self._run(job)
                if job.scope.cancel_called:
                    self._ensure_task()
                    return
                burst += 1
                if burst % _BURST == 0:
                    await anyio.lowlevel.checkpoint()
            if len(self._idle) >= _MAX_IDLE:
                return
            seat = loop.create_future()
            self._idle.append(seat)
            await seat

    async def _run(self, job: _Job) -> None:
        value: Any = None
        failure: Exception | None = None
        try:
            with job.scope:
                try:
                    value = await job.call()
                except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
                    failure = error
        finally:
            if self._jobs.get(job.key) is job:
                del self._jobs[job.key]
            self._changed.set()
        job.done(Outcome(value, failure, job.scope.cancelled_caught))
