"""Compaction without a model: history becomes frames plus a reading guide (snapcompact.md §7).

`compact_to_frames` gathers the text, sizes the archive to provider, window and byte budget before anything is drawn,
draws through an injected rasteriser, and returns what a compaction entry stores. It refuses, with a typed error, what
would not help: a model that cannot see, text the fonts cannot draw, a result that does not fit or does not shrink.

Deviations from the seed (all off under `FrameOptions.seed`): frames are sized to the window before drawing; a byte
budget bounds the archive; the bounded source text is stored; damaged frames of an old archive are left out and named
instead of costing the whole archive; the digest of an earlier summary is announced as long as it is there.
"""

from collections.abc import Sequence
from dataclasses import replace

import anyio.to_thread

from octavo.snapcompact.archive import Archive, open_archive, with_archive
from octavo.snapcompact.budgets import newest_within
from octavo.snapcompact.frames import FrameRecord, png_size_of
from octavo.snapcompact.guide import GuideFacts, reading_guide, short_summary
from octavo.snapcompact.layout import count_cells, visible_chars
from octavo.snapcompact.marks import is_narrow_only
from octavo.snapcompact.normalize import normalize, normalize_seed
from octavo.snapcompact.plan import Material, PagePlan, gather, page_height
from octavo.snapcompact.serialize import serialize_conversation
from octavo.snapcompact.shapes import Shape, check_frame_size
from octavo.snapcompact.terms import Draw, FrameCompaction, FrameOptions, FrameRequest, Window
from octavo_protocol.completion import Model
from octavo_protocol.errors import ErrorKind, OctavoError

MOST_CHARS = 3_000_000
"""Characters of serialised history that are looked at: more than the densest archive of any provider can show."""

UNDRAWN = "?"
"""What the seed's normalisation writes for a character without a glyph."""


def require_images(model: Model | None) -> None:
    """Refuse a model that cannot see frames.

    Raises:
        OctavoError: `strategy-unavailable`, naming the model.
    """
    if model is None or not model.accepts_images:
        name = model.ref if model else "no model"
        raise _refusal("model-cannot-see", f"Frames need a model that accepts images; {name} is selected.")


async def compact_to_frames(
    request: FrameRequest, options: FrameOptions, draw: Draw, window: Window | None = None
) -> FrameCompaction:
    """Archive history onto frames.

    Raises:
        OctavoError: `invalid-params` without a first kept entry or for an impossible frame size;
            `strategy-unavailable` with `details.reason` "undrawable-text" or "does-not-fit"; `check-failed` with
            reason "would-not-shrink". Nothing is drawn before the first two, nothing is stored in any case.
    """
    if not request.first_kept_entry_id:
        raise OctavoError(ErrorKind.INVALID_PARAMS, "A frame compaction needs the id of the first kept entry.")
    check_frame_size(options.shape, options.size)
    material, problems = await anyio.to_thread.run_sync(_gather, request, options, abandon_on_cancel=True)
    plan = await anyio.to_thread.run_sync(_fit, material, request, options, window, abandon_on_cancel=True)
    frames = plan.kept + await draw_pages(plan.pages, options, draw)
    archive = within_bytes(
        Archive(frames, plan.dropped, plan.tail, material.source or None, material.source_dropped), options.byte_budget
    )
    summary = _summary(archive, material, request, options)
    tokens_after = _checked_size(archive, summary, request, options, window)
    return FrameCompaction(
        summary=summary,
        short_summary=short_summary(archive),
        first_kept_entry_id=request.first_kept_entry_id,
        tokens_before=request.tokens_before,
        details={"readFiles": list(request.read_files), "modifiedFiles": list(request.modified_files)},
        preserve_data=with_archive(request.previous_preserve_data, archive),
        archive=archive,
        tokens_after=tokens_after,
        problems=problems,
    )


async def draw_pages(pages: Sequence[str], options: FrameOptions, draw: Draw) -> tuple[FrameRecord, ...]:
    """Draw pages and describe the frames; stop words are dimmed where the shape asks for it."""
    from octavo.snapcompact.ink import dim_stopwords  # noqa: PLC0415 - numpy

    shape, size = options.shape, options.size
    if not pages:
        return ()
    printed = [dim_stopwords(page) if shape.stopword_dim else page for page in pages]
    pictures = await draw(printed, shape, size)
    capacity = shape.capacity(size)
    return tuple(
        FrameRecord(
            data=picture.data,
            mime_type=picture.mime_type,
            cols=shape.cols(size),
            rows=shape.rows(size),
            chars=min(visible_chars(page), capacity),
            font=shape.font,
            variant=shape.ink,
            line_repeat=shape.line_repeat,
            columns=2 if shape.columns == 2 else None,
            stopword_dim=True if shape.stopword_dim else None,
            detail=shape.detail,
        )
        for page, picture in zip(pages, pictures, strict=True)
    )


def frame_price(frame: FrameRecord, shape: Shape) -> int:
    """Tokens a stored frame costs at the prices of `shape`'s family; a full square when its size is unknown."""
    size = png_size_of(frame)
    return shape.tokens_for(*size) if size else shape.frame_tokens


def _gather(request: FrameRequest, options: FrameOptions) -> tuple[Material, tuple[str, ...]]:
    clean = normalize_seed if options.layout == "seed" else normalize
    reading = open_archive(request.previous_preserve_data)
    raw = serialize_conversation(request.messages, replace(options.serialize, redact=request.redact))
    if options.layout != "seed":
        raw = _bounded(raw)
    text = clean(raw)
    _check_drawable(raw, text, options)
    summary = clean(request.redact(request.previous_summary)) if request.previous_summary else None
    material = gather(
        text,
        previous=reading.archive,
        previous_summary=summary,
        shape=options.shape,
        size=options.size,
        layout=options.layout,
        source_units=options.source_units,
    )
    return material, reading.problems


def _bounded(raw: str) -> str:
    """Leave out the middle of a text no budget could show, before it is normalised and paged.

    A single pass over more than this would hold the interpreter, and with it the daemon, for too long. Cut by
    characters: the marker says how many are missing.
    """
    if len(raw) <= MOST_CHARS:
        return raw
    head = MOST_CHARS * 3 // 5
    tail = MOST_CHARS - head
    return f"{raw[:head]}\n\n[... {len(raw) - MOST_CHARS} chars elided ...]\n\n{raw[-tail:]}"


def _check_drawable(raw: str, text: str, options: FrameOptions) -> None:
    """Refuse text without glyphs (BR-079): frames full of boxes or question marks would lose the history silently."""
    unknown = text.count(UNDRAWN) - raw.count(UNDRAWN) if options.layout == "seed" else count_undrawable(text)
    if unknown > options.undrawable_share * max(1, len(text)):
        raise _refusal(
            "undrawable-text",
            f"The fonts have no glyph for {unknown} of {len(text)} characters; use a strategy that keeps text.",
            undrawable=unknown,
            characters=len(text),
        )


def count_undrawable(text: str) -> int:
    """Characters of text in octavo's alphabet that no font has; they are drawn as boxes with their code."""
    if is_narrow_only(text):
        return 0
    from octavo.snapcompact.fonts import drawable_lut  # noqa: PLC0415 - loads the glyph tables
    from octavo.snapcompact.widths import code_points  # noqa: PLC0415 - numpy

    return int((~drawable_lut()[code_points(text)]).sum())


def _fit(material: Material, request: FrameRequest, options: FrameOptions, window: Window | None) -> PagePlan:
    """Take the most frames that leave the context below the window's limit; refuse when not even one does."""
    if window is None or window.context_window <= 0:
        return material.within(options.max_frames)
    most = min(max(1, options.max_frames), max(1, len(material.pages) + len(_old_frames(material))))
    prices = [_page_price(page, options) for page in material.pages[:most]]
    needed = 0
    for budget in range(most, 0, -1):
        plan = material.within(budget)
        needed = _projected(plan, sum(prices[: len(plan.pages)]), material, request, options, window)
        if needed <= window.limit:
            return plan
    raise _refusal(
        "does-not-fit",
        f"Not even one frame fits: the context would take {needed} of {window.limit} tokens; use another strategy.",
        tokensAfter=needed,
        limit=window.limit,
    )


def _old_frames(material: Material) -> tuple[FrameRecord, ...]:
    return material.previous.frames if material.previous else ()


def _page_price(page: str, options: FrameOptions) -> int:
    shape, size = options.shape, options.size
    return shape.tokens_for(size, page_height(page, shape, size, count_cells(page)))


def _projected(
    plan: PagePlan, drawn: int, material: Material, request: FrameRequest, options: FrameOptions, window: Window
) -> int:
    """Size of the context in tokens if the plan were drawn, `drawn` being the price of its new pages."""
    kept = sum(frame_price(frame, options.shape) for frame in plan.kept)
    geometry = options.geometry
    stand_in = FrameRecord("", "", geometry.cols, geometry.rows, 0, variant=geometry.variant)
    archive = Archive(plan.kept + (stand_in,) * len(plan.pages), plan.dropped, plan.tail)
    summary = _summary(archive, material, request, options)
    return window.fixed_tokens + window.kept_tokens + window.count_tokens(summary) + drawn + kept


def within_bytes(archive: Archive, budget: int | None) -> Archive:
    """Evict frames from the middle until the base64 fits; the newest frame always stays."""
    if budget is None or archive.data_bytes <= budget:
        return archive
    kept = newest_within([len(frame.data) for frame in archive.frames], budget, pinned=1, unbroken=True)
    frames = tuple(archive.frames[index] for index in kept)
    gone = archive.total_chars - sum(frame.chars for frame in frames)
    return replace(archive, frames=frames, truncated_chars=archive.truncated_chars + gone)


def _summary(archive: Archive, material: Material, request: FrameRequest, options: FrameOptions) -> str:
    facts = GuideFacts(
        archive,
        options.geometry,
        dim_tool_results=options.serialize.dim_tool_results,
        previous_summary=material.digest,
        keeps_indent=options.layout == "octavo",
        neutralise=request.neutralise,
    )
    return request.with_files(reading_guide(facts))


def _checked_size(
    archive: Archive, summary: str, request: FrameRequest, options: FrameOptions, window: Window | None
) -> int | None:
    """Size of the context with the archive in it, in tokens; refuses one that did not become smaller (BR-047)."""
    if window is None:
        return None
    frames = sum(frame_price(frame, options.shape) for frame in archive.frames)
    after = window.fixed_tokens + window.kept_tokens + window.count_tokens(summary) + frames
    if 0 < request.tokens_before <= after:
        raise OctavoError(
            ErrorKind.CHECK_FAILED,
            f"The frames would take the context from {request.tokens_before} to {after} tokens; nothing was stored.",
            details={"reason": "would-not-shrink", "tokensBefore": request.tokens_before, "tokensAfter": after},
        )
    return after


def _refusal(reason: str, message: str, **figures: object) -> OctavoError:
    return OctavoError(ErrorKind.STRATEGY_UNAVAILABLE, message, details={"reason": reason, **figures})
