"""How full a context is, of what it consists, and how large the request would be.

Puts the measurement, the estimate, the threshold and the model side by side; decides nothing. Source: engine.md §4.4,
protocol.md `session/contextUsage`. Known failures covered: BR-040 (never NaN, never beyond 100 %), BR-055, BR-064.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from octavo.sessions.context import SessionContext
from octavo.tokens.counting import count_each
from octavo.tokens.estimate import Counter, Estimator, Weight
from octavo.tokens.js_json import stringify
from octavo.tokens.models import WindowSource
from octavo.tokens.thresholds import ThresholdSettings, known_window, resolve_threshold_tokens
from octavo.tokens.usage import MeasuredAt, anchors_from, last_rewrite_ms, measure_context
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model

_MESSAGE_OVERHEAD_BYTES = 100
_KINDS = {
    "compactionSummary": "summary",
    "branchSummary": "summary",
    "assistant": "assistant",
    "toolResult": "tool_results",
    "bashExecution": "tool_results",
    "pythonExecution": "tool_results",
}


@dataclass(frozen=True, slots=True)
class FixedParts:
    """Tokens and bytes of what goes with every request beside the messages: system prompt and tools."""

    system: int = 0
    tools: int = 0
    size_bytes: int = 0

    @property
    def tokens(self) -> int:
        """Both together."""
        return self.system + self.tools


@dataclass(slots=True)
class Breakdown:
    """Estimated tokens by kind of content."""

    system: int = 0
    tools: int = 0
    summary: int = 0
    frames: int = 0
    user: int = 0
    assistant: int = 0
    tool_results: int = 0

    @property
    def total(self) -> int:
        """Everything."""
        return sum(self.to_wire().values())

    def to_wire(self) -> dict[str, int]:
        """Return the object of `session/contextUsage`."""
        return {
            "system": self.system,
            "tools": self.tools,
            "summary": self.summary,
            "frames": self.frames,
            "user": self.user,
            "assistant": self.assistant,
            "toolResults": self.tool_results,
        }


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """How full a context is.

    `tokens` comes from a measurement (`source` "usage") or from the estimate; `rejected` says why a measurement was
    not used. `threshold` and `percent` (0-100) are None when the window is unknown. `opaque_tokens` is the part of the
    estimate that is encrypted reasoning. `request_bytes` is about what the messages and fixed parts take as JSON,
    `image_bytes` the share of images in it.
    """

    tokens: int
    source: Literal["usage", "estimate"]
    context_window: int
    window_source: WindowSource
    threshold: float | None
    percent: float | None
    model: str | None
    opaque_tokens: int
    request_bytes: int
    image_bytes: int
    rejected: str | None = None
    breakdown: Breakdown = field(default_factory=Breakdown)

    def to_wire(self) -> JsonObject:
        """Return the object of `session/contextUsage`, absent values left out."""
        wire: JsonObject = {
            "tokens": self.tokens,
            "source": self.source,
            "contextWindow": self.context_window,
            "threshold": 0 if self.threshold is None else math.floor(self.threshold),
            "windowSource": self.window_source,
            "opaqueTokens": self.opaque_tokens,
            "requestBytes": self.request_bytes,
            "imageBytes": self.image_bytes,
            "breakdown": self.breakdown.to_wire(),
        }
        optional = {"percent": self.percent, "model": self.model, "rejected": self.rejected}
        return wire | {key: value for key, value in optional.items() if value is not None}


def measure_fixed(
    system_prompt: str | Sequence[str] | None, tools: Sequence[Any] | None, count: Counter = count_each
) -> FixedParts:
    """Weigh a system prompt (one text or its parts) and tools (`name`, `description`, `parameters`)."""
    prompts = [system_prompt] if isinstance(system_prompt, str) else list(system_prompt or ())
    described = [text for tool in tools or () for text in _tool_texts(tool)]
    counts = count([*prompts, *described])
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in [*prompts, *described])
    return FixedParts(sum(counts[: len(prompts)]), sum(counts[len(prompts) :]), size)


def context_usage(
    path: Sequence[JsonObject],
    context: SessionContext,
    model: Model | None,
    settings: ThresholdSettings,
    *,
    fixed: FixedParts | None = None,
    estimator: Estimator | None = None,
    window_source: WindowSource = "unknown",
    not_before_ms: float = -math.inf,
) -> ContextUsage:
    """Return how full the context at the end of a path is.

    Args:
        path: Entries from the root to the leaf.
        context: What `build_context` made of the path for the model.
        model: The model that will be called; None when none is selected.
        settings: The compaction settings.
        fixed: System prompt and tools, as far as they are known.
        estimator: The session's own, so that messages are weighed once.
        window_source: Who said how large the window is.
        not_before_ms: When the context was last rewritten in a way that left no trace in it (epoch ms).
    """
    fixed, estimator = fixed or FixedParts(), estimator or Estimator()
    weights = estimator.weigh(context.messages)
    window = model.context_window if model is not None and known_window(model.context_window) else 0
    at = MeasuredAt(
        model=model.ref if model is not None else None,
        window=window,
        not_before_ms=max(not_before_ms, last_rewrite_ms(context.messages)),
        fixed_tokens=fixed.tokens,
    )
    measured = measure_context(context.messages, estimator, at, anchors_from=first_fresh(path, context))
    image_bytes = sum(weight.image_bytes for weight in weights)
    text_bytes = sum(weight.text_bytes for weight in weights) + _MESSAGE_OVERHEAD_BYTES * len(weights)
    return ContextUsage(
        tokens=measured.tokens,
        source=measured.source,
        context_window=window,
        window_source=window_source if window else "unknown",
        threshold=resolve_threshold_tokens(window, settings),
        percent=percent_of(measured.tokens, window),
        model=at.model,
        opaque_tokens=sum(weight.opaque for weight in weights),
        request_bytes=image_bytes + text_bytes + fixed.size_bytes,
        image_bytes=image_bytes,
        rejected=measured.rejected,
        breakdown=break_down(context.messages, weights, fixed),
    )


def break_down(messages: Sequence[Any], weights: Sequence[Weight], fixed: FixedParts) -> Breakdown:
    """Return where the estimated tokens go."""
    parts = Breakdown(system=fixed.system, tools=fixed.tools)
    for message, weight in zip(messages, weights, strict=True):
        role = message.get("role") if isinstance(message, dict) else None
        kind = _KINDS.get(role, "user") if isinstance(role, str) else "user"
        setattr(parts, kind, getattr(parts, kind) + weight.tokens - weight.frames)
        parts.frames += weight.frames
    return parts


def percent_of(tokens: float, window: float) -> float | None:
    """Return tokens as a percentage of the window, 0 to 100; None when either is no number to reckon with."""
    if not known_window(window) or not math.isfinite(tokens):
        return None
    return min(100.0, max(0.0, tokens / window * 100))


def first_fresh(path: Sequence[JsonObject], context: SessionContext) -> int:
    """Return the index of the first message that was written after the latest compaction."""
    start = anchors_from(path)
    if start == 0:
        return 0
    fresh = {entry.get("id") for entry in path[start:]}
    return next((i for i, entry_id in enumerate(context.entry_ids) if entry_id in fresh), len(context.messages))


def _tool_texts(tool: Any) -> list[str]:
    if not isinstance(tool, dict):
        return []
    texts = [tool[key] for key in ("name", "description") if isinstance(tool.get(key), str)]
    schema = tool.get("parameters", tool.get("inputSchema"))
    return [*texts, stringify(schema)] if schema is not None else texts
