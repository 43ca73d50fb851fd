"""What octavo adds to the LSP lifecycle: options a client sends with `initialize`, capabilities it gets back.

`initialize`, `shutdown` and `exit` themselves are LSP's.
"""

from pydantic import Field

from octavo_protocol.base import JsonObject, Reply, Wire
from octavo_protocol.model_info import ModelInfo
from octavo_protocol.version import PROTOCOL_VERSION


class ClientOptions(Wire):
    """What the client can do for the daemon."""

    complete: bool = Field(default=False, description="Answers `llm/complete`.")
    agent: bool = Field(default=False, description="Answers `agent/abort`.")
    hooks: list[str] = Field(
        default_factory=list, description="Hooks it answers or wants to hear of, for example `sessionBeforeCompact`."
    )


class InitializationOptions(Wire):
    """`initialize.initializationOptions`."""

    settings: JsonObject | None = Field(default=None, description="Settings, by dotted key or nested.")
    models: list[ModelInfo] | None = Field(default=None, description="Models to register.")
    client: ClientOptions = Field(default_factory=ClientOptions, description="What the client can do.")
    token: str | None = Field(default=None, description="Token of the daemon, needed over TCP and WebSocket.")


class SessionTreeCapabilities(Reply):
    """`capabilities.experimental.sessionTree` of the `initialize` result."""

    protocol_version: int = Field(default=PROTOCOL_VERSION, description="Version of this protocol.")
    methods: list[str] = Field(description="Requests this daemon answers.")
    notifications: list[str] = Field(description="Notifications it sends.")
    strategies: list[str] = Field(description="Compaction strategies it can run.")
    formats: list[str] = Field(description="Foreign transcripts it can import.")
