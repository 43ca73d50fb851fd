"""Text for people: colours where a terminal shows them, columns that fit it, nothing that could command it.

Session files hold whatever users, models and tools once wrote, also escape sequences; `clean` makes them harmless.
"""

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO, Literal

from octavo_protocol.base import JsonObject

Style = Literal["bold", "dim", "red", "green", "yellow", "blue", "cyan"]

_CODES: dict[Style, str] = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "cyan": "36",
}
_NARROWEST, _WIDEST, _UNKNOWN = 60, 120, 100
# Control characters, lone surrogates, and what turns the direction of the rest of a line.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SEQUENCE = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-_])")


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where lines go: `width` in cells, and whether they may be coloured."""

    out: IO[str]
    width: int
    colour: bool

    @classmethod
    def of(cls, out: IO[str]) -> "Terminal":
        """Describe a stream; NO_COLOR and TERM=dumb mean no colour, COLUMNS counts."""
        shown = out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        columns = shutil.get_terminal_size((_UNKNOWN, 24)).columns
        return cls(out, max(_NARROWEST, min(_WIDEST, columns)), shown)

    def line(self, text: str = "") -> None:
        """Print a line; its text has been cleaned where it is somebody else's."""
        print(text.rstrip(" "), file=self.out)

    def lines(self, texts: Iterable[str]) -> None:
        """Print lines."""
        for text in texts:
            self.line(text)

    def paint(self, text: str, *styles: Style) -> str:
        """Return the text in these styles, or as it is."""
        if not self.colour or not styles or not text:
            return text
        return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"

    def heading(self, title: str, note: str = "") -> None:
        """Print an empty line and a title with a rule to the right margin, the note at its end."""
        note = fit(note, max(0, self.width - cells(title) - 6))
        rule = "─" * max(2, self.width - cells(title) - cells(note) - (2 if note else 1))
        self.line()
        tail = f" {self.paint(note, 'dim')}" if note else ""
        self.line(f"{self.paint(title, 'bold', 'cyan')} {self.paint(rule, 'dim')}{tail}")

    def divider(self, text: str, *styles: Style) -> str:
        """Return a line across the width with the text set into it."""
        text = fit(text, self.width - 8)
        return self.paint(f"── {text} {'─' * max(2, self.width - cells(text) - 4)}", *styles)

    def columns(self, left: str, right: str, *, style: Style | None = None) -> str:
        """Return `left` and `right` at their margins; `left` gives way."""
        room = self.width - cells(right) - 2
        shown = fit(left, room)
        gap = " " * (self.width - cells(shown) - cells(right))
        return f"{shown}{gap}{self.paint(right, 'dim')}" if style is None else self.paint(f"{shown}{gap}{right}", style)


def standard_output() -> Terminal:
    """The terminal on stdout; characters its encoding lacks are replaced instead of ending the program."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    return Terminal.of(sys.stdout)


def clean(text: str) -> str:
    """Return somebody else's text as one harmless line: no escape sequences, no controls, no runs of white space."""
    text = _SEQUENCE.sub("", text)
    return " ".join(_UNSAFE.sub(" ", text).split())


def cells(text: str) -> int:
    """Cells the text takes in a terminal."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def fit(text: str, width: int) -> str:
    """Return the text in at most `width` cells, with an ellipsis where it was cut."""
    if cells(text) <= width:
        return text
    if width <= 0:
        return ""
    kept, used = [], 0
    for character in text:
        used += _cell(character)
        if used > width - 1:
            break
        kept.append(character)
    return f"{''.join(kept).rstrip()}…"


def pad(text: str, width: int) -> str:
    """Return the text in exactly `width` cells."""
    shown = fit(text, width)
    return shown + " " * (width - cells(shown))


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return `1 frame`, `2,000 frames`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def size(number: int) -> str:
    """Return bytes as people write them: `812 B`, `20 kB`, `2.4 MB`."""
    if number < 1000:
        return f"{number} B"
    return f"{number / 1000:.0f} kB" if number < 1_000_000 else f"{number / 1e6:.1f} MB"


def print_json(value: JsonObject) -> None:
    """Print one JSON document in UTF-8, whatever the terminal speaks."""
    import json  # noqa: PLC0415 - not every command needs it

    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = json.dumps(value, indent=2).encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(data + b"\n")


def _cell(character: str) -> int:
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 0 if unicodedata.category(character) in {"Mn", "Me", "Cf"} else 1
