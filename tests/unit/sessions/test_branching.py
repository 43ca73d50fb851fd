"""Navigation targets, what a navigation leaves behind, and sessions made of a path."""

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.sessions.branching import (
    BranchRules,
    branch_out,
    collect_for_branch_summary,
    open_calls,
    resolve_navigation,
)
from octavo.sessions.context import build_context
from octavo.sessions.entry_factory import Stamp, branch_summary_entry, label_entry, session_header
from octavo.sessions.tree import LEAF_MARKER, SessionTree
from octavo_protocol.errors import OctavoError

AT = "2026-01-01T00:00:00.000Z"
HEADER = session_header("s", AT, "/x")


def entry(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": AT, **fields}


def said(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return entry("message", message={"role": role, "content": content, **fields})


def tree_of(*entries: dict[str, Any]) -> SessionTree:
    tree = SessionTree(HEADER)
    for number, made in enumerate(entries):
        tree.add({"id": f"e{number}", "parentId": tree.leaf_id, **made})
    return tree


def taken_out(tree: SessionTree, leaf: str, **options: Any) -> list[dict[str, Any]]:
    ids = count()
    return branch_out(tree, leaf, new_id=lambda: f"new{next(ids)}", timestamp=AT, **options)


# -- navigation --------------------------------------------------------------------------------------------------------


def test_a_users_message_goes_back_into_the_editor() -> None:
    blocks = [{"type": "text", "text": "sec"}, {"type": "image"}, {"type": "text", "text": "ond"}]
    tree = tree_of(said("user", "first"), said("assistant", []), said("user", blocks), said("assistant", []))
    assert resolve_navigation(tree, "e0").leaf_id is None
    assert resolve_navigation(tree, "e0").editor_text == "first"
    assert (resolve_navigation(tree, "e2").leaf_id, resolve_navigation(tree, "e2").editor_text) == ("e1", "second")


def test_a_custom_message_goes_back_into_the_editor_too() -> None:
    tree = tree_of(said("user", "u"), entry("custom_message", customType="c", content="draft"), said("assistant", []))
    navigation = resolve_navigation(tree, "e1")
    assert (navigation.leaf_id, navigation.editor_text) == ("e0", "draft")


@pytest.mark.parametrize(
    "target",
    [
        said("assistant", []),
        said("toolResult", []),
        said("bashExecution", None),
        entry("compaction", summary="S"),
        entry("branch_summary", summary="S"),
        entry("label", targetId="e0", label="x"),
        entry("model_change", model="p/m"),
    ],
)
def test_anything_else_becomes_the_leaf(target: dict[str, Any]) -> None:
    navigation = resolve_navigation(tree_of(said("user", "u"), target, said("assistant", [])), "e1")
    assert (navigation.leaf_id, navigation.editor_text, navigation.stays) == ("e1", None, False)


def test_navigating_to_the_leaf_does_nothing_even_for_a_users_message() -> None:
    """Engine.md §17 no. 14 and 35: the comparison is with the leaf, be it a label."""
    tree = tree_of(said("user", "u"))
    assert resolve_navigation(tree, "e0").stays
    tree.add(label_entry(Stamp("l", "e0", AT), "e0", "x"))
    assert not resolve_navigation(tree, "e0").stays
    assert resolve_navigation(tree, "l").stays


def test_an_unknown_target_is_named() -> None:
    with pytest.raises(OctavoError, match=r"^Entry nope not found$"):
        resolve_navigation(tree_of(said("user", "u")), "nope")


def test_what_a_navigation_leaves_is_the_way_from_the_fork() -> None:
    tree = tree_of(said("user", "0"), said("assistant", []), entry("compaction", summary="S"), said("user", "3"))
    abandoned = collect_for_branch_summary(tree, "e3", "e0")
    assert [e["id"] for e in abandoned.entries] == ["e1", "e2", "e3"]
    assert abandoned.common_ancestor_id == "e0"
    assert collect_for_branch_summary(tree, None, "e0").entries == []


def test_a_branch_summary_names_where_it_hangs() -> None:
    """Engine.md §17 no. 12: the attachment point, not the leaf that was left."""
    assert branch_summary_entry(Stamp("b", "e1", AT), "S")["fromId"] == "e1"
    assert branch_summary_entry(Stamp("b", None, AT), "S")["fromId"] == "root"


# -- taking a path out -------------------------------------------------------------------------------------------------


def labelled() -> SessionTree:
    tree = tree_of(said("user", "u1"))
    tree.add(label_entry(Stamp("l1", "e0", AT), "e0", "start"))
    tree.add({"id": "e1", "parentId": "l1", **said("assistant", "a1")})
    tree.add({"id": "e2", "parentId": "e1", **said("user", "u2")})
    return tree


def test_a_label_in_the_path_does_not_cut_off_what_lies_before_it() -> None:
    """BR-017, engine.md §17 no. 1: every copied entry's parent exists in the new file."""
    entries = taken_out(labelled(), "e2")
    assert [(e["id"], e["parentId"]) for e in entries] == [("e0", None), ("e1", "e0"), ("e2", "e1"), ("new0", "e2")]
    assert {key: entries[3][key] for key in ("type", "targetId", "label")} == {
        "type": "label",
        "targetId": "e0",
        "label": "start",
    }
    tree = SessionTree(HEADER, entries)
    assert [m["content"] for m in build_context(tree.path(tree.leaf_id)).messages] == ["u1", "a1", "u2"]


def test_the_seeds_rule_leaves_the_entry_after_a_label_without_its_parent() -> None:
    entries = taken_out(labelled(), "e2", rules=BranchRules.SEED)
    assert [(e["id"], e["parentId"]) for e in entries] == [("e0", None), ("e1", "l1"), ("e2", "e1"), ("new0", "e2")]
    assert [e["id"] for e in SessionTree(HEADER, entries).path("new0")] == ["e1", "e2", "new0"]


def test_labels_come_along_only_for_entries_that_do() -> None:
    tree = labelled()
    tree.add(label_entry(Stamp("l2", "e2", AT), "e1", "middle"))
    tree.add(label_entry(Stamp("l3", "l2", AT), "e2", "end"))
    assert [e["id"] for e in taken_out(tree, "e1")] == ["e0", "e1", "new0", "new1"]
    assert [e["parentId"] for e in taken_out(tree, "e1")][2:] == ["e1", "new0"]
    assert [e.get("label") for e in taken_out(tree, "l3")][3:] == ["start", "middle", "end"]


def test_a_boundary_on_a_dropped_label_moves_to_the_next_entry() -> None:
    tree = labelled()
    tree.add({"id": "c", "parentId": "e2", **entry("compaction", summary="S", firstKeptEntryId="l1", tokensBefore=1)})
    entries = taken_out(tree, "c")
    context = build_context(SessionTree(HEADER, entries).path("c"))
    assert context.entry_ids == ["c", "e1", "e2"]
    assert context.notes == []
    assert tree.by_id["c"]["firstKeptEntryId"] == "l1"


def test_hidden_markers_do_not_come_along() -> None:
    marker = {"id": "m", "parentId": "e0", **entry("custom", customType=LEAF_MARKER, data={"leafId": "e0"})}
    tree = SessionTree(HEADER, [{"id": "e0", "parentId": None, **said("user", "u")}, marker])
    tree.add({"id": "f", "parentId": "m", **said("user", "foreign")})
    assert [(e["id"], e["parentId"]) for e in taken_out(tree, "f")] == [("e0", None), ("f", "e0")]


def test_calls_still_running_are_closed_when_asked_for() -> None:
    """Engine.md §17 no. 136."""
    blocks = [{"type": "toolCall", "id": own, "name": f"tool-{own}", "arguments": {}} for own in ("1", "2")]
    tree = tree_of(said("user", "u"), said("assistant", blocks), said("toolResult", [], toolCallId="1"))
    assert open_calls(tree.path("e2")) == [("2", "tool-2")]
    assert [e["id"] for e in taken_out(tree, "e2")] == ["e0", "e1", "e2"]
    closed = taken_out(tree, "e2", close_open_calls=True)
    message = closed[-1]["message"]
    assert (message["toolCallId"], message["toolName"], message["isError"]) == ("2", "tool-2", True)
    assert message["content"][0]["text"]
    context = build_context(SessionTree(HEADER, closed).path(closed[-1]["id"]))
    assert context.messages[1] is closed[1]["message"]
    assert context.notes == []


def test_entries_that_need_no_change_are_the_same_objects() -> None:
    tree = tree_of(said("user", "u"), said("assistant", []))
    assert all(copied is own for copied, own in zip(taken_out(tree, "e1"), tree.entries, strict=True))


def test_branching_out_at_an_unknown_entry_names_it() -> None:
    with pytest.raises(OctavoError, match=r"^Entry nope not found$"):
        taken_out(labelled(), "nope")


KINDS = st.sampled_from(["message", "label", "compaction", "marker"])


@given(st.lists(st.tuples(KINDS, st.integers(0, 20)), min_size=1, max_size=15))
def test_every_entry_of_a_branched_session_is_reachable_from_its_one_root(rows: list[tuple[str, int]]) -> None:
    """BR-017: one root, all reachable, whatever was left out."""
    tree = SessionTree(HEADER)
    previous: str | None = None
    for number, (kind, other) in enumerate(rows):
        own = f"e{number}"
        made: dict[str, Any] = {"type": kind, "id": own, "parentId": previous, "timestamp": AT}
        if kind == "marker":
            made |= {"type": "custom", "customType": LEAF_MARKER, "data": {"leafId": previous}}
        elif kind == "label":
            made |= {"targetId": f"e{other}", "label": "x"}
        elif kind == "compaction":
            made |= {"summary": "S", "firstKeptEntryId": f"e{other}"}
        tree.add(made)
        previous = own
    if tree.leaf_id is None:
        return
    entries = taken_out(tree, tree.leaf_id)
    if not entries:
        return
    branched = SessionTree(HEADER, entries)
    assert len(branched.children(None)) == 1
    assert branched.path(branched.leaf_id) == entries
    kept = [e["id"] for e in tree.path(tree.leaf_id) if e["type"] != "label"]
    assert [e["id"] for e in entries][: len(kept)] == kept
