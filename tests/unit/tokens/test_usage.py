import math
from typing import Any

import pytest

from octavo.tokens.estimate import Estimator
from octavo.tokens.usage import (
    ContextTokens,
    MeasuredAt,
    anchors_from,
    context_tokens,
    estimate_context_tokens,
    has_prompt_usage,
    implausible,
    last_rewrite_ms,
    last_usage,
    measure_context,
    prompt_tokens,
)

WORDS = "alpha beta gamma delta " * 50


def user(text: str = WORDS) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": 10}


def assistant(usage: Any = None, **extra: Any) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "done"}],
        "provider": "anthropic",
        "model": "claude-x",
        "stopReason": "stop",
        "timestamp": 20,
    }
    return message | ({"usage": usage} if usage is not None else {}) | extra


def measure(messages: list[Any], at: MeasuredAt | None = None, anchors: int = 0) -> ContextTokens:
    return measure_context(messages, Estimator(), at, anchors_from=anchors)


@pytest.mark.parametrize("nonsense", [None, "many", math.nan, math.inf, -5, True, [], {}])
def test_a_figure_that_is_no_number_counts_as_nothing(nonsense: Any) -> None:
    """BR-040."""
    usage = {"input": nonsense, "output": 3, "cacheRead": 7, "totalTokens": nonsense}
    assert context_tokens(usage) == 10
    assert prompt_tokens(usage) == 7
    assert context_tokens(nonsense) == prompt_tokens(nonsense) == 0
    assert not has_prompt_usage(nonsense)


def test_an_answer_without_prompt_figures_anchors_nothing() -> None:
    messages = [user(), assistant({"output": 500, "totalTokens": 500})]
    assert measure(messages).source == "estimate"


def test_the_context_is_the_measured_prompt_plus_everything_after_it() -> None:
    messages = [user(), assistant({"input": 900, "output": 5}), user("hello")]
    assert measure(messages) == ContextTokens(900 + 1 + 1, "usage", 1)
    assert estimate_context_tokens(messages, Estimator()) == ContextTokens(901, "usage", 1)


def test_failed_turns_measure_nothing() -> None:
    messages = [user(), assistant({"input": 900}), assistant({"input": 9999}, stopReason="error")]
    assert measure(messages).anchor == 1
    assert measure([user(), assistant({"input": 900}, stopReason="aborted")]).source == "estimate"


def test_figures_many_times_larger_than_window_or_messages_are_disregarded_with_a_reason() -> None:
    """BR-026: 4,280,000 tokens reported for 20 short messages and a window of 570,000."""
    messages = [user("short") for _ in range(20)] + [assistant({"totalTokens": 4_280_000, "input": 4_280_000})]
    found = measure(messages, MeasuredAt(window=570_000))
    assert found.source == "estimate"
    assert found.tokens < 100
    assert "4280000" in str(found.rejected)


def test_totals_of_a_whole_agent_loop_are_not_taken_for_the_context() -> None:
    """BR-062."""
    usage = {"input": 3, "cacheRead": 2_600_000, "totalTokens": 2_900_000}
    found = measure([*(user() for _ in range(12)), assistant(usage)], MeasuredAt(window=1_000_000))
    assert found.source == "estimate"
    assert found.tokens < 5_000


def test_absurd_numbers_do_not_overflow_anything() -> None:
    assert measure([user(), assistant({"input": 1e12})]).source == "estimate"
    assert measure([user(), assistant({"input": 10**400})]).source == "estimate"


def test_a_figure_far_below_what_is_there_left_out_the_cache() -> None:
    messages = [*(user(WORDS * 40) for _ in range(10)), assistant({"input": 3})]
    assert "only 3 tokens" in str(measure(messages).rejected)


def test_a_system_prompt_we_do_not_know_is_no_reason_for_doubt() -> None:
    assert implausible(25_000, 100, 200_000) is None
    assert implausible(25_000, 40_000, 200_000) is None


def test_usage_from_before_the_compaction_is_not_believed_after_it() -> None:
    """BR-043: 363k were measured before; the rebuilt context is small."""
    kept = assistant({"input": 363_000})
    messages = [{"role": "compactionSummary", "summary": "s"}, kept, user("go on")]
    found = measure(messages, MeasuredAt(window=400_000), anchors=2)
    assert (found.source, found.rejected) == ("estimate", None)
    assert found.tokens < 20


def test_after_a_compaction_the_figure_rises_only_with_new_content() -> None:
    """BR-044."""
    messages = [{"role": "compactionSummary", "summary": WORDS}, assistant({"input": 99_000})]
    before = measure(messages, anchors=2).tokens
    assert measure([*messages, user("hello")], anchors=2).tokens == before + 1


def test_usage_from_before_a_prune_is_not_believed_after_it() -> None:
    """BR-043."""
    pruned = {"role": "toolResult", "content": [], "prunedAt": 30}
    messages = [user(), pruned, assistant({"input": 900})]
    at = MeasuredAt(not_before_ms=last_rewrite_ms(messages))
    assert "rewritten" in str(measure(messages, at).rejected)
    assert measure([*messages, assistant({"input": 700}, timestamp=31)], at).source == "usage"


def test_another_models_measurement_does_not_count() -> None:
    """BR-025."""
    messages = [user(), assistant({"input": 900})]
    assert measure(messages, MeasuredAt(model="anthropic/claude-x")).source == "usage"
    assert measure(messages, MeasuredAt(model="anthropic/claude-x-20250929")).source == "usage"
    assert "not openai/gpt-5" in str(measure(messages, MeasuredAt(model="openai/gpt-5")).rejected)


def test_fixed_parts_count_only_where_nothing_was_measured() -> None:
    messages = [user("hello"), assistant({"input": 900})]
    assert measure(messages, MeasuredAt(fixed_tokens=100)).tokens == 901
    assert measure(messages[:1], MeasuredAt(fixed_tokens=100)).tokens == 101


def test_measurements_count_from_the_latest_boundary_on() -> None:
    path = [{"type": "message"}, {"type": "compaction"}, {"type": "message"}, {"type": "label"}]
    assert anchors_from(path) == 2
    assert anchors_from([*path, {"type": "reset_boundary"}]) == 5
    assert anchors_from(path[:1]) == 0


def test_the_seed_takes_the_newest_valid_usage_of_the_whole_path() -> None:
    path = [
        {"type": "message", "message": assistant({"input": 1})},
        {"type": "compaction"},
        {"type": "message", "message": assistant({"input": 2}, stopReason="error")},
        {"type": "message", "message": "broken"},
    ]
    assert last_usage(path) == {"input": 1}
    assert last_usage(path[1:]) is None


@pytest.mark.parametrize("messages", [[], [None], ["x"], [{"role": "assistant", "usage": 5, "stopReason": None}]])
def test_malformed_messages_are_measured_as_nothing(messages: list[Any]) -> None:
    assert measure(messages) == ContextTokens(0, "estimate")
