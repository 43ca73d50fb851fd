"""The Anthropic Messages wire: requests from LLM messages, results from its event stream.

Source: the vendor's Messages API reference (version header 2023-06-01). No I/O here; `client.py` carries the bytes.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from octavo.providers.blocks import (
    EFFORT_BUDGETS,
    NO_OUTPUT,
    OPENING,
    blocks,
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

DEFAULT_BASE = "https://api.anthropic.com"
DEFAULT_MAX_TOKENS = 8192
ANSWER_ROOM = 1024
"""Tokens kept for the answer beside a reasoning budget; the API refuses budgets at or above max_tokens."""

_SIGNING_APIS = (None, "anthropic-messages", "bedrock-converse-stream")
"""Only these sign reasoning in a way this API verifies; a turn of another provider is replayed without it."""

_REASONING = {"thinking", "redacted_thinking"}

_STOPS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "toolUse",
}


def to_messages(messages: tuple[JsonObject, ...], *, vision: bool = True) -> list[JsonObject]:
    """Convert LLM messages as the API wants them: alternating roles, a user first, ids unique and in its alphabet."""
    turns: list[JsonObject] = []
    for message in CallIds().renamed(messages):
        role = "assistant" if message.get("role") == "assistant" else "user"
        parts = _assistant(message) if role == "assistant" else _user(message, vision=vision)
        if not parts:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"].extend(parts)
        else:
            turns.append({"role": role, "content": parts})
    for turn in turns:
        if turn["role"] == "user":  # results must come first in the turn that answers the calls
            turn["content"].sort(key=lambda part: part["type"] != "tool_result")
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": OPENING}]})
    return turns


def _user(message: JsonObject, *, vision: bool) -> list[JsonObject]:
    written: list[JsonObject] = [{"type": "text", "text": text} for text in texts(message)]
    pictures: list[JsonObject] = [
        {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}
        for mime, data, _ in (images(message) if vision else ())
    ]
    if message.get("role") != "toolResult":
        return written + pictures
    result: JsonObject = {"type": "tool_result", "tool_use_id": str(message.get("toolCallId"))}
    if not message.get("isError"):
        return [{**result, "content": written + pictures or [{"type": "text", "text": NO_OUTPUT}]}]
    # The API takes nothing but text in the result of a failed call.
    return [{**result, "content": written or [{"type": "text", "text": NO_OUTPUT}], "is_error": True}, *pictures]


def _assistant(message: JsonObject) -> list[JsonObject]:
    own = message.get("api") in _SIGNING_APIS
    parts: list[JsonObject] = []
    for block in blocks(message):
        match block.get("type"):
            case "text" if isinstance(block.get("text"), str) and block["text"].strip():
                parts.append({"type": "text", "text": scrub(block["text"])})
            case "thinking" if own and block.get("thinkingSignature"):  # unsigned reasoning is refused by the API
                parts.append(
                    {"type": "thinking", "thinking": block.get("thinking", ""), "signature": block["thinkingSignature"]}
                )
            case "redactedThinking" if own and block.get("data"):
                parts.append({"type": "redacted_thinking", "data": block["data"]})
            case "toolCall":
                arguments = block.get("arguments")
                parts.append(
                    {
                        "type": "tool_use",
                        "id": str(block.get("id")),
                        "name": str(block.get("name")),
                        "input": arguments if isinstance(arguments, dict) else {},
                    }
                )
    return parts


def _may_reason(turns: list[JsonObject]) -> bool:
    """Whether the API lets a model reason here: a tool loop it is in the middle of must have begun with reasoning."""
    loop: list[JsonObject] = []
    for turn in reversed(turns):
        if turn["role"] == "assistant":
            loop.append(turn)
        elif all(part["type"] != "tool_result" for part in turn["content"]):
            break
    return not loop or any(turn["content"][0]["type"] in _REASONING for turn in loop)


def to_tools(tools: tuple[JsonObject, ...]) -> list[JsonObject]:
    """Convert tool descriptions `{name, description, parameters}`."""
    return [
        {
            "name": tool.get("name"),
            "description": tool.get("description", ""),
            "input_schema": tool.get("parameters") or {"type": "object"},
        }
        for tool in tools
    ]


def build(request: CompletionRequest, api_key: str | None) -> Wired:
    """Build the HTTP request; `max_tokens` is obligatory here, so the model's limit stands in for it."""
    model = request.model
    body: JsonObject = {
        "model": model.id,
        "max_tokens": output_limit(request) or model.max_output or DEFAULT_MAX_TOKENS,
        "messages": to_messages(request.messages, vision=model.accepts_images),
        "stream": True,
    }
    if system := [part for part in request.system_prompt if part.strip()]:
        body["system"] = [{"type": "text", "text": part} for part in system]
    if request.tools:
        body["tools"] = to_tools(request.tools)
        if request.tool_choice:
            body["tool_choice"] = {"type": request.tool_choice}
    if request.reasoning and model.reasoning and _may_reason(body["messages"]):
        budget = EFFORT_BUDGETS.get(request.reasoning, EFFORT_BUDGETS["medium"])
        if model.max_output:
            budget = max(1024, min(budget, model.max_output - ANSWER_ROOM))
        body["thinking"] = {"type": "enabled", "budget_tokens": budget}
        body["max_tokens"] = max(body["max_tokens"], budget + ANSWER_ROOM)
    headers = {"anthropic-version": "2023-06-01"}
    if api_key:
        headers["x-api-key"] = api_key
    base = (model.base_url or DEFAULT_BASE).rstrip("/")
    path = "/messages" if base.endswith("/v1") else "/v1/messages"
    return Wired(base + path, headers, body, Reader())


@dataclass(slots=True)
class Reader:
    """Fold the event stream into one result."""

    _parts: dict[int, JsonObject] = field(default_factory=dict)
    _json: dict[int, list[str]] = field(default_factory=dict)
    _usage: JsonObject = field(default_factory=dict)
    _stop: str | None = None
    _done: bool = False

    def accept(self, _name: str, data: str) -> int:
        """Take one event; returns how many output characters it brought."""
        event = json.loads(data)
        match event.get("type"):
            case "message_start":
                self._usage |= (event.get("message") or {}).get("usage") or {}
            case "content_block_start":
                self._parts[event["index"]] = dict(event.get("content_block") or {})
            case "content_block_delta":
                return self._delta(event["index"], event.get("delta") or {})
            case "message_delta":
                self._usage |= {k: v for k, v in (event.get("usage") or {}).items() if v is not None}
                self._stop = (event.get("delta") or {}).get("stop_reason") or self._stop
            case "message_stop":
                self._done = True
            case "error":
                raise stream_failure(event.get("error") or {})
        return 0

    def _delta(self, index: int, delta: JsonObject) -> int:
        part = self._parts.setdefault(index, {"type": "text", "text": ""})
        for kind, key in (("text_delta", "text"), ("thinking_delta", "thinking"), ("signature_delta", "signature")):
            if delta.get("type") == kind:
                part[key] = part.get(key, "") + delta.get(key, "")
                return len(delta.get(key, "")) if key != "signature" else 0
        if delta.get("type") == "input_json_delta":
            self._json.setdefault(index, []).append(delta.get("partial_json", ""))
            return len(delta.get("partial_json", ""))
        return 0

    def result(self) -> CompletionResult:
        """The whole answer.

        Raises:
            StreamFailedError: The stream ended before the provider said it was done.
        """
        if not self._done:
            raise StreamFailedError("the stream ended before the message was complete")
        content = tuple(self._block(index) for index in sorted(self._parts))
        reason = _STOPS.get(self._stop or "", "stop")
        if self._stop == "refusal":
            return CompletionResult(content, "error", self._figures(), "the model refused to answer")
        return CompletionResult(content, reason, self._figures())

    def _block(self, index: int) -> JsonObject:
        part: dict[str, Any] = self._parts[index]
        match part.get("type"):
            case "tool_use":
                arguments = parse_arguments("".join(self._json.get(index, []))) or part.get("input") or {}
                return {"type": "toolCall", "id": part.get("id"), "name": part.get("name"), "arguments": arguments}
            case "thinking":
                signature = part.get("signature", "")
                return {"type": "thinking", "thinking": part.get("thinking", ""), "thinkingSignature": signature}
            case "redacted_thinking":
                return {"type": "redactedThinking", "data": part.get("data", "")}
        return {"type": "text", "text": part.get("text", "")}

    def _figures(self) -> JsonObject | None:
        if not self._usage:
            return None
        return usage(
            fresh=self._usage.get("input_tokens"),
            output=self._usage.get("output_tokens"),
            cache_read=self._usage.get("cache_read_input_tokens"),
            cache_write=self._usage.get("cache_creation_input_tokens"),
        )
