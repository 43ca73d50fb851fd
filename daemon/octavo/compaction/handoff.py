"""Have the session's own model write a handoff document from its live context.

The request repeats the live prefix (system prompt, tools, messages), so that the provider's cache serves it. Starting
the new session is the caller's. Source: engine.md §9 (handoff-01); known failure BR-082: every way to end without a
document has a reason of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from octavo import templates
from octavo.compaction.neutralise import Redactor, boundaries
from octavo.compaction.outcome import OnSummaryProgress, SummaryCall, SummaryProgress
from octavo.compaction.requests import SummaryRules, reasoning_effort
from octavo.compaction.writer import FAILURES, failure
from octavo.sessions.llm_messages import to_llm_messages
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Completion, CompletionRequest, CompletionResult, Model
from octavo_protocol.errors import ErrorKind, OctavoError

Reason: TypeAlias = Literal["empty_output", "tool_calls", "provider_error", "cancelled", "nothing_to_hand_off"]


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

    An empty or tool-calling answer is asked for once more; a provider that refuses `toolChoice: none` is asked with
    `auto`.

    Raises:
        OctavoError: `provider-error` (with `status`), `cancelled` when the call was aborted, `check-failed` when no
            document came twice, `nothing-to-compact` without messages; `details.reason` is one of `Reason`.
    """
    options = options or HandoffOptions()
    if options.rules is SummaryRules.OCTAVO and not messages:
        raise _failed(ErrorKind.NOTHING_TO_COMPACT, "Nothing to hand off (no messages yet)", "nothing_to_hand_off")
    return await _Asker(completion, model, options, on_progress).ask(messages)


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
        reason = self._fault(result)
        if reason is not None and self.options.rules is SummaryRules.OCTAVO:
            self.notices.append(f"the model gave no document ({reason}); asked again")
            remark = templates.render("summary-retry", reason=_EXPLAINED[reason])
            result = await self._call(live, f"{prompt}\n\n{remark}")
            if (again := self._fault(result)) is not None:
                text = f"{FAILURES['handoff']}: {self.model.ref} gave no document, {_EXPLAINED[again]}"
                raise _failed(ErrorKind.CHECK_FAILED, text, again, provider=self.model.provider)
        return Handoff(result.text, tuple(self.calls), tuple(self.notices), self.redactor.count)

    def _refuses_tool_choice(self, result: CompletionResult) -> bool:
        return (
            self.options.rules is SummaryRules.OCTAVO
            and self.tool_choice == "none"
            and result.stop_reason == "error"
            and result.error_status == 400
            and any(name in (result.error_message or "").lower() for name in _TOOL_CHOICE_NAMES)
        )

    def _fault(self, result: CompletionResult) -> Reason | None:
        if result.stop_reason == "error":
            error = failure("handoff", result, self.model)
            error.data.setdefault("details", {})["reason"] = "provider_error"
            raise error
        if result.stop_reason == "aborted" and self.options.rules is SummaryRules.OCTAVO:
            raise _failed(ErrorKind.CANCELLED, "Handoff cancelled", "cancelled")
        if result.text.strip():
            return None
        return "tool_calls" if any(block.get("type") == "toolCall" for block in result.content) else "empty_output"

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
_EXPLAINED: dict[Reason, str] = {
    "empty_output": "it held no text",
    "tool_calls": "it called tools instead of writing",
}


def _failed(kind: ErrorKind, message: str, reason: Reason, **data: str) -> OctavoError:
    return OctavoError(kind, message, details={"reason": reason}, **data)
