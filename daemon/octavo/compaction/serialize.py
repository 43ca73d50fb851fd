"""A conversation as text for a summarising model: turns first, then the markup of its family, or the plain form.

Takes LLM messages (`sessions.llm_messages`), touches no network and knows no prompt. Source: engine.md §7.1.
Deviation from the seed: a character that straddles the cut of a long tool result is left out instead of halved.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from octavo.compaction import dialects, neutralise
from octavo.compaction.dialects.turns import Call, Result, Speech, Turn
from octavo.js_text import properties, utf16_length, utf16_prefix
from octavo.tokens.js_json import stringify
from octavo_protocol.base import JsonObject

TOOL_RESULT_LIMIT = 2000
"""UTF-16 characters of a tool result that reach a summariser."""


def serialize_conversation(messages: Iterable[JsonObject], dialect: str | None = None) -> str:
    """Return the conversation in a dialect of `dialects.DIALECTS`, or in the plain form when none is named."""
    if dialect is None:
        return _plain(messages)
    return dialects.render(dialect, _merge_results(_turns(messages, images=True)))


def serialize_for_summary(messages: Iterable[JsonObject], dialect: str | None = None) -> str:
    """Return the conversation as it may stand inside a summary prompt.

    Our boundary tags and the harmony control tokens are made harmless; the anthropic dialect carries no reasoning,
    because those models refuse to summarise their own (engine.md §7.1, later upstream).
    """
    if dialect == "anthropic":
        messages = _without_thinking(messages)
    return neutralise.boundaries(serialize_conversation(messages, dialect))


def truncate_tool_result(text: str) -> str:
    """Return a tool result's text cut to `TOOL_RESULT_LIMIT`, saying how many UTF-16 characters are missing."""
    length = utf16_length(text)
    if length <= TOOL_RESULT_LIMIT:
        return text
    kept = utf16_prefix(text, TOOL_RESULT_LIMIT)
    return f"{kept}\n\n[... {length - TOOL_RESULT_LIMIT} more characters truncated]"


def text_of(content: Any, *, images: bool = False) -> str:
    """Return the text blocks of a message's content run together; images as `[Image: <mime>]` when wanted."""
    if isinstance(content, str):
        return content
    return "".join(_block_texts(content, images=images))


def useless_call_ids(messages: Iterable[JsonObject]) -> set[str]:
    """Return the ids of calls whose result was flagged useless; an error is never useless."""
    return {
        message["toolCallId"]
        for message in messages
        if is_useless(message) and isinstance(message.get("toolCallId"), str)
    }


def is_useless(message: JsonObject) -> bool:
    """Whether a message is a tool result that carries nothing worth keeping."""
    return message.get("role") == "toolResult" and message.get("useless") is True and not message.get("isError")


def blocks_of(message: JsonObject, kind: str) -> Iterator[JsonObject]:
    """Yield the content blocks of one type, skipping whatever is malformed."""
    content = message.get("content")
    if isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict) and block.get("type") == kind)


def _turns(messages: Iterable[JsonObject], *, images: bool) -> Iterator[Turn]:
    messages = messages if isinstance(messages, Sequence) else list(messages)
    useless = useless_call_ids(messages)
    for message in messages:
        match message.get("role"):
            case "user" | "developer" as role:
                text = text_of(message.get("content"), images=images)
                if text:
                    yield Speech(role, text)
            case "assistant":
                turn = _assistant(message, useless)
                if turn.thinking or turn.text or turn.calls:
                    yield turn
            case "toolResult":
                text = text_of(message.get("content"))
                if text and not is_useless(message):
                    call_id, name = _string(message.get("toolCallId")), _string(message.get("toolName"))
                    yield Result(call_id, name, truncate_tool_result(text), is_error=bool(message.get("isError")))


def _assistant(message: JsonObject, useless: set[str]) -> Speech:
    content = message.get("content")
    if isinstance(content, str):
        return Speech("assistant", content)
    thoughts = [_string(block.get("thinking")) for block in blocks_of(message, "thinking")]
    texts = tuple(_string(block.get("text")) for block in blocks_of(message, "text"))
    calls = tuple(
        Call(_string(block.get("id")), _string(block.get("name")), _arguments(block.get("arguments")))
        for block in blocks_of(message, "toolCall")
        if block.get("id") not in useless
    )
    return Speech("assistant", "".join(texts), "\n".join(filter(None, thoughts)), calls, texts)


def _merge_results(turns: Iterable[Turn]) -> list[Speech | list[Result]]:
    merged: list[Speech | list[Result]] = []
    for is_result, group in groupby(turns, key=lambda turn: isinstance(turn, Result)):
        if is_result:
            merged.append([turn for turn in group if isinstance(turn, Result)])
        else:
            merged.extend(turn for turn in group if isinstance(turn, Speech))
    return merged


def _plain(messages: Iterable[JsonObject]) -> str:
    parts: list[str] = []
    for turn in _turns(messages, images=False):
        if isinstance(turn, Result):
            parts.append(f"[Tool Result]: {turn.text}")
        elif turn.role == "user":
            parts.append(f"[User]: {turn.text}")
        elif turn.role == "assistant":
            parts.extend(_plain_assistant(turn))
    return "\n\n".join(parts)


def _plain_assistant(turn: Speech) -> Iterator[str]:
    if turn.thinking:
        yield f"[Think]: {turn.thinking}"
    if turn.text:
        yield f"[Assistant]: {chr(10).join(turn.texts) if turn.texts else turn.text}"
    if turn.calls:
        yield f"[Tool Call]: {'; '.join(map(_plain_call, turn.calls))}"


def _plain_call(call: Call) -> str:
    return f"{call.name}({', '.join(f'{key}={stringify(value)}' for key, value in properties(call.arguments))})"


def _without_thinking(messages: Iterable[JsonObject]) -> Iterator[JsonObject]:
    for message in messages:
        content = message.get("content")
        if message.get("role") == "assistant" and isinstance(content, list):
            kept = [block for block in content if not (isinstance(block, dict) and block.get("type") == "thinking")]
            yield {**message, "content": kept}
        else:
            yield message


def _block_texts(content: Any, *, images: bool) -> Iterator[str]:
    if not isinstance(content, list):
        return
    for block in content:
        if isinstance(block, str):
            yield block
        elif isinstance(block, dict):
            if block.get("type") == "text":
                yield _string(block.get("text"))
            elif images and block.get("type") == "image":
                yield f"[Image: {_string(block.get('mimeType')) or 'unknown'}]"


def _arguments(value: Any) -> JsonObject:
    if isinstance(value, dict):
        return value
    return {} if value is None else {"arguments": value}


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
