"""What a client says of itself when it greets a daemon, and which of the daemon's requests it answers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from octavo_protocol.base import JsonObject, Wire
from octavo_protocol.lifecycle import ClientOptions, InitializationOptions
from octavo_protocol.methods import METHODS, Direction, MethodSpec
from octavo_protocol.model_info import ModelInfo

Handler: TypeAlias = Callable[[Any], Awaitable[Wire | JsonObject | None]]
"""Answers a request of the daemon; takes the params model of the method, returns its result model or an object."""


@dataclass(frozen=True)
class Options:
    """What a client says in `initialize`.

    Attributes:
        handlers: Answers to the daemon's requests by name: `llm/complete`, `agent/abort`, `hook/…`.
        hooks: Further hooks to hear of: `sessionCompact`, `sessionTree`.
        settings: Settings by dotted key or nested.
        models: Models to register.
        token: Token of the daemon, needed over TCP and WebSocket.
        name: Name of the client in the daemon's log.
    """

    handlers: Mapping[str, Handler] = field(default_factory=dict)
    hooks: Sequence[str] = ()
    settings: JsonObject | None = None
    models: Sequence[ModelInfo] | None = None
    token: str | None = None
    name: str = "octavo-client"

    def to_wire(self) -> JsonObject:
        """Return `initializationOptions`."""
        hooks = [name.removeprefix("hook/") for name in self.handlers if name.startswith("hook/")]
        said = InitializationOptions(
            settings=self.settings,
            models=None if self.models is None else list(self.models),
            token=self.token,
            client=ClientOptions(
                complete="llm/complete" in self.handlers,
                agent="agent/abort" in self.handlers,
                hooks=[*hooks, *self.hooks],
            ),
        )
        return said.to_wire()


def asked_of_clients(method: str) -> MethodSpec | None:
    """Return the row of a request that a daemon sends to clients; None when it is none."""
    spec = METHODS.get(method)
    return spec if spec is not None and spec.direction is Direction.DAEMON_TO_CLIENT else None
