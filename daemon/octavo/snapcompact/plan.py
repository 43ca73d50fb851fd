"""Decide what an archive shows after one more compaction: which old frames stay, which pages are drawn (§7.1).

The skeleton is the seed's in both layouts: old frames are carried forward unchanged, the first stays pinned, room is
made from the middle, what does not fit becomes a bounded text tail, and the next compaction folds that tail into
frames first. Pure: nothing is drawn here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from octavo.js_text import utf16_length
from octavo.snapcompact.archive import Archive, extend_source
from octavo.snapcompact.frames import FrameRecord
from octavo.snapcompact.layout import Layout, ends_dim, paginate
from octavo.snapcompact.marks import CONTINUES, DIM_OFF, DIM_ON, NEWLINE, plain_text
from octavo.snapcompact.normalize_seed import normalize_seed
from octavo.snapcompact.serialize import truncate
from octavo.snapcompact.shapes import Shape

_BEYOND_SEED = re.compile(f"[^ -~\xa0-\xff{DIM_ON}{DIM_OFF}{NEWLINE}]")
_DIGEST = "[Summary of earlier history] "
_AFTER_DIGEST = " [Recent conversation] "
_TAIL_PAGES = 2
_TAIL_HEAD_RATIO = 0.6


@dataclass(frozen=True, slots=True)
class PagePlan:
    """One way to show the archive within a number of frames.

    `kept` are old frames in order, `pages` the texts of new frames (dim spans re-opened), `tail` what follows as
    text, `dropped` the characters (UTF-16) that nothing shows any more, in all compactions together.
    """

    kept: tuple[FrameRecord, ...]
    pages: tuple[str, ...]
    tail: str | None
    dropped: int

    @property
    def frames(self) -> int:
        """Frames of the archive once the pages are drawn."""
        return len(self.kept) + len(self.pages)


@dataclass(frozen=True, slots=True)
class Material:
    """Everything a plan is made of, laid out once; `within` then answers for any number of frames.

    `source` is the bounded text the new archive stores, None when it stores none; `digest` whether the text opens
    with an earlier summary.
    """

    shape: Shape
    size: int
    layout: Layout
    previous: Archive | None
    pages: tuple[str, ...]
    source: str | None
    source_dropped: int
    digest: bool

    def within(self, budget: int) -> PagePlan:
        """Plan for at most `budget` frames (at least one)."""
        budget = max(1, budget)
        old = self.previous.frames if self.previous else ()
        dropped = self.previous.truncated_chars if self.previous else 0
        if len(old) + len(self.pages) > budget:
            old, evicted = _evict(old, budget, len(self.pages))
            dropped += evicted
        room = budget - len(old)
        drawn, rest = self.pages[:room], self.pages[room:]
        if self.layout == "seed":
            drawn, dim = _reopen(drawn)
        else:
            dim = False  # pages of the octavo layout carry their own dim state
        tail = None
        if rest:
            raw = _tail_text(rest, self.shape, self.layout)
            limit = _TAIL_PAGES * self.shape.capacity(self.size)
            dropped += max(0, utf16_length(raw) - limit)
            tail = (DIM_ON if dim else "") + truncate(raw, limit, _TAIL_HEAD_RATIO)
        return PagePlan(old, drawn, tail, dropped)


def gather(
    text: str,
    *,
    previous: Archive | None,
    previous_summary: str | None,
    shape: Shape,
    size: int,
    layout: Layout,
    source_units: int,
) -> Material:
    """Lay out the new text behind what an earlier archive or summary left.

    Args:
        text: Normalised text of the messages to archive.
        previous: The archive of the compaction before, if it had one.
        previous_summary: Normalised summary of the compaction before; counts only without an archive.
        shape: What pages are cut for.
        size: Frame size in px.
        layout: Whose paging rules.
        source_units: Bound of the stored source text in UTF-16 units; 0 stores none.
    """
    previous = _as_frames_and_tail(previous, layout)
    digest = previous is None and previous_summary is not None
    if digest:
        text = f"{_DIGEST}{previous_summary}" + (f"{_AFTER_DIGEST}{text}" if text else "")
    source, source_dropped = None, 0
    if source_units:
        source, source_dropped = _source(previous, text, shape.capacity(size), source_units)
        digest = digest or source.startswith(_DIGEST)
    tail = previous.text_tail if previous else None
    if tail:
        text = f"{tail}{NEWLINE}{text}" if text else tail
    pages = tuple(paginate(text, shape, size, layout))
    return Material(shape, size, layout, previous, pages, source, source_dropped, digest)


def pages_of_source(text: str, shape: Shape, size: int, layout: Layout, budget: int) -> tuple[tuple[str, ...], int]:
    """Pages that show a source text anew within `budget` frames, and how many characters they leave out.

    Too long a text keeps its first page and its newest ones.
    """
    pages = tuple(paginate(in_layout(text, layout), shape, size, layout))
    if layout == "seed":
        pages, _ = _reopen(pages)
    if len(pages) <= budget:
        return pages, 0
    pinned = 1 if budget > 1 else 0
    shown = pages[:pinned] + pages[len(pages) - (budget - pinned) :]
    return shown, sum(map(utf16_length, pages)) - sum(map(utf16_length, shown))


def in_layout(text: str, layout: Layout) -> str:
    """Archived text of either layout in the alphabet of this one; the seed's is a subset of ours."""
    if layout == "octavo" or _BEYOND_SEED.search(text) is None:
        return text
    return normalize_seed(plain_text(text))


def page_height(page: str, shape: Shape, size: int, cells: int) -> int:
    """Height in px of the frame a page of `cells` cells is drawn on."""
    rows = shape.rows(size)
    used = page.count("\n") + 1 if shape.columns == 2 else -(-cells // shape.cols(size))
    return max(1, min(rows, used)) * shape.line_repeat * shape.cell_height


def _as_frames_and_tail(previous: Archive | None, layout: Layout) -> Archive | None:
    """Bring a text-sourced archive (`text_head`) into our form: all its text ages into frames, none is carried."""
    if previous is None:
        return None
    if previous.text_head is not None and previous.text:
        previous = replace(previous, frames=(), text_tail=previous.text, text_head=None)
    if previous.text_tail:
        previous = replace(previous, text_tail=in_layout(previous.text_tail, layout))
    return previous


def _source(previous: Archive | None, text: str, head: int, limit: int) -> tuple[str, int]:
    if previous is None:
        return extend_source("", text, head, limit)
    known, missing = previous.text, previous.text_dropped
    if known is None:
        # An archive that kept no source: what only its frames show cannot be drawn again.
        known, missing = previous.text_tail or "", previous.total_chars + previous.truncated_chars
    source, dropped = extend_source(known, text, head, limit)
    return source, missing + dropped


def _evict(old: tuple[FrameRecord, ...], budget: int, new_pages: int) -> tuple[tuple[FrameRecord, ...], int]:
    """Keep the first frame and the newest others that leave room; return them and the characters that went."""
    pinned = 1 if budget >= 2 and old else 0
    movable = old[pinned:]
    room = min(len(movable), max(0, budget - new_pages - pinned))
    gone = movable[: len(movable) - room]
    return old[:pinned] + movable[len(movable) - room :], sum(frame.chars for frame in gone)


def _reopen(pages: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Open each page with DIM_ON when the one before ended inside a dim span; also the state after the last."""
    opened: list[str] = []
    dim = False
    for page in pages:
        opened.append(DIM_ON + page if dim else page)
        dim = ends_dim(page, dim=dim)
    return tuple(opened), dim


def _tail_text(pages: Sequence[str], shape: Shape, layout: Layout) -> str:
    """Undo paging: grid pages are contiguous, doc lines join with spaces (none after a word that goes on)."""
    if layout == "seed" and shape.columns != 2:
        return "".join(pages)
    if shape.columns == 2:
        return " ".join(pages).replace(f"{CONTINUES}\n", "").replace(f"{CONTINUES} ", "").replace("\n", " ")
    joined = list(pages[:1])
    dim = ends_dim(pages[0])
    for page in pages[1:]:
        # A toggle that only re-opened the span for the eye of a page reader is not part of the text.
        joined.append(page[1:] if dim and page.startswith(DIM_ON) else page)
        dim = ends_dim(page, dim=dim)
    return "".join(joined)
