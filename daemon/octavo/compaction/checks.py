"""The gate before a compaction is written: what must hold, what is repaired, what is refused.

Takes the path, the entry that would be appended and the plan it came from; builds the context before and after,
repairs the summary where that needs no guessing, and reports every condition with its figures. Writes nothing.
Source: protocol.md §6; known failures BR-031, BR-047, BR-065, BR-068, BR-070, BR-071, BR-073.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from octavo import templates
from octavo.compaction.answers import UNKNOWN_INPUT, Judge
from octavo.compaction.file_operations import (
    FileOps,
    collect_from_message,
    file_lists,
    strip_file_blocks,
    upsert_files,
)
from octavo.compaction.invented import invented_lines, without_lines
from octavo.compaction.neutralise import boundaries, has_boundary
from octavo.compaction.prepare import Preparation
from octavo.compaction.validators import Violation, pairing_violations, violations
from octavo.compaction.verbatim import holds, newest_request, open_question, with_section
from octavo.sessions.context import build_context
from octavo.sessions.llm_messages import to_llm_messages
from octavo.tokens.counting import count_tokens
from octavo.tokens.estimate import Estimator
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model

_SHOWN_VIOLATIONS = 5
_PROMPTS = (
    "summarization-system",
    "compaction-summary",
    "compaction-update-summary",
    "compaction-turn-prefix",
    "compaction-short-summary",
)


@dataclass(frozen=True, slots=True)
class Check:
    """One condition, as `checks[]` shows it: `repaired` says that it holds only after a repair."""

    name: str
    ok: bool
    figures: JsonObject
    repaired: bool = False

    def to_wire(self) -> JsonObject:
        """Return `{name, ok, repaired, figures}`."""
        return {"name": self.name, "ok": self.ok, "repaired": self.repaired, "figures": self.figures}


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict: the entry with every repair made, and the checks in the order they ran.

    `tokens_before` and `tokens_after` are estimates of both contexts by one rule, so that they can be compared.
    """

    entry: JsonObject
    checks: tuple[Check, ...]
    tokens_before: int
    tokens_after: int

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the conditions that do not hold."""
        return tuple(check.name for check in self.checks if not check.ok)

    @property
    def ok(self) -> bool:
        """Whether the entry may be written."""
        return not self.failed


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What the checks are run with.

    `model` is the one that will read the context (its API's rules are applied; None: the shared rules). `fixed_tokens`
    are the system prompt and tools, the same before and after. `prompts` are instructions that must not come back
    (None: our own). `judge_text` is False for a summary nobody's model wrote: the local one, or one the user edited.
    """

    model: Model | None = None
    fixed_tokens: int = 0
    prompts: Sequence[str] | None = None
    judge_text: bool = True


Repair: TypeAlias = Callable[[str], tuple[str, Check]]


def check_compaction(
    path: Sequence[JsonObject],
    entry: JsonObject,
    preparation: Preparation,
    estimator: Estimator,
    options: GateOptions | None = None,
) -> Gate:
    """Judge the compaction `entry` that would be appended to `path`.

    Args:
        path: Entries from the root to the leaf, without the new one.
        entry: The draft: `summary`, `firstKeptEntryId`, `details`, `preserveData`; id and parent are not needed.
        preparation: The plan it was made from.
        estimator: Weighs both contexts.
        options: Model, prompts and the like.
    """
    options = options or GateOptions()
    provider = options.model.provider if options.model else None
    before = build_context(path, provider=provider).messages
    kept = build_context([*path, _placed(entry)], provider=provider).messages[1:]
    given = entry.get("summary")
    summary = strip_file_blocks(given if isinstance(given, str) else "").strip()
    checks: list[Check] = []
    for repair in _repairs(summary, path, before, kept, options, from_hook=bool(entry.get("fromExtension"))):
        summary, check = repair(summary)
        checks.append(check)
    repaired, files = _with_files(entry, summary, _touched(preparation, before, kept))
    checks.append(files)
    after = build_context([*path, _placed(repaired)], provider=provider).messages
    sent, sent_before = to_llm_messages(after), to_llm_messages(before)
    tokens_before = options.fixed_tokens + estimator.total(before)
    tokens_after = options.fixed_tokens + estimator.total(after)
    checks = [
        _shrinks(tokens_before, tokens_after),
        _pairs(sent, sent_before),
        _valid(sent, sent_before, options.model),
        *checks,
    ]
    return Gate(repaired, tuple(checks), tokens_before, tokens_after)


def _placed(entry: JsonObject) -> JsonObject:
    """Return the draft with an id, without which no context is built from it."""
    return {"id": "octavo-draft", **entry}


def _touched(preparation: Preparation, before: Sequence[JsonObject], kept: Sequence[JsonObject]) -> FileOps:
    """Return the files of the plan and of everything else that leaves the context (a hook may keep less)."""
    ops = preparation.file_ops.copy()
    staying = {id(message) for message in kept}
    for message in before:
        if id(message) not in staying:
            collect_from_message(message, ops)
    return ops


def _repairs(
    given: str,
    path: Sequence[JsonObject],
    before: Sequence[JsonObject],
    kept: Sequence[JsonObject],
    options: GateOptions,
    *,
    from_hook: bool,
) -> list[Repair]:
    """Text checks in the order they must run: what a model wrote is judged before anything is added to it."""
    return [
        lambda summary: _markup(summary, options),
        lambda summary: _boundary_tags(summary, given),
        lambda summary: _invented(summary, path, written=options.judge_text or from_hook),
        lambda summary: _last_request(summary, path, kept),
        lambda summary: _question(summary, before, kept),
    ]


def _shrinks(before: int, after: int) -> Check:
    status = "shrank" if after < before else "grew" if after > before else "same"
    return Check("shrinks", after < before, {"before": before, "after": after, "status": status})


def _pairs(sent: Sequence[JsonObject], sent_before: Sequence[JsonObject]) -> Check:
    broken, inherited = _caused(pairing_violations(sent), sent, pairing_violations(sent_before), sent_before)
    results = sum(message.get("role") == "toolResult" for message in sent)
    shown = [violation.to_wire() for violation in broken[:_SHOWN_VIOLATIONS]]
    figures = {"results": results, "violations": len(broken), "inherited": inherited, "first": shown}
    return Check("pairs", not broken, figures)


def _valid(sent: Sequence[JsonObject], sent_before: Sequence[JsonObject], model: Model | None) -> Check:
    api = model.api if model else ""
    broken, inherited = _caused(violations(sent, api), sent, violations(sent_before, api), sent_before)
    shown = [violation.to_wire() for violation in broken[:_SHOWN_VIOLATIONS]]
    return Check(
        "api-valid", not broken, {"api": api, "violations": len(broken), "inherited": inherited, "first": shown}
    )


def _caused(
    after: Sequence[Violation],
    sent: Sequence[JsonObject],
    before: Sequence[Violation],
    sent_before: Sequence[JsonObject],
) -> tuple[list[Violation], int]:
    """Return the violations that the compaction would bring about, and how many of the context it only leaves there.

    What was odd before and is kept, a compaction makes no worse; refusing it would refuse every compaction for ever.
    """
    known = {key for violation in before for key in _marks(violation, sent_before)}
    broken = [violation for violation in after if known.isdisjoint(_marks(violation, sent))]
    return broken, len(after) - len(broken)


def _marks(violation: Violation, messages: Sequence[JsonObject]) -> list[tuple[str, object]]:
    """Return by what a violation is known again where other messages stand before it: its detail, and the content."""
    marks: list[tuple[str, object]] = [(violation.rule, violation.detail)] if violation.detail else []
    if violation.index >= 0 and (content := messages[violation.index].get("content")) is not None:
        marks.append((violation.rule, id(content)))
    return marks


def _markup(summary: str, options: GateOptions) -> tuple[str, Check]:
    if not summary:
        return summary, Check("no-markup", ok=False, figures={"reason": "the summary is empty"})
    if not options.judge_text:
        return summary, Check("no-markup", ok=True, figures={})
    prompts = [templates.text(name) for name in _PROMPTS] if options.prompts is None else options.prompts
    verdict = Judge(prompts, UNKNOWN_INPUT, count_tokens).judge(summary)
    figures = {} if verdict.refusal is None else {"reason": verdict.refusal}
    removed = boundaries(verdict.text) != boundaries(summary)
    return verdict.text, Check("no-markup", verdict.refusal is None, figures, repaired=removed)


def _boundary_tags(summary: str, given: str) -> tuple[str, Check]:
    return boundaries(summary), Check("no-boundary-tags", ok=True, figures={}, repaired=has_boundary(given))


def _invented(summary: str, path: Sequence[JsonObject], *, written: bool) -> tuple[str, Check]:
    # Text that was copied from the history, or that the user wrote, holds no inventions: nothing of it may go.
    lines = invented_lines(summary, path) if written else []
    check = Check("no-invented-user", ok=True, figures={"removed": len(lines)}, repaired=bool(lines))
    return without_lines(summary, lines), check


def _last_request(summary: str, path: Sequence[JsonObject], kept: Sequence[JsonObject]) -> tuple[str, Check]:
    request = newest_request(path)
    figures: JsonObject = {"place": "none"}
    if request is None:
        return summary, Check("last-request", ok=True, figures=figures)
    figures = {"entryId": request.entry_id, "characters": len(request.text), "place": "kept"}
    if request.is_in(kept):
        return summary, Check("last-request", ok=True, figures=figures)
    figures["place"] = "summary"
    if holds(summary, request.text):
        return summary, Check("last-request", ok=True, figures=figures)
    summary = with_section(summary, "compaction-verbatim-request", "request", request.text)
    return summary, Check("last-request", holds(summary, request.text), figures, repaired=True)


def _question(summary: str, before: Sequence[JsonObject], kept: Sequence[JsonObject]) -> tuple[str, Check]:
    question = open_question(before)
    if not question:
        return summary, Check("open-question", ok=True, figures={"place": "none"})
    if open_question(kept) == question:
        return summary, Check("open-question", ok=True, figures={"place": "kept"})
    if holds(summary, question):
        return summary, Check("open-question", ok=True, figures={"place": "summary"})
    summary = with_section(summary, "compaction-open-question", "question", question)
    return summary, Check("open-question", holds(summary, question), {"place": "summary"}, repaired=True)


def _with_files(entry: JsonObject, summary: str, ops: FileOps) -> tuple[JsonObject, Check]:
    """Return the entry with the repaired summary, a file block and details that cover every touched file.

    A hook's own details (a `fromExtension` entry) are its own and stay; only the block is made complete.
    """
    lists = file_lists(ops)
    details = entry.get("details")
    recorded = details if isinstance(details, dict) else {}
    known = {path for key in ("readFiles", "modifiedFiles") for path in _paths(recorded.get(key))}
    missing = [path for path in (*lists.read_files, *lists.modified_files) if path not in known]
    full = upsert_files(summary, lists.read_files, lists.modified_files, ops.read)
    repaired = {**entry, "summary": full}
    if missing and not entry.get("fromExtension"):
        repaired["details"] = {**recorded, **lists.to_details()}
    given = entry.get("summary")
    block = full[len(strip_file_blocks(full).rstrip()) :].strip()
    is_new = bool(block) and block not in (given if isinstance(given, str) else "")
    figures = {"read": len(lists.read_files), "modified": len(lists.modified_files), "missing": len(missing)}
    return repaired, Check("files", ok=True, figures=figures, repaired=bool(missing) or is_new)


def _paths(value: object) -> list[str]:
    return [path for path in value if isinstance(path, str)] if isinstance(value, list) else []
