"""Glyphs of one font and cell size, ready to be gathered: bitmaps and packed rows of every character a page uses.

The Latin-1 characters and octavo's marks are drawn once per font and cell; other characters are drawn for the page
that shows them.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from octavo.snapcompact.cells import CODE_MASK, LEFT_HALF, PAD, RIGHT_HALF
from octavo.snapcompact.glyphs import Bitmaps, Pen
from octavo.snapcompact.marks import CUT_OUT, NEWLINE

_BASE_CODES = [*range(0x100), *(ord(mark) for mark in NEWLINE + CUT_OUT)]
_LUT_SIZE = max(_BASE_CODES) + 2
_UNKNOWN = 0xFFFF


@dataclass(frozen=True, slots=True)
class Atlas:
    """Bitmaps of shape (glyphs, rows, columns); glyph 0 is blank. `has_ink` marks glyphs that draw something."""

    bitmaps: Bitmaps
    has_ink: NDArray[np.bool_]

    def masks(self, depth: int) -> NDArray[np.uint64]:
        """Return every glyph row as one integer: `depth` bits a pixel, leftmost pixel highest, 1 where there is ink."""
        width = self.bitmaps.shape[2]
        weights = np.uint64(1) << (np.arange(width - 1, -1, -1, dtype=np.uint64) * np.uint64(depth))
        masks: NDArray[np.uint64] = (self.bitmaps * weights).sum(axis=2, dtype=np.uint64)
        return masks


def atlas_for(pen: Pen, codes: NDArray[np.uint32], *, octavo: bool) -> tuple[Atlas, NDArray[np.int64]]:
    """Return the glyphs of a grid of codes and the glyph index of every cell."""
    base, lut = _base(pen, octavo)
    indices = lut[np.minimum(codes, _LUT_SIZE - 1)].astype(np.int64)
    unknown = indices == _UNKNOWN
    if not unknown.any():
        return base, indices
    extra, inverse = np.unique(codes[unknown], return_inverse=True)
    drawn = _draw(pen, extra, octavo=octavo)
    indices[unknown] = len(base.bitmaps) + inverse
    bitmaps = np.concatenate((base.bitmaps, drawn))
    return Atlas(bitmaps, np.concatenate((base.has_ink, _has_ink(drawn)))), indices


@lru_cache(maxsize=32)
def base_masks(pen: Pen, depth: int, *, octavo: bool) -> NDArray[np.uint64]:
    """Return `Atlas.masks` of the characters that are always there."""
    return _base(pen, octavo)[0].masks(depth)


def page_masks(pen: Pen, atlas: Atlas, depth: int, *, octavo: bool) -> NDArray[np.uint64]:
    """Return `atlas.masks(depth)`, taking the ones that are always there from the cache."""
    known = base_masks(pen, depth, octavo=octavo)
    if len(atlas.bitmaps) == len(known):
        return known
    return np.concatenate((known, Atlas(atlas.bitmaps[len(known) :], atlas.has_ink).masks(depth)))


@lru_cache(maxsize=16)
def _base(pen: Pen, octavo: bool) -> tuple[Atlas, NDArray[np.uint16]]:
    codes = np.array(_BASE_CODES, np.uint32)
    bitmaps = pen.narrow(codes, octavo=octavo)
    bitmaps[:0x20] = False
    bitmaps[PAD, -1, [0, -1]] = True
    lut = np.full(_LUT_SIZE, _UNKNOWN, np.uint16)
    lut[codes] = np.arange(len(codes))
    return Atlas(bitmaps, _has_ink(bitmaps)), lut


def _has_ink(bitmaps: Bitmaps) -> NDArray[np.bool_]:
    inked: NDArray[np.bool_] = np.any(bitmaps, axis=(1, 2))
    return inked


def _draw(pen: Pen, codes: NDArray[np.uint32], *, octavo: bool) -> Bitmaps:
    width, height = pen.cell
    out = np.zeros((len(codes), height, width), bool)
    left, right = (codes & LEFT_HALF) != 0, (codes & RIGHT_HALF) != 0
    narrow = ~(left | right)
    if narrow.any():
        out[narrow] = pen.narrow(codes[narrow], octavo=octavo)
    if left.any():
        out[left] = pen.halves(codes[left] & CODE_MASK)[0]
    if right.any():
        out[right] = pen.halves(codes[right] & CODE_MASK)[1]
    return out
