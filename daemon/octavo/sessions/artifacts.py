"""Files that belong to a session: outputs taken out of the context, plans, handoff documents.

They lie in the side folder as `<id>.<tool>.log` with ids 0, 1, 2 … that continue after reopening (engine.md §17d 123).
A session that continues another one reads the other's artifacts too: its ids go on where the whole chain left off, so
that one `artifact://<id>` never means two things (BR-083). An ephemeral session keeps them in memory.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from octavo.sessions.store.disk import Durability, create_exclusively, make_folder, storage_errors
from octavo_protocol.errors import ErrorKind, OctavoError

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_NUMBERED = re.compile(r"(\d+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9]+")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_OURS = re.compile(r"originals\.jsonl.*|index\..*|vanished-.*")
MAX_NAME = 64


@dataclass(frozen=True, slots=True)
class ArtifactPart:
    """A piece of an artifact: its text, the size of the whole in bytes, and where to go on (None at the end)."""

    text: str
    size: int
    next_offset: int | None


def safe_tool_name(name: str) -> str:
    """A tool's name as part of a file name: other characters become `_`, at most 64 of them."""
    return _UNSAFE.sub("_", name)[:MAX_NAME] or "tool"


class Artifacts:
    """The artifacts of one session.

    Args:
        folder: Its side folder, None for an ephemeral session; created with the first artifact.
        ancestors: Side folders of the sessions it continues, the nearest first; asked when needed.
    """

    def __init__(
        self,
        folder: Path | None,
        ancestors: Callable[[], Sequence[Path]] = tuple,
        durability: Durability = "fsync",
    ) -> None:
        self.folder = folder
        self._ancestors = ancestors
        self._durability: Durability = durability
        self._memory: dict[str, bytes] = {}
        self._next: int | None = None

    def save(self, tool: str, text: str) -> str:
        """Store a text durably and return its id.

        Raises:
            OctavoError: `storage-failed`.
        """
        data = text.encode("utf-8", "replace")
        number = self._next_id()
        if self.folder is None:
            self._memory[str(number)] = data
            self._next = number + 1
            return str(number)
        make_folder(self.folder, self._durability)
        while True:
            path = self.folder / f"{number}.{safe_tool_name(tool)}.log"
            try:
                create_exclusively(path, (data,), self._durability)
            except FileExistsError:
                number += 1
                continue
            self._next = number + 1
            return str(number)

    def read(self, artifact_id: str, *, offset: int = 0, limit: int = 1_000_000) -> ArtifactPart:
        """Read an artifact by its id or file name, here or in the sessions this one continues.

        `offset` and `limit` are bytes; the text ends at a character boundary.

        Raises:
            OctavoError: `entry-not-found`, `storage-failed`.
        """
        data, size = self._bytes(artifact_id, offset, limit + 4)
        piece = data[:limit]
        while piece and len(piece) < len(data) and data[len(piece)] & 0xC0 == 0x80:
            piece = piece[:-1]
        piece = piece or data
        end = offset + len(piece)
        return ArtifactPart(piece.decode("utf-8", "replace"), size, end if end < size else None)

    def names(self) -> list[str]:
        """File names (or ids, in memory) of everything that can be read, the nearest session's first."""
        names = list(self._memory)
        for folder in self._folders():
            names += sorted(path.name for path in _files(folder) if path.name not in names)
        return names

    def _folders(self) -> list[Path]:
        own = [self.folder] if self.folder is not None else []
        return own + list(self._ancestors())

    def _next_id(self) -> int:
        if self._next is None:
            numbers = [
                int(m[1]) for folder in self._folders() for p in _files(folder) if (m := _NUMBERED.fullmatch(p.name))
            ]
            self._next = max(numbers, default=-1) + 1
        return self._next

    def _bytes(self, artifact_id: str, offset: int, limit: int) -> tuple[bytes, int]:
        if artifact_id in self._memory:
            whole = self._memory[artifact_id]
            return whole[offset : offset + limit], len(whole)
        path = self._find(artifact_id)
        with storage_errors("read", path), path.open("rb") as stream:
            stream.seek(offset)
            return stream.read(limit), path.stat().st_size

    def _find(self, artifact_id: str) -> Path:
        if _NAME.fullmatch(artifact_id):
            for folder in self._folders():
                for path in _files(folder):
                    match = _NUMBERED.fullmatch(path.name)
                    if path.name == artifact_id or (match is not None and match[1] == artifact_id):
                        return path
        shown = artifact_id[:80].encode("unicode_escape").decode()
        message = f"Artifact {shown} not found in this session or those it continues."
        raise OctavoError(ErrorKind.ENTRY_NOT_FOUND, message, entryId=shown)


def _files(folder: Path) -> list[Path]:
    """Regular files directly inside; links and our own bookkeeping are no artifacts."""
    if not folder.is_dir():
        return []
    with storage_errors("read", folder):
        return sorted(
            path
            for path in folder.iterdir()
            if not path.is_symlink()
            and path.is_file()
            and _NAME.fullmatch(path.name)
            and not _OURS.fullmatch(path.name)
        )
