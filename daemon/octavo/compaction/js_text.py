"""Text as the seed's language handles it: property order, cuts by UTF-16 code unit, and repair of lone surrogates.

Lengths and JSON are `octavo.tokens.js_json`'s; this module adds what serialisation and prompts need.
"""

import re
from typing import Any

from octavo_protocol.base import JsonObject

_SURROGATE = re.compile("[\ud800-\udfff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_INDEX = re.compile("0|[1-9][0-9]{0,9}")
_LARGEST_INDEX = 2**32 - 2


def items(value: JsonObject) -> list[tuple[str, Any]]:
    """Return the properties in JavaScript's order: array indices ascending, then the others as they came."""
    pairs = list(value.items())
    if not any(key[:1].isdigit() for key, _ in pairs):
        return pairs
    indices = [pair for pair in pairs if _is_index(pair[0])]
    return sorted(indices, key=lambda pair: int(pair[0])) + [pair for pair in pairs if not _is_index(pair[0])]


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


def _is_index(key: str) -> bool:
    return _INDEX.fullmatch(key) is not None and int(key) <= _LARGEST_INDEX
