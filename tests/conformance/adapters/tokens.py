"""Token counts, estimates, usage sums and thresholds."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
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


def given(*settings: dict[str, Any] | None) -> ThresholdGiven:
    """The last of the settings win; what does not decide when to compact is left out."""
    known = {field.name for field in fields(ThresholdGiven)}
    found = {WIRE_NAMES.get(key, key): value for part in settings for key, value in (part or {}).items()}
    return ThresholdGiven(**{name: value for name, value in found.items() if name in known})


def defaults(vector: Vector) -> dict[str, Any] | None:
    return vector.input.get("defaults") if isinstance(vector.input, dict) else None


def approximate(texts: Any) -> list[int]:
    """The later version's count for models whose tokenizer it does not know."""
    return [(len(text.encode()) + 3) >> 2 for text in texts]


@adapter("countTokens (o200k_base, no special tokens)")
def count(vector: Vector) -> None:
    # A list among the texts is a list of fragments, which are counted one by one.
    assert [count_tokens(text) for text in vector.input] == vector.expected
    fragments = [[text] if isinstance(text, str) else text for text in vector.input]
    assert [sum(count_each(texts)) for texts in fragments] == vector.expected


@adapter("estimateTokens")
def estimate(vector: Vector) -> None:
    if isinstance(vector.input, dict) and "fixture" in vector.input:
        found = [
            estimate_tokens(entry["message"], EstimateRules.SEED) if entry["type"] == "message" else None
            for entry in fixture_entries(vector.input["fixture"])
        ]
        assert found == vector.expected
        return
    for name, message, wanted in _weighed(vector):
        assert estimate_tokens(message, EstimateRules.SEED) == wanted, name
        if not _ours_differs(message):
            assert estimate_tokens(message, EstimateRules.OCTAVO) == wanted, name


def _weighed(vector: Vector) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Name, message and tokens of every case, in whichever form the vector lists them.

    Cases are messages, entries or objects with a `message`, in a list (perhaps under `messages` or `entries`) or by
    name; tokens are numbers or stand under `tokens`.
    """
    cases = vector.input
    if cases is None:
        cases = vector.expected
    elif isinstance(cases, dict) and len(cases) == 1 and isinstance(only := next(iter(cases.values())), list):
        cases = only
    wanted = vector.expected
    if isinstance(cases, dict):
        wanted = [wanted[name] for name in cases]
        cases = [{"case": name, "message": message} for name, message in cases.items()]
    for case, expected in zip(cases, wanted, strict=True):
        message = case["message"] if isinstance(case, dict) and "message" in case else case
        if isinstance(message, list):
            message = next(part for part in message if isinstance(part, dict))
        name = str(case.get("case", case.get("name"))) if isinstance(case, dict) else str(case)
        yield name, message, expected["tokens"] if isinstance(expected, dict) else expected


def _ours_differs(message: dict[str, Any]) -> bool:
    """Whether one of the deviations in `tokens.estimate` can apply."""
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return (
        message.get("role") in {"developer", "custom", "pythonExecution", "fileMention"}
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
        window, settings = case["contextWindow"], given(defaults(vector), case["settings"])
        assert resolve_threshold_tokens(window, settings, ThresholdRules.SEED) == case["threshold"], case
        assert effective_reserve(window, settings, ThresholdRules.SEED) == case["effectiveReserve"], case
        ours = resolve_threshold_tokens(window, settings)
        if window <= 0:
            assert ours is None
        elif _is_plain(settings, window, case["threshold"]):
            assert ours == case["threshold"], case
        else:
            assert ours is not None
            assert 1 <= ours <= max(1, window - 1), case


def _is_plain(settings: ThresholdGiven, window: float, threshold: float) -> bool:
    """Whether nothing makes our threshold differ: a sound reserve that leaves room for the context."""
    return (settings.reserve_tokens or 0) >= 0 and threshold >= 0.15 * window and 1 <= threshold < window


@adapter("resolveThresholdTokens/resolveBudgetReserveTokens")
def later_thresholds(vector: Vector) -> None:
    for case in vector.expected:
        window = case["contextWindow"]
        settings = given({"reserveTokens": None}, case["settings"])
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
        tokens, window = case["contextTokens"], case["contextWindow"]
        settings = given(defaults(vector), case["settings"])
        assert should_compact(tokens, window, settings, ThresholdRules.SEED) is expected, case
        threshold = resolve_threshold_tokens(window, settings)
        if threshold == resolve_threshold_tokens(window, settings, ThresholdRules.SEED):
            assert should_compact(tokens, window, settings) is expected, case
