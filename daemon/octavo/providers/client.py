"""Carry a provider's request over HTTP and its event stream back; the one place that opens sockets to models.

Every failure the provider causes becomes a result with `stop_reason="error"`: status, an explanation without secrets,
and how long to wait. Cancelling the surrounding scope closes the connection at once.
"""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio

from octavo.error_text.rate_limits import retry_hint_ms
from octavo.error_text.verdicts import scrub
from octavo.providers import anthropic, google, openai_chat, openai_responses
from octavo.providers.blocks import body_bytes
from octavo.providers.credentials import Credentials
from octavo.providers.echoes import secrets_of, without_echo
from octavo.providers.sse import EventTooLargeError, SseDecoder
from octavo.providers.wire import StreamFailedError, Wired
from octavo_protocol.completion import CompletionRequest, CompletionResult, OnProgress
from octavo_protocol.errors import ErrorKind, OctavoError

if TYPE_CHECKING:
    import httpx

Build = Callable[[CompletionRequest, str | None], Wired]

WIRES: Mapping[str, Build] = {
    "anthropic-messages": anthropic.build,
    "openai-completions": openai_chat.build,
    "openai-responses": openai_responses.build,
    "openai-codex-responses": openai_responses.build,
    "google-generative-ai": google.build,
}
"""The APIs the daemon speaks itself."""

MAX_ERROR_BYTES = 64 * 1024
MAX_ANSWER_BYTES = 64 * 1024 * 1024
MAX_MESSAGE_CHARS = 500
_TAGS = re.compile(r"<[^>]{0,1000}>")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect, between two pieces of the answer, and for the whole call."""

    connect: float = 10.0
    idle: float = 120.0
    total: float = 600.0


@dataclass(slots=True)
class HttpCompletion:
    """A `Completion` over HTTP for every API in `WIRES`."""

    credentials: Credentials
    timeouts: Timeouts = field(default_factory=Timeouts)

    async def complete(self, request: CompletionRequest, on_progress: OnProgress | None = None) -> CompletionResult:
        """Run one call.

        Raises:
            OctavoError: `no-model` when the API is unknown, or a key is needed and there is none.
        """
        build = WIRES.get(request.model.api)
        if build is None:
            raise OctavoError(
                ErrorKind.NO_MODEL,
                f"the daemon does not speak the API {request.model.api!r} of {request.model.ref}; "
                "let the client answer llm/complete, or choose another model",
                provider=request.model.provider,
            )
        secret = await self.credentials.find(request.model.provider)
        if secret is None and request.model.base_url is None:
            raise OctavoError(
                ErrorKind.NO_MODEL, f"No API key for {request.model.provider}", provider=request.model.provider
            )
        wired = build(request, secret.value if secret else None)
        wired = replace(wired, headers={**wired.headers, **self.credentials.of(request.model.provider).headers})
        secrets = secrets_of(wired.url, wired.headers)
        result = without_echo(await self._call(wired, secrets, on_progress), secrets)
        if result.error_status in {401, 403}:
            self.credentials.forget(request.model.provider)
        return result

    async def _call(self, wired: Wired, secrets: Sequence[str], on_progress: OnProgress | None) -> CompletionResult:
        import httpx  # noqa: PLC0415 - a quarter of the start-up time, needed by the first model call only

        limits = httpx.Timeout(self.timeouts.idle, connect=self.timeouts.connect)
        try:
            with anyio.fail_after(self.timeouts.total):
                content = body_bytes(wired.body)
                headers = {"content-type": "application/json", **wired.headers}
                async with (
                    httpx.AsyncClient(timeout=limits) as client,
                    client.stream("POST", wired.url, headers=headers, content=content) as response,
                ):
                    if response.is_redirect:
                        # Following would carry the credential to another host.
                        return _error(f"the address redirects ({response.status_code}); set the one it leads to")
                    if response.status_code >= httpx.codes.BAD_REQUEST:
                        return await _refusal(response, secrets)
                    return await _read(response, wired, on_progress)
        except (TimeoutError, httpx.TimeoutException):
            return _error("the provider did not answer in time", timed_out=True)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return _error(f"connection error: {type(error).__name__}: {error}", secrets)
        except (StreamFailedError, EventTooLargeError) as error:
            return _error(str(error), secrets)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return _error(f"the provider sent something that is not its event stream ({type(error).__name__})")


async def _read(response: "httpx.Response", wired: Wired, on_progress: OnProgress | None) -> CompletionResult:
    kind = response.headers.get("content-type", "")
    if "html" in kind:
        raise StreamFailedError("the address answers with a web page; check the base URL")
    if "json" in kind:  # a server that does not stream answers all at once
        wired.reader.accept("message", (await _bounded(response, MAX_ANSWER_BYTES)).decode("utf-8", "replace"))
        return wired.reader.result()
    decoder, received, size = SseDecoder(), 0, 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > MAX_ANSWER_BYTES:
            raise StreamFailedError(f"the answer exceeds {MAX_ANSWER_BYTES} bytes")
        for event in decoder.feed(chunk):
            received += wired.reader.accept(event.name, event.data)
        if on_progress is not None:
            on_progress(received)
    return wired.reader.result()


async def _bounded(response: "httpx.Response", limit: int) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > limit:
            break
    return bytes(body[:limit])


async def _refusal(response: "httpx.Response", secrets: Sequence[str]) -> CompletionResult:
    body = (await _bounded(response, MAX_ERROR_BYTES)).decode("utf-8", "replace")
    message = explain(response.status_code, body)
    wait = retry_hint_ms(response.headers, body, _now_ms)
    return _error(message, secrets, status=response.status_code, wait=wait)


def _now_ms() -> int:
    return int(time.time() * 1000)


def explain(status: int, body: str) -> str:
    """One line for a refused request: the provider's own message, or its text without markup, or "(no body)"."""
    text = body.strip()
    try:
        parsed = json.loads(text) if text else None
    except ValueError:
        parsed = None
    if isinstance(parsed, list) and parsed:
        parsed = parsed[0]
    if isinstance(parsed, dict):
        error = parsed.get("error", parsed)
        found = error.get("message") or error.get("detail") if isinstance(error, dict) else error
        text = str(found or parsed)
    elif "<" in text:
        text = " ".join(_TAGS.sub(" ", text).split())
    return f"{status} {text[:MAX_MESSAGE_CHARS] or 'status code (no body)'}"


def _error(
    message: str,
    secrets: Sequence[str] = (),
    *,
    status: int | None = None,
    wait: int | None = None,
    timed_out: bool = False,
) -> CompletionResult:
    return CompletionResult(
        content=(),
        stop_reason="error",
        error_message=scrub(message, secrets),
        error_status=status,
        retry_after_ms=wait,
        timed_out=timed_out,
    )
