"""Set a page into a grid of cells: which character and which ink each cell has (snapcompact.md §2, §6).

This is the last step that knows text; `raster` turns the grid into pixels.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octavo.snapcompact.glyphs import is_narrow
from octavo.snapcompact.ink import BLACK, GRAY, WHITE, sentence_slots
from octavo.snapcompact.layout import Layout
from octavo.snapcompact.marks import CONTINUES, CUT_OUT, DIM_ON, NEWLINE, is_narrow_only
from octavo.snapcompact.shapes import GUTTER_CELLS, Shape
from octavo.snapcompact.widths import code_points, row_starts, toggle_mask

RIGHT_HALF = 1 << 24
"""Added to a code point: this cell shows the right half of the full-width character to its left."""

LEFT_HALF = 1 << 25
"""Added to a code point: this cell shows its left half."""

CODE_MASK = RIGHT_HALF - 1

PAD = 1
"""Fills the last cell of a row, or of a full frame, whose next character is full-width and does not fit; two dots tell
it from a space."""

LATIN_1 = 0xFF

_BLOCKS = np.array([ord(mark) for mark in NEWLINE + CUT_OUT], np.uint32)


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of the rows in use: `codes` (0 is a blank cell) and `slots` (palette slot of the ink), both (rows, cols).

    `chars` counts the characters drawn.
    """

    codes: NDArray[np.uint32]
    slots: NDArray[np.uint8]
    chars: int


def set_page(page: str, shape: Shape, size: int, layout: Layout) -> Grid:
    """Set one page; what does not fit the frame is left out."""
    codes = code_points(page)
    slots = _ink(codes, shape, layout)
    shown = ~toggle_mask(codes)
    if not shown.all():
        codes, slots = codes[shown], slots[shown]
    if shape.columns == 2:
        rows, cols, codes, slots, used = _doc_positions(page, codes, slots, shape, size, layout)
    else:
        rows, cols, codes, slots, used = _grid_positions(page, codes, slots, shape, size, layout)
    grid_cols = size // shape.cell_width
    grid_codes = np.zeros((used, grid_cols), np.uint32)
    grid_slots = np.full((used, grid_cols), WHITE, np.uint8)
    wide = _wide(codes, page, layout)
    grid_slots[rows, cols] = slots
    if layout == "octavo" and len(rows) and rows[-1] + 1 == shape.rows(size) and shape.columns == 1:
        end = int(cols[-1]) + (2 if wide is not None and wide[-1] else 1)
        if end + 1 == grid_cols:
            grid_codes[-1, -1], grid_slots[-1, -1] = PAD, slots[-1]
    if wide is None:
        grid_codes[rows, cols] = codes
    else:
        grid_codes[rows, cols] = np.where(wide, codes | LEFT_HALF, codes)
        last = np.flatnonzero(np.diff(rows) > 0) if shape.columns == 1 else np.zeros(0, np.int64)
        short = last[cols[last] + np.where(wide[last], 2, 1) < grid_cols]
        grid_codes[rows[short], grid_cols - 1] = PAD
        grid_slots[rows[short], grid_cols - 1] = slots[short]
        room = wide & (cols + 1 < grid_cols)
        grid_codes[rows[room], cols[room] + 1] = codes[room] | RIGHT_HALF
        grid_slots[rows[room], cols[room] + 1] = slots[room]
    return Grid(grid_codes, grid_slots, len(codes) - int(np.count_nonzero(codes == ord(CONTINUES))))


_Positions = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint8], int]


def _ink(codes: NDArray[np.uint32], shape: Shape, layout: Layout) -> NDArray[np.uint8]:
    if shape.ink == "sent":
        slots = sentence_slots(codes, lines=shape.columns == 2, layout=layout)
    else:
        slots = np.full(len(codes), BLACK, np.uint8)
    toggles = toggle_mask(codes)
    if toggles.any():
        at = np.maximum.accumulate(np.where(toggles, np.arange(len(codes)), 0))
        slots[codes[at] == ord(DIM_ON)] = GRAY
    beyond = np.flatnonzero(codes > LATIN_1)
    blocks = _BLOCKS if layout == "octavo" else _BLOCKS[:1]
    slots[beyond[np.isin(codes[beyond], blocks)]] = BLACK
    return slots


def _wide(codes: NDArray[np.uint32], page: str, layout: Layout) -> NDArray[np.bool_] | None:
    if layout == "seed" or is_narrow_only(page):
        return None
    return ~is_narrow(codes)


def _grid_positions(
    page: str, codes: NDArray[np.uint32], slots: NDArray[np.uint8], shape: Shape, size: int, layout: Layout
) -> _Positions:
    cols, rows = shape.cols(size), shape.rows(size)
    wide = _wide(codes, page, layout)
    if wide is None:
        codes, slots = codes[: cols * rows], slots[: cols * rows]
        row, col = np.divmod(np.arange(len(codes)), cols)
    else:
        widths = np.where(wide, 2, 1).astype(np.int32)
        starts = row_starts(widths, cols)
        end = starts[rows] if len(starts) > rows else len(codes)
        codes, slots, widths = codes[:end], slots[:end], widths[:end]
        row, col = _within_lines(widths, np.array(starts[:rows], np.int64))
    return row, col, codes, slots, max(1, int(row[-1]) + 1 if len(row) else 1)


def _doc_positions(
    page: str, codes: NDArray[np.uint32], slots: NDArray[np.uint8], shape: Shape, size: int, layout: Layout
) -> _Positions:
    width, rows = shape.cols(size), shape.rows(size)
    ends = codes == ord("\n")
    lines = int(ends.sum()) + 1
    line = np.cumsum(ends)
    codes, slots, line = codes[~ends], slots[~ends], line[~ends]
    starts = np.searchsorted(line, np.arange(lines))
    wide = _wide(codes, page, layout)
    widths = np.ones(len(codes), np.int32) if wide is None else np.where(wide, 2, 1).astype(np.int32)
    before = np.concatenate(([0], np.cumsum(widths, dtype=np.int64)))
    col = before[:-1] - before[np.minimum(starts, len(codes))][line]
    fits = (col + widths <= width) & (line < 2 * rows)
    second = line >= rows
    row, col = np.where(second, line - rows, line), np.where(second, col + width + GUTTER_CELLS, col)
    return row[fits], col[fits], codes[fits], slots[fits], max(1, min(lines, rows))


def _within_lines(widths: NDArray[np.int32], starts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return row and column of every character, given the index at which each row starts."""
    before = np.concatenate(([0], np.cumsum(widths, dtype=np.int64)))
    row = np.searchsorted(starts, np.arange(len(widths)), side="right") - 1
    return row, before[:-1] - before[starts][row]
