import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.snapcompact.marks import CUT_OUT, DIM_OFF, DIM_ON, NEWLINE, plain_text
from octavo.snapcompact.normalize import normalize, normalize_seed

WALL = base64.b64encode(random.Random(7).randbytes(3000)).decode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a█b"),
        ("a\n\n\n  \nb", "a█b"),
        ("a\r\nb\rc\u2028d", "a█b█c█d"),
        ("def f():\n    return 1", "def f():█❹return 1"),
        ("x:\n            y", "x:█❶❷y"),
        ("all:\n\tgo\n\t\tdeep", "all:█⇥go█⇥⇥deep"),
        ("a:\n  \tb", "a:█❷⇥b"),
        ("diff:\n unchanged", "diff:█ unchanged"),
        ("name    value", "name ❹ value"),
        ("a  b   c", "a  b   c"),
        ("a            b", "a ❶❷ b"),
        ("a     \t b", "a ❺ ⇥ b"),
        ("col\tcol", "col⇥col"),
        ("End.  Next", "End. Next"),
        ("    first line too", "❹first line too"),
        ("trailing   \nnext   ", "trailing█next"),
        ("a\x0b\x0cb", "a  b"),
        ("a\xa0b\u3000c", "a b c"),
        ("\x1b[31mred\x1b[0m plain", "red plain"),
        ("a\x00b\x07c\x7f\x85d", "abcd"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("█ ❹ ⇥ ↵", "# (4) ->| <-|"),
        ("e\u0301te\u0301", "été"),
        ("x\u0336y", "xy"),
        ("𝐇𝐢 x⁵", "Hi x⁵"),
        ("✅ ok ⚠️ hm", "[OK] ok [WARN] hm"),
        ("🎉👍🏽", "[party popper][thumbs up sign]"),
        ("🇫🇷", "[flag FR]"),
        ("1️⃣", "1"),
        ("中文，Ｆ", "中文，Ｆ"),
        ("“q” – … │├─", "“q” – … │├─"),
        ("\ud83d\ude00", "[grinning face]"),
        ("a\ud800b", "ab"),
        ("", ""),
        (" \n\t ", ""),
    ],
)
def test_text_is_shown_as(text: str, shown: str) -> None:
    assert normalize(text) == shown


def test_a_data_url_becomes_a_note_with_its_markdown_around_it() -> None:
    assert (
        normalize(f"see ![x](data:image/png;base64,{WALL}) ok")
        == "see [data URL omitted: image/png, 4000 base64 chars] ok"
    )
    assert normalize("data:text/plain;base64,aGk=") == "data:text/plain;base64,aGk="


def test_a_wall_of_base64_becomes_a_note() -> None:
    assert normalize(f"key {WALL} end") == "key [base64 omitted: 4000 chars] end"
    lines = "\n".join("    " + WALL[at : at + 76] for at in range(0, len(WALL), 76))
    assert normalize(f"-----BEGIN\n{lines}\n-----END") == "-----BEGIN█[base64 omitted: 4000 chars]█-----END"


@pytest.mark.parametrize("word", ["x" * 14_000, "deadbeef0123" * 50, "some/long/path/" * 40, "=" * 400])
def test_long_words_that_are_no_base64_stay(word: str) -> None:
    assert normalize(word) == word


def test_dim_toggles_survive_and_cost_no_cells() -> None:
    assert normalize("a \x0e  b\n\x0f\n\nc") == "a\x0e   b\x0f█c"
    assert normalize("\x0e\x0f\x0e x \x0f") == "\x0ex\x0f"


@given(st.text())
def test_only_the_frame_alphabet_comes_out(text: str) -> None:
    shown = normalize(text)
    assert not any(ord(char) < 0x20 and char not in (DIM_ON, DIM_OFF) for char in shown)
    assert not any(0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000 for char in shown)
    assert "    " not in shown
    assert not any(char.isspace() and char != " " for char in shown)


@given(st.lists(st.text(alphabet="ab \t.", min_size=1, max_size=20)))
def test_code_can_be_written_out_again_but_for_blank_lines_and_trailing_space(lines: list[str]) -> None:
    kept = [line.rstrip(" \t") for line in lines if line.strip(" \t")]
    expected = "\n".join(kept).replace(".  a", ". a").replace(".  b", ". b").replace(".  .", ". .")
    if expected.startswith(" ") and not expected.startswith("  "):
        expected = expected[1:]
    assert plain_text(normalize("\n".join(lines))) == expected


@given(st.text(alphabet=f"a\x0e\x0f{NEWLINE}{CUT_OUT}"))
def test_marks_in_the_input_cannot_be_taken_for_octavos(text: str) -> None:
    assert not set(normalize(text)) & set(NEWLINE + CUT_OUT)


def test_the_seeds_normalisation_is_the_same_from_both_doors() -> None:
    assert normalize_seed("a  b\n\tc “q” 中") == 'a b█c "q" ?'


def test_many_escapes_and_toggles_take_linear_time() -> None:
    for text in ("\x1b[" * 200_000, "\x1b]" * 2_000, "\x0e" * 200_000, " \x0e" * 100_000, "data:;base64," * 20_000):
        normalize(text)
        normalize_seed(text)


def test_the_seeds_alphabet_has_the_size_the_format_gives_it() -> None:
    """snapcompact.md §4, coverage counts of U+00A0-1FFFF: they depend on the Unicode version of the mark tables."""
    folded = [(chr(code), normalize_seed(f"x{chr(code)}y")[1:-1]) for code in range(0xA0, 0x20000)]
    shown = [(char, fold) for char, fold in folded if not "\ud800" <= char <= "\udfff"]
    assert sum(char == fold for char, fold in shown) == 95
    assert sum(fold == "?" for _, fold in shown) == 126_695
    assert sum(not fold for _, fold in shown) == 1_905
