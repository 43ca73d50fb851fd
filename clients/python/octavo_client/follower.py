"""Follows one session: every change once and in order, also those that happened while the connection was away.

Changes are numbered (`seq`) within one opening of the session by a daemon (`epoch`). A gap is filled with
`session/getEntries`; where the numbering ended, or the daemon does not remember far enough back, a `Reset` tells the
consumer to read the session again.
"""

import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol, Self, TypeAlias

import anyio
from anyio.abc import TaskGroup, TaskStatus

from octavo_client.backoff import BACKOFF, Backoff
from octavo_client.client import Client
from octavo_client.errors import DaemonGoneError, OctavoClientError
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind
from octavo_protocol.methods.session import OpenParams, OpenResult, SessionInfo
from octavo_protocol.methods.tree import Change
from octavo_protocol.notifications import DidChange

_PAGE = 1000
"""Entries asked for at once when catching up."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a session's history: everything up to and including `seq` is known."""

    seq: int
    epoch: str


@dataclass(frozen=True, slots=True)
class Reset:
    """Read the session again: what is read later than this is at least as new as `cursor`.

    Attributes:
        reason: `opened`: the start; `epoch`: another numbering; `history`: more was missed than is remembered.
        info: The session.
        cursor: Where the changes go on from.
    """

    reason: Literal["opened", "epoch", "history"]
    info: SessionInfo
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Changed:
    """One change of the session.

    Attributes:
        change: What happened; a `DidChange`, which knows a new title, unless it was caught up with.
        entries: With the option `entries`: those appended or rewritten, as they are now, without those that are gone.
        cursor: The change's place.
    """

    change: Change
    entries: list[JsonObject] | None
    cursor: Cursor


Followed: TypeAlias = Reset | Changed


class Followable(Protocol):
    """A client, of one connection or of many."""

    async def each_connection(self, listener: Callable[[Client], Awaitable[None]]) -> Exception | None:
        """Await `listener` with every connection; return why no more come."""


class SessionFollower:
    """An async iterator over the changes of one session; leaving the context stops it and leaves the session open.

    async with SessionFollower(client, OpenParams(session_id="0197f2b4"), entries=True) as follower:
        async for item in follower:
            ...

    The session is opened on every connection of `source` before anybody's requests use it. The iteration ends with the
    client; it raises what ended that (a lost connection, if it does not reconnect) or what the session could not be
    opened or read for.

    Args:
        source: The client.
        params: How to open the session.
        since: Where the consumer stands already; absent means to begin with a `Reset`.
        entries: Give the entries with each change.
        backoff: Pauses while the session is still locked by a daemon that is going.
        random: From 0 to 1, for the jitter.
    """

    def __init__(
        self,
        source: Followable,
        params: OpenParams,
        *,
        since: Cursor | None = None,
        entries: bool = False,
        backoff: Backoff = BACKOFF,
        random: Callable[[], float] = random.random,
    ) -> None:
        self._source = source
        self._params = params
        self._at = since
        self._entries = entries
        self._backoff = backoff
        self._random = random
        self._failure: Exception | None = None
        self._attending = anyio.CancelScope()
        self._pump = anyio.Lock()
        self._life: AbstractAsyncContextManager[None] | None = None

    @property
    def cursor(self) -> Cursor | None:
        """The last place that was put into the iteration."""
        return self._at

    async def __aenter__(self) -> Self:
        if self._life is not None:
            raise RuntimeError("A follower is entered once; make another one, with `since`.")
        self._life = self._living()
        await self._life.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        if self._life is None:
            raise RuntimeError("The follower was not entered.")
        return await self._life.__aexit__(kind, error, traceback)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Followed:
        if self._life is None:
            raise RuntimeError("A follower is a context manager: enter it before iterating.")
        try:
            return await self._followed.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure from None
            raise StopAsyncIteration from None

    @asynccontextmanager
    async def _living(self) -> AsyncIterator[None]:
        failure: Exception | None = None
        self._items, self._followed = anyio.create_memory_object_stream[Followed](math.inf)
        with self._items, self._followed:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._attend, tasks)
                try:
                    yield
                except Exception as error:  # noqa: BLE001 -- raised again below, not inside an exception group
                    failure = error
                finally:
                    tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _attend(self, tasks: TaskGroup) -> None:
        """Follow on every connection until no more come, or one fails."""

        async def connected(client: Client) -> None:
            await tasks.start(self._follow, client)

        with self._attending:
            try:
                error = await self._source.each_connection(connected)
            except Exception as failure:  # noqa: BLE001 -- raised from the iteration
                error = failure
            async with self._pump:
                # What was told before the end is given before it.
                self._finish(error)

    def _finish(self, error: Exception | None) -> None:
        self._failure = self._failure or error
        self._items.close()
        self._attending.cancel()

    async def _follow(self, client: Client, *, task_status: TaskStatus[None]) -> None:
        """Open the session, catch up, and then take what is told until the connection ends.

        What an earlier connection told is taken before.
        """
        opened = False
        # Listening before opening loses nothing; what opening covers already is recognised by its number.
        with client.subscribe("session/didChange") as told:
            async with self._pump:
                try:
                    info = await self._open(client)
                    await self._align(client, info)
                    opened = True
                    task_status.started()
                    async for notification in told:
                        if notification.raw.get("sessionId") == info.session_id:
                            await self._take(client, notification.params)
                except DaemonGoneError:
                    if not opened:
                        raise
                except Exception as error:
                    if not opened:
                        raise
                    self._finish(error)

    async def _open(self, client: Client) -> OpenResult:
        given = self._params.model_dump(exclude_unset=True)
        for retry in range(1, self._backoff.attempts + 1):
            try:
                return await client.ask("session/open", OpenParams, OpenResult, **given)
            except OctavoClientError as error:
                going = error.kind is ErrorKind.SESSION_LOCKED and self._at is not None
                if not going or retry == self._backoff.attempts:
                    raise
            with anyio.move_on_after(self._backoff.pause_s(retry, self._random())):
                raise await client.ended() or DaemonGoneError("The connection is closed.")
        raise ValueError("a backoff has at least one attempt")

    async def _align(self, client: Client, info: OpenResult) -> None:
        if self._at is None:
            self._reset("opened", info)
        elif self._at.epoch != info.epoch:
            self._reset("epoch", info)
        elif self._at.seq != info.seq:
            await self._catch_up(client, info.session_id, self._at)

    async def _take(self, client: Client, change: DidChange) -> None:
        if self._at is None or self._at.epoch != change.epoch:
            await self._align(client, await self._open(client))
        elif change.seq == self._at.seq + 1:
            await self._give(client, change.session_id, change, change.epoch, {})
        elif change.seq > self._at.seq:
            await self._catch_up(client, change.session_id, self._at)

    async def _catch_up(self, client: Client, session_id: str, since: Cursor) -> None:
        """Give every change after `since`; all of them are read before the first is given."""
        changes: list[Change] = []
        known: dict[str, JsonObject] = {}
        cursor: str | None = None
        while True:
            page = await client.session_get_entries(
                session_id=session_id, since_seq=since.seq, epoch=since.epoch, limit=_PAGE, cursor=cursor
            )
            if page.reset or page.epoch != since.epoch:
                info = await client.session_get_info(session_id=session_id)
                self._reset("history" if info.epoch == since.epoch else "epoch", info)
                return
            changes += page.changes
            known.update((entry["id"], entry) for entry in page.entries)
            if (cursor := page.next_cursor) is None:
                break
        for change in changes:
            await self._give(client, session_id, change, since.epoch, known)

    async def _give(
        self, client: Client, session_id: str, change: Change, epoch: str, known: Mapping[str, JsonObject]
    ) -> None:
        entries: list[JsonObject] | None = None
        if self._entries:
            entries = [known[entry_id] for entry_id in change.entry_ids if entry_id in known]
            if len(entries) < len(change.entry_ids):
                entries = (await client.session_get_entries(session_id=session_id, ids=change.entry_ids)).entries
        self._emit(Changed(change, entries, Cursor(change.seq, epoch)))

    def _reset(self, reason: Literal["opened", "epoch", "history"], info: SessionInfo) -> None:
        self._emit(Reset(reason, info, Cursor(info.seq, info.epoch)))

    def _emit(self, item: Followed) -> None:
        self._items.send_nowait(item)
        self._at = item.cursor
