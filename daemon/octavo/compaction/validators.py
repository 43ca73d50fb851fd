"""Whether a list of LLM messages would be accepted: each API's rules, checked strictly and reported one by one.

Looks at LLM messages (roles user, developer, assistant, toolResult) as `sessions.llm_messages` makes them, before a
provider's own conversion; rules that the conversions take care of (merging turns, leaving out empty ones) count as
met. Sources: the vendors' API references (Anthropic Messages, OpenAI Chat Completions and Responses, Google Generative
AI), known failures of group C.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from octavo.compaction.entry_messages import blocks
from octavo_protocol.base import JsonObject

_ROLES = ("user", "developer", "assistant", "toolResult")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_CHAT_ID = 64


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule: its name, the index of the message, and the detail that shows it."""

    rule: str
    index: int
    detail: str = ""

    def to_wire(self) -> JsonObject:
        """Return `{rule, index, detail}`."""
        return {"rule": self.rule, "index": self.index, "detail": self.detail}


Rule: TypeAlias = Callable[[Sequence[JsonObject]], Iterator[Violation]]


def violations(messages: Sequence[JsonObject], api: str = "") -> list[Violation]:
    """Return every broken rule, in message order; an unknown API is held to the rules all of them share."""
    found = [violation for rule in (*_SHARED, *_OWN.get(api, ())) for violation in rule(messages)]
    return sorted(found, key=lambda violation: violation.index)


def pairing_violations(messages: Sequence[JsonObject]) -> list[Violation]:
    """Return what is wrong with the calls and results alone."""
    return sorted([*_pairs(messages), *_call_ids(messages)], key=lambda violation: violation.index)


def _known_roles(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    for index, message in enumerate(messages):
        if message.get("role") not in _ROLES:
            yield Violation("role", index, str(message.get("role")))


def _pairs(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    """Each call has one result among those directly after its turn, and each result has its call there."""
    waiting: dict[str, int] = {}
    for index, message in enumerate(messages):
        if message.get("role") == "toolResult":
            called = str(message.get("toolCallId"))
            if waiting.pop(called, None) is None:
                yield Violation("result-without-call", index, called)
            continue
        yield from (Violation("call-without-result", at, call) for call, at in waiting.items())
        waiting = dict.fromkeys(_calls(message), index)
    yield from (Violation("call-without-result", at, call) for call, at in waiting.items())


def _call_ids(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    for index, message in enumerate(messages):
        met: set[str] = set()
        for block in blocks(message.get("content"), "toolCall") if message.get("role") == "assistant" else []:
            call = block.get("id")
            if not isinstance(call, str) or not call:
                yield Violation("call-id", index, "missing")
            elif call in met:
                yield Violation("call-id", index, f"{call} twice in one turn")
            else:
                met.add(call)
            if not isinstance(block.get("name"), str) or not block["name"]:
                yield Violation("call-name", index, str(call))
            if not isinstance(block.get("arguments", {}), dict):
                yield Violation("call-arguments", index, str(call))


def _begins_with_user(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    first = next((i for i, message in enumerate(messages) if _is_sendable(message)), None)
    if first is None:
        yield Violation("empty", -1, "nothing to send")
    elif messages[first].get("role") in {"assistant", "toolResult"}:
        yield Violation("first-role", first, str(messages[first].get("role")))


def _signatures(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    """Redacted reasoning needs its data; a signature is text."""
    for index, message in enumerate(messages):
        for block in blocks(message.get("content")):
            if block.get("type") == "redactedThinking" and not isinstance(block.get("data"), str):
                yield Violation("redacted-data", index)
            for key in ("thinkingSignature", "thoughtSignature", "textSignature"):
                if block.get(key) is not None and not isinstance(block[key], str):
                    yield Violation("signature", index, key)


def _reasoning_place(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    """Reasoning belongs to assistant turns; anywhere else it is refused."""
    for index, message in enumerate(messages):
        if message.get("role") != "assistant" and any(
            block.get("type") in {"thinking", "redactedThinking", "toolCall"}
            for block in blocks(message.get("content"))
        ):
            yield Violation("block-role", index, str(message.get("role")))


def _unique_calls(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    """No two turns may use one call id while both are sent (Anthropic)."""
    met: dict[str, int] = {}
    for index, message in enumerate(messages):
        for call in _calls(message):
            if met.setdefault(call, index) != index:
                yield Violation("call-id", index, f"{call} was used by message {met[call]}")


def _chat_ids(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    for index, message in enumerate(messages):
        for call in _calls(message):
            if len(call.partition("|")[0]) > _LONGEST_CHAT_ID:
                yield Violation("call-id", index, "longer than 64 characters")


def _results_answer_all_at_once(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    """As many responses as calls, in one turn, directly after it (Google)."""
    for index, message in enumerate(messages):
        expected = len(_calls(message))
        answers = 0
        while index + 1 + answers < len(messages) and messages[index + 1 + answers].get("role") == "toolResult":
            answers += 1
        if expected and answers != expected:
            yield Violation("response-count", index, f"{answers} results for {expected} calls")


def _calls(message: JsonObject) -> list[str]:
    if message.get("role") != "assistant":
        return []
    found = (block.get("id") for block in blocks(message.get("content"), "toolCall"))
    return [call for call in found if isinstance(call, str)]


def _is_sendable(message: JsonObject) -> bool:
    """Whether a conversion finds anything to send in the message."""
    if message.get("role") == "toolResult":
        return True
    content = message.get("content")
    if isinstance(content, str):
        return bool(content.strip())
    return any(_is_content(block) for block in blocks(content))


def _is_content(block: JsonObject) -> bool:
    text: Any = block.get("text")
    match block.get("type"):
        case "text":
            return isinstance(text, str) and bool(text.strip())
        case "image" | "toolCall":
            return True
    return False


def ill_formed(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    """Yield lone surrogates in texts: no provider's JSON parser takes them (conversions replace them)."""
    for index, message in enumerate(messages):
        content = message.get("content")
        texts = [content] if isinstance(content, str) else [block.get("text") for block in blocks(content, "text")]
        if any(isinstance(text, str) and _SURROGATE.search(text) for text in texts):
            yield Violation("surrogate", index)


_SHARED: tuple[Rule, ...] = (_known_roles, _pairs, _call_ids, _begins_with_user, _signatures, _reasoning_place)
_OWN: dict[str, tuple[Rule, ...]] = {
    "anthropic-messages": (_unique_calls,),
    "bedrock-converse-stream": (_unique_calls,),
    "openai-completions": (_chat_ids,),
    "openai-responses": (_chat_ids,),
    "openai-codex-responses": (_chat_ids,),
    "google-generative-ai": (_results_answer_all_at_once,),
}
