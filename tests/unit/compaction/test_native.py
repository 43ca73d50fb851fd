import json
from typing import Any

import pytest

from octavo.compaction.native import NativeCompactor, native_history, trim_items
from octavo.compaction.remote import PostJson, RemoteSummarizer
from octavo.compaction.responses_items import to_responses_items
from octavo.compaction.summarize import SummaryOptions, summarize
from octavo.providers.http import Answer
from octavo_protocol.errors import ErrorKind, OctavoError
from support.preparations import prepared
from support.summariser import GOOD, Scripted, assistant, call, model, result, user

GPT = model(provider="openai", id="gpt-5", inputs=("text", "image"))
KEPT = {"type": "compaction", "encrypted_content": "ENC"}


def network(*answers: Any) -> tuple[PostJson, list[dict[str, Any]]]:
    sent: list[dict[str, Any]] = []

    async def post(url: str, body: dict[str, Any], headers: Any) -> Answer:
        sent.append(body)
        given = answers[min(len(sent), len(answers)) - 1]
        if isinstance(given, Exception):
            raise given
        return Answer(200, "OK", {}, json.dumps(given).encode())

    return post, sent


def test_a_turn_with_reasoning_text_and_a_call_keeps_its_order_and_its_result() -> None:
    thinking = {"type": "thinking", "thinking": "t", "thinkingSignature": '{"type":"reasoning","id":"r1"}'}
    turn = assistant("hello", call("c1|fc_1", "read", path="a", n=1))
    turn["content"].insert(0, thinking)
    items = to_responses_items([user("q"), turn, result("c1|fc_1", "body"), result("unknown", "orphan")], GPT)
    assert [item["type"] for item in items] == [
        "message",
        "reasoning",
        "message",
        "function_call",
        "function_call_output",
    ]
    assert items[3] == {
        "type": "function_call",
        "call_id": "c1",
        "id": "fc_1",
        "name": "read",
        "arguments": '{"path":"a","n":1}',
    }
    assert items[4] == {"type": "function_call_output", "call_id": "c1", "output": "body"}


def test_reasoning_of_a_failed_turn_and_foreign_signatures_are_left_out() -> None:
    def turn(signature: str, stop: str) -> dict[str, Any]:
        return {
            "role": "assistant",
            "stopReason": stop,
            "content": [{"type": "thinking", "thinkingSignature": signature}],
        }

    good = '{"type":"reasoning","id":"r"}'
    assert to_responses_items([turn(good, "error"), turn("ErUB-opaque", "stop"), turn("{broken", "stop")], GPT) == []


def test_images_of_a_result_follow_it_as_a_user_message_if_the_model_sees() -> None:
    picture = {
        "role": "toolResult",
        "toolCallId": "c",
        "content": [{"type": "image", "data": "QQ==", "mimeType": "image/png"}],
    }
    talk = [assistant("", call("c", "shot")), picture]
    *_, output, images = to_responses_items(talk, GPT)
    assert output["output"] == "(see attached image)"
    assert images["content"][0]["image_url"] == "data:image/png;base64,QQ=="
    assert to_responses_items(talk, model(provider="openai"))[-1]["output"] == "(see attached image)"


def test_a_full_snapshot_replaces_what_came_before_and_an_incremental_one_is_appended() -> None:
    def native(**fields: Any) -> dict[str, Any]:
        payload = {"type": "openaiResponsesHistory", "provider": "openai", **fields}
        return {"role": "assistant", "content": [], "providerPayload": payload}

    snapshot = native(items=[{"type": "message", "role": "user"}])
    more = native(items=[{"type": "function_call", "call_id": "z"}], incremental=True)
    talk = [user("old"), assistant("", call("c", "x")), snapshot, more, result("c", "gone"), result("z", "kept")]
    items = to_responses_items(talk, GPT)
    assert [item["type"] for item in items] == ["message", "function_call", "function_call_output"]
    foreign = to_responses_items([snapshot], model(provider="openai-codex"))
    assert foreign == []


def test_a_long_message_id_is_replaced_by_a_short_one() -> None:
    turn = {"role": "assistant", "content": [{"type": "text", "text": "x", "textSignature": "m" * 100}]}
    (item,) = to_responses_items([turn], GPT)
    assert len(item["id"]) <= 64
    assert to_responses_items([turn], GPT) == [item]


def test_trimming_is_linear_and_stops_where_nothing_may_go() -> None:
    pairs: list[dict[str, Any]] = [{"type": "message", "role": "user", "content": "keep"}]
    for index in range(20_000):
        pairs.append({"type": "function_call", "call_id": str(index), "name": "n", "arguments": "{}"})
        pairs.append({"type": "function_call_output", "call_id": str(index), "output": "o" * 100})
    assert trim_items(pairs, "", 30) == pairs[:1]
    assert trim_items(pairs, "", 0) == pairs


async def test_an_earlier_native_history_is_sent_only_to_the_provider_that_made_it() -> None:
    previous = {"openaiRemoteCompaction": {"provider": "openai", "replacementHistory": [KEPT], "compactionItem": KEPT}}
    post, sent = network({"output": [KEPT]})
    native = NativeCompactor(post, "key")
    await native.compact(GPT, [user("q")], previous, "I")
    await native.compact(model(provider="openai-codex"), [user("q")], previous, "I")
    assert sent[0]["input"][0] == KEPT
    assert KEPT not in sent[1]["input"]


async def test_native_history_is_preserved_beside_the_local_summary() -> None:
    post, sent = network({"output": [{"type": "message", "role": "user"}, KEPT]})
    options = SummaryOptions(system_prompt=("BASE", "MORE"))
    outcome = await summarize(prepared(), Scripted.of(GOOD), GPT, options, native=NativeCompactor(post, "key"))
    assert outcome.source == "native"
    assert outcome.summary == GOOD
    assert outcome.preserve_data is not None
    assert native_history(outcome.preserve_data) == outcome.preserve_data["openaiRemoteCompaction"]
    assert sent[0]["instructions"] == "BASE\n\nMORE"


@pytest.mark.parametrize("bad", [{"output": []}, ConnectionError("refused"), {"nonsense": 1}])
async def test_a_failing_native_compaction_falls_back_to_the_local_summary_and_says_so(bad: Any) -> None:
    """BR-059."""
    post, _ = network(bad)
    stale = {"openaiRemoteCompaction": {"provider": "openai"}, "memory": 1}
    outcome = await summarize(
        prepared(previous_preserve_data=stale), Scripted.of(GOOD), GPT, native=NativeCompactor(post, "key")
    )
    assert (outcome.source, outcome.preserve_data) == ("model", {"memory": 1})
    assert "native compaction failed" in outcome.notices[0]


async def test_a_cancelled_native_compaction_does_not_fall_back() -> None:
    post, _ = network(OctavoError(ErrorKind.CANCELLED, "stopped"))
    script = Scripted.of(GOOD)
    with pytest.raises(OctavoError, match="stopped"):
        await summarize(prepared(), script, GPT, native=NativeCompactor(post, "key"))
    assert script.requests == []


async def test_other_providers_never_see_the_native_endpoint() -> None:
    post, sent = network({"output": [KEPT]})
    await summarize(prepared(), Scripted.of(GOOD), model(), native=NativeCompactor(post, "key"))
    assert sent == []


def test_an_endpoint_is_named_by_its_host_alone() -> None:
    post, _ = network({})
    assert RemoteSummarizer(post, "https://u:p@h.example/s?key=1").name == "h.example"


def test_a_reference_to_a_stored_picture_is_not_sent_as_one() -> None:
    """Pictures lie in the blob store; an item with a reference in the place of data has the whole request refused."""
    picture = {"type": "image", "mimeType": "image/png", "data": "blob:sha256:" + "0" * 64}
    said = {"role": "user", "content": [{"type": "text", "text": "Look."}, picture]}
    items = to_responses_items([said, assistant("", call("c1", "shot")), result("c1", "", content=[picture])], GPT)
    assert "blob:" not in json.dumps(items)
    assert [item["type"] for item in items] == ["message", "function_call", "function_call_output"]


async def test_a_call_that_never_had_a_result_is_not_sent_alone() -> None:
    """An aborted turn leaves one behind; the API refuses it without an output, and its reasoning without the call."""
    post, sent = network({"output": [KEPT]})
    messages = [user("q"), assistant("", call("c1", "read", path="a")), user("Never mind.")]
    await NativeCompactor(post, "sk").compact(GPT, messages, None, "Be brief.")
    assert [item["type"] for item in sent[0]["input"]] == [
        "message",
        "function_call",
        "function_call_output",
        "message",
    ]
    assert sent[0]["input"][2]["call_id"] == "c1"
