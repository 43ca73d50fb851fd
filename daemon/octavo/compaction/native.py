"""OpenAI's own compaction (`/responses/compact`): trim, ask, check, and keep what it gives back.

The opaque history it returns is preserved beside our summary and replayed only for the provider that made it. Source:
engine.md §8.2 (remote-02, remote-03); known failure BR-059. Which calls to retry is the caller's decision.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from octavo.compaction.remote import TIMEOUT_SECONDS, PostJson, post_for_object, remote_error
from octavo.compaction.responses_items import item_type, to_responses_items, with_outputs
from octavo.js_text import utf16_length
from octavo.tokens.js_json import stringify
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model

PRESERVE_KEY = "openaiRemoteCompaction"
PROVIDERS = ("openai", "openai-codex")
OPENAI_BASE = "https://api.openai.com/v1"
CODEX_BASE = "https://chatgpt.com/backend-api"
_CODEX_BASE = re.compile(r"/codex(?:/v[0-9]+)?\Z")


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
        items = with_outputs(to_responses_items(messages, model, start))
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
        if item_type(item) in {"function_call", "custom_tool_call"}:
            calls.setdefault(str(item.get("call_id")), []).append(index)
    end = len(kept)
    while end > 0 and -(-total // 4) > window:
        last = kept[end - 1]
        if last is None:  # a call that went with its output
            end -= 1
            continue
        kind = item_type(last)
        if kind in {"function_call_output", "custom_tool_call_output"}:
            wanted = kind.removesuffix("_output")
            positions = calls.get(str(last.get("call_id")), [])
            while positions and (positions[-1] >= end or item_type(kept[positions[-1]]) != wanted):
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


def _is_kept(item: Any) -> bool:
    kind = item_type(item)
    return kind in {"compaction", "compaction_summary"} or (
        kind == "message" and item.get("role") in {"user", "assistant"}
    )


def _is_compaction(item: Any) -> bool:
    kind = item_type(item)
    return kind == "compaction_summary" or (kind == "compaction" and isinstance(item.get("encrypted_content"), str))
