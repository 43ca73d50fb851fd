import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from octavo.compaction.cut_point import CutRules
from octavo.compaction.prepare import Preparation, prepare_compaction
from octavo.sessions.context import build_context
from octavo.tokens.usage import MeasuredAt
from octavo_protocol.settings import CompactionSettings

WORDS = "alpha beta gamma delta epsilon " * 40


def message(entry_id: str, role: str, **extra: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": f"{entry_id} {WORDS}"}]
    body = {"role": role, "content": content, "stopReason": "stop", "timestamp": 1, **extra}
    return {"type": "message", "id": entry_id, "timestamp": "2026-01-01T00:00:00.000Z", "message": body}


def turns(first: int, last: int) -> Iterator[dict[str, Any]]:
    for number in range(first, last):
        yield message(f"u{number}", "user")
        yield message(f"a{number}", "assistant")


def compaction(entry_id: str, kept: str, **extra: Any) -> dict[str, Any]:
    return {
        "type": "compaction",
        "id": entry_id,
        "summary": "OLD",
        "firstKeptEntryId": kept,
        "tokensBefore": 1,
        **extra,
    }


def prepare(path: list[dict[str, Any]], keep: int, rules: CutRules = CutRules.OCTAVO, **at: Any) -> Preparation | None:
    settings = CompactionSettings(keep_recent_tokens=keep)
    return prepare_compaction(path, settings, rules, at=MeasuredAt(**at) if at else None)


def test_what_the_first_compaction_kept_is_summarised_by_the_second() -> None:
    """engine.md §17 item 2."""
    path = [*turns(0, 3), compaction("c", "u1"), *turns(3, 5)]
    ours = prepare(path, 450)
    seed = prepare(path, 450, CutRules.SEED)
    assert ours is not None
    assert seed is not None
    kept_by_the_first = [e["message"] for e in path[2:6]]
    assert ours.first_kept_entry_id == "u4"
    assert ours.messages_to_summarize == [*kept_by_the_first, *(e["message"] for e in path[7:9])]
    assert not any(message in kept_by_the_first for message in seed.discarded_messages)
    assert ours.previous_summary == "OLD"


def test_every_message_of_the_present_context_is_summarised_or_kept() -> None:
    path = [*turns(0, 3), compaction("c", "u1"), *turns(3, 6)]
    plan = prepare(path, 700)
    assert plan is not None
    context = build_context(path).messages[1:]
    assert [*plan.messages_to_summarize, *plan.turn_prefix_messages, *plan.recent_messages] == context


def test_a_boundary_that_is_not_on_the_path_keeps_nothing_older() -> None:
    """BR-019."""
    path = [*turns(0, 3), compaction("c", "elsewhere"), *turns(3, 5)]
    plan = prepare(path, 450)
    assert plan is not None
    assert len(plan.messages_to_summarize) == 2


def test_an_older_compaction_counts_when_the_newest_does_not_resolve() -> None:
    """BR-019."""
    path = [*turns(0, 2), compaction("c", "u1"), *turns(2, 4), compaction("d", "gone"), *turns(4, 6)]
    plan = prepare(path, 450)
    assert plan is not None
    assert [*plan.messages_to_summarize, *plan.recent_messages] == build_context(path).messages[1:]


def test_nothing_before_a_reset_boundary_is_summarised() -> None:
    path = [*turns(0, 2), compaction("c", "u1"), *turns(2, 3), {"type": "reset_boundary", "id": "r"}, *turns(3, 6)]
    plan = prepare(path, 450)
    assert plan is not None
    assert len(plan.messages_to_summarize) == 4
    assert plan.previous_summary is None


def test_a_compaction_at_the_end_leaves_nothing_to_do() -> None:
    assert prepare([*turns(0, 3), compaction("c", "u1")], 10) is None


@pytest.mark.parametrize("rules", list(CutRules))
def test_a_small_session_leaves_nothing_to_do(rules: CutRules) -> None:
    assert prepare(list(turns(0, 2)), 100_000, rules) is None
    assert prepare([], 100, rules) is None


def test_a_session_never_measured_is_measured_by_estimate() -> None:
    path = list(turns(0, 4))
    ours, seed = prepare(path, 450), prepare(path, 450, CutRules.SEED)
    assert ours is not None
    assert seed is not None
    assert (ours.tokens_before > 1000, seed.tokens_before) == (True, 0)


def test_a_measurement_from_before_the_last_compaction_does_not_shrink_the_budget() -> None:
    """engine.md §17 item 22, BR-043."""
    stale = message("old", "assistant", usage={"input": 300_000})
    path = [*turns(0, 2), stale, compaction("c", "old"), *turns(3, 7)]
    ours, seed = prepare(path, 450), prepare(path, 450, CutRules.SEED)
    assert ours is not None
    assert seed is not None
    assert ours.tokens_before < 5_000
    assert seed.tokens_before == 300_000
    assert len(ours.recent_messages) > len(seed.recent_messages)


def test_the_budget_shrinks_by_how_much_more_was_measured_than_estimated() -> None:
    path = [*turns(0, 6), message("m", "assistant", usage={"input": 6_000})]
    plain, measured = prepare(list(turns(0, 7))[:-1], 1_000), prepare(path, 1_000)
    assert plain is not None
    assert measured is not None
    assert measured.tokens_before >= 6_000
    assert len(measured.recent_messages) < len(plain.recent_messages)


def test_a_result_cut_from_its_call_is_summarised_with_it() -> None:
    call = {"type": "toolCall", "id": "t", "name": "read", "arguments": {"path": "a.py"}}
    opening = message("call", "assistant")
    opening["message"]["content"] = [call]
    late = message("late", "toolResult", toolCallId="t")
    path = [message("q", "user"), opening, *(message(f"s{n}", "assistant") for n in range(30)), late]
    plan = prepare(path, 700)
    assert plan is not None
    assert late["message"] in plan.turn_prefix_messages
    assert late["message"] in plan.recent_messages


def test_file_operations_of_everything_discarded_are_carried() -> None:
    def using(entry_id: str, name: str, path: str) -> dict[str, Any]:
        entry = message(entry_id, "assistant")
        entry["message"]["content"].append(
            {"type": "toolCall", "id": entry_id, "name": name, "arguments": {"path": path}}
        )
        return entry

    details = {"readFiles": ["old.py:1-5"], "modifiedFiles": ["changed.py"]}
    path = [
        message("u", "user"),
        using("k", "read", "kept.py:3"),
        compaction("c", "k", details=details),
        using("w", "write", "new.py"),
        *turns(1, 4),
    ]
    plan = prepare(path, 450)
    assert plan is not None
    assert (plan.file_ops.read, plan.file_ops.written, plan.file_ops.edited) == (
        {"old.py", "kept.py"},
        {"new.py"},
        {"changed.py"},
    )


@pytest.mark.parametrize(
    "broken",
    [
        {"type": "message", "id": "x"},
        {"type": "message", "id": "x", "message": []},
        {"type": "compaction", "id": "x"},
        {"type": "compaction", "id": "x", "summary": 3, "firstKeptEntryId": 4, "preserveData": "?"},
        {"type": "custom_message", "id": "x"},
        {"id": "x"},
    ],
)
@pytest.mark.parametrize("rules", list(CutRules))
def test_malformed_entries_do_not_stop_a_preparation(broken: dict[str, Any], rules: CutRules) -> None:
    plan = prepare([*turns(0, 2), broken, *turns(2, 5)], 450, rules)
    assert plan is not None
    assert plan.to_wire()["firstKeptEntryId"] == plan.first_kept_entry_id


@pytest.mark.samples
@pytest.mark.parametrize("keep", [0, 5_000, 60_000])
def test_every_prefix_of_a_real_session_is_split_without_loss_and_without_change(samples: Path, keep: int) -> None:
    from conformance.support import fixture_entries

    entries = list(fixture_entries("fixtures/large-session.jsonl"))
    for end in range(0, len(entries), 37):
        path = entries[:end]
        before = copy.copy(path)
        plan = prepare(path, keep)
        assert path == before
        if plan is None:
            continue
        ids = [entry["id"] for entry in path]
        assert plan.first_kept_entry_id in ids
        assert plan.recent_messages
        assert plan.recent_messages[0]["role"] != "toolResult"
