"""Provider errors: overflow in all its wordings, the waits providers ask for, and secrets in error texts."""

import pytest

from octavo.error_text.overflow import OverflowRules, classify_text, find_overflow, is_context_overflow
from octavo.error_text.rate_limits import (
    RateLimitReason,
    default_delay_ms,
    is_usage_limit_error,
    parse_rate_limit_reason,
    retry_hint_ms,
)
from octavo.error_text.verdicts import is_auth_failure, is_transient, scrub


def failed(text: str) -> dict[str, object]:
    return {"role": "assistant", "stopReason": "error", "errorMessage": text}


@pytest.mark.parametrize(
    "text",
    [
        "prompt is too long: 213462 tokens > 200000 maximum",
        '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens"}}',
        "input length and `max_tokens` exceed context limit: 198234 + 32000 > 200000, decrease input length",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 131000 tokens.",
        "This endpoint's maximum context length is 32768 tokens (requested: 41000)",
        "prompt token count of 150000 exceeds the limit of 128000",
        "the request exceeds the available context size (4096 tokens), try increasing it",
        "Requested tokens (9120) exceed context window of 8192",
        "trying to keep the first 5000 tokens when context the overflows: greater than the context length",
        "400 status code (no body)",
        "400(no body)",
        "Error code: 400 - {'code': 'context_length_exceeded'}",
        "chat history exceeds the 1000-message limit",
        "ValidationException: Input is too long for requested model.",
    ],
)
def test_overflow_is_recognised_in_the_words_of_many_providers(text: str) -> None:
    """BR-056."""
    assert classify_text(text) == "tokens"
    assert is_context_overflow(failed(text))


@pytest.mark.parametrize(
    "text",
    [
        "429 Too Many Requests: too many tokens, slow down",
        "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 4500",
        "ThrottlingException: Too many tokens, please wait before trying again.",
        "500 Internal server error",
        "503 Service Unavailable: context size exceeded its quota",
        "overloaded_error",
        "image exceeds the limit of 20",
        "messages.3.content.1.image: image exceeds 5 MB maximum",
        "A request may carry at most 100 images",
        "max_tokens: 64000 > 32000, which exceeds the maximum allowed number of output tokens",
        "token limit exceeded: daily quota of 1000000",
        "429 status code (no body)",
        "connection reset by peer",
        "invalid api key",
    ],
)
def test_throttling_media_limits_and_outages_are_not_taken_for_overflow(text: str) -> None:
    """BR-056: the opposite mistake destroys history for nothing."""
    assert classify_text(text) == "none"
    assert not is_context_overflow(failed(text))


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("request_too_large", None),
        ("413 Payload Too Large", None),
        ("Request Entity Too Large", None),
        ("413 (no body)", None),
        ("", 413),
        ("something odd", 413),
    ],
)
def test_a_body_that_is_too_large_is_told_from_a_context_that_is_too_long(text: str, status: int | None) -> None:
    assert classify_text(text, status) == "payload"


def test_usage_above_the_window_is_an_overflow_even_when_the_provider_was_silent() -> None:
    message = {"stopReason": "stop", "usage": {"input": 90, "cacheRead": 10, "cacheWrite": 1}}
    assert is_context_overflow(message, 100)
    assert is_context_overflow(message, 100, OverflowRules.SEED)
    assert not is_context_overflow(message, 101)
    assert not is_context_overflow(message, 0)


def test_an_unknown_error_near_a_full_window_is_a_maybe_with_its_figures() -> None:
    """BR-056."""
    finding = find_overflow(failed("unexpected condition"), 100_000, used_tokens=99_000)
    assert (finding.kind, finding.used_tokens, finding.context_window) == ("maybe", 99_000, 100_000)
    assert find_overflow(failed("unexpected condition"), 100_000, used_tokens=50_000).kind == "none"
    assert find_overflow(failed("rate limit"), 100_000, used_tokens=99_000).kind == "none"
    assert find_overflow(failed("unexpected condition"), 100_000, used_tokens=99_000, status=500).kind == "none"


def test_error_words_count_only_on_a_message_that_failed() -> None:
    assert not is_context_overflow({"stopReason": "stop", "errorMessage": "prompt is too long"})
    assert not is_context_overflow({"stopReason": "error", "errorMessage": None, "usage": {"input": "many"}}, 10)


@pytest.mark.timeout(20)
def test_error_text_of_any_size_is_judged_quickly() -> None:
    classify_text("requested token " * 200_000)
    parse_rate_limit_reason("try again in 5 " * 200_000)
    scrub("api_key " * 200_000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Quota exceeded for metric: requests per minute", RateLimitReason.RATE_LIMIT_EXCEEDED),
        ("429", RateLimitReason.RATE_LIMIT_EXCEEDED),
        ("You exceeded your current quota, please check your plan", RateLimitReason.QUOTA_EXHAUSTED),
        ("The model is at capacity", RateLimitReason.MODEL_CAPACITY_EXHAUSTED),
        ("502 Bad Gateway", RateLimitReason.SERVER_ERROR),
        ("", RateLimitReason.UNKNOWN),
    ],
)
def test_the_reason_of_a_limit_is_read_from_its_words(text: str, expected: RateLimitReason) -> None:
    assert parse_rate_limit_reason(text) is expected


def test_an_exhausted_account_is_told_from_a_busy_minute() -> None:
    assert is_usage_limit_error("You exceeded your current quota")
    assert not is_usage_limit_error("too many requests")


def test_default_waits_follow_the_reason_and_spread_only_capacity() -> None:
    assert default_delay_ms(RateLimitReason.RATE_LIMIT_EXCEEDED, lambda: 0.5) == 30_000
    assert default_delay_ms(RateLimitReason.MODEL_CAPACITY_EXHAUSTED, lambda: 0.5) == 60_000


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({"Retry-After-Ms": "1500", "retry-after": "9"}, "", 1500),
        ({"Retry-After": "2.5"}, "try again in 9 s", 2500),
        ({"Retry-After": "Thu, 01 Jan 1970 00:01:40 GMT"}, "", 90_000),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, "", 0),
        ({"Retry-After": "soon"}, "try again in 3 seconds", 3000),
        ({"Retry-After": "-5"}, "", None),
        ({"Retry-After": "nan"}, "", None),
        ({"x-ratelimit-reset": "12"}, "", 12_000),
        ({"x-ratelimit-reset-ms": "250"}, "", 250),
        (None, "Please try again in 1m30.5s.", 90_500),
        (None, "limit resets in 1 hour and 5 minutes", 3_900_000),
        (None, "retry in 5 more ways", None),
        (None, "", None),
    ],
)
def test_the_wait_a_provider_asks_for_is_read_from_headers_then_words(
    headers: dict[str, str] | None, body: str, expected: int | None
) -> None:
    assert retry_hint_ms(headers, body, lambda: 10_000) == expected


def test_absolute_reset_times_become_waits() -> None:
    def now() -> int:
        return 1_800_000_000_000

    assert retry_hint_ms({"x-ratelimit-reset": "1800000030"}, "", now) == 30_000
    assert retry_hint_ms({"x-ratelimit-reset-ms": "1800000000500"}, "", now) == 500
    assert retry_hint_ms({"x-ratelimit-reset": "1700000000"}, "", now) == 0


@pytest.mark.parametrize(
    ("text", "status", "expected"),
    [
        ("socket hang up", None, True),
        ("", 503, True),
        ("HTTP2 StreamReset", None, True),
        ("prompt is too long", 400, False),
        ("413 payload too large", 413, False),
        ("overloaded", 401, False),
        ("invalid schema", 400, False),
    ],
)
def test_only_errors_that_may_pass_are_transient(text: str, status: int | None, expected: bool) -> None:
    assert is_transient(text, status) is expected


def test_a_refused_credential_is_an_auth_failure() -> None:
    assert is_auth_failure("whatever", 401)
    assert is_auth_failure("auth_unavailable: no auth available")
    assert not is_auth_failure("not found", 404)


@pytest.mark.parametrize(
    "secret",
    [
        "sk-ant-api03-abcdefghijklmnop",
        "AKIAABCDEFGHIJKLMNOP",
        "AIzaSyA1234567890abcdefghijklmnop",
        "ghp_abcdefghijklmnopqrstuvwxyz012345",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc_DEF-123",
    ],
)
@pytest.mark.parametrize(
    "frame", ["Incorrect API key provided: {}.", "Authorization: Bearer {}", '{{"api_key": "{}"}}']
)
def test_credentials_never_survive_in_error_text(secret: str, frame: str) -> None:
    assert secret not in scrub(frame.format(secret))
    assert "[redacted]" in scrub(frame.format(secret))


def test_the_very_credential_of_the_call_is_removed_and_the_rest_stays_readable() -> None:
    text = scrub("key hunter2-hunter2 refused at https://user:pass@host/v1?key=topsecret&x=1", ["hunter2-hunter2"])
    assert text == "key [redacted] refused at https://[redacted]host/v1?key=[redacted]&x=1"
    assert len(scrub("a" * 10_000)) == 2001
