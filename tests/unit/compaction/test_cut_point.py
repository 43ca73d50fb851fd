from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.compaction.cut_point import CutPoint, CutRules, find_cut_point, find_turn_start
from octavo.compaction.entry_messages import entry_message, tool_calls


def entry(index: int, role: str, size: int = 100, **extra: Any) -> dict[str, Any]:
    message = {"role": role, "size": size, "content": [], **extra}
    return {"type": "message", "id": f"e{index}", "message": message}


def calls(*ids: str) -> list[dict[str, Any]]:
    return [{"type": "toolCall", "id": call, "name": "read", "arguments": {}} for call in ids]


def size(message: dict[str, Any]) -> int:
    found = message.get("size", message.get("content", 0))
    return found if isinstance(found, int) else 0


def cut(entries: list[dict[str, Any]], keep: float, rules: CutRules = CutRules.OCTAVO) -> CutPoint:
    return find_cut_point(entries, 0, len(entries), keep, size, rules)


def test_an_oversized_trailing_result_stays_with_its_call_and_splits_the_turn() -> None:
    """engine.md §17 item 5."""
    entries = [
        entry(0, "user"),
        entry(1, "assistant", content=calls("a")),
        entry(2, "toolResult", 9000, toolCallId="a"),
    ]
    assert cut(entries, 500) == CutPoint(1, 0)
    assert cut(entries, 500, CutRules.SEED) == CutPoint(0)


def test_metadata_before_a_user_message_leaves_a_clean_boundary() -> None:
    """engine.md §17 item 4."""
    metadata = [{"type": "model_change", "id": "m"}, {"type": "label", "id": "l"}]
    entries = [entry(0, "user"), entry(1, "assistant"), *metadata, entry(4, "user"), entry(5, "assistant")]
    assert cut(entries, 210) == CutPoint(2)
    assert cut(entries, 160, CutRules.SEED) == CutPoint(2, 0)


def test_custom_messages_and_branch_summaries_weigh_what_they_are() -> None:
    """engine.md §17 item 9."""
    note = {"type": "custom_message", "id": "n", "customType": "n", "content": "long", "display": True}
    entries = [entry(0, "user"), entry(1, "assistant"), note, entry(3, "assistant")]

    def weigh(message: dict[str, Any]) -> int:
        return 1000 if message["role"] == "custom" else 100

    assert find_cut_point(entries, 0, 4, 250, weigh) == CutPoint(3, 2)
    assert find_cut_point(entries, 0, 4, 1150, weigh) == CutPoint(2, 2)


def test_the_newest_user_message_is_kept_whatever_the_budget() -> None:
    entries = [entry(0, "user"), entry(1, "assistant"), entry(2, "user", 5000)]
    assert cut(entries, 0) == cut(entries, 10) == CutPoint(2)


def test_no_cut_falls_between_a_call_and_a_result_that_came_later() -> None:
    """BR-029: something was said while two tools ran."""
    entries = [
        entry(0, "user"),
        entry(1, "assistant", content=calls("a", "b")),
        entry(2, "toolResult", toolCallId="a"),
        entry(3, "user"),
        entry(4, "toolResult", toolCallId="b"),
        entry(5, "assistant"),
    ]
    assert cut(entries, 350) == CutPoint(5, 3)
    assert cut(entries, 500) == CutPoint(1, 0)


def test_a_call_that_spans_more_than_the_budget_may_be_cut_where_the_rest_fits() -> None:
    middle = [entry(n, "assistant") for n in range(2, 40)]
    entries = [
        entry(0, "user"),
        entry(1, "assistant", content=calls("a")),
        *middle,
        entry(40, "toolResult", toolCallId="a"),
    ]
    assert cut(entries, 300) == CutPoint(38, 0)


def test_nothing_is_pulled_past_a_boundary() -> None:
    entries = [entry(0, "user"), {"type": "reset_boundary", "id": "r"}, {"type": "label", "id": "l"}, entry(3, "user")]
    assert cut(entries, 100) == CutPoint(2)


def test_an_entry_without_an_id_is_never_the_first_kept_one() -> None:
    entries = [entry(0, "user"), entry(1, "assistant"), entry(2, "assistant")]
    del entries[2]["id"]
    assert cut(entries, 50) == CutPoint(1, 0)


def test_a_turn_start_is_searched_only_inside_the_range() -> None:
    entries = [entry(0, "user"), entry(1, "assistant"), entry(2, "toolResult")]
    assert find_turn_start(entries, 2, 0) == 0
    assert find_turn_start(entries, 2, 1) == -1


@pytest.mark.parametrize("rules", list(CutRules))
@pytest.mark.parametrize(
    "broken",
    [{}, {"type": "message"}, {"type": "message", "message": 3}, {"type": 7, "id": []}, {"type": "custom_message"}],
)
def test_malformed_entries_are_passed_over(broken: dict[str, Any], rules: CutRules) -> None:
    entries = [entry(0, "user"), entry(1, "assistant"), broken, entry(3, "user"), entry(4, "assistant")]
    assert cut(entries, 150, rules).first_kept >= 2
    assert cut([broken], 10, rules).first_kept == 0


ROLES = st.sampled_from(["user", "assistant", "call", "bashExecution", "custom", "developer"])


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    open_calls: list[str] = []
    for index in range(draw(st.integers(1, 25))):
        kind = draw(ROLES | st.sampled_from(["result", "label", "custom_message"]))
        weight = draw(st.integers(0, 300))
        if kind == "call":
            made = [f"c{index}.{n}" for n in range(draw(st.integers(1, 3)))]
            open_calls += made
            entries.append(entry(index, "assistant", weight, content=calls(*made)))
        elif kind == "result":
            if open_calls:
                call = open_calls.pop(draw(st.integers(0, len(open_calls) - 1)))
                entries.append(entry(index, "toolResult", weight, toolCallId=call))
        elif kind == "label":
            entries.append({"type": "label", "id": f"e{index}"})
        elif kind == "custom_message":
            entries.append({"type": "custom_message", "id": f"e{index}", "content": "note"})
        else:
            entries.append(entry(index, kind, weight))
    return entries


@given(histories(), st.integers(0, 2000))
def test_the_kept_part_fits_or_is_the_smallest_that_splits_no_call(entries: list[dict[str, Any]], keep: int) -> None:
    found = cut(entries, keep)
    discarded, kept = entries[: found.first_kept], entries[found.first_kept :]
    weight = sum(size(message) for e in kept if (message := entry_message(e)) is not None)
    called = {call["id"] for e in discarded if (message := entry_message(e)) for call in tool_calls(message)}
    answered = {message.get("toolCallId") for e in kept if (message := entry_message(e))}
    if called & answered:
        assert weight <= keep, "a call is cut from its result only to fit"


@given(histories(), st.integers(0, 2000), st.integers(0, 25), st.integers(0, 25))
@pytest.mark.parametrize("rules", list(CutRules))
def test_a_cut_lies_inside_its_range_and_its_turn_starts_before_it(
    rules: CutRules, entries: list[dict[str, Any]], keep: int, one: int, other: int
) -> None:
    start, end = sorted((min(one, len(entries)), min(other, len(entries))))
    found = find_cut_point(entries, start, end, keep, size, rules)
    assert start <= found.first_kept <= max(start, end - 1)
    assert found.turn_start == -1 or start <= found.turn_start


def test_finding_a_cut_is_linear_in_the_history() -> None:
    weighed = 0

    def count(message: dict[str, Any]) -> int:
        nonlocal weighed
        weighed += 1
        return 1

    entries = [entry(n, "assistant" if n % 2 else "user") for n in range(20_000)]
    find_cut_point(entries, 0, len(entries), 5_000, count)
    assert weighed <= len(entries)
