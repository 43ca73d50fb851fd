"""Each provider's wire against its golden files: the request we send, and what we make of its stream.

The files are in `tests/wire/providers`: `conversation.json` is what goes in, `<api>.request.json` what must come out,
`<api>.sse` a stream as the provider sends it. A changed request is a visible diff of a golden file.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from octavo.error_text.verdicts import is_transient
from octavo.providers.client import WIRES
from octavo.providers.sse import SseDecoder
from octavo.providers.wire import StreamFailedError
from octavo_protocol.completion import CompletionRequest, Model

GOLDEN = Path(__file__).parents[2] / "wire" / "providers"
APIS = ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"]


def request_for(api: str, **changes: Any) -> CompletionRequest:
    raw = json.loads((GOLDEN / "conversation.json").read_text())
    model = Model("p", "some-model", api, 200_000, 32_000, ("text", "image"), reasoning=True)
    fields: dict[str, Any] = {
        "model": model,
        "system_prompt": tuple(raw["systemPrompt"]),
        "messages": tuple(raw["messages"]),
        "tools": tuple(raw["tools"]),
        "tool_choice": raw["toolChoice"],
        "max_tokens": raw["maxTokens"],
        "reasoning": raw["reasoning"],
    }
    return CompletionRequest(**(fields | changes))


def read_stream(api: str, data: bytes, step: int) -> Any:
    reader = WIRES[api](request_for(api), "key").reader
    decoder = SseDecoder()
    for start in range(0, len(data), step):
        for event in decoder.feed(data[start : start + step]):
            reader.accept(event.name, event.data)
    return reader.result()


@pytest.mark.parametrize("api", APIS)
def test_the_request_is_the_golden_one(api: str) -> None:
    wired = WIRES[api](request_for(api), "the-key")
    sent = json.dumps({"url": wired.url, "headers": wired.headers, "body": wired.body}, indent=2, ensure_ascii=False)
    golden = GOLDEN / f"{api}.request.json"
    if os.environ.get("OCTAVO_UPDATE_GOLDEN"):
        golden.write_text(sent + "\n")
    assert json.loads(sent) == json.loads(golden.read_text())


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_a_stream_cut_anywhere_gives_the_same_answer(api: str, step: int) -> None:
    result = read_stream(api, (GOLDEN / f"{api}.sse").read_bytes(), step)
    assert result.text == "満潮 07:12"
    assert [b["type"] for b in result.content] == ["thinking", "text", "toolCall"]
    call = {k: result.content[2][k] for k in ("id", "name", "arguments")}
    assert call == {"id": "toolu_9", "name": "read", "arguments": {"path": "KOB.har"}}
    assert result.stop_reason == "toolUse"
    assert result.usage is not None
    assert (result.usage["input"], result.usage["output"], result.usage["cacheRead"]) == (25, 42, 100)


@pytest.mark.parametrize("api", APIS)
def test_a_stream_that_ends_early_is_a_failure_and_not_a_short_answer(api: str) -> None:
    data = (GOLDEN / f"{api}.sse").read_bytes()
    with pytest.raises(StreamFailedError):
        read_stream(api, data[: len(data) // 3], 64)


@pytest.mark.parametrize("api", APIS)
def test_no_request_carries_the_key_in_its_address_or_body(api: str) -> None:
    wired = WIRES[api](request_for(api), "the-key")
    assert "the-key" not in wired.url
    assert "the-key" not in json.dumps(wired.body)


@pytest.mark.parametrize("api", APIS)
def test_a_text_only_model_is_sent_no_images(api: str) -> None:
    blind = Model("p", "m", api, 200_000, 32_000)
    body = json.dumps(WIRES[api](request_for(api, model=blind), None).body)
    assert "AAAA" not in body
    assert "BBBB" not in body


@pytest.mark.parametrize("api", APIS)
def test_nonsense_usage_never_becomes_a_figure(api: str) -> None:
    data = (GOLDEN / f"{api}.sse").read_bytes()
    for wrong in (b"1000000000000", b"-5", b'"many"', b"null"):
        try:
            result = read_stream(api, data.replace(b":42", b":" + wrong).replace(b":40,", b":" + wrong + b","), 999)
        except TypeError:
            continue  # the client reports it as a malformed stream
        assert result.usage is not None
        assert 0 <= result.usage["output"] < 10**10


def test_an_answer_that_the_window_cut_off_is_not_taken_for_whole() -> None:
    stream = (GOLDEN / "anthropic-messages.sse").read_text()
    for reason in ("end_turn", "tool_use", "max_tokens"):
        stream = stream.replace(f'"stop_reason":"{reason}"', '"stop_reason":"model_context_window_exceeded"')
    assert "model_context_window_exceeded" in stream
    assert read_stream("anthropic-messages", stream.encode(), 10_000).stop_reason == "length"


LIMITS = {
    "anthropic-messages": ("max_tokens",),
    "openai-completions": ("max_completion_tokens",),
    "openai-responses": ("max_output_tokens",),
    "google-generative-ai": ("generationConfig", "maxOutputTokens"),
}


@pytest.mark.parametrize(("effort", "limit"), [(None, 2_000), ("high", 2_000 + 16_384), ("xhigh", 32_000)])
@pytest.mark.parametrize("api", APIS)
def test_reasoning_does_not_use_up_the_room_of_the_answer(api: str, effort: str | None, limit: int) -> None:
    """Every API counts reasoning as output: a limit for the answer alone would leave a thinking model no word."""
    sent: Any = WIRES[api](request_for(api, max_tokens=2_000, reasoning=effort), None).body
    for key in LIMITS[api]:
        sent = sent[key]
    assert sent == limit


def loop_of(api: str) -> list[dict[str, Any]]:
    """A turn in the middle of its tool calls, by a model of this API, and what it is asked now."""
    call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {}}
    thought = {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "sig"}
    return [
        {"role": "user", "content": "Read it."},
        {"role": "assistant", "api": api, "content": [thought, call]},
        {"role": "toolResult", "toolCallId": "c1", "toolName": "read", "content": "It is read."},
        {"role": "assistant", "api": api, "content": [{**call, "id": "c2"}]},
        {"role": "toolResult", "toolCallId": "c2", "toolName": "read", "content": "It is read."},
        {"role": "user", "content": "Hand over."},
    ]


def test_reasoning_is_not_asked_for_in_a_tool_loop_that_began_without_it() -> None:
    """The API refuses to reason on in a turn whose first reasoning it is not shown, as after a change of provider."""
    wire = WIRES["anthropic-messages"]
    own, foreign = loop_of("anthropic-messages"), loop_of("openai-responses")
    assert "thinking" in wire(request_for("anthropic-messages", messages=tuple(own)), None).body
    assert "thinking" not in wire(request_for("anthropic-messages", messages=tuple(foreign)), None).body
    ended = [*foreign[:-1], {"role": "assistant", "content": "Done."}, foreign[-1]]
    assert "thinking" in wire(request_for("anthropic-messages", messages=tuple(ended)), None).body


@pytest.mark.parametrize("reason", ["OTHER", "LANGUAGE", "UNEXPECTED_TOOL_CALL", "IMAGE_SAFETY", "SAFETY"])
def test_an_answer_that_gemini_broke_off_is_an_error_and_not_a_short_answer(reason: str) -> None:
    stream = (
        (GOLDEN / "google-generative-ai.sse").read_text().replace('"finishReason":"STOP"', f'"finishReason":"{reason}"')
    )
    assert reason in stream
    result = read_stream("google-generative-ai", stream.encode(), 10_000)
    assert result.stop_reason == "error"
    assert reason.lower().replace("_", " ") in (result.error_message or "")


def test_an_answer_that_a_gateway_broke_off_is_an_error_and_not_a_short_answer() -> None:
    stream = (GOLDEN / "openai-completions.sse").read_text()
    for reason in ("stop", "tool_calls"):
        stream = stream.replace(f'"finish_reason":"{reason}"', '"finish_reason":"error"')
    result = read_stream("openai-completions", stream.encode(), 10_000)
    assert (result.stop_reason, result.error_message) == ("error", "the provider broke the answer off")


def shown(text: str, mime: str, data: str = "AAAA", **fields: Any) -> list[dict[str, Any]]:
    """A tool that shows a picture."""
    content = [{"type": "text", "text": text}, {"type": "image", "mimeType": mime, "data": data}]
    called = {"type": "toolCall", "id": "c1", "name": "shot", "arguments": {}}
    return [
        {"role": "user", "content": "Show it."},
        {"role": "assistant", "content": [called]},
        {"role": "toolResult", "toolCallId": "c1", "toolName": "shot", "content": content, **fields},
    ]


def test_the_result_of_a_failed_call_holds_text_only_and_its_picture_stands_beside_it() -> None:
    """Anthropic: "all content must be type text if is_error is true"."""
    messages = tuple(shown("It crashed.", "image/png", isError=True))
    sent = WIRES["anthropic-messages"](request_for("anthropic-messages", messages=messages), None).body["messages"]
    outcome, picture = sent[-1]["content"]
    assert (outcome["is_error"], [part["type"] for part in outcome["content"]]) == (True, ["text"])
    assert picture["type"] == "image"


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("mime", "data"), [("image/svg+xml", "AAAA"), ("image/bmp", "AAAA"), ("image/png", "")])
def test_a_picture_no_provider_takes_does_not_have_the_whole_request_refused(api: str, mime: str, data: str) -> None:
    messages = tuple(shown("Drawn.", mime, data))
    body = json.dumps(WIRES[api](request_for(api, messages=messages), None).body)
    assert "Drawn." in body
    assert mime not in body


SORRY = "The server had a problem. Sorry about that!"
BROKEN_STREAMS: dict[str, dict[str, Any]] = {
    "anthropic-messages": {"type": "error", "error": {"type": "overloaded_error", "message": SORRY}},
    "openai-completions": {"error": {"code": 502, "message": SORRY}},
    "openai-responses": {
        "type": "response.failed",
        "response": {"error": {"code": "server_error", "message": SORRY}},
    },
    "google-generative-ai": {"error": {"code": 503, "status": "UNAVAILABLE", "message": SORRY}},
}


@pytest.mark.parametrize("api", APIS)
def test_the_kind_of_a_failure_in_the_stream_is_kept_so_that_one_that_passes_is_known(api: str) -> None:
    """A stream that began well has no status any more that would tell."""
    reader = WIRES[api](request_for(api), None).reader
    with pytest.raises(StreamFailedError, match="Sorry about that!") as caught:
        reader.accept("message", json.dumps(BROKEN_STREAMS[api]))
    assert is_transient(str(caught.value))
