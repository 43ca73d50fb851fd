"""Read the packed glyph tables of `fonts/`, each when it is first needed (snapcompact.md §9).

A table maps code points to bitmaps of one cell size. Which table a shape draws from, and what happens to a character
that no table has, is `glyphs`'s business; the packed form is described in `fonts/build.py`.
"""

import lzma
import struct
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from octavo.resources import data
from octavo.snapcompact.marks import CUT_OUT

_HEADER = struct.Struct("<4sHHI")
_CODE_SPACE = 0x110000

NATIVE: Final = {"5x8": "misc-fixed-5x8", "6x12": "misc-fixed-6x12", "8x13": "misc-fixed-8x13", "8x8": "unscii-8"}
"""The table of each font a shape can name."""

NARROW_FALLBACKS: Final = ("misc-fixed-8x13", "misc-fixed-6x12", "narrow-8x16", "unscii-8", "misc-fixed-5x8")
"""Where one-cell characters come from that a font lacks, best drawn first."""

WIDE: Final = {16: "wide-16", 14: "wide-14", 12: "wide-12", 10: "wide-10"}
"""Full-width tables by glyph size in px; 14 holds only what the other three lack."""


@dataclass(frozen=True, slots=True)
class Table:
    """Glyphs of one size: `codes` ascending, `rows` packed bits of shape (glyphs, height, bytes per row)."""

    width: int
    height: int
    codes: NDArray[np.uint32]
    rows: NDArray[np.uint8]

    def find(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the glyph index of every code point, -1 where the table has none."""
        at = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[at] == codes, at, -1)

    def bitmaps(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Unpack glyphs to booleans of shape (glyphs, height, width), true where there is ink."""
        return np.unpackbits(self.rows[indices], axis=2)[:, :, : self.width].astype(bool)


@cache
def table(name: str) -> Table:
    """Load one packed table."""
    raw = lzma.decompress(data("fonts").joinpath(f"{name}.octf").read_bytes())
    magic, width, height, count = _HEADER.unpack_from(raw)
    assert magic == b"OCTF", name
    codes = np.frombuffer(raw, "<u4", count, _HEADER.size)
    rows = np.frombuffer(raw, np.uint8, offset=_HEADER.size + codes.nbytes)
    return Table(width, height, codes, rows.reshape(count, height, -1))


@cache
def narrow_lut() -> NDArray[np.bool_]:
    """Return for every code point whether it takes one cell; all others take two."""
    narrow = np.zeros(_CODE_SPACE, bool)
    narrow[:0x100] = True
    for name in NARROW_FALLBACKS:
        narrow[table(name).codes] = True
    narrow[[ord(mark) for mark in CUT_OUT]] = True
    narrow.flags.writeable = False
    return narrow


@cache
def drawable_lut() -> NDArray[np.bool_]:
    """Return for every code point whether some table has a glyph for it, of either width."""
    drawable = narrow_lut().copy()
    for name in WIDE.values():
        drawable[table(name).codes] = True
    drawable.flags.writeable = False
    return drawable
