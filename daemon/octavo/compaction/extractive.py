"""The local summary: written from the messages themselves, without a model, a key or a network.

Deterministic and text only, under a token budget, in the headings of the model's summary: the user's requests (the
newest verbatim), commands with their outcome, changed files, errors verbatim, the open question and the assistant's
last statement. An earlier summary, local or not, is carried on item by item, so that repeated compactions neither lose
it nor grow. It stands in when no model answers, and it is what the command line writes by default.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from octavo.compaction import summary_sections as heads
from octavo.compaction.extractive_facts import Command, Facts, Failure, collect_facts
from octavo.compaction.file_operations import file_lists, strip_file_blocks, upsert_files
from octavo.compaction.folding import CountEach
from octavo.compaction.neutralise import boundaries
from octavo.compaction.outcome import CompactionOutcome
from octavo.compaction.prepare import Preparation
from octavo.compaction.summary_sections import parse_sections, quoted, unquoted
from octavo.js_text import well_formed
from octavo.tokens.counting import count_each

LOCAL_TOKENS = 4096
"""Most tokens of a local summary, file list not included, whatever the budget allows."""

LEAST_TOKENS = 256

_NEWEST = "The user's newest request among these messages, word for word:"
_EARLIER = "Asked before it, oldest first:"
_STATEMENT = "The assistant's last words:"
_QUESTION = "The assistant asked, and the user has not answered:"
_HANDED_OVER = "Handed over from an earlier session:"
_AS_OF = "As of an earlier summary; check before relying on it:"
_LABELS = {_NEWEST, _EARLIER, _STATEMENT, _QUESTION, _AS_OF}
_FIRST_CD = re.compile(r"cd [^\s;&|]{1,300} *(?:&&|;) *")
_CHANGED = re.compile(r"Changed(?: in `([^`]*)`)?: (.*)", re.DOTALL)
_CHANGED_FILE = re.compile(r"`([^`]+)`(?: \(([0-9]{1,9}) times\))?")
_ORIGIN = "Condensed by octavo without a model, from"
_SOLVED = "Solved since:"
_LEFT_OUT = "… more was left out to keep this short"
_TURN_GOES_ON = "The newest request above: its turn goes on in the messages that follow."


def summarize_locally(
    preparation: Preparation, *, budget_tokens: int | None = None, count: CountEach = count_each
) -> CompactionOutcome:
    """Return the local summary of a preparation.

    Args:
        preparation: What to condense; its settings give the budget when none is named.
        budget_tokens: Most tokens of the summary, file list not included.
        count: Counts tokens.
    """
    discarded = preparation.discarded_messages
    budget = int(0.8 * preparation.settings.reserve_tokens) if budget_tokens is None else budget_tokens
    text = local_summary(discarded, preparation.previous_summary, budget, count, turn_goes_on=preparation.is_split_turn)
    lists = file_lists(preparation.file_ops)
    preserve = preparation.previous_preserve_data or {}
    kept = {key: value for key, value in preserve.items() if key not in {"openaiRemoteCompaction", "snapcompact"}}
    return CompactionOutcome(
        summary=upsert_files(text, lists.read_files, lists.modified_files, preparation.file_ops.read),
        short_summary=_short(collect_facts(discarded)),
        first_kept_entry_id=preparation.first_kept_entry_id,
        tokens_before=preparation.tokens_before,
        details=lists.to_details(),
        preserve_data=kept or None,
        source="extractive",
    )


def local_summary(
    messages: Sequence[dict[str, object]],
    previous: str | None = None,
    budget_tokens: int = LOCAL_TOKENS,
    count: CountEach = count_each,
    *,
    turn_goes_on: bool = False,
) -> str:
    """Return the summary text, at most `budget_tokens` long and never more than `LOCAL_TOKENS`."""
    earlier = strip_file_blocks(previous or "").strip()
    if earlier and not messages and count([earlier])[0] <= budget_tokens:
        return boundaries(well_formed(earlier))
    facts = collect_facts(messages)
    budget = max(LEAST_TOKENS, min(budget_tokens, LOCAL_TOKENS))
    page = _Page(budget, count)
    _fill(page, facts, _Carried.from_summary(earlier), len(messages), turn_goes_on=turn_goes_on)
    return boundaries(well_formed(page.text()))


def first_sentences(summary: str, limit: int = 300) -> str | None:
    """Return the first words of a summary's first section as one line, None when it has none."""
    for item in (item for items in parse_sections(strip_file_blocks(summary)).items.values() for item in items):
        line = _one_line(unquoted(item) or item, limit)
        if line and item not in _LABELS:
            return line
    return None


@dataclass(slots=True)
class _Carried:
    """The items of the summary before this one, without what this one says anew."""

    sections: heads.Sections
    requests: list[str] = field(default_factory=list)
    newest: str = ""
    statement: str = ""
    question: str = ""

    @classmethod
    def from_summary(cls, summary: str) -> "_Carried":
        sections = parse_sections(summary)
        goals = [item for item in sections.of(heads.GOAL) if not _is_ours(item)]
        quotes = [text for item in goals if (text := unquoted(item)) is not None]
        requests = [_one_line(item, 300) for item in goals if unquoted(item) is None]
        context = sections.of(heads.CONTEXT)
        newest = quotes[-1] if quotes else ""
        return cls(sections, requests, newest, _quote_after(_STATEMENT, context), _quote_after(_QUESTION, context))

    def items(self, heading: str) -> list[str]:
        return [item for item in _superseded_removed(self.sections.of(heading)) if not _is_ours(item)]


def _superseded_removed(items: Sequence[str]) -> Iterable[str]:
    skip = False
    for item in items:
        if skip and unquoted(item) is not None:
            skip = False
            continue
        skip = item in {_STATEMENT, _QUESTION}
        yield item


def _quote_after(label: str, items: Sequence[str]) -> str:
    following = (unquoted(after) or "" for item, after in pairwise(items) if item == label)
    return next(following, "")


def _is_ours(item: str) -> bool:
    return item in _LABELS or item == _TURN_GOES_ON or item.startswith((_ORIGIN, _LEFT_OUT))


@dataclass(slots=True)
class _Page:
    """Items by heading under one budget; what does not fit any more is left out, and said so."""

    budget: int
    count: CountEach
    sections: dict[str, list[str]] = field(default_factory=dict)
    spent: int = 0
    cut: set[str] = field(default_factory=set)

    def clip(self, text: str, share: float) -> str:
        """Return the text, or its beginning and end, within a share of the whole budget."""
        limit = max(16, int(self.budget * share))
        # No token is longer than 128 bytes, so most of a huge text need not be counted to know that it is too long.
        if len(text) <= 128 * limit and self.count([text])[0] <= limit:
            return text
        size = min(len(text), 8 * limit)
        while size > 40:
            head, tail = text[: size * 2 // 3], text[len(text) - size // 3 :]
            clipped = f"{head}\n[… {len(text) - len(head) - len(tail)} characters left out …]\n{tail}"
            if self.count([clipped])[0] <= limit:
                return clipped
            size = size * 3 // 4
        return text[:40]

    def add(self, heading: str, items: Sequence[str], share: float, *, newest_first: bool = True) -> None:
        """Add items that are in chronological order; when not all fit, the older ones are left out."""
        room = min(int(self.budget * share), self.budget - self.spent)
        unique = list(dict.fromkeys(item for item in items if item.strip()))
        known = set(self.sections.get(heading, ()))
        unique = [item for item in unique if item not in known]
        costs = [cost + 4 for cost in self.count(unique)] if unique else []
        chosen: list[int] = []
        order = range(len(unique) - 1, -1, -1) if newest_first else range(len(unique))
        for index in order:
            if costs[index] > room:
                self.cut.add(heading)
                break
            room -= costs[index]
            self.spent += costs[index]
            chosen.append(index)
        if chosen:
            self.sections.setdefault(heading, []).extend(unique[index] for index in sorted(chosen))

    def text(self) -> str:
        parts = []
        for heading in (heads.GOAL, heads.CONSTRAINTS):
            parts += self._section("##", heading)
        progress = [
            part for name in (heads.DONE, heads.IN_PROGRESS, heads.BLOCKED) for part in self._section("###", name)
        ]
        if progress:
            parts += [f"## {heads.PROGRESS}", *progress]
        for heading in (heads.DECISIONS, heads.NEXT, heads.CONTEXT, heads.NOTES):
            parts += self._section("##", heading)
        return "\n\n".join(parts)

    def _section(self, level: str, heading: str) -> list[str]:
        items = self.sections.get(heading, [])
        if not items:
            return []
        marker = {heads.DONE: "- [x] ", heads.IN_PROGRESS: "- [ ] "}.get(heading, "- ")
        body: list[str] = []
        number = 0
        numbered = heading == heads.NEXT
        for item in [*items, *([_LEFT_OUT] if heading in self.cut else [])]:
            if item in _LABELS or item == _HANDED_OVER or unquoted(item) is not None:
                body.append(f"\n{item}\n")
                number, numbered = 0, numbered or item == _EARLIER
                continue
            number += 1
            lead = "- " if item == _LEFT_OUT else f"{number}. " if numbered else marker
            body.append(lead + item)
        return [f"{level} {heading}\n" + "\n".join(body).strip("\n").replace("\n\n\n", "\n\n")]


def _fill(page: _Page, facts: Facts, carried: _Carried, messages: int, *, turn_goes_on: bool) -> None:
    if messages or not carried.sections.items:
        page.add(heads.NOTES, [f"{_ORIGIN} {messages} messages and {facts.calls} tool calls."], 1.0)
    requests = [*([carried.newest] if carried.newest else []), *facts.requests]
    if requests:
        page.add(heads.GOAL, [_NEWEST], 1.0)
        page.add(heads.GOAL, [quoted(page.clip(requests[-1], 0.35))], 0.5)
    # What was said or asked before the messages at hand counts only as long as nothing was said since.
    question = facts.question if facts.statement or facts.requests else carried.question
    if question:
        page.add(heads.CONTEXT, [_QUESTION], 1.0)
        page.add(heads.CONTEXT, [quoted(page.clip(question, 0.1))], 0.15)
    _fill_failures(page, facts)
    statement = facts.statement or carried.statement
    if statement and statement != question:
        page.add(heads.CONTEXT, [_STATEMENT], 1.0)
        page.add(heads.CONTEXT, [quoted(page.clip(statement, 0.15))], 0.2)
    for text in facts.handed_over[-1:]:
        page.add(heads.CONTEXT, [_HANDED_OVER, quoted(page.clip(text, 0.2))], 0.25, newest_first=False)
    earlier = [*carried.requests, *(_one_line(request, 300) for request in requests[:-1])]
    if earlier:
        page.add(heads.GOAL, [_EARLIER], 1.0)
        page.add(heads.GOAL, earlier[:1] + earlier[1:][-40:], 0.25)
    rules = [_one_line(rule, 400) for rule in facts.rules]
    page.add(heads.CONSTRAINTS, [*carried.items(heads.CONSTRAINTS), *rules], 0.15)
    page.add(heads.DECISIONS, carried.items(heads.DECISIONS), 0.15)
    if turn_goes_on and requests:
        page.add(heads.IN_PROGRESS, [_TURN_GOES_ON], 1.0)
    page.add(heads.IN_PROGRESS, [text for text, done in facts.todo if not done], 0.1, newest_first=False)
    _fill_done(page, facts, carried)
    retried = tuple(f"{_code(command)} failed" for command in facts.commands)
    for heading in (heads.BLOCKED,) if facts.todo else (heads.IN_PROGRESS, heads.NEXT, heads.BLOCKED):
        items = [_bounded(item, page) for item in carried.items(heading) if not item.startswith(retried)]
        if items:
            page.add(heading, [_AS_OF], 1.0)
            page.add(heading, items, 0.08, newest_first=heading != heads.NEXT)
    page.add(heads.CONTEXT, [_bounded(item, page) for item in carried.items(heads.CONTEXT)], 0.2)
    page.add(heads.NOTES, [f"A branch was left: {_one_line(text, 400)}" for text in facts.branches], 0.1)
    page.add(heads.NOTES, carried.items(heads.NOTES), 0.1)


def _fill_failures(page: _Page, facts: Facts) -> None:
    open_ones = _newest_of_each(failure for failure in facts.failures if not failure.solved)[-6:]
    page.add(heads.BLOCKED, [_failure(failure, page) for failure in open_ones], 0.2)
    solved = _newest_of_each(failure for failure in facts.failures if failure.solved)[-6:]
    page.add(heads.NOTES, [f"{_SOLVED} {_code(f.action)}: {_one_line(f.text, 160)}" for f in solved], 0.08)


def _newest_of_each(failures: Iterable[Failure]) -> list[Failure]:
    newest: dict[str, Failure] = {}
    for failure in failures:
        newest.pop(failure.action, None)
        newest[failure.action] = failure
    return list(newest.values())


def _fill_done(page: _Page, facts: Facts, carried: _Carried) -> None:
    items = carried.items(heads.DONE)
    changes = _changes(items)
    for path, times in facts.changes.items():
        changes[path] = changes.pop(path, 0) + times
    again = tuple(f"Ran {_code(_FIRST_CD.sub('', command))}" for command in facts.commands)
    done = [item for item in items if not item.startswith(again) and not _CHANGED.fullmatch(item)]
    page.add(heads.DONE, [text for text, finished in facts.todo if finished], 0.08)
    page.add(heads.DONE, _changed(changes), 0.15)
    told = [command for command in facts.commands.values() if not command.only_looks and not command.failed]
    page.add(heads.DONE, [_command(command) for command in told[-40:]], 0.2)
    page.add(heads.DONE, [_bounded(item, page) for item in done], 0.15)


def _changes(items: Iterable[str]) -> dict[str, int]:
    """Read back what `_changed` wrote."""
    changes: dict[str, int] = {}
    for item in items:
        if found := _CHANGED.fullmatch(item):
            for path, times in _CHANGED_FILE.findall(found[2]):
                changes[(found[1] or "") + path] = int(times or 1)
    return changes


def _changed(changes: dict[str, int]) -> list[str]:
    newest = dict(list(changes.items())[-30:])
    if not newest:
        return []
    shortest, longest = min(newest), max(newest)
    shared = next((i for i, (a, b) in enumerate(zip(shortest, longest, strict=False)) if a != b), len(shortest))
    folder = shortest[: shortest.rfind("/", 0, shared) + 1]
    files = ", ".join(
        f"`{path[len(folder) :]}`" + (f" ({times} times)" if times > 1 else "") for path, times in newest.items()
    )
    return [f"Changed in `{folder}`: {files}" if folder else f"Changed: {files}"]


def _failure(failure: Failure, page: _Page) -> str:
    text = page.clip(failure.text, 0.06)
    body = "\n".join(f"  {line}".rstrip() for line in quoted(text).splitlines())
    return f"{_code(failure.action)} failed:\n{body}" if text else f"{_code(failure.action)} failed without a message."


def _command(command: Command) -> str:
    text = _FIRST_CD.sub("", command.text)
    times = f" ({command.runs} times)" if command.runs > 1 else ""
    output = _one_line(command.output, 160)
    return f"Ran {_code(text)}{times}" + (f": {output}" if output else "")


def _bounded(item: str, page: _Page) -> str:
    return page.clip(item, 0.06)


def _code(text: str) -> str:
    line = _one_line(text, 160).replace("`", "'")
    return f"`{line}`"


def _one_line(text: str, limit: int) -> str:
    # A few times the limit is enough to fill one line, however large the text is.
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit and len(text) <= 4 * limit else f"{line[:limit].rstrip()}…"


def _short(facts: Facts) -> str | None:
    telling = next((text for text in reversed(facts.requests) if len(text) >= 20), None)
    return _one_line(telling or next(iter(facts.requests[-1:]), facts.statement), 200) or None
