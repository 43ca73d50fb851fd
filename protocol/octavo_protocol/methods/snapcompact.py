"""Params and results of drawing text as frames without a session: shapes, estimate, render, inline."""

from typing import Literal, TypeAlias

from pydantic import Field

from octavo_protocol.base import MessageObject, Reply, Wire
from octavo_protocol.methods.common import WorkDone

Layout: TypeAlias = Literal["octavo", "seed"]


class FrameChoice(Wire):
    """How frames are to be drawn."""

    model: str | None = Field(default=None, description="`provider/id` that will read the frames.")
    api: str | None = Field(default=None, description="API that carries the request, when the model is not registered.")
    shape: str | None = Field(default=None, description="Shape by name; absent or `auto` means the model's.")
    frame_size: int | None = Field(
        default=None, ge=1, le=16384, description="Width of a frame in px, instead of the shape's."
    )
    layout: Layout | None = Field(
        default=None, description="Normalisation and paging; absent means `snapcompact.layout`."
    )


class ShapesParams(Wire):
    """Params of `snapcompact/shapes`."""

    model: str | None = Field(default=None, description="`provider/id` to price for.")
    api: str | None = Field(default=None, description="API that carries the request, when the model is not registered.")


class ShapeInfo(Reply):
    """One way to draw frames, with its price for the model asked for."""

    name: str = Field(description="Name, as `snapcompact.shape` takes it.")
    font: str = Field(description="Bitmap font.")
    cell_width: int = Field(description="Advance of a cell in px.")
    cell_height: int = Field(description="Pitch of a cell in px.")
    variant: Literal["bw", "sent"] = Field(description="Black ink, or hues by sentence.")
    stopword_dim: bool = Field(default=False, description="Whether function words are gray.")
    columns: int = Field(default=1, description="Columns of text.")
    line_repeat: int = Field(default=1, description="How often a line is printed.")
    frame_size: int = Field(description="Width of a frame in px.")
    cols: int = Field(description="Cells in a row (of one column).")
    rows: int = Field(description="Rows of text in a full frame.")
    capacity: int = Field(description="Cells in a full frame.")
    frame_tokens: int = Field(description="Tokens a full frame is billed.")
    detail: str | None = Field(default=None, description="Detail hint the provider needs.")


class ShapesResult(Reply):
    """Result of `snapcompact/shapes`."""

    shapes: list[ShapeInfo] = Field(description="Every shape, in the order settings list them.")
    resolved: ShapeInfo = Field(description="The one `auto` means for the model asked for.")
    family: Literal["anthropic", "openai", "google", "unknown"] = Field(description="Who bills.")
    frame_budget: int = Field(description="Most frames of an archive the provider gets.")


class EstimateParams(FrameChoice):
    """Params of `snapcompact/estimate`."""

    text: str = Field(description="Text to price; any script.")


class EstimateResult(Reply):
    """Result of `snapcompact/estimate`."""

    shape: ShapeInfo = Field(description="Shape the figures are for.")
    frames: int = Field(description="Frames needed.")
    chars: int = Field(description="Characters left after normalisation, in UTF-16 units.")
    cells: int = Field(description="Cells they take.")
    frame_tokens: int = Field(description="Tokens of all frames, by the size they would really have.")
    text_tokens: int = Field(description="Tokens of the same text as text.")
    saved_tokens: int = Field(description="Difference; negative when frames cost more.")


class RenderParams(FrameChoice, WorkDone):
    """Params of `snapcompact/render`."""

    text: str = Field(description="Text to draw; any script.")
    max_frames: int | None = Field(default=None, ge=1, description="Stop after so many frames.")


class Frame(Reply):
    """One drawn frame."""

    data: str = Field(description="PNG, base64.")
    mime_type: Literal["image/png"] = Field(default="image/png", description="Media type of the data.")
    width: int = Field(description="Pixels.")
    height: int = Field(description="Pixels; only as high as the rows printed.")
    cols: int = Field(description="Cells in a row.")
    rows: int = Field(description="Rows printed.")
    chars: int = Field(description="Characters drawn, in UTF-16 units.")
    tokens: int = Field(description="Tokens it is billed.")
    detail: str | None = Field(default=None, description="Detail hint the provider needs.")


class RenderResult(Reply):
    """Result of `snapcompact/render`."""

    frames: list[Frame] = Field(description="Frames in reading order.")
    shape: ShapeInfo = Field(description="Shape they are drawn in.")
    dropped_chars: int = Field(default=0, description="Characters beyond `maxFrames`.")
    frame_tokens: int = Field(description="Tokens of all frames.")
    text_tokens: int = Field(description="Tokens of the same text as text.")
    guide: str = Field(description="Sentences that tell a model how to read them.")


class InlineParams(FrameChoice, WorkDone):
    """Params of `snapcompact/inline`."""

    system_prompt: list[str] = Field(default_factory=list, description="System prompt in parts.")
    messages: list[MessageObject] = Field(description="LLM messages of the request about to be sent.")
    system_prompt_mode: Literal["none", "agents-md", "all"] | None = Field(
        default=None, description="What of the system prompt to draw; absent means `snapcompact.systemPrompt`."
    )
    tool_results: bool | None = Field(
        default=None, description="Whether to draw large tool results; absent means `snapcompact.toolResults`."
    )
    plan_only: bool = Field(default=False, description="Answer with the plan and draw nothing.")
    session_id: str | None = Field(default=None, description="Session whose savings journal records it.")


class InlineItem(Reply):
    """One candidate and what was decided."""

    target: Literal["systemPrompt", "toolResult"] = Field(description="What it is.")
    tool_call_id: str | None = Field(default=None, description="Call whose result it is.")
    imaged: bool = Field(description="Whether it is drawn.")
    reason: str | None = Field(
        default=None,
        description="Why not: `empty`, `small`, `latest`, `error`, `has-image`, `budget`, `margin`, `no-user`.",
    )
    frames: int = Field(default=0, description="Frames it takes.")
    text_tokens: int = Field(description="Tokens as text.")
    frame_tokens: int = Field(default=0, description="Tokens as frames.")


class InlineResult(Reply):
    """Result of `snapcompact/inline`."""

    items: list[InlineItem] = Field(description="Every candidate.")
    system_prompt: list[str] = Field(default_factory=list, description="System prompt to send.")
    messages: list[MessageObject] = Field(default_factory=list, description="Messages to send; absent parts unchanged.")
    images: int = Field(description="Frames added.")
    saved_tokens: int = Field(description="Tokens saved against plain text.")
