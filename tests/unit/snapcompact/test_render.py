import io
import struct
import zlib

import anyio
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from octavo.snapcompact.contact_sheet import contact_sheet
from octavo.snapcompact.ink import PALETTE, dim_stopwords
from octavo.snapcompact.render import Frame, pages_of, render_page, render_text, render_text_async
from octavo.snapcompact.shapes import FAMILY_SHAPES, VARIANTS
from octavo_protocol.errors import ErrorKind, OctavoError

BLACK, GRAY, BAND = PALETTE[7], PALETTE[9], PALETTE[8]


def pixels(frame: Frame) -> NDArray[np.uint8]:
    with Image.open(io.BytesIO(frame.png)) as image:
        return np.array(image.convert("RGB"))


def colours(frame: Frame) -> set[tuple[int, ...]]:
    return {tuple(colour) for colour in np.unique(pixels(frame).reshape(-1, 3), axis=0).tolist()}


def chunks(png: bytes) -> list[tuple[str, bytes]]:
    found, at = [], 8
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", png, at + 8 + size) == (zlib.crc32(kind + body),)
        found.append((kind.decode(), body))
        at += 12 + size
    return found


def depth(frame: Frame) -> int:
    return frame.png[24]


@pytest.mark.parametrize(
    ("variant", "size", "cells", "height"),
    [
        ("5x8-sent", 320, 40, 8),
        ("11on16-bw", 320, 29, 16),
        ("11on16-bw", 320, 30, 32),
        ("11on16-bw", 1568, 13_916, 1568),
        ("8on22-bw", 1568, 13_916, 1562),
        ("11on16-bw", 1932, 21_000, 1920),
        ("8on22-bw", 2048, 23_808, 2046),
        ("6x12-dim", 1568, 33_930, 1560),
        ("8x8r-bw", 320, 41, 32),
        ("6x6u-bw", 320, 54, 12),
    ],
)
def test_the_height_hugs_the_rows_in_use(variant: str, size: int, cells: int, height: int) -> None:
    frame = render_page("x" * cells, VARIANTS[variant], frame_size=size)
    assert (frame.width, frame.height, frame.chars) == (size, height, cells)
    assert pixels(frame).shape == (height, size, 3)


def test_a_doc_page_is_as_high_as_its_longer_column() -> None:
    shape = VARIANTS["doc-8on16-bw"]
    assert render_page("a\nb\nc", shape, frame_size=160).height == 48
    assert render_page("\n".join("abcdefghijkl"), shape, frame_size=160).height == 160


def test_text_beyond_the_frame_is_left_out() -> None:
    shape = VARIANTS["11on16-bw"]
    frame = render_page("x" * 900, shape, frame_size=320)
    assert (frame.chars, frame.height) == (580, 320)


def test_an_empty_page_is_one_blank_row_and_an_empty_text_no_frame() -> None:
    frame = render_page("", FAMILY_SHAPES["anthropic"])
    assert (frame.height, frame.chars, colours(frame)) == (16, 0, {(255, 255, 255)})
    assert render_text(" \n ", FAMILY_SHAPES["anthropic"]) == []


def test_a_png_has_four_chunks_and_the_smallest_depth() -> None:
    black = render_page("plain", VARIANTS["11on16-bw"], frame_size=320)
    assert [kind for kind, _ in chunks(black.png)] == ["IHDR", "PLTE", "IDAT", "IEND"]
    assert (depth(black), dict(chunks(black.png))["PLTE"]) == (1, b"\xff\xff\xff\x00\x00\x00")
    assert depth(render_page("a \x0eb\x0f", VARIANTS["11on16-bw"], frame_size=320)) == 2
    assert depth(render_page("One. Two. Three. Four. Five", VARIANTS["8x8u-sent"], frame_size=320)) == 4


def test_stretched_frames_are_truecolor() -> None:
    frame = render_page("One. Two.", VARIANTS["6x6u-sent"], frame_size=320)
    assert [kind for kind, _ in chunks(frame.png)] == ["IHDR", "IDAT", "IEND"]
    assert frame.png[24:26] == bytes((8, 2))
    assert len(colours(frame)) > 10


def test_sentences_change_hue_and_the_newline_cell_is_black() -> None:
    frame = render_page("aa. bb█cc", VARIANTS["5x8-sent"], frame_size=320)
    assert colours(frame) == {(255, 255, 255), PALETTE[1], PALETTE[2], BLACK}
    assert (pixels(frame)[:8, 30:35] == 0).all()


def test_gray_wins_over_hue() -> None:
    assert colours(render_page("\x0eaa. bb\x0f", VARIANTS["5x8-sent"], frame_size=320)) == {(255, 255, 255), GRAY}


def test_repeated_rows_have_the_same_ink_on_a_band_as_wide_as_the_frame() -> None:
    drawn = pixels(render_page("gray \x0eand\x0f black", VARIANTS["8x8r-bw"], frame_size=323))
    assert (drawn[8:, -3:] == BAND).all()
    first, second = drawn[:8], drawn[8:]
    paper = (second == BAND).all(axis=2)
    assert np.array_equal(paper, (first == 255).all(axis=2))
    assert np.array_equal(first[~paper], second[~paper])


def test_the_zero_is_slashed_unless_the_plain_one_is_asked_for() -> None:
    shape = VARIANTS["8x13-bw"]
    slashed, plain, letter = (
        pixels(render_page(text, shape, frame_size=64, zero=zero))
        for text, zero in (("0", "slashed"), ("0", "plain"), ("O", "slashed"))
    )
    assert not np.array_equal(slashed, plain)
    assert not np.array_equal(slashed, letter)


def test_stopwords_are_gray_where_the_shape_says_so() -> None:
    assert GRAY in colours(render_text("This is the way", VARIANTS["6x12-dim"], frame_size=320)[0])
    assert GRAY not in colours(render_text("This is the way", VARIANTS["8x13-bw"], frame_size=320)[0])
    assert dim_stopwords("The theory of it") == "\x0eThe\x0f theory \x0eof\x0f \x0eit\x0f"


def test_frames_say_what_an_archive_records() -> None:
    frame = render_text("x" * 700, FAMILY_SHAPES["openai"], frame_size=320)[0]
    assert (frame.font, frame.variant, frame.cols, frame.rows) == ("8x13", "bw", 40, 14)
    assert (frame.line_repeat, frame.columns, frame.stopword_dim, frame.detail) == (1, 1, False, "original")


def test_max_frames_ends_the_list() -> None:
    shape = VARIANTS["11on16-bw"]
    text = "x" * (2 * shape.capacity(320) + 10)
    assert len(render_text(text, shape, frame_size=320)) == 3
    assert len(render_text(text, shape, frame_size=320, max_frames=2)) == 2
    assert render_text(text, shape, frame_size=320, max_frames=0) == []


@pytest.mark.parametrize("size", [0, -1, 10, 10**6])
def test_a_frame_size_that_cannot_be_drawn_is_a_typed_error(size: int) -> None:
    for attempt in (render_page, render_text):
        with pytest.raises(OctavoError) as refused:
            attempt("x", VARIANTS["11on16-bw"], frame_size=size)
        assert refused.value.kind is ErrorKind.INVALID_PARAMS


def test_the_largest_frame_can_be_drawn() -> None:
    for variant in ("11on16-bw", "6x6u-bw"):
        frame = render_page("x" * 9000, VARIANTS[variant], frame_size=16_384)
        assert frame.width == 16_384


async def test_frames_drawn_in_threads_are_the_same_and_are_counted_one_by_one() -> None:
    shape = VARIANTS["11on16-bw"]
    text = "A word or two. " * 400
    seen: list[tuple[int, int]] = []
    frames = await render_text_async(text, shape, frame_size=320, on_frame=lambda done, all_: seen.append((done, all_)))
    assert frames == render_text(text, shape, frame_size=320)
    assert seen == [(done, len(frames)) for done in range(1, len(frames) + 1)]


async def test_the_event_loop_runs_on_while_frames_are_drawn() -> None:
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(turn)
            frames = await render_text_async("x y z " * 10_000, VARIANTS["11on16-bw"])
            tasks.cancel_scope.cancel()
    assert len(frames) > 3
    assert turns > 10 * len(frames)


async def test_a_cancelled_rendering_returns_and_its_workers_stop() -> None:
    shape = VARIANTS["5x8-sent"]
    drawn: list[int] = []
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:

            def first_frame(done: int, _: int) -> None:
                drawn.append(done)
                tasks.cancel_scope.cancel()

            tasks.start_soon(
                lambda: render_text_async("Some text. " * 200_000, shape, frame_size=1200, on_frame=first_frame)
            )
    total = len(pages_of("Some text. " * 200_000, shape, frame_size=1200))
    assert 1 <= len(drawn) <= 2 < total


def test_a_check_that_raises_stops_a_frame_midway() -> None:
    class Enough(Exception):  # noqa: N818
        pass

    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise Enough

    for variant in ("11on16-bw", "6x6u-bw"):
        calls = 0
        with pytest.raises(Enough):
            render_page("x" * 200_000, VARIANTS[variant], frame_size=4096, check=check)


def test_a_contact_sheet_shows_every_frame() -> None:
    frames = render_text("Words on a page. " * 400, VARIANTS["11on16-bw"], frame_size=320)
    with Image.open(io.BytesIO(contact_sheet(frames, thumb_px=100, columns=4))) as sheet:
        assert sheet.width == 12 + 4 * 112
        assert sheet.height >= -(-len(frames) // 4) * 100
    assert Image.open(io.BytesIO(contact_sheet([]))).size[0] > 0
