"""The stored archive: reading what is sound, refusing what is not, showing it within a byte budget."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_frames import echo_data
from octavo.js_text import utf16_length
from octavo.snapcompact.archive import (
    Archive,
    archive_text,
    extend_source,
    history_blocks,
    open_archive,
    read_archive,
    with_archive,
)
from octavo.snapcompact.frames import FrameRecord


def stored_frame(page: str = "text", **changes: Any) -> dict[str, Any]:
    frame = {"data": echo_data(page, 320, 320), "mimeType": "image/png", "cols": 29, "rows": 20, "chars": len(page)}
    return frame | changes


def stored(*frames: Any, **fields: Any) -> dict[str, Any]:
    return {"snapcompact": {"frames": list(frames), "totalChars": 4, "truncatedChars": 0, **fields}}


def record(size: int, name: str = "x") -> FrameRecord:
    return FrameRecord(name * size, "image/png", 29, 20, 10)


def test_an_archive_of_the_seeds_shape_opens_and_is_written_back_alike() -> None:
    frame = stored_frame(font="8x13", variant="bw", lineRepeat=1, detail="original", fromTheFuture=[1])
    preserved = stored(frame, textTail="tail", truncatedChars=7)
    archive = read_archive(preserved)
    assert archive is not None
    assert open_archive(preserved).archive == archive
    assert archive.to_json() == preserved["snapcompact"]


@pytest.mark.parametrize(
    "preserved",
    [
        None,
        "text",
        {},
        {"snapcompact": None},
        {"snapcompact": []},
        {"snapcompact": {"frames": "none"}},
        {"snapcompact": {"frames": []}},
        stored(stored_frame(), None),
        stored(stored_frame(data="")),
        stored(stored_frame(mimeType=None)),
        stored(stored_frame(cols="29")),
        stored(stored_frame(rows=float("nan"))),
        stored(stored_frame(chars=True)),
    ],
)
def test_the_seeds_guard_refuses_anything_that_is_not_well_formed(preserved: Any) -> None:
    assert read_archive(preserved) is None
    open_archive(preserved)


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (stored_frame(data="@@@ not base64"), "not base64"),
        (stored_frame(data=echo_data("x", 1, 1)[:-1]), "not base64"),
        (stored_frame(data=base64.b64encode(b"GIF89a" * 20).decode()), "not a PNG"),
        (stored_frame(data=echo_data("x", 0, 320)), "0 by 320 px"),
        (stored_frame(data=echo_data("x", 320, 2**31)), "2147483648 px"),
        (stored_frame(cols=0), "impossible"),
        (stored_frame(cols=-5), "impossible"),
        (stored_frame(rows=10**400), "impossible"),
        (stored_frame(cols=1e300), "impossible"),
        (stored_frame(chars=10**9), "cannot hold"),
        (stored_frame(data="blob:sha256:00"), "blob"),
        ({"cols": 1}, "missing"),
        (None, "missing"),
    ],
)
def test_a_broken_frame_is_left_out_and_named_and_the_sound_ones_stay(broken: Any, clause: str) -> None:
    reading = open_archive(stored(stored_frame("first"), broken, stored_frame("last")))
    assert reading.archive is not None
    assert [frame.chars for frame in reading.archive.frames] == [5, 4]
    assert len(reading.problems) == 1
    assert reading.problems[0].startswith("frame 2 was left out")
    assert clause in reading.problems[0]


def test_characters_of_a_broken_frame_count_as_truncated() -> None:
    reading = open_archive(stored(stored_frame("first"), stored_frame(data="%", chars=120), truncatedChars=5))
    assert reading.archive is not None
    assert reading.archive.truncated_chars == 125


def test_an_archive_without_one_sound_frame_is_none_unless_its_text_is_there() -> None:
    assert open_archive(stored(stored_frame(data="%"))).archive is None
    assert open_archive(stored(stored_frame(data="%"))).problems
    kept = open_archive(stored(stored_frame(data="%"), text="the history")).archive
    assert kept is not None
    assert archive_text(kept) == "the history"


def test_counters_of_any_kind_become_counts() -> None:
    archive = read_archive(stored(stored_frame(), truncatedChars="many", textDropped=-4, textTail=5))
    assert archive is not None
    assert (archive.truncated_chars, archive.text_dropped, archive.text_tail) == (0, 0, None)


def test_other_preserved_data_survives_and_a_providers_own_compaction_does_not() -> None:
    before = {"app": 1, "openaiRemoteCompaction": {}, "snapcompact": {"frames": []}}
    after = with_archive(before, Archive((record(3),)))
    assert list(after) == ["app", "snapcompact"]
    assert list(before) == ["app", "openaiRemoteCompaction", "snapcompact"]


def test_blocks_show_the_newest_frames_within_the_byte_budget_and_say_what_is_missing() -> None:
    """BR-064, BR-080."""
    archive = Archive(tuple(record(1000, name) for name in "abcde"))
    blocks = history_blocks(archive, 2500)
    assert [block["type"] for block in blocks] == ["text", "image", "image"]
    assert "3 archived image frames are" in blocks[0]["text"]
    assert [block["data"][0] for block in blocks[1:]] == ["d", "e"]
    assert len(history_blocks(archive)) == 5


def test_blocks_leave_out_images_whose_blob_is_gone_and_forward_the_detail_hint() -> None:
    frames = (
        FrameRecord("blob:sha256:1", "image/png", 1, 1, 1),
        FrameRecord("b", "image/png", 1, 1, 1, detail="original"),
    )
    blocks = history_blocks(Archive(frames))
    assert "1 archived image frame is" in blocks[0]["text"]
    assert blocks[1] == {"type": "image", "data": "b", "mimeType": "image/png", "detail": "original"}


def test_the_text_head_of_a_later_archive_comes_before_its_images() -> None:
    archive = open_archive(stored(stored_frame(), textHead="head█next", text="head█next and more")).archive
    assert archive is not None
    assert [block["type"] for block in history_blocks(archive)] == ["text", "image"]
    assert history_blocks(archive)[0]["text"] == "head\nnext"


def test_archived_text_is_readable_without_its_marks() -> None:
    archive = Archive((record(1),), text="alpha█\x0ebeta gamma\x0f█Delta")
    assert archive_text(archive) == "alpha\nbeta gamma\nDelta"
    assert archive_text(Archive((record(1),), text_tail="only the tail")) == "only the tail"


@given(st.lists(st.text(alphabet="abc😀", max_size=60), max_size=6), st.integers(20, 80))
def test_the_source_text_stays_within_its_bound_and_counts_what_it_loses(parts: list[str], limit: int) -> None:
    source, dropped, given_units = "", 0, 0
    for part in parts:
        given_units += utf16_length(part) + (1 if source and part else 0)
        source, lost = extend_source(source, part, 8, limit)
        dropped += lost
        assert utf16_length(source) <= limit
    # Every elision leaves one newline cell in the gap.
    assert given_units <= utf16_length(source) + dropped <= given_units + len(parts)


def test_the_head_of_a_long_source_and_its_newest_part_stay() -> None:
    source, dropped = extend_source("HEAD" + "x" * 100, "y" * 100 + "TAIL", 4, 50)
    assert source.startswith("HEAD█")
    assert source.endswith("TAIL")
    assert dropped == 209 - 49
