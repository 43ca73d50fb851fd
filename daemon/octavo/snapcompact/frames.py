"""One stored frame: its record, and whether it can still be sent to a model (snapcompact.md §7.1).

The record is the seed's; images are judged by their header and their base64, never decoded to pixels here.
"""

import binascii
import math
import struct
from dataclasses import dataclass, field
from typing import Any

from octavo_protocol.base import JsonObject

_MAX_PIXELS = 16_384
_PNG = b"\x89PNG\r\n\x1a\n"
_KNOWN = {
    "data", "mimeType", "cols", "rows", "chars", "font", "variant", "lineRepeat", "columns", "stopwordDim", "detail",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FrameRecord:
    """One stored frame: `data` is base64 of a `mime_type` image showing `chars` characters on `cols` × `rows` cells.

    Fields the seed leaves out are None (`columns` unless 2, `stopword_dim` unless true). `extra` keeps what we do not
    know.
    """

    data: str
    mime_type: str
    cols: int
    rows: int
    chars: int
    font: str | None = None
    variant: str | None = None
    line_repeat: int | None = None
    columns: int | None = None
    stopword_dim: bool | None = None
    detail: str | None = None
    extra: JsonObject = field(default_factory=dict)

    def to_json(self) -> JsonObject:
        """The frame in the seed's spelling; absent fields stay absent."""
        known = {
            "data": self.data,
            "mimeType": self.mime_type,
            "cols": self.cols,
            "rows": self.rows,
            "chars": self.chars,
            "font": self.font,
            "variant": self.variant,
            "lineRepeat": self.line_repeat,
            "columns": self.columns,
            "stopwordDim": self.stopword_dim,
            "detail": self.detail,
        }
        return {name: value for name, value in known.items() if value is not None} | self.extra

    def image_block(self) -> JsonObject:
        """The content block a model receives; `detail` only where the frame has one."""
        block: JsonObject = {"type": "image", "data": self.data, "mimeType": self.mime_type}
        return block | {"detail": self.detail} if self.detail else block


def is_frame(value: object) -> bool:
    """The seed's guard: non-empty data, a mime type, numeric cols, rows and chars."""
    if not isinstance(value, dict):
        return False
    texts = (value.get("data"), value.get("mimeType"))
    numbers = (value.get("cols"), value.get("rows"), value.get("chars"))
    return all(isinstance(text, str) and text for text in texts) and all(map(is_number, numbers))


def frame_problem(value: object) -> str | None:
    """Why a stored frame cannot be sent to a model, in a clause, or None when it can."""
    if not is_frame(value):
        return "its data, mimeType, cols, rows or chars is missing or of the wrong type"
    assert isinstance(value, dict)
    data, cols, rows, chars = value["data"], *(count(value[name]) for name in ("cols", "rows", "chars"))
    if data.startswith("blob:"):
        return "its image lies in a blob that was not found"
    if not (1 <= cols <= _MAX_PIXELS and 1 <= rows <= _MAX_PIXELS):
        return f"its grid of {cols} by {rows} cells is impossible"
    if chars > 2 * cols * rows:
        return f"it cannot hold {chars} characters"
    try:
        raw = binascii.a2b_base64(data, strict_mode=True)
    except (binascii.Error, ValueError):
        return "its data is not base64"
    if value["mimeType"] == "image/png" and (size := png_size(raw)) and not all(1 <= n <= _MAX_PIXELS for n in size):
        return f"its image is {size[0]} by {size[1]} px"
    if value["mimeType"] == "image/png" and not png_size(raw):
        return "its data is not a PNG image"
    return None


def png_size(raw: bytes) -> tuple[int, int] | None:
    """Width and height in px from the header of a PNG file, or None when it is none."""
    if len(raw) < 33 or not raw.startswith(_PNG) or raw[12:16] != b"IHDR":
        return None
    width, height = struct.unpack(">II", raw[16:24])
    return width, height


def png_size_of(frame: FrameRecord) -> tuple[int, int] | None:
    """Width and height in px of a stored PNG frame, read from its first bytes; None for other images."""
    try:
        return png_size(binascii.a2b_base64(frame.data[:44]))
    except (binascii.Error, ValueError):
        return None


def frame_from(value: JsonObject) -> FrameRecord:
    """Read a record that `is_frame` accepts; fields of a wrong type count as absent, unknown ones are kept."""

    def text(name: str) -> str | None:
        return text_of(value, name)

    repeat, columns = value.get("lineRepeat"), value.get("columns")
    return FrameRecord(
        data=value["data"],
        mime_type=value["mimeType"],
        cols=count(value["cols"]),
        rows=count(value["rows"]),
        chars=count(value["chars"]),
        font=text("font"),
        variant=text("variant"),
        line_repeat=count(repeat) if is_number(repeat) else None,
        columns=count(columns) if is_number(columns) else None,
        stopword_dim=True if value.get("stopwordDim") is True else None,
        detail=text("detail"),
        extra={name: item for name, item in value.items() if name not in _KNOWN},
    )


def text_of(value: JsonObject, name: str) -> str | None:
    """A non-empty string member, else None."""
    text = value.get(name)
    return text if isinstance(text, str) and text else None


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def count(value: Any) -> int:
    """A JSON value as a count: whole, not negative, 0 for anything else."""
    return max(0, min(int(value), 2**53)) if is_number(value) else 0
