"""Cut points and preparation."""

import json
from dataclasses import dataclass
from typing import Any

from conformance.adapters.tokens import approximate
from conformance.support import Vector, adapter, fixture_entries, referred
from octavo.compaction.cut_point import CutPoint, CutRules, find_cut_point, find_turn_start, is_cut_point
from octavo.compaction.entry_messages import entry_message
from octavo.compaction.prepare import Preparation, prepare_compaction
from octavo.tokens.estimate import EstimateRules, Estimator


@dataclass
class Keep:
    keep_recent_tokens: float = 20000


def entries_of(vector: Vector) -> list[dict[str, Any]]:
    if "fixture" in vector.input:
        return list(fixture_entries(vector.input["fixture"]))
    entries: list[dict[str, Any]] = referred(vector.input["entries"], "entries")
    return entries


@adapter("findCutPoint")
def cut_points(vector: Vector) -> None:
    entries = entries_of(vector)
    if vector.is_later:
        estimator, rules = Estimator(EstimateRules.OCTAVO, count=approximate), CutRules.OCTAVO
    else:
        estimator, rules = Estimator(EstimateRules.SEED), CutRules.SEED
    ours = Estimator(EstimateRules.OCTAVO)
    for case in vector.expected:
        start, end, keep = case["startIndex"], case["endIndex"], case["keepRecentTokens"]
        cut = find_cut_point(entries, start, end, keep, estimator.tokens, rules)
        found = {
            "firstKeptEntryIndex": cut.first_kept,
            "turnStartIndex": cut.turn_start,
            "isSplitTurn": cut.is_split_turn,
        }
        assert found == case["result"], case
        check_ours(entries, start, end, keep, ours)


def check_ours(entries: list[dict[str, Any]], start: int, end: int, keep: float, estimator: Estimator) -> None:
    """What our rules promise on the same input: the kept part fits, or is the newest group; never a dead end."""
    cut = find_cut_point(entries, start, end, keep, estimator.tokens)
    points = [index for index in range(start, end) if is_cut_point(entries[index])]
    if not points:
        assert cut == CutPoint(start)
        return
    chosen = next(point for point in points if point >= cut.first_kept)
    assert kept_tokens(entries[cut.first_kept : end], estimator) <= keep or all(
        kept_tokens(entries[point:end], estimator) > keep for point in points
    )
    assert all(entry_message(entry) is None for entry in entries[cut.first_kept : chosen])


def kept_tokens(entries: list[dict[str, Any]], estimator: Estimator) -> int:
    return estimator.total(message for message in map(entry_message, entries) if message is not None)


@adapter("findTurnStartIndex")
def turn_starts(vector: Vector) -> None:
    entries = entries_of(vector)
    for case in vector.expected:
        assert find_turn_start(entries, case["entryIndex"], case["startIndex"]) == case["result"], case


@adapter("prepareCompaction")
def preparations(vector: Vector) -> None:
    entries = entries_of(vector)
    if vector.is_later:
        estimator = Estimator(EstimateRules.OCTAVO, count=approximate)
        plan = prepare_compaction(entries, Keep(vector.input["keepRecentTokens"]), estimator=estimator)
        assert later_form(plan) == vector.expected
        return
    if "fixture" in vector.input:
        estimator = Estimator(EstimateRules.SEED)
        for case in vector.expected:
            keep = Keep(case["keepRecentTokens"])
            plan = prepare_compaction(entries[: case["pathPrefixLength"]], keep, CutRules.SEED, estimator=estimator)
            assert fixture_form(plan) == case["result"], case
        return
    keep = Keep((vector.input.get("settings") or {}).get("keepRecentTokens", Keep.keep_recent_tokens))
    plan = prepare_compaction(entries, keep, CutRules.SEED)
    expected = vector.expected
    if expected is not None:
        expected = expected | {"fileOps": {key: sorted(paths) for key, paths in expected["fileOps"].items()}}
    assert (plan.to_wire() if plan else None) == expected
    check_our_plan(entries, keep, plan, prepare_compaction(entries, keep))


def check_our_plan(
    entries: list[dict[str, Any]], keep: Keep, seed: Preparation | None, ours: Preparation | None
) -> None:
    """Ours is as whole as the seed's plan, and differs in whether there is one only by what fits the budget."""
    if ours is None:
        estimator = Estimator(EstimateRules.OCTAVO)
        assert seed is None or kept_tokens(entries, estimator) <= keep.keep_recent_tokens
        return
    assert ours.discarded_messages
    assert ours.tokens_before > 0
    if seed is not None:
        assert ours.previous_summary == seed.previous_summary
    else:
        assert entries[-1]["type"] != "compaction"


def later_form(plan: Preparation | None) -> dict[str, Any]:
    assert plan is not None
    return {
        "firstKeptEntryId": plan.first_kept_entry_id,
        "summarize": [shown(message) for message in plan.messages_to_summarize],
        "prefix": len(plan.turn_prefix_messages),
        "recent": len(plan.recent_messages),
        "split": plan.is_split_turn,
        "previousSummary": plan.previous_summary,
    }


def shown(message: dict[str, Any]) -> str:
    content = json.dumps(message["content"], separators=(",", ":"), ensure_ascii=False)
    return f"{message['role']}:{content[:24]}"


def fixture_form(plan: Preparation | None) -> dict[str, Any] | None:
    if plan is None:
        return None
    ops = plan.file_ops
    return {
        "firstKeptEntryId": plan.first_kept_entry_id,
        "messagesToSummarize": len(plan.messages_to_summarize),
        "firstSummarizedRole": plan.messages_to_summarize[0]["role"] if plan.messages_to_summarize else None,
        "turnPrefixMessages": len(plan.turn_prefix_messages),
        "recentMessages": len(plan.recent_messages),
        "isSplitTurn": plan.is_split_turn,
        "tokensBefore": plan.tokens_before,
        "previousSummaryLength": None if plan.previous_summary is None else len(plan.previous_summary),
        "previousPreserveData": plan.previous_preserve_data,
        "fileOps": {
            "read": len(ops.read),
            "written": sorted(ops.written),
            "edited": sorted(ops.edited),
            "readSorted": sorted(ops.read),
        },
    }
