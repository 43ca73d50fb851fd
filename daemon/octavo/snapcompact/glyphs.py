"""Draw characters into cells of any size, from the best table that has them (snapcompact.md §6, §9).

One-cell characters come from the shape's own font, else from another narrow table, shrunk where it does not fit. Full-
width characters come from the largest wide table that fits into two cells. A character in no table becomes a two-cell
box of its code point in hex digits, so that every character has a bitmap.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octavo.snapcompact.fonts import NARROW_FALLBACKS, NATIVE, WIDE, narrow_lut, table
from octavo.snapcompact.marks import CONTINUES, NEWLINE, SPACE_DIGITS, TAB

Bitmaps = NDArray[np.bool_]
"""Ink of several glyphs: (glyphs, rows, columns)."""

_COVERAGE = 0.4

_SLASHED_ZERO: dict[str, tuple[int, ...]] = {
    "5x8": (0x00, 0x20, 0x50, 0x70, 0x50, 0x50, 0x20, 0x00),
    "6x12": (0x00, 0x00, 0x00, 0x30, 0x48, 0x48, 0x78, 0x48, 0x48, 0x30, 0x00, 0x00),
    "8x13": (0x00, 0x00, 0x18, 0x24, 0x42, 0x4A, 0x52, 0x62, 0x42, 0x24, 0x18, 0x00, 0x00),
}
"""Digit zero told apart from O, one byte a row; UNSCII's own zero is distinct already."""

_CUT_OUT_OF = {ord(mark): ord(digit) for mark, digit in zip(SPACE_DIGITS, "0123456789", strict=True)}
_CUT_OUT_OF |= {ord(TAB): 0x2192, ord(CONTINUES): ord(CONTINUES)}

_SMALL_HEX = "75557 26227 71747 71717 55711 74717 74757 71222 75757 75717 25755 65656 34443 65556 74747 74744"
"""Hex digits 0 to F of 3 × 5 px, one octal digit a row."""


@dataclass(frozen=True, slots=True)
class Pen:
    """Draws for one font and cell; `cell` is (width, height) in px, `slashed` chooses the zero."""

    font: str
    cell: tuple[int, int]
    slashed: bool = True

    def narrow(self, codes: NDArray[np.uint32], *, octavo: bool = True) -> Bitmaps:
        """Draw one-cell characters; without `octavo` a character the font lacks stays blank, as in the seed."""
        out = self._characters(codes, octavo=octavo)
        if octavo:
            for mark, base in _CUT_OUT_OF.items():
                if (where := codes == mark).any():
                    out[where] = ~self._characters(np.array([base], np.uint32), octavo=True)[0]
        out[codes == ord(NEWLINE)] = True
        return out

    def _characters(self, codes: NDArray[np.uint32], *, octavo: bool) -> Bitmaps:
        width, height = self.cell
        out = np.zeros((len(codes), height, width), bool)
        missing = self._draw_from(NATIVE[self.font], codes, out)
        if self.slashed and self.font in _SLASHED_ZERO:
            out[codes == ord("0")] = self._zero()
        if octavo:
            for name in NARROW_FALLBACKS:
                if missing.any():
                    some = np.flatnonzero(missing)
                    part = np.zeros((len(some), height, width), bool)
                    missing[some] = self._draw_from(name, codes[some], part)
                    out[some] = part
        return out

    def wide(self, codes: NDArray[np.uint32]) -> Bitmaps:
        """Draw full-width characters over two cells."""
        width, height = 2 * self.cell[0], self.cell[1]
        out = np.zeros((len(codes), height, width), bool)
        missing = np.ones(len(codes), bool)
        fitting = [size for size in (16, 12, 10) if size <= width and size <= height] or [10]
        for size in (fitting[0], 14, *fitting[1:]):
            some = np.flatnonzero(missing)
            if not len(some):
                break
            source = table(WIDE[size])
            at = source.find(codes[some])
            found = at >= 0
            out[some[found]] = _fit(source.bitmaps(at[found]), width, height)
            missing[some] = ~found
        for where in np.flatnonzero(missing):
            out[where] = code_box(int(codes[where]), width, height)
        return out

    def halves(self, codes: NDArray[np.uint32]) -> tuple[Bitmaps, Bitmaps]:
        """Draw full-width characters as left and right cells."""
        both = self.wide(codes)
        return both[:, :, : self.cell[0]], both[:, :, self.cell[0] :]

    def _draw_from(self, name: str, codes: NDArray[np.uint32], out: Bitmaps) -> NDArray[np.bool_]:
        """Draw what the table has; return the mask of what it lacks."""
        source = table(name)
        at = source.find(codes)
        found = at >= 0
        if found.any():
            glyphs = source.bitmaps(at[found])
            own = name == NATIVE[self.font]
            out[found] = _place(glyphs, self.cell, 0, 0) if own else _fit(glyphs, *self.cell)
        return ~found

    def _zero(self) -> NDArray[np.bool_]:
        rows = np.unpackbits(np.array(_SLASHED_ZERO[self.font], np.uint8)[:, None], axis=1).astype(bool)
        zero: NDArray[np.bool_] = _place(rows[None, :, :], self.cell, 0, 0)[0]
        return zero


def is_narrow(codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Mark the characters that take one cell."""
    return narrow_lut()[codes]


def code_box(code: int, width: int, height: int) -> NDArray[np.bool_]:
    """Draw a code point as two rows of two or three hex digits, as large as the two cells allow."""
    return hex_box(f"{code:04x}" if code <= 0xFFFF else f"{code:06x}", width, height)


def hex_box(digits: str, width: int, height: int) -> NDArray[np.bool_]:
    """Draw an even number of hex digits in two rows."""
    per_row = len(digits) // 2
    pitch_x, pitch_y = width // per_row, height // 2
    if pitch_x >= 5 and pitch_y >= 8:
        glyphs = _large_digits()
    elif pitch_x >= 4 and pitch_y >= 6:
        glyphs = _small_digits()
    else:
        glyphs = _dot_digits()
    out = np.zeros((height, width), bool)
    for at, digit in enumerate(digits):
        y, x = pitch_y * (at // per_row), pitch_x * (at % per_row)
        part = glyphs[int(digit, 16)][:pitch_y, :pitch_x]
        out[y : y + part.shape[0], x : x + part.shape[1]] = part
    return out


def _large_digits() -> Bitmaps:
    source = table(NATIVE["5x8"])
    codes = np.array([ord(digit) for digit in "0123456789ABCDEF"], np.uint32)
    return source.bitmaps(source.find(codes))


def _small_digits() -> Bitmaps:
    """Hex digits of 3 × 5 px."""
    rows = np.array([[int(row) << 5 for row in digit] for digit in _SMALL_HEX.split()], np.uint8)
    return np.unpackbits(rows[:, :, None], axis=2)[:, :, :3].astype(bool)


def _dot_digits() -> Bitmaps:
    """Sixteen patterns of 3 × 3 px, for cells too small for digits: the number's bits in the corners, a dot between."""
    values = np.arange(16)
    out = np.zeros((16, 3, 3), bool)
    out[:, 1, 1] = True
    for bit, (y, x) in enumerate(((2, 2), (2, 0), (0, 2), (0, 0))):
        out[:, y, x] = values >> bit & 1
    return out


def _fit(glyphs: Bitmaps, width: int, height: int) -> Bitmaps:
    """Put glyphs into a cell, centred from side to side; shrink them by area where they are too large."""
    rows, cols = glyphs.shape[1:]
    if rows > height or cols > width:
        rows, cols = min(rows, height), min(cols, width)
        down, across = _area_weights(glyphs.shape[1], rows), _area_weights(glyphs.shape[2], cols)
        glyphs = down @ glyphs.astype(np.float32) @ across.T >= _COVERAGE
    return _place(glyphs, (width, height), (width - cols) // 2, 0)


def _place(glyphs: Bitmaps, cell: tuple[int, int], x: int, y: int) -> Bitmaps:
    width, height = cell
    out = np.zeros((len(glyphs), height, width), bool)
    rows, cols = min(height - y, glyphs.shape[1]), min(width - x, glyphs.shape[2])
    out[:, y : y + rows, x : x + cols] = glyphs[:, :rows, :cols]
    return out


def _area_weights(source: int, target: int) -> NDArray[np.float32]:
    """Weights that average `source` samples into `target` by the area they share."""
    edges = np.arange(target + 1) * source / target
    pixels = np.arange(source)
    low, high = np.maximum(edges[:-1, None], pixels), np.minimum(edges[1:, None], pixels + 1)
    weights: NDArray[np.float32] = (np.clip(high - low, 0, None) * target / source).astype(np.float32)
    return weights
