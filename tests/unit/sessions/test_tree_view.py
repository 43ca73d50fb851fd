"""The rows an editor draws: filters, windows, counts and previews."""

from typing import Any

import pytest

from octavo import templates
from octavo.sessions.previews import PREVIEW_CHARS, is_error, preview
from octavo.sessions.tree import LEAF_MARKER, SessionTree
from octavo.sessions.tree_view import TreeFilter, TreeWindow, view_tree
from octavo_protocol.errors import OctavoError
from octavo_protocol.methods.tree import TreeNode

HEADER = {"type": "session", "id": "s", "version": 3}


def entry(own: str, parent: str | None, kind: str = "message", second: int = 0, **fields: Any) -> dict[str, Any]:
    stamp = f"2026-01-01T00:00:{second:02d}.000Z"
    return {"type": kind, "id": own, "parentId": parent, "timestamp": stamp, **fields}


def said(own: str, parent: str | None, role: str, content: Any, second: int = 0, **fields: Any) -> dict[str, Any]:
    return entry(own, parent, second=second, message={"role": role, "content": content, **fields})


CALL = {"type": "toolCall", "id": "1", "name": "read", "arguments": {}}
TEXT = {"type": "text", "text": "thinking aloud"}


def sample() -> SessionTree:
    """u1 - model - a1(call) - r1 - a2(text+call) - r2 - a3 with a second branch at r1 and a hidden custom message."""
    return SessionTree(
        HEADER,
        [
            said("u1", None, "user", "first question"),
            entry("m", "u1", "model_change", model="p/m"),
            said("a1", "m", "assistant", [CALL], second=1),
            said("r1", "a1", "toolResult", [TEXT], second=2, toolCallId="1", isError=True),
            said("a2", "r1", "assistant", [TEXT, CALL], second=5),
            said("r2", "a2", "toolResult", [], second=6, toolCallId="1"),
            said("u2", "r1", "user", "other way", second=4),
            entry("h", "r2", "custom_message", content="hidden", display=False),
            entry("l", "h", "label", targetId="a2", label="good"),
            entry("x", "l", "custom", customType=LEAF_MARKER, data={"leafId": "h"}),
        ],
    )


def rows(found: TreeWindow) -> list[tuple[str, str | None, int]]:
    return [(row.id, row.parent_id, row.depth) for row in found.rows]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (
            "default",
            [("u1", None, 0), ("a1", "u1", 0), ("r1", "a1", 0), ("u2", "r1", 1), ("a2", "r1", 1), ("r2", "a2", 1)],
        ),
        ("no-tools", [("u1", None, 0), ("u2", "u1", 1), ("a2", "u1", 1)]),
        ("user-only", [("u1", None, 0), ("u2", "u1", 0)]),
        ("labeled-only", [("a2", None, 0)]),
    ],
)
def test_a_filter_shows_its_entries_under_their_nearest_shown_ancestor(
    mode: TreeFilter, expected: list[tuple[str, str | None, int]]
) -> None:
    found = view_tree(sample(), filter_mode=mode)
    assert rows(found) == expected
    assert (found.matching, found.total, found.hidden_before, found.hidden_after) == (len(expected), 9, 0, 0)


def test_all_shows_everything_but_markers() -> None:
    found = view_tree(sample(), filter_mode="all")
    assert {row.id for row in found.rows} == {"u1", "m", "a1", "r1", "a2", "r2", "u2", "h", "l"}


def test_rows_tell_the_branch_the_leaf_labels_tools_and_errors() -> None:
    by_id = {row.id: row for row in view_tree(sample()).rows}
    assert [own for own, row in by_id.items() if row.on_branch] == ["u1", "a1", "r1", "a2", "r2"]
    assert [own for own, row in by_id.items() if row.is_leaf] == ["r2"]
    assert by_id["a2"].label == "good"
    assert (by_id["a1"].tool_names, by_id["a1"].text, by_id["a2"].text) == (["read"], "read", "thinking aloud")
    assert [own for own, row in by_id.items() if row.is_error] == ["r1"]
    assert (by_id["r1"].child_count, by_id["r1"].hidden_children) == (2, 0)


def test_every_row_is_a_node_of_the_protocol() -> None:
    for mode in ("default", "all"):
        for row in view_tree(sample(), filter_mode=mode).rows:  # type: ignore[arg-type]
            assert TreeNode.model_validate(row.to_wire()).to_wire()["id"] == row.id


def test_a_depth_limit_counts_what_it_hides() -> None:
    found = view_tree(sample(), max_depth=2)
    assert [row.id for row in found.rows] == ["u1", "a1", "r1"]
    assert found.rows[-1].hidden_children == 2
    assert found.matching == 6
    below = view_tree(sample(), max_depth=1, around="a1")
    assert [row.id for row in below.rows] == ["u1", "a1", "r1"]


def chain(count: int) -> SessionTree:
    return SessionTree(HEADER, [said(f"e{n}", f"e{n - 1}" if n else None, "user", f"m{n}") for n in range(count)])


def test_a_window_lies_around_the_entry_asked_for() -> None:
    found = view_tree(chain(100), around="e50", window=10)
    assert [row.id for row in found.rows] == [f"e{n}" for n in range(45, 55)]
    assert (found.hidden_before, found.hidden_after, found.matching) == (45, 45, 100)
    assert (found.rows[0].parent_id, found.rows[-1].hidden_children) == ("e44", 1)
    assert [row.id for row in view_tree(chain(100), around="e1", window=3).rows] == ["e0", "e1", "e2"]


def test_without_a_centre_the_window_lies_around_the_leaf() -> None:
    tree = chain(100)
    assert view_tree(tree, window=10).rows[-1].id == "e99"
    tree.move_leaf("e20")
    assert "e20" in {row.id for row in view_tree(tree, window=10).rows}
    tree.move_leaf(None)
    assert view_tree(tree, window=10).rows[0].id == "e0"


def test_a_centre_that_the_filter_hides_is_stood_for_by_its_ancestor() -> None:
    found = view_tree(sample(), filter_mode="user-only", around="r2", window=1)
    assert [row.id for row in found.rows] == ["u1"]


def test_an_unknown_centre_is_named() -> None:
    with pytest.raises(OctavoError, match=r"^Entry nope not found$"):
        view_tree(sample(), around="nope")


def test_an_empty_session_has_no_rows() -> None:
    found = view_tree(SessionTree(HEADER))
    assert (found.rows, found.matching, found.total, found.leaf_id) == ([], 0, 0, None)


def test_a_history_of_forty_thousand_entries_is_no_deeper_than_any() -> None:
    tree = chain(40_000)
    before = tree.steps
    found = view_tree(tree, window=5)
    assert [row.id for row in found.rows] == [f"e{n}" for n in range(39_995, 40_000)]
    assert found.rows[-1].depth == 0
    assert tree.steps - before < 8 * 40_000


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (said("a", None, "user", "two\n lines\t here"), "two lines here"),
        (said("a", None, "user", [{"type": "image"}, TEXT, None]), "[image] thinking aloud"),
        (said("a", None, "user", None), ""),
        (said("a", None, "assistant", [], errorMessage="overloaded"), "overloaded"),
        (entry("a", None, message={"role": "bashExecution", "command": "ls -l"}), "ls -l"),
        (entry("a", None, message={"role": "pythonExecution", "code": "1/0"}), "1/0"),
        (entry("a", None, message={"role": "fileMention", "files": [{"path": "a"}, {"path": "b"}, 5]}), "a, b"),
        (entry("a", None, "compaction", summary="long", shortSummary="short"), "short"),
        (entry("a", None, "branch_summary", summary="long"), "long"),
        (entry("a", None, "custom_message", content="note", customType="c"), "note"),
        (entry("a", None, "custom_message", content=5, customType="c"), "c"),
        (entry("a", None, "model_change", model="p/m"), "p/m"),
        (entry("a", None, "model_change", provider="p", modelId="n"), "p/n"),
        (entry("a", None, "label", targetId="b", label="L"), "L"),
        (entry("a", None, "future", other=1), "future"),
        ({"id": "a", "message": 5}, ""),
    ],
)
def test_a_preview_is_one_line_for_any_entry(made: dict[str, Any], text: str) -> None:
    assert preview(made) == text
    assert not is_error(made)


def test_a_preview_of_a_huge_text_is_short() -> None:
    long = preview(said("a", None, "user", "word " * 1_000_000))
    assert len(long) == PREVIEW_CHARS
    assert long.endswith("…")
    assert preview(said("a", None, "user", " " * 10_000 + "x")) == "…"


def test_the_line_of_a_branch_summary_is_what_tells_it_from_others() -> None:
    preamble = templates.text("branch-summary-preamble").strip()
    entry = {"type": "branch_summary", "summary": f"{preamble}\n\n## Goal\nTry the old predictor."}
    assert preview(entry) == "## Goal Try the old predictor."
    assert preview({**entry, "summary": "No preamble."}) == "No preamble."
