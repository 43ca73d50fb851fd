"""Tool call ids as a provider accepts them: its alphabet, its length, and no id used twice.

Histories come from several providers and reuse ids; a request must still pair every result with its own call. Only
the request is changed, never the session.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from octavo.providers.blocks import blocks
from octavo_protocol.base import JsonObject

_ACCEPTED = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(slots=True)
class CallIds:
    """Renames what would be refused; a result follows the newest call of its id."""

    _used: set[str] = field(default_factory=set)
    _current: dict[str, str] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)

    def renamed(self, messages: tuple[JsonObject, ...]) -> Iterator[JsonObject]:
        """The messages in order, those whose ids had to change as copies."""
        for message in messages:
            if message.get("role") == "assistant":
                yield self._calls(message)
            elif message.get("role") == "toolResult":
                original = str(message.get("toolCallId"))
                known = self._current.get(original, original)
                yield message if known == original else {**message, "toolCallId": known}
            else:
                yield message

    def _calls(self, message: JsonObject) -> JsonObject:
        changed = False
        content = []
        for block in blocks(message):
            if block.get("type") == "toolCall":
                original = str(block.get("id"))
                known = self._fresh(original)
                self._current[original] = known
                if known != block.get("id"):
                    block = {**block, "id": known}  # noqa: PLW2901 - the copy stands in for it
                    changed = True
            content.append(block)
        return {**message, "content": content} if changed else message

    def _fresh(self, original: str) -> str:
        name = original if _ACCEPTED.fullmatch(original) else "call_" + _digest(original)
        candidate = name
        while candidate in self._used:
            self._numbers[name[:56]] = number = self._numbers.get(name[:56], 1) + 1
            candidate = f"{name[:56]}_{number}"
        self._used.add(candidate)
        return candidate


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
