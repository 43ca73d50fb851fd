"""Make every tool call have exactly one result, and every result its call (engine.md §3.1; deviation from the seed).

Two rules live here. `drop_dangling` is the seed's: calls without any result are removed, nothing else is looked at.
`pair` is ours and works on the final message list and on blocks, so that the list satisfies the strictest provider: a
result stands directly after the turn that made the call, once, and a result without a call is dropped and reported.
Messages are never mutated; a message that needs no change keeps its identity, signatures and all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from octavo.sessions.migrate import without_signature
from octavo_protocol.base import JsonObject

Note = Callable[[str, int, str], None]
"""`(kind, position of the message in the list that came in, detail)`."""

_CALLS = ("toolCall", "tool_use")
_RESULTS = ("toolResult", "tool_result")


def call_ids(message: JsonObject) -> list[str]:
    """Return the ids of the tool calls in a message, in order."""
    content = message.get("content")
    if message.get("role") != "assistant" or type(content) is not list:
        return []
    return [_text(b.get("id")) for b in content if type(b) is dict and b.get("type") in _CALLS]


def _text(value: object) -> str:
    return value if type(value) is str else ""


def without_calls(message: JsonObject, unwanted: Callable[[JsonObject], bool]) -> JsonObject | None:
    """Return an assistant message without the unwanted calls, or None when nothing is left of it.

    Its thinking can no longer be replayed as signed, because the turn differs from what was signed: redacted blocks go,
    thinking keeps its text without the signature.
    """
    content = [
        without_signature(block)
        for block in message["content"]
        if not (
            type(block) is dict
            and (block.get("type") == "redactedThinking" or (block.get("type") in _CALLS and unwanted(block)))
        )
    ]
    return {**message, "content": content} if content else None


def drop_dangling(messages: list[JsonObject]) -> tuple[list[JsonObject], list[int]]:
    """Remove the calls that no tool result of the list answers: the seed's rule, exactly.

    Returns the messages, and for each its position in `messages`.
    """
    answered = {_text(m.get("toolCallId")) for m in messages if m.get("role") == "toolResult"}
    kept: list[JsonObject] = []
    places: list[int] = []
    for position, message in enumerate(messages):
        current: JsonObject | None = message
        if any(call not in answered for call in call_ids(message)):
            current = without_calls(message, lambda block: _text(block.get("id")) not in answered)
        if current is not None:
            kept.append(current)
            places.append(position)
    return kept, places


@dataclass(slots=True)
class _Turn:
    """An assistant turn whose calls wait for results."""

    position: int
    waiting: dict[str, str]
    results: list[tuple[int, JsonObject]]


def pair(messages: list[JsonObject], note: Note) -> tuple[list[JsonObject], list[int]]:
    """Return the messages with calls and results paired, and for each its position in `messages`.

    A result belongs to the most recent earlier turn that still waits for its id. Calls that stay unanswered are removed
    from their turn as the seed does; results that find no call are dropped. Result blocks inside other messages
    (imported histories) become tool results of their own when their call is there, and are stripped when it is not.
    """
    turns: dict[int, _Turn] = {}
    waiting: dict[str, list[_Turn]] = {}
    rest: dict[int, JsonObject | None] = {}
    position, count = 0, len(messages)
    while position < count:
        message = messages[position]
        role = message.get("role")
        content = message.get("content")
        if role == "toolResult":
            rest[position] = None
            _answer(waiting, _text(message.get("toolCallId")), position, message, note)
        elif type(content) is list:
            wanted = _CALLS if role == "assistant" else _RESULTS
            for block in content:
                if type(block) is dict and block.get("type") in wanted:
                    break
            else:
                position += 1
                continue
            if role != "assistant":
                rest[position] = _extract(message, position, waiting, note)
            elif answered := _answered_at_once(messages, position):
                position += answered  # nearly every turn of a real session: nothing to do
            else:
                turns[position] = _open_turn(position, content, waiting)
        position += 1
    if not turns and not rest:
        return messages, list(range(count))
    return _assemble(messages, turns, rest, note)


def _answered_at_once(messages: Sequence[JsonObject], position: int) -> int:
    """Return how many results directly follow a turn, if they answer each of its calls exactly once; else 0."""
    calls = call_ids(messages[position])
    following = messages[position + 1 : position + 1 + len(calls)]
    results = {_text(m.get("toolCallId")) for m in following if m.get("role") == "toolResult"}
    return len(calls) if len(results) == len(calls) and results == set(calls) and "" not in results else 0


def _open_turn(position: int, content: list[Any], waiting: dict[str, list[_Turn]]) -> _Turn:
    turn = _Turn(position, {}, [])
    for block in content:
        if type(block) is dict and block.get("type") in _CALLS and (own := _text(block.get("id"))):
            if own not in turn.waiting:
                waiting.setdefault(own, []).append(turn)
            turn.waiting.setdefault(own, _text(block.get("name")))
    return turn


def _answer(
    waiting: dict[str, list[_Turn]], call: str, position: int, result: JsonObject, note: Note, *, named: bool = True
) -> None:
    turns = waiting.get(call)
    if not turns:
        note("orphan-result", position, call)
        return
    turn = turns.pop()
    name = turn.waiting.pop(call)
    turn.results.append((position, result if named else {**result, "toolName": name}))


def _extract(message: JsonObject, position: int, waiting: dict[str, list[_Turn]], note: Note) -> JsonObject | None:
    """Take the result blocks out of a message; return what is left of it."""
    left: list[Any] = []
    for block in message["content"]:
        if type(block) is not dict or block.get("type") not in _RESULTS:
            left.append(block)
            continue
        call = _text(block.get("toolCallId")) or _text(block.get("tool_use_id"))
        content = block.get("content")
        result = {
            "role": "toolResult",
            "toolCallId": call,
            "toolName": "",
            "content": [{"type": "text", "text": content}] if isinstance(content, str) else content or [],
            "isError": bool(block.get("isError", block.get("is_error", False))),
            "timestamp": message.get("timestamp", 0),
        }
        _answer(waiting, call, position, result, note, named=False)
    return {**message, "content": left} if left else None


def _assemble(
    messages: Sequence[JsonObject], turns: dict[int, _Turn], rest: dict[int, JsonObject | None], note: Note
) -> tuple[list[JsonObject], list[int]]:
    paired: list[JsonObject] = []
    places: list[int] = []
    done = 0
    for position in sorted({*turns, *rest}):
        paired.extend(messages[done:position])
        places.extend(range(done, position))
        done = position + 1
        turn = turns.get(position)
        current = rest.get(position) if turn is None else _answered(messages[position], turn, note)
        if current is None:
            continue
        paired.append(current)
        places.append(position)
        for offset, (place, result) in enumerate(turn.results if turn else (), start=1):
            paired.append(result)
            places.append(place)
            if place != position + offset:
                note("moved-result", place, _text(result.get("toolCallId")))
    paired.extend(messages[done:])
    places.extend(range(done, len(messages)))
    return paired, places


def _answered(message: JsonObject, turn: _Turn, note: Note) -> JsonObject | None:
    """Return the turn with its answered calls only, each once."""
    answered = {_text(result.get("toolCallId")) for _, result in turn.results}
    calls = call_ids(message)
    if len(calls) == len(answered) and all(call in answered for call in calls):
        return message
    met: set[str] = set()

    def unwanted(block: JsonObject) -> bool:
        own = _text(block.get("id"))
        if own in answered and own not in met:
            met.add(own)
            return False
        note("dangling-call" if own not in answered else "repeated-call", turn.position, own)
        return True

    return without_calls(message, unwanted)
