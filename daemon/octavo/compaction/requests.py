"""What is asked of a summarising model: prompt texts, output budgets, reasoning effort.

Assembles text only; sending it and judging the answer is `summarize`'s subject. Source: engine.md §7.2, §7.6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from octavo import templates
from octavo.compaction.neutralise import boundaries
from octavo_protocol.completion import Model

OUTPUT_CAP = 16384
"""Most output tokens a summary may be given, however large the reserve (engine.md §17 item 57)."""

BRANCH_OUTPUT_TOKENS = 2048


class SummaryRules(Enum):
    """`SEED` follows the seed to the letter; `OCTAVO` is better where the seed loses data (see `summarize`)."""

    SEED = "seed"
    OCTAVO = "octavo"


@dataclass(frozen=True, slots=True)
class OutputBudgets:
    """Output tokens of the three summaries."""

    history: int
    turn_prefix: int
    short: int


@dataclass(frozen=True, slots=True)
class PromptParts:
    """What surrounds the conversation in a prompt.

    `previous` is the summary to build on, `context` lines go into `<additional-context>`, `focus` is the user's own
    instruction, `language` an English language name, `remark` says why an earlier answer was refused.
    """

    base: str
    previous: str | None = None
    context: Sequence[str] = ()
    focus: str | None = None
    language: str | None = None
    remark: str | None = None

    def around(self, conversation: str) -> str:
        """Return the whole user message."""
        parts = [f"<conversation>\n{conversation}\n</conversation>\n\n"]
        if self.previous:
            parts.append(f"<previous-summary>\n{self.previous}\n</previous-summary>\n\n")
        if self.context:
            lines = "\n".join(f"- {line}" for line in self.context)
            parts.append(f"<additional-context>\n{lines}\n</additional-context>\n\n")
        parts.append(self.base)
        if self.language:
            parts.append("\n\n" + templates.render("summary-language", language=self.language))
        if self.focus:
            parts.append(f"\n\nAdditional focus: {self.focus}")
        if self.remark:
            parts.append("\n\n" + templates.render("summary-retry", reason=self.remark))
        return "".join(parts)

    def made_safe(self) -> "PromptParts":
        """Return the parts with every tag that could close a wrapper made harmless."""
        previous = boundaries(self.previous) if self.previous else self.previous
        return PromptParts(
            self.base, previous, tuple(map(boundaries, self.context)), self.focus, self.language, self.remark
        )


def system_prompt() -> str:
    """Return the system prompt of every summary."""
    return templates.render("summarization-system")


def output_budgets(reserve_tokens: int, model: Model, rules: SummaryRules) -> OutputBudgets:
    """Return the output budgets of a reserve: 0.8, 0.5 and 0.2 of it, the last at most 512 (vector compact-08).

    Ours are also bounded by `OUTPUT_CAP` and by what the model can put out.
    """
    cap = reserve_tokens
    if rules is SummaryRules.OCTAVO:
        cap = min(OUTPUT_CAP, model.max_output or OUTPUT_CAP)
    return OutputBudgets(
        history=min(cap, int(0.8 * reserve_tokens)),
        turn_prefix=min(cap, int(0.5 * reserve_tokens)),
        short=min(cap, 512, int(0.2 * reserve_tokens)),
    )


def reasoning_effort(level: str | None, model: Model) -> str | None:
    """Return the effort for a thinking level: "off" means none, unset means high, and the model sets the limits.

    A model without an effort dial gets none instead of an error; levels above "high" become "high".
    """
    if level == "off" or not model.reasoning:
        return None
    return level if level in {"minimal", "low", "medium", "high"} else "high"
