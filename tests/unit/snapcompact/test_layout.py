import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.snapcompact.layout import count_cells, ends_dim, paginate, visible_chars, wrap, wrap_cells
from octavo.snapcompact.normalize import normalize
from octavo.snapcompact.shapes import VARIANTS
from octavo_protocol.errors import OctavoError

GRID = VARIANTS["11on16-bw"]
DOC = VARIANTS["doc-8on16-bw"]
FRAME_TEXT = st.text(alphabet="ab .中\x0e\x0f█❹→", max_size=400)


def visible(text: str) -> str:
    return text.replace("\x0e", "").replace("\x0f", "")


def test_the_seed_counts_toggles_and_octavo_does_not() -> None:
    text = "\x0e" + "x" * 580 + "\x0f"
    assert len(paginate(text, GRID, 320, "seed")) == 2
    assert len(paginate(text, GRID, 320)) == 1


def test_a_page_that_begins_inside_a_gray_span_opens_it_again() -> None:
    first, second, third = paginate("a\x0e" + "x" * 1200 + "\x0fb", GRID, 320)
    assert second.startswith("\x0e")
    assert third.startswith("\x0e")
    assert ends_dim(first)
    assert not ends_dim(third)


@given(FRAME_TEXT)
def test_pages_hold_the_whole_text_in_order(text: str) -> None:
    pages = paginate(text, GRID, 64)
    if visible(text).strip(" █"):
        assert visible("".join(pages)) == visible(text)
        assert all(count_cells(page) <= GRID.capacity(64) for page in pages)


@given(FRAME_TEXT)
def test_seed_pages_are_slices(text: str) -> None:
    pages = paginate(text, GRID, 64, "seed")
    if text.strip("\x0e\x0f █"):
        assert "".join(pages) == text
        assert all(len(page) == GRID.capacity(64) for page in pages[:-1])


def test_seed_pages_count_utf_16_units() -> None:
    assert [len(page) for page in paginate("😀" * 300, GRID, 320, "seed")] == [290, 10]


def test_full_width_characters_take_two_cells_and_are_never_cut() -> None:
    pages = paginate("a" + "中" * 400, GRID, 320)
    # 29 cells a row: one letter and 14 wide ones, then 14 wide ones and a pad cell in every row.
    assert [len(page) for page in pages] == [1 + 14 * 20, 400 - 14 * 20]


@given(FRAME_TEXT, st.integers(3, 30))
def test_wrapped_lines_fit_and_join_to_the_text(text: str, width: int) -> None:
    shown = normalize(text.replace("█", "\n"))
    lines = wrap_cells(shown, width)
    assert all(count_cells(line) <= width for line in lines)
    assert " ".join(lines).replace("↵ ", "") == shown


@given(st.text(alphabet="ab \x0e中\n", max_size=200), st.integers(1, 20))
def test_seed_lines_keep_every_word(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(0 < len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "").replace("\n", "")


def test_seed_lines_count_utf_16_units() -> None:
    assert wrap("😀😀😀", 4) == ["😀😀", "😀"]
    assert wrap("a\u0085b c", 9) == ["a\u0085b c"]


def test_a_doc_page_is_two_columns_of_lines() -> None:
    words = " ".join(["word"] * 3 * 61)
    assert DOC.cols(160) == 8
    assert [page.count("\n") + 1 for page in paginate(" ".join(["abcdefgh"] * 21), DOC, 160)] == [20, 1]
    assert visible_chars("ab\ncd") == 4
    assert len(paginate(words, DOC, 160)) > 1


@pytest.mark.parametrize("text", ["", " ", "█ █", "\x0e\x0f", "\x0e █\x0f"])
@pytest.mark.parametrize("shape", [GRID, DOC])
def test_a_text_of_white_space_has_no_pages(text: str, shape: object) -> None:
    assert paginate(text, shape) == []  # type: ignore[arg-type]
    assert paginate(text, shape, None, "seed") == []  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, 8, 10**6])
def test_a_frame_size_that_cannot_be_drawn_is_refused_before_any_work(size: int) -> None:
    with pytest.raises(OctavoError):
        paginate("abc", GRID, size)
