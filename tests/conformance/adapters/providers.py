"""Compare error recognition with the vectors: overflow (engine.md §14), rate limits and retry hints (§13.8)."""

import re

from conformance.support import Vector, adapter
from octavo.error_text.overflow import OverflowRules, is_context_overflow, overflow_patterns
from octavo.error_text.rate_limits import is_usage_limit_error, parse_rate_limit_reason, retry_hint_ms


def _message(item: object) -> tuple[dict[str, object], int]:
    """A vector names an error text, or gives a message (whole, or its fields) with the window, also as a pair."""
    if isinstance(item, list):
        message, *rest = item
        return _message({"message": message, "contextWindow": rest[0] if rest else 0})
    if isinstance(item, str):
        return {"role": "assistant", "stopReason": "error", "errorMessage": item}, 0
    assert isinstance(item, dict)
    message = item.get("message", item)
    window = int(item.get("contextWindow") or item.get("window") or 0)
    if isinstance(message, str):
        message = {"role": "assistant", "stopReason": "error", "errorMessage": message}
        message |= {key: item[key] for key in ("stopReason", "usage") if key in item}
    return message, window


@adapter("isContextOverflow")
def is_context_overflow_(vector: Vector) -> None:
    cases = vector.expected if vector.input is None else vector.input
    for item, expected in zip(cases, vector.expected, strict=True):
        message, window = _message(item)
        wanted = expected["overflow"] if isinstance(expected, dict) else expected
        assert is_context_overflow(message, window, OverflowRules.SEED) is wanted, item
        ours = is_context_overflow(message, window)
        if ours is not wanted:
            assert _judged_by_negatives(str(message.get("errorMessage"))) is wanted, item


def _judged_by_negatives(text: str) -> bool:
    """Ours asks the negatives first: a throttle or a media limit is no overflow, although the seed's words match."""
    words = r"image|pdf|\bpages?\b|\brate\b|429|quota|throttl|too many requests|per (?:minute|day)|overloaded"
    return re.search(words, text, re.IGNORECASE) is not None


@adapter("getOverflowPatterns")
def overflow_pattern_count(vector: Vector) -> None:
    assert len(overflow_patterns()) == vector.expected["count"]


@adapter("parseRateLimitReason / isUsageLimitError")
def rate_limit_reason(vector: Vector) -> None:
    for text, expected in zip(vector.input, vector.expected, strict=True):
        assert (parse_rate_limit_reason(text), is_usage_limit_error(text)) == (
            expected["reason"],
            expected["usageLimit"],
        ), text


@adapter("extractRetryHint(undefined, body)")
def retry_hint(vector: Vector) -> None:
    for item, expected in zip(vector.input, vector.expected, strict=True):
        given = item if isinstance(item, dict) else {"body": item}
        now = given.get("now", 0)
        assert retry_hint_ms(given.get("headers"), given.get("body") or "", lambda: now) == expected, item  # noqa: B023
