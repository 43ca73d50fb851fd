from typing import Any

import pytest

from octavo.compaction.validators import ill_formed, pairing_violations, violations

APIS = ["", "anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"]


def user(text: str = "go") -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def calls(*ids: Any) -> dict[str, Any]:
    blocks = [{"type": "toolCall", "id": call, "name": "read", "arguments": {}} for call in ids]
    return {"role": "assistant", "content": blocks}


def result(call: str) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": call, "toolName": "read", "content": []}


def rules(messages: list[dict[str, Any]], api: str = "") -> list[str]:
    return [violation.rule for violation in violations(messages, api)]


@pytest.mark.parametrize("api", APIS)
def test_a_plain_talk_with_tools_is_accepted_everywhere(api: str) -> None:
    talk = [user(), calls("a", "b"), result("b"), result("a"), user(), calls("c"), result("c")]
    assert rules(talk, api) == []


@pytest.mark.parametrize(
    ("messages", "rule"),
    [
        ([user(), calls("a")], "call-without-result"),
        ([user(), calls("a"), user(), result("a")], "call-without-result"),
        ([user(), calls("a"), user(), result("a")], "result-without-call"),
        ([user(), result("a")], "result-without-call"),
        ([user(), calls("a"), result("a"), result("a")], "result-without-call"),
        ([user(), calls("a", "a"), result("a")], "call-id"),
        ([user(), calls(None)], "call-id"),
        ([calls("a"), result("a")], "first-role"),
        ([], "empty"),
        ([user("  ")], "empty"),
        ([user(), {"role": "custom", "content": "x"}], "role"),
        ([{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "thinking"}]}], "block-role"),
        ([user(), {"role": "assistant", "content": [{"type": "redactedThinking"}]}], "redacted-data"),
        ([user(), {"role": "assistant", "content": [{"type": "thinking", "thinkingSignature": 3}]}], "signature"),
    ],
)
@pytest.mark.parametrize("api", APIS)
def test_what_every_api_refuses_is_found(messages: list[dict[str, Any]], rule: str, api: str) -> None:
    assert rule in rules(messages, api)


def test_one_call_id_in_two_turns_is_refused_by_anthropic() -> None:
    talk = [user(), calls("a"), result("a"), calls("a"), result("a")]
    assert rules(talk, "anthropic-messages") == ["call-id"]
    assert rules(talk, "google-generative-ai") == []


def test_chat_completions_limits_the_length_of_call_ids() -> None:
    long = "c" * 65
    assert rules([user(), calls(long), result(long)], "openai-completions") == ["call-id"]


def test_google_wants_as_many_responses_as_calls() -> None:
    assert "response-count" in rules([user(), calls("a", "b"), result("a"), user()], "google-generative-ai")


def test_pairing_alone_says_nothing_about_roles() -> None:
    assert pairing_violations([calls("a"), result("a")]) == []


def test_lone_surrogates_are_found() -> None:
    assert [v.index for v in ill_formed([user("ok"), user("a\ud800"), {"role": "user", "content": "\udfff"}])] == [1, 2]


@pytest.mark.parametrize("broken", [{}, {"role": "assistant"}, {"role": "user", "content": [3, None]}, {"role": ["x"]}])
def test_malformed_messages_are_reported_and_do_not_raise(broken: dict[str, Any]) -> None:
    for api in APIS:
        violations([broken, user()], api)
