"""Why a provider said "not now", and how long to wait (engine.md §13.8).

Reads headers and words; waits for nothing and retries nothing.
"""

import math
import re
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from enum import StrEnum


class RateLimitReason(StrEnum):
    """The seed's reasons."""

    QUOTA_EXHAUSTED = "QUOTA_EXHAUSTED"
    RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"
    MODEL_CAPACITY_EXHAUSTED = "MODEL_CAPACITY_EXHAUSTED"
    SERVER_ERROR = "SERVER_ERROR"
    UNKNOWN = "UNKNOWN"


_REASONS: tuple[tuple[re.Pattern[str], RateLimitReason], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), reason)
    for pattern, reason in (
        (r"per (?:second|minute|min|hour)\b", RateLimitReason.RATE_LIMIT_EXCEEDED),
        (
            r"exhausted your capacity|quota|usage[ _]limit|account'?s rate limit|insufficient[ _](?:funds|credits?)",
            RateLimitReason.QUOTA_EXHAUSTED,
        ),
        (r"rate[ _-]?limit|too many requests|\b429\b|throttl", RateLimitReason.RATE_LIMIT_EXCEEDED),
        (
            r"capacity|overloaded|resource[ _]?(?:has been )?exhausted|\b5(?:29|03)\b|service unavailable|high demand",
            RateLimitReason.MODEL_CAPACITY_EXHAUSTED,
        ),
        (
            r"\b50[024]\b|internal(?: server)? error|server error|bad gateway|gateway time-?out",
            RateLimitReason.SERVER_ERROR,
        ),
    )
)
_USAGE_LIMIT = re.compile(
    r"usage[ _]limit|exhausted your capacity|resource[ _]?(?:has been )?exhausted|account'?s rate limit"
    r"|quota (?:will reset|exceeded|exhausted|reached)|exceeded your current quota",
    re.IGNORECASE,
)
_DELAYS_MS = {
    RateLimitReason.QUOTA_EXHAUSTED: 30 * 60_000,
    RateLimitReason.RATE_LIMIT_EXCEEDED: 30_000,
    RateLimitReason.MODEL_CAPACITY_EXHAUSTED: 45_000,
    RateLimitReason.SERVER_ERROR: 20_000,
    RateLimitReason.UNKNOWN: 30 * 60_000,
}
_CAPACITY_SPREAD_MS = 30_000

_PART = r"(?:\d+(?:\.\d+)?)\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])"
_COMPACT = r"\d+(?:\.\d+)?(?:ms|s|m|h|d)"
_HINT = re.compile(
    r"(?:resets? (?:after|in)|(?:re)?try(?: again)? (?:in|after)|\"?retry_?delay\"?\s*[:=]\s*\"?)"
    r"\s*(?:about |approximately |~)?"
    rf"(?P<span>(?:{_COMPACT})+(?![a-z\d])|{_PART}(?:[\s,]*(?:and\s+)?{_PART}){{0,4}})",
    re.IGNORECASE,
)
_SPAN_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)", re.IGNORECASE)
_SCANNED_CHARS = 20_000
_MAX_WAIT_MS = 366 * 24 * 3600 * 1000


def parse_rate_limit_reason(text: str) -> RateLimitReason:
    """Name the reason an error message gives."""
    text = text[:_SCANNED_CHARS]
    return next((reason for pattern, reason in _REASONS if pattern.search(text)), RateLimitReason.UNKNOWN)


def is_usage_limit_error(text: str) -> bool:
    """Whether the account, rather than the moment, is at its limit (another credential or model would help)."""
    return _USAGE_LIMIT.search(text[:_SCANNED_CHARS]) is not None


def default_delay_ms(reason: RateLimitReason, random: Callable[[], float]) -> int:
    """Milliseconds to wait when the provider named no time; `random` returns 0 ≤ x < 1 and spreads capacity waits."""
    spread = _CAPACITY_SPREAD_MS * random() if reason is RateLimitReason.MODEL_CAPACITY_EXHAUSTED else 0
    return _DELAYS_MS[reason] + round(spread)


def retry_hint_ms(headers: Mapping[str, str] | None, body: str, now_ms: Callable[[], int]) -> int | None:
    """Milliseconds the provider asks to wait, or None.

    Headers win over words: `retry-after-ms`, `retry-after` (seconds or an HTTP date), `x-ratelimit-reset-ms`,
    `x-ratelimit-reset` (absolute above 1e12 ms / 1e9 s). A time in the past is 0; nonsense is ignored.
    """
    named = {name.lower(): value.strip() for name, value in (headers or {}).items()}
    for header, read in _HEADERS:
        value = named.get(header)
        wait = read(value, now_ms) if value else None
        if wait is not None and 0 <= wait <= _MAX_WAIT_MS:
            return math.ceil(wait)
    match = _HINT.search(body[:_SCANNED_CHARS])
    return _span_ms(match["span"]) if match else None


def _span_ms(span: str) -> int:
    total = sum(float(number) * _unit_ms(unit.lower()) for number, unit in _SPAN_PART.findall(span))
    return math.ceil(round(min(total, _MAX_WAIT_MS), 3))


def _unit_ms(unit: str) -> int:
    if unit.startswith(("ms", "milli")):
        return 1
    return {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}[unit[0]]


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _milliseconds(value: str, _now_ms: Callable[[], int]) -> float | None:
    return _number(value)


def _seconds_or_date(value: str, now_ms: Callable[[], int]) -> float | None:
    number = _number(value)
    if number is not None:
        return number * 1000
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() * 1000 - now_ms())


def _reset_ms(value: str, now_ms: Callable[[], int]) -> float | None:
    number = _number(value)
    return max(0.0, number - now_ms()) if number is not None and number > 1e12 else number


def _reset(value: str, now_ms: Callable[[], int]) -> float | None:
    number = _number(value)
    if number is None:
        return None
    if number > 1e12:
        return max(0.0, number - now_ms())
    return max(0.0, number * 1000 - now_ms()) if number > 1e9 else number * 1000


_HEADERS: tuple[tuple[str, Callable[[str, Callable[[], int]], float | None]], ...] = (
    ("retry-after-ms", _milliseconds),
    ("retry-after", _seconds_or_date),
    ("x-ratelimit-reset-ms", _reset_ms),
    ("x-ratelimit-reset", _reset),
)
