"""Turn a conversation into the plain text that is printed onto frames (snapcompact.md §5).

Two flavours share one format. `SerializeOptions.seed()` reproduces the seed byte for byte. The default differs where
the seed's text loses meaning or gets a request refused: data URLs and base64 walls become a short note before anything
is cut, blank sections are left out, and thinking can be excluded (Claude refuses to have it replayed).
This module does not normalise, lay out or draw.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from octavo.js_text import cut, properties, round_half_up, utf16_length
from octavo.snapcompact.marks import DIM_OFF, DIM_ON
from octavo.snapcompact.walls import omit_base64_lines, omit_data_urls, omit_long_words
from octavo.tokens.js_json import stringify
from octavo_protocol.base import JsonObject

_TOGGLES = re.compile(r"[\x0e\x0f]")
_LONG_LINE = 256


@dataclass(frozen=True, slots=True)
class SerializeOptions:
    """Caps of the serialiser, in UTF-16 units; `math.inf` switches a cap off.

    `truncate_head_ratio` is the share of a capped text that is kept from its start (clamped to 0…1).
    `replace_data` and `skip_blank` are octavo's own; the seed has neither. `redact` sees every text before it is
    capped, so that no secret survives as a half.
    """

    tool_result_max_chars: float = 2000
    tool_arg_max_chars: float = 500
    tool_call_max_chars: float = 2000
    truncate_head_ratio: float = 0.6
    dim_tool_results: bool = True
    include_thinking: bool = True
    replace_data: bool = True
    skip_blank: bool = True
    redact: Callable[[str], str] = str

    @classmethod
    def seed(cls, **changes: Any) -> Self:
        """The seed's format exactly."""
        return cls(replace_data=False, skip_blank=False, **changes)


def truncate(text: str, limit: float, head_ratio: float = 0.6) -> str:
    """Keep `limit` UTF-16 units of `text`, head and tail around a marker that counts what is missing (§5)."""
    length = utf16_length(text)
    if length <= limit:
        return text
    keep = max(0, int(limit))
    head = round_half_up(keep * min(1.0, max(0.0, head_ratio)))
    tail = keep - head
    end = cut(text, length - tail, length) if tail > 0 else ""
    return f"{cut(text, 0, head)} [... {length - keep} chars elided ...] {end}"


def strip_toggles(text: str) -> str:
    """Remove the dim toggles, so that no message can forge a dim span."""
    return _TOGGLES.sub("", text) if "\x0e" in text or "\x0f" in text else text


def serialize_conversation(messages: Iterable[JsonObject], options: SerializeOptions | None = None) -> str:
    """Serialise LLM messages (roles user, assistant, toolResult; others are ignored) into sections.

    A result marked `useless` and not an error is dropped together with its call. Malformed messages are skipped.
    """
    options = options or SerializeOptions()
    listed = [message for message in messages if _is_object(message)]
    useless = {_call_key(message.get("toolCallId")) for message in listed if _is_useless(message)} - {None}
    sections: list[str] = []
    for message in listed:
        match message.get("role"):
            case "user":
                sections.extend(_user(message, options))
            case "assistant":
                sections.extend(_assistant(message, useless, options))
            case "toolResult" if not _is_useless(message):
                sections.extend(_tool_result(message, options))
    return "\n\n".join(sections)


def replace_data(text: str) -> str:
    """Replace data URLs and base64 walls by a note of their size, so that no cap can cut one in half."""
    text = omit_data_urls(text)
    if len(text) <= _LONG_LINE:
        return text
    lines = omit_base64_lines(text.split("\n"))
    return "\n".join(omit_long_words(line) if len(line) > _LONG_LINE else line for line in lines)


def _clean(text: str, options: SerializeOptions) -> str:
    text = options.redact(strip_toggles(text))
    return replace_data(text) if options.replace_data else text


def _blocks(content: Any, kind: str, field: str) -> Iterator[str]:
    if isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and block.get("type") == kind:
                value = block.get(field)
                yield value if isinstance(value, str) else ""


def _plain_text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(_blocks(content, "text", "text"))


def _user(message: JsonObject, options: SerializeOptions) -> Iterator[str]:
    text = _clean(_plain_text(message.get("content")), options)
    if text and not (options.skip_blank and not text.strip()):
        yield f"[User]: {text}"


def _assistant(message: JsonObject, useless: set[str | None], options: SerializeOptions) -> Iterator[str]:
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if options.include_thinking:
        yield from _joined("[Think]: ", list(_blocks(content, "thinking", "thinking")), options)
    yield from _joined("[Assistant]: ", list(_blocks(content, "text", "text")), options)
    calls = [
        _call(block, options)
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict) and block.get("type") == "toolCall" and _call_key(block.get("id")) not in useless
    ]
    if calls:
        yield "[Tool Call]: " + "; ".join(calls)


def _joined(tag: str, parts: Sequence[str], options: SerializeOptions) -> Iterator[str]:
    cleaned = [_clean(part, options) for part in parts]
    if options.skip_blank:
        cleaned = [part for part in cleaned if part.strip()]
    if cleaned:
        yield tag + "\n".join(cleaned)


def _call(block: JsonObject, options: SerializeOptions) -> str:
    name = block.get("name")
    arguments = block.get("arguments")
    pairs = properties(arguments) if isinstance(arguments, dict) else [("arguments", arguments)] if arguments else []
    shown = (f"{strip_toggles(key)}={_argument(value, options)}" for key, value in pairs)
    listed = truncate(", ".join(shown), options.tool_call_max_chars, options.truncate_head_ratio)
    return f"{strip_toggles(name) if isinstance(name, str) else 'unknown'}({listed})"


def _argument(value: Any, options: SerializeOptions) -> str:
    text = options.redact(stringify(value))
    if options.replace_data:
        text = replace_data(text)
    return truncate(text, options.tool_arg_max_chars, options.truncate_head_ratio)


def _tool_result(message: JsonObject, options: SerializeOptions) -> Iterator[str]:
    text = _clean(_plain_text(message.get("content")), options)
    if not text:
        return
    body = truncate(text, options.tool_result_max_chars, options.truncate_head_ratio)
    yield "[Tool Result]: " + (f"{DIM_ON}{body}{DIM_OFF}" if options.dim_tool_results else body)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_useless(message: JsonObject) -> bool:
    return message.get("role") == "toolResult" and message.get("useless") is True and not message.get("isError")


def _call_key(value: Any) -> str | None:
    return value if isinstance(value, str) else None
