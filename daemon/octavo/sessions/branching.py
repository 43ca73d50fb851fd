"""Moving about in the tree and taking a path out of it (engine.md §1.11, §2.2, §2.3).

Pure: each function looks at a tree and returns what should be written or where the leaf should go. Writing, hooks and
the model call for a branch summary are other modules' work.

Deviation from the seed in `branch_out`: entries whose parent was a dropped label hang under the nearest kept ancestor
(the seed leaves them orphaned and loses everything before them), a compaction whose boundary was a dropped label keeps
from the next entry on, and calls that were still running are closed with an aborted result when asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from octavo import templates
from octavo.sessions.entry_factory import Stamp, label_entry, message_entry
from octavo.sessions.ids import epoch_ms
from octavo.sessions.llm_messages import message_text
from octavo.sessions.pairing import call_ids
from octavo.sessions.tree import SessionTree, entry_not_found
from octavo_protocol.base import JsonObject


@dataclass(frozen=True, slots=True)
class Abandoned:
    """The entries a navigation leaves behind, oldest first, and the deepest entry both paths share."""

    entries: list[JsonObject]
    common_ancestor_id: str | None


def collect_for_branch_summary(tree: SessionTree, old_leaf_id: str | None, target_id: str) -> Abandoned:
    """Return what lies on the way from the common ancestor to the old leaf (collectEntriesForBranchSummary).

    Compactions do not end the walk. Unknown ids count as empty paths: an unknown target shares nothing with the old
    path, an unknown old leaf leaves nothing behind.
    """
    old_path = tree.path(old_leaf_id) if old_leaf_id in tree else []
    target_path = tree.path(target_id) if target_id in tree else []
    position = {entry["id"]: number for number, entry in enumerate(old_path)}
    ancestor = next((entry["id"] for entry in reversed(target_path) if entry["id"] in position), None)
    first = 0 if ancestor is None else position[ancestor] + 1
    return Abandoned(old_path[first:], ancestor)


@dataclass(frozen=True, slots=True)
class Navigation:
    """Where a navigation leads.

    Attributes:
        leaf_id: The leaf to set; None makes the next entry a root.
        editor_text: What goes back into the editor, for messages that are written again.
        stays: Whether the target already is the leaf, so that nothing at all happens.
    """

    leaf_id: str | None
    editor_text: str | None = None
    stays: bool = False


def resolve_navigation(tree: SessionTree, target_id: str) -> Navigation:
    """Decide where navigating to an entry leads (engine.md §2.3, steps 1, 3 and 7).

    A user message and a custom message lead to their parent with their text for the editor; anything else is the new
    leaf itself.

    Raises:
        OctavoError: `entry-not-found`.
    """
    if target_id == tree.leaf_id:
        return Navigation(target_id, stays=True)
    entry = tree.get(target_id)
    message = entry.get("message")
    if entry.get("type") == "custom_message":
        return Navigation(tree.parent_of(target_id), message_text(entry))
    if entry.get("type") == "message" and isinstance(message, dict) and message.get("role") == "user":
        return Navigation(tree.parent_of(target_id), message_text(message))
    return Navigation(target_id)


class BranchRules(Enum):
    """Whose rules `branch_out` follows."""

    SEED = auto()
    OCTAVO = auto()


def branch_out(
    tree: SessionTree,
    leaf_id: str,
    *,
    new_id: Callable[[], str],
    timestamp: str,
    rules: BranchRules = BranchRules.OCTAVO,
    close_open_calls: bool = False,
) -> list[JsonObject]:
    """Return the entries of a new session that holds only the path to `leaf_id` (createBranchedSession).

    Label entries are left out; for each label in effect whose target is kept a fresh one follows at the end, chained.

    Args:
        tree: The session to branch from.
        leaf_id: The last entry to take along.
        new_id: Draws ids for the fresh labels and closing results.
        timestamp: ISO timestamp of those.
        rules: Whether to repair parents as described at the top of the module.
        close_open_calls: Append an aborted result for each call of the last turn that has none yet.

    Raises:
        OctavoError: `entry-not-found`.
    """
    if leaf_id not in tree:
        raise entry_not_found(leaf_id)
    path = tree.path(leaf_id)
    kept = [entry for entry in path if entry.get("type") != "label"]
    targets = {entry["id"] for entry in kept}
    if rules is BranchRules.OCTAVO:
        kept = _reparented(path, kept)
        if close_open_calls:
            kept.extend(_closing_results(kept, new_id, timestamp))
    parent = kept[-1]["id"] if kept else None
    for target, label in tree.labels.items():
        if target in targets:
            kept.append(label_entry(Stamp(new_id(), parent, timestamp), target, label))
            parent = kept[-1]["id"]
    return kept


def _reparented(path: Sequence[JsonObject], kept: Sequence[JsonObject]) -> list[JsonObject]:
    moved = _boundaries_after_labels(path)
    chained: list[JsonObject] = []
    parent: str | None = None
    for entry in kept:
        changes: JsonObject = {}
        if entry.get("parentId") != parent:
            changes["parentId"] = parent
        boundary = entry.get("firstKeptEntryId")
        if isinstance(boundary, str) and boundary in moved:
            changes["firstKeptEntryId"] = moved[boundary]
        chained.append({**entry, **changes} if changes else entry)
        parent = entry["id"]
    return chained


def _boundaries_after_labels(path: Sequence[JsonObject]) -> dict[str, str]:
    """Map each label on the path to the first kept entry behind it."""
    moved: dict[str, str] = {}
    following: str | None = None
    for entry in reversed(path):
        if entry.get("type") != "label":
            following = entry["id"]
        elif following is not None:
            moved[entry["id"]] = following
    return moved


def _closing_results(kept: Sequence[JsonObject], new_id: Callable[[], str], timestamp: str) -> list[JsonObject]:
    closing: list[JsonObject] = []
    parent = kept[-1]["id"] if kept else None
    for call, name in open_calls(kept):
        result = {
            "role": "toolResult",
            "toolCallId": call,
            "toolName": name,
            "content": [{"type": "text", "text": templates.render("aborted-call")}],
            "isError": True,
            "timestamp": epoch_ms(timestamp) or 0,
        }
        closing.append(message_entry(Stamp(new_id(), parent, timestamp), result))
        parent = closing[-1]["id"]
    return closing


def open_calls(path: Sequence[JsonObject]) -> list[tuple[str, str]]:
    """Return (id, tool name) of the calls of the last assistant turn of a path that have no result yet."""
    answered: set[str] = set()
    for entry in reversed(path):
        message = entry.get("message")
        if entry.get("type") != "message" or not isinstance(message, dict):
            continue
        if message.get("role") == "toolResult":
            answered.add(str(message.get("toolCallId")))
        elif message.get("role") == "assistant":
            names = _call_names(message)
            return [(call, names.get(call, "")) for call in call_ids(message) if call not in answered]
    return []


def _call_names(message: JsonObject) -> dict[str, str]:
    content = message.get("content")
    return {
        str(block.get("id")): str(block.get("name") or "")
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict)
    }
