"""What a session has cost so far: the usage its own messages report, added up (engine.md §1.10, end)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from octavo_protocol.base import JsonObject

_IMPLAUSIBLE = 10**10
_TASK_TOOL = "task"


@dataclass(slots=True)
class UsageStatistics:
    """Sums over assistant messages and the sub-agents they ran.

    Attributes:
        input: Tokens sent and not read from a cache.
        output: Tokens generated.
        cache_read: Tokens read from a cache.
        cache_write: Tokens written to a cache.
        premium_requests: Requests billed by the piece.
        cost: Total cost in the currency of the provider's price list.
    """

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    premium_requests: float = 0
    cost: float = 0


def usage_statistics(entries: Iterable[JsonObject]) -> UsageStatistics:
    """Add up assistant usage and the `details.usage` of `task` results; malformed figures count as nothing."""
    total = UsageStatistics()
    for entry in entries:
        message = entry.get("message")
        if entry.get("type") != "message" or not isinstance(message, dict):
            continue
        if message.get("role") == "assistant":
            _add(total, message.get("usage"))
        elif message.get("role") == "toolResult" and message.get("toolName") == _TASK_TOOL:
            details = message.get("details")
            _add(total, details.get("usage") if isinstance(details, dict) else None)
    return total


def _add(total: UsageStatistics, usage: Any) -> None:
    if not isinstance(usage, dict):
        return
    total.input += _number(usage.get("input"))
    total.output += _number(usage.get("output"))
    total.cache_read += _number(usage.get("cacheRead"))
    total.cache_write += _number(usage.get("cacheWrite"))
    total.premium_requests += _number(usage.get("premiumRequests"))
    cost = usage.get("cost")
    total.cost += _number(cost.get("total") if isinstance(cost, dict) else cost)


def _number(value: Any) -> float:
    """A figure as reported, or 0 for what nobody can have used: one such lie would drown all the others."""
    plausible = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _IMPLAUSIBLE
    return value if plausible else 0
