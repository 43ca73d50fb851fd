"""The reading guide: which facts it states, in which order, and which it keeps quiet about."""

from dataclasses import replace

import pytest

from octavo.snapcompact.archive import Archive
from octavo.snapcompact.frames import FrameRecord
from octavo.snapcompact.guide import Geometry, GuideFacts, reading_guide, short_summary

GRID = Geometry(11, 16, 142, 98, "bw")
FRAME = FrameRecord("d", "image/png", 142, 98, 13_916, "8x13", "bw", 1)


def guide(archive: Archive | None = None, geometry: Geometry = GRID, **facts: bool) -> str:
    return reading_guide(GuideFacts(archive or Archive((FRAME, FRAME)), geometry, **facts))


def test_every_fact_is_stated_in_the_order_of_the_specification() -> None:
    geometry = replace(GRID, variant="sent", stopword_dim=True, line_repeat=2)
    archive = Archive((FRAME, FRAME), 12_345, "tail█end")
    text = guide(archive, geometry, previous_summary=True)
    facts = [
        "2 image frames",
        "oldest to newest",
        "11×16 pixels",
        "142×98 cells",
        "left to right",
        "top to bottom",
        "collapsed",
        "solid black cell",
        "six colours",
        "function words",
        "archived tool output",
        "printed twice",
        "[User]",
        "[Tool Result]",
        "older frames were printed with another grid",
        "[Summary of earlier history]",
        "12,345 characters of older history had to be dropped",
        "27,832 characters",
        "look the facts up again",
        "plain text",
        "newer than every frame",
        "tail\nend",
    ]
    positions = [text.index(fact) for fact in facts]
    assert positions == sorted(positions)


@pytest.mark.parametrize(
    "silent",
    ["colours", "function words", "twice", "another grid", "digest", "dropped", "newspaper", "plain text", "corner"],
)
def test_facts_that_do_not_apply_are_not_mentioned(silent: str) -> None:
    assert silent not in guide()


def test_tool_output_is_not_announced_when_it_is_not_dimmed() -> None:
    assert "archived tool output" in guide()
    assert "archived tool output" not in guide(dim_tool_results=False)


def test_the_marks_of_the_default_layout_are_explained() -> None:
    assert "number of spaces" in guide(keeps_indent=True)
    assert "collapsed" not in guide(keeps_indent=True)
    assert "Corner" not in guide(keeps_indent=True)
    assert "corner arrow" in guide(geometry=replace(GRID, columns=2), keeps_indent=True)


def test_two_columns_are_described_instead_of_rows() -> None:
    text = guide(geometry=replace(GRID, columns=2, cols=96))
    assert "two newspaper columns of 96×98 cells" in text
    assert "not wrapped" not in text


@pytest.mark.parametrize(
    "other",
    [
        replace(FRAME, cols=1),
        replace(FRAME, rows=1),
        replace(FRAME, variant=None),
        replace(FRAME, line_repeat=2),
        replace(FRAME, columns=2),
        replace(FRAME, stopword_dim=True),
    ],
)
def test_any_difference_in_geometry_or_ink_makes_the_shapes_mixed(other: FrameRecord) -> None:
    assert "another grid" in guide(Archive((other, FRAME)))
    assert "another grid" not in guide(Archive((replace(FRAME, line_repeat=None, font=None), FRAME)))


def test_the_tail_is_printed_as_it_is() -> None:
    tail = "a  ███\x0egray\x0f   █  </x>"
    assert guide(Archive((FRAME,), 0, tail)).endswith("\na  \n\n\ngray   \n  </x>")


def test_a_tail_cannot_break_out_of_the_summarys_wrapper() -> None:
    facts = GuideFacts(Archive((FRAME,), 0, "</summary>"), GRID, neutralise=lambda text: text.replace("<", "&lt;"))
    assert "</summary>" not in reading_guide(facts)


def test_one_frame_is_spoken_of_in_the_singular() -> None:
    assert "1 image frame," in guide(Archive((FRAME,)))


def test_an_empty_archive_is_the_fixed_phrase() -> None:
    assert guide(Archive()) == "No prior history."


def test_text_without_frames_is_introduced_without_frame_rules() -> None:
    text = guide(Archive((), 7, "the tail"))
    assert "frame" not in text
    assert "7 characters" in text
    assert text.endswith("the tail")


def test_the_short_line_counts_characters_and_frames() -> None:
    assert short_summary(Archive((FRAME,))) == "Archived 13,916 chars of history onto 1 snapcompact frame"
    assert short_summary(Archive((FRAME, FRAME), 0, "x" * 1000)) == (
        "Archived 27,832 chars of history onto 2 snapcompact frames (+1,000 chars as text)"
    )
