import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.tokens.counting import count_each, count_tokens

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


def test_the_vocabulary_is_not_loaded_before_something_is_counted() -> None:
    code = "import octavo.tokens.counting, octavo.tokens.estimate, sys; print('splintr' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.strip() == "False"
