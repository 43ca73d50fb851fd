"""Opening and closing sessions: one live session per file, shared by everyone, kept for as long as it is needed.

The hub's heavy half, loaded with the first session. Per file, what opens and what closes waits for each other.
"""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from octavo.server.open_session import OpenSession
from octavo.server.session_doors import Doors, naming
from octavo.server.session_view import session_info
from octavo.sessions.library import Library
from octavo.sessions.live import LiveSession
from octavo.sessions.paths import checked_path
from octavo.sessions.state import Mode
from octavo.sessions.store.writer import WriterThreads
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.session import SessionInfo
from octavo_protocol.settings import SessionsSettings

if TYPE_CHECKING:
    from octavo.maintenance.host import Successor
    from octavo.server.connection import Connection
    from octavo.server.daemon import Daemon

FOLLOW_S = 0.5
"""Seconds between two looks at a file that another process writes and we only read."""
IDLE_LOOK_S = 10.0
"""Seconds between two looks at whether the settings want an idle timer, and the longest sleep of one."""
_IDLE_S = 0.05


class Openings:
    """See the module.

    Args:
        daemon: Delivers notifications and runs what outlives a client.
        sessions: Open sessions by id; this class alone changes it.
    """

    def __init__(self, daemon: "Daemon", sessions: dict[str, OpenSession]) -> None:
        self._daemon = daemon
        self._sessions = sessions
        self._writers = WriterThreads()
        self._doors = Doors()

    def library(self, settings: SessionsSettings, root: Path) -> Library:
        """The sessions folder `root` under settings."""
        return Library(root, settings.durability, writers=self._writers)

    # -- opening and closing -----------------------------------------------------------------------------------------

    async def create(self, library: Library, connection: "Connection", cwd: str, **options: Any) -> OpenSession:
        """Start a session and open it on the connection; `options` are those of `Library.create`.

        Raises:
            OctavoError: invalid-params, storage-failed, session-locked.
        """
        with anyio.CancelScope(shield=True):
            live = await library.create(cwd, **options)
            return self._enter(self._add(live, library), connection, "write")
        raise AssertionError("a shielded scope ends by itself")

    async def fork(
        self, library: Library, connection: "Connection", source: OpenSession, entry_id: str | None, *, ephemeral: bool
    ) -> OpenSession:
        """Copy a session, whole or the path to an entry, and open the copy on the connection.

        Raises:
            OctavoError: entry-not-found, storage-failed.
        """
        with anyio.CancelScope(shield=True):
            if entry_id is None:
                live = await library.fork(source.live, ephemeral=ephemeral)
            else:
                live = await library.branch_out(source.live, entry_id, ephemeral=ephemeral)
            return self._enter(self._add(live, library), connection, "write")
        raise AssertionError("a shielded scope ends by itself")

    async def open(
        self,
        library: Library,
        connection: "Connection",
        *,
        session_id: str | None = None,
        path: str | None = None,
        cwd: str | None = None,
        mode: Mode = "write",
    ) -> OpenSession:
        """Open a session on the connection, by path or by id (a beginning is enough).

        Raises:
            OctavoError: session-not-found, session-unreadable, session-locked, storage-failed, invalid-params.
        """
        # An opening under way cannot be called back from its thread; whoever has gone since loses it again at once.
        with anyio.CancelScope(shield=True):
            known: OpenSession | None = None
            if path is None:
                found = await self._find(library, session_id or "", cwd)
                known = found if isinstance(found, OpenSession) else None
                if known is not None and known.live.path is None:
                    return self._enter(known, connection, mode)
                place = found.live.path if isinstance(found, OpenSession) else found
                assert place is not None
            else:
                place = checked_path(path, Path(cwd) if cwd is not None else None)
            real = await self._real(place)
            async with self._doors.at(real):
                session = await self._open_file(library, real, mode, known)
                return self._enter(session, connection, mode)
        raise AssertionError("a shielded scope ends by itself")

    async def close(self, session: OpenSession, connection: "Connection") -> bool:
        """Give up a session; True when that closed it, False when others have it open or work still runs on it.

        Raises:
            OctavoError: storage-failed.
        """
        self._leave(session, connection)
        if session.openers:
            return False
        if session.working:
            self._daemon.start(self._close_when_idle, session)
            return False
        return await self._close(session)

    async def delete(
        self, library: Library, *, session_id: str | None = None, path: str | None = None
    ) -> list[Path] | None:
        """Delete a session, open or not, and return the paths that are gone, None when there was nothing to delete.

        Raises:
            OctavoError: session-unreadable, session-locked, storage-failed, invalid-params.
        """
        try:
            found = await self._find(library, session_id, None) if session_id is not None else checked_path(path or "")
        except OctavoError as error:
            if error.kind is ErrorKind.SESSION_NOT_FOUND:
                return None
            raise
        place = found.live.path if isinstance(found, OpenSession) else found
        if place is None:
            assert isinstance(found, OpenSession)
            await self.shut(found)
            return []
        real = await self._real(place)
        async with self._doors.at(real):
            # A deletion under way cannot be called back from its thread.
            with anyio.CancelScope(shield=True):
                session = await self._open_at(real)
                if session is not None and session.live.mode == "write":
                    await self.shut(session)
                with naming(place):
                    removed = await library.delete(place)
                if session is not None and session.live.mode == "read":
                    await self.shut(session)
        return removed if removed or session is not None else None

    async def shut(self, session: OpenSession) -> None:
        """Close a session for everybody, after stopping what runs on it; the connections hear that it is closed."""
        if session.compacting:
            session.slot.abort()
        await _until_idle(session)
        with anyio.CancelScope(shield=True):
            await self._put_away(session)

    def connection_closed(self, connection: "Connection") -> None:
        """Give up what the connection had open; see `daemon.Watching`."""
        for session in tuple(self._sessions.values()):
            if connection in session.host.clients.modes:
                self._leave(session, connection)
                if not session.openers:
                    self._daemon.start(self._close_when_idle, session)

    async def aclose(self) -> None:
        """Stop what runs and close every session; see `daemon.Closing`."""
        for session in tuple(self._sessions.values()):
            if session.compacting:
                session.slot.abort()
        for session in tuple(self._sessions.values()):
            await _until_idle(session)
            await self._put_away(session)
        await anyio.to_thread.run_sync(self._writers.close)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _add(self, live: LiveSession, library: Library) -> OpenSession:
        if (other := self._sessions.get(live.session_id)) is not None:
            live.release()
            raise OctavoError(
                ErrorKind.SESSION_LOCKED,
                f"Another file with the session id {live.session_id} is open: {other.live.path}; close it first, or "
                "fork it to get a session of its own.",
                sessionId=live.session_id,
                details={"path": str(other.live.path), "pid": os.getpid()},
            )
        session = self._sessions[live.session_id] = OpenSession(self._daemon, live, library, self._succeed)
        if live.mode == "read":
            self._daemon.start(self._follow, session)
        self._daemon.start(self._watch_idle, session)
        return session

    async def _succeed(self, former: OpenSession, title: str | None) -> "Successor":
        """Start the session that goes on after a handoff, for everybody who has the former one open."""
        from octavo.maintenance.host import Successor  # noqa: PLC0415 - needed by the first handoff only

        old, host = former.live, former.host
        settings = host.path_settings
        with anyio.CancelScope(shield=True):
            live = await former.library.create(
                str(old.header.get("cwd") or ""),
                title=title,
                parent_session=old.session_id if old.path is None else str(old.path),
                ephemeral=old.ephemeral,
            )
            session = self._add(live, former.library)
            self._daemon.start(self._keep_until_written, session, former)
            for connection, mode in host.clients.modes.items():
                self._enter(session, connection, mode)
            session.host.system_prompt, session.host.tools = host.system_prompt, host.tools
            session.host.plan_files = host.plan_files
            if (model := settings.models.get("default")) is not None:
                await live.set_model(model)
            if settings.thinking_level != "off":
                await live.set_thinking_level(settings.thinking_level)
        session.numbers.update(live)
        return Successor(live, lambda: SessionInfo.model_validate(session_info(session, "write")))

    async def _keep_until_written(self, session: OpenSession, former: OpenSession) -> None:
        """Have a successor open while the work that made it writes into it; then it closes if nobody has opened it."""
        with session.in_use():
            await _until_idle(former)
        await self._close_when_idle(session)

    def _enter(self, session: OpenSession, connection: "Connection", mode: Mode) -> OpenSession:
        modes = session.host.clients.modes
        if modes.get(connection) != "write":
            modes[connection] = mode
        self._daemon.subscribe(session.session_id, connection)
        return session

    def _leave(self, session: OpenSession, connection: "Connection") -> None:
        del session.host.clients.modes[connection]
        self._daemon.unsubscribe(session.session_id, connection)
        if session.busy_for is connection:
            session.set_busy(None)

    async def _find(self, library: Library, name: str, cwd: str | None) -> OpenSession | Path:
        if (session := self._sessions.get(name)) is not None:
            return session
        try:
            return await self._writers.run(partial(library.find, name, cwd=cwd))
        except OctavoError as error:
            # A new session has no file yet, an ephemeral one never.
            hits = [session for known, session in self._sessions.items() if name and known.startswith(name)]
            if error.kind is ErrorKind.SESSION_NOT_FOUND and len(hits) == 1:
                return hits[0]
            raise

    async def _open_file(
        self, library: Library, real: Path, mode: Mode, known: OpenSession | None = None
    ) -> OpenSession:
        # One that was found by its id may have moved since; it is the one that was meant all the same.
        still = known is not None and self._sessions.get(known.session_id) is known
        if (session := known if still else await self._open_at(real)) is not None:
            if mode == "write" and session.live.mode == "read":
                await session.replace(await library.open_path(real, mode="write"))
            return session
        with naming(real):
            live = await library.open_path(real, mode=mode)
        return self._add(live, library)

    async def _open_at(self, real: Path) -> OpenSession | None:
        """The open session of a file."""
        for session in tuple(self._sessions.values()):
            if session.live.path is not None and await self._real(session.live.path) == real:
                return session
        return None

    async def _real(self, path: Path) -> Path:
        return Path(await self._writers.run(partial(os.path.realpath, path)))

    async def _close_when_idle(self, session: OpenSession) -> None:
        while session.working:
            if session.openers:
                return
            await anyio.sleep(_IDLE_S)
        await self._close(session)

    async def _close(self, session: OpenSession) -> bool:
        """Close a session that nobody has open, unless somebody opens it first."""
        if session.live.path is None:
            if session.openers:
                return False
            await self._put_away(session)
            return True
        with anyio.CancelScope(shield=True):
            async with self._doors.at(await self._real(session.live.path)):
                if session.openers or session.working:
                    return False
                await self._put_away(session)
        return True

    async def _put_away(self, session: OpenSession) -> None:
        if self._sessions.get(session.session_id) is not session:
            return
        del self._sessions[session.session_id]
        await session.live.close()
        for connection in session.openers:
            self._leave(session, connection)

    async def _watch_idle(self, session: OpenSession) -> None:
        """Run the session's idle timer once the settings ask for one, until it is closed."""

        def is_open() -> bool:
            return self._sessions.get(session.session_id) is session and not self._daemon.stopping

        while is_open():
            if session.live.mode == "read" or not session.host.settings.compaction.idle_enabled:
                await anyio.sleep(IDLE_LOOK_S)
                continue
            from octavo.maintenance.idle import watch  # noqa: PLC0415 - heavy

            await watch(
                session.maintainer,
                session.idle_for,
                lambda: is_open() and session.host.settings.compaction.idle_enabled,
                lambda seconds: anyio.sleep(min(seconds, IDLE_LOOK_S)),
            )

    async def _follow(self, session: OpenSession) -> None:
        """Notice what the process that owns the file appends, for as long as we only read it."""
        told = ""
        while self._sessions.get(session.session_id) is session and session.live.mode == "read":
            await anyio.sleep(FOLLOW_S)
            if self._daemon.stopping or session.live.closed:
                return
            try:
                await session.fresh()
                told = ""
            except OctavoError as error:
                if error.message != told:
                    told = error.message
                    session.host.notice("warning", error.message, "sessions")


async def _until_idle(session: OpenSession) -> None:
    while session.working:  # noqa: ASYNC110 - an operation's slot has no event
        await anyio.sleep(_IDLE_S)
