"""Vocabulary that several methods share: vocabularies of words, parameter bases, measures, checks.

No method lives here.
"""

from typing import Literal, TypeAlias

from pydantic import Field

from octavo_protocol.base import JsonObject, Reply, Wire

Strategy: TypeAlias = Literal["context-full", "snapcompact", "extractive"]
"""How a manual compaction makes room: a model's summary, frames, or the local deterministic summary."""

Action: TypeAlias = Literal["context-full", "handoff", "shake", "snapcompact", "extractive"]
"""What a maintenance run does."""

Reason: TypeAlias = Literal["manual", "threshold", "overflow", "incomplete", "midTurn", "idle"]
"""What set a maintenance run off."""

ContextFormat: TypeAlias = Literal["agent", "llm", "anthropic", "openai-chat", "openai-responses", "google"]
"""Shape of built messages: session roles, LLM roles, or the body of a provider's API."""


class Empty(Reply):
    """A result that says nothing beyond having arrived."""


class SessionParams(Wire):
    """Params of a request about one open session."""

    session_id: str = Field(description="Id of an open session.")


class WorkDone(Wire):
    """Mixin of params that can take long."""

    work_done_token: str | int | None = Field(
        default=None, description="Token under which `$/progress` reports this request; absent means no reports."
    )


class Breakdown(Reply):
    """Where the tokens of a context go; every figure is an estimate in tokens."""

    system: int = Field(default=0, description="System prompt.")
    tools: int = Field(default=0, description="Tool names, descriptions and schemas.")
    summary: int = Field(default=0, description="Text of the compaction summary and branch summaries.")
    frames: int = Field(default=0, description="Frames of archived history.")
    user: int = Field(default=0, description="User, developer and custom messages and file mentions.")
    assistant: int = Field(default=0, description="Assistant text, reasoning and tool calls.")
    tool_results: int = Field(default=0, description="Tool results and command executions.")


class ContextUsage(Reply):
    """How full the context is."""

    tokens: int = Field(description="Tokens of the context as it would be sent now.")
    source: Literal["usage", "estimate"] = Field(
        description="`usage`: anchored on what the provider reported; `estimate`: counted locally."
    )
    context_window: int = Field(description="Window of the session's model in tokens; 0 when unknown.")
    threshold: int = Field(description="Tokens above which automatic maintenance starts; 0 when the window is unknown.")
    percent: float | None = Field(
        default=None, description="Tokens as a percentage of the window; absent when the window is unknown."
    )
    model: str | None = Field(default=None, description="`provider/id` of the model the figures are for.")
    window_source: Literal["client", "settings", "catalogue", "unknown"] = Field(
        default="unknown", description="Who said how large the window is."
    )
    rejected: str | None = Field(
        default=None,
        description="Why what the provider last reported is not used; absent when it is, or none is there.",
    )
    opaque_tokens: int = Field(default=0, description="Encrypted reasoning in the estimate, counted by its own rule.")
    request_bytes: int = Field(default=0, description="About how many bytes the next request takes as JSON.")
    image_bytes: int = Field(default=0, description="Share of images in those bytes.")
    breakdown: Breakdown = Field(description="Local estimate by kind of content; need not add up to `tokens`.")


class Check(Reply):
    """One condition a result met, or not, before it was written."""

    name: str = Field(
        description="`shrinks`, `pairs`, `api-valid`, `last-request`, `files`, `open-question`, `no-invented-user`, "
        "`no-markup` or `no-boundary-tags`."
    )
    ok: bool = Field(description="Whether the condition holds for what was (or would be) written.")
    repaired: bool = Field(default=False, description="Whether it holds only after a deterministic repair.")
    figures: JsonObject = Field(default_factory=dict, description="The numbers and names behind the verdict.")


class Notice(Reply):
    """A sentence a user should see."""

    level: Literal["info", "warning", "error"] = Field(description="How much it matters.")
    message: str = Field(description="One sentence, without secrets.")
    source: str = Field(description="Part of the daemon that speaks, for example `compaction` or `hooks`.")


class FileLists(Reply):
    """Files the discarded part of a session touched."""

    read_files: list[str] = Field(default_factory=list, description="Read and not modified, sorted.")
    modified_files: list[str] = Field(default_factory=list, description="Written or edited, sorted.")


class TokenUsage(Reply):
    """Tokens and money model calls have cost."""

    input: int = Field(default=0, description="Uncached input tokens.")
    output: int = Field(default=0, description="Output tokens, reasoning included.")
    cache_read: int = Field(default=0, description="Input tokens read from the provider's cache.")
    cache_write: int = Field(default=0, description="Input tokens written to the provider's cache.")
    premium_requests: float = Field(default=0, description="Premium requests, where a provider bills by request.")
    cost: float = Field(default=0, description="US dollars, as far as prices were known.")


class Page(Wire):
    """Mixin of params that are answered page by page."""

    limit: int | None = Field(default=None, ge=1, description="Largest number of items in one answer.")
    cursor: str | None = Field(
        default=None, description="`nextCursor` of the previous page; absent means from the start."
    )
