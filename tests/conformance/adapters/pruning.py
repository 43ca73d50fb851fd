"""Pruning, superseded reads and shake."""

import json
from typing import Any

from conformance.adapters.cutting import entries_of, is_later
from conformance.adapters.tokens import approximate
from conformance.support import Vector, adapter, vectors_folder
from octavo.compaction.prune import (
    PruneConfig,
    PruneResult,
    PruneRules,
    SupersedeConfig,
    prune_superseded_tool_results,
    prune_tool_outputs,
    read_key,
)
from octavo.compaction.requests import OUTPUT_CAP
from octavo.compaction.shake import (
    AUTO_SHAKE,
    MANUAL_SHAKE,
    RESCUE_SHAKE,
    SEED_AUTO_SHAKE,
    SEED_MANUAL_SHAKE,
    ShakeConfig,
    ShakeRegion,
    ShakeRules,
    apply_shake_regions,
    collect_shake_regions,
)
from octavo.compaction.tool_results import skills_protected
from octavo.tokens.estimate import EstimateRules, Estimator

NOW = 1767225700000
SHOWN_CHARS = 80
NAMES = {
    "protectTokens": "protect_tokens",
    "minimumSavings": "minimum_savings",
    "pruneUseless": "prune_useless",
    "keepBoundaryId": "keep_boundary_id",
    "cacheWarmSuffixTokens": "cache_warm_suffix_tokens",
    "idleFlushMs": "idle_flush_ms",
}


def options(given: dict[str, Any], skipped: tuple[str, ...] = ()) -> dict[str, Any]:
    found = {NAMES[key]: value for key, value in given.items() if key in NAMES and key not in skipped}
    if given.get("supersedeKey"):
        found["supersede_key"] = read_key
    return found


def outcome(entries: list[dict[str, Any]], result: PruneResult) -> dict[str, Any]:
    after = {entry["id"]: entry for entry in result.replacements}
    shown = [after.get(entry["id"], entry) for entry in entries]
    results = [entry for entry in shown if entry.get("message", {}).get("role") == "toolResult"]
    return {
        "result": {"prunedCount": result.pruned_count, "tokensSaved": result.tokens_saved},
        "toolResults": [
            {
                "id": entry["id"],
                "text": entry["message"]["content"][0]["text"][:SHOWN_CHARS],
                "pruned": "prunedAt" in entry["message"],
            }
            for entry in results
        ],
    }


def check_ours(entries: list[dict[str, Any]], seed: PruneResult, ours: PruneResult) -> None:
    """Ours prunes a subset of the seed's: never anything before the latest compaction's kept entries."""
    if not any(entry["type"] in {"compaction", "reset_boundary"} for entry in entries):
        assert ours == seed
    assert {entry["id"] for entry in ours.replacements} <= {entry["id"] for entry in seed.replacements}


@adapter("pruneToolOutputs")
def prunes(vector: Vector) -> None:
    entries = entries_of(vector)
    estimator = Estimator(EstimateRules.SEED)
    if is_later(vector):
        later_prunes(vector, entries)
        return
    given = vector.input["config"]
    config = PruneConfig() if given == "DEFAULT_PRUNE_CONFIG" else PruneConfig(**options(given))
    seed = prune_tool_outputs(entries, config, NOW, estimator, PruneRules.SEED)
    if given == "DEFAULT_PRUNE_CONFIG":
        texts = [{"id": e["id"], "text": e["message"]["content"][0]["text"]} for e in seed.replacements]
        assert {"prunedCount": seed.pruned_count, "tokensSaved": seed.tokens_saved} == vector.expected["result"]
        assert [e["id"] for e in seed.replacements] == vector.expected["prunedIds"]
        assert texts[:3] == vector.expected["firstThree"]
        assert texts[-3:] == vector.expected["lastThree"]
    else:
        assert outcome(entries, seed) == vector.expected
    check_ours(entries, seed, prune_tool_outputs(entries, config, NOW, estimator))


def later_prunes(vector: Vector, entries: list[dict[str, Any]]) -> None:
    estimator = Estimator(EstimateRules.OCTAVO, count=approximate)
    for case in vector.expected:
        config = PruneConfig(**{"protect_tokens": 0, "minimum_savings": 0} | options(case["cfg"]))
        result = prune_tool_outputs(entries, config, NOW, estimator)
        assert {"prunedCount": result.pruned_count, "tokensSaved": result.tokens_saved} == case["result"], case
        assert [entry["id"] for entry in result.replacements] == case["pruned"]


@adapter("pruneSupersededToolResults")
def supersedes(vector: Vector) -> None:
    entries = entries_of(vector)
    estimator = Estimator(EstimateRules.SEED)
    if "fixture" in vector.input:
        stamps = [e["message"]["timestamp"] for e in entries if e["type"] == "message" and "timestamp" in e["message"]]
        now = 1893456000000 if "idle" in vector.input["now"] else stamps[-1] + 1000
        seed = prune_superseded_tool_results(entries, SupersedeConfig(), now, estimator, PruneRules.SEED)
        found = {
            "result": {"prunedCount": seed.pruned_count, "tokensSaved": seed.tokens_saved},
            "ids": [entry["id"] for entry in seed.replacements],
        }
        assert found == vector.expected
    else:
        given = vector.input["config"]
        now = given["now"]
        config = SupersedeConfig(**{"supersede_key": None} | options(given))
        seed = prune_superseded_tool_results(entries, config, now, estimator, PruneRules.SEED)
        assert outcome(entries, seed) == vector.expected
    check_ours(entries, seed, prune_superseded_tool_results(entries, SupersedeConfig(), now, estimator))


def region_form(region: ShakeRegion) -> dict[str, Any]:
    form = {"kind": region.kind, "id": region.entry_id, "tokens": region.tokens, "label": region.label}
    if region.kind == "block":
        form |= {"blockIndex": region.block_index, "start": region.start, "end": region.end}
    return form


def collect(entries: list[dict[str, Any]], config: ShakeConfig) -> list[ShakeRegion]:
    return collect_shake_regions(entries, config, Estimator(EstimateRules.SEED), ShakeRules.SEED)


@adapter("collectShakeRegions")
def shakes(vector: Vector) -> None:
    entries = entries_of(vector)
    default, manual = collect(entries, SEED_AUTO_SHAKE), collect(entries, SEED_MANUAL_SHAKE)
    if "fixture" in vector.input:
        forms = [region_form(region) for region in default]
        found = {
            "defaultCount": len(default),
            "defaultTokens": sum(region.tokens for region in default),
            "aggressiveCount": len(manual),
            "blocks": [form for form in forms if form["kind"] == "block"],
            "firstFive": forms[:5],
            "lastFive": forms[-5:],
        }
        assert found == vector.expected
    else:
        narrow = ShakeConfig(protect_tokens=900, min_savings=100, is_protected=skills_protected)
        found = {
            "aggressive": [region_form(region) for region in manual],
            "default": [region_form(region) for region in default],
            "protect900_min100": [region_form(region) for region in collect(entries, narrow)],
        }
        assert found == vector.expected
    ours = collect_shake_regions(entries, RESCUE_SHAKE, Estimator())
    assert {(r.entry_id, r.start) for r in ours} <= {(r.entry_id, r.start) for r in manual}


@adapter("applyShakeRegions")
def applies(vector: Vector) -> None:
    entries = vector.input["entries"]
    if isinstance(entries, str):
        entries = json.loads((vectors_folder() / "engine" / "shake-01-regions.json").read_text())["input"]["entries"]
    before = json.dumps(entries)
    regions = collect(entries, SEED_MANUAL_SHAKE)
    for rules in ShakeRules:
        result = apply_shake_regions(entries, regions, lambda _, number: f"[R{number}]", NOW, rules)
        after = {entry["id"]: entry for entry in result.replacements}
        shown = json.loads(json.dumps([after.get(entry["id"], entry) for entry in entries]))
        for entry in shown:
            if entry.get("message", {}).get("prunedAt") == NOW:
                entry["message"]["prunedAt"] = "<now>"
        assert shown == vector.expected
    assert json.dumps(entries) == before


@adapter("constants")
def constants(vector: Vector) -> None:
    for name, config in (("DEFAULT", AUTO_SHAKE), ("AGGRESSIVE", MANUAL_SHAKE), ("RESCUE", RESCUE_SHAKE)):
        assert vector.expected[name] == {
            "protectTokens": config.protect_tokens,
            "minSavings": config.min_savings,
            "fenceMinTokens": config.fence_min_tokens,
        }
    prune = PruneConfig()
    assert vector.expected["PRUNE"] == {
        "protectTokens": prune.protect_tokens,
        "minimumSavings": prune.minimum_savings,
        "pruneUseless": prune.prune_useless,
    }
    assert vector.expected["MAX_SUMMARY_TOKENS"] == OUTPUT_CAP
