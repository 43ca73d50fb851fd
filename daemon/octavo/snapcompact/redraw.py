"""Draw an archive again from its source text, for another shape or family of models (snapcompact.md §7.4).

The source text decides; old frames are thrown away. What the bound of the source or the number of frames leaves out is
counted, so the reading guide stays true.
"""

from dataclasses import replace

import anyio.to_thread

from octavo.snapcompact.archive import Archive
from octavo.snapcompact.compact import draw_pages, within_bytes
from octavo.snapcompact.plan import pages_of_source
from octavo.snapcompact.shapes import check_frame_size
from octavo.snapcompact.terms import Draw, FrameOptions
from octavo_protocol.errors import ErrorKind, OctavoError


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
