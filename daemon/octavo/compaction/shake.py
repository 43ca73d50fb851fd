"""Shake large tool results and text blocks out of a history, leaving a line that says where they can be found.

Entries go in, replacement entries come out; nothing is changed in place and saving the removed texts is the caller's
business. Source: engine.md §12, seed.md "Shake".

Deviations from the seed with `ShakeRules.OCTAVO` (engine.md §17 items 138 and 139, BR-034): images beside an elided
text stay and do not count as freed; reads of artifacts stay; the text of an assistant turn with signed or redacted
reasoning stays, because the provider would refuse the turn once it differs from what was signed; nothing before the
latest compaction's first kept entry is touched; a changed text loses its replay id and the provider's own copy; a
result that costs no more than the line in its place stays.
A manual shake protects the newest 4,000 tokens.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from octavo.compaction.entry_messages import blocks, stored_message
from octavo.compaction.prune import context_start
from octavo.compaction.shake_blocks import find_blocks, splice
from octavo.compaction.tool_results import (
    Protection,
    ToolResult,
    blanked,
    result_text,
    skills_protected,
    tool_results,
)
from octavo.tokens.counting import count_each, count_tokens
from octavo.tokens.estimate import Estimator
from octavo.tokens.images import IMAGE_TOKENS
from octavo_protocol.base import JsonObject

PLACEHOLDER_TOKENS = 16
"""What a placeholder is taken to cost when savings are added up."""

_TEXT_ROLES = ("user", "developer", "assistant")


class ShakeRules(Enum):
    """Whose rules: the seed's, or ours."""

    SEED = "seed"
    OCTAVO = "octavo"


def recoveries_protected(result: ToolResult) -> bool:
    """Skills stay, and so do reads of artifacts: blanking what was just recovered would only have it read again."""
    return skills_protected(result) or (result.read_path or "").startswith("artifact://")


@dataclass(frozen=True, slots=True)
class ShakeConfig:
    """How much stays: newest tokens protected, least savings worth it, smallest text block."""

    protect_tokens: int = 16_000
    min_savings: int = 4_000
    fence_min_tokens: int = 400
    is_protected: Protection = recoveries_protected


AUTO_SHAKE = ShakeConfig()
MANUAL_SHAKE = ShakeConfig(protect_tokens=4_000, min_savings=0)
RESCUE_SHAKE = ShakeConfig(protect_tokens=0, min_savings=0)
"""When nothing else made a context fit: everything that can go, goes."""
SEED_AUTO_SHAKE = ShakeConfig(is_protected=skills_protected)
SEED_MANUAL_SHAKE = ShakeConfig(protect_tokens=0, min_savings=0, is_protected=skills_protected)


@dataclass(frozen=True, slots=True)
class ShakeRegion:
    """Something that can be elided: a whole tool result, or a block of text.

    `block_index` is the index in the content array, -1 for string content; `start` and `end` are offsets in UTF-16
    code units; all three are None for tool results. `label` is the tool, the role or the custom type.
    """

    kind: Literal["toolResult", "block"]
    entry_index: int
    entry_id: str | None
    label: str
    tokens: int
    text: str
    block_index: int | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class ShakeResult:
    """Replacement entries in order, what was dropped, tokens freed, and the index of the first changed entry."""

    replacements: list[JsonObject] = field(default_factory=list)
    tool_results_dropped: int = 0
    blocks_dropped: int = 0
    images_dropped: int = 0
    tokens_freed: int = 0
    first_changed_index: int = -1


def collect_shake_regions(
    entries: Sequence[JsonObject], config: ShakeConfig, estimator: Estimator, rules: ShakeRules = ShakeRules.OCTAVO
) -> list[ShakeRegion]:
    """Return what can be elided, in document order; nothing when it would save less than `min_savings`."""
    results = {result.index: result for result in tool_results(entries)}
    start = context_start(entries) if rules is ShakeRules.OCTAVO else 0
    after = 0
    regions: list[list[ShakeRegion]] = []
    weights = _entry_tokens(entries, estimator)
    for index in range(len(entries) - 1, start - 1, -1):
        result = results.get(index)
        if after >= config.protect_tokens or (result is not None and result.is_useless):
            if result is not None:
                regions.append(_result_region(result, config, estimator, rules))
            else:
                regions.append(_block_regions(index, entries[index], config, rules))
        after += weights[index]
    found = [region for group in reversed(regions) for region in group]
    savings = sum(max(0, region.tokens - PLACEHOLDER_TOKENS) for region in found)
    return found if savings >= config.min_savings else []


def apply_shake_regions(
    entries: Sequence[JsonObject],
    regions: Sequence[ShakeRegion],
    placeholder: Callable[[ShakeRegion, int], str],
    now_ms: int,
    rules: ShakeRules = ShakeRules.OCTAVO,
) -> ShakeResult:
    """Return replacement entries in which every region is one line of text.

    Args:
        entries: The same path the regions were collected from.
        regions: In document order, as collected.
        placeholder: Makes the line for a region and its number, counted from 1.
        now_ms: Epoch ms written as `prunedAt` on tool results.
        rules: Whose rules.
    """
    lines = [placeholder(region, number) for number, region in enumerate(regions, start=1)]
    by_entry: dict[int, list[tuple[ShakeRegion, str]]] = {}
    for region, line in zip(regions, lines, strict=True):
        by_entry.setdefault(region.entry_index, []).append((region, line))
    results = {result.index: result for result in tool_results(entries)} if regions else {}
    replacements = []
    for index in sorted(by_entry):
        changes = by_entry[index]
        if changes[0][0].kind == "toolResult":
            keep_images = rules is ShakeRules.OCTAVO
            replacements.append(blanked(results[index], changes[0][1], now_ms, keep_images=keep_images))
        else:
            replacements.append(_spliced(entries[index], changes, rules))
    whole = sum(region.kind == "toolResult" for region in regions)
    freed = sum(region.tokens for region in regions) - sum(count_each(lines))
    return ShakeResult(replacements, whole, len(regions) - whole, 0, max(0, freed), min(by_entry, default=-1))


def shake_placeholder(region: ShakeRegion, number: int, artifact_id: str | None) -> str:
    """Return the line that stands for a region; without an artifact it does not promise recovery."""
    if artifact_id is None:
        return f"[shaken ~{region.tokens} tokens]"
    return f"[shaken ~{region.tokens} tokens — recover: artifact://{artifact_id} (region {number})]"


def artifact_text(regions: Iterable[ShakeRegion]) -> str:
    """Return what is stored as the artifact: every region's text under its number."""
    sections = (
        f"### region {number} ({region.label}, ~{region.tokens} tok)\n\n{region.text}\n"
        for number, region in enumerate(regions, start=1)
    )
    return "\n".join(sections)


def _entry_tokens(entries: Sequence[JsonObject], estimator: Estimator) -> list[int]:
    weights = [weight.tokens for weight in estimator.weigh([stored_message(entry) or None for entry in entries])]
    for index, entry in enumerate(entries):
        if entry.get("type") == "custom_message":
            texts = [text for _, text in _texts(entry.get("content"))]
            weights[index] = sum(count_each(texts))
    return weights


def _result_region(
    result: ToolResult, config: ShakeConfig, estimator: Estimator, rules: ShakeRules
) -> list[ShakeRegion]:
    text = result_text(result.message)
    if result.is_pruned or not text or config.is_protected(result):
        return []
    tokens = estimator.tokens(result.message)
    if rules is ShakeRules.OCTAVO:
        tokens -= IMAGE_TOKENS * len(blocks(result.message.get("content"), "image"))
        if tokens <= PLACEHOLDER_TOKENS:
            return []
    label = result.message.get("toolName")
    return [
        ShakeRegion(
            "toolResult",
            result.index,
            result.entry.get("id"),
            label if isinstance(label, str) else "tool",
            tokens,
            text,
        )
    ]


def _block_regions(index: int, entry: JsonObject, config: ShakeConfig, rules: ShakeRules) -> list[ShakeRegion]:
    if entry.get("type") == "custom_message":
        holder, label = entry, entry.get("customType")
    else:
        holder = stored_message(entry)
        label = holder.get("role")
        if label not in _TEXT_ROLES or (rules is ShakeRules.OCTAVO and _is_signed(holder)):
            return []
    return [
        ShakeRegion(
            "block",
            index,
            entry.get("id"),
            label if isinstance(label, str) else "custom",
            block.tokens,
            block.text,
            block_index,
            block.start,
            block.end,
        )
        for block_index, text in _texts(holder.get("content"))
        for block in find_blocks(text, config.fence_min_tokens, count_tokens)
    ]


def _is_signed(message: JsonObject) -> bool:
    """Whether the turn carries reasoning that is bound to its bytes."""
    return any(
        block.get("type") == "redactedThinking" or block.get("thinkingSignature") or block.get("thoughtSignature")
        for block in blocks(message.get("content"))
    )


def _texts(content: Any) -> list[tuple[int, str]]:
    if isinstance(content, str):
        return [(-1, content)]
    if not isinstance(content, list):
        return []
    return [
        (index, block["text"])
        for index, block in enumerate(content)
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]


def _spliced(entry: JsonObject, changes: Sequence[tuple[ShakeRegion, str]], rules: ShakeRules) -> JsonObject:
    is_custom = entry.get("type") == "custom_message"
    holder = entry if is_custom else stored_message(entry)
    content = holder.get("content")
    for region, line in sorted(changes, key=lambda change: change[0].start or 0, reverse=True):
        content = _with_span(content, region, line, rules)
    changed = {**holder, "content": content}
    if rules is ShakeRules.OCTAVO and not is_custom:
        changed.pop("providerPayload", None)
    return changed if is_custom else {**entry, "message": changed}


def _with_span(content: Any, region: ShakeRegion, line: str, rules: ShakeRules) -> Any:
    start, end = region.start or 0, region.end or 0
    if isinstance(content, str):
        return splice(content, start, end, line)
    at = region.block_index or 0
    block = {**content[at], "text": splice(content[at]["text"], start, end, line)}
    if rules is ShakeRules.OCTAVO:
        block.pop("textSignature", None)
    return [*content[:at], block, *content[at + 1 :]]
