"""The seed's normalisation, character for character (snapcompact.md §4).

It collapses all white space, folds typography, and prints `?` for what a Latin-1 pixel font lacks. The default layout
uses `normalize.normalize` instead, which loses less; this one stays for archives and settings that ask for the seed's.
"""

import re
import unicodedata
from typing import Final

from octavo.snapcompact.ansi import strip_ansi
from octavo.snapcompact.marks import DIM_OFF, DIM_ON, NEWLINE

FORMAT_CHARS: Final = (
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
"""General category Cf, spelled out so that the result does not depend on the interpreter's Unicode version."""

SPACES: Final = "\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What JavaScript's `\\s` matches; Python's also matches U+001C-001F and U+0085, which are controls here."""

_ASCII_RUN = re.compile(r"[\t-\r][\t-\r ]*| [\t-\r ]+")
_RUN = re.compile(f"[{SPACES}{FORMAT_CHARS}]+")
_LINE_BREAK = re.compile("[\n\r\u2028\u2029]")
_NOT_FORMAT = re.compile(f"[^{FORMAT_CHARS}]")
_BEYOND = re.compile(f"[^\x20-\x7e\xa0-\xff{DIM_ON}{DIM_OFF}{NEWLINE}]+")
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

_DROPPED_CATEGORIES = frozenset({"Cc", "Mn", "Me", "Cs"})
_LATER_MARKS = re.compile(
    "[\u0897\u0ece\u1acf-\u1add\u1ae0-\u1aeb\U00010d69-\U00010d6d\U00010efa-\U00010eff\U00011241\U000113bb-\U000113c0"
    "\U000113ce\U000113d0\U000113d2\U000113e1\U000113e2\U00011b60\U00011b62-\U00011b64\U00011b66"
    "\U00011f00\U00011f01\U00011f36-\U00011f3a\U00011f40\U00011f42\U00011f5a\U00013440"
    "\U00013447-\U00013455\U0001611e-\U00016129\U0001612d-\U0001612f\U0001e08f\U0001e4ec-\U0001e4ef"
    "\U0001e5ee\U0001e5ef\U0001e6e3\U0001e6e6\U0001e6ee\U0001e6ef\U0001e6f5]"
)
"""Combining marks of Unicode 15 to 17, newer than the tables of the oldest supported interpreter."""
_FORMER_MARKS = frozenset("\U0001171e")
"""Non-spacing marks of those tables that Unicode 16 made spacing ones."""

_FOLDS: dict[str, str] = {
    **dict.fromkeys("‘’‚‛", "'"),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("–—―−", "-"),
    **dict.fromkeys("•●■▪", "*"),
    **dict.fromkeys("✓✔", "v"),
    **dict.fromkeys("✗✘", "x"),
    "…": "...",
    "←": "<-",
    "→": "->",
    "⇒": "=>",
}


class _FoldTable(dict[int, str]):
    """Fold of one code point outside Latin-1, filled as code points turn up."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold(code)
        return folded


def normalize_seed(text: str) -> str:
    """Return the text in the seed's frame alphabet: Latin-1, dim toggles, and U+2588 for line breaks."""
    text = join_surrogates(strip_ansi(text))
    text = _ASCII_RUN.sub(_collapse_ascii, text) if text.isascii() else _RUN.sub(_collapse, text)
    text = text.strip(" " + NEWLINE)
    table = _FoldTable()
    return _BEYOND.sub(lambda found: found[0].translate(table), text)


def join_surrogates(text: str) -> str:
    """Join surrogate halves that stand side by side, as UTF-16 strings do by themselves; lone halves stay."""
    if text.isascii() or not _SPLIT_PAIR.search(text):
        return text
    return _SPLIT_PAIR.sub(lambda found: found[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)


def _collapse_ascii(run: re.Match[str]) -> str:
    return NEWLINE if "\n" in run[0] or "\r" in run[0] else " "


def _collapse(run: re.Match[str]) -> str:
    if run[0] == " ":
        return " "
    if _LINE_BREAK.search(run[0]):
        return NEWLINE
    return " " if _NOT_FORMAT.search(run[0]) else ""


def _fold(code: int) -> str:
    char = chr(code)
    if (folded := _FOLDS.get(char)) is not None:
        return folded
    if 0x2500 <= code <= 0x257F:
        return "|" if code in (0x2502, 0x2503) else "-" if code in (0x2500, 0x2501) else "+"
    if char in _FORMER_MARKS:
        return "?"
    return "" if unicodedata.category(char) in _DROPPED_CATEGORIES or _LATER_MARKS.match(char) else "?"
