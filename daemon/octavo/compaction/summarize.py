"""From a prepared compaction to the content of its entry, by asking a model.

Plans nothing and writes nothing: `prepare` decided what to condense, `checks` decide whether the result may be
committed. Source: engine.md §7.2, §7.3; seed.md "Summary generation".

`SummaryRules.OCTAVO` deviates from the seed where the seed loses something:

- the previous summary is carried through a split turn without new history (the seed wrote "No prior history.");
- input that does not fit is folded, answers are judged and asked for once more, output is capped (`writer`, `answers`);
- a failing remote endpoint or short summary does not fail the compaction; what stepped in is told in `notices`;
- the summary is asked for in the user's language, tags in the talk are made harmless, secrets are redacted;
- frames of an earlier strategy do not stay in `preserveData`; their text is summarised instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from octavo import templates
from octavo.compaction.extractive import first_sentences
from octavo.compaction.file_operations import FileRules, file_lists, strip_file_blocks, upsert_files
from octavo.compaction.folding import CountEach
from octavo.compaction.language import detect_language
from octavo.compaction.native import PRESERVE_KEY, NativeCompactor, without_native_history
from octavo.compaction.outcome import CompactionOutcome, OnSummaryProgress, Source, SummaryCall
from octavo.compaction.prepare import Preparation
from octavo.compaction.remote import RemoteSummarizer
from octavo.compaction.requests import OutputBudgets, PromptParts, SummaryRules, output_budgets, reasoning_effort
from octavo.compaction.writer import IsOverflow, Task, Writer, is_token_overflow
from octavo.sessions.llm_messages import to_llm_messages
from octavo.tokens.counting import count_each
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Completion, Model
from octavo_protocol.errors import ErrorKind, OctavoError

NO_HISTORY = "No prior history."
TURN_CONTEXT = "**Turn Context (split turn):**"
SNAPCOMPACT_KEY = "snapcompact"


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """How to summarise.

    Attributes:
        custom_instructions: The user's focus, added to the history prompt.
        extra_context: Lines for `<additional-context>` (hooks, memories).
        prompt_override: A hook's prompt, used instead of the first or update prompt.
        hook_preserve_data: A hook's data, stored under what the compaction itself preserves.
        thinking_level: The session's level; None means unset.
        system_prompt: The session's base system prompt, the instructions of native compaction.
        language: English name of the language to write in; None detects it from the user's messages.
        archived_text: Text of frames an earlier compaction drew, when this one goes back to text.
        is_overflow: Recognises a provider's overflow error, so that the input is folded.
        count_each: Counts tokens.
        rules: The seed's or ours.
    """

    custom_instructions: str | None = None
    extra_context: Sequence[str] = ()
    prompt_override: str | None = None
    hook_preserve_data: JsonObject | None = None
    thinking_level: str | None = None
    system_prompt: Sequence[str] = ()
    language: str | None = None
    archived_text: str | None = None
    is_overflow: IsOverflow = is_token_overflow
    count_each: CountEach = count_each
    rules: SummaryRules = SummaryRules.OCTAVO


@dataclass(frozen=True, slots=True)
class _Talk:
    """The three message lists as a model gets them, and the summary before them."""

    history: list[JsonObject]
    prefix: list[JsonObject]
    recent: list[JsonObject]
    previous: str | None


async def summarize(
    preparation: Preparation,
    completion: Completion,
    model: Model,
    options: SummaryOptions | None = None,
    *,
    remote: RemoteSummarizer | None = None,
    native: NativeCompactor | None = None,
    on_progress: OnSummaryProgress | None = None,
) -> CompactionOutcome:
    """Summarise a preparation with a model.

    Args:
        preparation: What to condense and what is kept.
        completion: Who runs model calls.
        model: The summarising model; it also decides the transcript's dialect.
        options: See `SummaryOptions`.
        remote: Tried first for the history and short summaries.
        native: The provider's own compaction, tried first; its history is preserved beside the summary.
        on_progress: Told of every call and the characters it has brought.

    Raises:
        OctavoError: As `Writer.write`, and `nothing-to-compact` when there is nothing to summarise nor to carry on.
    """
    options = options or SummaryOptions()
    settings = preparation.settings
    talk = await anyio.to_thread.run_sync(_talk, preparation, options)
    writer = Writer(
        completion,
        model,
        options.count_each,
        options.is_overflow,
        reasoning_effort(options.thinking_level, model),
        settings.reserve_tokens,
        remote if settings.remote_enabled else None,
        options.rules,
        on_progress,
    )
    preserve = _carried(preparation.previous_preserve_data, options)
    if native is not None and settings.remote_enabled and native.accepts(model):
        preserve = await _native(native, talk, preparation, options, writer, preserve)
    budgets = output_budgets(settings.reserve_tokens, model, options.rules)
    summary = await _summary(writer, talk, budgets, options, is_split=preparation.is_split_turn)
    short = await _short(writer, talk, budgets, options, summary)
    return _outcome(preparation, summary, short, preserve, writer, options)


async def _summary(
    writer: Writer, talk: _Talk, budgets: OutputBudgets, options: SummaryOptions, *, is_split: bool
) -> str:
    history = _history_task(talk, budgets, options)
    if not (is_split and talk.prefix):
        if talk.history:
            return await writer.write(history)
        return talk.previous or NO_HISTORY
    carried = talk.previous if talk.previous and options.rules is SummaryRules.OCTAVO else NO_HISTORY
    prefix = _prefix_task(talk, budgets, options)
    tasks = [history, prefix] if talk.history else [prefix]
    *first, second = await _parallel(writer, tasks)
    return f"{first[0] if first else carried}\n\n---\n\n{TURN_CONTEXT}\n\n{second}"


async def _parallel(writer: Writer, tasks: Sequence[Task]) -> list[str]:
    texts = [""] * len(tasks)
    failures: list[OctavoError] = []
    async with anyio.create_task_group() as group:

        async def run(index: int, task: Task) -> None:
            try:
                texts[index] = await writer.write(task)
            except OctavoError as error:
                failures.append(error)
                group.cancel_scope.cancel()

        for index, task in enumerate(tasks):
            group.start_soon(run, index, task)
    if failures:
        raise failures[0]
    return texts


def _history_task(talk: _Talk, budgets: OutputBudgets, options: SummaryOptions) -> Task:
    parts = PromptParts(
        "", talk.previous, tuple(options.extra_context), options.custom_instructions, _language(talk, options)
    )

    def base(previous: str | None) -> str:
        name = "compaction-update-summary" if previous else "compaction-summary"
        return options.prompt_override or templates.render(name)

    return Task("history", talk.history, parts, base, budgets.history)


def _prefix_task(talk: _Talk, budgets: OutputBudgets, options: SummaryOptions) -> Task:
    prompt = templates.render("compaction-turn-prefix")
    parts = PromptParts(prompt, language=_language(talk, options))
    return Task("turnPrefix", talk.prefix, parts, lambda _: prompt, budgets.turn_prefix, allow_remote=False)


async def _short(
    writer: Writer, talk: _Talk, budgets: OutputBudgets, options: SummaryOptions, summary: str
) -> str | None:
    prompt = templates.render("compaction-short-summary")
    parts = PromptParts(prompt, summary, tuple(options.extra_context), language=_language(talk, options))
    task = Task("short", talk.recent, parts, lambda _: prompt, budgets.short, minimum=4, newest_only=True)
    try:
        return await writer.write(task)
    except OctavoError as error:
        if options.rules is SummaryRules.SEED or error.kind is ErrorKind.CANCELLED:
            raise
        writer.notices.append(f"{error.message}; the short summary was taken from the long one")
        return first_sentences(summary)


async def _native(
    native: NativeCompactor,
    talk: _Talk,
    preparation: Preparation,
    options: SummaryOptions,
    writer: Writer,
    preserve: JsonObject | None,
) -> JsonObject | None:
    messages = [*talk.history, *talk.prefix, *talk.recent]
    if options.rules is SummaryRules.OCTAVO:
        messages = await anyio.to_thread.run_sync(lambda: [writer.redactor.message(m) for m in messages])
    instructions = "\n\n".join(options.system_prompt) or templates.render("summarization-system")
    try:
        kept = await native.compact(writer.model, messages, preparation.previous_preserve_data, instructions)
    except OctavoError as error:
        if error.kind is ErrorKind.CANCELLED:
            raise
        writer.calls.append(SummaryCall("native", "native", writer.model.ref, "error"))
        writer.notices.append(f"native compaction failed ({error.message}); a local summary was written instead")
        return preserve
    writer.calls.append(SummaryCall("native", "native", writer.model.ref, "stop"))
    writer.used.add("native")
    return {**(preserve or {}), PRESERVE_KEY: kept}


def _talk(preparation: Preparation, options: SummaryOptions) -> _Talk:
    history = to_llm_messages(preparation.messages_to_summarize)
    previous = preparation.previous_summary
    if options.rules is SummaryRules.OCTAVO:
        if options.archived_text:
            # The summary of an archive is only the guide to its frames; its text takes that place.
            text = templates.render("archived-history", text=options.archived_text)
            history = [{"role": "developer", "content": text}, *history]
            previous = None
        elif previous is not None:
            previous = strip_file_blocks(previous).strip()
    return _Talk(
        history,
        to_llm_messages(preparation.turn_prefix_messages),
        to_llm_messages(preparation.recent_messages),
        previous,
    )


def _language(talk: _Talk, options: SummaryOptions) -> str | None:
    if options.rules is SummaryRules.SEED:
        return None
    return options.language or detect_language([*talk.history, *talk.prefix, *talk.recent])


def _carried(previous: JsonObject | None, options: SummaryOptions) -> JsonObject | None:
    kept = without_native_history(previous)
    if kept and options.rules is SummaryRules.OCTAVO:
        kept = {key: value for key, value in kept.items() if key != SNAPCOMPACT_KEY} or None
    return kept


def _outcome(
    preparation: Preparation,
    summary: str,
    short: str | None,
    preserve: JsonObject | None,
    writer: Writer,
    options: SummaryOptions,
) -> CompactionOutcome:
    rules = FileRules.SEED if options.rules is SummaryRules.SEED else FileRules.OCTAVO
    lists = file_lists(preparation.file_ops, rules)
    merged: dict[str, Any] = {**(options.hook_preserve_data or {}), **(preserve or {})}
    source: Source = "native" if "native" in writer.used else "remote" if "remote" in writer.used else "model"
    return CompactionOutcome(
        summary=upsert_files(summary, lists.read_files, lists.modified_files, preparation.file_ops.read),
        short_summary=short,
        first_kept_entry_id=preparation.first_kept_entry_id,
        tokens_before=preparation.tokens_before,
        details=lists.to_details(),
        preserve_data=merged or None,
        calls=tuple(writer.calls),
        notices=tuple(writer.notices),
        source=source,
        redactions=writer.redactor.count,
    )
