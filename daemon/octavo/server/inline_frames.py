"""What inline imaging remembers between requests: frames drawn before, and which savings were written down.

Per open session, or per connection for requests that name no session. A service; forgets with its owner.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from octavo.server.hub import SessionHub
from octavo.snapcompact.inline import InlineCache
from octavo.snapcompact.journal import JOURNAL, SavingsRecorder

if TYPE_CHECKING:
    from octavo.server.connection import Connection
    from octavo.server.daemon import Daemon
    from octavo.server.open_session import OpenSession


@dataclass(slots=True)
class Memory:
    """Of one session or connection; a connection has no `recorder`."""

    cache: InlineCache = field(default_factory=InlineCache)
    recorder: SavingsRecorder | None = None


class InlineFrames:
    """See the module."""

    def __init__(self, daemon: "Daemon") -> None:
        self._hub = daemon.service(SessionHub)
        self._memories: WeakKeyDictionary[object, Memory] = WeakKeyDictionary()

    def of(self, connection: "Connection", session: "OpenSession | None") -> Memory:
        """What is remembered for a session, else for the connection."""
        owner: object = connection if session is None else session
        memory = self._memories.get(owner)
        if memory is None:
            memory = Memory() if session is None else Memory(recorder=self._recorder(connection, session))
            self._memories[owner] = memory
        return memory

    def _recorder(self, connection: "Connection", session: "OpenSession") -> SavingsRecorder:
        host, path = session.host, session.live.path
        return SavingsRecorder(
            self._hub.library(connection).root.parent / JOURNAL,
            None if path is None else str(path),
            host.now_ms,
            lambda error: host.notice("warning", f"The savings journal could not be written: {error}.", "snapcompact"),
        )
