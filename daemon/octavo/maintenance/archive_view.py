"""Show the frame archives of a session's compactions: pictures from the blob store, the newest within a byte budget.

One view per open session; it remembers the archives shown last, because a context is built before every model call.
"""

from collections import OrderedDict

from octavo.sessions.live import LiveSession
from octavo.snapcompact.archive import history_blocks, open_archive
from octavo_protocol.base import JsonObject

_REMEMBERED = 2


class ArchiveView:
    """The archives of one session.

    Args:
        session: Where the pictures lie.
    """

    def __init__(self, session: LiveSession) -> None:
        self._session = session
        self._shown: OrderedDict[str, tuple[JsonObject, list[JsonObject]]] = OrderedDict()

    def blocks(self, entry: JsonObject) -> list[JsonObject]:
        """The blocks of a compaction entry's archive (see `snapcompact.archive.history_blocks`), none without one.

        Reads the blob store the first time, so call it in a thread where that matters.
        """
        preserved = entry.get("preserveData")
        if not isinstance(preserved, dict) or "snapcompact" not in preserved:
            return []
        known = self._shown.get(str(entry.get("id")))
        if known is not None and known[0] is entry:
            return known[1]
        resolved = self._session.resolved([preserved]).value[0]
        archive = open_archive(resolved).archive
        blocks = history_blocks(archive) if archive is not None else []
        self._shown[str(entry.get("id"))] = (entry, blocks)
        while len(self._shown) > _REMEMBERED:
            self._shown.popitem(last=False)
        return blocks
