"""The context gauge and the messages of a context as lines.

Works on answers of `session/contextUsage` and `session/buildContext` and knows no daemon.
"""

from collections.abc import Iterator, Sequence

from octavo.cli.terminal import Style, Terminal, cells, clean, count, fit, pad
from octavo.sessions.previews import preview, tool_names
from octavo_protocol.base import JsonObject
from octavo_protocol.methods.common import ContextUsage

_KINDS = {
    "system": "system prompt",
    "tools": "tools",
    "summary": "summary",
    "frames": "frames",
    "user": "user",
    "assistant": "assistant",
    "tool_results": "tool results",
}
_EIGHTHS = " ▏▎▍▌▋▊▉"
_LABEL_CELLS = 15
_ROLE_CELLS = 10
_ROLES = {"toolResult": "result", "compactionSummary": "compaction", "branchSummary": "branch", "fileMention": "files"}
_SUMMARIES = {"compactionSummary", "branchSummary"}


def gauge_lines(usage: ContextUsage, terminal: Terminal) -> Iterator[str]:
    """How full the context is: a bar with the threshold in it, the figures, and where the tokens go."""
    if usage.context_window > 0:
        wide = terminal.width - 36
        share = usage.tokens / usage.context_window
        mark = min(wide - 1, round(wide * usage.threshold / usage.context_window)) if usage.threshold else None
        over = bool(usage.threshold) and usage.tokens > usage.threshold
        style: Style = "red" if over else "yellow" if share > 0.6 else "green"
        figures = f"{usage.tokens:,} of {usage.context_window:,}  {100 * share:.1f} %"
        yield f"  {_bar(share, wide, style, terminal, mark)}  {terminal.paint(figures, 'bold')}"
    else:
        yield f"  {terminal.paint(f'{usage.tokens:,} tokens', 'bold')}, the window of the model is not known"
    parts = {name: getattr(usage.breakdown, name) for name in _KINDS}
    total = max(1, sum(parts.values()))
    yield terminal.paint(f"  {fit(_source(usage, total), terminal.width - 2)}", "dim")
    for name, tokens in sorted(parts.items(), key=lambda part: -part[1]):
        if tokens:
            bar = _bar(tokens / total, 24, "cyan", terminal)
            yield f"  {pad(_KINDS[name], _LABEL_CELLS)}{bar} {tokens:>10,}  {100 * tokens / total:4.0f} %"


def message_lines(
    messages: Sequence[JsonObject], terminal: Terminal, *, tokens_after: int | None = None
) -> Iterator[str]:
    """One line a message; a compaction is a divider across the width."""
    digits = len(str(len(messages)))
    for number, message in enumerate(messages, 1):
        role = message.get("role")
        if role in _SUMMARIES:
            yield divider_of(message, terminal, tokens_after)
            continue
        entry = {"type": "message", "message": message}
        name = _ROLES.get(str(role), clean(str(role)))
        text = clean(preview(entry, tools=False))
        if calls := ", ".join(map(clean, tool_names(entry))):
            text = f"{text}  ⚙ {calls}" if text else f"⚙ {calls}"
        room = terminal.width - digits - _ROLE_CELLS - 4
        place = terminal.paint(f"{number:>{digits}}", "dim")
        style = _role_style(role, message)
        yield f"  {place} {terminal.paint(pad(name, _ROLE_CELLS), *style)} {fit(text or '—', room)}"


def divider_of(message: JsonObject, terminal: Terminal, tokens_after: int | None = None) -> str:
    """The line that stands for a compaction or a branch summary in a transcript."""
    before = message.get("tokensBefore")
    if message.get("role") == "branchSummary":
        return terminal.divider(f"left a branch · {clean(str(message.get('summary', '')))}", "yellow")
    if not isinstance(before, int | float):
        return terminal.divider("compacted", "bold", "yellow")
    after = "summary" if tokens_after is None else f"{tokens_after:,}"
    return terminal.divider(f"compacted · {int(before):,} tokens → {after}", "bold", "yellow")


def image_count(message: JsonObject) -> int:
    """Image blocks of a message, those of an archive included."""
    found = 0
    for name in ("content", "images"):
        blocks = message.get(name)
        for block in blocks if isinstance(blocks, list) else ():
            found += isinstance(block, dict) and block.get("type") == "image"
    return found


def context_note(messages: Sequence[JsonObject]) -> str:
    """What a context consists of, in a few words."""
    images = sum(map(image_count, messages))
    return count(len(messages), "message") + (f" · {count(images, 'image')}" if images else "")


def _source(usage: ContextUsage, total: int) -> str:
    how = f"the provider's count (ours: {total:,})" if usage.source == "usage" else "our count"
    parts = [clean(usage.model) if usage.model else "no model", how]
    if usage.threshold:
        parts.append(f"maintenance above {usage.threshold:,}")
    return " · ".join(parts)


def _role_style(role: object, message: JsonObject) -> tuple[Style, ...]:
    if message.get("isError") is True or message.get("stopReason") == "error":
        return ("red",)
    if role == "user":
        return "bold", "green"
    return ("blue",) if role == "assistant" else ("dim",)


def _bar(share: float, wide: int, style: Style, terminal: Terminal, mark: int | None = None) -> str:
    eighths = round(max(0.0, min(1.0, share)) * wide * 8)
    full, part = divmod(eighths, 8)
    filled = "█" * full + (_EIGHTHS[part] if part else "")
    empty = "·" * (wide - cells(filled))
    if mark is not None and mark >= len(filled):
        at = mark - len(filled)
        empty = f"{empty[:at]}│{empty[at + 1 :]}"
    return f"{terminal.paint(filled, style)}{terminal.paint(empty, 'dim')}"
