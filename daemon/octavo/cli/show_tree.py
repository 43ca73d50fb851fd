"""A session tree as lines: every entry with the shape of its forks, or one line a turn.

Works on a `session/getTree` answer and knows no daemon.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from octavo.cli.terminal import Style, Terminal, cells, clean, count, fit, pad
from octavo_protocol.methods.tree import GetTreeResult, TreeNode

_ROLES = {
    "user": "user",
    "developer": "developer",
    "assistant": "assistant",
    "toolResult": "result",
    "bashExecution": "!bash",
    "pythonExecution": "!python",
    "compaction": "compaction",
    "branch_summary": "branch",
    "custom_message": "custom",
    "fileMention": "files",
}
_KIND_CELLS = 10
_MOST_GUIDE = 200
"""Cells of guides that are remembered; more than any terminal shows."""


@dataclass(slots=True)
class _Guides:
    """The lines left of a node: `own` before the node itself, `below` before what follows it."""

    own: str = ""
    below: str = ""


def node_lines(tree: GetTreeResult, terminal: Terminal) -> Iterator[str]:
    """One line an entry: guides of the forks, kind, text, label; what is off the branch is dim."""
    if tree.hidden_before:
        yield terminal.paint(f"  … {count(tree.hidden_before, 'more node')} before", "dim")
    guides = _guides(tree.nodes)
    for node in tree.nodes:
        yield node_line(node, terminal, guides[node.id].own)
    if tree.hidden_after:
        yield terminal.paint(f"  … {count(tree.hidden_after, 'more node')} after", "dim")


def node_line(node: TreeNode, terminal: Terminal, guide: str = "", *, alone: bool = False) -> str:
    """One entry on one line; `alone` shows it without its place in the tree."""
    guide = _short_guide(guide, terminal.width // 3)
    ending = f"  [{clean(node.label)}]" if node.label else ""
    if not alone:
        ending += "  ◀ leaf" if node.is_leaf else ""
        ending += f"  ⋯{count(node.hidden_children, 'more child', 'more children')}" if node.hidden_children else ""
    kind = _kind(node)
    room = terminal.width - cells(guide) - _KIND_CELLS - cells(ending) - 5
    text = fit(_text(node), max(8, room))
    return (
        f"  {terminal.paint(guide, 'dim')}{terminal.paint(pad(kind, _KIND_CELLS), *_style(node))} "
        f"{terminal.paint(text, *_text_style(node))}{terminal.paint(ending, 'yellow')}"
    )


@dataclass(slots=True)
class Turn:
    """A request of the user, or another entry that stands alone, and what followed until the next."""

    head: TreeNode
    guide: str
    steps: int = 0
    errors: int = 0
    leaf: bool = False
    labels: list[str] = field(default_factory=list)

    def add(self, node: TreeNode) -> None:
        """Count a node of the turn in."""
        self.steps += len(node.tool_names)
        self.errors += node.is_error
        self.leaf = self.leaf or node.is_leaf
        if node.label:
            self.labels.append(node.label)


def turn_lines(tree: GetTreeResult, terminal: Terminal, *, most: int = 30) -> Iterator[str]:
    """One line a turn, with when it began, how many calls it took and how many failed; the middle may be left out."""
    turns = turns_of(tree)
    if tree.hidden_before:
        yield terminal.paint(f"  … {count(tree.hidden_before, 'entry', 'entries')} before", "dim")
    head, tail = (len(turns), 0) if len(turns) <= most else (most // 3, most - most // 3 - 1)
    day = ""
    for number, turn in enumerate(turns):
        if number == head and tail:
            yield terminal.paint(f"            … {count(len(turns) - head - tail, 'more turn')} …", "dim")
        if head <= number < len(turns) - tail:
            continue
        when = _time(turn.head.timestamp)
        today, clock = (when.strftime("%a %d %b"), when.strftime("%H:%M")) if when else ("", "")
        yield _turn_line(turn, today if today != day else "", clock, terminal)
        day = today
    if tree.hidden_after:
        yield terminal.paint(f"  … {count(tree.hidden_after, 'entry', 'entries')} after", "dim")


def turns_of(tree: GetTreeResult) -> list[Turn]:
    """Fold a tree into turns; a fork ends a turn."""
    guides = _guides(tree.nodes)
    turns: list[Turn] = []
    before: TreeNode | None = None
    for node in tree.nodes:
        continues = before is not None and node.parent_id == before.id and before.child_count <= 1
        if not turns or not continues or not _within_turn(node):
            turns.append(Turn(node, guides[node.id].own))
        turns[-1].add(node)
        before = node
    return turns


def _within_turn(node: TreeNode) -> bool:
    return node.role in {"assistant", "toolResult", "fileMention"}


def _turn_line(turn: Turn, day: str, clock: str, terminal: Terminal) -> str:
    node = turn.head
    label = turn.labels[-1] if turn.labels else None
    note = count(turn.steps, "call") if turn.steps else ""
    note += f" · {turn.errors} failed" if turn.errors else ""
    marks = f" [{clean(label)}]" if label else ""
    marks += " ◀ leaf" if turn.leaf else ""
    sign = "›" if node.role == "user" else _kind(node)
    guide = _short_guide(turn.guide, terminal.width // 3)
    left = f"  {pad(day, 10)} {pad(clock, 5)}  "
    room = terminal.width - cells(left) - cells(guide) - cells(sign) - cells(marks) - cells(note) - 4
    text = pad(_text(node), max(8, room))
    return (
        f"{terminal.paint(left, 'dim')}{terminal.paint(guide, 'dim')}{terminal.paint(sign, *_style(node))} "
        f"{terminal.paint(text, *_text_style(node))}{terminal.paint(marks, 'yellow')}  "
        f"{terminal.paint(note, *(('red',) if turn.errors and node.on_branch else ('dim',)))}"
    )


def _guides(nodes: Sequence[TreeNode]) -> dict[str, _Guides]:
    """What to draw left of each node: nothing along a chain, a branch line where its parent forks.

    The branch with the leaf goes straight on below its siblings, so that a long session does not drift to the right.
    """
    last = {node.parent_id: node.id for node in nodes}
    guides: dict[str, _Guides] = {}
    parents = {node.id: node for node in nodes}
    for node in nodes:
        parent = parents.get(node.parent_id or "")
        above = guides[parent.id].below if parent is not None else ""
        is_last = last[node.parent_id] == node.id
        if parent is None or parent.child_count <= 1 or (is_last and node.on_branch):
            guides[node.id] = _Guides(above, above)
        elif is_last:
            guides[node.id] = _Guides(f"{above}└─", f"{above}  "[-_MOST_GUIDE:])
        else:
            guides[node.id] = _Guides(f"{above}├─", f"{above}│ "[-_MOST_GUIDE:])
    return guides


def _short_guide(guide: str, most: int) -> str:
    """Cut the guides of a tree with very many nested forks on their left."""
    return guide if len(guide) <= most else f"⋮ {guide[-most:]}"


def _kind(node: TreeNode) -> str:
    name = (node.role or "message") if node.type == "message" else node.type
    return _ROLES.get(name, clean(name))


def _text(node: TreeNode) -> str:
    text = clean(node.text)
    if node.tool_names:
        calls = ", ".join(clean(name) for name in node.tool_names)
        text = f"⚙ {calls}" if text == calls or not text else f"{text}  ⚙ {calls}"
    return text or "—"


def _style(node: TreeNode) -> tuple[Style, ...]:
    if not node.on_branch:
        return ("dim",)
    if node.is_error:
        return ("red",)
    if node.role == "user":
        return "bold", "green"
    if node.type in {"compaction", "branch_summary"}:
        return "bold", "yellow"
    return ("blue",) if node.role == "assistant" else ("dim",)


def _text_style(node: TreeNode) -> tuple[Style, ...]:
    if not node.on_branch:
        return ("dim",)
    return ("dim",) if node.role == "toolResult" and not node.is_error else ()


def _time(timestamp: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(timestamp) if timestamp else None
    except ValueError:
        return None
