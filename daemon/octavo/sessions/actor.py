"""The engine inside an open session: the queue, the turn, the write in a thread, the tree, and who is told.

`live.LiveSession` is this plus the methods people call; nothing else uses it. The order of every change is: plan on
the tree, encode and write in a thread, apply to the tree, tell subscribers, acknowledge. Planning runs on the event
loop and writing in a thread while the turn is held, so the tree never changes under either.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel

from octavo.sessions.changes import ChangeKind
from octavo.sessions.ids import new_entry_id
from octavo.sessions.lease import Lease
from octavo.sessions.planning import Draft, Plan, Planner
from octavo.sessions.state import Mode, Surroundings, T
from octavo.sessions.store.disk import on_local_disk
from octavo.sessions.store.session_file import SessionFile
from octavo.sessions.store.writer import Job
from octavo.sessions.tree import SessionTree, is_leaf_marker
from octavo.sessions.writing import ORIGINALS, Outcome, WritingSession
from octavo_protocol.errors import ErrorKind, OctavoError

__all__ = ["ORIGINALS", "Appended", "SessionActor"]

_BATCH = 512
"""Appends that share one write at most."""
_IN_PLACE = 0.001
"""Seconds the event loop may stand still for a lone append on a fast disk."""
_LOOK_AROUND = 8
"""A lone client that is fast lets others in only every so many appends."""
_TRUSTED = 16
"""Flushes in a row below that time after which a local disk is written to without a thread."""
_MOST_PASSED_OVER = 1024
_ATTEMPTS = 4
"""How often one batch is planned anew because another program keeps changing the file."""


@dataclass(frozen=True, slots=True)
class Appended:
    """An acknowledged append: ids in the order given, which of them existed before, the leaf and the change number."""

    entry_ids: tuple[str, ...]
    repeated_ids: tuple[str, ...]
    leaf_id: str | None
    seq: int


@dataclass(slots=True, eq=False)
class _Pending:
    """One append on its way."""

    draft: Draft
    kind: ChangeKind
    result: Appended | None = None
    error: BaseException | None = None
    woken: "asyncio.Future[None] | None" = None
    """Set for one that waits behind a leader: done when it is settled or has to lead."""

    @property
    def settled(self) -> bool:
        return self.result is not None or self.error is not None

    def wake(self) -> None:
        if self.woken is not None and not self.woken.done():
            self.woken.set_result(None)

    def answer(self) -> Appended:
        if self.error is not None:
            raise self.error
        assert self.result is not None
        return self.result


class SessionActor(WritingSession):
    """Adds the queue and the writing; see the module."""

    def __init__(
        self,
        tree: SessionTree,
        surroundings: Surroundings,
        *,
        path: Path | None,
        mode: Mode = "write",
        store: SessionFile | None = None,
        lease: Lease | None = None,
    ) -> None:
        super().__init__(tree, surroundings, path=path, mode=mode, store=store, lease=lease)
        self._queue: deque[_Pending] = deque()
        self._turn = anyio.Lock(fast_acquire=True)
        self._led = False
        self._passing_over = 0
        self._backoff = 1
        self._fast = 0
        self._local: bool | None = None

    # -- the queue -----------------------------------------------------------------------------------------------

    async def _submit(self, draft: Draft, kind: ChangeKind) -> Appended:
        """Queue an append and return when it is durable.

        One of the waiting tasks leads: it writes what waits, its own append among it, and passes the lead on.
        """
        self._expect_writable()
        pending = _Pending(draft, kind)
        if self._led:
            await anyio.lowlevel.checkpoint_if_cancelled()
        self._queue.append(pending)
        if self._led:
            pending.woken = asyncio.get_running_loop().create_future()
            try:
                await pending.woken
            except BaseException:
                self._withdraw(pending)
                raise
            if pending.settled:
                return pending.answer()
        self._led = True
        try:
            # Whoever is ready to append as well gets into the queue now, and so into the same write.
            if self._fast % _LOOK_AROUND == 0:
                await anyio.lowlevel.checkpoint()
            if not pending.settled and self._is_alone():
                await self._commit_alone(pending)
            if not pending.settled:
                async with self._turn:
                    with anyio.CancelScope(shield=True):
                        await self._commit_queue(pending)
        except BaseException:
            self._withdraw(pending)
            raise
        finally:
            self._pass_lead()
        return pending.answer()

    def _withdraw(self, pending: _Pending) -> None:
        """Forget an append that is not on its way yet; if it was just made the leader, somebody else becomes it."""
        if pending in self._queue:
            self._queue.remove(pending)
            if pending.woken is not None and pending.woken.done() and not pending.woken.cancelled():
                self._pass_lead()

    def _pass_lead(self) -> None:
        for pending in self._queue:
            if pending.woken is not None and not pending.woken.done():
                pending.woken.set_result(None)
                return
        self._led = False

    def _is_alone(self) -> bool:
        """Whether an append may be written in place: nobody else waits, and the disk was fast the last time."""
        if len(self._queue) > 1 or self._turn.locked() or self._store is None or self._store.must_rewrite:
            return False
        if self._passing_over > 0:
            self._passing_over -= 1
            return False
        return True

    async def _commit_alone(self, pending: _Pending) -> None:
        """The short way for one append, on a disk whose flushes take less time than two wake-ups of a thread.

        While flushes stay below a millisecond the loop waits for the thread in place; after many of them on a local
        disk it writes itself. One slow flush sends the next appends through the queue, ever more of them on a slow
        disk. What needs more than a plain write (another program's lines, entries that are no JSON) is left to the
        queue as well.
        """
        planned = self._plan([pending])
        if not planned:
            return
        # From here on the entry is on its way; nobody may take it along a second time.
        self._queue.remove(pending)
        start = time.perf_counter()
        job = Job(partial(self._write, [planned[0][1]]), asyncio.get_running_loop())
        if self._fast >= _TRUSTED and self._is_local():
            job.run()
        elif not self._surroundings.writers.hand_over(job).wait(_IN_PLACE):
            await self._finish_slowly(planned, job)
            return
        self._settle_alone(planned, job)
        took = time.perf_counter() - start
        self._fast = self._fast + 1 if took < _IN_PLACE else 0
        self._backoff = 1

    async def _finish_slowly(self, planned: Sequence[tuple[_Pending, Plan]], job: Job[Outcome]) -> None:
        self._fast = 0
        self._passing_over = self._backoff
        self._backoff = min(2 * self._backoff, _MOST_PASSED_OVER)
        self._turn.acquire_nowait()
        try:
            with anyio.CancelScope(shield=True):
                await job.finished()
            self._settle_alone(planned, job)
        finally:
            self._turn.release()

    def _is_local(self) -> bool:
        if self._local is None:
            self._local = self.path is not None and on_local_disk(self.path)
        return self._local

    def _settle_alone(self, planned: Sequence[tuple[_Pending, Plan]], job: Job[Outcome]) -> None:
        try:
            outcome = job.outcome()
        except OctavoError as error:
            if error.kind != ErrorKind.CONTENT_MODIFIED:
                planned[0][0].error = error
        else:
            if not outcome.rejected:
                self._apply(planned, outcome)
        if not planned[0][0].settled:
            self._queue.appendleft(planned[0][0])

    @contextlib.asynccontextmanager
    async def _exclusive(self, *, writing: bool = True) -> AsyncIterator[None]:
        """The turn, for a change that is no append; not interrupted by cancellation once it is there."""
        async with self._turn:
            if writing:
                self._expect_writable()
            self._expect_open()
            with anyio.CancelScope(shield=True):
                yield

    async def _commit_queue(self, until: _Pending | None = None) -> None:
        """Write what waits, in order, several appends at a time, up to the batch that contains `until`."""
        while self._queue and not (until is not None and until.settled):
            batch = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
            generation = self._generation()
            try:
                await self._commit(batch)
            except Exception as error:  # noqa: BLE001 - handed to every waiting append, which raises it
                for pending in batch:
                    if not pending.settled:
                        pending.error = error
                if self._generation() != generation:
                    # A rewrite failed after its rename: the file is the truth, whatever became of the answer.
                    await self._catch_up(force=True)
            for pending in batch:
                pending.wake()

    async def _rewriting(self, call: Callable[[], T]) -> T:
        """Run a rewrite in the thread; if it fails half-way, take over what the file has become."""
        generation = self._generation()
        try:
            return await self._in_thread(call)
        except OctavoError:
            if self._generation() != generation:
                await self._catch_up(force=True)
            raise

    async def _commit(self, batch: Sequence[_Pending]) -> None:
        for attempt in range(_ATTEMPTS):
            planned = self._plan([pending for pending in batch if not pending.settled])
            if not planned:
                return
            try:
                outcome = await self._in_thread(partial(self._write, [plan for _, plan in planned]))
            except OctavoError as error:
                if error.kind != ErrorKind.CONTENT_MODIFIED or attempt + 1 == _ATTEMPTS:
                    raise
                await self._catch_up(keep_leaf=True)
                continue
            if not outcome.rejected:
                self._apply(planned, outcome)
                await self._take_over(outcome.foreign)
                return
            for number, refusal in outcome.rejected.items():
                planned[number][0].error = refusal

    def _plan(self, batch: Sequence[_Pending]) -> list[tuple[_Pending, Plan]]:
        planner = Planner(
            self.tree,
            new_id=partial(
                new_entry_id, random_bytes=self._surroundings.random_bytes, now_ms=self._surroundings.now_ms
            ),
            now=self._now(),
            session_id=self.session_id,
        )
        planned = []
        for pending in batch:
            try:
                planned.append((pending, planner.plan(pending.draft)))
            except OctavoError as error:
                pending.error = error
        return planned

    def _apply(self, planned: Sequence[tuple[_Pending, Plan]], outcome: Outcome) -> None:
        jumped = False
        for (pending, plan), stored in zip(planned, outcome.stored, strict=True):
            added = []
            for entry, _ in stored:
                jumped = jumped or entry.get("parentId") != self.tree.leaf_id or is_leaf_marker(entry)
                self.tree.add(entry)
                self._note_compaction(entry)
                if not is_leaf_marker(entry):
                    added.append(entry["id"])
            self._own.update(added)
            if stored:
                self._announce(pending.kind, tuple(added))
            fresh = {entry["id"] for entry, _ in stored}
            repeated = tuple(entry_id for entry_id in plan.entry_ids if entry_id not in fresh)
            pending.result = Appended(plan.entry_ids, repeated, self.tree.leaf_id, self._log.seq)
        if jumped:
            self._keep_payload_of_branch()
