import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.compaction.prune import (
    SUPERSEDED_NOTICE,
    USELESS_NOTICE,
    PruneConfig,
    PruneRules,
    SupersedeConfig,
    prune_superseded_tool_results,
    prune_tool_outputs,
    read_key,
)
from octavo.compaction.tool_results import any_of, plans_protected, skills_protected
from octavo.tokens.estimate import Estimator

NOW = 10_000_000
LONG = "alpha beta gamma delta epsilon " * 100


def entry(entry_id: str, message: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "id": entry_id, "message": {"timestamp": NOW - 1000, **message}}


def pair(call: str, name: str = "bash", text: str = LONG, path: str = "", **result: Any) -> list[dict[str, Any]]:
    thinking = {"type": "thinking", "thinking": "why", "thinkingSignature": "c2ln"}
    block = {"type": "toolCall", "id": call, "name": name, "arguments": {"path": path} if path else {}}
    content = [{"type": "text", "text": text}]
    return [
        entry(f"{call}.call", {"role": "assistant", "content": [thinking, block]}),
        entry(
            f"{call}.result", {"role": "toolResult", "toolCallId": call, "toolName": name, "content": content} | result
        ),
    ]


def user(entry_id: str = "u") -> dict[str, Any]:
    return entry(entry_id, {"role": "user", "content": "go"})


def everything(**options: Any) -> PruneConfig:
    return PruneConfig(**{"protect_tokens": 0, "minimum_savings": 0} | options)


def pruned_ids(entries: list[dict[str, Any]], config: PruneConfig, rules: PruneRules = PruneRules.OCTAVO) -> list[Any]:
    return [e["id"] for e in prune_tool_outputs(entries, config, NOW, Estimator(), rules).replacements]


def test_a_single_prompt_run_is_pruned_by_tokens_not_by_turns() -> None:
    """BR-050: one user message and 100 tool pairs."""
    entries = [user(), *(e for n in range(100) for e in pair(f"c{n}", text=LONG * 4))]
    result = prune_tool_outputs(entries, PruneConfig(protect_tokens=40_000), NOW, Estimator())
    assert result.pruned_count > 70
    assert result.tokens_saved > 150_000


def test_nothing_but_tool_results_ever_changes() -> None:
    """BR-034: signed reasoning is byte-identical after every pass."""
    entries = [user(), *pair("a", useless=True), *pair("b", "read", path="x.py"), *pair("c", "read", path="x.py")]
    before = copy.deepcopy(entries)
    one = prune_tool_outputs(entries, everything(supersede_key=read_key), NOW, Estimator())
    two = prune_superseded_tool_results(entries, SupersedeConfig(), NOW, Estimator())
    assert entries == before
    for changed in [*one.replacements, *two.replacements]:
        assert changed["message"]["role"] == "toolResult"
        original = next(e for e in before if e["id"] == changed["id"])
        assert {k: v for k, v in changed["message"].items() if k not in {"content", "prunedAt"}} == {
            k: v for k, v in original["message"].items() if k != "content"
        }


def test_the_first_changed_entry_is_named_so_that_the_cost_of_the_cache_can_be_judged() -> None:
    """BR-077."""
    entries = [user(), *pair("a"), *pair("b")]
    result = prune_tool_outputs(entries, everything(), NOW, Estimator())
    assert (result.first_changed_index, result.first_changed_id) == (2, "a.result")
    nothing = prune_tool_outputs(entries, PruneConfig(), NOW, Estimator())
    assert (nothing.first_changed_index, nothing.first_changed_id, nothing.pruned_count) == (-1, None, 0)


def test_what_lies_before_the_kept_entries_of_the_latest_compaction_is_left_alone() -> None:
    """engine.md §17 item 29: going back to before the compaction shows the originals (BR-022)."""
    entries = [
        user(),
        *pair("old"),
        *pair("kept"),
        {"type": "compaction", "id": "c", "summary": "s", "firstKeptEntryId": "kept.call"},
        *pair("new"),
    ]
    assert pruned_ids(entries, everything()) == ["kept.result", "new.result"]
    assert pruned_ids(entries, everything(), PruneRules.SEED) == ["old.result", "kept.result", "new.result"]


def test_a_warm_cache_limits_a_prune_to_the_tail() -> None:
    entries = [user(), *pair("a"), *pair("b"), *pair("c")]
    assert pruned_ids(entries, everything(cache_warm_suffix_tokens=0)) == ["c.result"]
    assert pruned_ids(entries, everything(cache_warm_suffix_tokens=600)) == ["b.result", "c.result"]


def test_savings_too_small_for_the_lost_cache_change_nothing() -> None:
    entries = [user(), *pair("a")]
    assert pruned_ids(entries, everything(minimum_savings=100_000)) == []


def test_reads_of_the_active_plan_and_skills_stay() -> None:
    entries = [*pair("p", "read", path="./plans/plan.md:1-20"), *pair("s", "skill"), *pair("o", "read", path="a.py")]
    protected = any_of(skills_protected, plans_protected(["plans/plan.md"]))
    assert pruned_ids(entries, everything(is_protected=protected)) == ["o.result"]


def test_a_result_belongs_to_the_nearest_earlier_call_when_ids_repeat() -> None:
    entries = [*pair("call_0", "read", path="skill://x"), *pair("call_0", "read", path="a.py")]
    result = prune_tool_outputs(entries, everything(), NOW, Estimator())
    assert [changed is not entries[1] and changed["message"]["toolName"] for changed in result.replacements] == ["read"]
    assert result.first_changed_index == 3


def test_a_pruned_result_is_not_pruned_again() -> None:
    entries = [user(), *pair("a")]
    first = prune_tool_outputs(entries, everything(), NOW, Estimator())
    assert pruned_ids([*entries[:2], *first.replacements], everything()) == []


@pytest.mark.parametrize(("idle_ms", "pruned"), [(30 * 60_000 - 1, 0), (30 * 60_000, 1)])
def test_a_long_pause_frees_superseded_reads_far_from_the_tail(idle_ms: int, pruned: int) -> None:
    entries = [*pair("a", "read", path="a.py"), *pair("b", "read", path="a.py"), *pair("c", text=LONG * 20)]
    result = prune_superseded_tool_results(entries, SupersedeConfig(), NOW - 1000 + idle_ms, Estimator())
    assert result.pruned_count == pruned


def test_superseded_comes_before_useless_and_errors_are_never_useless() -> None:
    entries = [
        *pair("a", "read", path="a.py", useless=True),
        *pair("b", "grep", useless=True),
        *pair("c", "grep", useless=True, isError=True),
        *pair("d", "read", path="a.py"),
    ]
    result = prune_superseded_tool_results(entries, SupersedeConfig(), NOW, Estimator())
    texts = [e["message"]["content"][0]["text"] for e in result.replacements]
    assert texts == [SUPERSEDED_NOTICE, USELESS_NOTICE]


def test_each_kind_can_be_switched_off() -> None:
    entries = [*pair("a", "read", path="a.py"), *pair("b", "grep", useless=True), *pair("d", "read", path="a.py")]
    no_useless = prune_superseded_tool_results(entries, SupersedeConfig(prune_useless=False), NOW, Estimator())
    no_reads = prune_superseded_tool_results(entries, SupersedeConfig(supersede_key=None), NOW, Estimator())
    assert [e["id"] for e in no_useless.replacements] == ["a.result"]
    assert [e["id"] for e in no_reads.replacements] == ["b.result"]


BROKEN = st.sampled_from(
    [
        {},
        {"type": "message"},
        {"type": "message", "id": 3, "message": {"role": "toolResult"}},
        {"type": "message", "message": {"role": "toolResult", "content": None, "useless": True, "timestamp": "x"}},
        {"type": "message", "message": {"role": "assistant", "content": [{"type": "toolCall", "id": None}, 7]}},
        {"type": "message", "message": {"role": "toolResult", "toolCallId": [], "content": [{"type": "text"}]}},
    ]
)


@given(st.lists(BROKEN, max_size=6))
def test_malformed_entries_are_left_as_they_are(broken: list[dict[str, Any]]) -> None:
    entries = [*broken, *pair("a")]
    assert pruned_ids(entries, everything(supersede_key=read_key)) == ["a.result"]
    assert prune_superseded_tool_results(entries, SupersedeConfig(), NOW, Estimator()).pruned_count == 0
