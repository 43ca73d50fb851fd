import math
from pathlib import Path
from typing import Any

import pytest

from octavo.sessions.context import build_context
from octavo.tokens.breakdown import FixedParts, context_usage, measure_fixed, percent_of
from octavo.tokens.counting import count_each, count_tokens
from octavo.tokens.estimate import Estimator
from octavo.tokens.images import IMAGE_TOKENS, LARGEST_FRAME_TOKENS
from octavo_protocol.completion import Model
from octavo_protocol.methods.common import ContextUsage as WireUsage
from octavo_protocol.settings import Settings

SETTINGS = Settings().compaction
MODEL = Model("anthropic", "claude-x", context_window=200_000)


def entry(entry_id: str, **message: Any) -> dict[str, Any]:
    return {"type": "message", "id": entry_id, "message": {"timestamp": 5, **message}}


def reply(entry_id: str, usage: Any = None, text: str = "ok", **extra: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return entry(
        entry_id,
        role="assistant",
        content=content,
        usage=usage,
        stopReason="stop",
        provider="anthropic",
        model="claude-x",
        **extra,
    )


def usage_of(path: list[dict[str, Any]], model: Model | None = MODEL, **options: Any) -> Any:
    return context_usage(path, build_context(path), model, SETTINGS, **options)


def test_every_kind_of_content_is_shown_where_it_belongs() -> None:
    frame = {"data": "AAAA", "mimeType": "image/png", "cols": 1, "rows": 1, "chars": 1}
    path = [
        {"type": "compaction", "id": "c", "summary": "hello", "firstKeptEntryId": "c",
         "preserveData": {"snapcompact": {"frames": [frame]}}},
        entry("u", role="user", content="hello world"),
        reply("a", text="hello world hello"),
        entry("b", role="bashExecution", command="ls", output=""),
        {"type": "custom_message", "id": "m", "content": "note", "customType": "n"},
    ]  # fmt: skip
    shown = usage_of(path, fixed=FixedParts(system=7, tools=8)).breakdown
    assert shown.to_wire() == {
        "system": 7,
        "tools": 8,
        "summary": 1,
        "frames": LARGEST_FRAME_TOKENS,
        "user": 3,
        "assistant": 3,
        "toolResults": 1,
    }


def test_without_a_measurement_the_breakdown_adds_up_to_the_tokens() -> None:
    found = usage_of([entry("u", role="user", content="hello"), reply("a")], fixed=FixedParts(100, 50))
    assert (found.source, found.tokens) == ("estimate", found.breakdown.total)


def test_a_measurement_is_the_anchor() -> None:
    found = usage_of([entry("u", role="user", content="hello"), reply("a", {"input": 1000})])
    assert (found.source, found.tokens, found.percent) == ("usage", 1001, 1001 / 2000)
    assert found.threshold == 170_000


def test_a_measurement_kept_from_before_a_compaction_is_not() -> None:
    """BR-043, BR-044."""
    path = [
        entry("u", role="user", content="hello"),
        reply("a", {"input": 150_000}),
        {"type": "compaction", "id": "c", "summary": "s", "firstKeptEntryId": "a"},
    ]
    first = usage_of(path)
    assert (first.source, first.tokens < 10) == ("estimate", True)
    later = usage_of([*path, entry("n", role="user", content="hello")])
    assert later.tokens == first.tokens + 1


def test_a_measurement_from_before_a_shake_is_not_believed() -> None:
    path = [entry("u", role="user", content="hello"), reply("a", {"input": 1000})]
    assert usage_of(path, not_before_ms=6).source == "estimate"


@pytest.mark.parametrize("window", [0, -1])
@pytest.mark.parametrize("usage", [None, {}, {"input": math.nan}, {"totalTokens": None}])
def test_an_unknown_window_gives_no_percentage_and_no_threshold(window: int, usage: Any) -> None:
    """BR-040."""
    found = usage_of([reply("a", usage)], Model("x", "y", context_window=window))
    assert (found.percent, found.threshold, found.context_window, found.window_source) == (None, None, 0, "unknown")
    assert found.to_wire()["threshold"] == 0


def test_percentages_are_clamped_and_never_nan() -> None:
    """BR-040."""
    assert percent_of(338_000, 200_000) == 100
    assert percent_of(-5, 200_000) == 0
    assert percent_of(math.nan, 200_000) is None
    assert percent_of(5, math.nan) is None


def test_the_source_of_the_window_is_told() -> None:
    """BR-055."""
    assert usage_of([reply("a")], window_source="client").window_source == "client"


def test_forty_screenshots_show_their_bytes_beside_their_tokens() -> None:
    """BR-064: 34 MB while the tokens say a quarter of the window."""
    image = {"type": "image", "data": "A" * 850_000, "mimeType": "image/png"}
    path = [entry(f"u{n}", role="user", content=[image]) for n in range(40)]
    found = usage_of(path)
    assert found.tokens == 40 * IMAGE_TOKENS
    assert found.image_bytes == 34_000_000
    assert found.request_bytes > 34_000_000


def test_fixed_parts_are_the_prompt_and_each_tools_name_description_and_schema() -> None:
    tools = [{"name": "read", "description": "Read a file", "parameters": {"type": "object"}}, None, {"name": 3}]
    fixed = measure_fixed(["You are", "helpful"], tools)
    assert fixed.system == count_tokens("You are") + count_tokens("helpful")
    assert fixed.tools == sum(count_each(["read", "Read a file", '{"type":"object"}']))
    assert measure_fixed(None, None) == FixedParts()
    assert measure_fixed("You are", None).system == count_tokens("You are")


def test_the_wire_form_is_what_the_protocol_describes() -> None:
    wire = usage_of([reply("a", {"input": 1000})]).to_wire()
    assert WireUsage.model_validate(wire).to_wire() == wire


def test_asking_again_counts_nothing_again() -> None:
    counted = 0

    def count(texts: Any) -> list[int]:
        nonlocal counted
        counted += len(texts)
        return count_each(texts)

    path = [entry(f"u{n}", role="user", content=f"text {n}") for n in range(200)]
    estimator = Estimator(count=count)
    first = usage_of(path, estimator=estimator)
    assert usage_of(path, estimator=estimator) == first
    assert counted == 200


@pytest.mark.samples
def test_a_real_session_is_broken_down_without_loss(samples: Path) -> None:
    from conformance.support import fixture_entries

    path = list(fixture_entries("fixtures/before-compaction.jsonl"))
    found = usage_of(path, None)
    estimator = Estimator()
    assert found.breakdown.total == estimator.total(build_context(path).messages)
    assert found.source == "usage"
