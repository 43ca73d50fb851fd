"""Find the long fenced and tagged blocks of a text, the parts of a message that can be shaken out of it.

Text in, offsets out (UTF-16 code units, like every figure of the seed). Source: engine.md §12.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from octavo.js_text import utf16_length

_FENCES = ("```", "~~~")
_OPENING = re.compile(r"<([a-z_-]+)(?:\s[^>]*)?>\s*\Z")
_CLOSING = re.compile(r"</([a-z_-]+)>\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """A span of a text: offsets in UTF-16 code units, what stands there, and its tokens."""

    start: int
    end: int
    text: str
    tokens: int


def find_blocks(text: str, min_tokens: int, count: Callable[[str], int]) -> list[Block]:
    """Return the outermost fenced or tagged blocks of at least `min_tokens` tokens, in order.

    Any line that starts with a fence opens or closes one. Outside fences an opening tag stands alone on its line at
    column 0 and its closing tag alone on a later one; blocks that never end are none.
    """
    if not any(mark in text for mark in (*_FENCES, "</")):
        return []
    found = []
    units = position = 0
    for start, end in _outermost(sorted(_spans(text))):
        span = text[start:end]
        tokens = count(span)
        units += utf16_length(text[position:start])
        length = utf16_length(span)
        if tokens >= min_tokens:
            found.append(Block(units, units + length, span, tokens))
        units, position = units + length, end
    return found


def splice(text: str, start: int, end: int, replacement: str) -> str:
    """Return the text with the UTF-16 range replaced."""
    if text.isascii():
        return text[:start] + replacement + text[end:]
    raw = text.encode("utf-16-le", "surrogatepass")
    head, tail = raw[: 2 * start], raw[2 * end :]
    return head.decode("utf-16-le", "surrogatepass") + replacement + tail.decode("utf-16-le", "surrogatepass")


def _spans(text: str) -> Iterator[tuple[int, int]]:
    fence_start: int | None = None
    open_tags: list[tuple[str, int]] = []
    for start, line in _lines(text):
        end = start + len(line)
        if line.lstrip().startswith(_FENCES):
            if fence_start is None:
                fence_start = start
            else:
                yield fence_start, end
                fence_start = None
        elif fence_start is None and line.lstrip().startswith("<"):
            if opening := _OPENING.match(line):
                open_tags.append((opening[1], start))
            elif closing := _CLOSING.match(line.strip()):
                yield from _close(open_tags, closing[1], end)


def _close(open_tags: list[tuple[str, int]], name: str, end: int) -> Iterator[tuple[int, int]]:
    """Close the innermost open tag of this name and everything inside it; only the outermost span counts."""
    for depth in range(len(open_tags) - 1, -1, -1):
        if open_tags[depth][0] == name:
            start = open_tags[depth][1]
            del open_tags[depth:]
            if depth == 0:
                yield start, end
            return


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield start, text[start:end]
        start = end + 1
    yield start, text[start:]


def _outermost(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    last = -1
    for start, end in spans:
        if start >= last:
            yield start, end
            last = end
