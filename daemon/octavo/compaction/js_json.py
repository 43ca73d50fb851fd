"""JSON text exactly as the seed's language writes it: `JSON.stringify` without white space, and UTF-16 lengths.

Only for text that is compared, counted or shown by the seed's rules; files and wires have their own encoders.
"""

import math
import re
from collections.abc import Iterable
from json.encoder import encode_basestring
from typing import Any

from octavo_protocol.base import JsonObject

_SURROGATE = re.compile("[\ud800-\udfff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_INDEX = re.compile("0|[1-9][0-9]{0,9}")
_LARGEST_INDEX = 2**32 - 2
_DIGITS_LIMIT = 10**21


class _Raw(str):
    """Text that is already JSON."""

    __slots__ = ()


def stringify(value: Any) -> str:
    """Return compact JSON: numbers as JavaScript prints them, non-finite ones null, lone surrogates escaped.

    Whole numbers keep all their digits up to 1e21, where JavaScript would round them above 2**53.
    """
    pieces: list[str] = []
    # An explicit stack: decoded JSON may be nested deeper than Python has frames.
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Raw):
            pieces.append(item)
        elif isinstance(item, dict):
            stack.extend(reversed(_object_parts(item)))
        elif isinstance(item, list | tuple):
            stack.extend(reversed(_array_parts(item)))
        else:
            pieces.append(_scalar(item))
    return "".join(pieces)


def quote(text: str) -> str:
    """Return the JSON string literal of a text."""
    literal = encode_basestring(join_surrogates(text))
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", literal)


def items(value: JsonObject) -> list[tuple[str, Any]]:
    """Return the properties in JavaScript's order: array indices ascending, then the others as they came."""
    pairs = list(value.items())
    if not any(key[:1].isdigit() for key, _ in pairs):
        return pairs
    indices = [pair for pair in pairs if _is_index(pair[0])]
    return sorted(indices, key=lambda pair: int(pair[0])) + [pair for pair in pairs if not _is_index(pair[0])]


def number(value: float) -> str:
    """Return a number as JavaScript prints it; non-finite ones become `null`."""
    if isinstance(value, int) and abs(value) < _DIGITS_LIMIT:
        return str(value)
    try:
        value = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(value):
        return "null"
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = fraction if fraction != "0" else ""
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    return sign + _place_point(digits.rstrip("0"), point)


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 code units: characters beyond the basic plane count as two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for _ in _ASTRAL.finditer(text))


def utf16_prefix(text: str, limit: int) -> str:
    """Return the longest prefix of at most `limit` UTF-16 code units that does not split a character."""
    head = text[:limit]
    if head.isascii() or not _ASTRAL.search(head):
        return head
    kept = head.encode("utf-16-le", "surrogatepass")[: limit * 2].decode("utf-16-le", "surrogatepass")
    # A cut inside a pair leaves its first half, which is not what stands in the text at that place.
    return kept if text.startswith(kept) else kept[:-1]


def join_surrogates(text: str) -> str:
    """Return the text with surrogates that stand side by side as a pair made into the character they mean."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def well_formed(text: str) -> str:
    """Return the text with lone surrogates replaced by U+FFFD, so that it can be encoded as UTF-8."""
    return _SURROGATE.sub("\ufffd", join_surrogates(text)) if _SURROGATE.search(text) else text


def _object_parts(value: JsonObject) -> list[Any]:
    parts: list[Any] = [_Raw("{")]
    for key, item in items(value):
        parts += [_Raw(f"{',' if len(parts) > 1 else ''}{quote(key)}:"), item]
    return [*parts, _Raw("}")]


def _array_parts(value: Iterable[Any]) -> list[Any]:
    parts: list[Any] = [_Raw("[")]
    for item in value:
        if len(parts) > 1:
            parts.append(_Raw(","))
        parts.append(item)
    return [*parts, _Raw("]")]


def _scalar(item: Any) -> str:
    if isinstance(item, str):
        return quote(item)
    if item is None or isinstance(item, bool):
        return {None: "null", True: "true", False: "false"}[item]
    if isinstance(item, int | float):
        return number(item)
    return quote(str(item))


def _is_index(key: str) -> bool:
    return _INDEX.fullmatch(key) is not None and int(key) <= _LARGEST_INDEX


def _place_point(digits: str, point: int) -> str:
    # ECMAScript Number::toString: `point` is how many digits stand before the decimal point.
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
