"""Ids of tool calls that a provider would refuse."""

import json

import pytest

from octavo.providers import anthropic, google, openai_chat, openai_responses
from octavo.providers.call_ids import CallIds
from octavo_protocol.base import JsonObject


def turn(ident: str, output: str) -> list[JsonObject]:
    return [
        {"role": "assistant", "content": [{"type": "toolCall", "id": ident, "name": "read", "arguments": {}}]},
        {"role": "toolResult", "toolCallId": ident, "toolName": "read", "content": [{"type": "text", "text": output}]},
    ]


def test_an_id_used_twice_becomes_two_and_each_result_stays_with_its_call() -> None:
    calls = [*turn("a", "one"), *turn("a", "two"), *turn("b", "three")]
    renamed = list(CallIds().renamed(tuple(calls)))
    assert [m["content"][0]["id"] for m in renamed[::2]] == ["a", "a_2", "b"]
    assert [m["toolCallId"] for m in renamed[1::2]] == ["a", "a_2", "b"]


@pytest.mark.parametrize("foreign", ["call_1|fc_2", "x" * 90, "漢字", "", "\ud83d"])
def test_an_id_outside_the_alphabet_is_replaced_by_one_inside_it(foreign: str) -> None:
    first, second = CallIds().renamed(tuple(turn(foreign, "x")))
    assert first["content"][0]["id"] == second["toolCallId"]
    assert second["toolCallId"].isascii()
    assert 0 < len(second["toolCallId"]) <= 64


def test_messages_whose_ids_are_fine_are_the_same_objects() -> None:
    given = tuple(turn("fine", "x"))
    assert all(new is old for new, old in zip(CallIds().renamed(given), given, strict=True))


def test_a_context_that_begins_with_the_assistant_gets_a_user_in_front_where_the_api_wants_one() -> None:
    given: tuple[JsonObject, ...] = ({"role": "assistant", "content": [{"type": "text", "text": "hi"}]},)
    assert anthropic.to_messages(given)[0]["role"] == "user"
    assert google.to_contents(given)[0]["role"] == "user"


@pytest.mark.parametrize("convert", [anthropic.to_messages, google.to_contents, openai_responses.to_input])
def test_no_conversion_lets_a_repeated_id_through(convert: object) -> None:
    given = ({"role": "user", "content": "go"}, *turn("a", "one"), *turn("a", "two"))
    sent = json.dumps(convert(given))  # type: ignore[operator]
    assert "one" in sent
    assert "two" in sent
    if convert is not google.to_contents:  # its calls carry no ids
        assert "a_2" in sent
    assert "a_2" in json.dumps(openai_chat.to_messages(given, ()))


def test_an_id_that_every_turn_uses_again_is_renamed_in_linear_time() -> None:
    class Counting(set[str]):
        asked = 0

        def __contains__(self, item: object) -> bool:
            Counting.asked += 1
            return super().__contains__(item)

    turns = 2_000
    messages = [{"role": "assistant", "content": [{"type": "toolCall", "id": "call_0", "name": "x"}]}] * turns
    sent = list(CallIds(_used=Counting()).renamed(tuple(messages)))
    assert len({message["content"][0]["id"] for message in sent}) == turns
    assert Counting.asked <= 4 * turns
