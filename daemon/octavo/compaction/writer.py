"""Get one text out of a summarising model: call it, fold input that does not fit, judge the answer, ask once more.

Knows prompts as parts and answers as text; which summaries a compaction needs is `summarize`'s subject. No call is
repeated verbatim: a retry says what was wrong, an overflow is answered with smaller pieces, and a timed-out or failed
call is left to the caller's list of candidates (known failures BR-052, BR-058, BR-073).
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import anyio.to_thread

from octavo.compaction.answers import MIN_LENGTH, Judge, Verdict
from octavo.compaction.dialects import dialect_of
from octavo.compaction.folding import SMALLEST_BUDGET, CountEach, newest_fitting, split_messages, window_budget
from octavo.compaction.neutralise import Redactor
from octavo.compaction.outcome import OnSummaryProgress, Phase, Source, SummaryCall, SummaryProgress
from octavo.compaction.remote import RemoteSummarizer
from octavo.compaction.requests import PromptParts, SummaryRules, system_prompt
from octavo.compaction.serialize import serialize_conversation, serialize_for_summary
from octavo.error_text.overflow import classify_text
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Completion, CompletionRequest, CompletionResult, Model
from octavo_protocol.errors import ErrorKind, OctavoError

MAX_HALVINGS = 8

IsOverflow = Callable[[str, int | None], bool]
"""Whether an error text (and HTTP status, if any) says that the input was too large."""


def is_token_overflow(text: str, status: int | None) -> bool:
    """Whether an error's words say that the input exceeds the window."""
    return classify_text(text, status) != "none"


FAILURES: dict[Phase, str] = {
    "history": "Summarization failed",
    "turnPrefix": "Turn prefix summarization failed",
    "short": "Short summary failed",
    "branch": "Branch summarization failed",
    "handoff": "Handoff generation failed",
}
"""How the seed begins the error of each call."""


class InputTooLargeError(Exception):
    """The provider says that the input exceeds its window."""


@dataclass(frozen=True, slots=True)
class Task:
    """One text to get.

    `base` gives the instruction, depending on the text to build on (folding makes one even when there was none);
    `newest_only` means that input which does not fit is cut to its newest part instead of being folded.
    """

    phase: Phase
    messages: Sequence[JsonObject]
    parts: PromptParts
    base: Callable[[str | None], str]
    max_tokens: int
    minimum: int = MIN_LENGTH
    newest_only: bool = False
    allow_remote: bool = True


@dataclass(slots=True)
class Writer:
    """Writes texts with one model (or a remote endpoint in front of it) and keeps the record of what happened."""

    completion: Completion
    model: Model
    count_each: CountEach
    is_overflow: IsOverflow
    reasoning: str | None = None
    reserve_tokens: int = 16384
    remote: RemoteSummarizer | None = None
    rules: SummaryRules = SummaryRules.OCTAVO
    on_progress: OnSummaryProgress | None = None
    calls: list[SummaryCall] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    redactor: Redactor = field(default_factory=Redactor)
    used: set[Source] = field(default_factory=set)

    async def write(self, task: Task) -> str:
        """Return the text.

        Raises:
            OctavoError: `provider-error` (with `status`), `context-overflow` when even small pieces do not fit,
                `check-failed` when the model twice gave nothing usable, `cancelled` when the call was aborted.
        """
        if self.rules is SummaryRules.SEED:
            return await self._once(task, task.messages, task.parts.previous, (1, 1))
        return await self._folded(task)

    async def _folded(self, task: Task) -> str:
        budget = window_budget(self.model.context_window, task.max_tokens, self.reserve_tokens)
        pieces = deque(await anyio.to_thread.run_sync(self._plan, task, budget))
        previous, done, halvings = task.parts.previous, 0, 0
        while pieces:
            piece = pieces.popleft()
            try:
                previous = await self._once(task, piece, previous, (done + 1, done + 1 + len(pieces)))
                done += 1
            except InputTooLargeError as error:
                halvings += 1
                size = await anyio.to_thread.run_sync(self._tokens, piece)
                budget = min(budget or size, size) // 2
                if halvings > MAX_HALVINGS or budget < SMALLEST_BUDGET:
                    raise OctavoError(
                        ErrorKind.CONTEXT_OVERFLOW,
                        f"{FAILURES[task.phase]}: even a small part of the input does not fit {self.model.ref}; "
                        "use a model with a larger window",
                        provider=self.model.provider,
                    ) from error
                smaller = await anyio.to_thread.run_sync(self._plan, replace(task, messages=piece), budget)
                pieces.extendleft(reversed(smaller))
        if done > 1:
            self.notices.append(
                f"the {task.phase} summary was folded over {done} calls, because its input was too large"
            )
        return previous or ""

    def _plan(self, task: Task, budget: int | None) -> list[list[JsonObject]]:
        messages = list(task.messages)
        if budget is None:
            return [messages]
        carried = self.count_each([task.parts.previous or "", *task.parts.context])
        room = max(budget - sum(carried), budget // 4, SMALLEST_BUDGET)
        if self._tokens(messages) <= room:
            return [messages]
        dialect = dialect_of(self.model.id)
        if task.newest_only:
            return [newest_fitting(messages, dialect, room, self.count_each)]
        return split_messages(messages, dialect, room, self.count_each)

    def _tokens(self, messages: Sequence[JsonObject]) -> int:
        return self.count_each([serialize_conversation(messages, dialect_of(self.model.id))])[0]

    async def _once(
        self, task: Task, messages: Sequence[JsonObject], previous: str | None, position: tuple[int, int]
    ) -> str:
        parts = replace(task.parts, previous=previous, base=task.base(previous))
        if self.rules is SummaryRules.SEED:
            conversation = serialize_conversation(messages, dialect_of(self.model.id))
            return await self._answer(task, parts.around(conversation), position)
        conversation = await anyio.to_thread.run_sync(serialize_for_summary, messages, dialect_of(self.model.id))
        parts = parts.made_safe()
        verdict = await self._judged(task, parts, conversation, position)
        if verdict.refusal is not None:
            self.notices.append(f"an answer for the {task.phase} summary was refused ({verdict.refusal}); asked again")
            # An endpoint that answers nonsense once gets no second chance; the model does.
            self.remote = None
            self.used.discard("remote")
            verdict = await self._judged(task, replace(parts, remark=verdict.refusal), conversation, position)
        if verdict.refusal is not None:
            raise OctavoError(
                ErrorKind.CHECK_FAILED,
                f"{FAILURES[task.phase]}: {self.model.ref} gave no usable text, {verdict.refusal}; "
                "choose another model or strategy",
                provider=self.model.provider,
                details={"check": "summary", "reason": verdict.refusal},
            )
        self.notices.extend(verdict.notices)
        return verdict.text

    async def _judged(self, task: Task, parts: PromptParts, conversation: str, position: tuple[int, int]) -> Verdict:
        prompt = await anyio.to_thread.run_sync(self.redactor.text, parts.around(conversation))
        answer = await self._answer(task, prompt, position)
        size = await anyio.to_thread.run_sync(self.count_each, [conversation, parts.previous or ""])
        judge = Judge((parts.base, system_prompt()), sum(size), lambda text: self.count_each([text])[0], task.minimum)
        return await anyio.to_thread.run_sync(judge.judge, answer)

    async def _answer(self, task: Task, prompt: str, position: tuple[int, int]) -> str:
        if self.remote is not None and task.allow_remote:
            try:
                answer = await self.remote.summarize(system_prompt(), prompt, max_tokens=task.max_tokens)
            except OctavoError as error:
                if self.rules is SummaryRules.SEED or error.kind is ErrorKind.CANCELLED:
                    raise
                self.calls.append(SummaryCall(task.phase, "remote", self.remote.name, "error"))
                self.notices.append(f"the remote endpoint failed ({error.message}); {self.model.ref} wrote the summary")
                # One failure is enough: the next texts of this compaction must not wait for the same timeout.
                self.remote = None
            else:
                self.calls.append(SummaryCall(task.phase, "remote", self.remote.name, "stop"))
                self.used.add("remote")
                return answer
        return await self._model_answer(task, prompt, position)

    async def _model_answer(self, task: Task, prompt: str, position: tuple[int, int]) -> str:
        request = CompletionRequest(
            model=self.model,
            system_prompt=(system_prompt(),),
            messages=({"role": "user", "content": [{"type": "text", "text": prompt}]},),
            max_tokens=task.max_tokens if task.max_tokens > 0 or self.rules is SummaryRules.SEED else None,
            reasoning=self.reasoning,
            purpose=task.phase,
        )

        def report(characters: int) -> None:
            if self.on_progress is not None:
                self.on_progress(SummaryProgress(task.phase, *position, characters, "model"))

        report(0)
        try:
            result = await self.completion.complete(request, report)
        except OctavoError as error:
            if error.kind is ErrorKind.CONTEXT_OVERFLOW and self.rules is SummaryRules.OCTAVO:
                raise InputTooLargeError from error
            raise
        self.calls.append(SummaryCall(task.phase, "model", self.model.ref, result.stop_reason, result.usage))
        self.used.add("model")
        return self._text(task, result)

    def _text(self, task: Task, result: CompletionResult) -> str:
        if result.stop_reason == "error":
            too_large = self.is_overflow(result.error_message or "", result.error_status)
            if too_large and self.rules is SummaryRules.OCTAVO:
                raise InputTooLargeError
            raise failure(task.phase, result, self.model)
        if self.rules is SummaryRules.OCTAVO:
            if result.stop_reason == "aborted":
                raise OctavoError(ErrorKind.CANCELLED, f"{FAILURES[task.phase]}: the model call was aborted")
            if result.stop_reason == "length":
                self.notices.append(f"the {task.phase} summary reached its output limit and may be cut short")
        return result.text


def failure(phase: Phase, result: CompletionResult, model: Model) -> OctavoError:
    """Return the error for a call that ended with one: its text, HTTP status and wait, and whether time ran out."""
    known = {
        "status": result.error_status,
        "retryAfterMs": result.retry_after_ms,
        "details": {"timedOut": True} if result.timed_out else None,
    }
    return OctavoError(
        ErrorKind.PROVIDER_ERROR,
        f"{FAILURES[phase]}: {result.error_message or 'Unknown error'}",
        provider=model.provider,
        **{key: value for key, value in known.items() if value is not None},
    )
