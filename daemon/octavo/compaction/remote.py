"""Ask a remote endpoint for a summary: our own `{systemPrompt, prompt}` form, or any `/chat/completions` URL.

The network is a function passed in, so everything here can be tested without one; `providers.http` has the real one.
Source: engine.md §8.1 (remote-01), later upstream for chat completions; known failures BR-058, BR-059.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import SplitResult, urlsplit

import anyio

from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

TIMEOUT_SECONDS = 180.0
_MAX_ERROR_CHARS = 300


class HttpAnswer(Protocol):
    """What a POST brought back; `reason` is the status text, "" when the protocol has none."""

    @property
    def status(self) -> int:
        """The HTTP status code."""
        ...

    @property
    def reason(self) -> str:
        """The status text."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Header values by lower-case name."""
        ...

    @property
    def body(self) -> bytes:
        """The whole body, decompressed."""
        ...


class PostJson(Protocol):
    """Sends a JSON body and waits for the whole answer, of any status.

    Raises:
        ConnectionError: No answer could be had: refused, cut, not HTTP, or larger than the sender allows.
    """

    async def __call__(self, url: str, body: JsonObject, headers: Mapping[str, str]) -> HttpAnswer:
        """Post once; no retries."""
        ...


@dataclass(frozen=True, slots=True)
class RemoteSummarizer:
    """A remote endpoint.

    Attributes:
        post: The network.
        url: Where to post; a path ending in `/chat/completions` selects that form.
        model: Model name for chat completions.
        api_key: Bearer token for chat completions; the own form sends no credential (seed).
        timeout_seconds: Longest wait, 0 or less for none.
    """

    post: PostJson
    url: str
    model: str = ""
    api_key: str | None = None
    timeout_seconds: float = TIMEOUT_SECONDS

    @property
    def name(self) -> str:
        """The endpoint's host, for records; never its path or credentials."""
        return _split(self.url).hostname or "remote"

    @property
    def speaks_chat(self) -> bool:
        """Whether the endpoint is a chat-completions one."""
        return _split(self.url).path.rstrip("/").endswith("/chat/completions")

    async def summarize(self, system_prompt: str, prompt: str, *, max_tokens: int | None = None) -> str:
        """Return the summary text.

        Raises:
            OctavoError: `provider-error` with `status` when known.
        """
        if self.speaks_chat:
            return await self._chat(system_prompt, prompt, max_tokens)
        answer = await request_remote_compaction(self, system_prompt, prompt)
        summary: str = answer["summary"]
        return summary

    async def _chat(self, system_prompt: str, prompt: str, max_tokens: int | None) -> str:
        messages = [{"role": "system", "content": system_prompt}, {"role": "user", "content": prompt}]
        body: JsonObject = {"model": self.model, "messages": messages, "stream": False}
        if max_tokens:
            body["max_tokens"] = max_tokens
        headers = {"authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        answer = await post_for_object(self.post, self.url, body, headers, self.timeout_seconds)
        text = _chat_text(answer)
        if not text.strip():
            raise remote_error("Remote compaction response missing summary")
        return text


async def request_remote_compaction(endpoint: RemoteSummarizer, system_prompt: str, prompt: str) -> JsonObject:
    """Post `{systemPrompt, prompt}` and return the answer, whose `summary` is a string (perhaps empty)."""
    body: JsonObject = {"systemPrompt": system_prompt, "prompt": prompt}
    answer = await post_for_object(endpoint.post, endpoint.url, body, {}, endpoint.timeout_seconds)
    if not isinstance(answer.get("summary"), str):
        raise remote_error("Remote compaction response missing summary")
    return answer


async def post_for_object(
    post: PostJson, url: str, body: JsonObject, headers: Mapping[str, str], timeout_seconds: float
) -> JsonObject:
    """Post once and return the JSON object of a 2xx answer.

    Raises:
        OctavoError: `provider-error`: another status, no answer in time, no connection, or not a JSON object.
    """
    sent = {"content-type": "application/json", **headers}
    try:
        with anyio.fail_after(timeout_seconds if timeout_seconds > 0 else None):
            answer = await post(url, body, sent)
    except TimeoutError as error:
        text = f"Remote compaction timed out after {timeout_seconds:g} s"
        raise remote_error(text, details={"timedOut": True}) from error
    except ConnectionError as error:
        raise remote_error(f"Remote compaction failed ({error})") from error
    if not 200 <= answer.status < 300:
        raise remote_error(
            f"Remote compaction failed ({answer.status} {answer.reason})",
            status=answer.status,
            retryAfterMs=_retry_after_ms(answer.headers),
        )
    try:
        # NaN and Infinity are no JSON, whatever Python thinks.
        decoded = json.loads(answer.body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        kind = answer.headers.get("content-type", "no content type")[:_MAX_ERROR_CHARS]
        raise remote_error(f"Remote compaction response is not JSON ({kind}, {len(answer.body)} bytes)") from error
    if not isinstance(decoded, dict):
        raise remote_error("Remote compaction response missing summary")
    return decoded


def remote_error(message: str, **data: Any) -> OctavoError:
    """Return a `provider-error`; fields that are None are left out."""
    return OctavoError(ErrorKind.PROVIDER_ERROR, message, **{k: v for k, v in data.items() if v is not None})


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # whoever posts to it will say what is wrong with it
        return urlsplit("")


def _chat_text(answer: JsonObject) -> str:
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _retry_after_ms(headers: Mapping[str, str]) -> int | None:
    for name, factor in (("retry-after-ms", 1), ("retry-after", 1000)):
        value = headers.get(name, "").strip()
        if value.isascii() and value.isdigit() and len(value) <= 9:
            return int(value) * factor
    return None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
