"""Pictures and other large payloads, stored once under the sha256 of their bytes and referred to from entries.

A reference is the string `blob:sha256:<hex>`. Storing is durable before it returns, so that no entry on disk ever
points at a payload that is not (engine.md §1.7). Which parts of an entry are payloads is decided in `persistence`;
this module stores, finds and puts back.
"""

import base64
import errno
import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from octavo.sessions.store.disk import (
    NO_LINKS,
    Durability,
    flush_folder,
    make_folder,
    replace_atomically,
    storage_failed,
)

PREFIX = "blob:sha256:"
_REFERENCE = re.compile(r"blob:sha256:([0-9a-f]{64})")
_EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/jpg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
}


def reference_digest(value: object) -> str | None:
    """The hex digest when the value is a reference, else None."""
    if isinstance(value, str) and (match := _REFERENCE.fullmatch(value)):
        return match[1]
    return None


def extension_of(mime: str | None) -> str | None:
    """The file extension of an image type: the usual one, or the bare subtype of an unusual `image/*`."""
    if mime is None:
        return None
    mime = mime.split(";", maxsplit=1)[0].strip().lower()
    if mime in _EXTENSIONS:
        return _EXTENSIONS[mime]
    subtype = mime.removeprefix("image/")
    return subtype if subtype != mime and re.fullmatch(r"[a-z0-9][a-z0-9.+-]{0,31}", subtype) else None


class BlobStore:
    """A folder of payloads named by their digest.

    Args:
        folder: Where new payloads go; created on first use.
        elsewhere: Further folders to look in, such as the store of the program that wrote the session.
    """

    def __init__(self, folder: Path, elsewhere: tuple[Path, ...] = (), durability: Durability = "fsync") -> None:
        self.folder = folder
        self.elsewhere = elsewhere
        self._durability: Durability = durability

    def put(self, data: bytes, mime: str | None = None) -> str:
        """Store the bytes durably (once) and return their reference; an image type adds a sidecar `<hex>.<ext>`."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.folder / digest
        if not self._present(path, len(data)):
            make_folder(self.folder, self._durability)
            # A leftover of another length is a copy that a crash cut short; the name alone proves nothing. Replacing
            # takes nothing away meanwhile: another session may have stored the same picture since the look.
            replace_atomically(path, (data,), self._durability)
        if extension := extension_of(mime):
            self._link_sidecar(path, extension)
        return PREFIX + digest

    def get(self, digest: str) -> bytes | None:
        """The payload, or None when no folder has it or its bytes no longer match the digest."""
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            return None
        for folder in (self.folder, *self.elsewhere):
            try:
                data = (folder / digest).read_bytes()
            except OSError:
                continue
            if hashlib.sha256(data).hexdigest() == digest:
                return data
        return None

    @staticmethod
    def _present(path: Path, length: int) -> bool:
        try:
            return path.stat().st_size == length
        except OSError:
            return False

    def _link_sidecar(self, path: Path, extension: str) -> None:
        sidecar = path.with_name(f"{path.name}.{extension}")
        try:
            os.link(path, sidecar)
            flush_folder(path.parent, self._durability)
        except FileExistsError:
            return
        except OSError as error:
            # The file system has no hard links; the sidecar is a convenience for people who browse the folder.
            if error.errno in NO_LINKS | {errno.EACCES}:
                return
            raise storage_failed("store a picture in", sidecar, error) from error


@dataclass(slots=True)
class Resolved:
    """A value with its references put back, and the digests that could not be found (their references stay)."""

    value: Any
    missing: list[str] = field(default_factory=list)


def resolve(value: Any, blobs: BlobStore) -> Resolved:
    """Put payloads back where `persistence` took them out: `data` as base64, `image_url` as the URL it was.

    The value itself is untouched; parts without references are shared with the result.
    """
    result = Resolved(value)
    result.value = _resolve(value, blobs, result.missing)
    return result


def _resolve(value: Any, blobs: BlobStore, missing: list[str]) -> Any:
    if isinstance(value, list):
        items = [_resolve(item, blobs, missing) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if not isinstance(value, dict):
        return value
    changed: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(item, (dict, list)):
            new = _resolve(item, blobs, missing)
        elif key in {"data", "image_url"} and (digest := reference_digest(item)):
            new = _load(digest, key, blobs, missing) or item
        else:
            continue
        if new is not item:
            changed[key] = new
    return {**value, **changed} if changed else value


def _load(digest: str, key: str, blobs: BlobStore, missing: list[str]) -> str | None:
    data = blobs.get(digest)
    if data is None:
        missing.append(digest)
        return None
    return base64.b64encode(data).decode() if key == "data" else data.decode("utf-8", "replace")
