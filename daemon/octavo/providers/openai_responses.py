"""The Responses wire of OpenAI, and the Codex variant of it.

Source: the vendor's Responses reference. Requests are stateless (`store: false`): the daemon owns the history.
"""

import json
from dataclasses import dataclass, field

from octavo.providers.blocks import (
    NO_OUTPUT,
    blocks,
    compact_json,
    images,
    output_limit,
    parse_arguments,
    scrub,
    texts,
    usage,
)
from octavo.providers.call_ids import CallIds
from octavo.providers.wire import StreamFailedError, Wired, stream_failure
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import CompletionRequest, CompletionResult, StopReason

DEFAULT_BASE = "https://api.openai.com/v1"


def to_input(messages: tuple[JsonObject, ...], *, vision: bool = True) -> list[JsonObject]:
    """Convert LLM messages to input items; images of a result follow it in a user message."""
    items: list[JsonObject] = []
    pending: list[JsonObject] = []
    for message in CallIds().renamed(messages):
        role = message.get("role")
        if role == "toolResult":
            text = "\n".join(texts(message)) or ("(see attached image)" if images(message) else NO_OUTPUT)
            items.append({"type": "function_call_output", "call_id": str(message.get("toolCallId")), "output": text})
            pending += _pictures(message) if vision else []
            continue
        if pending:
            items.append({"type": "message", "role": "user", "content": pending})
            pending = []
        items += _assistant(message) if role == "assistant" else _user(message, vision=vision)
    if pending:
        items.append({"type": "message", "role": "user", "content": pending})
    return items


def _pictures(message: JsonObject) -> list[JsonObject]:
    return [
        {"type": "input_image", "image_url": f"data:{mime};base64,{data}", "detail": detail or "auto"}
        for mime, data, detail in images(message)
    ]


def _user(message: JsonObject, *, vision: bool) -> list[JsonObject]:
    parts: list[JsonObject] = [{"type": "input_text", "text": text} for text in texts(message)]
    parts += _pictures(message) if vision else []
    role = "developer" if message.get("role") == "developer" else "user"
    return [{"type": "message", "role": role, "content": parts}] if parts else []


def _assistant(message: JsonObject) -> list[JsonObject]:
    items: list[JsonObject] = []
    for block in blocks(message):
        match block.get("type"):
            case "text" if isinstance(block.get("text"), str) and block["text"].strip():
                items.append(
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": scrub(block["text"]), "annotations": []}],
                    }
                )
            case "toolCall":
                items.append(
                    {
                        "type": "function_call",
                        "call_id": str(block.get("id")),
                        "name": str(block.get("name")),
                        "arguments": compact_json(block.get("arguments") or {}),
                    }
                )
    return items


def to_tools(tools: tuple[JsonObject, ...]) -> list[JsonObject]:
    """Convert tool descriptions `{name, description, parameters}`."""
    return [
        {
            "type": "function",
            "name": tool.get("name"),
            "description": tool.get("description", ""),
            "parameters": tool.get("parameters") or {"type": "object", "properties": {}},
            "strict": False,
        }
        for tool in tools
    ]


def build(request: CompletionRequest, api_key: str | None) -> Wired:
    """Build the HTTP request; a base ending in `/codex` is completed the same way."""
    model = request.model
    body: JsonObject = {
        "model": model.id,
        "input": to_input(request.messages, vision=model.accepts_images),
        "stream": True,
        "store": False,
    }
    if instructions := "\n\n".join(part for part in request.system_prompt if part.strip()):
        body["instructions"] = instructions
    codex = model.api == "openai-codex-responses"
    if (limit := output_limit(request)) and not codex:  # the Codex backend refuses the field
        body["max_output_tokens"] = max(16, limit)
    if request.tools:
        body["tools"] = to_tools(request.tools)
        if request.tool_choice:
            body["tool_choice"] = request.tool_choice
    if request.reasoning and model.reasoning:
        body["reasoning"] = {"effort": request.reasoning}
    headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
    base = (model.base_url or DEFAULT_BASE).rstrip("/")
    return Wired(base + "/responses", headers, body, Reader())


@dataclass(slots=True)
class Reader:
    """Fold the event stream into one result; the closing event carries the whole answer."""

    _text: dict[str, list[str]] = field(default_factory=dict)
    _final: JsonObject | None = None

    def accept(self, name: str, data: str) -> int:
        """Take one event; returns how many output characters it brought."""
        if data.strip() == "[DONE]":
            return 0
        event = json.loads(data)
        kind = event.get("type") or name
        if kind in {"response.completed", "response.incomplete", "response.done"}:
            self._final = event.get("response") or {}
        elif kind == "response.failed":
            raise stream_failure((event.get("response") or {}).get("error") or {})
        elif kind == "error":
            raise stream_failure(event.get("error") or event)
        elif kind.endswith(".delta") and isinstance(event.get("delta"), str):
            return len(event["delta"])
        return 0

    def result(self) -> CompletionResult:
        """The whole answer, or `StreamFailedError` when no closing event arrived."""
        if self._final is None:
            raise StreamFailedError("the stream ended before the response was complete")
        content = tuple(block for item in self._final.get("output") or [] for block in _blocks(item))
        reason: StopReason = "toolUse" if any(block["type"] == "toolCall" for block in content) else "stop"
        if self._final.get("status") == "incomplete":
            cause = (self._final.get("incomplete_details") or {}).get("reason")
            reason = "error" if cause == "content_filter" else "length"
        message = "the answer was withheld by a content filter" if reason == "error" else None
        return CompletionResult(content, reason, self._figures(), message)

    def _figures(self) -> JsonObject | None:
        figures = (self._final or {}).get("usage")
        if not figures:
            return None
        cached = (figures.get("input_tokens_details") or {}).get("cached_tokens") or 0
        return usage(
            fresh=(figures.get("input_tokens") or 0) - cached,
            output=figures.get("output_tokens"),
            cache_read=cached,
            total=figures.get("total_tokens"),
        )


def _blocks(item: JsonObject) -> list[JsonObject]:
    match item.get("type"):
        case "message":
            parts = [part for part in item.get("content") or [] if part.get("type") == "output_text"]
            return [{"type": "text", "text": part.get("text", "")} for part in parts]
        case "reasoning":
            text = "\n".join(part.get("text", "") for part in item.get("summary") or [])
            return [{"type": "thinking", "thinking": text, "thinkingSignature": compact_json(item)}]
        case "function_call":
            arguments = parse_arguments(item.get("arguments") or "")
            return [{"type": "toolCall", "id": item.get("call_id"), "name": item.get("name"), "arguments": arguments}]
    return []
