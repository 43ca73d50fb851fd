"""The Gemini wire (`generateContent`, streamed).

Source: the vendor's Generative Language API reference, v1beta.
"""

import json
from dataclasses import dataclass, field

from octavo.providers.blocks import (
    EFFORT_BUDGETS,
    NO_OUTPUT,
    OPENING,
    blocks,
    images,
    output_limit,
    scrub,
    texts,
    usage,
)
from octavo.providers.wire import StreamFailedError, Wired, stream_failure
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import CompletionRequest, CompletionResult, StopReason

DEFAULT_BASE = "https://generativelanguage.googleapis.com/v1beta"

_NOT_BROKEN_OFF = {"STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED"}
"""Every other reason, also one that is added later, means that the answer is not what the model would have said."""


def to_contents(messages: tuple[JsonObject, ...], *, vision: bool = True) -> list[JsonObject]:
    """Convert LLM messages; turns of one role are merged, a user begins, images of a result stand beside it."""
    turns: list[JsonObject] = []
    for message in messages:
        role = "model" if message.get("role") == "assistant" else "user"
        parts = _model(message) if role == "model" else _user(message, vision=vision)
        if not parts:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["parts"].extend(parts)
        else:
            turns.append({"role": role, "parts": parts})
    if turns and turns[0]["role"] == "model":
        turns.insert(0, {"role": "user", "parts": [{"text": OPENING}]})
    return turns


def _user(message: JsonObject, *, vision: bool) -> list[JsonObject]:
    pictures = [{"inlineData": {"mimeType": mime, "data": data}} for mime, data, _ in images(message)] if vision else []
    if message.get("role") != "toolResult":
        return [*({"text": text} for text in texts(message)), *pictures]
    text = "\n".join(texts(message)) or NO_OUTPUT
    response = {"error" if message.get("isError") else "output": text}
    return [{"functionResponse": {"name": str(message.get("toolName") or "tool"), "response": response}}, *pictures]


def _model(message: JsonObject) -> list[JsonObject]:
    parts: list[JsonObject] = []
    for block in blocks(message):
        if block.get("type") == "text" and isinstance(block.get("text"), str) and block["text"].strip():
            parts.append({"text": scrub(block["text"])})
        elif block.get("type") == "toolCall":
            part: JsonObject = {"functionCall": {"name": str(block.get("name")), "args": block.get("arguments") or {}}}
            if block.get("thoughtSignature"):
                part["thoughtSignature"] = block["thoughtSignature"]
            parts.append(part)
    return parts


def to_tools(tools: tuple[JsonObject, ...]) -> list[JsonObject]:
    """Convert tool descriptions `{name, description, parameters}` into one tool with all declarations."""
    declared = [
        {
            "name": tool.get("name"),
            "description": tool.get("description", ""),
            **({"parametersJsonSchema": tool["parameters"]} if tool.get("parameters") else {}),
        }
        for tool in tools
    ]
    return [{"functionDeclarations": declared}]


def build(request: CompletionRequest, api_key: str | None) -> Wired:
    """Build the HTTP request; the key travels in a header, never in the address."""
    model = request.model
    body: JsonObject = {"contents": to_contents(request.messages, vision=model.accepts_images)}
    if system := [{"text": part} for part in request.system_prompt if part.strip()]:
        body["systemInstruction"] = {"parts": system}
    config: JsonObject = {}
    if limit := output_limit(request):
        config["maxOutputTokens"] = limit
    if request.reasoning and model.reasoning:
        config["thinkingConfig"] = {"thinkingBudget": EFFORT_BUDGETS.get(request.reasoning, 8192)}
    if config:
        body["generationConfig"] = config
    if request.tools:
        body["tools"] = to_tools(request.tools)
        if request.tool_choice:
            body["toolConfig"] = {"functionCallingConfig": {"mode": request.tool_choice.upper()}}
    headers = {"x-goog-api-key": api_key} if api_key else {}
    base = (model.base_url or DEFAULT_BASE).rstrip("/")
    return Wired(f"{base}/models/{model.id}:streamGenerateContent?alt=sse", headers, body, Reader())


@dataclass(slots=True)
class Reader:
    """Fold the stream of partial responses into one result."""

    _content: list[JsonObject] = field(default_factory=list)
    _usage: JsonObject = field(default_factory=dict)
    _stop: str | None = None

    def accept(self, _name: str, data: str) -> int:
        """Take one partial response; returns how many output characters it brought."""
        chunk = json.loads(data)
        if error := chunk.get("error"):
            raise stream_failure(error)
        self._usage |= chunk.get("usageMetadata") or {}
        if reason := (chunk.get("promptFeedback") or {}).get("blockReason"):
            self._stop = "SAFETY" if reason else self._stop
        brought = 0
        for candidate in chunk.get("candidates") or []:
            for part in (candidate.get("content") or {}).get("parts") or []:
                brought += self._part(part)
            self._stop = candidate.get("finishReason") or self._stop
        return brought

    def _part(self, part: JsonObject) -> int:
        if call := part.get("functionCall"):
            block = {
                "type": "toolCall",
                "id": call.get("id") or f"call_{len(self._content)}",
                "name": call.get("name"),
                "arguments": call.get("args") or {},
            }
            if part.get("thoughtSignature"):
                block["thoughtSignature"] = part["thoughtSignature"]
            self._content.append(block)
            return len(json.dumps(block["arguments"]))
        text = part.get("text")
        if not isinstance(text, str):
            return 0
        kind, key = ("thinking", "thinking") if part.get("thought") else ("text", "text")
        if self._content and self._content[-1]["type"] == kind:
            self._content[-1][key] += text
        else:
            self._content.append({"type": kind, key: text})
        return len(text)

    def result(self) -> CompletionResult:
        """The whole answer, or `StreamFailedError` when no finish reason arrived."""
        if self._stop is None:
            raise StreamFailedError("the stream ended before the response was complete")
        reason: StopReason = "length" if self._stop == "MAX_TOKENS" else "stop"
        if any(block["type"] == "toolCall" for block in self._content):
            reason = "toolUse"
        message = None
        if self._stop not in _NOT_BROKEN_OFF:
            reason, message = "error", f"the answer was stopped: {self._stop.lower().replace('_', ' ')}"
        return CompletionResult(tuple(self._content), reason, self._figures(), message)

    def _figures(self) -> JsonObject | None:
        if not self._usage:
            return None
        cached = self._usage.get("cachedContentTokenCount") or 0
        output = (self._usage.get("candidatesTokenCount") or 0) + (self._usage.get("thoughtsTokenCount") or 0)
        return usage(
            fresh=(self._usage.get("promptTokenCount") or 0) - cached,
            output=output,
            cache_read=cached,
            total=self._usage.get("totalTokenCount"),
        )
