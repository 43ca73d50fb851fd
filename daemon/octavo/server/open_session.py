"""One session that a daemon has open: the live session, the world around it, and the work that may run on it.

Made and closed by the hub, which also knows who may use it. Maintenance is imported when it is first asked for.
"""

import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias

import anyio.to_thread

from octavo.server.session_host import SessionHost
from octavo.server.session_numbers import SessionNumbers
from octavo.sessions.changes import Change
from octavo.sessions.library import Library
from octavo.sessions.live import LiveSession
from octavo.sessions.state import Mode
from octavo.sessions.tree import SessionTree
from octavo.tokens.breakdown import FixedParts, measure_fixed
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.session import HostContext

if TYPE_CHECKING:
    from octavo.maintenance.compactor import Compactor
    from octavo.maintenance.host import Successor
    from octavo.maintenance.navigation import Navigator
    from octavo.maintenance.operations import OperationSlot
    from octavo.maintenance.triggers import Maintainer
    from octavo.server.connection import Connection
    from octavo.server.daemon import Daemon
    from octavo.sessions.search import Searcher


_FEW = 1000
"""Entries that may be counted on the event loop."""

Succeeding: TypeAlias = "Callable[[OpenSession, str | None], Awaitable[Successor]]"
"""Starts the session that takes over from another one, with a title."""


class OpenSession:
    """See the module.

    Attributes:
        host: The world around the session.
        library: Where it came from.
        numbers: What was counted over its whole tree.
        busy_for: The connection that said the agent loop runs; None while it does not.
    """

    def __init__(self, daemon: "Daemon", live: LiveSession, library: Library, succeed: "Succeeding") -> None:
        self.library = library
        self.host = SessionHost(daemon, live, library.artifacts(live), partial(succeed, self))
        self.numbers = SessionNumbers()
        self.busy_for: Connection | None = None
        self._daemon = daemon
        self._users = 0
        self._counting = anyio.Lock()
        self._last_used = time.monotonic()
        self._searcher: Searcher | None = None
        self._still: tuple[object, SessionTree] | None = None
        self._fixed: tuple[object, FixedParts] | None = None
        self._unsubscribe = live.subscribe(self._tell)

    @property
    def live(self) -> LiveSession:
        """The session itself."""
        return self.host.session

    @property
    def session_id(self) -> str:
        """The session's own id."""
        return self.live.session_id

    @property
    def openers(self) -> tuple["Connection", ...]:
        """The connections that have it open, in the order they opened it."""
        return tuple(self.host.clients.modes)

    def mode_of(self, connection: "Connection") -> Mode:
        """How the connection has it open.

        Raises:
            OctavoError: session-not-found when it was closed for everybody meanwhile.
        """
        mode = self.host.clients.modes.get(connection)
        if mode is None:
            message = f"Session {self.session_id} was closed or deleted meanwhile; open it again."
            raise OctavoError(ErrorKind.SESSION_NOT_FOUND, message, sessionId=self.session_id)
        return mode

    @property
    def searcher(self) -> "Searcher":
        """Searches the session; keeps what it read between searches."""
        from octavo.sessions.search import Searcher  # noqa: PLC0415 - needed by the first search only

        if self._searcher is None:
            self._searcher = Searcher(self.live, self.library.writers)
        return self._searcher

    # -- work ------------------------------------------------------------------------------------------------------

    @cached_property
    def slot(self) -> "OperationSlot":
        """Room for one long operation."""
        from octavo.maintenance.operations import OperationSlot  # noqa: PLC0415 - needed by the first operation only

        return OperationSlot(self.session_id)

    @cached_property
    def compactor(self) -> "Compactor":
        """The compactions of the session."""
        from octavo.maintenance.compactor import Compactor  # noqa: PLC0415 - heavy

        return Compactor(self.host, self.slot)

    @cached_property
    def navigator(self) -> "Navigator":
        """The navigations of the session."""
        from octavo.maintenance.navigation import Navigator  # noqa: PLC0415 - heavy

        return Navigator(self.host, self.slot)

    @cached_property
    def maintainer(self) -> "Maintainer":
        """The automatic maintenance of the session."""
        from octavo.maintenance.triggers import Maintainer  # noqa: PLC0415 - heavy

        return Maintainer(self.host, self.slot, self.compactor, self._in_background)

    def _in_background(self, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            with self.in_use():
                await work()

        self._daemon.start(run)

    @property
    def compacting(self) -> bool:
        """Whether a compaction, handoff, shake or branch summary is running."""
        return "slot" in self.__dict__ and self.slot.current is not None

    @property
    def held_operations(self) -> list[str]:
        """Operation ids of results held for preview."""
        held = self.compactor.held if "compactor" in self.__dict__ else None
        return [] if held is None else [held.run.operation.id]

    @property
    def working(self) -> bool:
        """Whether something runs that needs the session open although nobody looks."""
        return self._users > 0 or self.compacting

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the session open while the block runs, whoever leaves."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1

    # -- the session and its file ------------------------------------------------------------------------------------

    async def fresh(self) -> LiveSession:
        """Take over what another program did to the file, and return the session (BR-028).

        Raises:
            OctavoError: content-modified when the file is gone, session-unreadable when it is no session any more.
        """
        await self.reload()
        return self.live

    async def reload(self, *, force: bool = False) -> bool:
        """Read the file again when another program changed it, or with `force`; returns whether anything differs.

        Raises:
            OctavoError: content-modified, session-unreadable.
        """
        live = self.live
        known = live.recovery.vanished
        changed = await live.reload(force=force)
        if live.recovery.vanished != known:
            self._tell_vanished(live)
        return changed

    async def durable(self) -> LiveSession:
        """Have a file (a new session has none before the first thing that must not be lost), and return the session.

        Raises:
            OctavoError: storage-failed, session-locked.
        """
        if not self.live.ephemeral and not self.live.on_disk:
            await self.live.ensure_on_disk()
        return self.live

    async def replace(self, live: LiveSession) -> None:
        """Go on with the same session opened anew for writing; clients see another epoch and read it again."""
        old = self.live
        self._unsubscribe()
        self.host.adopt(live, self.library.artifacts(live))
        self.numbers = SessionNumbers()
        self._searcher = None
        self._unsubscribe = live.subscribe(self._tell)
        self._tell(Change(live.seq, "rewritten", (), live.leaf_id))
        await old.close()

    async def count(self) -> None:
        """Bring `numbers` up to date; off the loop when there is much to count."""
        async with self._counting:
            if len(self.live.tree) - self.numbers.seen > _FEW:
                await anyio.to_thread.run_sync(self.numbers.update, self.live)
            else:
                self.numbers.update(self.live)

    async def still_tree(self) -> SessionTree:
        """The tree as it is now, for threads: later changes do not reach it; made once for every state."""
        live = self.live
        state = (live.epoch, live.seq, live.leaf_id)
        if self._still is None or self._still[0] != state:
            entries = list(live.tree.entries)
            tree = await anyio.to_thread.run_sync(SessionTree, live.header, entries)
            tree.move_leaf(state[2])
            self._still = (state, tree)
        return self._still[1]

    def place_changed(self) -> None:
        """Look for side files where the session is now."""
        self.host.artifacts = self.library.artifacts(self.live)

    async def fixed_parts(self, system_prompt: str | Sequence[str] | None = None) -> FixedParts:
        """Weigh what goes with every request: the host's system prompt (or another one) and tools."""
        prompt = tuple(self.host.system_prompt) if system_prompt is None else system_prompt
        state = (prompt if isinstance(prompt, str) else tuple(prompt), self.host.tools)
        if self._fixed is None or self._fixed[0] != state:
            found = await anyio.to_thread.run_sync(measure_fixed, prompt, self.host.tools)
            self._fixed = (state, found)
        return self._fixed[1]

    def set_context(self, context: HostContext) -> None:
        """Take over what a client says of the system prompt, tools and plan files; what it leaves out stays."""
        host = self.host
        if (prompt := context.system_prompt) is not None:
            host.system_prompt = (prompt,) if isinstance(prompt, str) else tuple(prompt)
        if context.tools is not None:
            host.tools = tuple(context.tools)
        if context.plan_files is not None:
            host.plan_files = tuple(context.plan_files)

    def set_busy(self, connection: "Connection | None") -> bool:
        """Say that the agent loop runs, for `connection`, or that it does not; returns whether it did before."""
        was_busy = self.host.turn_running
        self._last_used = time.monotonic()
        self.busy_for = connection
        self.host.turn_running = connection is not None
        return was_busy

    def idle_for(self) -> float:
        """Seconds since the session was changed or its agent began or ended a turn."""
        return time.monotonic() - self._last_used

    # -- telling ---------------------------------------------------------------------------------------------------

    def _tell(self, change: Change) -> None:
        self._last_used = time.monotonic()
        live = self.live
        payload: JsonObject = {"sessionId": self.session_id, "epoch": live.epoch} | change_to_wire(change)
        if change.title is not None:
            payload["title"] = change.title
        self.host.clients.emit("session/didChange", payload)

    def _tell_vanished(self, live: LiveSession) -> None:
        gone = live.recovery.vanished
        if gone:
            what = "1 entry that was" if len(gone) == 1 else f"{len(gone)} entries that were"
            text = f"Another program removed {what} written here; they are kept in {live.recovery.vanished_path}."
            self.host.notice("warning", text, "sessions")


def change_to_wire(change: Change) -> JsonObject:
    """Return the `Change` object of the protocol."""
    wire: JsonObject = {"seq": change.seq, "kind": change.kind, "entryIds": list(change.entry_ids)}
    return wire if change.leaf_id is None else {**wire, "leafId": change.leaf_id}
