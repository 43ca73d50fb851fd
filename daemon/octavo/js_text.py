"""Text and objects as JavaScript handles them, which the seed's figures are stated in: lengths, cuts, property order.

JSON is `js_json`'s subject. Lengths are UTF-16 code units throughout.
"""

import math
import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")
_INDEX_LIMIT = 2**32 - 1


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 code units: a character beyond the basic plane counts as two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for _ in _ASTRAL.finditer(text))


def cut(text: str, start: int, end: int) -> str:
    """`text[start:end]` in UTF-16 code units; half of a pair that was cut through stays as a lone surrogate."""
    if text.isascii() or _ASTRAL.search(text) is None:
        return text[start:end]
    raw = text.encode("utf-16-le", "surrogatepass")
    return raw[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")


def utf16_prefix(text: str, limit: int) -> str:
    """Return the longest prefix of at most `limit` UTF-16 code units that does not split a character."""
    head = text[:limit]
    if head.isascii() or not _ASTRAL.search(head):
        return head
    kept = head.encode("utf-16-le", "surrogatepass")[: limit * 2].decode("utf-16-le", "surrogatepass")
    # A cut inside a pair leaves its first half, which is not what stands in the text at that place.
    return kept if text.startswith(kept) else kept[:-1]


def well_formed(text: str) -> str:
    """Return the text with lone surrogates replaced by U+FFFD, so that it can be encoded as UTF-8."""
    if not _SURROGATE.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _SURROGATE.sub("\ufffd", joined)


def round_half_up(value: float) -> int:
    """`Math.round`."""
    return math.floor(value + 0.5)


def properties(value: dict[Any, Any]) -> list[tuple[str, Any]]:
    """`Object.entries(value)`: array indices in ascending order, then the other keys in insertion order."""
    pairs = [(str(key), member) for key, member in value.items()]
    indices = {key: member for key, member in pairs if _INDEX.match(key) and int(key) < _INDEX_LIMIT}
    if not indices:
        return pairs
    rest = [pair for pair in pairs if pair[0] not in indices]
    return [(key, indices[key]) for key in sorted(indices, key=int)] + rest
