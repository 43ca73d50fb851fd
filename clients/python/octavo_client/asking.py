"""What a typed helper stands on: the word for "not given", and the one coroutine that asks.

The helpers are generated (`methods`); `client` is what implements `ask`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import Any, Literal, TypeAlias, TypeVar

from octavo_protocol.base import Wire
from octavo_protocol.notifications import ProgressValue

R = TypeVar("R", bound=Wire)

OnProgress: TypeAlias = Callable[[ProgressValue], None]
"""Called with every progress report of one request."""


class _Unset(Enum):
    TOKEN = "unset"  # noqa: S105 -- an enum member, not a credential


UNSET = _Unset.TOKEN
"""Stands for an option that is not sent; None is sent as null."""

Unset: TypeAlias = Literal[_Unset.TOKEN]


class Asking(ABC):
    """Anything that can send a request and wait for its answer."""

    @abstractmethod
    async def ask(
        self, method: str, params: type[Wire], result: type[R], *, on_progress: OnProgress | None = None, **given: Any
    ) -> R:
        """Send `method` with the given fields of `params` and return the answer as `result`.

        Cancelling the surrounding scope cancels the request at the daemon.

        Raises:
            OctavoClientError: the daemon answered with an error.
            DaemonGoneError: the connection ended before the answer.
            pydantic.ValidationError: a field is wrong; nothing was sent.
        """
