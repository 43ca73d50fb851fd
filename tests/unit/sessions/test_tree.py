"""The session tree: paths, leaf, children, labels, and how much work they take."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from octavo.sessions.tree import LEAF_MARKER, SessionTree
from octavo_protocol.errors import ErrorKind, OctavoError

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/x"}


def entry(own: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    base = {"type": "message", "id": own, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z"}
    return {**base, "message": {"role": "user", "content": own}, **fields}


def label(own: str, parent: str | None, target: str, text: str | None) -> dict[str, Any]:
    fields = {"targetId": target} if text is None else {"targetId": target, "label": text}
    return {"type": "label", "id": own, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z", **fields}


def marker(own: str, leaf: str | None) -> dict[str, Any]:
    fields = {"customType": LEAF_MARKER, "data": {"leafId": leaf}}
    return {"type": "custom", "id": own, "parentId": leaf, "timestamp": "2026-01-01T00:00:00.000Z", **fields}


def chain(count: int) -> list[dict[str, Any]]:
    return [entry(f"e{n}", f"e{n - 1}" if n else None) for n in range(count)]


def path_ids(tree: SessionTree, leaf: str | None) -> list[str]:
    return [e["id"] for e in tree.path(leaf)]


def test_the_leaf_of_a_loaded_session_is_its_last_entry() -> None:
    tree = SessionTree(HEADER, [*chain(3), entry("b", "e0")])
    assert tree.leaf_id == "b"
    assert path_ids(tree, "b") == ["e0", "b"]
    assert path_ids(tree, "e2") == ["e0", "e1", "e2"]


def test_an_append_hangs_where_its_parent_says_and_becomes_the_leaf() -> None:
    tree = SessionTree(HEADER, chain(3))
    tree.move_leaf("e0")
    tree.add(entry("b", tree.leaf_id))
    assert tree.leaf_id == "b"
    assert tree.children("e0") == ["e1", "b"]
    assert path_ids(tree, "e2") == ["e0", "e1", "e2"]


def test_moving_the_leaf_to_nothing_makes_the_next_entry_a_second_root() -> None:
    tree = SessionTree(HEADER, chain(2))
    tree.move_leaf(None)
    assert tree.path(tree.leaf_id) == []
    tree.add(entry("r", tree.leaf_id))
    assert tree.children(None) == ["e0", "r"]


@pytest.mark.parametrize("wanted", ["nope", ""])
def test_an_unknown_entry_is_named_in_the_error(wanted: str) -> None:
    tree = SessionTree(HEADER, chain(2))
    for ask in (tree.move_leaf, tree.path, tree.get, lambda own: tree.replace(entry(own, None))):
        with pytest.raises(OctavoError, match=f"^Entry {wanted} not found$") as missing:
            ask(wanted)
        assert missing.value.kind is ErrorKind.ENTRY_NOT_FOUND
    assert tree.leaf_id == "e1"


@pytest.mark.parametrize("own", ["e1", "", None, 5])
def test_an_entry_without_an_id_of_its_own_is_refused(own: Any) -> None:
    tree = SessionTree(HEADER, chain(2))
    with pytest.raises(OctavoError) as refused:
        tree.add({**entry("x", "e1"), "id": own})
    assert refused.value.kind is ErrorKind.INVALID_PARAMS
    assert len(tree) == 2


def test_a_path_in_hand_is_not_disturbed_by_later_changes() -> None:
    tree = SessionTree(HEADER, chain(3))
    before = tree.path("e2")
    copy = [dict(e) for e in before]
    tree.add(entry("e3", "e2"))
    tree.replace(entry("e1", "e0", message={"role": "user", "content": "pruned"}))
    tree.move_leaf("e0")
    assert before == copy


def test_replacing_an_entry_keeps_its_place_and_the_leaf() -> None:
    tree = SessionTree(HEADER, chain(3))
    new = entry("e1", "e0", message={"role": "user", "content": "new"})
    tree.replace(new)
    assert tree.entries[1] is new
    assert tree.by_id["e1"] is new
    assert path_ids(tree, tree.leaf_id) == ["e0", "e1", "e2"]
    tree.add(entry("e3", "e2"))
    again = entry("e3", "e2", extra=1)
    tree.replace(again)
    assert tree.entries[3] is again


def test_replacing_an_entry_under_another_parent_moves_it_in_the_child_lists() -> None:
    tree = SessionTree(HEADER, chain(3))
    assert tree.children("e1") == ["e2"]
    tree.replace(entry("e2", "e0"))
    assert tree.children("e1") == []
    assert tree.children("e0") == ["e1", "e2"]


def test_cycles_and_self_parents_end_a_path_and_stay_visible() -> None:
    ring = [entry("x", "z"), entry("y", "x"), entry("z", "y"), entry("own", "own"), entry("after", "y")]
    tree = SessionTree(HEADER, ring)
    assert path_ids(tree, "z") == ["x", "y", "z"]
    assert path_ids(tree, "own") == ["own"]
    assert tree.children(None) == ["x", "own"]
    assert reachable(tree) == {"x", "y", "z", "own", "after"}


def test_orphans_are_roots_until_their_parent_arrives() -> None:
    tree = SessionTree(HEADER, [entry("o", "late"), entry("p", "o"), entry("q", ["odd"])])  # type: ignore[arg-type]
    assert tree.children(None) == ["o", "q"]
    assert path_ids(tree, "p") == ["o", "p"]
    tree.add(entry("late", None))
    assert tree.children(None) == ["q", "late"]
    assert path_ids(tree, "p") == ["late", "o", "p"]


def test_duplicate_ids_given_to_the_constructor_do_not_hide_entries() -> None:
    tree = SessionTree(HEADER, [entry("a", None), entry("a", None, extra=1), entry("b", "a")])
    assert len(tree) == 3
    assert len(tree.by_id) == 3
    assert len(tree.path("b")) == 2


def test_children_are_sorted_by_timestamp_and_equal_ones_keep_their_order() -> None:
    stamps = {"late": "2026-01-03T00:00:00.000Z", "a": "2026-01-02T00:00:00.000Z", "b": "2026-01-02T00:00:00.000Z"}
    tree = SessionTree(HEADER, [entry("r", None), *(entry(own, "r", timestamp=at) for own, at in stamps.items())])
    assert tree.children("r") == ["late", "a", "b"]
    assert tree.sorted_children("r") == ["a", "b", "late"]


def test_labels_are_replayed_in_file_order() -> None:
    tree = SessionTree(HEADER, [*chain(2), label("l1", "e1", "e0", "first"), label("l2", "l1", "e1", "x")])
    assert (tree.label_of("e0"), tree.label_of("e1")) == ("first", "x")
    assert tree.leaf_id == "l2"
    tree.add(label("l3", "l2", "e1", None))
    tree.add(label("l4", "l3", "e0", "second"))
    assert tree.labels == {"e0": "second"}
    tree.replace(label("l4", "l3", "e0", "third"))
    assert tree.labels == {"e0": "third"}


def test_a_marker_at_the_end_of_the_file_names_the_leaf() -> None:
    tree = SessionTree(HEADER, [*chain(3), marker("m1", "e0")])
    assert tree.leaf_id == "e0"
    assert SessionTree(HEADER, [*chain(3), marker("m1", None)]).leaf_id is None


def test_a_navigation_survives_reopening_and_an_append_overrides_it() -> None:
    tree = SessionTree(HEADER, chain(3))
    tree.add(marker("m1", "e1"))
    assert tree.leaf_id == "e1"
    assert SessionTree(HEADER, tree.entries).leaf_id == "e1"
    tree.add(entry("b", tree.leaf_id))
    assert SessionTree(HEADER, tree.entries).leaf_id == "b"


@pytest.mark.parametrize("named", ["gone", "m0", 7, ["e0"]])
def test_a_marker_that_names_nothing_leaves_the_last_entry_as_the_leaf(named: Any) -> None:
    tree = SessionTree(HEADER, [*chain(3), marker("m0", "e0"), {**marker("m1", None), "data": {"leafId": named}}])
    assert tree.leaf_id == "e2"
    assert SessionTree(HEADER, [*chain(1), {**marker("m", None), "data": None}]).leaf_id == "e0"


def test_markers_are_hidden_and_what_hangs_under_one_belongs_to_its_parent() -> None:
    foreign = entry("f", "m2")
    tree = SessionTree(HEADER, [*chain(3), marker("m1", "e0"), {**marker("m2", "e0"), "parentId": "m1"}, foreign])
    assert tree.leaf_id == "f"
    assert path_ids(tree, "f") == ["e0", "f"]
    assert tree.children("e0") == ["e1", "f"]
    assert tree.parent_of("f") == "e0"
    for hidden in ("m1", "m2"):
        with pytest.raises(OctavoError, match="not found"):
            tree.move_leaf(hidden)
    assert hidden in tree  # its id stays taken


def test_twice_the_entries_take_twice_the_steps() -> None:
    """Engine.md §17 no. 132: a deep linear history is never walked more than once per question."""

    def steps(count: int) -> int:
        tree = SessionTree(HEADER, chain(count))
        tree.path(tree.leaf_id)
        tree.children("e1")
        tree.sorted_children(None)
        for number in range(count, count + 100):
            tree.add(entry(f"e{number}", tree.leaf_id))
            tree.move_leaf("e1")
            tree.move_leaf(f"e{number}")
        return tree.steps

    small, large = steps(5_000), steps(10_000)
    assert large < 2.1 * small


def test_appending_and_navigating_cost_the_same_at_any_size() -> None:
    def added(count: int) -> int:
        tree = SessionTree(HEADER, chain(count))
        tree.children(None)
        before = tree.steps
        tree.move_leaf("e1")
        tree.add(entry("new", "e1"))
        tree.add(label("mark", "new", "e0", "x"))
        tree.add(marker("m", "e0"))
        return tree.steps - before

    assert added(10) == added(20_000)


def reachable(tree: SessionTree) -> set[str]:
    seen: set[str] = set()
    stack = tree.children(None)
    while stack:
        own = stack.pop()
        assert own not in seen
        seen.add(own)
        stack.extend(tree.children(own))
    return seen


@given(st.lists(st.tuples(st.integers(0, 12), st.none() | st.integers(0, 14), st.booleans()), max_size=20))
@example([(0, 2, True), (1, 0, False), (2, 1, False)])
def test_every_entry_of_any_file_is_reachable_exactly_once(rows: list[tuple[int, int | None, bool]]) -> None:
    entries = []
    for own, parent, hidden in rows:
        made = marker(f"n{own}", None) if hidden else entry(f"n{own}", None)
        entries.append({**made, "parentId": None if parent is None else f"n{parent}"})
    tree = SessionTree(HEADER, entries)
    visible = {e["id"] for e in tree.entries if e.get("customType") != LEAF_MARKER}
    assert reachable(tree) == visible
    for own in visible:
        found = path_ids(tree, own)
        assert found[-1] == own
        assert len(set(found)) == len(found)
