"""What is printed onto frames: sections, caps, and what must never reach them."""

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.js_text import cut, utf16_length
from octavo.snapcompact.serialize import SerializeOptions, replace_data, serialize_conversation, truncate

DIM_ON, DIM_OFF = "\x0e", "\x0f"


def result(text: str, call: str = "c1", **fields: object) -> dict[str, object]:
    return {"role": "toolResult", "toolCallId": call, "content": [{"type": "text", "text": text}], **fields}


def call(name: str, arguments: object, call_id: str = "c1") -> dict[str, object]:
    block = {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
    return {"role": "assistant", "content": [block]}


def test_forged_dim_toggles_are_stripped_from_every_text() -> None:
    forged = f"a{DIM_ON}b{DIM_OFF}c"
    messages = [
        {"role": "user", "content": forged},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": forged}, {"type": "text", "text": forged}]},
        call(f"na{DIM_ON}me", {f"k{DIM_ON}": forged}),
        result(forged),
    ]
    for options in (SerializeOptions(), SerializeOptions.seed()):
        text = serialize_conversation(messages, options)
        assert text.count(DIM_ON) == text.count(DIM_OFF) == 1
        assert text.endswith(f"[Tool Result]: {DIM_ON}abc{DIM_OFF}")


def test_thinking_can_be_left_out_for_models_that_refuse_to_read_it() -> None:
    messages = [
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "t"}]}
    ]
    assert serialize_conversation(messages, SerializeOptions(include_thinking=False)) == "[Assistant]: t"


def test_a_useless_result_goes_with_its_call_but_an_error_stays() -> None:
    messages = [
        call("search", {}, "a"),
        result("none", "a", useless=True),
        call("search", {}, "b"),
        result("boom", "b", useless=True, isError=True),
    ]
    assert serialize_conversation(messages) == f"[Tool Call]: search()\n\n[Tool Result]: {DIM_ON}boom{DIM_OFF}"


def test_a_data_url_is_replaced_before_a_cap_can_cut_it() -> None:
    """A half data URL in the history once made every later request fail."""
    url = "data:image/png;base64," + base64.b64encode(random.Random(1).randbytes(3000)).decode()
    text = serialize_conversation([result(f"see ![shot]({url}) done"), call("put", {"image": url})])
    assert "base64," not in text
    assert "[data URL omitted: image/png, 4000 base64 chars]" in text
    assert "done" in text


def test_a_wall_of_base64_becomes_a_note_and_long_words_stay() -> None:
    wall = base64.encodebytes(random.Random(2).randbytes(900)).decode()
    assert replace_data(f"key:\n{wall}\nend of it") == "key:\n[base64 omitted: 1200 chars]\n\nend of it"
    path = "/usr/lib/python3/dist-packages/Module" * 20
    assert replace_data(path) == path


def test_redaction_sees_the_whole_text_before_a_cap_cuts_it() -> None:
    """BR-074: half a secret is still a secret."""
    secret = "AKIAABCDEFGHIJKLMNOP"
    filler = "x" * (1200 - 10)
    options = SerializeOptions(redact=lambda text: text.replace(secret, "[redacted]"))
    text = serialize_conversation([result(filler + secret + filler), call("t", {"key": secret})], options)
    assert secret[:8] not in text
    assert text.count("[redacted]") == 2


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"role": "user"},
        {"role": "user", "content": None},
        {"role": "user", "content": [None, 3, {"type": "text"}, {"type": "text", "text": 5}]},
        {"role": "assistant", "content": {"no": "list"}},
        {"role": "assistant", "content": [{"type": "toolCall"}, {"type": "toolCall", "name": 5, "arguments": None}]},
        {"role": "toolResult", "toolCallId": ["x"], "content": 7, "useless": True},
        "text",
        None,
    ],
)
def test_malformed_messages_are_tolerated(message: dict[str, object]) -> None:
    for options in (SerializeOptions(), SerializeOptions.seed()):
        serialize_conversation([message, {"role": "user", "content": "still here"}], options).index("still here")


def test_arguments_that_are_no_object_are_still_shown() -> None:
    assert serialize_conversation([call("t", ["a", 1])]) == '[Tool Call]: t(arguments=["a",1])'


def test_arguments_are_written_as_javascript_writes_them() -> None:
    arguments = {"b": 1.0, "10": 1e21, "9": "a\ud800é", "01": [True, None]}
    assert serialize_conversation([call("t", arguments)]) == (
        '[Tool Call]: t(9="a\\ud800é", 10=1e+21, b=1, 01=[true,null])'
    )


def test_nesting_without_end_does_not_end_the_process() -> None:
    value: object = "x"
    for _ in range(100_000):
        value = [value]
    assert "chars elided" in serialize_conversation([call("t", {"deep": value})])


@given(st.text(), st.integers(0, 40), st.floats(-1, 2))
def test_a_cap_keeps_exactly_its_number_of_utf16_utf16_length(text: str, limit: int, ratio: float) -> None:
    kept = truncate(text, limit, ratio)
    if utf16_length(text) <= limit:
        assert kept == text
    else:
        marker = f" [... {utf16_length(text) - limit} chars elided ...] "
        assert utf16_length(kept) == limit + len(marker)
        assert marker in kept


@given(st.text(), st.integers(0, 20), st.integers(0, 20))
def test_cuts_count_utf16_utf16_length(text: str, start: int, length: int) -> None:
    whole = text.encode("utf-16-le")
    piece = cut(text, start, start + length)
    assert piece.encode("utf-16-le", "surrogatepass") == whole[2 * start : 2 * (start + length)]
