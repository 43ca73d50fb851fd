"""Params and results of the model catalogue, and of the model calls and aborts the daemon asks its client for."""

from typing import Literal

from pydantic import Field

from octavo_protocol.base import JsonObject, MessageObject, Reply, Wire
from octavo_protocol.model_info import ModelInfo


class ListedModel(ModelInfo, Reply):
    """A model of the catalogue."""

    source: Literal["builtin", "settings", "registered"] = Field(description="Who told the daemon about it.")
    usable: bool = Field(description="Whether a credential or a delegating client is there for it.")


class ModelListParams(Wire):
    """Params of `model/list`."""

    provider: str | None = Field(default=None, description="Only models of this provider.")


class ModelListResult(Reply):
    """Result of `model/list`."""

    models: list[ListedModel] = Field(description="The catalogue, sorted by provider and id.")


class ModelRegisterParams(Wire):
    """Params of `model/register`."""

    models: list[ModelInfo] = Field(min_length=1, description="Models to add, or to replace by `provider/id`.")


class ModelRegisterResult(Reply):
    """Result of `model/register`."""

    registered: list[str] = Field(description="Their `provider/id`.")


class LlmCompleteParams(Reply):
    """Params of `llm/complete`."""

    request_id: str = Field(description="Names the call in logs and progress.")
    session_id: str | None = Field(default=None, description="Session it is for.")
    purpose: str = Field(
        description="What it is for: `summary`, `turnPrefix`, `shortSummary`, `branchSummary`, `handoff`."
    )
    model: ModelInfo = Field(description="Model to call.")
    system_prompt: list[str] = Field(description="System prompt in parts.")
    messages: list[MessageObject] = Field(description="LLM messages.")
    tools: list[JsonObject] | None = Field(
        default=None, description="Tools of the live context, for handoff documents."
    )
    tool_choice: Literal["auto", "none"] | None = Field(default=None, description="Whether the model may call them.")
    max_tokens: int | None = Field(default=None, description="Output limit in tokens.")
    reasoning: str | None = Field(default=None, description="Effort; absent means none.")


class LlmCompleteResult(Wire):
    """Result of `llm/complete`."""

    content: list[JsonObject] = Field(description="Content blocks: text, thinking, toolCall.")
    stop_reason: Literal["stop", "length", "toolUse", "error", "aborted"] = Field(description="Why it stopped.")
    usage: JsonObject | None = Field(default=None, description="Tokens: input, output, cacheRead, cacheWrite.")
    model: str | None = Field(default=None, description="`provider/id` that answered, if another.")
    error_message: str | None = Field(default=None, description="Provider's text, for `error`.")
    error_status: int | None = Field(default=None, description="HTTP status, for `error`.")
    retry_after_ms: int | None = Field(default=None, ge=0, description="Time the provider asked to wait.")


class AgentAbortParams(Reply):
    """Params of `agent/abort`."""

    session_id: str = Field(description="Session whose running operation must stop.")
    reason: Literal["compaction", "handoff"] = Field(description="What is about to begin.")


class AgentAbortResult(Wire):
    """Result of `agent/abort`, sent once the host has stopped."""

    stopped: bool = Field(default=True, description="False when nothing was running.")
