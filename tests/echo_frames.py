"""A rasteriser for tests: each frame is the header of a PNG file of the right size, followed by the page's text."""

import base64
import struct
from collections.abc import Sequence

from octavo.snapcompact.shapes import Shape
from octavo.snapcompact.terms import Picture


async def echo(pages: Sequence[str], _shape: Shape, size: int) -> list[Picture]:
    """Draw nothing and keep the text."""
    return [Picture(echo_data(page, size, size)) for page in pages]


def echo_data(page: str, width: int, height: int) -> str:
    """Base64 of a header that claims `width` × `height` px, with the page behind it."""
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBBI", 13, b"IHDR", width, height, 1, 3, 0, 0, 0, 0)
    return base64.b64encode(header + page.encode("utf-8", "surrogatepass")).decode()


def page_text(data: str) -> str:
    """The page an echoed frame shows."""
    return base64.b64decode(data)[33:].decode("utf-8", "surrogatepass")
