"""Run the frame strategy for a session: gather what it needs, draw in threads, hand back a draft.

How frames are laid out and priced is `snapcompact`'s subject; this module only connects it to a session.
"""

from octavo.compaction.file_operations import file_lists, strip_file_blocks, upsert_files
from octavo.compaction.neutralise import Redactor, boundaries
from octavo.compaction.prepare import Preparation
from octavo.maintenance.drafts import Draft, Report, no_report
from octavo.maintenance.host import Host
from octavo.maintenance.measuring import fixed_tokens
from octavo.sessions.llm_messages import to_llm_messages
from octavo.snapcompact.compact import compact_to_frames, frame_price, require_images
from octavo.snapcompact.drawing import rasterizer
from octavo.snapcompact.redraw import for_present_model
from octavo.snapcompact.terms import Draw, FrameOptions, FrameRequest, Window
from octavo.tokens.counting import count_tokens
from octavo_protocol.completion import Model


def can_frame(model: Model | None) -> bool:
    """Whether the model reads frames at all."""
    return model is not None and model.accepts_images


async def frame_draft(
    host: Host, preparation: Preparation, report: Report = no_report, draw: Draw | None = None
) -> Draft:
    """Archive the discarded history as frames, drawn by the real rasteriser unless another is given.

    Raises:
        OctavoError: `strategy-unavailable` when the model cannot see, the text cannot be drawn or no frame fits;
            `check-failed` when it would not shrink. Nothing is drawn before the first three.
    """
    model, settings = host.model, host.settings
    require_images(model)
    assert model is not None
    redactor = Redactor()
    lists = file_lists(preparation.file_ops)

    def drawn(done: int, total: int) -> None:
        report("frames", f"{done} of {total} frames", 100 * done // max(1, total), framesDone=done, framesTotal=total)

    options = FrameOptions.for_model(model, shape=settings.snapcompact.shape, layout=settings.snapcompact.layout)
    draw = draw or rasterizer(settings.snapcompact.layout, on_frame=drawn)
    previous = preparation.previous_summary
    made = await compact_to_frames(
        FrameRequest(
            first_kept_entry_id=preparation.first_kept_entry_id,
            messages=to_llm_messages(preparation.discarded_messages),
            tokens_before=preparation.tokens_before,
            previous_summary=strip_file_blocks(previous).strip() if previous else None,
            previous_preserve_data=await for_present_model(preparation.previous_preserve_data, options, draw),
            read_files=lists.read_files,
            modified_files=lists.modified_files,
            with_files=lambda text: upsert_files(
                text, lists.read_files, lists.modified_files, preparation.file_ops.read
            ),
            redact=redactor.text,
            neutralise=boundaries,
        ),
        options,
        draw,
        Window(
            context_window=model.context_window,
            fixed_tokens=fixed_tokens(host),
            kept_tokens=preparation.recent_tokens,
            count_tokens=count_tokens,
            reserve_tokens=settings.compaction.reserve_tokens,
        ),
    )
    return Draft(
        action="snapcompact",
        summary=made.summary,
        short_summary=made.short_summary,
        first_kept_entry_id=made.first_kept_entry_id,
        tokens_before=made.tokens_before,
        details=made.details,
        preserve_data=made.preserve_data,
        frames=len(made.archive.frames),
        frame_tokens=sum(frame_price(frame, options.shape) for frame in made.archive.frames),
        notices=made.problems,
        redactions=redactor.count,
    )
