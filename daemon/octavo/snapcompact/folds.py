"""Fold what lies beyond ASCII into octavo's frame alphabet; `normalize` calls this for text that needs it.

Kept: every character some font table draws, and every other letter, which is drawn as its number. Replaced: spaces of
all kinds by spaces, emoji by a label, compatibility forms without a glyph by what they stand for, and characters that
octavo's own marks use by look-alikes. Dropped: invisible format characters, vowel points and accents that no
precomposed letter carries, variation selectors, lone surrogates.
"""

import re
import unicodedata
from typing import Final

from octavo.snapcompact.fonts import drawable_lut
from octavo.snapcompact.marks import CONTINUES, NEWLINE, SPACE_DIGITS, TAB
from octavo.snapcompact.normalize_seed import FORMAT_CHARS, SPACES, join_surrogates

_BEYOND_ASCII = re.compile("[^\x00-\x7f]+")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
_FORMAT = re.compile(f"[{FORMAT_CHARS}]")
_SPACE = re.compile(f"[{SPACES}]")
_OPTIONAL_MARK = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f"
    "\ufe20-\ufe2f\U000e0100-\U000e01ef\U0001f3fb-\U0001f3ff]"
)
_JOINS_NEIGHBOURS = re.compile("[\u0300-\u036f\ud800-\udfff]")
_LATIN_LETTERS_OF_FLAGS = 0x1F1E6 - ord("A")

LABELS: Final[dict[str, str]] = {
    **dict.fromkeys("✅☑✔", "[OK]"),
    **dict.fromkeys("❌❎✖", "[FAIL]"),
    **dict.fromkeys("📁📂", "[DIR]"),
    **dict.fromkeys("⏳⌛", "[WAIT]"),
    "⚠": "[WARN]",
    "🚨": "[ALERT]",
    "ℹ": "[INFO]",
    "🐛": "[BUG]",
    "💥": "[CRASH]",
    "🔥": "[HOT]",
    "🔒": "[LOCK]",
    "🔓": "[UNLOCK]",
    "📄": "[FILE]",
    "📝": "[NOTE]",
    "🧪": "[TEST]",
    "🚀": "[RUN]",
}
"""Pictographs that carry a meaning of their own (snapcompact.md §4); others get their Unicode name."""

_LOOK_ALIKES: Final[dict[str, str]] = {
    NEWLINE: "#",
    TAB: "->|",
    CONTINUES: "<-|",
    **{mark: f"({digit})" for digit, mark in enumerate(SPACE_DIGITS)},
}


class _Folds(dict[int, str]):
    """Fold of one code point, filled as code points turn up."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold(chr(code))
        return folded


def fold_beyond_ascii(text: str) -> str:
    """Return the text with every non-ASCII character folded; line and paragraph separators become newlines."""
    pieces = set(_BEYOND_ASCII.findall(text))
    if any(_JOINS_NEIGHBOURS.search(piece) for piece in pieces):
        text = unicodedata.normalize("NFC", join_surrogates(text))
        pieces = set(_BEYOND_ASCII.findall(text))
    folds = _Folds()
    folded = {piece: _FLAG.sub(_name_flag, unicodedata.normalize("NFC", piece)).translate(folds) for piece in pieces}
    return _BEYOND_ASCII.sub(lambda piece: folded[piece[0]], text)


def _fold(char: str) -> str:
    if char in "\u2028\u2029":
        return "\n"
    if _FORMAT.match(char) or _OPTIONAL_MARK.match(char) or unicodedata.category(char) in ("Cs", "Cc"):
        return ""
    if _SPACE.match(char):
        return " "
    if (replaced := LABELS.get(char) or _LOOK_ALIKES.get(char)) is not None:
        return replaced
    if _has_glyphs(char):
        return char
    compatible = unicodedata.normalize("NFKC", char)
    if compatible != char and _has_glyphs(compatible):
        return compatible
    if unicodedata.category(char) == "So":
        return f"[{unicodedata.name(char, f'U+{ord(char):04X}').lower()}]"
    return char


def _has_glyphs(text: str) -> bool:
    drawable = drawable_lut()
    return all(drawable[ord(char)] for char in text)


def _name_flag(pair: re.Match[str]) -> str:
    return f"[flag {''.join(chr(ord(letter) - _LATIN_LETTERS_OF_FLAGS) for letter in pair[0])}]"
