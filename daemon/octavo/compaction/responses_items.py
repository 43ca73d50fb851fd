"""LLM messages as the input items of OpenAI's Responses API, for native compaction.

Pure conversion; the endpoint is `native`'s subject, streaming model calls are the providers'. Source: engine.md §8.2.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from octavo.js_text import well_formed
from octavo.tokens.js_json import stringify
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model

_MAX_ID = 64
_NO_OUTPUT = "(no output)"
_IMAGE_ONLY = "(see attached image)"


def to_responses_items(messages: Iterable[JsonObject], model: Model, start: Sequence[Any] = ()) -> list[Any]:
    """Return LLM messages as Responses input items, after the items of an earlier native history."""
    converter = _Converter(model, list(start))
    converter.learn_calls(start)
    for index, message in enumerate(messages):
        converter.add(message, index)
    return converter.items


def with_outputs(items: Sequence[Any]) -> list[Any]:
    """Return the items with an output behind every call that has none: the API takes no call alone."""
    answered = {
        (item_type(item), str(item.get("call_id")))
        for item in items
        if item_type(item) in {"function_call_output", "custom_tool_call_output"}
    }
    paired: list[Any] = []
    for item in items:
        paired.append(item)
        kind = f"{item_type(item)}_output"
        if (
            item_type(item) in {"function_call", "custom_tool_call"}
            and (kind, str(item.get("call_id"))) not in answered
        ):
            paired.append({"type": kind, "call_id": item.get("call_id"), "output": _NO_OUTPUT})
    return paired


@dataclass(slots=True)
class _Converter:
    model: Model
    items: list[Any]
    calls: dict[str, str] = field(default_factory=dict)
    """Type of the output that answers a known call, by call id."""

    def learn_calls(self, items: Iterable[Any]) -> None:
        for item in items:
            if item_type(item) in {"function_call", "custom_tool_call"}:
                self.calls[str(item.get("call_id"))] = f"{item['type']}_output"

    def add(self, message: JsonObject, index: int) -> None:
        role = message.get("role")
        if role in {"user", "developer", "assistant"} and self._native(message, snapshots=role == "assistant"):
            return
        match role:
            case "user" | "developer":
                self._speech(str(role), message)
            case "assistant":
                self._assistant(message, index)
            case "toolResult":
                self._result(message)

    def _native(self, message: JsonObject, *, snapshots: bool) -> bool:
        payload = message.get("providerPayload")
        if not isinstance(payload, dict) or payload.get("type") != "openaiResponsesHistory":
            return False
        items = payload.get("items")
        if payload.get("provider") != self.model.provider or not isinstance(items, list) or not items:
            return False
        if snapshots and not (payload.get("incremental") is True or payload.get("dt") is True):
            # A full snapshot repeats everything before it.
            self.items, self.calls = [], {}
        self.items.extend(items)
        self.learn_calls(items)
        return True

    def _speech(self, role: str, message: JsonObject) -> None:
        content = self._input_content(message.get("content"))
        if content:
            self.items.append({"type": "message", "role": role, "content": content})

    def _input_content(self, content: Any) -> list[JsonObject]:
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        parts: list[JsonObject] = []
        for block in content if isinstance(content, list) else []:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "text" and isinstance(block.get("text"), str) and block["text"].strip():
                parts.append({"type": "input_text", "text": well_formed(block["text"])})
            elif block.get("type") == "image" and self.model.accepts_images and not _is_reference(block.get("data")):
                url = f"data:{block.get('mimeType')};base64,{block.get('data')}"
                parts.append({"type": "input_image", "detail": "auto", "image_url": url})
        return parts

    def _assistant(self, message: JsonObject, index: int) -> None:
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for block in content if isinstance(content, list) else []:
            if not isinstance(block, dict):
                continue
            match block.get("type"):
                case "thinking" if message.get("stopReason") != "error":
                    reasoning = _reasoning_item(block.get("thinkingSignature"))
                    if reasoning is not None:
                        self.items.append(reasoning)
                case "text" if isinstance(block.get("text"), str) and block["text"]:
                    self.items.append(_output_message(block, index))
                case "toolCall":
                    self._call(block)

    def _call(self, block: JsonObject) -> None:
        call_id, _, item_id = str(block.get("id") or "").partition("|")
        arguments = block.get("arguments")
        wire_name = block.get("customWireName")
        if isinstance(wire_name, str) and wire_name:
            raw = arguments.get("input") if isinstance(arguments, dict) else arguments
            text = raw if isinstance(raw, str) else stringify(arguments)
            item: JsonObject = {"type": "custom_tool_call", "call_id": call_id, "name": wire_name, "input": text}
        else:
            item = {
                "type": "function_call",
                "call_id": call_id,
                "name": str(block.get("name") or ""),
                "arguments": well_formed(stringify(arguments if isinstance(arguments, dict) else {})),
            }
        if item_id:
            item["id"] = _bounded_id(item_id)
        self.items.append(item)
        self.calls[call_id] = f"{item['type']}_output"

    def _result(self, message: JsonObject) -> None:
        call_id = str(message.get("toolCallId") or "").partition("|")[0]
        kind = self.calls.get(call_id)
        if kind is None:
            return
        parts = self._input_content(message.get("content"))
        text = "\n".join(part["text"] for part in parts if part["type"] == "input_text")
        images = [part for part in parts if part["type"] == "input_image"]
        output = text or (_IMAGE_ONLY if _has_image(message) else "")
        self.items.append({"type": kind, "call_id": call_id, "output": output})
        if images:
            self.items.append({"type": "message", "role": "user", "content": images})


def _output_message(block: JsonObject, index: int) -> JsonObject:
    return {
        "type": "message",
        "role": "assistant",
        "id": _bounded_id(_signed_id(block.get("textSignature")) or f"msg_{index}"),
        "status": "completed",
        "content": [{"type": "output_text", "text": well_formed(block["text"]), "annotations": []}],
    }


def _signed_id(signature: Any) -> str | None:
    if not isinstance(signature, str) or not signature:
        return None
    parsed = _parsed(signature) if signature.startswith("{") else None
    if isinstance(parsed, dict):
        return parsed["id"] if isinstance(parsed.get("id"), str) and parsed["id"] else None
    return signature


def _bounded_id(name: str) -> str:
    return name if len(name) <= _MAX_ID else f"msg_{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:32]}"


def _reasoning_item(signature: Any) -> JsonObject | None:
    parsed = _parsed(signature) if isinstance(signature, str) and signature.startswith("{") else None
    return parsed if isinstance(parsed, dict) and parsed.get("type") == "reasoning" else None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_reference(data: Any) -> bool:
    """Whether the data lies in the blob store, from which nothing is fetched here."""
    return isinstance(data, str) and data.startswith("blob:")


def _has_image(message: JsonObject) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, dict) and block.get("type") == "image" for block in blocks)


def item_type(item: Any) -> str:
    """Return the type of an item, "" when it has none."""
    kind = item.get("type") if isinstance(item, dict) else None
    return kind if isinstance(kind, str) else ""
