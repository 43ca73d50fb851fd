"""The one narrow door to a model: a request, a stream of progress, a result.

Providers implement `Completion`; everything that summarises receives one and knows no provider.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from octavo_protocol.base import JsonObject

StopReason = Literal["stop", "length", "toolUse", "error", "aborted"]
Api = Literal[
    "anthropic-messages",
    "openai-completions",
    "openai-responses",
    "openai-codex-responses",
    "google-generative-ai",
]


@dataclass(frozen=True, slots=True)
class Model:
    """What the daemon knows of a model.

    `context_window` and `max_output` are tokens, 0 when unknown. `inputs` holds "text" and perhaps "image".
    `api` is the wire the provider speaks (any string is kept; unknown ones are reachable through the client only).
    `prices` are USD per million tokens: input, output, cacheRead, cacheWrite.
    """

    provider: str
    id: str
    api: str = ""
    context_window: int = 0
    max_output: int = 0
    inputs: tuple[str, ...] = ("text",)
    reasoning: bool = False
    base_url: str | None = None
    prices: JsonObject = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """`provider/id`, the form entries and settings use."""
        return f"{self.provider}/{self.id}"

    @property
    def accepts_images(self) -> bool:
        """Whether image blocks may be sent to this model."""
        return "image" in self.inputs


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One model call.

    `messages` are LLM messages (roles user, developer, assistant, toolResult) as `sessions.llm_messages` makes them.
    `reasoning` is an effort name ("minimal" … "high") or None for no reasoning.
    """

    model: Model
    system_prompt: tuple[str, ...]
    messages: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...] = ()
    tool_choice: Literal["auto", "none"] | None = None
    max_tokens: int | None = None
    reasoning: str | None = None
    purpose: str = "summary"


@dataclass(frozen=True, slots=True)
class CompletionResult:
    """What came back: content blocks (text, thinking, toolCall), why it stopped, and usage if reported.

    `timed_out` marks an error that must not be repeated on the same model: the call was given its time and used it.
    """

    content: tuple[JsonObject, ...]
    stop_reason: StopReason
    usage: JsonObject | None = None
    error_message: str | None = None
    error_status: int | None = None
    retry_after_ms: int | None = None
    timed_out: bool = False

    @property
    def text(self) -> str:
        """The text blocks joined by newlines; reasoning is not text."""
        return "\n".join(b["text"] for b in self.content if b.get("type") == "text")


OnProgress = Callable[[int], None]
"""Called with the number of output characters received so far."""


class Completion(Protocol):
    """Anything that can answer a `CompletionRequest`.

    An error the provider reports comes back as a result with `stop_reason="error"`, a message without secrets, and
    the HTTP status when there was one. Missing credentials raise `OctavoError(no-model)`. Cancelling the surrounding
    anyio scope ends the call at once and closes its connection.
    """

    async def complete(self, request: CompletionRequest, on_progress: OnProgress | None = None) -> CompletionResult:
        """Run one model call to its end."""
        ...
