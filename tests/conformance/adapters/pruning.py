"""Pruning, superseded reads and shake."""

import json
import re
from dataclasses import replace
from typing import Any

from conformance.adapters.cutting import entries_of
from conformance.adapters.tokens import approximate
from conformance.support import Vector, adapter, referred
from octavo.compaction.entry_messages import blocks
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
from octavo.tokens.estimate import EstimateRules, Estimator

NOW = 1767225700000
SHOWN_CHARS = 80
NAMES = {
    "protectTokens": "protect_tokens",
    "minimumSavings": "minimum_savings",
    "pruneUseless": "prune_useless",
    "keepBoundaryId": "keep_boundary_id",
}
PRUNE_NAMES = NAMES | {"cacheWarmSuffixTokens": "cache_warm_suffix_tokens"}
SUPERSEDE_NAMES = NAMES | {"cacheWarmSuffixTokens": "warm_suffix_tokens", "idleFlushMs": "idle_flush_ms"}
TOLD_OTHERWISE = {"supersedeKey", "protectedTools", "now"}
"""What a configuration says in words (the protected tools are always the seed's), or what is no setting."""


def options(given: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    assert set(given) <= {*names, *TOLD_OTHERWISE}, "a setting that this adapter does not know"
    found = {names[key]: value for key, value in given.items() if key in names}
    return found | {"supersede_key": read_key if given.get("supersedeKey") else None}


def first_text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return next((block["text"] for block in content or () if block.get("type") == "text"), "")


def outcome(entries: list[dict[str, Any]], result: PruneResult) -> dict[str, Any]:
    after = {entry["id"]: entry for entry in result.replacements}
    shown = [after.get(entry["id"], entry) for entry in entries]
    results = [entry for entry in shown if entry.get("message", {}).get("role") == "toolResult"]
    return {
        "result": {"prunedCount": result.pruned_count, "tokensSaved": result.tokens_saved},
        "toolResults": [
            {
                "id": entry["id"],
                "text": first_text(entry["message"])[:SHOWN_CHARS],
                "pruned": entry["message"].get("prunedAt") is not None,
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
    if vector.is_later:
        later_prunes(vector, entries)
        return
    given = vector.input["config"]
    config = PruneConfig() if given == "DEFAULT_PRUNE_CONFIG" else PruneConfig(**options(given, PRUNE_NAMES))
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
        config = PruneConfig(**{"protect_tokens": 0, "minimum_savings": 0} | options(case["cfg"], PRUNE_NAMES))
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
        config = SupersedeConfig()
        seed = prune_superseded_tool_results(entries, config, now, estimator, PruneRules.SEED)
        found = {
            "result": {"prunedCount": seed.pruned_count, "tokensSaved": seed.tokens_saved},
            "ids": [entry["id"] for entry in seed.replacements],
        }
        assert found == vector.expected
    else:
        given = vector.input["config"]
        now = given["now"]
        config = SupersedeConfig(**options(given, SUPERSEDE_NAMES))
        seed = prune_superseded_tool_results(entries, config, now, estimator, PruneRules.SEED)
        assert outcome(entries, seed) == vector.expected
    check_ours(entries, seed, prune_superseded_tool_results(entries, config, now, estimator))


def region_form(region: ShakeRegion) -> dict[str, Any]:
    form = {"kind": region.kind, "id": region.entry_id, "tokens": region.tokens, "label": region.label}
    if region.kind == "block":
        form |= {"blockIndex": region.block_index, "start": region.start, "end": region.end}
    return form


def collect(entries: list[dict[str, Any]], config: ShakeConfig) -> list[ShakeRegion]:
    return collect_shake_regions(entries, config, Estimator(EstimateRules.SEED), ShakeRules.SEED)


CONFIGS = {
    "default": SEED_AUTO_SHAKE,
    "aggressive": SEED_MANUAL_SHAKE,
}
LATER_CONFIGS = {"default": AUTO_SHAKE, "aggressive": MANUAL_SHAKE, "rescue": RESCUE_SHAKE}


def named_config(name: str, known: dict[str, ShakeConfig]) -> ShakeConfig:
    """A preset, or limits written out: `protect900_min100`."""
    if (config := known.get(name.lower())) is not None:
        return config
    limits = re.fullmatch(r"protect(\d+)_min(\d+)(?:_fence(\d+))?", name)
    assert limits, f"unknown shake configuration {name}"
    protect, savings, fence = (None if limit is None else int(limit) for limit in limits.groups())
    config = replace(known["default"], protect_tokens=protect or 0, min_savings=savings or 0)
    return config if fence is None else replace(config, fence_min_tokens=fence)


@adapter("collectShakeRegions")
def shakes(vector: Vector) -> None:
    entries = entries_of(vector)
    if vector.is_later:
        later_shakes(vector, entries)
        return
    manual = collect(entries, SEED_MANUAL_SHAKE)
    if "fixture" in vector.input:
        default = collect(entries, SEED_AUTO_SHAKE)
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
        for name, expected in vector.expected.items():
            regions = collect(entries, named_config(name, CONFIGS))
            assert [region_form(region) for region in regions] == expected, name
    ours = collect_shake_regions(entries, RESCUE_SHAKE, Estimator())
    assert {(r.entry_id, r.start) for r in ours} <= {(r.entry_id, r.start) for r in manual}


def later_shakes(vector: Vector, entries: list[dict[str, Any]]) -> None:
    """Adopted: what is protected, and that images stay. Not adopted: that an image which stays counts as freed.

    Lists of regions stand under the name of their preset, lists of entries are what comes out; a list under another
    name does not say which preset made it.
    """
    estimator = Estimator(EstimateRules.OCTAVO, count=approximate)
    listed = vector.expected if isinstance(vector.expected, dict) else {"": vector.expected}
    for name, expected in listed.items():
        configs = [LATER_CONFIGS[name.lower()]] if name.lower() in LATER_CONFIGS else list(LATER_CONFIGS.values())
        collected = [collect_shake_regions(entries, config, estimator) for config in configs]
        if all("kind" in form for form in expected):
            wanted = [(form["kind"], form["id"], form["label"]) for form in expected]
            assert wanted in [[(r.kind, r.entry_id, r.label) for r in regions] for regions in collected], name
        else:
            line = placeholder(vector)
            assert expected in [applied(entries, regions, line, ShakeRules.OCTAVO) for regions in collected], name


def placeholder(vector: Vector) -> str:
    given = vector.input.get("replacement") or "[R<n>]"
    return str(given).split(" ", maxsplit=1)[0]


def applied(
    entries: list[dict[str, Any]], regions: list[ShakeRegion], line: str, rules: ShakeRules
) -> list[dict[str, Any]]:
    """The entries after the regions were replaced, as vectors show them."""
    result = apply_shake_regions(entries, regions, lambda _, number: line.replace("<n>", str(number)), NOW, rules)
    after = {entry["id"]: entry for entry in result.replacements}
    shown: list[dict[str, Any]] = json.loads(json.dumps([after.get(entry["id"], entry) for entry in entries]))
    for entry in shown:
        if entry.get("message", {}).get("prunedAt") == NOW:
            entry["message"]["prunedAt"] = "<now>"
    return shown


@adapter("applyShakeRegions")
def applies(vector: Vector) -> None:
    entries = referred(vector.input["entries"], "entries")
    before = json.dumps(entries)
    if vector.is_later:
        later_shakes(vector, entries)
    else:
        regions = collect(entries, SEED_MANUAL_SHAKE)
        has_images = any(blocks(e.get("message", e).get("content"), "image") for e in entries)
        for rules in (ShakeRules.SEED,) if has_images else ShakeRules:
            assert applied(entries, regions, placeholder(vector), rules) == vector.expected
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
