"""Measure text in cells with numpy: how wide every character is, and where rows and pages of a grid begin.

`layout` asks here only for text that needs it; plain Latin-1 text without toggles is measured by its length.
"""

import numpy as np
from numpy.typing import NDArray

from octavo.snapcompact.fonts import narrow_lut
from octavo.snapcompact.marks import DIM_OFF, DIM_ON, is_narrow_only


def code_points(text: str) -> NDArray[np.uint32]:
    """Return the text as an array of code points; lone surrogates stay what they are."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def toggle_mask(codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Mark the dim toggles, which are drawn as nothing."""
    mask: NDArray[np.bool_] = (codes == ord(DIM_ON)) | (codes == ord(DIM_OFF))
    return mask


def cell_widths(text: str) -> NDArray[np.int32]:
    """Cells of every character: 0 for a toggle, 2 for a full-width character, else 1."""
    codes = code_points(text)
    widths = np.ones(len(codes), np.int32)
    if not is_narrow_only(text):
        widths[~narrow_lut()[codes]] = 2
    widths[toggle_mask(codes)] = 0
    return widths


def row_starts(widths: NDArray[np.int32], cols: int) -> list[int]:
    """Return the index of the first character of every row of `cols` cells; no full-width character is cut."""
    ends = np.cumsum(widths, dtype=np.int64)
    starts = []
    at = done = 0
    while at < len(widths):
        starts.append(at)
        following = int(np.searchsorted(ends, done + cols, side="right"))
        at = max(following, at + 1)
        done = int(ends[at - 1])
    return starts


def page_cuts(text: str, cols: int, rows: int) -> list[int]:
    """Return where pages of `cols` × `rows` cells begin, and the length of the text at the end."""
    widths = cell_widths(text)
    if len(widths) and widths.max() > 1:
        return [*row_starts(widths, cols)[::rows], len(text)]
    ends = np.cumsum(widths, dtype=np.int64)
    pages = -(-int(ends[-1]) // (cols * rows))
    inner = np.searchsorted(ends, np.arange(1, pages) * (cols * rows), side="right")
    return [0, *inner.tolist(), len(text)]
