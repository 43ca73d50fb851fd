"""The marks that octavo's normalised text uses besides characters, and how to write them out again.

| mark | drawn as | means |
|---|---|---|
| U+2588 | a solid black cell | a line break |
| U+24FF, U+2776-277E | a digit cut out of a black cell | at the start of a line: so many spaces of indentation |
| the same, with a space on either side | | within a line: so many spaces in all, four or more |
| U+21E5 | an arrow cut out of a black cell | a tab |
| U+21B5 | a corner arrow cut out of a black cell | doc layout: the word goes on in the next line |
| U+000E, U+000F | nothing | the text between them is drawn gray |

Text never contains them by itself: `normalize` spells such characters differently before it adds its own.
"""

import re
from typing import Final

NEWLINE: Final = "\u2588"
DIM_ON: Final = "\x0e"
DIM_OFF: Final = "\x0f"
TAB: Final = "\u21e5"
CONTINUES: Final = "\u21b5"
SPACE_DIGITS: Final = "\u24ff\u2776\u2777\u2778\u2779\u277a\u277b\u277c\u277d\u277e"
CUT_OUT: Final = SPACE_DIGITS + TAB + CONTINUES
"""Marks drawn white on black."""

_BEYOND_NARROW = re.compile(f"[^\x00-\xff{NEWLINE}{CUT_OUT}]")
_MARK_RUN = re.compile(f" [{SPACE_DIGITS}]+ |[{SPACE_DIGITS}]+")
_FROM_DIGITS = str.maketrans(SPACE_DIGITS, "0123456789")
_TO_DIGITS = str.maketrans("0123456789", SPACE_DIGITS)
_PLAIN = str.maketrans({NEWLINE: "\n", TAB: "\t", CONTINUES: None, DIM_ON: None, DIM_OFF: None})
_LONGEST_RUN = 9_999
_SHORTEST_INDENT, _SHORTEST_GAP = 2, 4


def is_narrow_only(text: str) -> bool:
    """Whether every character is Latin-1 or a mark, so that no font table is needed to know its width."""
    return text.isascii() or _BEYOND_NARROW.search(text) is None


def indent_mark(spaces: int) -> str:
    """Spell indentation: two or more spaces as a mark, which abuts the newline cell."""
    return " " * spaces if spaces < _SHORTEST_INDENT else str(min(spaces, _LONGEST_RUN)).translate(_TO_DIGITS)


def gap_mark(spaces: int) -> str:
    """Spell spaces within a line: up to three as they are, more as a mark.

    The mark is set off by spaces, so that none of its digits can be taken for one of the text.
    """
    return " " * spaces if spaces < _SHORTEST_GAP else f" {indent_mark(spaces)} "


def plain_text(normalized: str) -> str:
    """Write normalised text as ordinary text: line breaks, tabs and spaces instead of marks, no dim toggles."""
    text = normalized.translate(_PLAIN)
    return _MARK_RUN.sub(lambda mark: " " * min(int(mark[0].translate(_FROM_DIGITS)), _LONGEST_RUN), text)
