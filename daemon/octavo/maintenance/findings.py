"""What the last turn of a branch says about the context: that it did not fit, that its answer was cut, or nothing.

Pure: reads a path, decides nothing about the remedy. Source: engine.md §13.2, §14; known failures BR-038, BR-056.

Differs from the seed where that throws good turns away or loops (engine.md §17c 76, 92, 101, 110):

- a usage figure beyond the window counts only when it can be about this context;
- a body that is too large in bytes ("payload") is told from a context that is too long in tokens;
- an unknown error near a full window is reported as "maybe" and nothing is done about it;
- a `length` stop without any output in a nearly full window is an overflow, not a cut-off answer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from octavo.error_text.overflow import NEAR_FULL, find_overflow
from octavo.sessions.ids import epoch_ms
from octavo.tokens.usage import implausible, prompt_tokens
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model

Kind = Literal["none", "overflow", "incomplete", "payload", "maybe"]


@dataclass(frozen=True, slots=True)
class Turn:
    """The last assistant message of a path: its entry, and its place on the path."""

    entry: JsonObject
    position: int

    @property
    def message(self) -> JsonObject:
        """The message itself."""
        message: JsonObject = self.entry["message"]
        return message

    @property
    def entry_id(self) -> str:
        """Id of the entry."""
        return str(self.entry.get("id"))

    @property
    def stop_reason(self) -> str:
        """Why it stopped; "" when it does not say."""
        reason = self.message.get("stopReason")
        return reason if isinstance(reason, str) else ""

    @property
    def failed(self) -> bool:
        """Whether it ended in an error or an abort."""
        return self.stop_reason in {"error", "aborted"}

    @property
    def has_output(self) -> bool:
        """Whether it says or calls anything."""
        return any(_is_output(block) for block in _blocks(self.message))

    @property
    def calls_tools(self) -> bool:
        """Whether the model waits for tool results."""
        return any(block.get("type") == "toolCall" for block in _blocks(self.message))

    @property
    def status(self) -> int | None:
        """HTTP status of the error, where the host kept it."""
        status = self.message.get("errorStatus")
        return status if isinstance(status, int) and not isinstance(status, bool) else None


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a turn, with the figures that speak for it (tokens, 0 where unknown)."""

    kind: Kind = "none"
    used_tokens: int = 0
    note: str | None = None


NOTHING = Finding()


def last_turn(path: Sequence[JsonObject]) -> Turn | None:
    """The newest assistant message on the path; messages the user or tools added since do not hide it."""
    for position in range(len(path) - 1, -1, -1):
        message = path[position].get("message")
        if path[position].get("type") == "message" and isinstance(message, dict) and message.get("role") == "assistant":
            return Turn(path[position], position)
    return None


def is_last_message(path: Sequence[JsonObject], turn: Turn) -> bool:
    """Whether nothing that is part of a conversation follows the turn."""
    after = ("message", "custom_message", "branch_summary", "compaction")
    return all(entry.get("type") not in after for entry in path[turn.position + 1 :])


def same_model(message: JsonObject, model: Model | None) -> bool:
    """Whether the message came from this model; an alias and its dated version are one model."""
    if model is None:
        return False
    provider, ident = message.get("provider"), message.get("model")
    if not isinstance(provider, str) or not isinstance(ident, str):
        return True
    written, wanted = f"{provider}/{ident}", model.ref
    return written == wanted or written.startswith(f"{wanted}-20") or wanted.startswith(f"{written}-20")


def is_stale(path: Sequence[JsonObject], turn: Turn) -> bool:
    """Whether the turn is older than the latest compaction of the path, by place or by time (strictly).

    Time counts for a turn that was begun before the compaction and appended behind it. When the turn's own entry seems
    to be older than the compaction in front of it, a clock was set back, and time says nothing.
    """
    for position in range(len(path) - 1, -1, -1):
        if path[position].get("type") == "compaction":
            compacted = epoch_ms(path[position].get("timestamp"))
            said = _moment(turn.message.get("timestamp"))
            stored = epoch_ms(turn.entry.get("timestamp"))
            if turn.position < position or compacted is None or said is None:
                return turn.position < position
            return said < compacted and (stored is None or stored >= compacted)
    return False


def find_failure(path: Sequence[JsonObject], turn: Turn, model: Model | None, *, estimate: int = 0) -> Finding:
    """Judge the last turn.

    Args:
        path: Entries from the root to the leaf.
        turn: As `last_turn` found it.
        model: The model in force; turns of another one and turns older than the latest compaction say nothing.
        estimate: Local estimate of the context in tokens, encrypted reasoning left out.
    """
    if turn.stop_reason == "aborted" or not same_model(turn.message, model) or is_stale(path, turn):
        return NOTHING
    window = model.context_window if model is not None else 0
    message, doubt = _believable(turn.message, estimate, window)
    found = find_overflow(message, window, used_tokens=estimate, status=turn.status)
    if found.kind == "tokens":
        return Finding("overflow", found.used_tokens, doubt)
    if found.kind in {"payload", "maybe"}:
        return Finding("payload" if found.kind == "payload" else "maybe", found.used_tokens, doubt)
    if turn.stop_reason == "length":
        near = window > 0 and found.used_tokens >= NEAR_FULL * window
        return Finding("overflow" if near and not turn.has_output else "incomplete", found.used_tokens, doubt)
    return replace(NOTHING, note=doubt)


def _believable(message: JsonObject, estimate: int, window: int) -> tuple[JsonObject, str | None]:
    """The message without a usage that cannot be about this context, and why it cannot."""
    usage = message.get("usage")
    measured = prompt_tokens(usage)
    why = implausible(measured, estimate, window) if measured > 0 else None
    if why is None:
        return message, None
    return {key: value for key, value in message.items() if key != "usage"}, why


def _moment(stamp: Any) -> float | None:
    """A message's timestamp in epoch ms; hosts write numbers, some of them ISO text."""
    if isinstance(stamp, int | float) and not isinstance(stamp, bool) and math.isfinite(stamp):
        return stamp
    return epoch_ms(stamp)


def _blocks(message: JsonObject) -> list[JsonObject]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _is_output(block: JsonObject) -> bool:
    text: Any = block.get("text")
    return block.get("type") == "toolCall" or (isinstance(text, str) and bool(text.strip()))
