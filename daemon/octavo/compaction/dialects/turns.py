"""What a dialect renders: who spoke, the calls inside a turn, and the results that came back."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from octavo_protocol.base import JsonObject


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of an assistant turn."""

    id: str
    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Speech:
    """A user, developer or assistant turn; only assistants think and call. `text` is `texts` run together."""

    role: Literal["user", "developer", "assistant"]
    text: str
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The text of one tool result, already cut to size."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


Turn: TypeAlias = Speech | Result
Turns: TypeAlias = list[Speech | list[Result]]
"""A transcript for a dialect: consecutive tool results are one item."""
