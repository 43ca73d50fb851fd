"""The reading guide: the text that tells a model how to read the frames of an archive (snapcompact.md §7.1).

Deterministic, made of facts only; the wording lives in `prompts/snapcompact-guide*.md`. The guide is the summary of a
frame compaction. This module decides which facts apply and draws nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from octavo.js_text import utf16_length
from octavo.snapcompact.archive import Archive
from octavo.snapcompact.frames import FrameRecord
from octavo.snapcompact.marks import plain_text
from octavo.templates import render


@dataclass(frozen=True, slots=True)
class Geometry:
    """What the active shape prints: cell size in px, grid in cells (of one column), ink and decorations."""

    cell_width: int
    cell_height: int
    cols: int
    rows: int
    variant: str
    line_repeat: int = 1
    columns: int = 1
    stopword_dim: bool = False

    def prints_like(self, frame: FrameRecord) -> bool:
        """Whether a stored frame has this grid, ink, repeat, columns and stop-word dimming (absent = old default)."""
        return (
            (frame.cols, frame.rows) == (self.cols, self.rows)
            and (frame.variant or "sent") == self.variant
            and (frame.line_repeat or 1) == self.line_repeat
            and (frame.columns or 1) == self.columns
            and bool(frame.stopword_dim) == self.stopword_dim
        )


@dataclass(frozen=True, slots=True)
class GuideFacts:
    """The facts a guide states.

    `neutralise` makes the text tail harmless inside the summary's wrapper: it is whatever users and tools once wrote.
    """

    archive: Archive
    geometry: Geometry
    dim_tool_results: bool = True
    previous_summary: bool = False
    keeps_indent: bool = False
    neutralise: Callable[[str], str] = str

    @property
    def mixed_shapes(self) -> bool:
        """Whether any frame differs from the active geometry or ink."""
        return any(not self.geometry.prints_like(frame) for frame in self.archive.frames)


def reading_guide(facts: GuideFacts) -> str:
    """Render the guide, with the text tail as a labelled plain-text continuation after it."""
    archive, geometry = facts.archive, facts.geometry
    frames = len(archive.frames)
    if not frames and not archive.text_tail:
        return render("snapcompact-guide-empty").strip()
    guide = render(
        "snapcompact-guide",
        frames=frames,
        one=frames == 1,
        cellWidth=geometry.cell_width,
        cellHeight=geometry.cell_height,
        cols=geometry.cols,
        rows=geometry.rows,
        columnsTwo=geometry.columns == 2,
        keepsIndent=facts.keeps_indent,
        hues=geometry.variant == "sent",
        stopwordDim=geometry.stopword_dim,
        dimToolResults=facts.dim_tool_results,
        repeated=geometry.line_repeat == 2,
        mixedShapes=facts.mixed_shapes,
        digest=facts.previous_summary,
        dropped=f"{archive.truncated_chars:,}" if archive.truncated_chars else "",
        totalChars=f"{archive.total_chars:,}",
    ).strip()
    if not archive.text_tail:
        return guide
    # The tail is data: it is set below the rendered guide so that the template formatter cannot reflow it.
    label = render("snapcompact-guide-tail", frames=frames).strip()
    return f"{guide}\n\n{label}\n{facts.neutralise(plain_text(archive.text_tail))}"


def short_summary(archive: Archive) -> str:
    """One line for lists: "Archived N chars of history onto F snapcompact frames (+M chars as text)"."""
    frames = len(archive.frames)
    noun = "frame" if frames == 1 else "frames"
    line = f"Archived {archive.total_chars:,} chars of history onto {frames} snapcompact {noun}"
    return line + (f" (+{utf16_length(archive.text_tail):,} chars as text)" if archive.text_tail else "")
