"""Params and results of building a model's context and measuring it."""

from typing import Literal

from pydantic import Field, model_validator

from octavo_protocol.base import JsonObject, MessageObject, Reply
from octavo_protocol.methods.common import ContextFormat, ContextUsage, FileLists, SessionParams, Strategy


class BuildContextParams(SessionParams):
    """Params of `session/buildContext`."""

    leaf_id: str | None = Field(default=None, description="End of the branch; absent means the leaf.")
    transcript: bool = Field(
        default=False, description="Whole branch with compactions inline, for display; never sent to a model."
    )
    format: ContextFormat | None = Field(
        default=None, description="Shape of the messages; absent means `llm`, or `agent` for a transcript."
    )
    include_images: bool = Field(default=True, description="False replaces image data by a short note.")
    system_prompt: str | list[str] | None = Field(
        default=None, description="System prompt for this context instead of the session's."
    )
    drop_entry_ids: list[str] = Field(
        default_factory=list, description="Entries to leave out, such as a failed turn (`Directive.dropEntryId`)."
    )


class BuildContextResult(Reply):
    """Result of `session/buildContext`."""

    messages: list[JsonObject] = Field(description="Messages in order, in the format asked for.")
    format: ContextFormat = Field(description="Shape of the messages.")
    system_prompt: list[str] = Field(default_factory=list, description="System prompt parts that go with them.")
    model: str | None = Field(default=None, description="`provider/id` in force.")
    models: dict[str, str] = Field(default_factory=dict, description="`provider/id` by role.")
    thinking_level: str = Field(default="off", description="Reasoning effort in force.")
    service_tier: str | None = Field(default=None, description="Service tier in force.")
    mode: str = Field(default="none", description="Mode in force; `none` outside of one.")
    leaf_id: str | None = Field(default=None, description="End of the branch that was built.")
    usage: ContextUsage | None = Field(default=None, description="How full it is; absent for a transcript.")
    seq: int = Field(description="State of the session the answer shows.")


class ContextUsageParams(SessionParams):
    """Params of `session/contextUsage`."""

    leaf_id: str | None = Field(default=None, description="End of the branch; absent means the leaf.")
    model: str | None = Field(default=None, description="`provider/id` to measure for; absent means the session's.")
    pending_messages: list[MessageObject] = Field(
        default_factory=list, description="Messages about to be appended, counted in."
    )


class PrepareCompactionParams(SessionParams):
    """Params of `session/prepareCompaction`."""

    strategy: Strategy | None = Field(
        default=None, description="Strategy to plan for; absent means the configured one."
    )
    custom_instructions: str | None = Field(default=None, description="Instructions the compaction would be given.")
    model: str | None = Field(default=None, description="`provider/id` that would summarise.")

    @model_validator(mode="after")
    def _instructions_reach_somebody(self) -> "PrepareCompactionParams":
        if self.custom_instructions and self.strategy not in {None, "context-full"}:
            raise ValueError(f"{self.strategy} follows no instructions; leave out `strategy` or the instructions")
        return self


class PlanPart(Reply):
    """A stretch of the branch and what happens to it."""

    entries: int = Field(description="Entries in it.")
    messages: int = Field(description="Those of them that reach the model.")
    tokens: int = Field(description="Estimated tokens.")
    first_entry_id: str | None = Field(default=None, description="First entry; absent when the stretch is empty.")
    last_entry_id: str | None = Field(default=None, description="Last entry.")


class StrategyPlan(Reply):
    """What one strategy would cost and bring."""

    strategy: Strategy = Field(description="The strategy.")
    chosen: bool = Field(default=False, description="Whether `session/compact` with the same params would take it.")
    available: bool = Field(description="Whether it can run now.")
    unavailable_reason: str | None = Field(default=None, description="Why not, in a sentence.")
    model: str | None = Field(default=None, description="`provider/id` that would be called.")
    model_calls: int = Field(default=0, description="Calls to a model it needs.")
    input_tokens: int = Field(default=0, description="Estimated tokens those calls read.")
    output_tokens: int = Field(default=0, description="Most tokens those calls may write.")
    frames: int = Field(default=0, description="Frames it would attach.")
    tokens_after: int = Field(description="Estimated tokens of the context afterwards.")
    fits: bool = Field(description="Whether that is below the threshold.")
    cost: float | None = Field(default=None, description="Estimated US dollars of the calls; absent without prices.")
    next_request_cost: float | None = Field(
        default=None, description="Estimated US dollars of the next request, whose prefix the cache does not know."
    )


class PrepareCompactionResult(Reply):
    """Result of `session/prepareCompaction`: a plan; nothing was written and no model was asked."""

    possible: bool = Field(description="Whether there is anything to compact.")
    reason: Literal["already-compacted", "nothing-to-compact"] | None = Field(
        default=None, description="Error kind `session/compact` would answer with."
    )
    tokens_before: int = Field(description="Tokens of the context now.")
    context_window: int = Field(description="Window of the session's model in tokens; 0 when unknown.")
    threshold: int = Field(description="Tokens above which automatic maintenance starts.")
    keep_recent_tokens: int = Field(description="`compaction.keepRecentTokens` after adaption to measured usage.")
    first_kept_entry_id: str | None = Field(default=None, description="First entry that stays verbatim.")
    split_turn: bool = Field(default=False, description="Whether the cut falls inside a turn.")
    summarized: PlanPart | None = Field(default=None, description="What a summary replaces.")
    turn_prefix: PlanPart | None = Field(default=None, description="Beginning of the split turn, summarised apart.")
    kept: PlanPart | None = Field(default=None, description="What stays.")
    previous_summary: bool = Field(default=False, description="Whether an earlier summary is carried on.")
    files: FileLists = Field(default_factory=FileLists, description="Files the summary would list.")
    strategies: list[StrategyPlan] = Field(default_factory=list, description="Every strategy, side by side.")
    details: JsonObject = Field(default_factory=dict, description="Figures for a curious reader; names may change.")
