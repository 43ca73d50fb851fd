"""Where a history may be cut in two, and where it is: everything before the cut is summarised, the rest is kept.

Pure arithmetic over entries; what the two parts become is `prepare`. Source: engine.md §6.1, seed.md "Cut points".

`CutRules.SEED` is the seed, quirks included. `CutRules.OCTAVO` keeps whole groups (a cut point and everything up to
the next one) from the newest backwards while they fit. It deviates on purpose (engine.md §17 items 4, 5, 9):

- The newest group is always kept, however large, so that a tool result bigger than the budget no longer ends in
  "nothing to compact"; its turn is split before the assistant message that made the call.
- `custom_message` and `branch_summary` entries weigh what they are.
- Whether a turn is split is decided at the cut itself, before metadata in front of it is pulled along; and only
  entries that contribute no message are pulled along, never past a compaction or a reset boundary.
- No cut falls between a tool call and its result, also when something else was said in between. Only when such a span
  alone is larger than the budget it may be cut where the rest fits; `prepare` then summarises the orphaned results.
- An entry without an id cannot be the first kept one, because nothing could refer to it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from typing import Any, TypeAlias

from octavo.compaction.entry_messages import entry_message, stored_message, tool_calls
from octavo_protocol.base import JsonObject

Estimate: TypeAlias = Callable[[JsonObject], int]
"""Tokens of a message."""

_CUT_ROLES = ("user", "assistant", "bashExecution", "hookMessage", "branchSummary", "compactionSummary")
_CUT_TYPES = ("custom_message", "branch_summary")
_TURN_ROLES = ("user", "bashExecution")
_BOUNDARY_TYPES = ("compaction", "reset_boundary")


class CutRules(Enum):
    """Whose rules: the seed's, or ours."""

    SEED = "seed"
    OCTAVO = "octavo"


@dataclass(frozen=True, slots=True)
class CutPoint:
    """A cut: index of the first kept entry, and of the entry that opened its turn when the turn is split, else -1."""

    first_kept: int
    turn_start: int = -1

    @property
    def is_split_turn(self) -> bool:
        """Whether the kept part begins in the middle of a turn."""
        return self.turn_start != -1


def find_cut_point(
    entries: Sequence[JsonObject],
    start: int,
    end: int,
    keep_recent_tokens: float,
    estimate: Estimate,
    rules: CutRules = CutRules.OCTAVO,
) -> CutPoint:
    """Return where `entries[start:end]` is cut so that about `keep_recent_tokens` tokens stay."""
    if rules is CutRules.SEED:
        return _seed_cut(entries, start, end, keep_recent_tokens, estimate)
    return _octavo_cut(entries, start, end, keep_recent_tokens, estimate)


def find_turn_start(entries: Sequence[JsonObject], index: int, start: int) -> int:
    """Return the nearest entry at or before `index`, not before `start`, that opens a turn; -1 when there is none."""
    for position in range(index, start - 1, -1):
        entry = entries[position]
        if entry.get("type") in _CUT_TYPES or _role(entry) in _TURN_ROLES:
            return position
    return -1


def is_cut_point(entry: JsonObject) -> bool:
    """Whether a kept part may begin at this entry: never at a tool result."""
    return entry.get("type") in _CUT_TYPES or _role(entry) in _CUT_ROLES


def _seed_cut(entries: Sequence[JsonObject], start: int, end: int, keep: float, estimate: Estimate) -> CutPoint:
    points = [index for index in range(start, end) if is_cut_point(entries[index])]
    if not points:
        return CutPoint(start)
    cut = points[0]
    accumulated = 0
    # `after` walks down with the index: the first cut point at or after it.
    after: int | None = None
    for index in range(end - 1, start - 1, -1):
        if is_cut_point(entries[index]):
            after = index
        if entries[index].get("type") != "message":
            continue
        accumulated += estimate(stored_message(entries[index]))
        if accumulated >= keep:
            cut = cut if after is None else after
            break
    while cut > start and entries[cut - 1].get("type") not in {"compaction", "message"}:
        cut -= 1
    return CutPoint(cut, -1 if _is_user(entries[cut]) else find_turn_start(entries, cut, start))


def _octavo_cut(entries: Sequence[JsonObject], start: int, end: int, keep: float, estimate: Estimate) -> CutPoint:
    messages = [entry_message(entry) for entry in entries[start:end]]
    weights = [0 if message is None else estimate(message) for message in messages]
    kept_from = [*accumulate(reversed(weights))][::-1]
    points = [i for i in range(end - start) if is_cut_point(entries[start + i]) and _has_id(entries[start + i])]
    if not points:
        return CutPoint(start)
    crossed = _crossed_calls(messages)
    whole = [point for point in points if not crossed[point]]
    cut = _oldest_that_fits(whole, kept_from, keep)
    if cut is None or kept_from[cut] > keep:
        fitting = (point for point in points if kept_from[point] <= keep)
        cut = next(fitting, points[0] if cut is None else cut)
    turn_start = -1 if _is_user(entries[start + cut]) else find_turn_start(entries, start + cut, start)
    return CutPoint(start + _pull_back(entries, messages, start, cut), turn_start)


def _oldest_that_fits(points: Sequence[int], kept_from: Sequence[int], keep: float) -> int | None:
    """Return the oldest point whose kept part fits, or the newest point; None without points."""
    chosen = None
    for point in reversed(points):
        if chosen is not None and kept_from[point] > keep:
            break
        chosen = point
    return chosen


def _crossed_calls(messages: Sequence[JsonObject | None]) -> list[int]:
    """Return for every index how many tool calls made before it are answered at or after it."""
    opened: dict[str, int] = {}
    steps = [0] * (len(messages) + 1)
    for index, message in enumerate(messages):
        role = None if message is None else message.get("role")
        if message is None:
            continue
        if role == "assistant":
            opened.update((call["id"], index) for call in tool_calls(message))
        elif role == "toolResult" and isinstance(called := message.get("toolCallId"), str) and called in opened:
            steps[opened[called] + 1] += 1
            steps[index + 1] -= 1
    return list(accumulate(steps[:-1]))


def _pull_back(entries: Sequence[JsonObject], messages: Sequence[Any], start: int, cut: int) -> int:
    while cut > 0:
        before = entries[start + cut - 1]
        if messages[cut - 1] is not None or before.get("type") in _BOUNDARY_TYPES or not _has_id(before):
            break
        cut -= 1
    return cut


def _role(entry: JsonObject) -> Any:
    return stored_message(entry).get("role")


def _is_user(entry: JsonObject) -> bool:
    return bool(_role(entry) == "user")


def _has_id(entry: JsonObject) -> bool:
    return isinstance(entry.get("id"), str) and bool(entry["id"])
