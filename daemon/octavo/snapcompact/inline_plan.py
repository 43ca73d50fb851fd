"""Which tool results and whether the system prompt go out as frames in one request (snapcompact.md §8).

Pure decisions about numbers; `inline` measures the texts and rewrites the request. The same planner answers the
estimate of the context breakdown, so what is promised is what is done.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

SYSTEM_PROMPT_MAX_FRAMES = 6
TOOL_RESULT_MIN_TOKENS = 3000
SAVINGS_MARGIN = 0.9

Reason = Literal["last", "error", "image", "small", "empty", "budget", "margin", "no-user-message", "off"]
SystemPromptMode = Literal["none", "agents-md", "all"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that might be imaged: its price as text (tokens) and the frames it would take.

    `frame_tokens` is the price of those frames when it is known exactly; else frames × the flat estimate.
    """

    id: str
    text_tokens: int
    frames: int
    is_error: bool = False
    has_image: bool = False
    frame_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided for one candidate: `reason` is None when it is imaged, else why it stays text."""

    candidate: Candidate
    frame_tokens: int
    reason: Reason | None

    @property
    def imaged(self) -> bool:
        """Whether the text goes out as frames."""
        return self.reason is None

    @property
    def saved_tokens(self) -> int:
        """Text tokens minus frame tokens; 0 for a text that stays."""
        return self.candidate.text_tokens - self.frame_tokens if self.imaged else 0


@dataclass(frozen=True, slots=True)
class InlinePlan:
    """Decisions for every tool result, oldest first, and for the system prompt if there was one to decide on."""

    tool_results: tuple[Decision, ...]
    system_prompt: Decision | None

    @property
    def frames(self) -> int:
        """Frames the request will carry on top of the images it has."""
        return sum(decision.candidate.frames for decision in self._all() if decision.imaged)

    @property
    def saved_tokens(self) -> int:
        """Tokens the plan saves."""
        return sum(decision.saved_tokens for decision in self._all())

    def _all(self) -> tuple[Decision, ...]:
        return self.tool_results + ((self.system_prompt,) if self.system_prompt else ())


def plan_inline(
    *,
    tool_results: Sequence[Candidate],
    system_prompt: Candidate | None,
    budget: int,
    frame_token_estimate: int,
    has_user_message: bool,
    images_tool_results: bool,
    images_system_prompt: SystemPromptMode,
) -> InlinePlan:
    """Decide oldest to newest, never the last tool result; the system prompt gets what is left of the budget.

    `budget` is the provider's image limit minus the images already in the context; `frame_token_estimate` the price
    of one full frame in tokens. A candidate that does not fit is skipped, later smaller ones still get their chance.
    """
    left = budget
    decisions: list[Decision] = []
    for position, candidate in enumerate(tool_results):
        cost = _cost(candidate, frame_token_estimate)
        reason = _tool_result_reason(candidate, cost, left)
        if not images_tool_results:
            reason = "off"
        elif position == len(tool_results) - 1:
            reason = "last"
        decisions.append(Decision(candidate, cost, reason))
        left -= 0 if reason else candidate.frames
    decided = None
    if system_prompt is not None and images_system_prompt != "none":
        cost = _cost(system_prompt, frame_token_estimate)
        decided = Decision(system_prompt, cost, _system_reason(system_prompt, cost, left, has_user_message))
    return InlinePlan(tuple(decisions), decided)


def _cost(candidate: Candidate, frame_token_estimate: int) -> int:
    return candidate.frames * frame_token_estimate if candidate.frame_tokens is None else candidate.frame_tokens


def _tool_result_reason(candidate: Candidate, cost: int, left: int) -> Reason | None:
    if candidate.is_error:
        return "error"
    if candidate.has_image:
        return "image"
    if candidate.text_tokens < TOOL_RESULT_MIN_TOKENS:
        return "small"
    return _gate(candidate, cost, left)


def _system_reason(candidate: Candidate, cost: int, left: int, has_user_message: bool) -> Reason | None:
    if not has_user_message:
        return "no-user-message"
    return _gate(candidate, cost, min(left, SYSTEM_PROMPT_MAX_FRAMES))


def _gate(candidate: Candidate, cost: int, left: int) -> Reason | None:
    if candidate.frames <= 0:
        return "empty"
    if candidate.frames > left:
        return "budget"
    return None if cost <= SAVINGS_MARGIN * candidate.text_tokens else "margin"
