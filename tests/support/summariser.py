"""A `Completion` that answers from a script and remembers what it was asked, and short ways to write messages.

For tests of logic, not of wires.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel

from octavo_protocol.completion import CompletionRequest, CompletionResult, Model, OnProgress

Answer = str | CompletionResult | Exception | Callable[[CompletionRequest], str | CompletionResult]

HANG = CompletionResult((), "stop", error_message="hang")
"""An answer that never comes."""

GOOD = "## Goal\nKeep the tide tables right.\n\n## Next Steps\n1. Run the tests again."
"""A summary that passes every check."""


def said(text: str, **fields: Any) -> CompletionResult:
    """A finished answer of one text block."""
    return CompletionResult(({"type": "text", "text": text},), fields.pop("stop_reason", "stop"), **fields)


def failed(message: str | None = "boom", **fields: Any) -> CompletionResult:
    """An error that the provider reported."""
    return CompletionResult((), "error", error_message=message, **fields)


@dataclass
class Scripted:
    """Answers in order; the last answer repeats."""

    answers: list[Answer]
    requests: list[CompletionRequest] = field(default_factory=list)
    started: anyio.Event = field(default_factory=anyio.Event)

    @classmethod
    def of(cls, *answers: Answer) -> "Scripted":
        return cls(list(answers))

    async def complete(self, request: CompletionRequest, on_progress: OnProgress | None = None) -> CompletionResult:
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        self.started.set()
        await anyio.lowlevel.checkpoint()
        if callable(answer):
            answer = answer(request)
        if answer is HANG:
            await anyio.sleep_forever()
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, CompletionResult):
            return answer
        if on_progress is not None:
            on_progress(len(answer))
        return said(answer)

    def prompt(self, index: int) -> str:
        """The text of the last message of a request."""
        content = self.requests[index].messages[-1]["content"]
        return content if isinstance(content, str) else content[0]["text"]


def model(**fields: Any) -> Model:
    """A summarising model of a family without a dialect of its own."""
    return Model(**{"provider": "acme", "id": "acme-large", "api": "openai-completions", **fields})


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}, *calls], "stopReason": "stop"}


def call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def result(call_id: str, text: str, **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call_id, "toolName": "bash", "content": content, **fields}
