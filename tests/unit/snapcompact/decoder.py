"""Read frames back from their pixels alone, cell by cell.

The decoder knows the shape, the fonts and the palette's meaning, not the text. It compares every cell with the bitmaps
of all characters; characters that share a bitmap (twins) are read as the first of them, so callers compare against
`Reader.canonical(text)`.
"""

import io
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from octavo.snapcompact.cells import PAD
from octavo.snapcompact.fonts import NARROW_FALLBACKS, WIDE, narrow_lut, table
from octavo.snapcompact.glyphs import Pen, hex_box
from octavo.snapcompact.ink import BAND, GRAY, PALETTE
from octavo.snapcompact.marks import CONTINUES, CUT_OUT, DIM_OFF, DIM_ON, NEWLINE
from octavo.snapcompact.shapes import GUTTER_CELLS, Shape

Cell = tuple[str, bool]
"""A character and whether it is gray; a blank cell is not gray."""


class Reader:
    """Reads frames of one shape and zero."""

    def __init__(self, shape: Shape, *, slashed: bool = True) -> None:
        assert not shape.resampled
        self.shape = shape
        self.cell = (shape.cell_width, shape.cell_height)
        self.narrow, self.wide, self.first = _alphabet(Pen(shape.font, self.cell, slashed))

    def canonical(self, text: str) -> str:
        """Replace every character by the first of its twins."""
        return "".join(self.first.get(char, char) for char in text)

    def read(self, png: bytes, size: int) -> list[Cell]:
        """Return the cells of a grid frame in order; of a doc frame, the words of its lines joined again."""
        with Image.open(io.BytesIO(png)) as image:
            pixels = np.array(image.convert("RGB"))
        ink = self._ink(pixels)
        gray = (pixels == PALETTE[GRAY]).all(axis=2)
        if self.shape.columns == 1:
            return [cell for row in self._rows(ink, gray, 0, size // self.cell[0]) for cell in row]
        width = self.shape.cols(size)
        lines = [
            line
            for first in (0, width + GUTTER_CELLS)
            for line in self._rows(ink, gray, first, width)
            if any(char != " " for char, _ in line)
        ]
        return _join_lines(lines)

    def _ink(self, pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
        paper = (pixels == PALETTE[0]).all(axis=2) | (pixels == PALETTE[BAND]).all(axis=2)
        return ~paper

    def _rows(self, ink: NDArray[np.bool_], gray: NDArray[np.bool_], first: int, cols: int) -> list[list[Cell]]:
        width, height = self.cell
        pitch = height * self.shape.line_repeat
        rows = []
        for top in range(0, len(ink), pitch):
            for copy in range(1, self.shape.line_repeat):
                below = ink[top + copy * height : top + (copy + 1) * height]
                assert np.array_equal(below, ink[top : top + height]), "the copies of a row differ"
            band = ink[top : top + height, first * width : (first + cols) * width]
            dim = gray[top : top + height, first * width : (first + cols) * width]
            rows.append(self._row(_cells(band, width), _cells(dim, width)))
        return rows

    def _row(self, cells: NDArray[np.bool_], dims: NDArray[np.bool_]) -> list[Cell]:
        row: list[Cell] = []
        at = 0
        while at < len(cells):
            alone = self.narrow.get(cells[at].tobytes())
            both = self._full_width(cells[at : at + 2]) if at + 1 < len(cells) else None
            char = both or alone
            assert char is not None, f"a cell shows no known character:\n{_picture(cells[at])}"
            width = 2 if both else 1
            dim = bool(dims[at : at + width].any())
            at += width
            if char != chr(PAD):
                row.append((char, dim))
        return row

    def _full_width(self, pair: NDArray[np.bool_]) -> str | None:
        """Read two cells as one character, unless they are also two characters (then they are read as those)."""
        if all(cell.tobytes() in self.narrow for cell in pair):
            return None
        joined = np.concatenate(pair, axis=1)
        return self.wide.get(joined.tobytes()) or _read_box(joined)


def cells_of(page: str) -> list[Cell]:
    """What a reader should see of a page: its characters, and which inked ones are gray."""
    dim = False
    cells: list[Cell] = []
    for char in page:
        if char in (DIM_ON, DIM_OFF):
            dim = char == DIM_ON
        else:
            cells.append((char, dim and char not in (" ", NEWLINE, *CUT_OUT)))
    return cells


def _picture(cell: NDArray[np.bool_]) -> str:
    return "\n".join("".join(".#"[int(pixel)] for pixel in line) for line in cell)


def _cells(band: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
    height = len(band)
    return np.ascontiguousarray(band.reshape(height, -1, width).swapaxes(0, 1))


def _join_lines(lines: list[list[Cell]]) -> list[Cell]:
    out: list[Cell] = []
    for line in lines:
        while line[-1][0] == " ":
            line.pop()
        if out and out[-1][0] == CONTINUES:
            out.pop()
        elif out:
            out.append((" ", False))
        out += line
    return out


@cache
def _alphabet(pen: Pen) -> tuple[dict[bytes, str], dict[bytes, str], dict[str, str]]:
    """Bitmaps of all one-cell and all full-width characters, and the first twin of every character that has one."""
    lut = narrow_lut()
    codes = {*range(0x20, 0x7F), *range(0xA0, 0x100), *map(ord, NEWLINE + CUT_OUT)}
    wide_codes: set[int] = set()
    for name in NARROW_FALLBACKS:
        codes |= set(table(name).codes.tolist())
    for name in WIDE.values():
        wide_codes |= {code for code in table(name).codes.tolist() if not lut[code]}
    narrow: dict[bytes, str] = {}
    wide: dict[bytes, str] = {}
    first: dict[str, str] = {}
    marks = [ord(mark) for mark in NEWLINE + CUT_OUT]
    for book, members, draw in (
        (narrow, [*marks, *sorted(codes - set(marks))], pen.narrow),
        (wide, sorted(wide_codes), pen.wide),
    ):
        for code, bitmap in zip(members, draw(np.array(members, np.uint32)), strict=True):
            char = book.setdefault(bitmap.tobytes(), chr(code))
            if char != chr(code):
                first[chr(code)] = char
    pad = np.zeros((pen.cell[1], pen.cell[0]), bool)
    pad[-1, [0, -1]] = True
    assert pad.tobytes() not in narrow
    narrow[pad.tobytes()] = chr(PAD)
    for bitmap_bytes, char in wide.items():
        halves = np.frombuffer(bitmap_bytes, bool).reshape(pen.cell[1], -1)
        left, right = halves[:, : pen.cell[0]], halves[:, pen.cell[0] :]
        if (a := narrow.get(left.tobytes())) is not None and (b := narrow.get(right.tobytes())) is not None:
            first[char] = a + b
    return narrow, wide, first


def _read_box(pair: NDArray[np.bool_]) -> str | None:
    """Read a box of hex digits, digit by digit."""
    height, width = pair.shape
    for count in (4, 6):
        digits = ""
        while len(digits) < count:
            fits = [digit for digit in "0123456789abcdef" if _digit_fits(pair, digits + digit, count)]
            if len(fits) != 1:
                break
            digits += fits[0]
        else:
            if np.array_equal(hex_box(digits, width, height), pair):
                return chr(int(digits, 16))
    return None


def _digit_fits(pair: NDArray[np.bool_], digits: str, count: int) -> bool:
    """Whether the last of the digits is what the box shows at its place."""
    height, width = pair.shape
    per_row, at = count // 2, len(digits) - 1
    y, x = height // 2 * (at // per_row), width // per_row * (at % per_row)
    part = (slice(y, y + height // 2), slice(x, x + width // per_row))
    return np.array_equal(hex_box(digits.ljust(count, "0"), width, height)[part], pair[part])
