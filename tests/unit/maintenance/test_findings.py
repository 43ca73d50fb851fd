"""What the last turn says about the context, and what is remembered between checks."""

from typing import Any

import pytest

from octavo.maintenance.findings import find_failure, is_last_message, is_stale, last_turn, same_model
from octavo.maintenance.memory import Memory
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model
from support.scripted import assistant, call, result, user

MODEL = Model("anthropic", "claude-sonnet-4-5", "anthropic-messages", 20_000)


def path(*messages: JsonObject) -> list[JsonObject]:
    return [{"type": "message", "id": f"e{n}", "message": message} for n, message in enumerate(messages)]


def compaction(timestamp: str = "2026-01-01T00:00:00.000Z") -> JsonObject:
    return {"type": "compaction", "id": "c", "timestamp": timestamp, "summary": "s", "firstKeptEntryId": "e0"}


def kind(message: JsonObject, *, estimate: int = 15_000) -> str:
    entries = path(user("ask"), message)
    turn = last_turn(entries)
    assert turn is not None
    return find_failure(entries, turn, MODEL, estimate=estimate).kind


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"stopReason": "error", "errorMessage": "prompt is too long"}, "overflow"),
        ({"stopReason": "error", "errorMessage": "400 status code (no body)"}, "overflow"),
        ({"stopReason": "error", "errorMessage": "429 status code (no body)"}, "none"),
        ({"stopReason": "error", "errorMessage": "413 Payload Too Large"}, "payload"),
        ({"stopReason": "error", "errorMessage": "no", "errorStatus": 413}, "payload"),
        ({"stopReason": "error", "errorMessage": "image exceeds 5 MB maximum"}, "none"),
        ({"stopReason": "error", "errorMessage": "overloaded"}, "none"),
        ({"stopReason": "aborted", "errorMessage": "prompt is too long"}, "none"),
        ({"stopReason": "stop", "usage": {"input": 20_001}}, "overflow"),
        ({"stopReason": "stop", "usage": {"input": 20_000}}, "none"),
        ({"stopReason": "stop", "usage": {"input": 10**12}}, "none"),
        ({"stopReason": "length", "usage": {"input": 1_000, "output": 64}}, "incomplete"),
        ({"stopReason": "length", "usage": None}, "incomplete"),
        ({"stopReason": 7, "errorMessage": ["prompt is too long"], "usage": "much"}, "none"),
    ],
)
def test_turns_are_judged_by_words_status_and_believable_usage(fields: dict[str, Any], expected: str) -> None:
    content = "" if fields["stopReason"] == "error" else "some words"
    assert kind(assistant(content, **fields)) == expected


def test_a_length_stop_without_output_is_an_overflow_only_in_a_nearly_full_window() -> None:
    """BR-038."""
    stop = assistant([], stopReason="length", usage={"input": 19_500, "output": 0})
    assert kind(stop) == "overflow"
    assert kind(assistant([], stopReason="length", usage={"input": 9_000, "output": 0})) == "incomplete"
    assert kind(assistant("words", stopReason="length", usage={"input": 19_500, "output": 3})) == "incomplete"


def test_an_unknown_error_is_a_maybe_only_near_the_end_of_the_window() -> None:
    """BR-056."""
    said = assistant([], stopReason="error", errorMessage="bad request")
    assert kind(said, estimate=19_500) == "maybe"
    assert kind(said, estimate=10_000) == "none"


def test_a_turn_is_stale_by_place_and_by_time_and_never_without_a_compaction() -> None:
    before = assistant("x", timestamp=1)
    after = assistant("x", timestamp=1_800_000_000_000)
    unknown = assistant("x")
    for message, stale in ((before, True), (after, False), (unknown, False)):
        entries = [*path(user("a")), compaction(), {"type": "message", "id": "e9", "message": message}]
        turn = last_turn(entries)
        assert turn is not None
        assert is_stale(entries, turn) is stale
    entries = [*path(user("a"), after), compaction()]
    turn = last_turn(entries)
    assert turn is not None
    assert is_stale(entries, turn)
    entries = path(before)
    turn = last_turn(entries)
    assert turn is not None
    assert not is_stale(entries, turn)


def test_a_dated_version_is_the_same_model_and_another_provider_is_not() -> None:
    assert same_model({"provider": "anthropic", "model": "claude-sonnet-4-5-20250929"}, MODEL)
    assert not same_model({"provider": "openrouter", "model": "claude-sonnet-4-5"}, MODEL)
    assert not same_model({"provider": "anthropic", "model": "claude-sonnet-4"}, MODEL)
    assert not same_model({"provider": "anthropic", "model": "claude-sonnet-4-5"}, None)


def test_malformed_entries_are_no_turns() -> None:
    entries: list[JsonObject] = [
        {"type": "message", "id": "a"},
        {"type": "message", "id": "b", "message": "text"},
        {"type": "message", "id": "c", "message": {"role": "assistant", "content": 5}},
        {"type": "label", "id": "d"},
    ]
    turn = last_turn(entries)
    assert turn is not None
    assert (turn.entry_id, turn.has_output, turn.calls_tools, turn.stop_reason) == ("c", False, False, "")
    assert is_last_message(entries, turn)
    assert last_turn(entries[:2]) is None


def test_results_and_prompts_after_a_turn_mean_that_the_conversation_went_on() -> None:
    entries = path(assistant([call("a", "read")]), result("a", "read", "x"))
    turn = last_turn(entries)
    assert turn is not None
    assert turn.calls_tools
    assert not is_last_message(entries, turn)


def test_only_a_newer_success_counts_as_progress() -> None:
    """BR-038: the success from before the recovery does not clear the guard."""
    memory = Memory()
    memory.saw("old")
    memory.recovering("old")
    memory.overflows = 1
    memory.saw("old")
    assert memory.overflows == 1
    memory.saw("new")
    assert memory.overflows == 0


def test_the_margin_before_the_next_attempt_shrinks_with_the_room_that_is_left() -> None:
    """BR-049 and BR-053: nothing is repeated at once, and nothing waits when little headroom is left."""
    memory = Memory()
    assert memory.must_grow_to(170_000, 200_000) == 0
    memory.settle(150_000, "as it was")
    assert memory.must_grow_to(170_000, 200_000) == 158_500
    memory.settle(198_500, "as it was")
    assert memory.must_grow_to(170_000, 200_000) == 199_250
    assert memory.settled_under("as it was") == 198_500
    assert memory.settled_under("another model") is None


def test_a_clock_that_was_set_back_does_not_make_a_new_turn_an_old_one() -> None:
    """The compaction seems to be of the future then, and an overflow would be passed over in silence."""
    future = {**compaction(), "timestamp": "2099-01-01T00:00:00.000Z"}
    message = assistant([], timestamp=1_800_000_000_000, stopReason="error", errorMessage="prompt is too long")
    for stored, stale in (("2027-01-15T08:00:00.000Z", False), ("2099-01-01T00:00:01.000Z", True), (None, True)):
        entry: JsonObject = {"type": "message", "id": "e9", "timestamp": stored, "message": message}
        entries = [*path(user("a")), future, entry]
        turn = last_turn(entries)
        assert turn is not None
        assert is_stale(entries, turn) is stale
