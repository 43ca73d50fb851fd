"""Token counts, estimates, usage sums and thresholds."""

from dataclasses import dataclass
from typing import Any

from conformance.support import Vector, adapter, fixture_entries
from octavo.tokens.counting import count_each, count_tokens
from octavo.tokens.estimate import EstimateRules, Estimator, estimate_tokens
from octavo.tokens.thresholds import ThresholdRules, effective_reserve, resolve_threshold_tokens, should_compact
from octavo.tokens.usage import UsageRules, context_tokens, has_prompt_usage, prompt_tokens


@dataclass
class ThresholdGiven:
    enabled: bool = True
    strategy: str = "context-full"
    threshold_percent: float = -1
    threshold_tokens: float = -1
    reserve_tokens: float | None = 16384


WIRE_NAMES = {
    "thresholdPercent": "threshold_percent",
    "thresholdTokens": "threshold_tokens",
    "reserveTokens": "reserve_tokens",
}


def given(settings: dict[str, Any]) -> ThresholdGiven:
    return ThresholdGiven(**{WIRE_NAMES.get(key, key): value for key, value in settings.items()})


def approximate(texts: Any) -> list[int]:
    """The later version's count for models whose tokenizer it does not know."""
    return [(len(text.encode()) + 3) >> 2 for text in texts]


@adapter("countTokens (o200k_base, no special tokens)")
def count(vector: Vector) -> None:
    assert [count_tokens(text) for text in vector.input] == vector.expected
    assert count_each(vector.input) == vector.expected


@adapter("estimateTokens")
def estimate(vector: Vector) -> None:
    if isinstance(vector.input, dict) and "fixture" in vector.input:
        found = [
            estimate_tokens(entry["message"], EstimateRules.SEED) if entry["type"] == "message" else None
            for entry in fixture_entries(vector.input["fixture"])
        ]
        assert found == vector.expected
        return
    for case, expected in zip(vector.input, vector.expected, strict=True):
        message = case["message"] if isinstance(case, dict) and "message" in case else case
        wanted = expected["tokens"] if isinstance(expected, dict) else expected
        assert estimate_tokens(message, EstimateRules.SEED) == wanted, case
        if not _ours_differs(message):
            assert estimate_tokens(message, EstimateRules.OCTAVO) == wanted, case


def _ours_differs(message: dict[str, Any]) -> bool:
    """Whether one of the deviations in `tokens.estimate` can apply."""
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return (
        message["role"] in {"developer", "custom", "pythonExecution", "fileMention"}
        or bool(message.get("excludeFromContext") or message.get("images") or message.get("providerPayload"))
        or bool(message.get("prunedAt"))
        or any(block.get("type") in {"image", "redactedThinking"} for block in blocks)
        or any(block.get("thinkingSignature") or block.get("thoughtSignature") for block in blocks)
    )


@adapter("Tokenizer.countMessage")
def later_estimate(vector: Vector) -> None:
    ours = Estimator(EstimateRules.OCTAVO, count=approximate)
    for case, expected in zip(vector.input, vector.expected, strict=True):
        message = case["message"]
        weight = ours.weigh([message])[0]
        if message["role"] == "fileMention":
            assert weight.tokens > expected["tokens"] == 0
        elif message["role"] == "pythonExecution" or message.get("images"):
            assert weight.tokens >= expected["tokens"]
        else:
            assert weight.tokens - weight.opaque == expected["excludeEncryptedReasoning"], case["case"]
            assert (weight.opaque > 0) <= (expected["tokens"] != expected["excludeEncryptedReasoning"])


@adapter("calculateContextTokens / calculatePromptTokens")
def usage(vector: Vector) -> None:
    for rules in UsageRules:
        found = [{"context": context_tokens(u, rules), "prompt": prompt_tokens(u, rules)} for u in vector.input]
        assert found == vector.expected


@adapter("calculateContextTokens/calculatePromptTokens/hasContextTokenUsage")
def later_usage(vector: Vector) -> None:
    for given_usage, expected in zip(vector.input, vector.expected, strict=True):
        assert context_tokens(given_usage) == expected["context"]
        assert prompt_tokens(given_usage) == expected["prompt"]
        assert has_prompt_usage(given_usage) == expected["usable"]


@adapter("resolveThresholdTokens / effectiveReserveTokens")
def thresholds(vector: Vector) -> None:
    for case in vector.expected:
        window, settings = case["contextWindow"], given(case["settings"])
        assert resolve_threshold_tokens(window, settings, ThresholdRules.SEED) == case["threshold"], case
        assert effective_reserve(window, settings, ThresholdRules.SEED) == case["effectiveReserve"], case
        ours = resolve_threshold_tokens(window, settings)
        if window <= 0:
            assert ours is None
        elif case["threshold"] >= 0.15 * window and 1 <= case["threshold"] < window:
            assert ours == case["threshold"], case
        else:
            assert ours is not None
            assert 1 <= ours <= max(1, window - 1), case


@adapter("resolveThresholdTokens/resolveBudgetReserveTokens")
def later_thresholds(vector: Vector) -> None:
    for case in vector.expected:
        window = case["contextWindow"]
        settings = given({"reserveTokens": None} | case["settings"])
        ours = resolve_threshold_tokens(window, settings)
        if window <= 0:
            assert ours is None
        elif case["threshold"] <= 0:
            assert ours == 1
        elif case["settings"].get("reserveTokens") == 16384 and case["threshold"] < 0.15 * window:
            # Written out or not, the default reserve is the default reserve.
            assert ours == resolve_threshold_tokens(window, given({"reserveTokens": None}))
        else:
            assert ours == case["threshold"], case


@adapter("shouldCompact")
def triggers(vector: Vector) -> None:
    for case, expected in zip(vector.input, vector.expected, strict=True):
        tokens, window, settings = case["contextTokens"], case["contextWindow"], given(case["settings"])
        assert should_compact(tokens, window, settings, ThresholdRules.SEED) is expected, case
        threshold = resolve_threshold_tokens(window, settings)
        if threshold == resolve_threshold_tokens(window, settings, ThresholdRules.SEED):
            assert should_compact(tokens, window, settings) is expected, case
