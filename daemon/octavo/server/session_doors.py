"""Small things around opening a file as a session: one at a time per file, and errors that say which file."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio

from octavo_protocol.errors import ErrorKind, OctavoError


class Doors:
    """A lock per file, for as long as anyone waits for it: what opens and what closes must not pass each other."""

    def __init__(self) -> None:
        self._locks: dict[Path, tuple[anyio.Lock, int]] = {}

    @asynccontextmanager
    async def at(self, path: Path) -> AsyncIterator[None]:
        """Be the only one at this file while the block runs."""
        lock, count = self._locks.get(path, (anyio.Lock(), 0))
        self._locks[path] = (lock, count + 1)
        try:
            async with lock:
                yield
        finally:
            lock, count = self._locks[path]
            self._locks[path] = (lock, count - 1)
            if count == 1:
                del self._locks[path]


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an error about what a file holds say which file."""
    try:
        yield
    except OctavoError as error:
        if error.kind is not ErrorKind.SESSION_UNREADABLE or str(path) in error.message:
            raise
        told = error.data.get("details")
        details = {**(told if isinstance(told, dict) else {}), "path": str(path)}
        raise OctavoError(error.kind, f"{path}: {error.message}", details=details) from error
