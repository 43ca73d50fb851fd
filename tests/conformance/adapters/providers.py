"""Compare error recognition with the vectors: overflow (engine.md §14), rate limits and retry hints (§13.8)."""

from conformance.support import Vector, adapter
from octavo.error_text.overflow import OverflowRules, is_context_overflow, overflow_patterns
from octavo.error_text.rate_limits import is_usage_limit_error, parse_rate_limit_reason, retry_hint_ms


def _message(item: object) -> tuple[dict[str, object], int]:
    """A vector names an error text, or gives a whole message with the window."""
    if isinstance(item, str):
        return {"role": "assistant", "stopReason": "error", "errorMessage": item}, 0
    assert isinstance(item, dict)
    message = item.get("message", item)
    if isinstance(message, str):
        message = {"role": "assistant", "stopReason": "error", "errorMessage": message}
    return message, int(item.get("contextWindow") or 0)


@adapter("isContextOverflow")
def is_context_overflow_(vector: Vector) -> None:
    for item, expected in zip(vector.input, vector.expected, strict=True):
        message, window = _message(item)
        wanted = expected["overflow"] if isinstance(expected, dict) else expected
        assert is_context_overflow(message, window, OverflowRules.SEED) is wanted, item
        ours = is_context_overflow(message, window)
        if ours is not wanted:
            # Ours asks the negatives first: a media limit is no overflow, although the seed's "limit of N" takes it.
            assert wanted is True, item
            assert "image" in str(message.get("errorMessage")), item


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
    assert [retry_hint_ms(None, text, lambda: 0) for text in vector.input] == vector.expected
