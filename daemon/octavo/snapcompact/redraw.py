"""Draw an archive again from its source text, for another shape or family of models (snapcompact.md §7.4).

The source text decides; old frames are thrown away. What the bound of the source or the number of frames leaves out is
counted, so the reading guide stays true.
"""

from dataclasses import replace

import anyio.to_thread

from octavo.snapcompact.archive import Archive, open_archive, with_archive
from octavo.snapcompact.compact import draw_pages, within_bytes
from octavo.snapcompact.frames import FrameRecord
from octavo.snapcompact.plan import pages_of_source
from octavo.snapcompact.shapes import check_frame_size
from octavo.snapcompact.terms import Draw, FrameOptions
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError


async def for_present_model(preserve_data: JsonObject | None, options: FrameOptions, draw: Draw) -> JsonObject | None:
    """`preserveData` of an earlier compaction, its frames drawn again where another family of models was meant.

    Frames stay as they are when they already have the wanted shape, and when the stored source text is not whole:
    they may then show what cannot be drawn again.
    """
    archive = open_archive(preserve_data).archive
    if archive is None or not archive.text or archive.text_dropped:
        return preserve_data
    if all(_is_of(frame, options) for frame in archive.frames):
        return preserve_data
    return with_archive(preserve_data, await redraw_archive(archive, options, draw))


async def redraw_archive(archive: Archive, options: FrameOptions, draw: Draw) -> Archive:
    """Return the archive with frames in `options.shape`; too long a text keeps its first page and the newest ones.

    Raises:
        OctavoError: `strategy-unavailable` when the archive kept no source text, `invalid-params` for an impossible
            frame size.
    """
    if not archive.text:
        raise OctavoError(
            ErrorKind.STRATEGY_UNAVAILABLE,
            "This archive keeps no source text, so its frames cannot be drawn again; keep them or compact anew.",
            details={"reason": "no-source-text"},
        )
    check_frame_size(options.shape, options.size)
    budget = max(1, options.max_frames)
    pages, left_out = await anyio.to_thread.run_sync(
        pages_of_source,
        archive.text,
        options.shape,
        options.size,
        options.layout,
        budget,
        abandon_on_cancel=True,
    )
    frames = await draw_pages(pages, options, draw)
    missing = archive.text_dropped + left_out
    redrawn = replace(archive, frames=frames, truncated_chars=missing, text_tail=None, text_head=None)
    return within_bytes(redrawn, options.byte_budget)


def _is_of(frame: FrameRecord, options: FrameOptions) -> bool:
    """Whether a frame was drawn in the shape and size of `options`."""
    shape, size = options.shape, options.size
    grid = (shape.cols(size), shape.rows(size), shape.font, shape.ink, shape.line_repeat, shape.columns == 2)
    return grid == (frame.cols, frame.rows, frame.font, frame.variant, frame.line_repeat, frame.columns == 2)
