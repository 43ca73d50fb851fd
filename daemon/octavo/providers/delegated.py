"""The delegated provider: the client runs the model (`llm/complete`), so the daemon needs no key and no network.

The transport to the client is a function that is passed in; cancelling it tells the client to stop.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, get_args

from octavo.providers import blocks as figures
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import CompletionRequest, CompletionResult, Model, OnProgress, StopReason
from octavo_protocol.errors import ErrorKind, OctavoError

AskClient = Callable[[JsonObject], Awaitable[Any]]
"""Send `llm/complete` params to a client that offered `client.complete`, and return its answer."""


_PURPOSES = {"history": "summary", "short": "shortSummary", "branch": "branchSummary"}


def to_params(request: CompletionRequest, request_id: str, session_id: str | None = None) -> JsonObject:
    """The params of `llm/complete`; optional fields only when set."""
    params: JsonObject = {
        "requestId": request_id,
        "purpose": _PURPOSES.get(request.purpose, request.purpose),
        "model": describe(request.model),
        "systemPrompt": list(request.system_prompt),
        "messages": list(request.messages),
    }
    optional = {
        "sessionId": session_id,
        "tools": list(request.tools) or None,
        "toolChoice": request.tool_choice,
        "maxTokens": request.max_tokens,
        "reasoning": request.reasoning,
    }
    return params | {key: value for key, value in optional.items() if value is not None}


def describe(model: Model) -> JsonObject:
    """A model as clients see it (`ModelInfo`)."""
    optional = {"baseUrl": model.base_url, "prices": model.prices or None}
    return {
        "provider": model.provider,
        "id": model.id,
        "api": model.api,
        "contextWindow": model.context_window,
        "maxOutput": model.max_output,
        "inputs": list(model.inputs),
        "reasoning": model.reasoning,
        **{key: value for key, value in optional.items() if value is not None},
    }


def read_answer(answer: Any) -> CompletionResult:
    """Turn a client's answer into a result; what does not fit the shape is the client's error, said plainly.

    Raises:
        OctavoError: `provider-error` when the answer has no content list or an unknown stop reason.
    """
    if not isinstance(answer, dict) or not isinstance(answer.get("content"), list | str):
        raise OctavoError(
            ErrorKind.PROVIDER_ERROR, "the client answered llm/complete without content", provider="client"
        )
    content = answer["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    reason = answer.get("stopReason", "stop")
    if any(isinstance(b, dict) and b.get("type") == "text" and not isinstance(b.get("text"), str) for b in blocks):
        raise OctavoError(
            ErrorKind.PROVIDER_ERROR,
            "the client answered llm/complete with a text block that holds no text",
            provider="client",
        )
    if reason not in get_args(StopReason) or not all(isinstance(block, dict) for block in blocks):
        raise OctavoError(
            ErrorKind.PROVIDER_ERROR, f"the client answered llm/complete with stopReason {reason!r}", provider="client"
        )
    return CompletionResult(
        content=tuple(blocks),
        stop_reason=reason,
        usage=_plausible(answer["usage"]) if isinstance(answer.get("usage"), dict) else None,
        error_message=answer.get("errorMessage"),
        error_status=answer.get("errorStatus"),
        retry_after_ms=answer.get("retryAfterMs"),
    )


def _plausible(usage: JsonObject) -> JsonObject:
    """The client's figures as counts; what is no count is 0, and what else it says stays out."""
    return figures.usage(
        fresh=usage.get("input"),
        output=usage.get("output"),
        cache_read=usage.get("cacheRead"),
        cache_write=usage.get("cacheWrite"),
        total=usage.get("totalTokens"),
    )


@dataclass(slots=True)
class Delegated:
    """A `Completion` that asks the client."""

    ask: AskClient
    new_id: Callable[[], str]
    session_id: str | None = None

    async def complete(self, request: CompletionRequest, on_progress: OnProgress | None = None) -> CompletionResult:
        """Send the request to the client and read its answer."""
        result = read_answer(await self.ask(to_params(request, self.new_id(), self.session_id)))
        if on_progress is not None:
            on_progress(len(result.text))
        return result
