"""Titles on one line, and usage added up."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.sessions.statistics import UsageStatistics, usage_statistics
from octavo.sessions.titles import TITLE_SLOT_BYTES, clean_title, retitled, title_slot


@pytest.mark.parametrize(
    ("name", "title"),
    [("  a\n\tb  c ", "a b c"), ("\x07\x7f\x85", ""), ("тест 🧩", "тест 🧩"), ("a\u2028b", "a\u2028b")],
)
def test_a_title_is_one_line_without_control_characters(name: str, title: str) -> None:
    assert clean_title(name) == title


def test_an_automatic_title_never_replaces_the_users() -> None:
    """Engine.md §17 no. 121."""
    header: dict[str, Any] = {"id": "s"}
    mine = retitled(header, "mine", "user")
    assert mine == {"id": "s", "title": "mine", "titleSource": "user"}
    assert retitled(mine, "auto") is None
    assert retitled(mine, " \n ", "user") is None
    assert header == {"id": "s"}


@given(st.text())
def test_a_title_line_is_always_exactly_as_long(title: str) -> None:
    line = title_slot(title, "auto", "2026-01-01T00:00:00.000Z")
    assert len(line) == TITLE_SLOT_BYTES
    assert line.endswith(b"\n")
    assert title.startswith(json.loads(line)["title"])


def test_a_short_title_is_not_cut() -> None:
    assert json.loads(title_slot("x" * 100, "user", "t"))["title"] == "x" * 100


def test_a_title_line_with_impossible_fields_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        title_slot("x", "auto", "t" * 300)


def usage(**figures: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "assistant", "usage": figures}}


def test_malformed_usage_counts_as_nothing() -> None:
    entries = [
        usage(input=1, cost={"total": 0.5}),
        usage(input="many", output=None, cost={"total": "free"}),
        usage(input=True, cost=2),
        {"type": "message", "message": {"role": "assistant", "usage": []}},
        {"type": "message", "message": None},
        {"type": "message", "message": {"role": "toolResult", "toolName": "task", "details": "x"}},
        {"type": "compaction"},
    ]
    assert usage_statistics(entries) == UsageStatistics(input=1, cost=2.5)


def test_one_figure_that_cannot_be_true_does_not_drown_the_others() -> None:
    said = [
        {"input": 5, "cost": {"total": 0.25}},
        {"input": 10**12, "output": -7, "cost": {"total": -1}},
        {"output": 2},
    ]
    entries = [{"type": "message", "message": {"role": "assistant", "usage": usage}} for usage in said]
    assert usage_statistics(entries) == UsageStatistics(input=5, output=2, cost=0.25)
