"""Draw text as frames: PNG images a vision model reads (snapcompact.md §2, §6).

This is the door to everything below it: `render_text` for a whole text, `render_page` for one page an archive laid
out itself, and `render_text_async` for a daemon that must stay responsive. Importing it loads numpy.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import anyio
import anyio.to_thread

from octavo.snapcompact.cells import set_page
from octavo.snapcompact.ink import PALETTE, dim_stopwords
from octavo.snapcompact.layout import Layout, paginate
from octavo.snapcompact.normalize import normalize, normalize_seed
from octavo.snapcompact.png import Check, indexed_png, truecolor_png
from octavo.snapcompact.raster import rasterize
from octavo.snapcompact.shapes import Shape, check_frame_size
from octavo.snapcompact.stretch import stretched_bands

Zero = Literal["slashed", "plain"]
OnFrame = Callable[[int, int], None]
"""Called in the event loop after every frame with (frames done, frames to draw)."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One drawn frame.

    `cols` and `rows` are the shape's grid (one column of a doc shape), `width` and `height` the image in px, `chars`
    the characters drawn, `tokens` the price of the pixels really sent. `font`, `variant` (the ink), `line_repeat`,
    `columns`, `stopword_dim` and `detail` are what an archive records of the shape.
    """

    png: bytes
    cols: int
    rows: int
    chars: int
    width: int
    height: int
    font: str
    variant: str
    line_repeat: int
    columns: int
    stopword_dim: bool
    detail: str | None
    tokens: int


class _Stopped(Exception):  # noqa: N818 - a signal, not an error
    """Raised between pieces of work after the caller gave up."""


def _never() -> None:
    """Do not stop."""


def render_text(
    text: str,
    shape: Shape,
    *,
    layout: Layout = "octavo",
    zero: Zero = "slashed",
    max_frames: int | None = None,
    frame_size: int | None = None,
) -> list[Frame]:
    """Normalise, paginate and draw a text; no frames for a text of white space.

    Raises:
        OctavoError: `invalid-params` for a frame size outside 1..16384 px or too small for a cell.
    """
    pages = pages_of(text, shape, layout=layout, max_frames=max_frames, frame_size=frame_size)
    return [render_page(page, shape, layout=layout, zero=zero, frame_size=frame_size) for page in pages]


async def render_text_async(
    text: str,
    shape: Shape,
    *,
    layout: Layout = "octavo",
    zero: Zero = "slashed",
    max_frames: int | None = None,
    frame_size: int | None = None,
    threads: int = 2,
    on_frame: OnFrame | None = None,
) -> list[Frame]:
    """Do what `render_text` does in worker threads, `threads` frames at a time.

    Cancelling the surrounding scope returns at once; the workers stop at the next piece of their frame.
    """
    pages = await anyio.to_thread.run_sync(
        lambda: pages_of(text, shape, layout=layout, max_frames=max_frames, frame_size=frame_size),
        abandon_on_cancel=True,
    )
    return await render_pages_async(
        pages, shape, layout=layout, zero=zero, frame_size=frame_size, threads=threads, on_frame=on_frame
    )


async def render_pages_async(
    pages: list[str],
    shape: Shape,
    *,
    layout: Layout = "octavo",
    zero: Zero = "slashed",
    frame_size: int | None = None,
    threads: int = 2,
    on_frame: OnFrame | None = None,
) -> list[Frame]:
    """Draw pages in worker threads, `threads` at a time, in order; see `render_text_async`."""
    stop = threading.Event()
    limiter = anyio.CapacityLimiter(threads)
    frames: dict[int, Frame] = {}

    def check() -> None:
        if stop.is_set():
            raise _Stopped

    async def draw(at: int, page: str) -> None:
        frames[at] = await anyio.to_thread.run_sync(
            lambda: render_page(page, shape, layout=layout, zero=zero, frame_size=frame_size, check=check),
            abandon_on_cancel=True,
            limiter=limiter,
        )
        if on_frame is not None:
            on_frame(len(frames), len(pages))

    try:
        async with anyio.create_task_group() as tasks:
            for at, page in enumerate(pages):
                tasks.start_soon(draw, at, page)
    finally:
        stop.set()
    return [frames[at] for at in range(len(pages))]


def pages_of(
    text: str,
    shape: Shape,
    *,
    layout: Layout = "octavo",
    max_frames: int | None = None,
    frame_size: int | None = None,
) -> list[str]:
    """Normalise and paginate a text, at most `max_frames` pages.

    Raises:
        OctavoError: `invalid-params` for a frame size that cannot be drawn.
    """
    check_frame_size(shape, shape.frame_size if frame_size is None else frame_size)
    normalized = normalize_seed(text) if layout == "seed" else normalize(text)
    pages = paginate(normalized, shape, frame_size, layout)
    return pages if max_frames is None else pages[: max(0, max_frames)]


def render_page(
    page: str,
    shape: Shape,
    *,
    layout: Layout = "octavo",
    zero: Zero = "slashed",
    frame_size: int | None = None,
    check: Check = _never,
) -> Frame:
    """Draw one page of `paginate`; stopwords are dimmed here when the shape says so.

    Args:
        page: Normalised text; an empty page gives one blank row, text beyond the frame is left out.
        shape: What to draw with.
        layout: Whose widths and fallbacks; "seed" draws characters its fonts lack as blanks.
        zero: Which digit zero the X.org fonts show.
        frame_size: Image width and greatest height in px; the shape's own when None.
        check: Called between pieces of work; raises to stop.

    Raises:
        OctavoError: `invalid-params` for a frame size that cannot be drawn.
    """
    size = shape.frame_size if frame_size is None else frame_size
    check_frame_size(shape, size)
    text = dim_stopwords(page) if shape.stopword_dim else page
    grid = set_page(text, shape, size, layout)
    height = len(grid.codes) * shape.line_repeat * shape.cell_height
    slashed, octavo = zero == "slashed", layout == "octavo"
    if shape.resampled:
        png = truecolor_png(stretched_bands(grid, shape, size, slashed=slashed, octavo=octavo), size, height, check)
    else:
        raster = rasterize(grid, shape, size, slashed=slashed, octavo=octavo, check=check)
        png = indexed_png(raster.scanlines, size, raster.depth, [PALETTE[slot] for slot in raster.slots], check)
    return Frame(
        png=png,
        cols=shape.cols(size),
        rows=shape.rows(size),
        chars=grid.chars,
        width=size,
        height=height,
        font=shape.font,
        variant=shape.ink,
        line_repeat=shape.line_repeat,
        columns=shape.columns,
        stopword_dim=shape.stopword_dim,
        detail=shape.detail,
        tokens=shape.tokens_for(size, height),
    )
