"""Params and results of reading and changing settings; the settings themselves are in `octavo_protocol.settings`."""

from typing import Literal

from pydantic import Field

from octavo_protocol.base import JsonObject, Reply, Wire


class SettingsGetParams(Wire):
    """Params of `settings/get`."""

    session_id: str | None = Field(default=None, description="Session whose own settings count; absent means none.")
    keys: list[str] | None = Field(default=None, description="Dotted keys or groups; absent means all.")


class SettingsResult(Reply):
    """Result of `settings/get` and `settings/update`."""

    settings: JsonObject = Field(description="Values in force by dotted key.")
    sources: dict[str, str] = Field(
        default_factory=dict,
        description="Layer of each value that is no default: `file`, `environment`, `initialize`, `configuration` or "
        "`session`.",
    )


class SettingsUpdateParams(Wire):
    """Params of `settings/update`."""

    settings: JsonObject = Field(description="New values, by dotted key or nested; null takes one back.")
    scope: Literal["daemon", "session"] = Field(
        default="daemon",
        description="Whether it holds for every session without a value of its own, or for one session.",
    )
    session_id: str | None = Field(default=None, description="The session, for scope `session`.")
