"""All frames of an archive small on one picture, for a person who wants to see what the model sees.

The sheet is for looking, not for reading: frames are scaled down. It loads Pillow.
"""

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw

from octavo.snapcompact.render import Frame

_PAPER, _BORDER, _INK = (236, 236, 232), (120, 120, 120), (40, 40, 40)
_MARGIN_PX = 12
_CAPTION_PX = 14


def contact_sheet(frames: Sequence[Frame], *, thumb_px: int = 392, columns: int = 4) -> bytes:
    """Put frames in reading order on one PNG, oldest first, each with a caption.

    Args:
        frames: What `render_text` returned; none gives an empty sheet.
        thumb_px: Width of every small picture.
        columns: Pictures a row, fewer when there are fewer frames.
    """
    return contact_sheet_of(
        [(frame.png, f"{at}  {frame.chars:,} chars  {frame.tokens:,} tokens") for at, frame in enumerate(frames, 1)],
        thumb_px=thumb_px,
        columns=columns,
    )


def contact_sheet_of(pictures: Sequence[tuple[bytes, str]], *, thumb_px: int = 392, columns: int = 4) -> bytes:
    """Put (PNG bytes, caption) pairs on one PNG; for frames an archive kept without their figures."""
    thumbs = [_thumb(png, thumb_px) for png, _ in pictures]
    columns = max(1, min(columns, len(thumbs)))
    rows = [thumbs[at : at + columns] for at in range(0, len(thumbs), columns)]
    heights = [max(thumb.height for thumb in row) + _CAPTION_PX + _MARGIN_PX for row in rows]
    sheet = Image.new("RGB", (_MARGIN_PX + columns * (thumb_px + _MARGIN_PX), _MARGIN_PX + sum(heights)), _PAPER)
    pen = ImageDraw.Draw(sheet)
    captions = iter(caption for _, caption in pictures)
    y = _MARGIN_PX
    for row, height in zip(rows, heights, strict=True):
        for column, thumb in enumerate(row):
            x = _MARGIN_PX + column * (thumb_px + _MARGIN_PX)
            pen.text((x, y), next(captions), fill=_INK)
            sheet.paste(thumb, (x, y + _CAPTION_PX))
            pen.rectangle(
                (x - 1, y + _CAPTION_PX - 1, x + thumb.width, y + _CAPTION_PX + thumb.height), outline=_BORDER
            )
        y += height
    out = io.BytesIO()
    sheet.save(out, "PNG", optimize=True)
    return out.getvalue()


def _thumb(png: bytes, width: int) -> Image.Image:
    with Image.open(io.BytesIO(png)) as frame:
        height = max(1, round(frame.height * width / frame.width))
        return frame.convert("RGB").resize((width, height), Image.Resampling.BOX)
