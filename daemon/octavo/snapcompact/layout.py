"""Break normalised text into pages of one frame each (snapcompact.md §2).

Two layouts: the seed's, where dim toggles use up page cells and every character is one cell wide, and octavo's, where
toggles are free, full-width characters take two cells, and each page carries its own dim state. Drawing is `cells`'s
and `raster`'s business.
"""

import re
from itertools import pairwise
from typing import Literal

from octavo.snapcompact.marks import CONTINUES, DIM_OFF, DIM_ON, NEWLINE, is_narrow_only
from octavo.snapcompact.normalize_seed import SPACES, join_surrogates
from octavo.snapcompact.shapes import Shape, check_frame_size

Layout = Literal["octavo", "seed"]

_JS_SPACE = re.compile(f"[{SPACES}]+")
_SINGLE_SPACE = re.compile("(?<! ) (?! )")
_TOGGLES = re.compile(f"[{DIM_ON}{DIM_OFF}]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def paginate(text: str, shape: Shape, size: int | None = None, layout: Layout = "octavo") -> list[str]:
    """Cut normalised text into the texts of successive frames.

    Grid pages are contiguous pieces of the text; a page of a doc shape holds its wrapped lines joined by newlines.
    In the octavo layout a page that begins inside a dim span begins with its own DIM_ON.

    Args:
        text: What `normalize` (octavo) or `normalize_seed` (seed) returned.
        shape: Cell size and columns.
        size: Frame size in px; the shape's own when None.
        layout: Whose rules to follow.

    Raises:
        OctavoError: `invalid-params` for a frame size that cannot be drawn.
    """
    check_frame_size(shape, shape.frame_size if size is None else size)
    if not text.strip(f" {NEWLINE}{DIM_ON}{DIM_OFF}"):
        return []
    if shape.columns == 2:
        per_page = 2 * shape.rows(size)
        lines = wrap(text, shape.cols(size)) if layout == "seed" else wrap_cells(text, shape.cols(size))
        pages = ["\n".join(lines[at : at + per_page]) for at in range(0, len(lines), per_page)]
    elif layout == "seed":
        pages = _utf16_slices(text, shape.capacity(size))
    else:
        pages = _cell_pages(text, shape.cols(size), shape.rows(size))
    return pages if layout == "seed" else _reopen_dim(pages)


def visible_chars(page: str) -> int:
    """Count the characters of a page that are drawn: no toggles, no line ends of the doc layout."""
    return len(page) - sum(page.count(hidden) for hidden in (DIM_ON, DIM_OFF, "\n", CONTINUES))


def ends_dim(text: str, *, dim: bool = False) -> bool:
    """Whether a dim span is open after the text, given whether one was open before it."""
    on, off = text.rfind(DIM_ON), text.rfind(DIM_OFF)
    return dim if on == off else on > off


def wrap(text: str, width: int) -> list[str]:
    """Fill lines of `width` UTF-16 units greedily, as the seed does (snapcompact.md §2.2); toggles count."""
    if _ASTRAL.search(text):
        return [join_surrogates(line) for line in wrap(_split_astral(text), width)]
    lines: list[str] = []
    current = ""
    for word in filter(None, _JS_SPACE.split(text)):
        if current and len(current) + 1 + len(word) <= width:
            current = f"{current} {word}"
            continue
        if current:
            lines.append(current)
        whole = max(0, len(word) - 1) // width * width
        lines.extend(word[at : at + width] for at in range(0, whole, width))
        current = word[whole:]
    if current:
        lines.append(current)
    return lines


def wrap_cells(text: str, width: int) -> list[str]:
    """Fill lines of `width` cells greedily; a cut inside a word ends its line with the continuation mark.

    Lines break at single spaces; longer runs stay within a line. Joining the lines with single spaces, and without a
    space after the mark, gives the text back.
    """
    plain = not _TOGGLES.search(text) and is_narrow_only(text)
    lines: list[str] = []
    current, filled = "", 0
    for word in _SINGLE_SPACE.split(text):
        cells = len(word) if plain else count_cells(word)
        if current and filled + 1 + cells <= width:
            current, filled = f"{current} {word}", filled + 1 + cells
            continue
        if current:
            lines.append(current)
        current, filled = word, cells
        if cells > width:
            *cut, current = _cut_word(word, width)
            lines.extend(cut)
            filled = count_cells(current)
    if current:
        lines.append(current)
    return lines


def count_cells(text: str) -> int:
    """Cells the text takes on an endless line: 0 for a toggle, 2 for a full-width character, else 1."""
    visible = _TOGGLES.sub("", text)
    if is_narrow_only(visible):
        return len(visible)
    from octavo.snapcompact.widths import cell_widths  # noqa: PLC0415 - loads numpy

    return int(cell_widths(visible).sum())


def _cell_pages(text: str, cols: int, rows: int) -> list[str]:
    if is_narrow_only(text) and not _TOGGLES.search(text):
        capacity = cols * rows
        return [text[at : at + capacity] for at in range(0, len(text), capacity)]
    from octavo.snapcompact.widths import page_cuts  # noqa: PLC0415 - loads numpy

    return [text[start:end] for start, end in pairwise(page_cuts(text, cols, rows))]


def _reopen_dim(pages: list[str]) -> list[str]:
    dim = False
    reopened = []
    for page in pages:
        reopened.append(DIM_ON + page if dim else page)
        dim = ends_dim(page, dim=dim)
    return reopened


def _cut_word(word: str, width: int) -> list[str]:
    """Cut a word longer than a line into pieces of at most `width` cells, all but the last with the mark."""
    from octavo.snapcompact.widths import cell_widths, row_starts  # noqa: PLC0415 - loads numpy

    room = max(1, width - 1)
    starts = row_starts(cell_widths(word), room)
    pieces = [word[start:end] for start, end in zip(starts, [*starts[1:], len(word)], strict=True)]
    return [piece + CONTINUES for piece in pieces[:-1]] + pieces[-1:]


def _utf16_slices(text: str, capacity: int) -> list[str]:
    if _ASTRAL.search(text):
        return [join_surrogates(page) for page in _utf16_slices(_split_astral(text), capacity)]
    return [text[at : at + capacity] for at in range(0, len(text), capacity)]


def _split_astral(text: str) -> str:
    """Spell every astral character as its two surrogate halves, so that indices count UTF-16 units."""

    def halves(found: re.Match[str]) -> str:
        offset = ord(found[0]) - 0x10000
        return chr(0xD800 + (offset >> 10)) + chr(0xDC00 + (offset & 0x3FF))

    return _ASTRAL.sub(halves, text)
