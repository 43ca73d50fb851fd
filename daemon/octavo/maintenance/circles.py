"""Whether an agent gets anywhere between compactions: not when all it does is read again what it had read (BR-085).

When what a task needs is larger than the window, every compaction takes away what was read, and the agent reads it
again, for ever. Looks at the branch alone, so that it holds after a restart too; what follows is `triggers`' business.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from octavo.compaction.entry_messages import stored_message, tool_calls
from octavo_protocol.base import JsonObject

CIRCLES = 2
"""Stretches between compactions, one after the other, that only repeat: one may be the agent finding its way back."""

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Circle:
    """How many times in a row it went round, and the files it read again on the way."""

    rounds: int
    files: tuple[str, ...]

    def sentence(self) -> str:
        """What a person is told."""
        more = len(self.files) - _SHOWN
        named = ", ".join(self.files[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        return (
            f"No progress: between the last {self.rounds + 1} compactions the agent only read again what it had read "
            f"before ({named}). What it needs does not fit the window together: ask for less at once, or use a larger "
            "model"
        )


@dataclass(slots=True)
class _Stretch:
    is_repetition: bool = True
    files: dict[str, None] = field(default_factory=dict)


def circle(path: Sequence[JsonObject]) -> Circle | None:
    """Return the circle that the newest compaction of the path closed, None when there is none.

    Only what happened since the newest user message counts: whoever asks for something twice gets it twice. A call
    repeats when an earlier one had the same name and arguments; reading on in a file, or after a change, is progress.
    """
    start = next((i for i in range(len(path) - 1, -1, -1) if stored_message(path[i]).get("role") == "user"), 0)
    known: set[tuple[str, str]] = set()
    stretch, rounds = _Stretch(), 0
    files: dict[str, None] = {}
    for entry in path[start:]:
        if entry.get("type") == "compaction":
            is_round = bool(stretch.files) and stretch.is_repetition
            rounds, files = (rounds + 1, files | stretch.files) if is_round else (0, {})
            stretch = _Stretch()
            continue
        for call in tool_calls(stored_message(entry)):
            arguments = call.get("arguments")
            key = (str(call.get("name")), json.dumps(arguments, sort_keys=True))
            stretch.is_repetition = stretch.is_repetition and key in known
            known.add(key)
            if (file := _file_read(call.get("name"), arguments)) is not None:
                stretch.files[file] = None
    return Circle(rounds, tuple(files)) if rounds >= CIRCLES else None


def _file_read(name: object, arguments: Any) -> str | None:
    file = arguments.get("path") if name == "read" and isinstance(arguments, dict) else None
    return file if isinstance(file, str) and file else None
