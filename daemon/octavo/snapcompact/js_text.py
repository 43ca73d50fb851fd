"""Cuts and roundings as JavaScript makes them, which every figure of the frame format is stated in.

Lengths and JSON are `octavo.tokens.js_json`'s; this module adds what only the serialiser needs.
"""

import math
import re
from typing import Any

_ASTRAL = re.compile(r"[\U00010000-\U0010ffff]")
_ARRAY_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")
_INDEX_LIMIT = 2**32 - 1


def cut(text: str, start: int, end: int) -> str:
    """`text[start:end]` in UTF-16 code units; half of a pair that was cut through stays as a lone surrogate."""
    if text.isascii() or _ASTRAL.search(text) is None:
        return text[start:end]
    raw = text.encode("utf-16-le", "surrogatepass")
    return raw[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")


def round_half_up(value: float) -> int:
    """`Math.round`."""
    return math.floor(value + 0.5)


def members(value: dict[Any, Any]) -> list[tuple[str, Any]]:
    """`Object.entries(value)`: array indices in ascending order, then the other keys in insertion order."""
    entries = [(str(key), item) for key, item in value.items()]
    indices = {key for key, _ in entries if _ARRAY_INDEX.match(key) and int(key) < _INDEX_LIMIT}
    if not indices:
        return entries
    first = sorted((entry for entry in entries if entry[0] in indices), key=lambda entry: int(entry[0]))
    return first + [entry for entry in entries if entry[0] not in indices]
