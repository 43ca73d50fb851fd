"""Which strategy makes a summary, in which order others step in, and why each one could not.

A strategy asked for by name runs or fails; it never quietly becomes another (BR-079). The configured strategy may be
followed by others, and each step aside is told in a notice. Source: engine.md §13.4, snapcompact.md §7.3.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from octavo.compaction.extractive import summarize_locally
from octavo.compaction.outcome import SummaryProgress
from octavo.compaction.prepare import Preparation
from octavo.compaction.summarize import SummaryOptions, summarize
from octavo.error_text.overflow import classify_text
from octavo.maintenance.candidates import candidates, first_success
from octavo.maintenance.drafts import Draft, Report, no_report
from octavo.maintenance.framing import can_frame, frame_draft
from octavo.maintenance.gate import Judged
from octavo.maintenance.host import Host
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.common import Reason, Strategy

_STEPS_ASIDE = {
    ErrorKind.NO_MODEL,
    ErrorKind.PROVIDER_ERROR,
    ErrorKind.CONTEXT_OVERFLOW,
    ErrorKind.STRATEGY_UNAVAILABLE,
    ErrorKind.CHECK_FAILED,
    ErrorKind.NOT_AVAILABLE,
}
"""Failures of one strategy after which the next in line may try."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for: why, by which strategy and model, with which instructions."""

    reason: Reason
    strategy: Strategy | None = None
    custom_instructions: str | None = None
    model: str | None = None

    @property
    def manual(self) -> bool:
        """Whether a user asked."""
        return self.reason == "manual"


@dataclass(frozen=True, slots=True)
class HookContext:
    """What a `sessionCompacting` hook added."""

    context: Sequence[str] = ()
    prompt: str | None = None
    preserve_data: JsonObject | None = None


@dataclass(slots=True)
class Maker:
    """Makes a draft for one preparation."""

    host: Host
    preparation: Preparation
    wish: Wish
    hook: HookContext = field(default_factory=HookContext)
    report: Report = no_report
    notices: list[str] = field(default_factory=list)

    async def make(self, passes: Callable[[Draft], Awaitable[Judged]]) -> Judged:
        """Run the strategies in line until one gives a draft that passes the checks.

        Args:
            passes: The checks; raises `check-failed` for a draft that must not be written.

        Raises:
            OctavoError: The first strategy's error when none of them could; `no-model` when nothing may run.
        """
        line = in_line(self.host, self.wish)
        first_error: OctavoError | None = None
        for position, strategy in enumerate(line):
            try:
                judged = await passes(await self._run(strategy))
            except OctavoError as error:
                if error.kind not in _STEPS_ASIDE:
                    raise
                first_error = first_error or error
                if position + 1 < len(line):
                    self._step_aside(strategy, line[position + 1], error)
                continue
            told = replace(judged.draft, notices=(*self.notices, *judged.draft.notices))
            return replace(judged, draft=told)
        assert first_error is not None
        raise first_error

    def _step_aside(self, strategy: Strategy, following: Strategy, error: OctavoError) -> None:
        self.notices.append(f"{strategy} could not run ({error.message.rstrip('.')}); {following} is tried instead")
        self.report("prepare", self.notices[-1])

    async def _run(self, strategy: Strategy) -> Draft:
        if strategy == "snapcompact":
            return await frame_draft(self.host, self.preparation, self.report)
        if strategy == "extractive":
            return await self._local()
        return await self._by_model()

    async def _local(self) -> Draft:
        import anyio.to_thread  # noqa: PLC0415 - beside its only use

        outcome = await anyio.to_thread.run_sync(summarize_locally, self.preparation, abandon_on_cancel=True)
        return Draft.from_outcome(outcome, "extractive", None)

    async def _by_model(self) -> Draft:
        def failed(model: Model, error: OctavoError, then: str) -> None:
            verb = "is tried again" if then == "retry" else "is given up"
            self.notices.append(f"{model.ref} {verb}: {error.message}")
            self.report("summary", self.notices[-1])

        async def attempt(model: Model) -> Draft:
            outcome = await summarize(
                self.preparation,
                self.host.completion,
                model,
                self._options(),
                remote=self.host.remote_summarizer(),
                native=await self.host.native_compactor(model),
                on_progress=self._progress,
            )
            return Draft.from_outcome(outcome, "context-full", model.ref)

        _, draft = await first_success(
            summary_models(self.host, self.wish),
            attempt,
            self.host.settings.retry,
            any_failure=not self.wish.manual,
            on_failure=failed,
        )
        return draft

    def _options(self) -> SummaryOptions:
        language = self.host.settings.language
        return SummaryOptions(
            custom_instructions=self.wish.custom_instructions,
            extra_context=self.hook.context,
            prompt_override=self.hook.prompt,
            hook_preserve_data=self.hook.preserve_data,
            thinking_level=thinking_level(self.host),
            system_prompt=self.host.system_prompt,
            language=None if language == "auto" else language,
            archived_text=_archived_text(self.preparation),
            is_overflow=_is_overflow,
        )

    def _progress(self, progress: SummaryProgress) -> None:
        phase = {"history": "summary", "short": "shortSummary"}.get(progress.phase, progress.phase)
        of = f" ({progress.piece} of {progress.pieces})" if progress.pieces > 1 else ""
        self.report(phase, f"{phase}{of}", tokensOut=progress.characters // 4)


def in_line(host: Host, wish: Wish) -> list[Strategy]:
    """The strategies to try for a wish, in order; one asked for by name stands alone."""
    if wish.strategy is not None:
        return [wish.strategy]
    directed = bool(wish.custom_instructions)
    configured = host.settings.compaction.strategy
    if configured == "extractive" and not directed:
        return ["extractive"]
    line: list[Strategy] = ["context-full"]
    if configured == "snapcompact" and not directed:
        line.insert(0, "snapcompact")
    if _may_fall_back(host, wish):
        if configured != "snapcompact" and can_frame(host.model):
            line.append("snapcompact")
        line.append("extractive")
    return line


def _may_fall_back(host: Host, wish: Wish) -> bool:
    """Whether the local strategies may stand in for a model (`compaction.localFallback`)."""
    rule = host.settings.compaction.local_fallback
    if rule == "never":
        return False
    # A user who asked without any model at hand wants the result, not a lecture on credentials.
    helpless = wish.manual and wish.model is None and not summary_models(host, wish)
    return rule == "always" or wish.reason == "overflow" or helpless


def summary_models(host: Host, wish: Wish) -> list[Model]:
    """The models that may write the summary, in the order they are tried.

    Raises:
        OctavoError: `no-model` when one was named that nobody knows.
    """
    settings = host.settings
    named = wish.model or settings.compaction.model
    preferred = host.find_model(named) if named else None
    if named and preferred is None:
        raise OctavoError(ErrorKind.NO_MODEL, f"No model {named} is known; register it or name another.")
    if wish.model or not settings.retry.model_fallback:
        only = preferred or host.model
        return [only] if only is not None and host.reachable(only) else []
    return candidates(host.model, settings.model_roles, host.find_model, host.models(), host.reachable, preferred)


def thinking_level(host: Host) -> str | None:
    """The reasoning effort in force on the branch; None when no change ever set one."""
    levels = (entry.get("thinkingLevel") or "off" for entry in reversed(host.session.branch()) if _is_level(entry))
    return next((str(level) for level in levels), None)


def _is_level(entry: JsonObject) -> bool:
    return entry.get("type") == "thinking_level_change"


def _is_overflow(text: str, status: int | None) -> bool:
    return classify_text(text, status) == "tokens"


def _archived_text(preparation: Preparation) -> str | None:
    from octavo.snapcompact.archive import archive_text, read_archive  # noqa: PLC0415 - frames are rare

    archive = read_archive(preparation.previous_preserve_data)
    return archive_text(archive) or None if archive is not None else None
