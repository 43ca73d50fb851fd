"""Octavo's normalisation: text as frames show it by default, with as little loss as cells allow.

Against the seed's (`normalize_seed`, re-exported here) it keeps indentation and runs of spaces as counted marks
(`marks`), tabs as tabs, every script that has glyphs as itself, and emoji by name; data URLs and base64 walls become a
short note. What it gives up: blank lines, trailing spaces, the second space after a sentence, optional vowel points
and accents that no precomposed letter carries. Right-to-left text stays in logical order. Normalise once: the result
is what archives store, and `marks.plain_text` writes it out again.
"""

import re
from collections.abc import Callable

from octavo.snapcompact.ansi import strip_ansi
from octavo.snapcompact.marks import DIM_OFF, DIM_ON, NEWLINE, TAB, gap_mark, indent_mark
from octavo.snapcompact.normalize_seed import normalize_seed
from octavo.snapcompact.walls import omit_base64_lines, omit_data_urls, omit_long_words

__all__ = ["normalize", "normalize_seed"]

_CONTROLS = bytes(c for c in (*range(0x20), 0x7F) if chr(c) not in f"\n\t{DIM_ON}{DIM_OFF}")
_INNER_GAP = re.compile(r"[ \t]*\t[ \t]*| {4,}")
_AFTER_SENTENCE = re.compile(r"(?<=[.!?])  (?=\S)")
_TOGGLES_IN_GAP = re.compile(r"([ \t]+)([\x0e\x0f]+)(?=[ \t])")
_TOGGLE_RUN = re.compile(r"[\x0e\x0f]+([\x0e\x0f])")
_LONG_LINE = 256


def normalize(text: str) -> str:
    """Return the text in octavo's frame alphabet: characters with glyphs, the marks of `marks`, and dim toggles."""
    text = omit_data_urls(strip_ansi(text))
    if not text.isascii():
        from octavo.snapcompact.folds import fold_beyond_ascii  # noqa: PLC0415 - loads numpy and the font tables

        text = fold_beyond_ascii(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x0b" in text or "\x0c" in text:
        text = text.replace("\x0b", " ").replace("\x0c", " ")
    text = _drop_controls(text)
    toggles = DIM_ON in text or DIM_OFF in text
    if toggles:
        text = _TOGGLES_IN_GAP.sub(r"\2\1", _TOGGLE_RUN.sub(r"\1", text))
    lines = omit_base64_lines(text.split("\n"))
    shown = NEWLINE.join(_show_lines(lines, _Shown(indent_mark), _Shown(gap_mark)))
    return _join_toggle_lines(shown) if toggles else shown.lstrip(" ")


class _Shown(dict[str, str]):
    """How each run of spaces and tabs is shown, filled as runs turn up."""

    def __init__(self, mark: Callable[[int], str]) -> None:
        super().__init__()
        self._mark = mark

    def __missing__(self, run: str) -> str:
        self[run] = shown = TAB.join(self._mark(len(spaces)) for spaces in run.split("\t"))
        return shown


def _show_lines(lines: list[str], indents: _Shown, gaps: _Shown) -> list[str]:
    shown = []
    for line in lines:
        body = line.strip(" \t")
        if not body:
            continue
        if len(body) > _LONG_LINE:
            body = omit_long_words(body)
        if "  " in body or "\t" in body:
            body = _INNER_GAP.sub(lambda gap: gaps[gap[0]], _AFTER_SENTENCE.sub(" ", body))
        if line[0] in " \t":
            body = indents[line[: len(line) - len(line.lstrip(" \t"))]] + body
        shown.append(body)
    return shown


def _drop_controls(text: str) -> str:
    if text.isascii():
        data = text.encode("ascii")
        kept = data.translate(None, _CONTROLS)
        return text if len(kept) == len(data) else kept.decode("ascii")
    return _CONTROL_CLASS.sub("", text)


_CONTROL_CLASS = re.compile(f"[{re.escape(_CONTROLS.decode('ascii'))}\x80-\x9f]+")


def _join_toggle_lines(shown: str) -> str:
    """Let a line that holds nothing but a toggle take no newline cell of its own, and trim the text's edges."""
    shown = re.sub(f"{NEWLINE}([{DIM_ON}{DIM_OFF}])(?={NEWLINE}|\\Z)", r"\1", shown)
    shown = re.sub(f"\\A([{DIM_ON}{DIM_OFF}]){NEWLINE}", r"\1", shown)
    shown = re.sub(f"\\A([{DIM_ON}{DIM_OFF}]*) +", r"\1", shown)
    return re.sub(f" +([{DIM_ON}{DIM_OFF}]*)\\Z", r"\1", shown)
