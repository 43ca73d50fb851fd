"""What a model reads of each message."""

from typing import Any

import pytest

from octavo import templates
from octavo.sessions.llm_messages import bash_execution_text, core_llm_messages, message_text, to_llm_messages


def one(message: dict[str, Any]) -> dict[str, Any]:
    [converted] = to_llm_messages([message])
    return converted


def text_of(message: dict[str, Any]) -> str:
    return str(one(message)["content"][0]["text"])


def test_messages_are_not_changed_by_converting_them() -> None:
    message = {"role": "toolResult", "content": [{"type": "image", "data": "x"}], "prunedAt": 5}
    assert one(message)["content"] == [{"type": "text", "text": "[Output truncated]"}]
    assert message["content"] == [{"type": "image", "data": "x"}]


def test_assistant_messages_pass_as_they_are() -> None:
    message = {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "thinkingSignature": "s"}]}
    assert one(message) is message


def test_a_summary_stands_in_its_element_whatever_is_in_it() -> None:
    summary = "line {{summary}} & <b>"
    for role in ("branchSummary", "compactionSummary"):
        assert f"<summary>\n{summary}\n</summary>" in text_of({"role": role, "summary": summary})


def test_an_odd_summary_or_content_is_shown_as_nothing_rather_than_refused() -> None:
    assert "<summary>" in text_of({"role": "compactionSummary", "summary": None, "images": 5})
    assert text_of({"role": "custom", "content": 5}) == ""
    assert one({"role": "toolResult", "content": None, "prunedAt": 1})["content"][0]["text"] == "[Output truncated]"
    assert one({"role": "fileMention", "files": [None, {"path": 5}]})["content"][0]["text"] == '<file path="">\n</file>'


@pytest.mark.parametrize("role", [None, 5, "mystery", ["user"]])
def test_unknown_roles_yield_nothing(role: Any) -> None:
    assert to_llm_messages([{"role": role, "content": "x"}]) == []


def test_runs_kept_from_the_context_yield_nothing() -> None:
    for role in ("bashExecution", "pythonExecution"):
        assert to_llm_messages([{"role": role, "excludeFromContext": True}]) == []


def test_the_agent_core_knows_no_application_roles() -> None:
    messages = [{"role": role} for role in ("bashExecution", "pythonExecution", "fileMention", "user")]
    assert [m["role"] for m in core_llm_messages(messages)] == ["user"]
    assert len(to_llm_messages(messages)) == 4


RUN = {"role": "bashExecution", "command": "c", "output": "o", "exitCode": 0}


@pytest.mark.parametrize(
    ("meta", "notice"),
    [
        (None, ""),
        ({"truncation": {"totalLines": 9, "outputLines": 3}}, "\n\n[Showing 3 of 9 lines]"),
        (
            {
                "truncation": {
                    "totalLines": 9,
                    "shownRange": {"start": 1, "end": 3},
                    "truncatedBy": "bytes",
                    "maxBytes": 51200,
                    "nextOffset": 4,
                    "artifactId": 0,
                }
            },
            "\n\n[Showing lines 1-3 of 9 (50.0KB limit). Use offset=4 to continue. Read artifact://0 for full output]",
        ),
        (
            {
                "limits": {
                    "resultLimit": {"reached": 5, "suggestion": 10},
                    "columnTruncated": {"maxColumn": 80},
                }
            },
            "\n\n[5 results limit reached. Use limit=10 for more. Some lines truncated to 80 chars]",
        ),
        (
            {"diagnostics": {"summary": "1 error", "messages": ["a.py:1 bad"]}},
            "\n\nLSP Diagnostics (1 error):\n  a.py:1 bad",
        ),
        ({"truncation": 5, "limits": [], "diagnostics": {"messages": []}}, ""),
    ],
)
def test_notices_follow_the_output(meta: Any, notice: str) -> None:
    assert bash_execution_text({**RUN, "meta": meta}) == "Ran `c`\n```\no\n```" + notice


def test_the_text_of_a_message_is_its_text_blocks_without_a_separator() -> None:
    blocks = [{"type": "text", "text": "sec"}, {"type": "image"}, None, {"type": "text", "text": "ond"}]
    assert message_text({"content": blocks}) == "second"
    assert message_text({"content": "first"}) == "first"
    assert message_text({"content": None}) == ""


def test_a_large_summary_is_rendered_in_one_pass() -> None:
    summary = "\n\n\n".join(["word " * 20 + "  "] * 20_000)
    rendered = templates.render("compaction-summary-context", summary=summary)
    assert rendered.count("word") == 400_000
    assert "\n\nword" not in rendered
