"""What an ephemeral session has instead of a disk: pictures in a dictionary. Its entries live in the tree alone.

A `LiveSession` without a path skips every write; this module supplies the one store it still needs.
"""

import hashlib
from pathlib import Path

from octavo.sessions.blobs import PREFIX, BlobStore


class MemoryBlobs(BlobStore):
    """A blob store that ends with the process; it can still read what other stores have on disk."""

    def __init__(self, elsewhere: tuple[Path, ...] = ()) -> None:
        super().__init__(Path("/nonexistent"), elsewhere, "os")
        self._data: dict[str, bytes] = {}

    def put(self, data: bytes, mime: str | None = None) -> str:  # noqa: ARG002 - sidecars are for folders
        """Keep the bytes and return their reference."""
        digest = hashlib.sha256(data).hexdigest()
        self._data[digest] = data
        return PREFIX + digest

    def get(self, digest: str) -> bytes | None:
        """The payload from memory, else from the other stores."""
        return self._data.get(digest) or super().get(digest)
