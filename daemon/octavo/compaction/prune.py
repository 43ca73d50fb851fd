"""Blank tool results that are old, superseded by a newer read, or useless; everything else stays as it is.

Entries go in, replacement entries come out: nothing is changed in place, and only tool results are ever replaced, so
reasoning and calls keep their bytes (BR-034). Protection is by tokens, never by the number of user messages (BR-050).
Storing the replacements is the caller's business. Source: engine.md §11, seed.md "Pruning".

Deviations from the seed (engine.md §17 item 29, later versions): with `PruneRules.OCTAVO` nothing before the latest
compaction's first kept entry is touched, because it is not in the context; `PruneConfig.keep_boundary_id` says so
explicitly under both rules. `cache_warm_suffix_tokens` limits a threshold prune to the tail of a warm cache.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from octavo.compaction.entry_messages import effective_compaction, stored_message
from octavo.compaction.file_operations import read_supersede_key
from octavo.compaction.tool_results import Protection, ToolResult, blanked, skills_protected, tool_results
from octavo.js_text import utf16_length
from octavo.tokens.estimate import Estimator
from octavo_protocol.base import JsonObject

MIN_PRUNE_TOKENS = 50
"""A result smaller than this is never blanked for its size: the notice would cost as much."""

SUPERSEDED_NOTICE = "[Superseded by a newer read of this file]"
USELESS_NOTICE = "[Uneventful result elided]"
IDLE_FLUSH_MS = 30 * 60 * 1000
WARM_SUFFIX_TOKENS = 8000
_CHARS_PER_TOKEN = 4

SupersedeKey = Callable[[ToolResult], str | None]


class PruneRules(Enum):
    """Whose rules: the seed's, or ours."""

    SEED = "seed"
    OCTAVO = "octavo"


def read_key(result: ToolResult) -> str | None:
    """Return what two reads share when the newer replaces the older: path, or path NUL selector."""
    return read_supersede_key(result.read_path)


@dataclass(frozen=True, slots=True)
class PruneConfig:
    """How a prune decides.

    `protect_tokens` newest tokens of tool results stay; less than `minimum_savings` tokens are not worth the lost
    cache. `supersede_key` None leaves superseded reads alone. `keep_boundary_id`: entries before it stay.
    `cache_warm_suffix_tokens`: only results with at most this many tokens after them, None for all.
    """

    protect_tokens: int = 40_000
    minimum_savings: int = 20_000
    prune_useless: bool = True
    supersede_key: SupersedeKey | None = None
    is_protected: Protection = skills_protected
    keep_boundary_id: str | None = None
    cache_warm_suffix_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class SupersedeConfig:
    """How the per-turn pass decides; a session idle for `idle_flush_ms` has no warm cache to lose."""

    supersede_key: SupersedeKey | None = read_key
    prune_useless: bool = True
    is_protected: Protection = skills_protected
    idle_flush_ms: int = IDLE_FLUSH_MS
    warm_suffix_tokens: int = WARM_SUFFIX_TOKENS
    keep_boundary_id: str | None = None


@dataclass(frozen=True, slots=True)
class PruneResult:
    """Replacement entries in order, tokens saved by estimate, and the index of the first changed entry (-1: none).

    Everything from `first_changed_index` on has to be sent anew: what a provider cached before it stays valid (BR-077).
    """

    replacements: list[JsonObject] = field(default_factory=list)
    tokens_saved: int = 0
    first_changed_index: int = -1

    @property
    def pruned_count(self) -> int:
        """How many results were blanked."""
        return len(self.replacements)

    @property
    def first_changed_id(self) -> str | None:
        """Id of the first changed entry."""
        return self.replacements[0].get("id") if self.replacements else None


@dataclass(frozen=True, slots=True)
class _Candidate:
    result: ToolResult
    tokens: int
    notice: str

    @property
    def saved(self) -> int:
        return max(0, self.tokens - _notice_tokens(self.notice))


def prune_tool_outputs(
    entries: Sequence[JsonObject],
    config: PruneConfig,
    now_ms: int,
    estimator: Estimator,
    rules: PruneRules = PruneRules.OCTAVO,
) -> PruneResult:
    """Blank results beyond the protected newest tokens, and superseded and useless ones anywhere (§11.1).

    Args:
        entries: The path, root to leaf.
        config: How to decide.
        now_ms: Epoch ms written as `prunedAt`.
        estimator: Weighs results.
        rules: Whether the history before the latest compaction is out of bounds (ours) or not.
    """
    results = tool_results(entries)
    stale = _stale(results, config.supersede_key, config.is_protected, estimator, useless=config.prune_useless)
    start = _boundary(entries, config.keep_boundary_id, rules)
    suffix = None if config.cache_warm_suffix_tokens is None else _suffix_tokens(entries, estimator)
    candidates: list[_Candidate] = []
    newer = 0
    for result in reversed(results):
        tokens = estimator.tokens(result.message)
        notice = None if result.is_pruned else stale.get(result.index)
        if notice is None and not (
            result.is_pruned
            or newer < config.protect_tokens
            or tokens < MIN_PRUNE_TOKENS
            or config.is_protected(result)
        ):
            notice = f"[Output truncated - {tokens} tokens]"
        newer += tokens
        if notice is None or result.index < start:
            continue
        if suffix is None or suffix[result.index] <= (config.cache_warm_suffix_tokens or 0):
            candidates.append(_Candidate(result, tokens, notice))
    if sum(candidate.saved for candidate in candidates) < config.minimum_savings:
        return PruneResult()
    return _apply(candidates, now_ms)


def prune_superseded_tool_results(
    entries: Sequence[JsonObject],
    config: SupersedeConfig,
    now_ms: int,
    estimator: Estimator,
    rules: PruneRules = PruneRules.OCTAVO,
) -> PruneResult:
    """Blank superseded and useless results where that costs no cache: near the tail, or after a long pause (§11.2)."""
    results = tool_results(entries)
    stale = _stale(results, config.supersede_key, config.is_protected, estimator, useless=config.prune_useless)
    if not stale:
        return PruneResult()
    start = _boundary(entries, config.keep_boundary_id, rules)
    is_cold = _idle_ms(entries, now_ms) >= config.idle_flush_ms
    suffix = _suffix_tokens(entries, estimator)
    candidates = [
        _Candidate(result, estimator.tokens(result.message), stale[result.index])
        for result in reversed(results)
        if result.index in stale
        and result.index >= start
        and (is_cold or suffix[result.index] <= config.warm_suffix_tokens)
    ]
    return _apply(candidates, now_ms)


def _apply(newest_first: Sequence[_Candidate], now_ms: int) -> PruneResult:
    if not newest_first:
        return PruneResult()
    candidates = newest_first[::-1]
    return PruneResult(
        [blanked(candidate.result, candidate.notice, now_ms) for candidate in candidates],
        sum(candidate.saved for candidate in candidates),
        candidates[0].result.index,
    )


def _stale(
    results: Sequence[ToolResult],
    key_of: SupersedeKey | None,
    is_protected: Protection,
    estimator: Estimator,
    *,
    useless: bool,
) -> dict[int, str]:
    """Return the notice for every superseded or useless result, by entry index; superseded goes first."""
    stale: dict[int, str] = {}
    seen: set[str] = set()
    for result in reversed(results):
        if result.is_pruned or is_protected(result):
            continue
        key = key_of(result) if key_of is not None and result.call is not None else None
        if key is not None and (key in seen or key.partition("\0")[0] in seen):
            stale[result.index] = SUPERSEDED_NOTICE
        elif useless and result.is_useless and estimator.tokens(result.message) > _notice_tokens(USELESS_NOTICE):
            stale[result.index] = USELESS_NOTICE
        if key is not None:
            seen.add(key)
    return stale


def _boundary(entries: Sequence[JsonObject], keep_boundary_id: str | None, rules: PruneRules) -> int:
    """Return the index of the first entry that may be touched."""
    if keep_boundary_id is not None:
        return next((i for i, entry in enumerate(entries) if entry.get("id") == keep_boundary_id), 0)
    return context_start(entries) if rules is PruneRules.OCTAVO else 0


def context_start(entries: Sequence[JsonObject]) -> int:
    """Return the index of the first entry of the path that can be part of the context."""
    resets = (i for i in range(len(entries) - 1, -1, -1) if entries[i].get("type") == "reset_boundary")
    start = next(resets, -1) + 1
    last, kept = effective_compaction(entries, start)
    return start if last < 0 else last if kept is None else kept


def _suffix_tokens(entries: Sequence[JsonObject], estimator: Estimator) -> list[int]:
    """Return for every entry the tokens of the message entries after it."""
    weights = estimator.weigh([stored_message(entry) or None for entry in entries])
    after = 0
    suffix = [0] * len(entries)
    for index in range(len(entries) - 1, -1, -1):
        suffix[index] = after
        after += weights[index].tokens
    return suffix


def _idle_ms(entries: Sequence[JsonObject], now_ms: int) -> float:
    for entry in reversed(entries):
        if entry.get("type") == "message":
            stamp: Any = stored_message(entry).get("timestamp")
            return now_ms - stamp if isinstance(stamp, int | float) and not isinstance(stamp, bool) else 0
    return 0


def _notice_tokens(notice: str) -> int:
    return -(-utf16_length(notice) // _CHARS_PER_TOKEN)
