"""A window of the session tree as rows that an editor can draw without ever pulling ten thousand nodes at once.

Pure and linear in the tree, without recursion, so that a history 40,000 entries deep is as good as any. Rows are flat
and in pre-order; nesting is in `parent_id` and `depth`. Filters (engine.md §2.3):

- `default`: conversation and summaries; hides entries that only set something (model, mode, labels, custom state) and
  custom messages that are not for display;
- `no-tools`: the same without tool results and without assistant turns that consist of tool calls only;
- `user-only`: messages of the user;
- `labeled-only`: entries that carry a label;
- `all`: every entry.

Leaf markers are never shown.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from octavo.sessions.previews import is_error, preview, tool_names
from octavo.sessions.tree import SessionTree
from octavo_protocol.base import JsonObject

TreeFilter = Literal["default", "no-tools", "user-only", "labeled-only", "all"]

_SETTINGS = frozenset(
    {
        "thinking_level_change",
        "model_change",
        "service_tier_change",
        "custom",
        "label",
        "ttsr_injection",
        "mcp_tool_selection",
        "session_init",
        "mode_change",
        "session_info",
        "title_change",
        "credential_pin",
        "model_usage",
    }
)


@dataclass(slots=True)
class TreeRow:
    """One shown entry; field meanings are those of the protocol's `TreeNode`."""

    id: str
    parent_id: str | None
    depth: int
    type: str
    role: str | None
    timestamp: str | None
    text: str
    label: str | None
    tool_names: list[str]
    is_error: bool
    on_branch: bool
    is_leaf: bool
    child_count: int
    hidden_children: int

    def to_wire(self) -> JsonObject:
        """Return the object of `session/getTree`, absent values left out."""
        row: JsonObject = {
            "id": self.id,
            "parentId": self.parent_id,
            "depth": self.depth,
            "type": self.type,
            "role": self.role,
            "timestamp": self.timestamp,
            "text": self.text,
            "label": self.label,
            "toolNames": self.tool_names,
            "isError": self.is_error,
            "onBranch": self.on_branch,
            "isLeaf": self.is_leaf,
            "childCount": self.child_count,
            "hiddenChildren": self.hidden_children,
        }
        return {key: value for key, value in row.items() if value is not None}


@dataclass(slots=True)
class TreeWindow:
    """The rows of one answer and what lies around them.

    Attributes:
        rows: Shown entries in pre-order, children sorted by timestamp.
        hidden_before: Matching entries before the first row that the window leaves out.
        hidden_after: Matching entries after the last row that the window leaves out.
        matching: Entries of the whole tree that pass the filter, whatever `max_depth` and the window hide.
        total: Entries of the whole tree, markers not counted.
        leaf_id: The leaf, shown or not.
    """

    rows: list[TreeRow]
    hidden_before: int
    hidden_after: int
    matching: int
    total: int
    leaf_id: str | None


@dataclass(slots=True)
class _Outline:
    """The tree of matching entries in pre-order."""

    ids: list[str] = field(default_factory=list)
    parents: list[str | None] = field(default_factory=list)
    generation: dict[str, int] = field(default_factory=dict)
    forks: dict[str, int] = field(default_factory=dict)
    child_count: dict[str | None, int] = field(default_factory=dict)
    total: int = 0


def view_tree(
    tree: SessionTree,
    *,
    filter_mode: TreeFilter = "default",
    max_depth: int | None = None,
    around: str | None = None,
    window: int = 500,
) -> TreeWindow:
    """Return a window of the tree.

    Args:
        tree: The session.
        filter_mode: Which entries to show.
        max_depth: Generations of shown entries below the roots, or below `around` if that is given; None for all.
        around: The entry the window is centred on; None centres it on the leaf. If it is not shown itself, its nearest
            shown ancestor stands for it.
        window: The largest number of rows.

    Raises:
        OctavoError: `entry-not-found` for an unknown `around`.
    """
    if around is not None:
        tree.get(around)
    outline = _outline(tree, _shows(tree, filter_mode))
    branch = {entry["id"] for entry in tree.path(tree.leaf_id)}
    leaf_row = _nearest(tree, tree.leaf_id, outline)
    centre = leaf_row if around is None else _nearest(tree, around, outline)
    listed = list(range(len(outline.ids)))
    if max_depth is not None:
        below = outline.generation[centre] if around is not None and centre is not None else 0
        listed = [n for n in listed if outline.generation[outline.ids[n]] <= below + max_depth]
    start = _window_start([outline.ids[n] for n in listed], centre, window)
    chosen = listed[start : start + window]
    shown: dict[str | None, int] = {}
    for n in chosen:
        shown[outline.parents[n]] = shown.get(outline.parents[n], 0) + 1
    rows = [_row(tree, outline, n, branch, leaf_row, shown) for n in chosen]
    return TreeWindow(
        rows=rows,
        hidden_before=start,
        hidden_after=len(listed) - start - len(chosen),
        matching=len(outline.ids),
        total=outline.total,
        leaf_id=tree.leaf_id,
    )


def _shows(tree: SessionTree, filter_mode: TreeFilter) -> Callable[[JsonObject], bool]:
    if filter_mode == "all":
        return lambda _entry: True
    if filter_mode == "labeled-only":
        return lambda entry: tree.label_of(entry["id"]) is not None
    if filter_mode == "user-only":
        return lambda entry: _role(entry) == "user"
    if filter_mode == "no-tools":
        return lambda entry: _is_conversation(entry) and not _is_only_tools(entry)
    return _is_conversation


def _role(entry: JsonObject) -> str | None:
    message = entry.get("message")
    if entry.get("type") != "message" or not isinstance(message, dict):
        return None
    role = message.get("role")
    return role if isinstance(role, str) else None


def _is_conversation(entry: JsonObject) -> bool:
    kind = entry.get("type")
    return kind not in _SETTINGS and (kind != "custom_message" or entry.get("display") is not False)


def _is_only_tools(entry: JsonObject) -> bool:
    role = _role(entry)
    return role == "toolResult" or (role == "assistant" and bool(tool_names(entry)) and not preview(entry, tools=False))


def _outline(tree: SessionTree, shows: Callable[[JsonObject], bool]) -> _Outline:
    outline = _Outline()
    stack: list[tuple[str, str | None]] = [(root, None) for root in reversed(tree.sorted_children(None))]
    while stack:
        own, parent = stack.pop()
        outline.total += 1
        if shows(tree.by_id[own]):
            outline.ids.append(own)
            outline.parents.append(parent)
            outline.child_count[parent] = outline.child_count.get(parent, 0) + 1
            outline.generation[own] = 0 if parent is None else outline.generation[parent] + 1
            parent = own
        stack.extend((child, parent) for child in reversed(tree.sorted_children(own)))
    for own, above in zip(outline.ids, outline.parents, strict=True):
        forked = above is not None and outline.child_count[above] > 1
        outline.forks[own] = (0 if above is None else outline.forks[above]) + forked
    return outline


def _nearest(tree: SessionTree, entry_id: str | None, outline: _Outline) -> str | None:
    """Return the entry itself or its nearest shown ancestor."""
    if entry_id is None:
        return None
    return next((e["id"] for e in reversed(tree.path(entry_id)) if e["id"] in outline.generation), None)


def _window_start(ids: list[str], centre: str | None, window: int) -> int:
    if len(ids) <= window or centre is None:
        return 0
    try:
        at = ids.index(centre)
    except ValueError:  # deeper than max_depth: show the end, where it would be
        at = len(ids)
    return max(0, min(at - window // 2, len(ids) - window))


def _row(
    tree: SessionTree,
    outline: _Outline,
    number: int,
    branch: set[str],
    leaf_row: str | None,
    shown: dict[str | None, int],
) -> TreeRow:
    own = outline.ids[number]
    entry = tree.by_id[own]
    children = outline.child_count.get(own, 0)
    kind, timestamp = entry.get("type"), entry.get("timestamp")
    return TreeRow(
        id=own,
        parent_id=outline.parents[number],
        depth=outline.forks[own],
        type=kind if isinstance(kind, str) else "",
        role=_role(entry),
        timestamp=timestamp if isinstance(timestamp, str) else None,
        text=preview(entry),
        label=tree.label_of(own),
        tool_names=tool_names(entry),
        is_error=is_error(entry),
        on_branch=own in branch,
        is_leaf=own == leaf_row,
        child_count=children,
        hidden_children=children - shown.get(own, 0),
    )
