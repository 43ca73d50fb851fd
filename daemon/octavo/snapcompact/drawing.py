"""The door from archives and inline images to the real rasteriser; tests put their own `Draw` in its place.

Importing this module is cheap: numpy and the fonts are loaded when the first page is drawn.
"""

from base64 import b64encode
from collections.abc import Callable, Sequence

from octavo.snapcompact.layout import Layout
from octavo.snapcompact.shapes import Shape
from octavo.snapcompact.terms import Draw, Picture


def rasterizer(
    layout: Layout = "octavo", *, threads: int = 2, on_frame: Callable[[int, int], None] | None = None
) -> Draw:
    """Return a `Draw` that works in `threads` worker threads and stops soon after its scope is cancelled.

    `on_frame` is called in the event loop after every frame with (frames done, frames to draw).
    """

    async def draw(pages: Sequence[str], shape: Shape, size: int) -> list[Picture]:
        from octavo.snapcompact.render import render_pages_async  # noqa: PLC0415 - numpy and the fonts

        frames = await render_pages_async(
            list(pages), shape, layout=layout, frame_size=size, threads=threads, on_frame=on_frame
        )
        return [Picture(b64encode(frame.png).decode()) for frame in frames]

    return draw
