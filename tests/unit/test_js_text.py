from hypothesis import given
from hypothesis import strategies as st

from octavo.js_text import properties, utf16_length, utf16_prefix, well_formed


def test_array_indices_come_first_and_other_keys_keep_their_order() -> None:
    found = [key for key, _ in properties({"b": 1, "10": 2, "a": 3, "9": 4, "01": 5, "4294967295": 6})]
    assert found == ["9", "10", "b", "a", "01", "4294967295"]


@given(st.text(alphabet=st.characters() | st.sampled_from("🧩𠮷\ud800"), max_size=12), st.integers(0, 14))
def test_a_prefix_never_exceeds_its_limit_nor_splits_a_character(text: str, limit: int) -> None:
    prefix = utf16_prefix(text, limit)
    assert text.startswith(prefix)
    assert utf16_length(prefix) <= limit
    if prefix != text:
        assert utf16_length(text[: len(prefix) + 1]) > limit


def test_text_for_the_wire_holds_no_lone_surrogate() -> None:
    assert well_formed("a\ud800b\ud83e\udde9") == "a\ufffdb🧩"
