"""What a frame compaction is asked for and what it answers: options, request, window, drawing door, result.

Values only; `compact` does the work, `redraw` and `inline` share the options and the door to the rasteriser.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from octavo.snapcompact.archive import MAX_SOURCE_UNITS, Archive
from octavo.snapcompact.budgets import DATA_BYTES_BUDGET, MAX_FRAMES, effective_reserve, provider_frame_budget
from octavo.snapcompact.guide import Geometry
from octavo.snapcompact.layout import Layout
from octavo.snapcompact.serialize import SerializeOptions
from octavo.snapcompact.shapes import Shape, resolve_shape
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model

_CLAUDE_APIS = frozenset({"anthropic-messages", "bedrock-converse-stream"})

UNDRAWABLE_SHARE = 0.2
"""Share of characters without a glyph from which an archive is refused: a reader could not make sense of the rest."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn frame: `data` is base64 of an image of type `mime_type`."""

    data: str
    mime_type: str = "image/png"


Draw = Callable[[Sequence[str], Shape, int], Awaitable[Sequence[Picture]]]
"""Draws pages as frames of a shape at a size in px, in order; cancelled with the scope it runs in."""


@dataclass(frozen=True, slots=True)
class FrameOptions:
    """How to archive. `frame_size` is px (the shape's own when None), `byte_budget` base64 characters.

    `source_units` bounds the stored source text (0 stores none); `undrawable_share` is the refusal threshold.
    """

    shape: Shape
    frame_size: int | None = None
    max_frames: int = MAX_FRAMES
    layout: Layout = "octavo"
    serialize: SerializeOptions = field(default_factory=SerializeOptions)
    byte_budget: int | None = DATA_BYTES_BUDGET
    source_units: int = MAX_SOURCE_UNITS
    undrawable_share: float = UNDRAWABLE_SHARE

    @classmethod
    def for_model(
        cls, model: Model, *, shape: str = "auto", layout: Layout = "octavo", max_frames: int = MAX_FRAMES
    ) -> Self:
        """What a model reads best, within its provider's image limit; the same for manual and automatic compaction.

        Claude is not shown archived thinking: it refuses requests that replay it.

        Raises:
            OctavoError: `invalid-params` for an unknown shape.
        """
        claude = "claude" in model.id.lower() or model.api in _CLAUDE_APIS
        return cls(
            resolve_shape(model, shape),
            max_frames=provider_frame_budget(model.provider, max_frames),
            layout=layout,
            serialize=SerializeOptions(include_thinking=not claude),
        )

    @classmethod
    def seed(cls, shape: Shape, *, dim_tool_results: bool = True, **changes: object) -> Self:
        """The seed's rules exactly: its text, its paging, no byte budget, no source text, no refusal."""
        base = cls(
            shape,
            layout="seed",
            serialize=SerializeOptions.seed(dim_tool_results=dim_tool_results),
            byte_budget=None,
            source_units=0,
            undrawable_share=1.0,
        )
        return replace(base, **changes)  # type: ignore[arg-type]

    @property
    def size(self) -> int:
        """Frame size in px."""
        return self.shape.frame_size if self.frame_size is None else self.frame_size

    @property
    def geometry(self) -> Geometry:
        """What the guide says of the shape."""
        shape, size = self.shape, self.size
        return Geometry(
            shape.cell_width,
            shape.cell_height,
            shape.cols(size),
            shape.rows(size),
            shape.ink,
            shape.line_repeat,
            shape.columns,
            shape.stopword_dim,
        )


@dataclass(frozen=True, slots=True)
class FrameRequest:
    """What to archive: LLM messages (history, then the prefix of a split turn) and what the compaction before left.

    `with_files` appends the files block to the summary; `redact` is applied to every text before it is archived,
    `neutralise` to the text tail where it is printed into the summary.
    `tokens_before` is the size of the whole context in tokens.
    """

    first_kept_entry_id: str
    messages: Sequence[JsonObject]
    tokens_before: int
    previous_summary: str | None = None
    previous_preserve_data: JsonObject | None = None
    read_files: Sequence[str] = ()
    modified_files: Sequence[str] = ()
    with_files: Callable[[str], str] = str
    redact: Callable[[str], str] = str
    neutralise: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class Window:
    """The room there is, in tokens: what the context holds besides the archive, and how text is counted.

    `fixed_tokens` are system prompt and tools, `kept_tokens` the messages that stay. A window of 0 is unknown: then
    nothing is sized to it.
    """

    context_window: int
    fixed_tokens: int
    kept_tokens: int
    count_tokens: Callable[[str], int]
    reserve_tokens: int = 16_384

    @property
    def limit(self) -> int:
        """Tokens the context may take after the compaction."""
        return self.context_window - effective_reserve(self.context_window, self.reserve_tokens)


@dataclass(frozen=True, slots=True)
class FrameCompaction:
    """The result, in the fields of a compaction entry, plus what the caller should report.

    `tokens_after` is the projected size of the whole context, None without a window; `problems` name what of an older
    archive had to be left out.
    """

    summary: str
    short_summary: str
    first_kept_entry_id: str
    tokens_before: int
    details: JsonObject
    preserve_data: JsonObject
    archive: Archive
    tokens_after: int | None = None
    problems: tuple[str, ...] = ()
