"""Figures and frames of a text as the answers of `snapcompact/…` state them; synchronous, to be run in threads.

Which model and which settings count is the handlers' business. Imported when the first such request arrives.
"""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.js_text import utf16_length
from octavo.snapcompact.archive import Archive
from octavo.snapcompact.frames import FrameRecord
from octavo.snapcompact.guide import GuideFacts, reading_guide
from octavo.snapcompact.layout import count_cells, paginate, visible_chars
from octavo.snapcompact.marks import DIM_ON
from octavo.snapcompact.normalize import normalize, normalize_seed
from octavo.snapcompact.plan import page_height
from octavo.snapcompact.shapes import Shape
from octavo.snapcompact.terms import FrameOptions
from octavo.tokens.counting import count_tokens
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.snapcompact import EstimateResult, Layout, RenderResult, ShapeInfo
from octavo_protocol.methods.snapcompact import Frame as FrameInfo

if TYPE_CHECKING:
    from octavo.snapcompact.render import Frame

MOST_FRAMES = 2000
"""Frames one answer may hold: more would be an answer of hundreds of MB."""


@dataclass(frozen=True, slots=True)
class Choice:
    """How to draw: the shape, sized and priced, and whose layout."""

    shape: Shape
    layout: Layout


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A text on pages. `dropped` are the characters of the pages left out, `text_tokens` those of the whole text."""

    pages: list[str]
    dropped: int
    text_tokens: int


def shape_info(shape: Shape) -> ShapeInfo:
    """Describe a shape at its own frame size."""
    return ShapeInfo(
        name=shape.name,
        font=shape.font,
        cell_width=shape.cell_width,
        cell_height=shape.cell_height,
        variant=shape.ink,
        stopword_dim=shape.stopword_dim,
        columns=shape.columns,
        line_repeat=shape.line_repeat,
        frame_size=shape.frame_size,
        cols=shape.cols(),
        rows=shape.rows(),
        capacity=shape.capacity(),
        frame_tokens=shape.frame_tokens,
        detail=shape.detail,
    )


def estimate_text(text: str, choice: Choice) -> EstimateResult:
    """Price a text as frames, by the size they would really have, and as text."""
    shape, size = choice.shape, choice.shape.frame_size
    clean, pages = _pages(text, choice)
    cells = [count_cells(page) for page in pages]
    frame_tokens = sum(
        shape.tokens_for(size, page_height(page, shape, size, filled))
        for page, filled in zip(pages, cells, strict=True)
    )
    text_tokens = count_tokens(text)
    return EstimateResult(
        shape=shape_info(shape),
        frames=len(pages),
        chars=utf16_length(clean),
        cells=sum(cells),
        frame_tokens=frame_tokens,
        text_tokens=text_tokens,
        saved_tokens=text_tokens - frame_tokens,
    )


def lay_out(text: str, choice: Choice, max_frames: int | None) -> LaidOut:
    """Cut a text into the pages to be drawn.

    Raises:
        OctavoError: invalid-params when they are more than one answer may hold.
    """
    _, pages = _pages(text, choice)
    wanted = len(pages) if max_frames is None else min(max_frames, len(pages))
    if wanted > MOST_FRAMES:
        raise OctavoError(
            ErrorKind.INVALID_PARAMS,
            f"The text takes {len(pages):,} frames and one answer holds at most {MOST_FRAMES:,}; give maxFrames, a "
            "larger frameSize, or the text in parts.",
            details=[{"loc": ["maxFrames"], "msg": f"at most {MOST_FRAMES}"}],
        )
    return LaidOut(pages[:wanted], sum(map(visible_chars, pages[wanted:])), count_tokens(text))


def render_result(frames: Sequence["Frame"], laid: LaidOut, choice: Choice) -> RenderResult:
    """Put drawn frames into the answer, with the guide a reader needs."""
    return RenderResult(
        frames=[
            FrameInfo(
                data=b64encode(frame.png).decode(),
                width=frame.width,
                height=frame.height,
                cols=frame.cols,
                rows=frame.height // (choice.shape.cell_height * choice.shape.line_repeat),
                chars=frame.chars,
                tokens=frame.tokens,
                detail=frame.detail,
            )
            for frame in frames
        ],
        shape=shape_info(choice.shape),
        dropped_chars=laid.dropped,
        frame_tokens=sum(frame.tokens for frame in frames),
        text_tokens=laid.text_tokens,
        guide=_guide(frames, laid, choice),
    )


def _pages(text: str, choice: Choice) -> tuple[str, list[str]]:
    clean = normalize_seed(text) if choice.layout == "seed" else normalize(text)
    return clean, paginate(clean, choice.shape, choice.shape.frame_size, choice.layout)


def _guide(frames: Sequence["Frame"], laid: LaidOut, choice: Choice) -> str:
    """The sentences of an archive of these frames; the text beyond them counts as left out."""
    records = tuple(
        FrameRecord(
            "",
            "image/png",
            frame.cols,
            frame.rows,
            frame.chars,
            variant=frame.variant,
            line_repeat=frame.line_repeat,
            columns=frame.columns,
            stopword_dim=frame.stopword_dim,
        )
        for frame in frames
    )
    facts = GuideFacts(
        Archive(records, laid.dropped),
        FrameOptions(choice.shape, layout=choice.layout).geometry,
        dim_tool_results=any(DIM_ON in page for page in laid.pages),
        keeps_indent=choice.layout == "octavo",
    )
    return reading_guide(facts)
