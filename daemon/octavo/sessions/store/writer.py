"""Threads that wait for disks, so that the event loop never does.

A flush takes from a fraction of a millisecond to seconds. The usual hand-over to a worker thread costs about as much
as a fast flush; this pool hands over with one queue and one wake-up of the loop, which matters for a single client
that waits for each append. It knows nothing of sessions. The event loop is asyncio's (the daemon's, and pytest's).
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar, cast

T = TypeVar("T")
_Job = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class WriterThreads:
    """Up to `limit` threads, started when needed, that run blocking calls in the order they were handed over."""

    def __init__(self, limit: int = 4) -> None:
        self._limit = limit
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._count = threading.Lock()

    async def run(self, call: Callable[[], T]) -> T:
        """Run the call in a thread and return its result or raise its error.

        Cancellation abandons the wait, not the call: shield it when the caller must know how it ended.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        if self._jobs.qsize() >= self._idle and len(self._threads) < self._limit:
            self._start_thread()
        self._jobs.put((call, future, loop))
        return cast("T", await future)

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
            call, future, loop = job
            try:
                result: Any = call()
            except BaseException as error:  # noqa: BLE001 - handed to the waiting task, which raises it
                self._wake(loop, future, None, error)
            else:
                self._wake(loop, future, result, None)

    def _count_idle(self, change: int) -> None:
        with self._count:
            self._idle += change

    @staticmethod
    def _wake(
        loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]", result: Any, error: BaseException | None
    ) -> None:
        def settle() -> None:
            if future.cancelled():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(result)

        # The loop may have ended while the disk was slow; nobody waits any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle)
