"""Which colour every character of a page gets (snapcompact.md §6): palette slots, sentence hues, dim words."""

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from octavo.snapcompact.marks import CUT_OUT, DIM_OFF, DIM_ON, NEWLINE

PALETTE: Final = (
    (0xFF, 0xFF, 0xFF),
    (0x6D, 0x02, 0x02),
    (0x6D, 0x35, 0x02),
    (0x18, 0x6D, 0x02),
    (0x02, 0x6D, 0x6D),
    (0x02, 0x20, 0x6D),
    (0x4B, 0x02, 0x6D),
    (0x00, 0x00, 0x00),
    (0xFF, 0xF7, 0xC2),
    (0x80, 0x80, 0x80),
)
"""RGB by slot: white, six sentence hues, black, repeat band, dim gray."""

WHITE, FIRST_HUE, BLACK, BAND, GRAY = 0, 1, 7, 8, 9
HUES: Final = 6

_STOPWORD_LIST = (
    "the a an and or of to in on at as is are was were be been by for with that this it its from had has have not but "
    "he she his her they their them which also who whom when where while will would could should there then than into "
    "over under about after before between during each such these those some most more other only same so"
)
_STOPWORDS = frozenset(_STOPWORD_LIST.split())
_WORD_OR_TOGGLE = re.compile(f"[{DIM_ON}{DIM_OFF}]|[A-Za-z\xc0-\xd6\xd8-\xf6\xf8-\xff]+")
_ENDS = np.array([ord(char) for char in ".!?"], np.uint32)
_BREAKS = {
    "seed": np.array([ord(char) for char in " " + NEWLINE], np.uint32),
    "octavo": np.array([ord(char) for char in " " + NEWLINE + CUT_OUT], np.uint32),
}


def dim_stopwords(page: str) -> str:
    """Wrap every stopword outside a dim span in dim toggles; the visible text does not change."""
    dim = False

    def wrap_stopword(found: re.Match[str]) -> str:
        nonlocal dim
        if found[0] in (DIM_ON, DIM_OFF):
            dim = found[0] == DIM_ON
            return found[0]
        return f"{DIM_ON}{found[0]}{DIM_OFF}" if not dim and found[0].lower() in _STOPWORDS else found[0]

    return _WORD_OR_TOGGLE.sub(wrap_stopword, page)


def sentence_slots(codes: NDArray[np.uint32], *, lines: bool, layout: str) -> NDArray[np.uint8]:
    """Return the hue slot of every raw code point: the hue moves on after `.`, `!` or `?` before a space or newline.

    Args:
        codes: The page with its toggles, which stand between a terminator and its space.
        lines: Whether the page is a doc page, where a line end also ends a sentence.
        layout: "seed" or "octavo", which counts its marks as space.
    """
    following = np.isin(codes[1:], _BREAKS[layout])
    if lines:
        following |= codes[1:] == ord("\n")
    ended = np.zeros(len(codes), np.int64)
    ended[1:] = np.isin(codes[:-1], _ENDS) & following
    return (FIRST_HUE + np.cumsum(ended) % HUES).astype(np.uint8)
