import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.tokens.counting import _SAFE_CUT, _pieces, count_each, count_tokens

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("hello world", 2), ("日本語テキスト", 5), ("😀😀😀", 3), ("<|endoftext|>", 7), ("a" * 1000, 125)],
)
def test_known_texts_have_their_o200k_count(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_fragments_are_counted_one_by_one_and_summed() -> None:
    assert count_tokens(["hel", "lo"]) == count_tokens("hel") + count_tokens("lo") != count_tokens("hello")


def test_special_tokens_are_ordinary_text_among_others_too() -> None:
    assert count_each(["x", "<|endofprompt|> x", ""]) == [1, 8, 0]


def test_a_lone_surrogate_counts_as_the_replacement_character() -> None:
    assert count_tokens("a\ud800b") == count_tokens("a\ufffdb")
    assert count_each(["ok", "\udfff"]) == [1, count_tokens("\ufffd")]


def test_a_surrogate_pair_counts_as_the_character_it_means() -> None:
    assert count_tokens("\ud83d\ude00!") == count_tokens("😀!")


@given(st.lists(ANY_TEXT, max_size=8))
def test_any_text_is_counted_alone_as_in_a_batch(texts: list[str]) -> None:
    assert count_each(texts) == [count_tokens(text) for text in texts]


@pytest.mark.parametrize("text", ["a", " ", "\n", "7", "=", "日", "😀", "\u0301", "\t\n"])
def test_a_million_equal_characters_are_counted_without_quadratic_work(text: str) -> None:
    # A quadratic merge would run for minutes here and into the test's time limit.
    assert 0 < count_tokens(text * (1_000_000 // len(text))) <= 1_000_000


WORDY = st.lists(
    st.sampled_from(
        [
            "Hello",
            " world",
            "x1",
            " ",
            "\n",
            "\n\n",
            "don't",
            "!",
            " ?",
            "/",
            "日本",
            "é",
            "\t",
            "12345",
            " A",
            "\r\n",
            "\u3000",
            " \n",
            "b",
            "7",
        ]
    ),
    min_size=4,
    max_size=80,
)


@settings(max_examples=400)
@given(WORDY)
def test_cutting_a_text_at_a_safe_break_changes_no_count(parts: list[str]) -> None:
    text = "".join(parts)
    whole = count_tokens(text)
    for safe in _SAFE_CUT.finditer(text):
        assert sum(count_each([text[: safe.start()], text[safe.start() :]])) == whole


@given(WORDY, st.integers(8, 40))
def test_pieces_are_the_text_and_are_cut_at_safe_breaks_where_there_are_any(parts: list[str], limit: int) -> None:
    text = "".join(parts)
    safe = {found.start() for found in _SAFE_CUT.finditer(text)}
    pieces = list(_pieces(text, limit, limit - 1))
    assert "".join(pieces) == text
    start = 0
    for piece in pieces[:-1]:
        assert 0 < len(piece) <= limit
        cut = start + len(piece)
        assert cut in safe or not safe & set(range(start + 1, start + limit))
        start = cut


def test_a_long_text_with_breaks_is_counted_exactly() -> None:
    line = "the quick brown fox jumps over 12 lazy dogs; don't stop\n"
    assert count_tokens(line * 50_000) == count_tokens(line * 100) * 500


def test_an_unbroken_run_of_millions_is_counted_in_pieces() -> None:
    assert 0 <= count_tokens("a" * 3_000_000) - 3_000_000 // 8 <= 6


def test_the_vocabulary_is_not_loaded_before_something_is_counted() -> None:
    code = "import octavo.tokens.counting, octavo.tokens.estimate, sys; print('splintr' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.strip() == "False"
