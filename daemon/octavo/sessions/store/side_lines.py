"""Lines in files beside a session that are worth keeping but are not the session: what a rewrite replaced.

They are written with the same care as the session and read leniently.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson

from octavo.sessions.store.disk import Durability, create_exclusively, make_folder
from octavo.sessions.store.jsonl import JsonlFile, encode_line
from octavo_protocol.base import JsonObject


def append_side_lines(path: Path, lines: Sequence[JsonObject], durability: Durability, now_ms: int) -> None:
    """Add lines durably, creating the file and its folder when needed.

    Raises:
        OctavoError: `storage-failed`.
    """
    data = b"".join(map(encode_line, lines))
    if not path.exists():
        make_folder(path.parent, durability)
        with contextlib.suppress(FileExistsError):
            create_exclusively(path, (data,), durability)
            return
    file = JsonlFile(path, durability)
    try:
        file.append(data, now_ms)
    finally:
        file.close()


def read_side_lines(path: Path) -> Iterator[JsonObject]:
    """Yield the readable lines; nothing when there is no file."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        for line in stream:
            with contextlib.suppress(orjson.JSONDecodeError):
                value = orjson.loads(line)
                if isinstance(value, dict):
                    yield value
