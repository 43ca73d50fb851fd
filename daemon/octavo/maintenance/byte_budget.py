"""Keep a request's images below what providers accept in bytes, whatever the tokens say (BR-064).

Images of a session lie in the blob store as references, so their size is looked up there, once per image.
"""

from collections.abc import Iterable, Sequence

from octavo.maintenance.host import Host
from octavo.maintenance.measuring import context_of
from octavo.sessions.blobs import reference_digest
from octavo_protocol.base import JsonObject

IMAGE_BYTES = 18 * 1024 * 1024
"""Base64 image data of one request above which old images go: requests fail from 20 MiB on."""
KEPT_BYTES = 12 * 1024 * 1024
"""What stays of it, so that not every new image drops an old one."""


class ImageSizes:
    """Sizes of the images of one session, remembered by digest."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: dict[str, int] = {}

    def total(self, path: Sequence[JsonObject], pending: Sequence[JsonObject] = ()) -> int:
        """Base64 characters of all images in the next request; reads files the first time, so better in a thread."""
        messages = [*context_of(self._host, path).messages, *pending]
        return sum(self._size(data) for message in messages for data in _images(message))

    def _size(self, data: str) -> int:
        digest = reference_digest(data)
        if digest is None:
            return len(data)
        if digest not in self._known:
            payload = self._host.session.blobs.get(digest)
            self._known[digest] = 0 if payload is None else -(-len(payload) // 3) * 4
        return self._known[digest]


def _images(message: JsonObject) -> Iterable[str]:
    for key in ("content", "images"):
        blocks = message.get(key)
        for block in blocks if isinstance(blocks, list) else ():
            if isinstance(block, dict) and block.get("type") == "image" and isinstance(block.get("data"), str):
                yield block["data"]
    files = message.get("files")
    for file in files if isinstance(files, list) else ():
        image = file.get("image") if isinstance(file, dict) else None
        if isinstance(image, dict) and isinstance(image.get("data"), str):
            yield image["data"]
