"""Have the session's own model write a handoff document from its live context.

The request repeats the live prefix (system prompt, tools, messages), so that the provider's cache serves it. Starting
the new session is the caller's. Source: engine.md §9 (handoff-01); known failure BR-082: every way to end without a
document has a reason of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import anyio.to_thread

from octavo import templates
from octavo.compaction.answers import Judge, without_reasoning
from octavo.compaction.neutralise import Redactor, boundaries
from octavo.compaction.outcome import OnSummaryProgress, SummaryCall, SummaryProgress
from octavo.compaction.requests import SummaryRules, reasoning_effort
from octavo.compaction.writer import FAILURES, failure
from octavo.sessions.llm_messages import to_llm_messages
from octavo.tokens.counting import count_tokens
from octavo.tokens.estimate import Estimator
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Completion, CompletionRequest, CompletionResult, Model
from octavo_protocol.errors import ErrorKind, OctavoError

Reason: TypeAlias = Literal[
    "empty_output", "tool_calls", "unusable_output", "provider_error", "cancelled", "nothing_to_hand_off"
]


@dataclass(frozen=True, slots=True)
class HandoffOptions:
    """What the live context consists of besides its messages, and what to stress."""

    system_prompt: Sequence[str] = ()
    tools: Sequence[JsonObject] = ()
    custom_instructions: str | None = None
    thinking_level: str | None = None
    rules: SummaryRules = SummaryRules.OCTAVO


@dataclass(frozen=True, slots=True)
class Handoff:
    """A document, and what it took to get it."""

    document: str
    calls: tuple[SummaryCall, ...] = ()
    notices: tuple[str, ...] = ()
    redactions: int = 0

    @property
    def context_text(self) -> str:
        """The content of the `handoff` custom message that opens the new session."""
        return templates.render("handoff-context", document=boundaries(self.document))


async def generate_handoff(
    messages: Sequence[JsonObject],
    completion: Completion,
    model: Model,
    options: HandoffOptions | None = None,
    *,
    on_progress: OnSummaryProgress | None = None,
) -> Handoff:
    """Return the handoff document for the live agent messages.

    An empty, tool-calling or otherwise unusable answer (tool markup, a conversation carried on, a document larger than
    what it hands over or half the window) is asked for once more; a provider that refuses `toolChoice: none` is
    asked with `auto`.

    Raises:
        OctavoError: `provider-error` (with `status`), `cancelled` when the call was aborted, `check-failed` when no
            document came twice, `nothing-to-compact` without messages; `details.reason` is one of `Reason`.
    """
    options = options or HandoffOptions()
    if options.rules is SummaryRules.OCTAVO and not messages:
        raise _failed(ErrorKind.NOTHING_TO_COMPACT, "Nothing to hand off (no messages yet)", "nothing_to_hand_off")
    return await _Asker(completion, model, options, on_progress).ask(messages)


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why an answer is no document: for programs, and in words."""

    reason: Reason
    why: str


class _Asker:
    def __init__(
        self, completion: Completion, model: Model, options: HandoffOptions, on_progress: OnSummaryProgress | None
    ) -> None:
        self.completion = completion
        self.model = model
        self.options = options
        self.on_progress = on_progress
        self.redactor = Redactor()
        self.calls: list[SummaryCall] = []
        self.notices: list[str] = []
        self.tool_choice: Literal["auto", "none"] = "none"

    async def ask(self, messages: Sequence[JsonObject]) -> Handoff:
        prompt = templates.render("handoff-document", focus=self.options.custom_instructions)
        live = to_llm_messages(messages)
        if self.options.rules is SummaryRules.OCTAVO:
            live = [self.redactor.message(message) for message in live]
        result = await self._call(live, prompt)
        if self._refuses_tool_choice(result):
            self.tool_choice = "auto"
            self.notices.append(f"{self.model.ref} does not take toolChoice none; asked again with auto")
            result = await self._call(live, prompt)
        if self.options.rules is SummaryRules.SEED:
            self._raise_failure(result)
            return Handoff(result.text, tuple(self.calls), tuple(self.notices), self.redactor.count)
        judge = await anyio.to_thread.run_sync(self._judge, live, prompt)
        fault = await self._fault(result, judge)
        if fault is not None:
            self.notices.append(f"the model gave no document ({fault.why}); asked again")
            remark = templates.render("summary-retry", reason=fault.why)
            result = await self._call(live, f"{prompt}\n\n{remark}")
            if (again := await self._fault(result, judge)) is not None:
                text = f"{FAILURES['handoff']}: {self.model.ref} gave no document, {again.why}"
                raise _failed(ErrorKind.CHECK_FAILED, text, again.reason, provider=self.model.provider)
        if result.stop_reason == "length":
            self.notices.append("the handoff document reached the model's output limit and may be cut short")
        document = without_reasoning(result.text)
        return Handoff(document, tuple(self.calls), tuple(self.notices), self.redactor.count)

    def _judge(self, live: Sequence[JsonObject], prompt: str) -> Judge:
        size = Estimator().total(live)
        if self.model.context_window:
            # The document opens the next session, which must have room left for the work.
            size = min(size, self.model.context_window // 2)
        return Judge((prompt,), size, count_tokens, minimum=1)

    def _refuses_tool_choice(self, result: CompletionResult) -> bool:
        return (
            self.options.rules is SummaryRules.OCTAVO
            and self.tool_choice == "none"
            and result.stop_reason == "error"
            and result.error_status == 400
            and any(name in (result.error_message or "").lower() for name in _TOOL_CHOICE_NAMES)
        )

    def _raise_failure(self, result: CompletionResult) -> None:
        if result.stop_reason == "error":
            error = failure("handoff", result, self.model)
            error.data.setdefault("details", {})["reason"] = "provider_error"
            raise error
        if result.stop_reason == "aborted" and self.options.rules is SummaryRules.OCTAVO:
            raise _failed(ErrorKind.CANCELLED, "Handoff cancelled", "cancelled")

    async def _fault(self, result: CompletionResult, judge: Judge) -> _Fault | None:
        self._raise_failure(result)
        if not result.text.strip():
            if any(block.get("type") == "toolCall" for block in result.content):
                return _Fault("tool_calls", "it called tools instead of writing")
            return _Fault("empty_output", "it held no text")
        verdict = await anyio.to_thread.run_sync(judge.judge, result.text)
        return None if verdict.refusal is None else _Fault("unusable_output", verdict.refusal)

    async def _call(self, live: Sequence[JsonObject], prompt: str) -> CompletionResult:
        question = {"role": "user", "content": [{"type": "text", "text": prompt}], "attribution": "agent"}
        request = CompletionRequest(
            model=self.model,
            system_prompt=tuple(self.options.system_prompt),
            messages=(*live, question),
            tools=tuple(self.options.tools),
            tool_choice=self.tool_choice,
            reasoning=reasoning_effort(self.options.thinking_level, self.model),
            purpose="handoff",
        )

        def report(characters: int) -> None:
            if self.on_progress is not None:
                self.on_progress(SummaryProgress("handoff", 1, 1, characters, "model"))

        report(0)
        result = await self.completion.complete(request, report)
        self.calls.append(SummaryCall("handoff", "model", self.model.ref, result.stop_reason, result.usage))
        return result


_TOOL_CHOICE_NAMES = ("tool_choice", "toolchoice", "tool choice")


def _failed(kind: ErrorKind, message: str, reason: Reason, **data: str) -> OctavoError:
    return OctavoError(kind, message, details={"reason": reason}, **data)
