"""The sessions one daemon has open, and who may use them: the service every handler asks first.

`connection.daemon.service(SessionHub)`. Two connections that open one file share one live session; one opened for
reading becomes writable when someone opens it for writing. It closes, and gives its lease back, when the last
connection has gone and no work runs on it any more. How that is done is `openings`, loaded with the first session,
because `initialize` must not wait for it.
"""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from octavo.server.model_book import ModelBook
from octavo.server.settings_book import SettingsBook
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.session import Mode

if TYPE_CHECKING:
    from octavo.server.connection import Connection
    from octavo.server.daemon import Daemon
    from octavo.server.open_session import OpenSession
    from octavo.server.openings import Openings
    from octavo.sessions.library import Library


class SessionHub:
    """See the module."""

    def __init__(self, daemon: "Daemon") -> None:
        self.sessions: dict[str, OpenSession] = {}
        """Open sessions by id."""
        self._daemon = daemon
        self._book = daemon.service(SettingsBook)
        self._models = daemon.service(ModelBook)
        self._adopted: set[Connection] = set()

    @property
    def working(self) -> bool:
        """Whether a session is open: without clients that is so only while work runs on it; see `daemon.Working`."""
        return bool(self.sessions)

    def get(self, connection: "Connection", session_id: str) -> "OpenSession":
        """Return a session that this connection has open.

        Raises:
            OctavoError: session-not-found.
        """
        session = self.sessions.get(session_id)
        if session is None or connection not in session.host.clients.modes:
            raise OctavoError(
                ErrorKind.SESSION_NOT_FOUND,
                f"Session {session_id} is not open on this connection; open it with session/open first.",
                sessionId=session_id,
            )
        return session

    def writable(self, connection: "Connection", session_id: str) -> "OpenSession":
        """Return a session that this connection may change.

        Raises:
            OctavoError: session-not-found, session-read-only.
        """
        session = self.get(connection, session_id)
        if session.host.clients.modes[connection] == "read":
            raise OctavoError(
                ErrorKind.SESSION_READ_ONLY,
                f"Session {session_id} was opened with mode read; open it with mode write to change it.",
                sessionId=session_id,
            )
        return session

    def adopt(self, connection: "Connection") -> None:
        """Take over the settings and models a client gave in `initialize`; harmless when repeated."""
        if connection not in self._adopted:
            self._adopted.add(connection)
            self._book.adopt(connection)
            self._models.register(connection.options.models or ())

    def library(self, connection: "Connection") -> "Library":
        """The sessions folder that this client's settings name: `sessions.root`, else the user's data folder."""
        self.adopt(connection)
        settings = self._book.view([connection]).settings.sessions
        root = Path(platformdirs.user_data_dir("octavo")) / "sessions"
        return self._openings.library(settings, root if settings.root is None else Path(settings.root).expanduser())

    # -- opening and closing -----------------------------------------------------------------------------------------

    async def create(self, connection: "Connection", cwd: str, **options: Any) -> "OpenSession":
        """Start a session and open it on the connection; `options` are those of `Library.create`.

        Raises:
            OctavoError: invalid-params, storage-failed, session-locked.
        """
        return await self._openings.create(self.library(connection), connection, cwd, **options)

    async def fork(
        self, connection: "Connection", source: "OpenSession", entry_id: str | None, *, ephemeral: bool = False
    ) -> "OpenSession":
        """Copy a session, whole or the path to an entry, and open the copy on the connection.

        Raises:
            OctavoError: entry-not-found, storage-failed.
        """
        return await self._openings.fork(self.library(connection), connection, source, entry_id, ephemeral=ephemeral)

    async def open(
        self,
        connection: "Connection",
        *,
        session_id: str | None = None,
        path: str | None = None,
        cwd: str | None = None,
        mode: Mode = "write",
    ) -> "OpenSession":
        """Open a session on the connection, by path or by id (a beginning is enough).

        Raises:
            OctavoError: session-not-found, session-unreadable, session-locked, storage-failed, invalid-params.
        """
        library = self.library(connection)
        return await self._openings.open(library, connection, session_id=session_id, path=path, cwd=cwd, mode=mode)

    async def close(self, connection: "Connection", session_id: str) -> bool:
        """Give up a session; True when that closed it, False when others have it open or work still runs on it.

        Raises:
            OctavoError: session-not-found, storage-failed.
        """
        return await self._openings.close(self.get(connection, session_id), connection)

    async def delete(
        self, connection: "Connection", *, session_id: str | None = None, path: str | None = None
    ) -> list[Path] | None:
        """Delete a session, open or not, and return the paths that are gone, None when there was nothing to delete.

        Raises:
            OctavoError: session-unreadable, session-locked, storage-failed, invalid-params.
        """
        return await self._openings.delete(self.library(connection), session_id=session_id, path=path)

    def connection_closed(self, connection: "Connection") -> None:
        """Give up what the connection had open; see `daemon.Watching`."""
        self._adopted.discard(connection)
        if self.sessions:
            self._openings.connection_closed(connection)

    async def aclose(self) -> None:
        """Stop what runs and close every session; see `daemon.Closing`."""
        if "_openings" in self.__dict__:
            await self._openings.aclose()

    @cached_property
    def _openings(self) -> "Openings":
        from octavo.server.openings import Openings  # noqa: PLC0415 - see the module

        return Openings(self._daemon, self.sessions)
