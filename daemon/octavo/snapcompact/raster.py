"""Turn a grid of cells into the packed scanlines of an indexed PNG (snapcompact.md §6, §14.4).

Every glyph row is one integer; a row of cells is a gather of such integers, joined until they fill whole bytes. One
way of joining serves all cell widths and depths. Resampled shapes are `stretch`'s.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from octavo.snapcompact.atlas import atlas_for, page_masks
from octavo.snapcompact.cells import Grid
from octavo.snapcompact.glyphs import Pen
from octavo.snapcompact.ink import BAND, PALETTE, WHITE
from octavo.snapcompact.shapes import Shape

_SLOTS = len(PALETTE)
_BLOCK_GROUPS = 1 << 15
_MACHINE_WORDS: dict[int, np.dtype[Any]] = {8: np.dtype(np.uint8), 16: np.dtype(">u2"), 32: np.dtype(">u4")}
"""Cells of whole bytes need no joining: those 8 px wide at every depth."""


@dataclass(frozen=True, slots=True)
class Raster:
    """An indexed image: `scanlines` (height, 1 + bytes per row) with filter bytes, bit `depth`, palette slots used."""

    scanlines: NDArray[np.uint8]
    depth: int
    slots: tuple[int, ...]


def rasterize(grid: Grid, shape: Shape, size: int, *, slashed: bool, octavo: bool, check: Callable[[], None]) -> Raster:
    """Draw a grid at `size` px width.

    Args:
        grid: Cells of the rows in use.
        shape: Cell size, repeat and font; not a resampled one.
        size: Image width in px.
        slashed: Which digit zero.
        octavo: Whether characters the font lacks come from other tables.
        check: Called between pieces of work; raises to stop.
    """
    pen = Pen(shape.font, (shape.cell_width, shape.cell_height), slashed)
    atlas, glyphs = atlas_for(pen, grid.codes, octavo=octavo)
    drawn = grid.slots[atlas.has_ink[glyphs]]
    used = np.bincount(drawn, minlength=_SLOTS) > 0
    used[WHITE] = True
    used[BAND] |= shape.line_repeat > 1
    slots = np.flatnonzero(used)
    depth = 1 if len(slots) <= 2 else 2 if len(slots) <= 4 else 4
    masks = page_masks(pen, atlas, depth, octavo=octavo)
    index_of = np.zeros(_SLOTS, np.uint64)
    index_of[slots] = np.arange(len(slots))
    inks = [int(slot) for slot in slots if slot not in (WHITE, BAND)] or [WHITE]
    ink_at = np.zeros(_SLOTS, np.int64)
    ink_at[inks] = np.arange(len(inks))
    keys = glyphs + ink_at[grid.slots] * len(masks)
    rows = len(grid.codes)
    row_bytes = -(-size * depth // 8)
    lines = np.zeros((rows, shape.line_repeat, shape.cell_height, 1 + row_bytes), np.uint8)
    for copy in range(shape.line_repeat):
        paper = int(index_of[BAND]) if copy else 0
        if paper:
            lines[:, copy, :, 1:] = sum(paper << at for at in range(0, 8, depth))
        words = _inked(masks, [int(index_of[ink]) for ink in inks], paper, shape.cell_width, depth)
        packer = _Packer(shape.cell_width * depth, keys)
        for top in range(0, shape.cell_height, packer.block):
            check()
            packed = packer.pack(words[top : top + packer.block])[:, :, :row_bytes]
            lines[:, copy, top : top + packer.block, 1 : 1 + packed.shape[2]] = packed.swapaxes(0, 1)
    return Raster(lines.reshape(-1, 1 + row_bytes), depth, tuple(int(slot) for slot in slots))


def _inked(masks: NDArray[np.uint64], inks: list[int], paper: int, width: int, depth: int) -> NDArray[np.uint64]:
    """Colour the glyph rows in every ink: shape (rows, inks × glyphs)."""
    full = np.uint64(sum(1 << at for at in range(0, width * depth, depth)))
    background = (full - masks) * np.uint64(paper)
    coloured = [masks * np.uint64(ink) + background for ink in inks]
    return np.ascontiguousarray(np.concatenate(coloured).T)


class _Packer:
    """Joins cells of `bits` bits, group by group of whole bytes; `keys` (rows, cols) choose the cells' words."""

    def __init__(self, bits: int, keys: NDArray[np.int64]) -> None:
        self.bits = bits
        self.per_group = 8 // gcd(bits, 8)
        self.group_bits = self.per_group * bits
        rows, cols = keys.shape
        self.groups = -(-cols // self.per_group)
        self.block = max(1, _BLOCK_GROUPS // (rows * self.groups))
        padded = np.zeros((rows, self.groups * self.per_group), np.int64)
        padded[:, :cols] = keys
        self.keys = [np.ascontiguousarray(padded[:, at :: self.per_group]) for at in range(self.per_group)]

    def pack(self, words: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Return the bytes of some pixel rows of every text row: (pixel rows, text rows, bytes)."""
        shape = (len(words), *self.keys[0].shape)
        if self.per_group == 1 and self.bits in _MACHINE_WORDS:
            cells = np.take(words.astype(_MACHINE_WORDS[self.bits]), self.keys[0], axis=1, mode="clip")
            packed: NDArray[np.uint8] = cells.view(np.uint8).reshape(*shape[:2], -1)
            return packed
        high, low = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
        high_bits = min(64, self.group_bits)
        low_bits = self.group_bits - high_bits
        for at, keys in enumerate(self.keys):
            word = np.take(words, keys, axis=1, mode="clip")
            end = (at + 1) * self.bits
            if end <= high_bits:
                high |= word << np.uint64(high_bits - end)
            elif end - self.bits >= high_bits:
                low |= word << np.uint64(self.group_bits - end)
            else:
                over = end - high_bits
                high |= word >> np.uint64(over)
                low |= (word & np.uint64((1 << over) - 1)) << np.uint64(self.group_bits - end)
        parts = [_big_endian(high, high_bits // 8)]
        if low_bits:
            parts.append(_big_endian(low, low_bits // 8))
        return np.concatenate(parts, axis=3).reshape(*shape[:2], -1)


def _big_endian(words: NDArray[np.uint64], count: int) -> NDArray[np.uint8]:
    """Return the `count` lowest bytes of every word, highest first."""
    return words.astype(">u8").view(np.uint8).reshape(*words.shape, 8)[..., 8 - count :]
