"""Text for people: harmless, no wider than the terminal, plain where colours are not wanted."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.cli.terminal import Terminal, cells, clean, count, fit, pad, size


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@given(st.text(), st.integers(0, 40))
def test_a_fitted_text_never_takes_more_cells_than_it_may(text: str, width: int) -> None:
    shown = fit(text, width)
    assert cells(shown) <= width
    assert shown == text or cells(text) > width
    assert cells(pad(text, width)) == width


@given(st.text() | st.text(st.characters(categories=["Cc", "Cf", "Cs"])))
def test_a_cleaned_text_is_one_line_that_commands_nothing(text: str) -> None:
    shown = clean(text)
    assert "\x1b" not in shown
    assert shown == clean(shown)
    shown.encode()
    assert not any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in shown)


def test_whole_escape_sequences_go_and_the_text_between_them_stays() -> None:
    assert clean("a\x1b[31mred\x1b[0m \x1b]0;title\x07b\x1b]8;;http://x\x1b\\link\n\tend\u202e!") == "ared blink end !"


def test_full_width_and_combining_characters_count_as_terminals_show_them() -> None:
    assert cells("大阪") == 4
    assert cells("e\u0301") == 1
    assert fit("大阪湾", 5) == "大阪…"


@pytest.mark.parametrize(
    ("environment", "stream", "coloured"),
    [
        ({}, Tty(), True),
        ({"NO_COLOR": "1"}, Tty(), False),
        ({"NO_COLOR": ""}, Tty(), True),
        ({"TERM": "dumb"}, Tty(), False),
        ({}, io.StringIO(), False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    environment: dict[str, str], stream: io.StringIO, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Terminal.of(stream).colour is coloured


@pytest.mark.parametrize(("columns", "width"), [("20", 60), ("100", 100), ("400", 120)])
def test_lines_are_as_wide_as_the_terminal_within_reason(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    out = io.StringIO()
    terminal = Terminal.of(out)
    terminal.heading("Title", "a note that may be longer than there is room for, " * 3)
    terminal.line(terminal.divider("compacted · 87,016 tokens → 26,033"))
    assert {cells(line) for line in out.getvalue().splitlines() if line} == {width}


def test_figures_read_as_people_write_them() -> None:
    assert [count(1, "frame"), count(2000, "entry", "entries")] == ["1 frame", "2,000 entries"]
    assert [size(812), size(20_480), size(2_370_492)] == ["812 B", "20 kB", "2.4 MB"]
