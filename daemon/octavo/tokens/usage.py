"""What the provider measured, whether it can be believed, and how full the context is by it.

Numbers come from the `usage` object of assistant messages; what was never measured is estimated by an `Estimator`.
No thresholds here. Source: engine.md §4.3-4.4. Known failures covered: BR-025, 026, 040, 043, 044, 062.

`UsageRules.SEED` computes the seed's sums. `UsageRules.OCTAVO` adds what later versions learnt: `contextTokens`
overrides, tokens of provider orchestration are no context. Under both, a field that is missing, null, not a number,
not finite or negative counts as 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypeGuard

from octavo.tokens.estimate import Estimator
from octavo_protocol.base import JsonObject

_FAILED_STOPS = ("aborted", "error")
_WINDOW_TOLERANCE = 1.25
_OVER_FACTOR, _OVER_ALLOWANCE = 3, 60_000
_UNDER_FACTOR, _UNDER_ALLOWANCE = 4, 2_000


class UsageRules(Enum):
    """Whose sums: the seed's, or ours."""

    SEED = "seed"
    OCTAVO = "octavo"


@dataclass(frozen=True, slots=True)
class ContextTokens:
    """How full a context is.

    `source` is "usage" when anchored on a provider's measurement, else "estimate". `anchor` is the index of the
    message that carries it, -1 without one. `rejected` says why a measurement that was there is not used.
    """

    tokens: int
    source: Literal["usage", "estimate"]
    anchor: int = -1
    rejected: str | None = None


@dataclass(frozen=True, slots=True)
class MeasuredAt:
    """What a measurement must agree with to be used for the present context.

    `model` is `provider/id` of the model that will be called; a measurement by another model does not count.
    `window` is its window in tokens, 0 when unknown. `not_before_ms` is when the context was last rewritten in place
    (prune, shake); older measurements describe text that is gone. `fixed_tokens` are the system prompt and the tools.
    """

    model: str | None = None
    window: int = 0
    not_before_ms: float = -math.inf
    fixed_tokens: int = 0


def context_tokens(usage: Any, rules: UsageRules = UsageRules.OCTAVO) -> int:
    """Return the tokens the context held after the call: the total, or the sum of the parts."""
    if rules is UsageRules.OCTAVO and (override := _number(usage, "contextTokens")):
        return override
    total = _number(usage, "totalTokens") or _prompt_sum(usage) + _number(usage, "output")
    if rules is UsageRules.OCTAVO:
        total = max(0, total - _orchestration(usage))
    return total


def prompt_tokens(usage: Any, rules: UsageRules = UsageRules.OCTAVO) -> int:
    """Return the tokens that were sent: input and both cache figures, or the context tokens when those are all 0."""
    if rules is UsageRules.OCTAVO and (override := _number(usage, "contextTokens")):
        return override
    return _prompt_sum(usage) or context_tokens(usage, rules)


def has_prompt_usage(usage: Any) -> bool:
    """Whether the usage says anything about the size of the prompt, not only about the answer."""
    if _number(usage, "contextTokens") or _prompt_sum(usage):
        return True
    return _number(usage, "totalTokens") > _number(usage, "output")


def valid_usage(message: Any) -> JsonObject | None:
    """Return the usage of an assistant message that was neither aborted nor an error, else None (engine.md §4.3)."""
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return None
    usage = message.get("usage")
    return usage if message.get("stopReason") not in _FAILED_STOPS and isinstance(usage, dict) else None


def last_usage(path: Sequence[JsonObject]) -> JsonObject | None:
    """Return the newest valid usage anywhere on the path: the seed's choice, which may predate a compaction."""
    for entry in reversed(path):
        if entry.get("type") == "message" and (usage := valid_usage(entry.get("message"))) is not None:
            return usage
    return None


def implausible(measured: int, estimate: int, window: int = 0) -> str | None:
    """Return why a measurement of the prompt cannot be about this context, or None when it can.

    Args:
        measured: Tokens the provider reported.
        estimate: What the messages up to the measurement are estimated at, all known parts included, opaque data not.
        window: The model's window, 0 when unknown.

    Providers report totals of a whole agent loop (BR-062), old logs carry nonsense (BR-026), some leave out what was
    cached. The bounds are wide: other tokenizers count up to twice as much, and system prompts and tools of some
    10,000 tokens may be unknown to us.
    """
    if measured <= 0:
        return "no prompt tokens were reported"
    if window > 0 and measured > window * _WINDOW_TOLERANCE:
        return f"{measured} tokens were reported for a window of {window}"
    if measured > estimate * _OVER_FACTOR + _OVER_ALLOWANCE:
        return f"{measured} tokens were reported for messages estimated at {estimate}"
    if measured * _UNDER_FACTOR + _UNDER_ALLOWANCE < estimate:
        return f"only {measured} tokens were reported for messages estimated at {estimate}"
    return None


def estimate_context_tokens(messages: Sequence[Any], estimator: Estimator) -> ContextTokens:
    """Return the seed's figure: prompt tokens of the newest valid usage plus the estimate of what follows (§4.4)."""
    for index in range(len(messages) - 1, -1, -1):
        usage = valid_usage(messages[index])
        if usage is not None:
            tokens = prompt_tokens(usage, UsageRules.SEED) + estimator.total(messages[index + 1 :])
            return ContextTokens(tokens, "usage", index)
    return ContextTokens(estimator.total(messages), "estimate")


def measure_context(
    messages: Sequence[Any], estimator: Estimator, at: MeasuredAt | None = None, *, anchors_from: int = 0
) -> ContextTokens:
    """Return how full the context is, anchored on a measurement when there is one that can be believed.

    Differs from `estimate_context_tokens` on purpose: the anchor must describe the present context (`at`), must come
    from an entry after the latest compaction, must be plausible, and the anchored message itself, which is part of
    the next prompt, is added by estimate.

    Args:
        messages: The context as built, in order.
        estimator: Weighs what was not measured.
        at: What the measurement must agree with.
        anchors_from: Index of the first message that was written after the latest compaction; earlier ones were
            measured with a context that is gone.
    """
    at = at or MeasuredAt()
    weights = estimator.weigh(messages)
    total = at.fixed_tokens + sum(weight.tokens for weight in weights)
    rejected = None
    after = 0
    plain_before = at.fixed_tokens + sum(weight.tokens - weight.opaque for weight in weights)
    for index in range(len(messages) - 1, anchors_from - 1, -1):
        after += weights[index].tokens
        plain_before -= weights[index].tokens - weights[index].opaque
        usage = valid_usage(messages[index])
        if usage is None:
            continue
        rejected = _refusal(messages[index], usage, plain_before, at)
        if rejected is None:
            return ContextTokens(prompt_tokens(usage) + after, "usage", index)
        if not rejected.startswith("no prompt"):
            break
    return ContextTokens(total, "estimate", rejected=rejected)


def anchors_from(path: Sequence[JsonObject]) -> int:
    """Return the path index after the latest compaction or reset boundary: only measurements from there on count."""
    for index in range(len(path) - 1, -1, -1):
        if path[index].get("type") in {"compaction", "reset_boundary"}:
            return index + 1
    return 0


def last_rewrite_ms(messages: Sequence[Any]) -> float:
    """Return the newest `prunedAt` among the messages in epoch ms, minus infinity when nothing was pruned."""
    stamps = [message.get("prunedAt") for message in messages if isinstance(message, dict)]
    return max((stamp for stamp in stamps if _is_number(stamp)), default=-math.inf)


def _refusal(message: JsonObject, usage: JsonObject, estimate: int, at: MeasuredAt) -> str | None:
    if not has_prompt_usage(usage):
        return "no prompt tokens were reported"
    if at.model is not None and not _same_model(message, at.model):
        return f"measured by {message.get('provider')}/{message.get('model')}, not {at.model}"
    stamp = message.get("timestamp")
    if _is_number(stamp) and stamp < at.not_before_ms:
        return "measured before the context was rewritten"
    return implausible(prompt_tokens(usage), estimate, at.window)


def _same_model(message: JsonObject, wanted: str) -> bool:
    """Whether the message came from `provider/id`; an alias and its dated version are one model."""
    provider, model = message.get("provider"), message.get("model")
    if not isinstance(provider, str) or not isinstance(model, str):
        return True
    written = f"{provider}/{model}"
    return written == wanted or written.startswith(f"{wanted}-20") or wanted.startswith(f"{written}-20")


def _prompt_sum(usage: Any) -> int:
    return _number(usage, "input") + _number(usage, "cacheRead") + _number(usage, "cacheWrite")


def _orchestration(usage: Any) -> int:
    spent = usage.get("orchestration") if isinstance(usage, dict) else None
    return _number(spent, "input") + _number(spent, "output") + _number(spent, "cacheRead")


def _number(usage: Any, key: str) -> int:
    value = usage.get(key) if isinstance(usage, dict) else None
    return int(value) if _is_number(value) and value > 0 else 0


def _is_number(value: Any) -> TypeGuard[float]:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)
