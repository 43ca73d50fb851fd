"""Draw the resampled shapes: glyphs at their natural size, then Lanczos-3 in colour (snapcompact.md §6).

The image is made in bands of text rows, so that memory does not grow with the frame.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octavo.snapcompact.atlas import Atlas, atlas_for
from octavo.snapcompact.cells import Grid
from octavo.snapcompact.glyphs import Pen
from octavo.snapcompact.ink import BAND, PALETTE, WHITE
from octavo.snapcompact.shapes import FONT_CELLS, Shape

_LOBES = 3
_BAND_ROWS = 32
_COLOURS = np.array(PALETTE, np.float32)


@dataclass(frozen=True, slots=True)
class Taps:
    """Which source samples make each target sample, and with what weights: both (targets, taps)."""

    at: NDArray[np.int64]
    weights: NDArray[np.float32]


def lanczos_taps(source: int, target: int) -> Taps:
    """Weights of a Lanczos-3 reduction or enlargement, widened by the scale when shrinking and normalised.

    Everything is single precision and summed from left to right: so the pixels of the format were made.
    """
    one = np.float32(1)
    scale = np.float32(source) / np.float32(target)
    widened = max(scale, one)
    support = np.float32(_LOBES) * widened
    centres = (np.arange(target, dtype=np.float32) + np.float32(0.5)) * scale
    first = np.maximum((centres - support + np.float32(0.5)).astype(np.int64), 0)
    last = np.minimum((centres + support + np.float32(0.5)).astype(np.int64), source)
    at = first[:, None] + np.arange(int((last - first).max()))
    distance = (at.astype(np.float32) - centres[:, None] + np.float32(0.5)) / widened
    weights = _sinc(distance) * _sinc(distance / np.float32(_LOBES))
    weights[(np.abs(distance) >= _LOBES) | (at >= last[:, None])] = 0
    weights /= np.cumsum(weights, axis=1)[:, -1:]
    return Taps(np.minimum(at, source - 1), weights)


def _sinc(x: NDArray[np.float32]) -> NDArray[np.float32]:
    angle = x * np.float32(np.pi)
    safe = np.where(angle == 0, np.float32(1), angle)
    return np.where(angle == 0, np.float32(1), np.sin(safe) / safe).astype(np.float32)


def stretched_bands(grid: Grid, shape: Shape, size: int, *, slashed: bool, octavo: bool) -> Iterator[NDArray[np.uint8]]:
    """Yield the image from top to bottom as RGB bands of shape (rows, size, 3)."""
    natural = FONT_CELLS[shape.font]
    atlas, glyphs = atlas_for(Pen(shape.font, natural, slashed), grid.codes, octavo=octavo)
    rows, cols = grid.codes.shape
    text_rows = rows * shape.line_repeat
    height = text_rows * shape.cell_height
    across = lanczos_taps(cols * natural[0], cols * shape.cell_width)
    down = lanczos_taps(text_rows * natural[1], height)
    for top in range(0, height, _BAND_ROWS * shape.cell_height):
        band = slice(top, min(height, top + _BAND_ROWS * shape.cell_height))
        at, weights = down.at[band], down.weights[band]
        first_row, last_row = int(at.min()) // natural[1], int(at.max()) // natural[1]
        channels = _channels(grid, atlas, glyphs, shape, first_row, last_row + 1)
        resampled = _resample(channels, across, Taps(at - first_row * natural[1], weights))
        out = np.full((band.stop - band.start, size, 3), 255, np.uint8)
        out[:, : resampled.shape[2]] = np.moveaxis(resampled, 0, 2)
        yield out


def _channels(
    grid: Grid, atlas: Atlas, glyphs: NDArray[np.int64], shape: Shape, first: int, last: int
) -> NDArray[np.float32]:
    """Draw text rows `first` to `last` at natural size: (channels, px rows, px columns); one channel if all is gray."""
    copies = np.arange(first, last)
    source = copies // shape.line_repeat
    ink = atlas.bitmaps[glyphs[source]]
    slots = grid.slots[source]
    paper = np.where(copies % shape.line_repeat > 0, BAND, WHITE)
    coloured = shape.ink == "sent" or shape.line_repeat > 1
    planes = []
    for channel in range(3 if coloured else 1):
        values = _COLOURS[:, channel]
        pixels = np.where(ink, values[slots][:, :, None, None], values[paper][:, None, None, None])
        planes.append(pixels.transpose(0, 2, 1, 3).reshape(pixels.shape[0] * pixels.shape[2], -1))
    return np.stack(planes)


def _resample(channels: NDArray[np.float32], across: Taps, down: Taps) -> NDArray[np.uint8]:
    wide = np.zeros((*channels.shape[:2], len(across.at)), np.float32)
    for tap in range(across.at.shape[1]):
        wide += channels[:, :, across.at[:, tap]] * across.weights[:, tap]
    out = np.zeros((len(channels), len(down.at), wide.shape[2]), np.float32)
    for tap in range(down.at.shape[1]):
        out += wide[:, down.at[:, tap]] * down.weights[:, tap, None]
    rounded = np.clip(np.floor(out + 0.5), 0, 255).astype(np.uint8)
    return rounded if len(rounded) == 3 else np.repeat(rounded, 3, axis=0)
