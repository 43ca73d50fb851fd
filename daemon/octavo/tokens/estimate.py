"""What one message weighs when nobody has measured it.

Exact for text (o200k_base), by rule for images, frames and opaque reasoning. Whole contexts are `usage` and
`breakdown`; this module sees one message at a time. Source: engine.md §4.2.

`EstimateRules.SEED` gives the seed's figures. `EstimateRules.OCTAVO` differs where the seed's figure is far from what
is sent (engine.md §17 items 7 and 8, known failure BR-061):

- images of user, developer and custom messages, and the text of developer, custom, Python and file-mention messages
  count; commands excluded from the context do not;
- encrypted reasoning (signatures, redacted thinking) is not text: it is weighed by its length, 16 characters of
  base64 for 3 tokens (12 bytes, 4 bytes a token), and only as far as it exceeds the readable reasoning beside it;
- frames cost what the provider charges for their pixels; images of pruned results, which are not sent, cost nothing;
- a native provider history that is replayed with a summary is weighed with it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from threading import Lock
from typing import Any, TypeAlias

from octavo.tokens.counting import count_each
from octavo.tokens.images import IMAGE_TOKENS, SEED_FRAME_TOKENS, FramePrice, frame_tokens
from octavo.tokens.js_json import stringify
from octavo_protocol.base import JsonObject

Counter: TypeAlias = Callable[[Sequence[str]], list[int]]
"""Counts the tokens of each text."""

_OPAQUE_KEYS = ("encrypted_content", "encryptedContent")
_CACHE_LIMIT = 100_000
_MADE_ROLES = ("custom", "branchSummary", "compactionSummary")


class EstimateRules(Enum):
    """Whose figures: the seed's, or ours."""

    SEED = "seed"
    OCTAVO = "octavo"


@dataclass(frozen=True, slots=True)
class Weight:
    """What a message weighs.

    `tokens` is the whole estimate. Of it, `opaque` tokens are encrypted reasoning that the provider can measure better
    (it may not even be charged), and `frames` are frames of archived history. `image_bytes` is the size of base64
    image data, `text_bytes` that of everything else that is sent, in UTF-8.
    """

    tokens: int = 0
    opaque: int = 0
    frames: int = 0
    image_bytes: int = 0
    text_bytes: int = 0


def estimate_tokens(
    message: Any,
    rules: EstimateRules = EstimateRules.OCTAVO,
    *,
    frame_price: FramePrice | None = None,
    count: Counter = count_each,
) -> int:
    """Return the tokens of one message; see `Estimator` for many."""
    return Estimator(rules, frame_price=frame_price, count=count).tokens(message)


@dataclass(slots=True)
class Estimator:
    """Weighs messages and remembers what they weighed.

    Messages are known by identity, which is sound because a stored message is never changed in place, only replaced.
    Keep one estimator per open session: it holds on to what it weighed (at most `limit` messages, oldest out first).
    Threads may share it.
    """

    rules: EstimateRules = EstimateRules.OCTAVO
    frame_price: FramePrice | None = None
    count: Counter = count_each
    limit: int = _CACHE_LIMIT
    _known: dict[int, tuple[Any, Weight]] = field(default_factory=dict, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def tokens(self, message: Any) -> int:
        """Return the tokens of one message."""
        return self.weigh([message])[0].tokens

    def total(self, messages: Iterable[Any]) -> int:
        """Return the sum over messages."""
        return sum(weight.tokens for weight in self.weigh(list(messages)))

    def weigh(self, messages: Sequence[Any]) -> list[Weight]:
        """Return the weight of every message; unknown ones are counted in one batch."""
        found: list[Weight | None] = [self._recall(message) for message in messages]
        missing = [position for position, weight in enumerate(found) if weight is None]
        for position, weight in zip(missing, self._measure([messages[p] for p in missing]), strict=True):
            found[position] = weight
            self._remember(messages[position], weight)
        return [weight for weight in found if weight is not None]

    def forget(self, messages: Iterable[Any]) -> None:
        """Let go of messages that were replaced, so that their text can leave the memory (BR-076)."""
        with self._lock:
            for message in messages:
                self._known.pop(id(message), None)

    def _recall(self, message: Any) -> Weight | None:
        known = self._known.get(id(message))
        return known[1] if known is not None and known[0] is message else None

    def _remember(self, message: Any, weight: Weight) -> None:
        # Messages made from other entries are new objects every time: remembering them would only fill the cache.
        if not isinstance(message, dict) or message.get("role") in _MADE_ROLES:
            return
        with self._lock:
            while len(self._known) >= self.limit:
                del self._known[next(iter(self._known))]
            self._known[id(message)] = (message, weight)

    def _measure(self, messages: Sequence[Any]) -> list[Weight]:
        parts = [_parts_of(message, self.rules, self.frame_price) for message in messages]
        counts = iter(self.count([text for part in parts for text in part.texts]))
        return [part.weight([next(counts) for _ in part.texts]) for part in parts]


@dataclass(slots=True)
class _Parts:
    """The pieces of a message: texts to count, and what needs no counting."""

    texts: list[str] = field(default_factory=list)
    images: int = 0
    frames: int = 0
    image_bytes: int = 0
    opaque_bytes: int = 0
    reasoning: list[tuple[int, int]] = field(default_factory=list)
    """(index of the readable text in `texts`, tokens of the opaque data beside it); index -1 when there is none."""

    def add(self, text: Any) -> None:
        if isinstance(text, str) and text:
            self.texts.append(text)

    def add_image(self, block: JsonObject) -> None:
        self.images += IMAGE_TOKENS
        self.image_bytes += _data_bytes(block)

    def add_opaque(self, data: str, beside: int) -> None:
        self.reasoning.append((beside, opaque_tokens(data)))
        self.opaque_bytes += len(data)

    def weight(self, counts: Sequence[int]) -> Weight:
        opaque = sum(max(0, tokens - (counts[at] if at >= 0 else 0)) for at, tokens in self.reasoning)
        return Weight(
            tokens=sum(counts) + opaque + self.images + self.frames,
            opaque=opaque,
            frames=self.frames,
            image_bytes=self.image_bytes,
            text_bytes=sum(map(_utf8_length, self.texts)) + self.opaque_bytes,
        )


def _parts_of(message: Any, rules: EstimateRules, frame_price: FramePrice | None) -> _Parts:
    parts = _Parts()
    if not isinstance(message, dict):
        return parts
    ours = rules is EstimateRules.OCTAVO
    match message.get("role"):
        case "assistant":
            _assistant(message, parts, rules)
        case "user":
            _content(message, parts, images=ours)
        case "hookMessage":
            _content(message, parts, images=True)
        case "toolResult":
            _content(message, parts, images=not (ours and message.get("prunedAt")))
        case "bashExecution" if not (ours and message.get("excludeFromContext")):
            parts.add(message.get("command"))
            parts.add(message.get("output"))
        case "branchSummary":
            parts.add(message.get("summary"))
        case "compactionSummary":
            _compaction_summary(message, parts, rules, frame_price)
        case "developer" | "custom" if ours:
            _content(message, parts, images=True)
        case "pythonExecution" if ours and not message.get("excludeFromContext"):
            parts.add(message.get("code"))
            parts.add(message.get("output"))
        case "fileMention" if ours:
            _files(message, parts)
    return parts


def _content(message: JsonObject, parts: _Parts, *, images: bool) -> None:
    content = message.get("content")
    if isinstance(content, str):
        parts.add(content)
    for block in _blocks(content):
        if block.get("type") == "text":
            parts.add(block.get("text"))
        elif block.get("type") == "image" and images:
            parts.add_image(block)


def _assistant(message: JsonObject, parts: _Parts, rules: EstimateRules) -> None:
    content = message.get("content")
    if isinstance(content, str):
        parts.add(content)
    for block in _blocks(content):
        match block.get("type"):
            case "text":
                parts.add(block.get("text"))
            case "thinking":
                parts.add(block.get("thinking"))
                has_text = isinstance(block.get("thinking"), str) and bool(block["thinking"])
                _opaque(block.get("thinkingSignature"), parts, rules, beside=len(parts.texts) - 1 if has_text else -1)
            case "redactedThinking":
                _opaque(block.get("data"), parts, rules, beside=-1)
            case "toolCall":
                parts.add(block.get("name"))
                parts.add(stringify(block.get("arguments")) if block.get("arguments") is not None else None)
                if rules is EstimateRules.OCTAVO:
                    _opaque(block.get("thoughtSignature"), parts, rules, beside=-1)


def _opaque(data: Any, parts: _Parts, rules: EstimateRules, *, beside: int) -> None:
    if not isinstance(data, str) or not data:
        return
    if rules is EstimateRules.SEED:
        parts.add(data)
    else:
        parts.add_opaque(data, beside)


def opaque_tokens(data: str) -> int:
    """Return what encrypted reasoning of this length stands for: 3 tokens for 16 characters of base64, rounded up."""
    return -(-len(data) * 3 // 16)


def _compaction_summary(
    message: JsonObject, parts: _Parts, rules: EstimateRules, frame_price: FramePrice | None
) -> None:
    parts.add(message.get("summary"))
    for block in _blocks(message.get("images")):
        if rules is EstimateRules.SEED:
            parts.frames += SEED_FRAME_TOKENS
        else:
            parts.frames += frame_tokens(block, frame_price)
        parts.image_bytes += _data_bytes(block)
    payload = message.get("providerPayload")
    if rules is EstimateRules.OCTAVO and isinstance(payload, dict):
        _provider_history(payload.get("items"), parts)


def _provider_history(items: Any, parts: _Parts) -> None:
    """Weigh the native items a provider gets instead of the summary text: strings as text, encrypted ones by length."""
    stack = [items]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, dict):
            for key, value in item.items():
                if key in _OPAQUE_KEYS and isinstance(value, str):
                    parts.add_opaque(value, -1)
                elif key == "image_url" and isinstance(value, str):
                    parts.images += IMAGE_TOKENS
                    parts.image_bytes += len(value)
                elif key in {"text", "summary", "arguments", "output", "name", "input"} or not isinstance(value, str):
                    stack.append(value)
        else:
            parts.add(item)


def _files(message: JsonObject, parts: _Parts) -> None:
    for file in _blocks(message.get("files")):
        parts.add(file.get("path"))
        parts.add(file.get("content"))
        image = file.get("image")
        if isinstance(image, dict):
            parts.add_image(image)


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _data_bytes(block: JsonObject) -> int:
    data = block.get("data")
    return len(data) if isinstance(data, str) else 0


def _blocks(content: Any) -> list[JsonObject]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
