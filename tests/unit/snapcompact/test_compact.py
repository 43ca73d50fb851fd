"""Frame compaction as a whole: what is kept, what is refused before anything is drawn, what never happens."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from echo_frames import echo, echo_data, page_text
from octavo.js_text import utf16_length
from octavo.snapcompact.archive import Archive, archive_text, open_archive
from octavo.snapcompact.compact import MOST_CHARS, compact_to_frames, require_images
from octavo.snapcompact.drawing import rasterizer
from octavo.snapcompact.layout import ends_dim
from octavo.snapcompact.marks import plain_text
from octavo.snapcompact.plan import gather
from octavo.snapcompact.redraw import for_present_model, redraw_archive
from octavo.snapcompact.shapes import Shape, resolve_shape, variant
from octavo.snapcompact.terms import FrameCompaction, FrameOptions, FrameRequest, Picture, Window
from octavo_protocol.completion import Model
from octavo_protocol.errors import ErrorKind, OctavoError

SMALL = FrameOptions(variant("11on16-bw"), frame_size=320, max_frames=3)
CAPACITY = 580


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def output(text: str) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": "c", "content": [{"type": "text", "text": text}]}


async def compact(
    *messages: dict[str, Any],
    after: FrameCompaction | None = None,
    options: FrameOptions = SMALL,
    window: Window | None = None,
    **request: Any,
) -> FrameCompaction:
    request.setdefault("previous_preserve_data", after and json.loads(json.dumps(after.preserve_data)))
    request.setdefault("tokens_before", 10**9)
    return await compact_to_frames(FrameRequest("kept", messages, **request), options, echo, window)


async def refuse_to_draw(pages: Sequence[str], shape: Shape, size: int) -> list[Picture]:
    raise AssertionError("nothing may be drawn")


def pages(result: FrameCompaction) -> list[str]:
    return [page_text(frame.data) for frame in result.archive.frames]


async def test_five_compactions_keep_the_head_readable_and_the_budget_held() -> None:
    result = None
    for turn in range(1, 6):
        text = f"HEAD of turn {turn}. " + f"Fact {turn} of many. " * 60
        result = await compact(user(text), output("tool said so. " * 20), after=result)
        assert len(result.archive.frames) <= 3
        assert pages(result)[0].startswith("[User]: HEAD of turn 1. Fact 1 of many.")
        assert f"{len(result.archive.frames)} image frames" in result.summary
    assert result is not None
    assert result.archive.truncated_chars > 0
    assert f"{result.archive.truncated_chars:,} characters of older history had to be dropped" in result.summary
    assert "HEAD of turn 5" in archive_text(result.archive)
    assert "HEAD of turn 2" in archive_text(result.archive)


async def test_old_frames_are_carried_over_byte_for_byte_even_into_another_shape() -> None:
    first = await compact(user("one"))
    second = await compact(user("two"), after=first, options=FrameOptions(variant("8x8r-sent"), frame_size=320))
    assert second.archive.frames[0] == first.archive.frames[0]
    assert "Some older frames were printed with another grid, font or ink" in second.summary
    assert "another grid" not in first.summary


async def test_text_that_overflows_becomes_a_tail_that_the_next_compaction_draws_first() -> None:
    first = await compact(user("Word by word. " * 150))
    assert first.archive.text_tail
    assert first.archive.truncated_chars == 0
    assert plain_text(first.archive.text_tail) in first.summary
    second = await compact(user("next"), after=first, options=FrameOptions(SMALL.shape, frame_size=320))
    assert second.archive.text_tail is None
    assert pages(second)[3].startswith(first.archive.text_tail[:100])
    assert pages(second)[-1].endswith("█[User]: next")


async def test_a_dim_span_is_open_again_on_every_frame_it_crosses_and_in_the_tail() -> None:
    result = await compact(output("gray text " * 190), options=FrameOptions(SMALL.shape, frame_size=320, max_frames=2))
    first, second = pages(result)
    assert ends_dim(first)
    assert second.startswith("\x0e")
    assert result.archive.text_tail
    assert result.archive.text_tail.startswith("\x0e")
    assert "gray passages are archived tool output" in result.summary


async def test_a_previous_summary_opens_the_first_frame_and_stays_announced() -> None:
    first = await compact(user("Fix it."), previous_summary="Scaffolding done.")
    assert pages(first) == ["[Summary of earlier history] Scaffolding done. [Recent conversation] [User]: Fix it."]
    second = await compact(user("More."), after=first, previous_summary="the guide of the compaction before")
    assert "the guide" not in "".join(pages(second))
    assert "opens with a digest" in first.summary
    assert "opens with a digest" in second.summary


async def test_nothing_to_archive_gives_the_fixed_phrase_and_the_files() -> None:
    result = await compact(with_files=lambda summary: summary + "\n\n<files>\na (Read)\n</files>", read_files=["a"])
    assert result.summary == "No prior history.\n\n<files>\na (Read)\n</files>"
    assert result.details == {"readFiles": ["a"], "modifiedFiles": []}


async def test_the_shape_of_the_request_is_honoured_and_recorded() -> None:
    shape = resolve_shape(Model("openai", "gpt-5", "openai-responses"), "doc-8on16-sent-dim")
    result = await compact(user("The cat sat on the mat. " * 60), options=FrameOptions(shape, frame_size=320))
    frame = result.archive.frames[0].to_json()
    assert (frame["columns"], frame["stopwordDim"], frame["detail"], frame["variant"]) == (2, True, "original", "sent")
    assert "two newspaper columns" in result.summary
    assert "\x0eThe\x0f cat" in pages(result)[0]


async def test_claude_is_not_shown_its_own_thinking_and_gateways_get_few_frames() -> None:
    """BR-080."""
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "t"}]}
    shown = {}
    for model in (
        Model("openrouter", "anthropic/claude-opus-4.8", "openai-completions"),
        Model("openai", "gpt-5", "openai-responses"),
    ):
        options = FrameOptions.for_model(model, max_frames=80)
        shown[model.provider] = (options.max_frames, "[Think]" in pages(await compact(thought, options=options))[0])
    assert shown == {"openrouter": (8, False), "openai": (80, True)}
    assert FrameOptions.for_model(model, shape="8x8u-bw").shape.name == "8x8u-bw"


async def test_a_model_that_cannot_see_is_refused_by_name() -> None:
    with pytest.raises(OctavoError, match="acme/text-only") as refused:
        require_images(Model("acme", "text-only"))
    assert refused.value.kind is ErrorKind.STRATEGY_UNAVAILABLE
    require_images(Model("acme", "eyes", inputs=("text", "image")))


async def test_text_no_font_can_draw_is_refused_before_drawing_and_the_cause_is_named() -> None:
    """BR-079."""
    request = FrameRequest("kept", [user("\ue000" * 900 + "a" * 100)], 10**6)
    with pytest.raises(OctavoError, match="no glyph for 900 of") as refused:
        await compact_to_frames(request, SMALL, refuse_to_draw)
    assert refused.value.kind is ErrorKind.STRATEGY_UNAVAILABLE
    assert refused.value.data["details"]["reason"] == "undrawable-text"


async def test_foreign_scripts_with_glyphs_are_not_refused() -> None:
    result = await compact(user("日本語のテキスト。Привет, мир! 한국어"))
    assert "日本語のテキスト" in pages(result)[0]


def window(size: int, *, fixed: int = 2000, kept: int = 3000) -> Window:
    return Window(size, fixed, kept, lambda text: len(text) // 4)


async def test_the_number_of_frames_is_sized_to_the_window_before_drawing() -> None:
    """BR-046."""
    options = FrameOptions(resolve_shape(Model("anthropic", "claude-x", "anthropic-messages")), max_frames=80)
    roomy, tight = window(200_000), window(50_000)
    history = user("A long history with many facts in it. " * 50_000)
    for room in (roomy, tight):
        result = await compact(history, options=options, window=room, tokens_before=600_000)
        assert result.tokens_after is not None
        assert result.tokens_after <= room.limit
    assert len(result.archive.frames) == 6
    with pytest.raises(OctavoError, match="Not even one frame fits") as refused:
        await compact_to_frames(FrameRequest("kept", [history], 10**6), options, refuse_to_draw, window(22_000))
    assert refused.value.kind is ErrorKind.STRATEGY_UNAVAILABLE
    assert refused.value.data["details"]["limit"] == 22_000 - 16_384


async def test_a_result_that_would_not_shrink_the_context_is_refused_with_both_numbers() -> None:
    """BR-047."""
    with pytest.raises(OctavoError, match="from 5600 to") as refused:
        await compact(
            user("short"), options=FrameOptions(variant("11on16-bw")), window=window(200_000), tokens_before=5600
        )
    assert refused.value.kind is ErrorKind.CHECK_FAILED
    details = refused.value.data["details"]
    assert details["reason"] == "would-not-shrink"
    assert details["tokensAfter"] > details["tokensBefore"] == 5600


async def test_an_unknown_window_sizes_nothing() -> None:
    result = await compact(user("text"), window=Window(0, 10, 10, len), tokens_before=0)
    assert len(result.archive.frames) == 1


async def test_secrets_are_redacted_in_frames_tail_and_source() -> None:
    """BR-074."""
    found: list[str] = []

    def redact(text: str) -> str:
        found.extend(["x"] * text.count("AKIA12345678"))
        return text.replace("AKIA12345678", "[redacted]")

    secret = "key AKIA12345678 " * 200
    result = await compact(user(secret), redact=redact, previous_summary="old AKIA12345678")
    assert "AKIA" not in json.dumps(result.preserve_data)
    assert all("AKIA" not in page for page in pages(result))
    assert "AKIA" not in result.summary + archive_text(result.archive)
    assert len(found) == 201


async def test_frames_of_an_old_archive_that_are_broken_are_left_out_and_reported() -> None:
    first = await compact(user("one"))
    second = await compact(user("two"), after=first)
    stored = json.loads(json.dumps(second.preserve_data))
    stored["snapcompact"]["frames"][0]["data"] = "%%%"
    third = await compact(user("three"), previous_preserve_data=stored)
    assert [page.removeprefix("[User]: ") for page in pages(third)] == ["two", "three"]
    assert third.problems
    assert third.archive.truncated_chars == len("[User]: one")


async def test_an_archive_of_the_seed_without_source_text_says_what_its_text_misses() -> None:
    frame = {"data": echo_data("old", 320, 320), "mimeType": "image/png", "cols": 29, "rows": 20, "chars": 500}
    old = {"snapcompact": {"frames": [frame], "totalChars": 500, "truncatedChars": 20, "textTail": "tail"}}
    result = await compact(user("new"), previous_preserve_data=old)
    assert archive_text(result.archive) == "tail\n[User]: new"
    assert result.archive.text_dropped == 520
    assert result.archive.total_chars == 500 + len("tail█[User]: new")


async def test_an_archive_of_the_later_shape_is_drawn_from_its_text() -> None:
    frame = {"data": echo_data("mid", 320, 320), "mimeType": "image/png", "cols": 29, "rows": 20, "chars": 3}
    old = {"snapcompact": {"frames": [frame], "text": "head mid end", "textHead": "head", "textTail": "end"}}
    result = await compact(user("new"), previous_preserve_data=old)
    assert pages(result) == ["head mid end█[User]: new"]
    assert archive_text(result.archive) == "head mid end\n[User]: new"


async def test_the_byte_budget_evicts_from_the_middle_and_keeps_the_first_and_newest() -> None:
    """BR-064."""
    budget = len(echo_data("x" * CAPACITY, 1, 1)) * 3
    options = FrameOptions(SMALL.shape, frame_size=320, max_frames=8, byte_budget=budget)
    result = await compact(user("".join(f"{n:05} " for n in range(600))), options=options)
    assert result.archive.data_bytes <= budget
    assert pages(result)[0].startswith("[User]: 00000")
    assert pages(result)[-1].endswith("00599")
    assert result.archive.truncated_chars > 0


async def test_switching_to_a_summary_hands_over_the_text() -> None:
    first = await compact(user("Decision: use SQLite."))
    second = await compact(output("    indented\n\ttabbed"), after=first)
    archive = open_archive(second.preserve_data).archive
    assert archive is not None
    assert archive_text(archive) == "[User]: Decision: use SQLite.\n[Tool Result]:     indented\n\ttabbed"


async def test_an_archive_is_drawn_again_for_another_family_from_its_source() -> None:
    first = await compact(*(user(f"Turn {n}. " * 30) for n in range(12)))
    assert first.archive.truncated_chars > 0
    wide = FrameOptions(variant("5x8-bw"), max_frames=4)
    redrawn = await redraw_archive(first.archive, wide, echo)
    assert len(redrawn.frames) == 1
    assert redrawn.truncated_chars == 0
    assert redrawn.text_tail is None
    assert page_text(redrawn.frames[0].data) == first.archive.text
    narrow = await redraw_archive(first.archive, SMALL, echo)
    assert len(narrow.frames) == 3
    assert page_text(narrow.frames[0].data).startswith("[User]: Turn 0.")
    assert page_text(narrow.frames[-1].data).endswith("Turn 11.")
    assert first.archive.text
    assert narrow.truncated_chars == utf16_length(first.archive.text) - narrow.total_chars


async def test_frames_meant_for_another_family_are_drawn_anew_and_others_carried_forward() -> None:
    first = await compact(*(user(f"Turn {n}. " * 30) for n in range(12)))
    assert await for_present_model(first.preserve_data, SMALL, refuse_to_draw) is first.preserve_data
    wide = FrameOptions(variant("5x8-bw"), max_frames=4)
    anew = await for_present_model({**first.preserve_data, "app": 1}, wide, echo)
    assert anew is not None
    assert anew["app"] == 1
    second = await compact(user("And now?"), options=wide, previous_preserve_data=anew)
    assert [frame.font for frame in second.archive.frames] == ["5x8", "5x8"]
    assert archive_text(second.archive).startswith("[User]: Turn 0.")
    assert archive_text(second.archive).endswith("[User]: And now?")


async def test_frames_whose_source_text_is_not_whole_stay_as_they_are() -> None:
    first = await compact(user("word " * 400), options=replace(SMALL, source_units=500))
    assert first.archive.text_dropped > 0
    wide = FrameOptions(variant("5x8-bw"), max_frames=4)
    for data in (first.preserve_data, {"app": 1}, None):
        assert await for_present_model(data, wide, refuse_to_draw) == data


async def test_an_archive_without_source_text_cannot_be_drawn_again() -> None:
    with pytest.raises(OctavoError, match="keeps no source text") as refused:
        await redraw_archive(Archive(), SMALL, echo)
    assert refused.value.kind is ErrorKind.STRATEGY_UNAVAILABLE


async def test_a_compaction_without_a_first_kept_entry_or_with_an_absurd_size_is_refused() -> None:
    with pytest.raises(OctavoError) as refused:
        await compact_to_frames(FrameRequest("", [], 0), SMALL, refuse_to_draw)
    assert refused.value.kind is ErrorKind.INVALID_PARAMS
    for size in (0, 10**6):
        with pytest.raises(OctavoError):
            await compact(user("x"), options=FrameOptions(SMALL.shape, frame_size=size))


async def test_real_frames_are_drawn_with_progress() -> None:
    done: list[tuple[int, int]] = []
    draw = rasterizer(on_frame=lambda at, of: done.append((at, of)))
    request = FrameRequest("kept", [user("Real pixels. " * 100)], 10**6)
    with anyio.fail_after(60):
        result = await compact_to_frames(request, SMALL, draw, window(100_000))
    assert sorted(done) == [(1, 3), (2, 3), (3, 3)]
    assert open_archive(result.preserve_data).problems == ()
    assert open_archive(result.preserve_data).archive == result.archive


TURNS = st.lists(st.text(alphabet="ab. é█", max_size=1500), min_size=1, max_size=5)


@settings(deadline=None, max_examples=60)
@given(TURNS, st.integers(1, 4))
def test_no_text_is_lost_uncounted_no_budget_exceeded_and_the_first_frame_never_changes(
    turns: list[str], budget: int
) -> None:
    async def run() -> None:
        options = FrameOptions(SMALL.shape, frame_size=160, max_frames=budget, byte_budget=None)
        result, first = None, None
        for text in turns:
            result = await compact(user(text), after=result, options=options)
            archive = result.archive
            assert len(archive.frames) <= budget
            source, tail = utf16_length(archive.text or ""), utf16_length(archive.text_tail or "")
            # Compactions meet without a newline cell on frames; elision markers count as characters of the tail.
            assert archive.total_chars + archive.truncated_chars + tail >= source - len(turns)
            first = first or (archive.frames[0] if archive.frames else None)
            if budget >= 2 and first:
                assert archive.frames[0] == first

    anyio.run(run)


async def test_a_history_no_budget_could_show_is_bounded_before_it_is_paged_and_says_what_is_missing() -> None:
    words = "the tide comes in and the tide goes out again " * 2000
    made = await compact(*(user(f"part {number} {words}") for number in range(60)))
    shown = made.archive.total_chars + made.archive.truncated_chars
    assert MOST_CHARS * 0.9 < shown < MOST_CHARS * 1.1
    assert plain_text(pages(made)[0]).startswith("[User]: part 0 the tide")
    assert made.archive.text_tail is not None
    assert made.archive.text_tail.rstrip().endswith("goes out again")


def test_the_tail_of_a_seed_archive_is_its_text_to_the_letter() -> None:
    """A capped tail may open a dim span twice; paging and joining must not tidy that up (snapcompact.md §7.1)."""
    text = f"{'a' * CAPACITY}\x0e{'b' * (CAPACITY - 1)}\x0e{'c' * 50}"
    material = gather(
        "",
        previous=Archive(text_tail=text),
        previous_summary=None,
        shape=SMALL.shape,
        size=320,
        layout="seed",
        source_units=0,
    )
    plan = material.within(1)
    assert plan.pages == (text[:CAPACITY],)
    assert plan.tail == text[CAPACITY:]
