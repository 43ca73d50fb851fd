"""What an image adds to a context: a flat price for pictures, a price by pixels for frames.

The formulas of the providers are the frame compactor's (`snapcompact.billing`); whoever measures passes one in as a
`FramePrice`. This module only reads the pixel size from the head of a PNG. Source: engine.md §4.2, snapcompact.md §3.
"""

import base64
import binascii
from collections.abc import Callable
from typing import Any, TypeAlias

IMAGE_TOKENS = 1200
"""Tokens of an image in a message, whatever its size (seed)."""

SEED_FRAME_TOKENS = 3300
"""Tokens the seed charges for every frame; too little for frames wider than 1568 px (snapcompact.md §15)."""

LARGEST_FRAME_TOKENS = 5024
"""Tokens of a frame whose size or price is unknown: the most that Anthropic's formula charges."""

FramePrice: TypeAlias = Callable[[int, int], int]
"""Tokens of an image of width x height px, for the model that will be charged."""

_PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
_HEAD_CHARS = 32
_HEAD_BYTES = 24


def frame_tokens(block: Any, price: FramePrice | None) -> int:
    """Return the price of one frame block (base64 PNG in `data`); unreadable ones cost `LARGEST_FRAME_TOKENS`."""
    if price is None:
        return LARGEST_FRAME_TOKENS
    size = png_size(block.get("data") if isinstance(block, dict) else None)
    return LARGEST_FRAME_TOKENS if size is None else price(*size)


def png_size(data: object) -> tuple[int, int] | None:
    """Return (width, height) in px from the first bytes of base64 PNG data, or None."""
    if not isinstance(data, str):
        return None
    try:
        head = base64.b64decode(data[:_HEAD_CHARS], validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(head) < _HEAD_BYTES or not head.startswith(_PNG_MAGIC) or head[12:16] != b"IHDR":
        return None
    width, height = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    return (width, height) if width and height else None
