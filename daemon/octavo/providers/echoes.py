"""Find the credentials in what goes out to a provider, so that they can be taken out of whatever comes back.

Error texts often quote the key, and a proxy may echo a whole request into an answer, which would then stand in a
summary and so in a session file.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from octavo_protocol.base import JsonObject
from octavo_protocol.completion import CompletionResult

MIN_IN_ANSWERS = 16
"""Characters of a credential that is taken out of answers: shorter ones (`lm-studio`) are words one may write about."""

# Up to a slash: the path of the request is put behind a base address, its query included.
_QUERY = re.compile(r"[?&][^=&#]+=([^&#/]{8,})")
_CREDENTIAL = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
_SCHEME = re.compile(r"\A(?:bearer|basic|token)\s+", re.IGNORECASE)
_REDACTED = "[redacted]"


def secrets_of(url: str, headers: Mapping[str, str]) -> list[str]:
    """The credentials of a request, each in every spelling in which it may come back."""
    values = [_SCHEME.sub("", value) for name, value in headers.items() if _CREDENTIAL.search(name)]
    try:
        parts = urlsplit(url)
    except ValueError:  # the call itself will say what is wrong with it
        return values
    userinfo, at, _ = parts.netloc.rpartition("@")
    if at:
        name, _, password = userinfo.partition(":")
        plain = f"{unquote(name)}:{unquote(password)}"
        values += [userinfo, password, unquote(password), base64.b64encode(plain.encode()).decode()]
    values += _QUERY.findall(url)
    return [*values, *(value.encode("unicode_escape").decode() for value in values)]


def without_echo(result: CompletionResult, secrets: Sequence[str]) -> CompletionResult:
    """The answer with the credentials of its own request taken out of its text."""
    long = [secret for secret in secrets if len(secret) >= MIN_IN_ANSWERS]
    if not any(secret in _text(block) for secret in long for block in result.content):
        return result
    return replace(result, content=tuple(_cleaned(block, long) for block in result.content))


def _text(block: JsonObject) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""


def _cleaned(block: JsonObject, secrets: Sequence[str]) -> JsonObject:
    text = _text(block)
    for secret in secrets:
        text = text.replace(secret, _REDACTED)
    return {**block, "text": text} if text != _text(block) else block
