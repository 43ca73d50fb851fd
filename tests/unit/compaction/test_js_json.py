import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.compaction.js_json import number, stringify, utf16_length, utf16_prefix, well_formed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789012345680.0, "123456789012345680"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (-1.5e-5, "-0.000015"),
        (5e-324, "5e-324"),
        (2**53 + 1, "9007199254740993"),
        (10**25, "1e+25"),
        (10**400, "null"),
        (float("nan"), "null"),
        (float("-inf"), "null"),
    ],
)
def test_numbers_are_printed_as_javascript_prints_them(value: float, expected: str) -> None:
    assert number(value) == expected


def test_array_indices_come_first_and_other_keys_keep_their_order() -> None:
    assert stringify({"b": 1, "10": 2, "a": 3, "9": 4, "01": 5}) == '{"9":4,"10":2,"b":1,"a":3,"01":5}'


def test_lone_surrogates_are_escaped_and_pairs_are_joined() -> None:
    assert stringify("\ud83d|\ud83e\udde9|é\u2028\x01") == '"\\ud83d|🧩|é\u2028\\u0001"'


def test_nesting_deeper_than_the_call_stack_is_written() -> None:
    value: list[object] = []
    for _ in range(20_000):
        value = [value]
    assert stringify(value) == "[" * 20_001 + "]" * 20_001


@given(JSON)
def test_the_text_reads_back_as_the_same_value(value: object) -> None:
    def integral(item: object) -> object:
        if isinstance(item, dict):
            return {key: integral(inner) for key, inner in item.items()}
        if isinstance(item, list):
            return [integral(inner) for inner in item]
        return float(item) if isinstance(item, int) and not isinstance(item, bool) else item

    assert integral(json.loads(stringify(value))) == integral(value)


@given(st.text(alphabet=st.characters() | st.sampled_from("🧩𠮷\ud800"), max_size=12), st.integers(0, 14))
def test_a_prefix_never_exceeds_its_limit_nor_splits_a_character(text: str, limit: int) -> None:
    prefix = utf16_prefix(text, limit)
    assert text.startswith(prefix)
    assert utf16_length(prefix) <= limit
    if prefix != text:
        assert utf16_length(text[: len(prefix) + 1]) > limit


def test_text_for_the_wire_holds_no_lone_surrogate() -> None:
    assert well_formed("a\ud800b\ud83e\udde9") == "a\ufffdb🧩"
