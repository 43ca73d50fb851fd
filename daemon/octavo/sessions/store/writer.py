"""Threads that wait for disks, so that the event loop never does for long.

A flush takes from a fraction of a millisecond to seconds. The usual hand-over to a worker thread costs about as much
as a fast flush; this pool hands over with one queue and one wake-up of the loop, and a caller that knows the disk to be
fast may wait for a job in place for a bounded moment, which saves even that wake-up. It knows nothing of sessions. The
event loop is asyncio's (the daemon's, and pytest's).
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Job(Generic[T]):
    """One call on its way through a thread; made by `WriterThreads.start`, on the loop that waits for it."""

    __slots__ = ("_call", "_done", "_error", "_future", "_loop", "_result")

    def __init__(self, call: Callable[[], T], loop: asyncio.AbstractEventLoop) -> None:
        self._call = call
        self._loop = loop
        self._result: T | None = None
        self._error: BaseException | None = None
        self._future: asyncio.Future[None] | None = None
        self._done = threading.Lock()
        self._done.acquire()

    def run(self) -> None:
        """Run the call; for the thread alone."""
        try:
            self._result = self._call()
        except BaseException as error:  # noqa: BLE001 - handed to the waiting task, which raises it
            self._error = error
        # Released before the look at `_future`, which is set before the look at `_done`: one side sees the other.
        self._done.release()
        if self._future is not None:
            # The loop may have ended while the disk was slow; nobody waits any more.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_wake, self._future)

    def wait(self, seconds: float) -> bool:
        """Stand still for so long at most; returns whether the call has ended. To be called once, before `finished`."""
        return self._done.acquire(timeout=seconds)

    async def finished(self) -> None:
        """Wait while the loop goes on. Cancellation ends the wait, not the call."""
        self._future = self._loop.create_future()
        if not self._done.acquire(blocking=False):
            await self._future

    def outcome(self) -> T:
        """The result of a call that has ended, or its error raised."""
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class WriterThreads:
    """Up to `limit` threads, started when needed, that run blocking calls in the order they were handed over."""

    def __init__(self, limit: int = 4) -> None:
        self._limit = limit
        self._jobs: SimpleQueue[Job[Any] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._count = threading.Lock()

    def start(self, call: Callable[[], T]) -> Job[T]:
        """Hand a call to a thread; it begins at once."""
        return self.hand_over(Job(call, asyncio.get_running_loop()))

    def hand_over(self, job: Job[T]) -> Job[T]:
        """Let a thread run the job; returns it."""
        if self._jobs.qsize() >= self._idle and len(self._threads) < self._limit:
            self._start_thread()
        self._jobs.put(job)
        return job

    async def run(self, call: Callable[[], T]) -> T:
        """Run the call in a thread and return its result or raise its error.

        Cancellation abandons the wait, not the call: shield it when the caller must know how it ended.
        """
        job = self.start(call)
        await job.finished()
        return job.outcome()

    def close(self) -> None:
        """Let the threads end after the calls already handed over, and wait for them."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._idle = 0

    def _start_thread(self) -> None:
        thread = threading.Thread(target=self._work, name="octavo-writer", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _work(self) -> None:
        while True:
            self._count_idle(1)
            job = self._jobs.get()
            self._count_idle(-1)
            if job is None:
                return
            job.run()
            del job

    def _count_idle(self, change: int) -> None:
        with self._count:
            self._idle += change
