"""Judge a provider's error: may it be repeated, is it the credential, and what of its text may be shown.

How to recognise an overflow is `overflow`'s subject, how long to wait `rate_limits`'. Nothing here does I/O.
"""

import re
from collections.abc import Iterable

from octavo.error_text.overflow import classify_text
from octavo.error_text.rate_limits import is_usage_limit_error

MAX_ERROR_CHARS = 2000
"""Characters of a provider's error text that are kept."""

_TRANSIENT = re.compile(
    r"overloaded|provider returned error|rate[ _-]?limit|too many requests|\b(?:429|500|502|503|504|529)\b"
    r"|service[ _]?unavailable|server[ _]error|internal[ _](?:server[ _])?error|retry your request"
    r"|network[ _]error|connection[ _](?:error|refused|reset)|econnreset|econnrefused|etimedout|other side closed"
    r"|fetch failed|upstream (?:connect|request failed)|reset before headers|socket hang up|timed? ?out|timeout"
    r"|terminated|retry delay|stream stall|no error details in response|stream_?reset|refused_?stream"
    r"|enhance_?your_?calm|malformed[ _]function[ _]call|socket (?:connection )?(?:was )?closed unexpectedly"
    r"|unexpected(?:ly)? (?:socket )?close|before message_start",
    re.IGNORECASE,
)
_AUTH = re.compile(r"auth_unavailable|no auth available", re.IGNORECASE)
_TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_SECRETS = (
    re.compile(r"(?P<keep>\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE),
    re.compile(
        r"(?P<keep>[\"']?\b(?:x-)?(?:goog-)?(?:api[_-]?key|access[_-]?token|auth[_-]?token|secret|password|authorization)"
        r"[\"']?\s*[:=]\s*[\"']?)(?!bearer\b)(?!\[redacted\])[^\s\"'&,;{}]{4,}",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<keep>[?&](?:key|token|sig|signature)=)[^\s&\"']{4,}", re.IGNORECASE),
    re.compile(r"(?P<keep>\b[a-z][a-z0-9+.-]{1,20}://)[^\s/@\"']{1,200}@", re.IGNORECASE),
    re.compile(r"(?P<keep>)\b(?:sk|pk|rk)-[A-Za-z0-9_*-]{8,}"),
    re.compile(r"(?P<keep>)\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b"),
    re.compile(r"(?P<keep>)\bAIza[A-Za-z0-9_-]{20,}"),
    re.compile(r"(?P<keep>)\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|xox[a-z]-[A-Za-z0-9-]{8,})"),
    re.compile(r"(?P<keep>)\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*"),
)
_REDACTED = "[redacted]"


def is_transient(text: str, status: int | None = None) -> bool:
    """Whether the same request may succeed a little later; an overflow or a refused credential never does."""
    if is_auth_failure(text, status) or classify_text(text, status) != "none":
        return False
    return status in _TRANSIENT_STATUS or _TRANSIENT.search(text[:20_000]) is not None or is_usage_limit_error(text)


def is_auth_failure(text: str, status: int | None = None) -> bool:
    """Whether the credential is missing or refused (engine.md §13.4)."""
    return status in (401, 403) or _AUTH.search(text[:20_000]) is not None


def scrub(text: str, secrets: Iterable[str] = (), limit: int = MAX_ERROR_CHARS) -> str:
    """Return error text fit to be shown and logged: credentials replaced, bounded to `limit` characters.

    `secrets` are the values really used for the call; they are removed wherever they stand, whatever they look like.
    """
    for secret in sorted({value for value in secrets if len(value) >= 4}, key=len, reverse=True):
        text = text.replace(secret, _REDACTED)
    # A secret cut in half by the bound must not survive as a stump, so the bound comes last.
    text = text[: 20 * limit]
    for pattern in _SECRETS:
        text = pattern.sub(lambda match: match["keep"] + _REDACTED, text)
    return text if len(text) <= limit else text[:limit] + "…"
