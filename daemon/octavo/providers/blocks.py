"""What every provider's conversion needs to ask of a message: its blocks, its text, its images.

Messages are LLM messages (roles user, developer, assistant, toolResult); content may be a string, a list of blocks, or
damaged. Nothing here knows a provider.
"""

import json
from collections.abc import Iterator
from typing import Any

from octavo_protocol.base import JsonObject
from octavo_protocol.completion import CompletionRequest

EFFORT_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 32768}
"""Tokens of reasoning by effort: the budget where an API takes one, else what is allowed for beside the answer."""

NO_OUTPUT = "(no output)"

OPENING = "(the conversation begins here)"
"""Stands where an API wants a user turn first and the context begins with the assistant."""


_MIME_TYPES = {
    **{kind: kind for kind in ("image/png", "image/jpeg", "image/gif", "image/webp")},
    "image/jpg": "image/jpeg",
}
"""Kinds of pictures that are sent, and how they are named to the providers."""


def blocks(message: JsonObject) -> list[JsonObject]:
    """The content as blocks; a string becomes one text block, what is no block is left out."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict)]


def scrub(text: str) -> str:
    """Replace lone surrogates, which no provider's JSON parser accepts, by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def texts(message: JsonObject) -> list[str]:
    """Non-empty texts of the text blocks."""
    found = (block.get("text") for block in blocks(message) if block.get("type") == "text")
    return [scrub(text) for text in found if isinstance(text, str) and text.strip()]


def images(message: JsonObject) -> list[tuple[str, str, str | None]]:
    """(MIME type, base64 data, detail) of every image that can be sent.

    References to missing blobs carry no data; pictures of a kind no provider takes would have the request refused.
    """
    found = (block for block in blocks(message) if block.get("type") == "image")
    return [
        (mime, data, block.get("detail"))
        for block in found
        if (mime := _MIME_TYPES.get(str(block.get("mimeType") or "image/png").lower())) is not None
        and isinstance(data := block.get("data"), str)
        and data
        and not data.startswith("blob:")
    ]


def calls(message: JsonObject) -> Iterator[tuple[str, str, JsonObject]]:
    """(id, name, arguments) of every tool call."""
    for block in blocks(message):
        if block.get("type") == "toolCall":
            arguments = block.get("arguments")
            yield str(block.get("id")), str(block.get("name")), arguments if isinstance(arguments, dict) else {}


def compact_json(value: Any) -> str:
    """JSON without spaces, non-ASCII kept, lone surrogates replaced."""
    return scrub(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def body_bytes(body: JsonObject) -> bytes:
    """The body of a request: one lone surrogate anywhere in a long history must not keep it from being sent."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return scrub(text).encode()


def parse_arguments(text: str) -> JsonObject:
    """Arguments that a model streamed as text; what is not an object is kept under `_raw` instead of lost."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except ValueError:
        return {"_raw": text}
    return value if isinstance(value, dict) else {"_raw": text}


def output_limit(request: CompletionRequest) -> int | None:
    """Tokens a request may put out: its answer and the reasoning before it, at most what the model can; None for any.

    `max_tokens` is meant for the answer, and every API counts reasoning against the limit it is given.
    """
    if not request.max_tokens or not (request.reasoning and request.model.reasoning):
        return request.max_tokens
    limit = request.max_tokens + EFFORT_BUDGETS.get(request.reasoning, EFFORT_BUDGETS["medium"])
    return max(request.max_tokens, min(limit, request.model.max_output)) if request.model.max_output else limit


def count(value: Any) -> int:
    """A token figure of a usage report; anything that is no plausible count becomes 0."""
    return int(value) if isinstance(value, int | float) and 0 <= value < 10**10 else 0


def usage(*, fresh: Any, output: Any, cache_read: Any = 0, cache_write: Any = 0, total: Any = 0) -> JsonObject:
    """Usage in the session file's spelling; `fresh` is input that came from no cache."""
    figures = {"input": count(fresh), "output": count(output)}
    figures |= {"cacheRead": count(cache_read), "cacheWrite": count(cache_write)}
    return figures | {"totalTokens": count(total) or sum(figures.values())}
