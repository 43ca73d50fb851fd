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
_CONTROL_CLASS = re.compile(f"[{re.escape(_CONTROLS.decode('ascii'))}\x80-\x9f]+")
_INNER_GAP = re.compile(r"[ \t]*\t[ \t]*| {4,}")
_AFTER_SENTENCE = re.compile(r"(?<=[.!?])  (?=\S)")
_BLANKS = " \t"
_TOGGLES = (DIM_ON, DIM_OFF)
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
    if DIM_ON in text or DIM_OFF in text:
        text = _settle_toggles(text)
    lines = omit_base64_lines(text.split("\n"))
    return _trim(NEWLINE.join(_show_lines(lines, _Shown(indent_mark), _Shown(gap_mark))))


class _Shown(dict[str, str]):
    """How each run of spaces and tabs is shown, filled as runs turn up."""

    def __init__(self, mark: Callable[[int], str]) -> None:
        super().__init__()
        self._mark = mark

    def __missing__(self, run: str) -> str:
        self[run] = shown = TAB.join(self._mark(len(spaces)) for spaces in run.split("\t"))
        return shown


def _show_lines(lines: list[str], indents: _Shown, gaps: _Shown) -> list[str]:
    """Show every line that is not blank; a line of nothing but a toggle joins the one before it."""
    shown: list[str] = []
    opening = ""
    for line in lines:
        body = line.strip(_BLANKS)
        if not body:
            continue
        if len(body) > _LONG_LINE:
            body = omit_long_words(body)
        elif body in _TOGGLES:
            if shown:
                shown[-1] += body
            else:
                opening = body
            continue
        if "  " in body or "\t" in body:
            body = _INNER_GAP.sub(lambda gap: gaps[gap[0]], _AFTER_SENTENCE.sub(" ", body))
        if line[0] in _BLANKS:
            body = indents[line[: line.index(body[0])]] + body
        shown.append(body)
    return [opening + shown[0], *shown[1:]] if opening and shown else shown


def _settle_toggles(text: str) -> str:
    """Keep the last of successive toggles, and move one that lies inside a run of blanks before the run."""
    settled: list[str] = []
    gap: list[str] = []
    toggle = ""
    for at, opened in enumerate(text.split(DIM_ON)):
        for then, part in enumerate(opened.split(DIM_OFF)):
            if at or then:
                toggle = DIM_OFF if then else DIM_ON
            core = part.rstrip(_BLANKS)
            if core:
                settled += (toggle, *gap) if core[0] in _BLANKS else (*gap, toggle)
                settled.append(core)
                gap.clear()
                toggle = ""
            if len(core) < len(part):
                gap.append(part[len(core) :])
    return "".join((*settled, *gap, toggle))


def _drop_controls(text: str) -> str:
    if text.isascii():
        data = text.encode("ascii")
        kept = data.translate(None, _CONTROLS)
        return text if len(kept) == len(data) else kept.decode("ascii")
    return _CONTROL_CLASS.sub("", text)


def _trim(shown: str) -> str:
    """Remove spaces, but not toggles, from both ends."""
    edges = f" {DIM_ON}{DIM_OFF}"
    if not shown or (shown[0] not in edges and shown[-1] not in edges):
        return shown
    inner = shown.strip(edges)
    start = shown.index(inner)
    return shown[:start].replace(" ", "") + inner + shown[start + len(inner) :].replace(" ", "")
