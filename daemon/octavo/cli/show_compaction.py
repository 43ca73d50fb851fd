"""The plan and the outcome of a compaction as lines.

Works on answers of `session/prepareCompaction` and `session/compact` and knows no daemon.
"""

import textwrap
from collections.abc import Iterator

from octavo.cli.terminal import Style, Terminal, clean, count, fit, pad
from octavo_protocol.methods.common import Check, Notice
from octavo_protocol.methods.compaction import CompactionResult
from octavo_protocol.methods.context import PlanPart, PrepareCompactionResult, StrategyPlan

_CHECKS = {
    "shrinks": "the context shrinks",
    "pairs": "every call has its result",
    "api-valid": "valid for the API",
    "no-markup": "no transcript markup",
    "no-boundary-tags": "no boundary tags",
    "no-invented-user": "no invented quotations",
    "last-request": "newest request kept",
    "open-question": "open question kept",
    "files": "every touched file named",
}
_REASONS = {
    "already-compacted": "The last entry is a compaction already.",
    "nothing-to-compact": "There is nothing to compact: the whole context is within what is kept verbatim.",
}
_PLACES = {"kept": "among what stays", "summary": "in the summary", "none": "there is none"}
_CHECK_CELLS = 26
_STRATEGY_CELLS = 13


def plan_lines(plan: PrepareCompactionResult, terminal: Terminal, *, chosen: str | None = None) -> Iterator[str]:
    """What would be condensed and kept, and every strategy with its figures; `chosen` is marked."""
    if not plan.possible:
        yield f"  {_REASONS.get(plan.reason or '', 'Nothing can be compacted.')}"
        return
    for verb, part in (("condense", plan.summarized), ("and a turn's head", plan.turn_prefix), ("keep", plan.kept)):
        if part is not None and part.entries:
            yield f"  {pad(verb, 18)} {_part(part)}"
    files = len(plan.files.read_files), len(plan.files.modified_files)
    yield f"  {pad('files touched', 18)} {files[0]} read, {files[1]} modified"
    for strategy in plan.strategies:
        marked = strategy.strategy == chosen if chosen is not None else strategy.chosen
        yield _strategy_line(strategy, terminal, marked=marked)


def result_lines(result: CompactionResult, terminal: Terminal) -> Iterator[str]:
    """What was done, what it cost, and in which words it is remembered."""
    saved = 1 - result.tokens_after / result.tokens_before if result.tokens_before else 0.0
    yield terminal.divider(f"compacted · {result.tokens_before:,} tokens → {result.tokens_after:,}", "bold", "yellow")
    how = [result.action, f"{100 * saved:.0f} % smaller"]
    if result.frames:
        how.append(count(result.frames, "frame"))
    how.append(f"by {clean(result.model)}" if result.model else "no model asked")
    how.append(f"{result.duration_ms / 1000:.1f} s")
    if result.usage is not None and result.usage.cost:
        how.append(f"${result.usage.cost:.4f}")
    yield terminal.paint(f"   {fit(' · '.join(how), terminal.width - 3)}", "dim")
    if result.short_summary:
        yield from paragraph(result.short_summary, terminal, most=3)


def check_lines(checks: list[Check], terminal: Terminal) -> Iterator[str]:
    """Every check with its verdict and figures."""
    for check in checks:
        sign, style = _verdict(check)
        name = pad(_CHECKS.get(check.name, clean(check.name)), _CHECK_CELLS)
        figures = fit(_figures(check), terminal.width - _CHECK_CELLS - 8)
        yield f"  {terminal.paint(sign, style, 'bold')} {name}  {terminal.paint(figures, 'dim')}"


def notice_lines(notices: list[Notice], terminal: Terminal) -> Iterator[str]:
    """What the user should know."""
    for notice in notices:
        style: Style = {"error": "red", "warning": "yellow"}.get(notice.level, "blue")  # type: ignore[assignment]
        for number, text in enumerate(textwrap.wrap(clean(notice.message), terminal.width - 6)):
            yield f"  {terminal.paint('!' if number == 0 else ' ', style, 'bold')} {text}"


def paragraph(text: str, terminal: Terminal, *, most: int) -> Iterator[str]:
    """A text as at most so many indented lines."""
    lines = textwrap.wrap(clean(text), terminal.width - 6)
    for number, line in enumerate(lines[:most]):
        more = number == most - 1 and len(lines) > most
        yield f"   {fit(f'{line} …', terminal.width - 6) if more else line}"


def _strategy_line(plan: StrategyPlan, terminal: Terminal, *, marked: bool) -> str:
    sign = terminal.paint("●", "green") if marked else terminal.paint("○", "dim")
    name = (
        terminal.paint(pad(plan.strategy, _STRATEGY_CELLS), "bold") if marked else pad(plan.strategy, _STRATEGY_CELLS)
    )
    if not plan.available:
        reason = fit(clean(plan.unavailable_reason or "not available"), terminal.width - _STRATEGY_CELLS - 6)
        return f"  {sign} {name} {terminal.paint(reason, 'dim')}"
    facts = [f"→ {plan.tokens_after:>7,} tokens", "fits" if plan.fits else "still above the threshold"]
    if plan.frames:
        facts.append(count(plan.frames, "frame"))
    facts.append(f"{count(plan.model_calls, 'call')} to {clean(plan.model or '')}" if plan.model_calls else "no model")
    if plan.cost:
        facts.append(f"${plan.cost:.3f}")
    if plan.next_request_cost:
        facts.append(f"next request ${plan.next_request_cost:.3f}")
    return f"  {sign} {name} {fit(' · '.join(facts), terminal.width - _STRATEGY_CELLS - 6)}"


def _part(part: PlanPart) -> str:
    return f"{count(part.entries, 'entry', 'entries'):>13} {part.tokens:>10,} tokens"


def _verdict(check: Check) -> tuple[str, Style]:
    if not check.ok:
        return "✗", "red"
    return ("✎", "yellow") if check.repaired else ("✓", "green")


def _figures(check: Check) -> str:
    """The numbers behind a verdict, as words."""
    figures = check.figures
    words = ["repaired"] if check.repaired else []
    if {"before", "after"} <= figures.keys():
        words.append(f"{figures['before']:,} → {figures['after']:,} tokens")
    for name, value in figures.items():
        if name in {"before", "after", "entryId", "status"} or value in ([], None):
            continue
        if name == "place":
            words.append(_PLACES.get(str(value), clean(str(value))))
        elif isinstance(value, int) and not isinstance(value, bool):
            words.append(f"{value:,} {name}")
        else:
            words.append(clean(str(value)))
    return ", ".join(words)
