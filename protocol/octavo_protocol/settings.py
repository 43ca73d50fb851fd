"""Every setting: its key, type, default and help, once. How layers of them combine is in `layering`.

Keys are dotted camelCase on the wire (`compaction.keepRecentTokens`); code reads attributes
(`settings.compaction.keep_recent_tokens`). Seed keys and defaults are engine.md §16.
"""

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from octavo_protocol import layering
from octavo_protocol.base import JsonObject
from octavo_protocol.model_info import ModelInfo

ShapeName: TypeAlias = Literal[
    "auto",
    "8x8r-bw",
    "8x8r-sent",
    "8x8u-bw",
    "8x8u-sent",
    "6x6u-bw",
    "6x6u-sent",
    "5x8-bw",
    "5x8-sent",
    "6x12-dim",
    "8x13-bw",
    "8on16-bw",
    "8on22-bw",
    "11on16-bw",
    "doc-8on16-bw",
    "doc-8on16-sent",
    "doc-8on16-sent-dim",
]
"""Frame shapes by name (snapcompact.md §1.2); `auto` takes the model's."""


class Group(BaseModel):
    """Settings that share a prefix. Values are taken strictly: `"yes"` is no boolean."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True, strict=True, defer_build=True
    )


class CompactionSettings(Group):
    """When and how the context is made smaller."""

    enabled: bool = Field(default=True, description="Whether automatic maintenance compacts at all.")
    strategy: Literal["context-full", "handoff", "shake", "snapcompact", "extractive", "off"] = Field(
        default="context-full",
        description="What automatic maintenance does: a model's summary, a handoff to a new session, moving bulk out, "
        "frames, a local summary without a model, or nothing.",
    )
    model: str | None = Field(
        default=None, min_length=1, description="`provider/id` that writes summaries, tried before the session's model."
    )
    threshold_percent: float = Field(
        default=-1,
        allow_inf_nan=False,
        description="Percentage of the window above which maintenance starts, 1 to 99; 0 or less means by reserve.",
    )
    threshold_tokens: float = Field(
        default=-1,
        allow_inf_nan=False,
        description="Tokens above which maintenance starts; above 0 it wins over the percentage.",
    )
    reserve_tokens: int = Field(
        default=16384, ge=0, description="Tokens kept free for the answer; at least 15 % of the window are."
    )
    keep_recent_tokens: int = Field(default=20000, ge=0, description="Newest tokens that stay verbatim.")
    auto_continue: bool = Field(default=True, description="Whether the agent is told to go on after a compaction.")
    mid_turn_enabled: bool = Field(default=True, description="Whether long tool loops are maintained between calls.")
    local_fallback: Literal["overflow", "always", "never"] = Field(
        default="overflow",
        description="When the local summary steps in because no model answers: in overflow recovery, always, or never.",
    )
    remote_enabled: bool = Field(default=True, description="Whether summaries may be made by a remote endpoint.")
    remote_endpoint: str | None = Field(
        default=None,
        description="URL that takes `{systemPrompt, prompt}` and answers `{summary}`, or ends in `/chat/completions`.",
    )
    remote_timeout_ms: int = Field(
        default=180_000, ge=0, description="Longest wait for a remote summary; 0 means without limit."
    )
    handoff_save_to_disk: bool = Field(default=False, description="Whether automatic handoff documents are saved.")
    idle_enabled: bool = Field(default=False, description="Whether an idle session is compacted.")
    idle_threshold_tokens: int = Field(default=200_000, ge=0, description="Tokens an idle session needs for that.")
    idle_timeout_seconds: float = Field(
        default=300, ge=0, allow_inf_nan=False, description="Idle time before it; taken as 60 to 3600."
    )
    supersede_reads: bool = Field(default=True, description="Whether a newer read of a file blanks the older ones.")
    drop_useless: bool = Field(default=True, description="Whether results flagged useless are blanked.")


class BranchSummarySettings(Group):
    """Summaries of branches that are left."""

    enabled: bool = Field(default=False, description="Whether a client should offer a summary when leaving a branch.")
    reserve_tokens: int = Field(default=16384, ge=0, description="Tokens of the window its input leaves free.")


class ContextPromotionSettings(Group):
    """Switching to a larger window instead of compacting."""

    enabled: bool = Field(default=True, description="Whether a model's `contextPromotionTarget` is tried first.")


class SnapcompactSettings(Group):
    """Frames."""

    shape: ShapeName = Field(default="auto", description="Shape of frames; `auto` takes the one the model reads best.")
    layout: Literal["octavo", "seed"] = Field(
        default="octavo", description="Normalisation and paging that keep indentation and scripts, or the seed's."
    )
    system_prompt: Literal["none", "agents-md", "all"] = Field(
        default="none", description="What of the system prompt `snapcompact/inline` draws."
    )
    tool_results: bool = Field(default=False, description="Whether `snapcompact/inline` draws large tool results.")


class RetrySettings(Group):
    """Repeating failed model calls."""

    enabled: bool = Field(default=True, description="Whether transient failures are tried again.")
    max_retries: int = Field(default=10, ge=0, description="Repetitions with one model.")
    base_delay_ms: int = Field(default=500, ge=0, description="First delay; it doubles.")
    max_delay_ms: int = Field(
        default=300_000, ge=0, description="Longest delay a provider may ask for before the call fails; 0 means any."
    )
    model_fallback: bool = Field(default=True, description="Whether another model may take over.")
    fallback_chains: dict[str, list[str]] = Field(
        default_factory=dict, description="Models by role, in the order they take over."
    )
    fallback_revert_policy: Literal["cooldown-expiry", "never"] = Field(
        default="cooldown-expiry", description="When the first model is used again."
    )


class SessionsSettings(Group):
    """Session files."""

    root: str | None = Field(default=None, min_length=1, description="Folder of session files; unset means the usual.")
    durability: Literal["fsync", "os"] = Field(
        default="fsync", description="Acknowledge when on stable storage, or when the operating system has it."
    )


class ServerSettings(Group):
    """The connection."""

    max_message_bytes: int = Field(
        default=268_435_456, ge=65_536, description="Largest frame taken; a larger one is refused and skipped."
    )
    max_queue_bytes: int = Field(
        default=67_108_864, ge=65_536, description="Most bytes waiting for one client before it is hung up."
    )
    idle_exit_seconds: int = Field(
        default=900,
        ge=0,
        description="Time without clients and work after which a shared daemon ends; 0 means never.",
    )


class HooksSettings(Group):
    """Hooks of clients."""

    timeout_ms: int = Field(default=30_000, ge=1, description="Longest wait for a hook's answer.")


class ClientSettings(Group):
    """What the daemon asks of clients."""

    abort_timeout_ms: int = Field(default=30_000, ge=1, description="Longest wait for `agent/abort`.")
    complete_timeout_ms: int = Field(default=600_000, ge=1, description="Longest wait for `llm/complete`.")


class HttpSettings(Group):
    """Calls to providers."""

    connect_timeout_ms: int = Field(default=30_000, ge=1, description="Longest wait for a connection.")
    stall_timeout_ms: int = Field(default=180_000, ge=1, description="Longest silence of a provider while it answers.")


class ProviderSettings(Group):
    """How one provider is reached."""

    api: str | None = Field(default=None, min_length=1, description="Wire it speaks, when the models do not say.")
    base_url: str | None = Field(default=None, min_length=1, description="Endpoint instead of the usual one.")
    api_key: str | None = Field(default=None, min_length=1, description="Credential; never logged, never stored.")
    api_key_env: str | None = Field(default=None, min_length=1, description="Environment variable that holds it.")
    api_key_command: str | list[str] | None = Field(
        default=None, min_length=1, description="Command that prints it, as a shell line or as words."
    )
    headers: dict[str, str] = Field(default_factory=dict, description="Headers sent with every call.")
    account_id: str | None = Field(default=None, min_length=1, description="Account to bill, where a provider asks.")


class Settings(Group):
    """Every setting with its value."""

    compaction: CompactionSettings = Field(
        default_factory=CompactionSettings, description="When and how the context shrinks."
    )
    branch_summary: BranchSummarySettings = Field(
        default_factory=BranchSummarySettings, description="Leaving a branch."
    )
    context_promotion: ContextPromotionSettings = Field(
        default_factory=ContextPromotionSettings, description="Larger windows."
    )
    snapcompact: SnapcompactSettings = Field(
        default_factory=SnapcompactSettings, description="How frames are drawn, and for what."
    )
    retry: RetrySettings = Field(default_factory=RetrySettings, description="Repeated model calls.")
    sessions: SessionsSettings = Field(
        default_factory=SessionsSettings, description="Where session files are and how safe."
    )
    server: ServerSettings = Field(default_factory=ServerSettings, description="Limits of a connection.")
    hooks: HooksSettings = Field(default_factory=HooksSettings, description="Waiting for hooks.")
    client: ClientSettings = Field(default_factory=ClientSettings, description="Waiting for clients.")
    http: HttpSettings = Field(default_factory=HttpSettings, description="Waiting for providers.")
    tree_filter_mode: Literal["default", "no-tools", "user-only", "labeled-only", "all"] = Field(
        default="default", description="What a tree view shows unless it asks for something else."
    )
    language: str = Field(
        default="auto", min_length=1, description="Language of summaries, by name or tag; `auto` takes the user's."
    )
    model_roles: dict[str, str] = Field(
        default_factory=dict, description="`provider/id` by role (`default`, `smol`, `slow`, `vision` …)."
    )
    providers: dict[str, ProviderSettings] = Field(default_factory=dict, description="Providers by id.")
    models: list[ModelInfo] = Field(default_factory=list, description="Models to know, as `model/register` takes them.")

    @classmethod
    def from_dotted(cls, updates: JsonObject) -> "Settings":
        """Return the defaults with `updates` (dotted or nested keys) over them.

        Raises:
            OctavoError: invalid-params; names each wrong key, its value, and what is allowed.
        """
        return cls.from_layers([layering.read(cls, updates)])

    @classmethod
    def from_layers(cls, layers: "list[layering.Layer]") -> "Settings":
        """Return the defaults with validated layers over them, the last one winning."""
        return cls.model_validate(layering.nested(layering.overlay(layers)))

    def merge(self, updates: JsonObject) -> "Settings":
        """Return these settings with `updates` over them; null sets a key back to its default.

        Raises:
            OctavoError: invalid-params; names each wrong key, its value, and what is allowed.
        """
        given = layering.read(Settings, self.model_dump(by_alias=True, exclude_unset=True))
        return Settings.from_layers([layering.update(given, layering.read(Settings, updates, nulls=True))])

    def dotted(self) -> dict[str, Any]:
        """Return every value by dotted key; credentials are replaced by `(hidden)`."""
        return layering.dotted(Settings, self.model_dump(mode="json", by_alias=True))
