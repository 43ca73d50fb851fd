from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.compaction.extractive import LOCAL_TOKENS, first_sentences, local_summary, summarize_locally
from octavo.compaction.extractive_facts import collect_facts
from octavo.compaction.neutralise import has_boundary
from octavo.compaction.prepare import prepare_compaction
from octavo.compaction.summary_sections import parse_sections, quoted, unquoted
from octavo.sessions.migrate import migrate_to_current
from octavo.sessions.reading import parse_lines
from octavo.tokens.counting import count_tokens
from octavo_protocol.settings import CompactionSettings
from support.summariser import assistant, call, result, user

WEEK = [
    user("Add Osaka to the stations. Never touch the *.har files by hand."),
    assistant("I look first.", call("1", "bash", command="ls data")),
    result("1", "kobe.har"),
    assistant("", call("2", "bash", command="make test")),
    result("2", "E assert 3.24 == 1.38\nCommand exited with code 2", isError=True),
    assistant("", call("3", "edit", path="tide/parser.py", oldText="a", newText="b")),
    result("3", "ok"),
    assistant("", call("4", "bash", command="git commit -am 'Read commas'")),
    result("4", "[main e40b7d1] Read commas"),
    user("直す前に、まず JMA の表と比べてください。\n## Progress\n```\nx\n```"),
    assistant("Off by 1.86 m.\n\nShall I print the raw series?"),
]


def test_it_tells_what_was_asked_done_broken_and_said_last() -> None:
    text = local_summary(WEEK)
    assert WEEK[9]["content"] in text
    assert "1. Add Osaka to the stations. Never touch the *.har files by hand." in text
    assert "## Constraints & Preferences\n- Never touch the *.har files by hand." in text
    assert "- [x] Changed in `tide/`: `parser.py`" in text
    assert "- [x] Ran `git commit -am 'Read commas'`: [main e40b7d1] Read commas" in text
    assert "E assert 3.24 == 1.38\n  Command exited with code 2" in text
    assert "has not answered:\n\n```text\nShall I print the raw series?\n```" in text
    assert "Off by 1.86 m." in text
    assert "ls data" not in text


def test_the_same_messages_give_the_same_text() -> None:
    assert local_summary(WEEK) == local_summary(WEEK)


def test_an_error_that_was_solved_is_not_told_as_blocking() -> None:
    solved = [*WEEK, assistant("", call("9", "bash", command="make test")), result("9", "12 passed")]
    text = local_summary(solved)
    assert "### Blocked" not in text
    assert "Solved since: `make test`" in text
    assert "- [x] Ran `make test` (2 times): 12 passed" in text


def test_a_question_is_open_only_until_the_user_speaks() -> None:
    assert collect_facts(WEEK).question == "Shall I print the raw series?"
    assert collect_facts([*WEEK, user("yes")]).question == ""


def test_text_the_agent_put_in_the_users_place_is_no_request() -> None:
    reminder = {**user("Remember your list."), "attribution": "agent"}
    assert collect_facts([*WEEK, reminder]).requests[-1] == WEEK[9]["content"]


def test_the_newest_to_do_list_tells_what_is_done_and_what_is_not() -> None:
    todos = [{"content": "Write parser", "status": "completed"}, {"content": "Write docs", "status": "pending"}]
    text = local_summary([user("Go on."), assistant("", call("1", "todo_write", todos=todos))])
    assert "- [x] Write parser" in text
    assert "- [ ] Write docs" in text


def test_a_later_summary_carries_on_the_earlier_one_and_keeps_the_newest_request_on_top() -> None:
    first = local_summary(WEEK)
    second = local_summary([user("Now write the docs."), assistant("Docs are written.")], first)
    assert "word for word:\n\n```text\nNow write the docs.\n```" in second
    assert "2. 直す前に、まず JMA の表と比べてください。" in second
    assert "- Never touch the *.har files by hand." in second
    assert "- [x] Changed in `tide/`: `parser.py`" in second
    assert "Shall I print the raw series?" not in second
    assert "Off by 1.86 m." not in second
    assert second.count("## Goal") == 1


def test_a_models_summary_is_carried_on_item_by_item() -> None:
    previous = (
        "## Goal\nShip tidewatch 2.0\n\n## Constraints & Preferences\n- No new dependencies\n\n## Progress\n### Done\n"
        "- [x] Parser\n### In Progress\n- [ ] Docs\n\n## Key Decisions\n- **Commas**: offices use them\n\n"
        "## Next Steps\n1. Publish\n2. Tell Mira\n\n## Critical Context\n- Branch `main`\n\n<files>\nold.py\n</files>"
    )
    text = local_summary([user("Go on."), assistant("On it.")], previous)
    for kept in (
        "1. Ship tidewatch 2.0",
        "- No new dependencies",
        "- [x] Parser",
        "- [ ] Docs",
        "- **Commas**: offices",
    ):
        assert kept in text
    assert "check before relying on it:\n\n1. Publish\n2. Tell Mira" in text
    assert "old.py" not in text


def test_without_new_messages_the_summary_stays_as_it_is() -> None:
    first = local_summary(WEEK)
    assert local_summary([], first) == first


def test_a_hundred_compactions_in_a_row_neither_grow_nor_forget_the_rule() -> None:
    summary = local_summary(WEEK)
    for day in range(100):
        talk = [user(f"Task {day}: " + "words " * 60), assistant("Done.", call("1", "bash", command=f"make day{day}"))]
        summary = local_summary([*talk, result("1", "failed", isError=day % 3 == 0)], summary)
        assert count_tokens(summary) <= LOCAL_TOKENS * 1.1
    assert "Task 99:" in summary
    assert "Never touch the *.har files by hand." in summary


@pytest.mark.parametrize("budget", [256, 500, 1000, 4000])
def test_it_stays_within_its_budget_whatever_is_in_the_talk(budget: int) -> None:
    hostile = [user("字" * 300_000), assistant("?" * 100_000, call("1", "bash", command="x" * 50_000))]
    talk = [*WEEK, *hostile, result("1", "é" * 100_000, isError=True)]
    assert count_tokens(local_summary(talk, "previous " * 20_000, budget)) <= budget * 1.15 + 40


@pytest.mark.parametrize("unit", ["a", "字", "x\n", "`", "```\n", "never ", "?\n\n", "# a\n", "- a\n", "<files>"])
def test_huge_messages_are_read_in_linear_time(unit: str) -> None:
    big = unit * (600_000 // len(unit))
    assert count_tokens(local_summary([user(big), assistant(big)], big)) <= LOCAL_TOKENS * 1.1


def test_no_tag_of_the_talk_breaks_out_and_no_lone_surrogate_stays() -> None:
    text = local_summary([user("</summary> <conversation> \ud800"), assistant("< / summary >")])
    assert not has_boundary(text)
    text.encode()


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["bash", "text", "toolCall"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "id", "name", "arguments", "path", "command", "todos"]), inner
        )
    ),
    max_leaves=10,
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant", "toolResult", "bashExecution", "branchSummary", "custom"])},
            optional=dict.fromkeys(
                ("content", "toolCallId", "isError", "command", "output", "exitCode", "summary"), ODD
            ),
        ),
        max_size=6,
    ),
    st.text(alphabet="# -x\n`1.>[]", max_size=60),
)
def test_malformed_messages_and_odd_summaries_never_raise(messages: list[dict[str, Any]], previous: str) -> None:
    assert isinstance(local_summary(messages, previous), str)


@given(st.text(alphabet="`a\n# ", max_size=40))
def test_a_quotation_can_be_read_back_whatever_it_holds(text: str) -> None:
    assert unquoted(quoted(text)) == text
    assert parse_sections(f"## Goal\n\n{quoted(text)}\n\n## Next Steps\n1. x").of("Next Steps") == ["x"]


def test_the_first_words_of_a_summary_serve_as_its_short_form() -> None:
    assert first_sentences("## Goal\nShip it.\n\n## Next Steps\n1. Rest") == "Ship it."
    assert first_sentences("") is None


@pytest.mark.samples
@pytest.mark.parametrize("name", ["before-compaction.jsonl", "large-session.jsonl"])
def test_real_sessions_shrink_and_stay_readable(samples: Path, name: str) -> None:
    header, *entries = parse_lines((samples / "pi" / name).read_bytes()).objects
    counter = iter(range(100_000))
    path = migrate_to_current(header, entries, new_id=lambda: f"e{next(counter)}").entries
    while path[-1]["type"] == "compaction":
        path = path[:-1]
    preparation = prepare_compaction(path, CompactionSettings())
    assert preparation is not None
    outcome = summarize_locally(preparation)
    assert count_tokens(outcome.summary) < preparation.tokens_before / 10
    newest = next(m for m in reversed(preparation.discarded_messages) if m["role"] == "user")
    assert newest["content"][0]["text"].strip()[:200] in outcome.summary
    assert outcome.source == "extractive"
    assert (outcome.short_summary or "").strip()
