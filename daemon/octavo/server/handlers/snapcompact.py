"""Draw text as frames without a session: the shapes there are, what frames would cost, the frames, inline imaging.

The work is `octavo.snapcompact`'s; here it meets settings, models and clients. Everything that grows with the text runs
in threads and stops when the request is cancelled.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import anyio.to_thread

from octavo.server.connection import Connection
from octavo.server.hub import SessionHub
from octavo.server.model_book import ModelBook
from octavo.server.registry import handles
from octavo.server.settings_book import SettingsBook
from octavo_protocol.completion import Model
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.snapcompact import (
    EstimateParams,
    EstimateResult,
    FrameChoice,
    InlineItem,
    InlineParams,
    InlineResult,
    RenderParams,
    RenderResult,
    ShapesParams,
    ShapesResult,
)
from octavo_protocol.settings import Settings

if TYPE_CHECKING:
    from octavo.server.frame_answers import Choice
    from octavo.snapcompact.inline_plan import Decision, InlinePlan


@handles("snapcompact/shapes")
def shapes(connection: Connection, params: ShapesParams) -> ShapesResult:
    """Every shape with its price for the model asked for."""
    from octavo.server.frame_answers import shape_info  # noqa: PLC0415 - frames are rare
    from octavo.snapcompact.billing import GOOGLE_APIS, OPENAI_APIS, family_of  # noqa: PLC0415 - needed here only
    from octavo.snapcompact.budgets import provider_frame_budget  # noqa: PLC0415
    from octavo.snapcompact.shapes import VARIANTS, priced, resolve_shape  # noqa: PLC0415

    model = _model(connection, params.model, params.api, _settings(connection))
    api = model.api if model is not None else ""
    family = family_of(api)
    known = api in OPENAI_APIS or api in GOOGLE_APIS or api in _ANTHROPIC_APIS
    return ShapesResult(
        shapes=[shape_info(priced(shape, family)) for shape in VARIANTS.values()],
        resolved=shape_info(resolve_shape(model)),
        family=family if known else "unknown",
        frame_budget=provider_frame_budget(model.provider if model is not None else None),
    )


@handles("snapcompact/estimate")
async def estimate(connection: Connection, params: EstimateParams) -> EstimateResult:
    """Price a text as frames and as text; nothing is drawn."""
    from octavo.server.frame_answers import estimate_text  # noqa: PLC0415 - frames are rare

    choice = _choose(connection, params)
    return await anyio.to_thread.run_sync(estimate_text, params.text, choice, abandon_on_cancel=True)


@handles("snapcompact/render")
async def render(connection: Connection, params: RenderParams) -> RenderResult:
    """Draw a text."""
    from octavo.server.frame_answers import lay_out, render_result  # noqa: PLC0415 - frames are rare
    from octavo.snapcompact.render import render_pages_async  # noqa: PLC0415 - numpy and the fonts

    choice = _choose(connection, params)
    with connection.progress(params.work_done_token, "Drawing frames") as progress:
        progress.report("layout", "Laying out the text")
        laid = await anyio.to_thread.run_sync(lay_out, params.text, choice, params.max_frames, abandon_on_cancel=True)

        def drawn(done: int, total: int) -> None:
            message = f"{done} of {total} frames"
            progress.report("frames", message, 100 * done // max(1, total), framesDone=done, framesTotal=total)

        frames = await render_pages_async(laid.pages, choice.shape, layout=choice.layout, on_frame=drawn)
    return await anyio.to_thread.run_sync(render_result, frames, laid, choice)


@handles("snapcompact/inline")
async def inline(connection: Connection, params: InlineParams) -> InlineResult:
    """Decide what of a request goes out as frames, and draw it unless only the plan is wanted."""
    from octavo.server.inline_frames import InlineFrames  # noqa: PLC0415 - frames are rare
    from octavo.snapcompact.drawing import rasterizer  # noqa: PLC0415
    from octavo.snapcompact.inline import InlineSettings, estimate_inline, inline_images  # noqa: PLC0415
    from octavo.tokens.counting import count_tokens  # noqa: PLC0415 - the tokenizer

    hub = connection.daemon.service(SessionHub)
    session = hub.get(connection, params.session_id) if params.session_id is not None else None
    settings = session.host.settings if session is not None else _settings(connection)
    model = _model(connection, params.model, params.api, settings)
    if model is None and session is not None:
        model = session.host.model
    wanted = settings.snapcompact
    options = InlineSettings(
        system_prompt=params.system_prompt_mode or wanted.system_prompt,
        tool_results=wanted.tool_results if params.tool_results is None else params.tool_results,
        shape=params.shape or wanted.shape,
        layout=params.layout or wanted.layout,
        frame_size=params.frame_size,
    )
    asked = (params.system_prompt, params.messages)
    seeing = model or Model("", "")
    if params.plan_only:
        estimate_of = partial(
            estimate_inline,
            *asked,
            model=seeing,
            settings=options,
            count_tokens=count_tokens,
            assume_user=False,
        )
        plan = await anyio.to_thread.run_sync(estimate_of, abandon_on_cancel=True)
        return InlineResult(items=_items(plan), images=plan.frames, saved_tokens=plan.saved_tokens)
    memory = connection.daemon.service(InlineFrames).of(connection, session)
    with connection.progress(params.work_done_token, "Drawing frames") as progress:

        def drawn(done: int, total: int) -> None:
            progress.report("frames", f"{done} of {total} frames", framesDone=done, framesTotal=total)

        made = await inline_images(
            *asked,
            model=seeing,
            settings=options,
            count_tokens=count_tokens,
            draw=rasterizer(options.layout, on_frame=drawn),
            cache=memory.cache,
            recorder=memory.recorder,
        )
    return InlineResult(
        items=_items(made.plan),
        system_prompt=list(made.system_prompt),
        messages=list(made.messages),
        images=made.plan.frames,
        saved_tokens=made.plan.saved_tokens,
    )


_ANTHROPIC_APIS = frozenset({"anthropic-messages", "bedrock-converse-stream"})
_REASONS = {"last": "latest", "image": "has-image", "no-user-message": "no-user"}


def _settings(connection: Connection) -> Settings:
    connection.daemon.service(SessionHub).adopt(connection)
    return connection.daemon.service(SettingsBook).view([connection]).settings


def _model(connection: Connection, ref: str | None, api: str | None, settings: Settings) -> Model | None:
    """The model asked for; `api` counts where nothing else tells which wire it speaks.

    Raises:
        OctavoError: invalid-params when the text names no model.
    """
    if ref is None:
        return Model("", "", api) if api else None
    found = connection.daemon.service(ModelBook).find(ref, settings)
    if found is None:
        raise OctavoError(
            ErrorKind.INVALID_PARAMS,
            f"{ref[:200]!r} names no model; write it as provider/id.",
            details=[{"loc": ["model"], "msg": "not provider/id"}],
        )
    return replace(found.model, api=api) if api and not found.model.api else found.model


def _choose(connection: Connection, params: FrameChoice) -> "Choice":
    from octavo.server.frame_answers import Choice  # noqa: PLC0415 - frames are rare
    from octavo.snapcompact.shapes import check_frame_size, resolve_shape  # noqa: PLC0415 - needed here only

    settings = _settings(connection)
    model = _model(connection, params.model, params.api, settings)
    shape = resolve_shape(model, params.shape or settings.snapcompact.shape)
    if params.frame_size is not None:
        shape = shape.sized(params.frame_size)
    check_frame_size(shape, shape.frame_size)
    return Choice(shape, params.layout or settings.snapcompact.layout)


def _items(plan: "InlinePlan") -> list[InlineItem]:
    items = [_item(decision, "toolResult") for decision in plan.tool_results]
    if plan.system_prompt is not None:
        items.append(_item(plan.system_prompt, "systemPrompt"))
    return items


def _item(decision: "Decision", target: Literal["systemPrompt", "toolResult"]) -> InlineItem:
    candidate, reason = decision.candidate, decision.reason
    return InlineItem(
        target=target,
        tool_call_id=candidate.id if target == "toolResult" else None,
        imaged=decision.imaged,
        reason=_REASONS.get(reason, reason) if reason is not None else None,
        frames=candidate.frames,
        text_tokens=candidate.text_tokens,
        frame_tokens=decision.frame_tokens,
    )
