"""Summarise a branch that is being left: choose what fits from the newest back, then ask a model.

Which entries were abandoned is `sessions.branching`'s subject, moving the leaf is the caller's. Source: engine.md §7.6
(branch-01…03, fx-11), seed.md "Branch summarization pipeline".

`SummaryRules.OCTAVO` deviates from the seed: useful tool results take part, cut to 2000 characters and weighed at that
size; the preamble stands on its own line; the answer is judged and asked for once more; an abort is an error of kind
`cancelled`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio.to_thread

from octavo import templates
from octavo.compaction.entry_messages import entry_message
from octavo.compaction.file_operations import (
    FileOps,
    FileRules,
    collect_from_message,
    file_lists,
    seed_from_details,
    upsert_files,
)
from octavo.compaction.folding import CountEach
from octavo.compaction.language import detect_language
from octavo.compaction.outcome import OnSummaryProgress, SummaryCall
from octavo.compaction.requests import BRANCH_OUTPUT_TOKENS, PromptParts, SummaryRules
from octavo.compaction.serialize import is_useless, text_of, truncate_tool_result
from octavo.compaction.writer import IsOverflow, Task, Writer, is_token_overflow
from octavo.sessions.ids import epoch_ms
from octavo.sessions.llm_messages import to_llm_messages
from octavo.tokens.counting import count_each
from octavo.tokens.estimate import EstimateRules, Estimator
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Completion, Model

DEFAULT_WINDOW = 128_000
NOTHING = "No content to summarize"


@dataclass(frozen=True, slots=True)
class BranchPreparation:
    """What of a branch is summarised: agent messages in order, their estimated tokens, and the files touched."""

    messages: list[JsonObject]
    file_ops: FileOps
    total_tokens: int


@dataclass(frozen=True, slots=True)
class BranchOptions:
    """How to summarise a branch.

    Attributes:
        custom_instructions: The user's prompt, used instead of the standard one.
        reserve_tokens: Tokens of the window the input leaves free.
        language: English name of the language to write in; None detects it.
        is_overflow: Recognises a provider's overflow error.
        count_each: Counts tokens.
        rules: The seed's or ours.
    """

    custom_instructions: str | None = None
    reserve_tokens: int = 16384
    language: str | None = None
    is_overflow: IsOverflow = is_token_overflow
    count_each: CountEach = count_each
    rules: SummaryRules = SummaryRules.OCTAVO


@dataclass(frozen=True, slots=True)
class BranchSummary:
    """The content of a branch_summary entry, not yet written."""

    summary: str
    read_files: list[str] = field(default_factory=list)
    modified_files: list[str] = field(default_factory=list)
    calls: tuple[SummaryCall, ...] = ()
    notices: tuple[str, ...] = ()
    redactions: int = 0

    @property
    def details(self) -> JsonObject:
        """What the entry stores under `details`."""
        return {"readFiles": self.read_files, "modifiedFiles": self.modified_files}


def prepare_branch_entries(
    entries: Sequence[JsonObject],
    budget: int,
    rules: SummaryRules = SummaryRules.OCTAVO,
    estimator: Estimator | None = None,
) -> BranchPreparation:
    """Choose from the newest back what fits a budget of tokens; 0 or less means everything.

    A summary at the edge of the budget is taken although it does not fit, as long as nine tenths are not used up.
    """
    seed = rules is SummaryRules.SEED
    estimator = estimator or Estimator(EstimateRules.SEED if seed else EstimateRules.OCTAVO)
    ops = FileOps()
    for entry in entries:
        if entry.get("type") == "branch_summary" and not entry.get("fromExtension"):
            seed_from_details(entry.get("details"), ops)
    chosen: list[JsonObject] = []
    total = 0
    for entry in reversed(entries):
        message = _message_of(entry, seed=seed)
        if message is None:
            continue
        # Before the budget: the calls of the message that no longer fits still count (seed).
        collect_from_message(message, ops)
        tokens = estimator.tokens(message if seed else _as_shown(message))
        if budget > 0 and total + tokens > budget:
            if entry.get("type") in {"compaction", "branch_summary"} and total < budget * 0.9:
                chosen.append(message)
                total += tokens
            break
        chosen.append(message)
        total += tokens
    chosen.reverse()
    return BranchPreparation(chosen, ops, total)


async def summarize_branch(
    entries: Sequence[JsonObject],
    completion: Completion,
    model: Model,
    options: BranchOptions | None = None,
    *,
    on_progress: OnSummaryProgress | None = None,
) -> BranchSummary:
    """Summarise the entries of a branch; without anything to say no model is called.

    Raises:
        OctavoError: As `Writer.write`; nothing has been changed then.
    """
    options = options or BranchOptions()
    seed = options.rules is SummaryRules.SEED
    budget = (model.context_window or DEFAULT_WINDOW) - options.reserve_tokens
    # A budget of 0 or less would mean "everything": a tiny window must not ask for that.
    budget = budget if seed else max(budget, (model.context_window or DEFAULT_WINDOW) // 4)
    prepared = await anyio.to_thread.run_sync(prepare_branch_entries, entries, budget, options.rules)
    messages = to_llm_messages(prepared.messages)
    if not messages:
        return BranchSummary(NOTHING)
    prompt = options.custom_instructions or templates.render("branch-summary")
    language = None if seed else options.language or detect_language(messages)
    writer = Writer(
        completion,
        model,
        options.count_each,
        options.is_overflow,
        reserve_tokens=options.reserve_tokens,
        rules=options.rules,
        on_progress=on_progress,
    )
    parts = PromptParts(prompt, language=language)
    task = Task("branch", messages, parts, lambda _: prompt, BRANCH_OUTPUT_TOKENS, newest_only=True)
    text = await writer.write(task)
    lists = file_lists(prepared.file_ops, FileRules.SEED if seed else FileRules.OCTAVO)
    preamble = templates.render("branch-summary-preamble").rstrip("\n")
    body = f"{preamble}{text}" if seed else f"{preamble}\n\n{text}"
    return BranchSummary(
        upsert_files(body, lists.read_files, lists.modified_files, prepared.file_ops.read),
        lists.read_files,
        lists.modified_files,
        tuple(writer.calls),
        tuple(writer.notices),
        writer.redactor.count,
    )


def _message_of(entry: JsonObject, *, seed: bool) -> JsonObject | None:
    if entry.get("type") == "compaction":
        return {
            "role": "compactionSummary",
            "summary": entry.get("summary"),
            "tokensBefore": entry.get("tokensBefore"),
            "timestamp": epoch_ms(entry.get("timestamp")),
        }
    message = entry_message(entry)
    if message is None or message.get("role") != "toolResult":
        return message
    if seed:
        return None
    # Useless ones come along without weight: the serialiser needs them to take their calls out.
    return message if is_useless(message) or text_of(message.get("content")) else None


def _as_shown(message: JsonObject) -> JsonObject:
    """Return a tool result as the summariser will see it: without images, cut to size."""
    if message.get("role") != "toolResult":
        return message
    text = "" if is_useless(message) else truncate_tool_result(text_of(message.get("content")))
    return {"role": "toolResult", "content": [{"type": "text", "text": text}]}
