"""Trees, gauges and outcomes as lines: what is in them, and that they stay within the terminal."""

import io
from collections.abc import Iterable
from typing import Any

import pytest

from octavo.cli.show_compaction import check_lines, plan_lines, result_lines
from octavo.cli.show_context import gauge_lines, message_lines
from octavo.cli.show_session import session_lines
from octavo.cli.show_tree import node_lines, turn_lines, turns_of
from octavo.cli.terminal import Terminal, cells
from octavo_protocol.methods.common import Breakdown, Check, ContextUsage
from octavo_protocol.methods.compaction import CompactionResult
from octavo_protocol.methods.context import PrepareCompactionResult, StrategyPlan
from octavo_protocol.methods.session import Damage, OpenResult, Recovered
from octavo_protocol.methods.tree import GetTreeResult, TreeNode

PLAIN = Terminal(io.StringIO(), 80, colour=False)


def node(name: str, parent: str | None, children: int = 1, **fields: Any) -> TreeNode:
    shown = {"type": "message", "role": "user", "text": f"text of {name}", "on_branch": True, "depth": 0} | fields
    return TreeNode(id=name, parent_id=parent, child_count=children, **shown)


def tree(*nodes: TreeNode, **fields: Any) -> GetTreeResult:
    return GetTreeResult(nodes=list(nodes), matching=len(nodes), total=len(nodes), filter="default", seq=0, **fields)


def text(lines: Iterable[str]) -> list[str]:
    shown = list(lines)
    assert all(cells(line) <= 80 for line in shown), [line for line in shown if cells(line) > 80]
    return shown


FORKED = tree(
    node("a", None, 2),
    node("b1", "a", 1, on_branch=False),
    node("b2", "b1", 0, on_branch=False, role="assistant"),
    node("c1", "a", 2),
    node("d1", "c1", 0, is_leaf=True, label="here"),
    node("e1", "c1", 0, on_branch=False),
)


def test_side_branches_hang_from_their_fork_and_the_branch_with_the_leaf_goes_straight_on() -> None:
    lines = text(node_lines(FORKED, PLAIN))
    assert [line[2 : 2 + len(line) - len(line[2:].lstrip("│├└─ ")) - 2] for line in lines] == [
        "",
        "├─",
        "│ ",
        "",
        "├─",
        "└─",
    ]
    assert lines[4].endswith("[here]  ◀ leaf")


def test_what_lies_outside_the_window_is_counted() -> None:
    lines = text(node_lines(tree(node("a", None), hidden_before=3, hidden_after=2000), PLAIN))
    assert lines[0].strip() == "… 3 more nodes before"
    assert lines[-1].strip() == "… 2,000 more nodes after"


def test_five_thousand_nested_forks_stay_within_the_terminal() -> None:
    nodes = [node("0", None, 2)]
    for number in range(1, 5000):
        nodes.append(node(str(number), str(number - 1), 2, on_branch=False))
        nodes.append(node(f"{number}s", str(number - 1), 0, on_branch=False))
    text(node_lines(tree(*nodes), PLAIN))
    text(turn_lines(tree(*nodes), PLAIN))


def test_a_turn_counts_its_calls_and_failures_and_ends_at_a_fork() -> None:
    turns = turns_of(
        tree(
            node("u", None),
            node("a1", "u", role="assistant", tool_names=["bash", "read"]),
            node("r1", "a1", role="toolResult", is_error=True),
            node("r2", "r1", role="toolResult"),
            node("a2", "r2", 2, role="assistant"),
            node("a3", "a2", 0, role="assistant"),
            node("u2", "a2", 0, is_leaf=True),
        )
    )
    assert [(turn.head.id, turn.steps, turn.errors, turn.leaf) for turn in turns] == [
        ("u", 2, 1, False),
        ("a3", 0, 0, False),
        ("u2", 0, 0, True),
    ]


def test_turns_in_the_middle_are_left_out_and_counted() -> None:
    nodes = [node(str(n), str(n - 1) if n else None) for n in range(100)]
    lines = text(turn_lines(tree(*nodes), PLAIN, most=10))
    assert len(lines) == 10
    assert "… 91 more turns …" in lines[3]
    assert len(text(turn_lines(tree(*nodes), PLAIN, most=100))) == 100


@pytest.mark.parametrize("timestamp", [None, "", "yesterday", "2026-13-45", "2026-03-02T08:42:22.000Z"])
def test_a_time_that_is_none_leaves_its_column_empty(timestamp: str | None) -> None:
    (line,) = text(turn_lines(tree(node("a", None, 0, timestamp=timestamp)), PLAIN))
    assert ("08:42" in line) == (timestamp == "2026-03-02T08:42:22.000Z")


def usage(tokens: int, window: int, threshold: int, **fields: Any) -> ContextUsage:
    parts = Breakdown(user=tokens)
    return ContextUsage(
        tokens=tokens, source="estimate", context_window=window, threshold=threshold, breakdown=parts, **fields
    )


def test_the_gauge_fills_with_the_context_and_marks_the_threshold() -> None:
    bars = [text(gauge_lines(usage(tokens, 1000, 800), PLAIN))[0] for tokens in (0, 250, 1000, 9000)]
    assert [bar.count("█") for bar in bars] == [0, 11, 44, 44]
    assert [bar.count("│") for bar in bars] == [1, 1, 0, 0]
    assert bars[1].index("│") == 2 + 35
    assert bars[3].endswith("900.0 %")


def test_a_context_without_a_window_has_a_figure_and_no_bar() -> None:
    lines = text(gauge_lines(usage(5000, 0, 0), PLAIN))
    assert "5,000 tokens" in lines[0]
    assert "no model" in lines[1]


def test_messages_of_any_shape_are_shown_on_one_line_each() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "compactionSummary", "tokensBefore": 5000, "summary": "x"},
        {"role": "compactionSummary"},
        {"role": "branchSummary", "summary": "went\nelsewhere " * 30},
        {"role": "user", "content": None},
        {"role": "user", "content": "line\nline\x1b[2J"},
        {"role": 7},
        {"role": "assistant", "content": [{"type": "toolCall", "name": "bash"}, "odd"]},
    ]
    lines = text(message_lines(messages, PLAIN, tokens_after=70))
    assert len(lines) == len(messages)
    assert lines[0].startswith("── compacted · 5,000 tokens → 70 ─")
    assert "line line" in lines[4]
    assert "⚙ bash" in lines[6]


def test_a_plan_without_anything_to_do_says_why() -> None:
    plan = PrepareCompactionResult(
        possible=False,
        reason="already-compacted",
        tokens_before=1,
        context_window=0,
        threshold=0,
        keep_recent_tokens=1,
    )
    assert text(plan_lines(plan, PLAIN)) == ["  The last entry is a compaction already."]


def test_the_strategy_taken_is_marked_and_an_unavailable_one_says_why() -> None:
    plan = PrepareCompactionResult(
        possible=True,
        tokens_before=1,
        context_window=0,
        threshold=0,
        keep_recent_tokens=1,
        strategies=[
            StrategyPlan(
                strategy="context-full",
                chosen=True,
                available=False,
                unavailable_reason="no key " * 40,
                tokens_after=0,
                fits=False,
            ),
            StrategyPlan(strategy="extractive", available=True, tokens_after=70, fits=False, cost=0.5, model_calls=2),
        ],
    )
    taken = [line for line in text(plan_lines(plan, PLAIN)) if "●" in line]
    assert ["context-full" in line for line in taken] == [True]
    taken = [line for line in text(plan_lines(plan, PLAIN, chosen="extractive")) if "●" in line]
    assert "still above the threshold" in taken[0]


def test_an_outcome_names_both_sizes_the_frames_and_the_cost() -> None:
    result = CompactionResult(
        operation_id="o",
        reason="manual",
        action="snapcompact",
        first_kept_entry_id="a",
        summary="s",
        short_summary="word " * 100,
        tokens_before=1000,
        tokens_after=250,
        frames=1,
        duration_ms=1500,
        checks=[],
    )
    lines = text(result_lines(result, PLAIN))
    assert lines[0].startswith("── compacted · 1,000 tokens → 250 ──")
    assert lines[1].strip() == "snapcompact · 75 % smaller · 1 frame · no model asked · 1.5 s"
    assert len(lines) == 5
    assert lines[4].endswith("…")


def test_checks_show_verdict_and_figures_also_of_a_kind_not_known_here() -> None:
    checks = [
        Check(name="shrinks", ok=True, figures={"before": 2000, "after": 100}),
        Check(name="files", ok=True, repaired=True, figures={"read": 1, "missing": ["a.py"]}),
        Check(name="made-later", ok=False, figures={"why": "because " * 40}),
    ]
    first, second, third = text(check_lines(checks, PLAIN))
    assert first.split() == ["✓", "the", "context", "shrinks", "2,000", "→", "100", "tokens"]
    assert second.lstrip().startswith("✎")
    assert "repaired, 1 read" in second
    assert third.lstrip().startswith("✗ made-later")


def test_what_opening_had_to_do_is_told_and_long_reports_are_cut() -> None:
    session = OpenResult(
        session_id="s",
        cwd="/x" * 200,
        format="pi",
        version=3,
        mode="read",
        entry_count=1,
        message_count=0,
        seq=0,
        epoch="e",
        recovered=Recovered(
            migrated_from=1,
            damage=[Damage(line=n, offset=0, length=1, reason="not JSON") for n in range(1, 9)],
            backup_path="/b",
        ),
    )
    lines = text(session_lines(session, PLAIN))
    assert sum("passed over" in line for line in lines) == 5
    assert "and 3 more stretches" in lines[-2]
    assert "version 1" in lines[2]
