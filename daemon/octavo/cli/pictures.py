"""Frames as files: one PNG each, and all of them small on one contact sheet.

Takes what came over the wire; draws nothing itself.
"""

import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from octavo_protocol.base import JsonObject


@dataclass(frozen=True, slots=True)
class Picture:
    """A frame and the words under it on the sheet."""

    png: bytes
    caption: str


def frames_of(message: JsonObject) -> list[Picture]:
    """The PNG frames of a compaction message in agent format, oldest first."""
    blocks = message.get("images")
    found = [png for block in (blocks if isinstance(blocks, list) else ()) if (png := _png(block)) is not None]
    return [Picture(png, f"frame {number} of {len(found)}") for number, png in enumerate(found, 1)]


def write_pictures(pictures: Sequence[Picture], folder: Path) -> list[Path]:
    """Write `01.png`, `02.png` … into a folder made for them; what was there under other names stays.

    Raises:
        OSError: the folder or a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    digits = max(2, len(str(len(pictures))))
    paths = [folder / f"{number:0{digits}}.png" for number in range(1, len(pictures) + 1)]
    for path, picture in zip(paths, pictures, strict=True):
        path.write_bytes(picture.png)
    return paths


def write_contact_sheet(pictures: Sequence[Picture], path: Path) -> None:
    """Write the sheet.

    Raises:
        OSError: the file cannot be written.
    """
    from octavo.snapcompact.contact_sheet import contact_sheet_of  # noqa: PLC0415 - Pillow

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contact_sheet_of([(picture.png, picture.caption) for picture in pictures]))


def _png(block: object) -> bytes | None:
    if not isinstance(block, dict) or block.get("type") != "image" or block.get("mimeType") != "image/png":
        return None
    try:
        return binascii.a2b_base64(str(block.get("data")))
    except (binascii.Error, ValueError):
        return None
