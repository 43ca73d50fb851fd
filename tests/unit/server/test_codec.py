"""JSON on the wire keeps everything JSON can say and refuses what it cannot."""

import json
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, field_serializer

from octavo.server import codec
from octavo_protocol.base import JsonObject, Wire
from octavo_protocol.errors import ErrorKind, OctavoError

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    # Surrogates are drawn on purpose.
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=20,
)


class Level(StrEnum):
    HIGH = "high"


class Model(Wire):
    first_kept: str
    raw: JsonObject
    absent: int | None = None


@given(anything)
def test_any_value_comes_back_as_it_went_out(value: object) -> None:
    assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize("text", ["🧩𠮷", "\ud83d", "\ude00 end", "a\ud83d\ud83db", "\ud83e\udde9 pair", "\x00\u2028"])
def test_unicode_survives_both_ways_even_half_pairs(text: str) -> None:
    """BR-109."""
    sent = codec.decode(json.dumps({"raw": {text: [text]}}).encode())
    # The standard library joins what two escapes spell, as every JSON reader does.
    expected = json.loads(json.dumps(text))
    assert sent == {"raw": {expected: [expected]}}
    assert codec.decode(codec.encode(sent)) == sent
    model = Model(first_kept=expected, raw={expected: expected})
    assert codec.decode(codec.encode(model)) == {"firstKept": expected, "raw": {expected: expected}}


def test_a_model_leaves_out_what_is_unset_and_keeps_null_inside_raw_objects() -> None:
    assert codec.encode(Model(first_kept="a", raw={"parentId": None})) == b'{"firstKept":"a","raw":{"parentId":null}}'


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'"\xff\xfe"',
        b"\xff\xfe{\x00}\x00",
        b'{"a":"\\ud83d","b":NaN}',
        b'{"a":"\\ud83d"',
        b"[" * 5000 + b"]" * 5000,
        b'["\\ud83d",' + b"[" * 100_000,
        b'{"a":1}{"a":2}',
    ],
    ids=range(11),
)
def test_what_is_not_json_is_a_parse_error(body: bytes) -> None:
    """BR-100."""
    with pytest.raises(OctavoError) as caught:
        codec.decode(body)
    assert caught.value.kind is ErrorKind.PARSE_ERROR


@pytest.mark.parametrize("value", [object(), {"a": {1, 2}}, b"bytes", {"\ud83d": object()}, {("a",): 1}])
def test_what_json_cannot_say_is_unencodable(value: object) -> None:
    with pytest.raises(codec.UnencodableError):
        codec.encode(value)


def test_integers_beyond_64_bits_and_deep_nesting_are_encoded() -> None:
    deep: object = 2**80
    for _ in range(300):
        deep = [deep]
    assert codec.encode(deep) == b"[" * 300 + str(2**80).encode() + b"]" * 300


def test_an_answer_and_an_error_carry_the_id_they_answer_to() -> None:
    assert json.loads(codec.result("ü", {"a": 1})) == {"jsonrpc": "2.0", "id": "ü", "result": {"a": 1}}
    assert json.loads(codec.error(None, -32700, "m", {"kind": "k"})) == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32700, "message": "m", "data": {"kind": "k"}},
    }


class Inner(Wire):
    kind_of: str
    level: Level = Level.HIGH
    nothing: None = None


class Nested(Wire):
    from_: str = Field(alias="from")
    items: list[Inner | None]
    pair: tuple[int, Inner]
    by_name: dict[str, Inner]


class Special(Wire):
    when_ms: int
    names: frozenset[str] = frozenset({"a"})

    @field_serializer("when_ms")
    def _seconds(self, value: int) -> float:
        return value / 1000


def test_nested_models_are_encoded_as_pydantic_would() -> None:
    inner = Inner(kind_of="x")
    for model in (
        Nested.model_validate(
            {"from": "f", "items": [inner, None], "pair": (1, inner), "byName": {"snake_name": inner}}
        ),
        Special(when_ms=1500),
    ):
        assert json.loads(codec.encode(model)) == model.to_wire()
        assert json.loads(codec.result(1, {"wrapped": [model]}))["result"] == {"wrapped": [model.to_wire()]}
