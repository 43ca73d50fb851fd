"""How full a session's context is, and how full it would be: the figures every decision of maintenance rests on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from octavo.compaction.prepare import Preparation, prepare_compaction
from octavo.maintenance.host import Host
from octavo.sessions.context import SessionContext, build_context
from octavo.tokens.breakdown import context_usage, measure_fixed
from octavo.tokens.thresholds import effective_reserve, resolve_threshold_tokens
from octavo.tokens.usage import ContextTokens, MeasuredAt, anchors_from, last_rewrite_ms, measure_context
from octavo_protocol.base import JsonObject
from octavo_protocol.methods.common import ContextUsage


def fixed_tokens(host: Host) -> int:
    """Tokens of the system prompt and the tools, which no compaction can make smaller (engine.md §4.4)."""
    return measure_fixed(host.system_prompt, host.tools).tokens


def window(host: Host) -> int:
    """The model's context window in tokens, 0 when unknown."""
    return host.model.context_window if host.model is not None else 0


def threshold(host: Host) -> int:
    """Tokens above which automatic maintenance starts, 0 when the window is unknown."""
    size = window(host)
    return int(resolve_threshold_tokens(size, host.settings.compaction) or 0)


def measured_at(host: Host, messages: Sequence[JsonObject]) -> MeasuredAt:
    """What a provider's measurement must agree with to describe these messages."""
    model = host.model
    return MeasuredAt(model.ref if model else None, window(host), last_rewrite_ms(messages), fixed_tokens(host))


def context_of(host: Host, path: Sequence[JsonObject]) -> SessionContext:
    """The context the session's model would be sent for a path."""
    provider = host.model.provider if host.model else None
    return build_context(path, provider=provider, archive_blocks=host.archives.blocks)


def measure(host: Host, path: Sequence[JsonObject], pending: Iterable[JsonObject] = ()) -> ContextTokens:
    """How full the context at the end of a path is, with messages that are about to be appended."""
    context = context_of(host, path)
    messages = [*context.messages, *pending]
    fresh = {entry.get("id") for entry in path[anchors_from(path) :]}
    first = next((i for i, entry_id in enumerate(context.entry_ids) if entry_id in fresh), len(context.messages))
    return measure_context(messages, host.estimator, measured_at(host, messages), anchors_from=first)


@dataclass(frozen=True, slots=True)
class Fill:
    """How full the next request would be, in tokens, as decisions see it.

    `tokens` is the larger of what the provider measured and our estimate without encrypted reasoning (`plain`): a
    request that something made smaller on its way must not hide how large the session is (engine.md §17c 105).
    """

    tokens: int
    plain: int
    measured: bool
    rejected: str | None = None

    def less(self, freed: int, plain_after: int) -> "Fill":
        """The same after `freed` tokens went."""
        return Fill(max(self.tokens - freed, plain_after), plain_after, self.measured, self.rejected)


NO_FILL = Fill(0, 0, measured=False)
"""Nothing was measured yet."""


def fill(host: Host, path: Sequence[JsonObject], pending: Sequence[JsonObject] = ()) -> Fill:
    """How full the next request is, with messages about to be appended. Counts tokens, so better in a thread."""
    now = measure(host, path, pending)
    weights = host.estimator.weigh([*context_of(host, path).messages, *pending])
    plain = fixed_tokens(host) + sum(weight.tokens - weight.opaque for weight in weights)
    # What the provider has not measured yet may hold encrypted reasoning, whose length says little of its price.
    unmeasured = sum(weight.opaque for weight in weights[now.anchor :]) if now.source == "usage" else 0
    return Fill(max(now.tokens - unmeasured, plain), plain, now.source == "usage", now.rejected)


def plain_estimate(host: Host, path: Sequence[JsonObject], pending: Sequence[JsonObject] = ()) -> int:
    """Local estimate of the next request in tokens, encrypted reasoning left out."""
    weights = host.estimator.weigh([*context_of(host, path).messages, *pending])
    return fixed_tokens(host) + sum(weight.tokens - weight.opaque for weight in weights)


def fits(host: Host, tokens: int) -> bool:
    """Whether a request of this many tokens leaves the reserve free; an unknown window takes anything."""
    size = window(host)
    return size <= 0 or tokens <= size - effective_reserve(size, host.settings.compaction)


def usage_now(host: Host, path: Sequence[JsonObject]) -> ContextUsage:
    """What directives say of the context."""
    usage = context_usage(
        path,
        context_of(host, path),
        host.model,
        host.settings.compaction,
        fixed=measure_fixed(host.system_prompt, host.tools),
        estimator=host.estimator,
    )
    return ContextUsage.model_validate(usage.to_wire())


def estimate(host: Host, path: Sequence[JsonObject]) -> int:
    """Local estimate of the whole next request for a path, system prompt and tools included."""
    return fixed_tokens(host) + host.estimator.total(context_of(host, path).messages)


def prepare(host: Host, path: Sequence[JsonObject]) -> Preparation | None:
    """Plan a compaction of a path with the session's settings and measurements; None when there is nothing to do.

    Builds a context and counts tokens, so call it in a thread.
    """
    at = measured_at(host, context_of(host, path).messages)
    return prepare_compaction(path, host.settings.compaction, estimator=host.estimator, at=at)
