"""Input nobody should send: every one gives readable frames or a typed error, in bounded memory."""

import io
import tracemalloc

import pytest
from PIL import Image

from octavo.snapcompact.normalize import normalize
from octavo.snapcompact.render import pages_of, render_page, render_text
from octavo.snapcompact.shapes import VARIANTS
from unit.snapcompact.decoder import Reader

SHAPE = VARIANTS["11on16-bw"]

HOSTILE = {
    "lone surrogates": "a\ud800b\udc00c\udbff",
    "only control characters": "".join(map(chr, range(0x20))) * 50 + "\x7f\x9b",
    "only emoji": "😀🎉🚀" * 500,
    "right to left": "\u202eשלום مرحبا\u202c " * 200,
    "ansi art": "\x1b[38;5;196m█▓▒░\x1b[0m\x1b[2J\x1b[1;1H\n" * 300,
    "truncated escapes": "\x1b[\x1b]\x1bP\x1b" * 100,
    "forged dim toggles": "\x0e\x0e\x0f\x0e text \x0f\x0f\x0e" * 500,
    "only toggles": "\x0e\x0f" * 5000,
    "combining towers": "e" + "\u0301\u0336\u20dd" * 5000,
    "zero width joiners": "\u200d\u200b\ufeff" * 5000,
    "noncharacters": "\ufffe\uffff\U0010ffff\ufdd0" * 100,
    "full width at every edge": "中a" * 3000,
    "blank braille and fillers": "\u2800\u3164\uffa0\u115f" * 200,
    "huge indentation": "\n" + " " * 100_000 + "x\n" + "\t" * 3000 + "y",
    "unclosed data url": "data:image/png;base64," + "A" * 50_000,
}


@pytest.mark.parametrize("variant", ["11on16-bw", "8x8r-sent", "doc-8on16-sent-dim", "6x6u-sent", "5x8-bw"])
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("layout", ["octavo", "seed"])
def test_hostile_text_gives_whole_pictures(layout: str, name: str, variant: str) -> None:
    for frame in render_text(HOSTILE[name], VARIANTS[variant], layout=layout, frame_size=480, max_frames=2):  # type: ignore[arg-type]
        with Image.open(io.BytesIO(frame.png)) as image:
            image.load()
            assert image.size == (frame.width, frame.height)


def test_what_cannot_be_seen_gives_no_frames() -> None:
    for name in ("only control characters", "only toggles", "zero width joiners"):
        assert render_text(HOSTILE[name], SHAPE) == []


def test_a_word_of_ten_million_characters_is_drawn_up_to_the_frames_allowed() -> None:
    for layout in ("octavo", "seed"):
        frames = render_text("x" * 10_000_000, SHAPE, layout=layout, max_frames=2)  # type: ignore[arg-type]
        assert [frame.chars for frame in frames] == [13_916, 13_916]
    pages = pages_of("y" * 300_000, VARIANTS["doc-8on16-bw"], max_frames=1)
    assert len(pages) == 1


def test_forged_marks_are_read_back_as_other_characters() -> None:
    text = normalize("█❹⇥↵\x00")
    cells = Reader(SHAPE).read(render_page(text, SHAPE, frame_size=320).png, 320)
    assert "".join(char for char, _ in cells).rstrip() == "#(4)->|<-|"


def test_an_enormous_stretched_frame_is_drawn_in_bands() -> None:
    tracemalloc.start()
    try:
        render_page("x" * 30_000, VARIANTS["6x6u-bw"], frame_size=6000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 150_000_000
