"""The shapes a frame can have, and which one a model reads best (snapcompact.md §1, §2).

A shape is font, cell, ink and price. Nothing here draws, and nothing here touches numpy: settings and estimates may
import this module freely.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from octavo.snapcompact.billing import Family, family_of, frame_tokens, square_tokens
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model
from octavo_protocol.errors import ErrorKind, OctavoError

FontName = Literal["5x8", "8x8", "6x12", "8x13"]
Ink = Literal["bw", "sent"]

FONT_CELLS: dict[str, tuple[int, int]] = {"5x8": (5, 8), "8x8": (8, 8), "6x12": (6, 12), "8x13": (8, 13)}
"""The natural cell (advance, pitch) of every font, in px."""

GUTTER_CELLS = 3
"""Blank cells between the two columns of a doc shape."""

MIN_FRAME_SIZE, MAX_FRAME_SIZE = 1, 16_384
"""The frame sizes the drawing accepts, in px."""

_DETAILS = ("auto", "low", "high", "original")


@dataclass(frozen=True, slots=True)
class Shape:
    """How text becomes pixels, and what a full frame of it costs.

    `stretch=False` draws glyphs at their natural size inside a larger cell; None resamples when the cell is not the
    font's own. `line_repeat` prints every row that many times. `frame_tokens` is the seed's price of a full square.
    """

    font: FontName
    cell_width: int
    cell_height: int
    ink: Ink
    line_repeat: int
    frame_size: int
    frame_tokens: int
    family: Family = "anthropic"
    stretch: bool | None = None
    stopword_dim: bool = False
    columns: int = 1
    detail: str | None = None
    name: str = ""

    @property
    def resampled(self) -> bool:
        """Whether the glyphs are Lanczos-resampled, which makes the frame truecolor."""
        return self.stretch is not False and (self.cell_width, self.cell_height) != FONT_CELLS[self.font]

    def cols(self, size: int | None = None) -> int:
        """Cells of one text line: the whole grid, or one column of a doc shape."""
        grid = (self.frame_size if size is None else size) // self.cell_width
        return (grid - GUTTER_CELLS) // 2 if self.columns == 2 else grid

    def rows(self, size: int | None = None) -> int:
        """Text lines of a full frame."""
        return (self.frame_size if size is None else size) // self.cell_height // self.line_repeat

    def capacity(self, size: int | None = None) -> int:
        """Cells of a full frame; an upper bound for doc shapes, whose lines break at words."""
        return self.cols(size) * self.rows(size) * (2 if self.columns == 2 else 1)

    def tokens_for(self, width: int, height: int) -> int:
        """Price the frame really drawn, in tokens (`billing.frame_tokens`)."""
        return frame_tokens(self.family, width, height)

    def sized(self, size: int) -> "Shape":
        """Return this shape at another frame size, priced for it."""
        return replace(self, frame_size=size, frame_tokens=square_tokens(self.family, size))

    def to_json(self) -> JsonObject:
        """Return the shape in the seed's record (snapcompact.md §1.1), optional members only when set."""
        record: JsonObject = {"font": self.font, "cellWidth": self.cell_width, "cellHeight": self.cell_height}
        if self.stretch is not None:
            record["stretch"] = self.stretch
        record["variant"] = self.ink
        if self.stopword_dim:
            record["stopwordDim"] = True
        if self.columns != 1:
            record["columns"] = self.columns
        record |= {
            "lineRepeat": self.line_repeat,
            "frameSize": self.frame_size,
            "frameTokenEstimate": self.frame_tokens,
        }
        if self.detail is not None:
            record["imageDetail"] = self.detail
        return record


def _variant(
    name: str,
    font: FontName,
    cell: tuple[int, int],
    *,
    stretch: bool | None = None,
    dim: bool = False,
    columns: int = 1,
    repeat: int = 1,
    frame: int = 1568,
) -> Shape:
    ink: Ink = "sent" if "sent" in name else "bw"
    return Shape(
        font,
        *cell,
        ink,
        repeat,
        frame,
        square_tokens("anthropic", frame),
        stretch=stretch,
        stopword_dim=dim,
        columns=columns,
        name=name,
    )


VARIANTS: dict[str, Shape] = {
    shape.name: shape
    for shape in (
        _variant("8x8r-bw", "8x8", (8, 8), repeat=2),
        _variant("8x8r-sent", "8x8", (8, 8), repeat=2),
        _variant("8x8u-bw", "8x8", (8, 8)),
        _variant("8x8u-sent", "8x8", (8, 8)),
        _variant("6x6u-bw", "8x8", (6, 6)),
        _variant("6x6u-sent", "8x8", (6, 6)),
        _variant("5x8-bw", "5x8", (5, 8), frame=2576),
        _variant("5x8-sent", "5x8", (5, 8), frame=2576),
        _variant("6x12-dim", "6x12", (6, 12), dim=True),
        _variant("8x13-bw", "8x13", (8, 13)),
        _variant("8on16-bw", "8x13", (8, 16), stretch=False),
        _variant("8on22-bw", "8x13", (8, 22), stretch=False),
        _variant("11on16-bw", "8x13", (11, 16), stretch=False),
        _variant("doc-8on16-bw", "8x13", (8, 16), stretch=False, columns=2),
        _variant("doc-8on16-sent", "8x13", (8, 16), stretch=False, columns=2),
        _variant("doc-8on16-sent-dim", "8x13", (8, 16), stretch=False, columns=2, dim=True),
    )
}
"""Every variant in the order settings list them (after `auto`), priced for Anthropic."""


def priced(shape: Shape, family: Family) -> Shape:
    """Return the shape as `family` bills it; OpenAI also needs the hint not to downscale."""
    return replace(
        shape,
        family=family,
        frame_tokens=square_tokens(family, shape.frame_size),
        detail="original" if family == "openai" else None,
    )


FAMILY_SHAPES: dict[Family, Shape] = {
    "anthropic": priced(VARIANTS["11on16-bw"], "anthropic"),
    "google": priced(VARIANTS["8on22-bw"], "google"),
    "openai": priced(VARIANTS["8on22-bw"], "openai"),
}
"""What a family draws when the model id tells nothing (snapcompact.md §1.3)."""

LEGACY_SHAPE = priced(VARIANTS["5x8-sent"], "anthropic")
"""The shape of the first archives."""


@dataclass(frozen=True, slots=True)
class Ideal:
    """The measured best shape of a model: a variant and, where it differs from the variant's, a frame size in px."""

    variant: str
    frame_size: int | None = None


_ID_RULES: tuple[tuple[re.Pattern[str], Ideal], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.ASCII), ideal)
    for pattern, ideal in (
        (r"claude[^\n\r\u2028\u2029]*(?:fable|mythos)", Ideal("11on16-bw", 1932)),
        (r"claude-?opus-?4[.-][7-9]", Ideal("11on16-bw", 1932)),
        (r"claude", Ideal("11on16-bw")),
        (r"gemini", Ideal("8on22-bw", 2048)),
        (r"gpt|codex", Ideal("8on22-bw")),
        (r"kimi", Ideal("8on16-bw")),
        (r"glm", Ideal("8on16-bw")),
    )
)


def ideal_for(model_id: str) -> Ideal | None:
    """Return the measured shape for a model id, first matching rule wins (snapcompact.md §1.5)."""
    return next((ideal for pattern, ideal in _ID_RULES if pattern.search(model_id)), None)


def variant(name: str) -> Shape:
    """Look a variant up by name.

    Raises:
        OctavoError: `invalid-params` when there is none of this name.
    """
    found = VARIANTS.get(name)
    if found is None:
        known = ", ".join(VARIANTS)
        raise OctavoError(
            ErrorKind.INVALID_PARAMS,
            f"No frame shape is called {name!r}; choose auto or one of {known}.",
            details=[{"loc": ["shape"], "msg": "unknown shape"}],
        )
    return found


def resolve_shape(model: Model | None, variant_name: str | None = None) -> Shape:
    """Choose the shape for a model: a forced variant, else its measured one, else its family's (§1.6).

    Raises:
        OctavoError: `invalid-params` when the forced variant does not exist.
    """
    family = family_of(model.api if model else None)
    if variant_name is not None and variant_name != "auto":
        return priced(variant(variant_name), family)
    default = FAMILY_SHAPES[family]
    ideal = ideal_for(model.id) if model else None
    if ideal is None or (ideal.variant == default.name and ideal.frame_size is None):
        return default
    geometry = VARIANTS[ideal.variant]
    if ideal.frame_size is not None:
        geometry = replace(geometry, frame_size=ideal.frame_size)
    return priced(geometry, family)


def check_frame_size(shape: Shape, size: int) -> None:
    """Refuse a frame size that cannot be drawn.

    Raises:
        OctavoError: `invalid-params` outside 1..16384 px, or when not one cell of the shape fits.
    """
    if not MIN_FRAME_SIZE <= size <= MAX_FRAME_SIZE:
        problem = f"A frame of {size} px cannot be drawn; choose {MIN_FRAME_SIZE} to {MAX_FRAME_SIZE} px."
    elif shape.cols(size) < 1 or shape.rows(size) < 1:
        problem = f"A frame of {size} px is too small for one cell of the shape {shape.name or shape.font}."
    else:
        return
    raise OctavoError(ErrorKind.INVALID_PARAMS, problem, details=[{"loc": ["frameSize"], "msg": "out of range"}])


def is_shape(value: Any) -> bool:
    """Whether a JSON value is a well-formed shape record in the seed's spelling (snapcompact.md §1.1)."""
    if not isinstance(value, dict):
        return False
    numbers = ("cellWidth", "cellHeight", "lineRepeat", "frameSize", "frameTokenEstimate")
    return (
        value.get("font") in tuple(FONT_CELLS)
        and value.get("variant") in ("sent", "bw")
        and all(_is_positive(value.get(name)) for name in numbers)
        and all(name not in value or isinstance(value[name], bool) for name in ("stretch", "stopwordDim"))
        and ("columns" not in value or (_is_positive(value["columns"]) and value["columns"] in (1, 2)))
        and ("imageDetail" not in value or value["imageDetail"] in _DETAILS)
    )


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
