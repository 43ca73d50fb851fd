"""What a compaction of a path would summarise and what it would keep: the plan, before any summary is made.

Reads a path (root to leaf), writes nothing. Source: engine.md §6.2, seed.md "Preparation".

`CutRules.SEED` is the seed. `CutRules.OCTAVO` deviates on purpose (engine.md §17 items 2, 3, 22):

- The window starts at the previous compaction's `firstKeptEntryId`, so that what the first compaction kept is
  summarised by the second instead of vanishing; nothing before a later reset boundary is touched.
- The measurement that adapts the budget must describe the present context (after the last compaction, plausible).
  Without one, `tokens_before` is an estimate of the present context instead of 0.
- A tool result that is kept while its call is summarised is summarised too, because no provider would accept it alone.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from octavo.compaction.cut_point import CutPoint, CutRules, find_cut_point
from octavo.compaction.entry_messages import effective_compaction, entry_message, tool_calls
from octavo.compaction.file_operations import FileOps, collect_from_message, seed_from_details
from octavo.tokens.estimate import EstimateRules, Estimator
from octavo.tokens.usage import (
    MeasuredAt,
    UsageRules,
    anchors_from,
    context_tokens,
    last_usage,
    measure_context,
    prompt_tokens,
)
from octavo_protocol.base import JsonObject


class PrepareSettings(Protocol):
    """The part of the compaction settings that preparation reads."""

    @property
    def keep_recent_tokens(self) -> float:
        """Tokens of the newest messages that are to be kept."""
        ...


@dataclass(frozen=True, slots=True)
class Preparation:
    """A planned compaction.

    The three message lists are disjoint and in order: summarised as history, summarised as the beginning of a turn
    whose end is kept (`is_split_turn`), kept. `tokens_before` is the size of the context in tokens, measured or
    estimated, 0 when the seed has no measurement. `recent_tokens` is the estimate of what is kept, `keep_recent_tokens`
    the budget it was held against after adapting it to the measurement.
    """

    first_kept_entry_id: str
    messages_to_summarize: list[JsonObject]
    turn_prefix_messages: list[JsonObject]
    recent_messages: list[JsonObject]
    is_split_turn: bool
    tokens_before: int
    recent_tokens: int
    keep_recent_tokens: float
    settings: Any
    previous_summary: str | None = None
    previous_preserve_data: JsonObject | None = None
    file_ops: FileOps = field(default_factory=FileOps)

    @property
    def discarded_messages(self) -> list[JsonObject]:
        """Everything that leaves the context: history and turn prefix."""
        return [*self.messages_to_summarize, *self.turn_prefix_messages]

    def to_wire(self) -> JsonObject:
        """Return the object that hooks receive (engine.md §15); absent values are left out."""
        optional = {"previousSummary": self.previous_summary, "previousPreserveData": self.previous_preserve_data}
        return {
            "firstKeptEntryId": self.first_kept_entry_id,
            "messagesToSummarize": self.messages_to_summarize,
            "turnPrefixMessages": self.turn_prefix_messages,
            "recentMessages": self.recent_messages,
            "isSplitTurn": self.is_split_turn,
            "tokensBefore": self.tokens_before,
            "fileOps": {
                "read": sorted(self.file_ops.read),
                "written": sorted(self.file_ops.written),
                "edited": sorted(self.file_ops.edited),
            },
            **{key: value for key, value in optional.items() if value is not None},
        }


@dataclass(frozen=True, slots=True)
class _Window:
    """The entries one compaction looks at, and the compaction before them."""

    entries: list[JsonObject]
    previous: JsonObject


def prepare_compaction(
    path: Sequence[JsonObject],
    settings: PrepareSettings,
    rules: CutRules = CutRules.OCTAVO,
    *,
    estimator: Estimator | None = None,
    at: MeasuredAt | None = None,
) -> Preparation | None:
    """Plan a compaction of the path, or return None when there is nothing to compact.

    Args:
        path: Entries from the root to the leaf.
        settings: Where `keep_recent_tokens` is read; kept in the result for whoever summarises.
        rules: The seed's rules or ours.
        estimator: Weighs messages; pass the session's own to reuse what it knows.
        at: What a measurement must agree with to be believed (ours only).
    """
    if not path or path[-1].get("type") == "compaction":
        return None
    seed = rules is CutRules.SEED
    estimator = estimator or Estimator(EstimateRules.SEED if seed else EstimateRules.OCTAVO)
    window = _seed_window(path) if seed else _octavo_window(path)
    measured = _seed_measure(path) if seed else _octavo_measure(path, window, estimator, at or MeasuredAt())
    messages = [entry_message(entry) for entry in window.entries]
    estimated = estimator.total(_present(messages))
    if not seed:
        estimated += estimator.tokens(_summary_message(window)) + (at.fixed_tokens if at else 0)
    keep = _adapted_budget(settings.keep_recent_tokens, measured.prompt, estimated)
    cut = find_cut_point(window.entries, 0, len(window.entries), keep, estimator.tokens, rules)
    if cut.first_kept >= len(window.entries) or not isinstance(window.entries[cut.first_kept].get("id"), str):
        return None
    return _assemble(window, cut, messages, measured.before, keep, settings, estimator, seed=seed)


def _assemble(
    window: _Window,
    cut: CutPoint,
    messages: Sequence[JsonObject | None],
    tokens_before: int,
    keep: float,
    settings: Any,
    estimator: Estimator,
    *,
    seed: bool,
) -> Preparation | None:
    history_end = cut.turn_start if cut.is_split_turn else cut.first_kept
    history = _present(messages[:history_end])
    prefix = _present(messages[history_end : cut.first_kept])
    recent = _present(messages[cut.first_kept :])
    if not history and not prefix:
        return None
    if not seed:
        (prefix or history).extend(_orphaned_results(history, prefix, recent))
    preserve = window.previous.get("preserveData")
    summary = window.previous.get("summary")
    return Preparation(
        first_kept_entry_id=window.entries[cut.first_kept]["id"],
        messages_to_summarize=history,
        turn_prefix_messages=prefix,
        recent_messages=recent,
        is_split_turn=cut.is_split_turn,
        tokens_before=tokens_before,
        recent_tokens=estimator.total(recent),
        keep_recent_tokens=keep,
        settings=settings,
        previous_summary=summary if isinstance(summary, str) else None,
        previous_preserve_data=preserve if isinstance(preserve, dict) else None,
        file_ops=_file_ops(window.previous, [*history, *prefix]),
    )


@dataclass(frozen=True, slots=True)
class _Measured:
    """Tokens of the whole context before, and of the prompt that adapts the budget (None without a measurement)."""

    before: int
    prompt: int | None


def _seed_measure(path: Sequence[JsonObject]) -> _Measured:
    usage = last_usage(path)
    if usage is None:
        return _Measured(0, None)
    return _Measured(context_tokens(usage, UsageRules.SEED), prompt_tokens(usage, UsageRules.SEED))


def _octavo_measure(path: Sequence[JsonObject], window: _Window, estimator: Estimator, at: MeasuredAt) -> _Measured:
    head = [_summary_message(window)] if window.previous else []
    fresh = {id(entry) for entry in path[anchors_from(path) :]}
    producing = [(entry, message) for entry in window.entries if (message := entry_message(entry)) is not None]
    first_fresh = next((i for i, (entry, _) in enumerate(producing) if id(entry) in fresh), len(producing))
    context = measure_context(
        [*head, *(message for _, message in producing)], estimator, at, anchors_from=len(head) + first_fresh
    )
    return _Measured(context.tokens, context.tokens if context.source == "usage" else None)


def _summary_message(window: _Window) -> JsonObject:
    return {"role": "compactionSummary", "summary": window.previous.get("summary")}


def _adapted_budget(keep: float, prompt: int | None, estimated: int) -> float:
    """Shrink the budget by how much more the provider measured than we estimated; never enlarge it."""
    ratio = prompt / estimated if prompt is not None and estimated > 0 else 0
    if math.isfinite(ratio) and ratio > 1:
        return max(1, math.floor(keep / ratio))
    return keep


def _seed_window(path: Sequence[JsonObject]) -> _Window:
    last = _last_compaction(path)
    return _Window(list(path[last + 1 :]), path[last] if last >= 0 else {})


def _octavo_window(path: Sequence[JsonObject]) -> _Window:
    start = 1 + _last_index(path, lambda entry: entry.get("type") == "reset_boundary")
    last, kept_from = effective_compaction(path, start)
    if last < 0:
        return _Window(list(path[start:]), {})
    kept = () if kept_from is None else path[kept_from:last]
    entries = [entry for entry in [*kept, *path[last + 1 :]] if entry.get("type") != "compaction"]
    return _Window(entries, path[last])


def _file_ops(previous: JsonObject, discarded: Iterable[JsonObject]) -> FileOps:
    ops = FileOps()
    if not previous.get("fromExtension"):
        seed_from_details(previous.get("details"), ops)
    for message in discarded:
        collect_from_message(message, ops)
    return ops


def _orphaned_results(*parts: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the tool results of the last part whose calls are in the parts before it."""
    *discarded, recent = parts
    called = {call["id"] for part in discarded for message in part for call in tool_calls(message)}
    called -= {call["id"] for message in recent for call in tool_calls(message)}
    return [m for m in recent if m.get("role") == "toolResult" and m.get("toolCallId") in called]


def _last_compaction(path: Sequence[JsonObject]) -> int:
    return _last_index(path, lambda entry: entry.get("type") == "compaction")


def _last_index(path: Sequence[JsonObject], wanted: Callable[[JsonObject], bool]) -> int:
    return next((i for i in range(len(path) - 1, -1, -1) if wanted(path[i])), -1)


def _present(messages: Sequence[JsonObject | None]) -> list[JsonObject]:
    return [message for message in messages if message is not None]
