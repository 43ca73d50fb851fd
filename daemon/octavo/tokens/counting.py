"""Exact o200k_base token counts of text, offline.

Text goes in, numbers come out: what a message weighs is `estimate`, what a provider measured is `usage`. Special-token
strings such as `<|endoftext|>` are ordinary text here, as for every count of the seed (engine.md §4.1). The vocabulary
is loaded on first use. docs/tokens.md says why this library was chosen, with the figures.

Counts are exact for every text that has a line or word break at least every 100,000 characters, and for every text up
to a million characters. A longer unbroken run is counted in pieces of a million, because the encoder's working memory
grows with it; each cut adds a token or two at most.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from splintr import AnyTokenizer

ENCODING = "o200k_base"

_SPECIAL_MARK = "<|"
_TOKEN_BYTES = 4
_SURROGATE = re.compile("[\ud800-\udfff]")
_PIECE_CHARS = 1_000_000
_BREAK_WINDOW = 100_000
# Places where o200k's own pattern always begins a new piece, so that cutting there changes no count.
_SAFE_CUT = re.compile(r"(?<=[A-Za-z0-9])(?= [A-Za-z])|(?<=\n)(?=[A-Za-z0-9])")


def count_tokens(text: str | Iterable[str]) -> int:
    """Return the tokens of a text, or the sum over fragments that are counted one by one, not joined."""
    if isinstance(text, str):
        return _count_one(text)
    return sum(count_each(list(text)))


def count_each(texts: Sequence[str]) -> list[int]:
    """Return the tokens of every text; one call over many texts is faster than many calls.

    The interpreter lock is free while the encoder works, so that a thread calling this does not hold up the loop.
    """
    counts = [0] * len(texts)
    batch: list[int] = []
    for position, text in enumerate(texts):
        if _SPECIAL_MARK in text or len(text) > _PIECE_CHARS:
            counts[position] = _count_one(text)
        elif text:
            batch.append(position)
    if batch:
        encoder = _encoder()
        plain = [texts[position] for position in batch]
        try:
            _, offsets = encoder.encode_batch_flat(plain)
        except UnicodeEncodeError:
            _, offsets = encoder.encode_batch_flat([_well_formed(text) for text in plain])
        ends = memoryview(offsets).cast("Q").tolist()
        for position, (start, end) in zip(batch, pairwise(ends), strict=True):
            counts[position] = end - start
    return counts


def _count_one(text: str) -> int:
    if not text:
        return 0
    if len(text) > _PIECE_CHARS:
        return sum(map(_count_one, _pieces(text, _PIECE_CHARS, _BREAK_WINDOW)))
    encoder = _encoder()
    try:
        if _SPECIAL_MARK in text:
            return len(encoder.encode_ordinary(text))
        return len(encoder.encode_batch_flat([text])[0]) // _TOKEN_BYTES
    except UnicodeEncodeError:
        return _count_one(_well_formed(text))


def _pieces(text: str, limit: int, window: int) -> Iterator[str]:
    start = 0
    while len(text) - start > limit:
        cut = latest = start + limit
        # Two characters more, because a break is recognised by what follows it.
        for safe in _SAFE_CUT.finditer(text, max(start + 1, latest - window), latest + 2):
            if safe.start() <= latest:
                cut = safe.start()
        yield text[start:cut]
        start = cut
    yield text[start:]


def _well_formed(text: str) -> str:
    """Join surrogate pairs and put U+FFFD for every lone half, as JavaScript does when it encodes UTF-8."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@cache
def _encoder() -> "AnyTokenizer":
    from splintr import Tokenizer  # noqa: PLC0415 -- 40 ms that `initialize` must not pay

    return Tokenizer.from_pretrained(ENCODING)
