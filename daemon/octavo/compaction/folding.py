"""Cut a conversation that does not fit the summarising model into pieces that do.

Pieces end between messages; a message that is too large alone is cut into several of the same speaker. Nothing is
dropped. Source: engine.md §7.2 (later upstream: folding), known failure BR-052.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from octavo.compaction.serialize import is_useless, serialize_conversation, useless_call_ids
from octavo_protocol.base import JsonObject

CountEach: TypeAlias = Callable[[Sequence[str]], list[int]]

SMALLEST_BUDGET = 256
"""Tokens below which cutting further is given up."""

_OVERHEAD = 8


def window_budget(window: int, max_output: int, reserve: int) -> int | None:
    """Return the input tokens one call may carry: 0.8·window minus output and reserve; None for an unknown window.

    A window too small for that rule still gets a quarter of itself.
    """
    if window <= 0:
        return None
    return max(int(0.8 * window) - max_output - reserve, window // 4, SMALLEST_BUDGET)


def split_messages(
    messages: Sequence[JsonObject], dialect: str | None, budget: int, count_each: CountEach
) -> list[list[JsonObject]]:
    """Return groups of messages in order, each within `budget` tokens when serialised; linear in the conversation."""
    kept = _without_useless(messages)
    texts = [serialize_conversation([message], dialect) for message in kept]
    groups: list[list[JsonObject]] = [[]]
    filled = 0
    for message, text, tokens in zip(kept, texts, count_each(texts), strict=True):
        parts = [(message, tokens)] if tokens + _OVERHEAD <= budget else list(_cut(message, text, tokens, budget))
        for part, weight in parts:
            if groups[-1] and filled + weight + _OVERHEAD > budget:
                groups.append([])
                filled = 0
            groups[-1].append(part)
            filled += weight + _OVERHEAD
    return groups


def newest_fitting(
    messages: Sequence[JsonObject], dialect: str | None, budget: int, count_each: CountEach
) -> list[JsonObject]:
    """Return the last group of `split_messages`, filled from the end: what fits of the newest messages."""
    kept = _without_useless(messages)
    texts = [serialize_conversation([message], dialect) for message in kept]
    counts = count_each(texts)
    total = 0
    start = len(kept)
    while start > 0 and total + counts[start - 1] + _OVERHEAD <= budget:
        start -= 1
        total += counts[start] + _OVERHEAD
    if start < len(kept) or not kept:
        return kept[start:]
    return [part for part, _ in _cut(kept[-1], texts[-1], counts[-1], budget)][-1:]


def _without_useless(messages: Sequence[JsonObject]) -> list[JsonObject]:
    # Pairs are taken out here because a call and its result may land in different pieces.
    useless = useless_call_ids(messages)
    if not useless:
        return list(messages)
    return [_without_calls(message, useless) for message in messages if not is_useless(message)]


def _without_calls(message: JsonObject, useless: set[str]) -> JsonObject:
    content = message.get("content")
    if message.get("role") != "assistant" or not isinstance(content, list):
        return message
    kept = [
        block
        for block in content
        if not (isinstance(block, dict) and block.get("type") == "toolCall" and block.get("id") in useless)
    ]
    return {**message, "content": kept}


def _cut(message: JsonObject, text: str, tokens: int, budget: int) -> Iterator[tuple[JsonObject, int]]:
    role = message.get("role")
    speaker = role if role in {"user", "developer"} else "assistant"
    # Tokens are not spread evenly over a text; half the budget leaves room for dense stretches.
    size = max(1, len(text) * max(1, budget // 2) // max(1, tokens))
    share = max(1, tokens * size // max(1, len(text)))
    for start in range(0, len(text), size):
        piece = [{"type": "text", "text": text[start : start + size]}]
        yield {"role": speaker, "content": piece}, share
