"""OpenAI's own compaction (`/responses/compact`): convert, trim, ask, check, and keep what it gives back.

The opaque history it returns is preserved beside our summary and replayed only for the provider that made it. Source:
engine.md §8.2 (remote-02, remote-03); known failure BR-059. Which calls to retry is the caller's decision.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from octavo.compaction.js_text import well_formed
from octavo.compaction.remote import TIMEOUT_SECONDS, PostJson, post_for_object, remote_error
from octavo.tokens.js_json import stringify, utf16_length
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model

PRESERVE_KEY = "openaiRemoteCompaction"
PROVIDERS = ("openai", "openai-codex")
OPENAI_BASE = "https://api.openai.com/v1"
CODEX_BASE = "https://chatgpt.com/backend-api"
_CODEX_BASE = re.compile(r"/codex(?:/v[0-9]+)?\Z")
_MAX_ID = 64
_IMAGE_ONLY = "(see attached image)"


@dataclass(frozen=True, slots=True)
class NativeCompactor:
    """The endpoint of one credential.

    Attributes:
        post: The network.
        api_key: Bearer token; never shown.
        account_id: Account of a codex token.
        headers: Further headers of the model.
        timeout_seconds: Longest wait, 0 or less for none.
    """

    post: PostJson
    api_key: str
    account_id: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = TIMEOUT_SECONDS

    def accepts(self, model: Model) -> bool:
        """Whether the model's provider has this endpoint."""
        return model.provider in PROVIDERS

    async def compact(
        self, model: Model, messages: Sequence[JsonObject], previous: JsonObject | None, instructions: str
    ) -> JsonObject:
        """Return what to store under `PRESERVE_KEY` for the LLM messages and an earlier native history.

        Raises:
            OctavoError: `provider-error` when the call fails or its answer has no usable compaction item.
        """
        kept = native_history(previous)
        start = kept["replacementHistory"] if kept and kept.get("provider") == model.provider else []
        items = to_responses_items(messages, model, start)
        return await self.request(model, items, instructions)

    async def request(self, model: Model, items: Sequence[Any], instructions: str) -> JsonObject:
        """Trim the items to the model's window, post them, and return the checked result."""
        body: JsonObject = {
            "model": model.id,
            "input": trim_items(items, instructions, model.context_window),
            "instructions": instructions,
        }
        headers = {**self.headers, "authorization": f"Bearer {self.api_key}"}
        if model.provider == "openai-codex":
            headers |= {"openai-beta": "responses=experimental", "originator": "octavo"}
            if self.account_id:
                headers["chatgpt-account-id"] = self.account_id
        answer = await post_for_object(self.post, compact_url(model), body, headers, self.timeout_seconds)
        return checked_answer(answer, model.provider)


def compact_url(model: Model) -> str:
    """Return the endpoint for a model's base URL."""
    if model.provider == "openai-codex":
        base = (model.base_url or CODEX_BASE).removesuffix("/")
        return f"{base}/responses/compact" if _CODEX_BASE.search(base) else f"{base}/codex/responses/compact"
    base = (model.base_url or OPENAI_BASE).removesuffix("/")
    return f"{base}/responses/compact" if base.endswith("/v1") else f"{base}/v1/responses/compact"


def checked_answer(answer: JsonObject, provider: str) -> JsonObject:
    """Return `{provider, replacementHistory, compactionItem}`; an answer without a usable item is an error."""
    output = answer.get("output")
    history = [item for item in output if _is_kept(item)] if isinstance(output, list) else []
    item = next((item for item in reversed(history) if _is_compaction(item)), None)
    if item is None:
        raise remote_error("Remote compaction response missing compaction item")
    fields = {key: item[key] for key in ("type", "encrypted_content", "summary") if key in item}
    return {"provider": provider, "replacementHistory": history, "compactionItem": fields}


def native_history(preserve: JsonObject | None) -> JsonObject | None:
    """Return the stored native compaction if it can be used again."""
    stored = (preserve or {}).get(PRESERVE_KEY)
    if not isinstance(stored, dict) or not isinstance(stored.get("replacementHistory"), list):
        return None
    return stored if _is_compaction(stored.get("compactionItem")) else None


def without_native_history(preserve: JsonObject | None) -> JsonObject | None:
    """Return the preserved data without a native compaction, None when nothing else is left of it."""
    if preserve is None or PRESERVE_KEY not in preserve:
        return preserve
    return {key: value for key, value in preserve.items() if key != PRESERVE_KEY} or None


def trim_items(items: Sequence[Any], instructions: str, window: int) -> list[Any]:
    """Drop trailing tool outputs (with their calls) and developer messages until the input fits the window.

    A token is taken as four UTF-16 characters of JSON; a window of 0 means unlimited. Stops at anything else.
    """
    if window <= 0:
        return list(items)
    sizes = [utf16_length(stringify(item)) for item in items]
    total = utf16_length(instructions) + sum(sizes)
    kept: list[Any | None] = list(items)
    calls: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        if _type(item) in {"function_call", "custom_tool_call"}:
            calls.setdefault(str(item.get("call_id")), []).append(index)
    end = len(kept)
    while end > 0 and -(-total // 4) > window:
        last = kept[end - 1]
        if last is None:  # a call that went with its output
            end -= 1
            continue
        kind = _type(last)
        if kind in {"function_call_output", "custom_tool_call_output"}:
            wanted = kind.removesuffix("_output")
            positions = calls.get(str(last.get("call_id")), [])
            while positions and (positions[-1] >= end or _type(kept[positions[-1]]) != wanted):
                positions.pop()
            if positions:
                call = positions.pop()
                total -= sizes[call]
                kept[call] = None
        elif not (kind == "message" and last.get("role") == "developer"):
            break
        end -= 1
        total -= sizes[end]
    return [item for item in kept[:end] if item is not None]


def to_responses_items(messages: Iterable[JsonObject], model: Model, start: Sequence[Any] = ()) -> list[Any]:
    """Return LLM messages as Responses input items, after the items of an earlier native history."""
    converter = _Converter(model, list(start))
    converter.learn_calls(start)
    for index, message in enumerate(messages):
        converter.add(message, index)
    return converter.items


@dataclass(slots=True)
class _Converter:
    model: Model
    items: list[Any]
    calls: dict[str, str] = field(default_factory=dict)
    """Type of the output that answers a known call, by call id."""

    def learn_calls(self, items: Iterable[Any]) -> None:
        for item in items:
            if _type(item) in {"function_call", "custom_tool_call"}:
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
            elif block.get("type") == "image" and self.model.accepts_images:
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


def _has_image(message: JsonObject) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, dict) and block.get("type") == "image" for block in blocks)


def _is_kept(item: Any) -> bool:
    kind = _type(item)
    return kind in {"compaction", "compaction_summary"} or (
        kind == "message" and item.get("role") in {"user", "assistant"}
    )


def _is_compaction(item: Any) -> bool:
    kind = _type(item)
    return kind == "compaction_summary" or (kind == "compaction" and isinstance(item.get("encrypted_content"), str))


def _type(item: Any) -> str:
    kind = item.get("type") if isinstance(item, dict) else None
    return kind if isinstance(kind, str) else ""
