import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.js_text import utf16_length
from octavo.tokens.js_json import stringify

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1, max_size=4), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e21, "1e+21"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (0.000001, "0.000001"),
        (float("nan"), "null"),
        (float("inf"), "null"),
        ("\ud800x", '"\\ud800x"'),
        ("é\n\x01", '"é\\n\\u0001"'),
        ({"b": 1, "10": 2, "9": [True, None]}, '{"9":[true,null],"10":2,"b":1}'),
    ],
)
def test_values_are_written_as_javascript_writes_them(value: object, text: str) -> None:
    assert stringify(value) == text


@given(VALUES)
def test_what_is_written_reads_back_as_the_same_value(value: object) -> None:
    assert json.loads(stringify(value)) == value


def test_nesting_deeper_than_the_stack_is_written() -> None:
    value: object = 0
    for _ in range(100_000):
        value = [value]
    assert len(stringify(value)) == 200_001


def test_astral_characters_are_two_units_long() -> None:
    assert utf16_length("a😀é") == 4
