"""The Chat Completions wire, spoken by OpenAI and by every compatible server (base URL, often no key).

Source: the vendor's Chat Completions reference; differences of compatible servers are noted where they matter.
"""

import json
from dataclasses import dataclass, field

from octavo.providers.blocks import NO_OUTPUT, calls, compact_json, images, output_limit, parse_arguments, texts, usage
from octavo.providers.call_ids import CallIds
from octavo.providers.wire import StreamFailedError, Wired, stream_failure
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import CompletionRequest, CompletionResult, StopReason

DEFAULT_BASE = "https://api.openai.com/v1"

_STOPS: dict[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "toolUse",
    "function_call": "toolUse",
    "content_filter": "error",
    "error": "error",
}


def to_messages(
    messages: tuple[JsonObject, ...], system: tuple[str, ...], *, vision: bool = True, developer: bool = False
) -> list[JsonObject]:
    """Convert LLM messages.

    `developer` keeps the developer role, which only OpenAI's own servers know; elsewhere it becomes user, because many
    chat templates refuse a system turn that is not the first. Tool messages carry text only, so images of a result
    follow in a user message after the last result of the turn.
    """
    out: list[JsonObject] = [{"role": "system", "content": part} for part in system if part.strip()]
    pending: list[JsonObject] = []
    for message in CallIds().renamed(messages):
        role = message.get("role")
        if role == "toolResult":
            text = "\n".join(texts(message)) or ("(see attached image)" if images(message) else NO_OUTPUT)
            out.append({"role": "tool", "tool_call_id": str(message.get("toolCallId")), "content": text})
            pending += _pictures(message) if vision else []
            continue
        if pending:
            out.append({"role": "user", "content": pending})
            pending = []
        if role == "assistant":
            out += _assistant(message)
        else:
            out += _user(message, "developer" if developer and role == "developer" else "user", vision=vision)
    if pending:
        out.append({"role": "user", "content": pending})
    return out


def _pictures(message: JsonObject) -> list[JsonObject]:
    return [
        {
            "type": "image_url",
            "image_url": {"url": f"data:{mime};base64,{data}", **({"detail": detail} if detail in _DETAILS else {})},
        }
        for mime, data, detail in images(message)
    ]


_DETAILS = {"auto", "low", "high"}
"""`original` is known to the Responses API only."""


def _user(message: JsonObject, role: str, *, vision: bool) -> list[JsonObject]:
    written, pictures = texts(message), _pictures(message) if vision else []
    if not written and not pictures:
        return []
    if not pictures:
        return [{"role": role, "content": "\n".join(written)}]
    return [{"role": "user", "content": [*({"type": "text", "text": t} for t in written), *pictures]}]


def _assistant(message: JsonObject) -> list[JsonObject]:
    text = "".join(texts(message))
    asked = [
        {"id": ident, "type": "function", "function": {"name": name, "arguments": compact_json(arguments)}}
        for ident, name, arguments in calls(message)
    ]
    if not text and not asked:
        return []
    turn: JsonObject = {"role": "assistant", "content": text or None}
    return [turn | {"tool_calls": asked} if asked else turn]


def to_tools(tools: tuple[JsonObject, ...]) -> list[JsonObject]:
    """Convert tool descriptions `{name, description, parameters}`."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.get("name"),
                "description": tool.get("description", ""),
                "parameters": tool.get("parameters") or {"type": "object", "properties": {}},
            },
        }
        for tool in tools
    ]


def build(request: CompletionRequest, api_key: str | None) -> Wired:
    """Build the HTTP request; the base URL is completed by `/chat/completions` unless it already ends so."""
    model = request.model
    base = (model.base_url or DEFAULT_BASE).rstrip("/")
    official = "api.openai.com" in base
    body: JsonObject = {
        "model": model.id,
        "messages": to_messages(
            request.messages, request.system_prompt, vision=model.accepts_images, developer=official
        ),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if limit := output_limit(request):
        body["max_completion_tokens" if official else "max_tokens"] = limit
    if request.tools:
        body["tools"] = to_tools(request.tools)
        if request.tool_choice:
            body["tool_choice"] = request.tool_choice
    if request.reasoning and model.reasoning:
        body["reasoning_effort"] = "high" if request.reasoning == "xhigh" else request.reasoning
    headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
    url = base if base.endswith("/chat/completions") else base + "/chat/completions"
    return Wired(url, headers, body, Reader())


@dataclass(slots=True)
class _Call:
    ident: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Reader:
    """Fold the stream of chunks into one result; also reads a whole (unstreamed) completion sent as one event."""

    _text: list[str] = field(default_factory=list)
    _thinking: list[str] = field(default_factory=list)
    _calls: dict[int, _Call] = field(default_factory=dict)
    _usage: JsonObject = field(default_factory=dict)
    _stop: str | None = None
    _done: bool = False

    def accept(self, _name: str, data: str) -> int:
        """Take one chunk; returns how many output characters it brought."""
        if data.strip() == "[DONE]":
            self._done = True
            return 0
        chunk = json.loads(data)
        if error := chunk.get("error"):
            raise stream_failure(error)
        self._usage |= chunk.get("usage") or {}
        brought = 0
        for choice in chunk.get("choices") or []:
            brought += self._choice(choice.get("delta") or choice.get("message") or {})
            if choice.get("finish_reason"):
                self._stop = choice["finish_reason"]
                self._done = True
        return brought

    def _choice(self, delta: JsonObject) -> int:
        text = delta.get("content") or ""
        thinking = delta.get("reasoning_content") or delta.get("reasoning") or ""
        if isinstance(text, list):
            text = "".join(part.get("text", "") for part in text if isinstance(part, dict))
        self._text.append(text)
        self._thinking.append(thinking if isinstance(thinking, str) else "")
        brought = len(text) + len(self._thinking[-1])
        for position, part in enumerate(delta.get("tool_calls") or []):
            call = self._calls.setdefault(part.get("index", position), _Call())
            function = part.get("function") or {}
            call.ident = part.get("id") or call.ident
            call.name += function.get("name") or ""
            call.arguments.append(function.get("arguments") or "")
            brought += len(function.get("arguments") or "")
        return brought

    def result(self) -> CompletionResult:
        """The whole answer, or `StreamFailedError` when neither a finish reason nor `[DONE]` arrived."""
        if not self._done:
            raise StreamFailedError("the stream ended before the message was complete")
        content: list[JsonObject] = []
        if thinking := "".join(self._thinking):
            content.append({"type": "thinking", "thinking": thinking})
        if text := "".join(self._text):
            content.append({"type": "text", "text": text})
        content += [
            {"type": "toolCall", "id": c.ident, "name": c.name, "arguments": parse_arguments("".join(c.arguments))}
            for _, c in sorted(self._calls.items())
        ]
        reason = _STOPS.get(self._stop or "stop", "stop")
        message = None
        if reason == "error":
            is_filter = self._stop == "content_filter"
            message = (
                "the answer was withheld by a content filter" if is_filter else "the provider broke the answer off"
            )
        return CompletionResult(tuple(content), reason, self._figures(), message)

    def _figures(self) -> JsonObject | None:
        if not self._usage:
            return None
        cached = (self._usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        prompt = self._usage.get("prompt_tokens") or 0
        fresh = prompt - cached if isinstance(prompt, int | float) and isinstance(cached, int | float) else prompt
        return usage(
            fresh=fresh,
            output=self._usage.get("completion_tokens"),
            cache_read=cached,
            total=self._usage.get("total_tokens"),
        )
