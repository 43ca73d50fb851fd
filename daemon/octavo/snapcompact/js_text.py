"""JavaScript's view of strings and JSON, which every figure of the frame format is stated in.

Lengths and cuts are UTF-16 code units; JSON is `JSON.stringify` without spaces. This module knows nothing of
messages, frames or archives.
"""

import json
import math
import re
from typing import Any

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ARRAY_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")
_ASTRAL = re.compile(r"[\U00010000-\U0010ffff]")

MAX_DEPTH = 200
"""Levels of nesting that are printed; far below Python's own limit, far above any real tool call."""


def units(text: str) -> int:
    """Length in UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, start: int, end: int) -> str:
    """`text[start:end]` in UTF-16 code units; half of a pair that was cut through stays as a lone surrogate."""
    if text.isascii() or _ASTRAL.search(text) is None:
        return text[start:end]
    raw = text.encode("utf-16-le", "surrogatepass")
    return raw[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")


def round_half_up(value: float) -> int:
    """`Math.round`."""
    return math.floor(value + 0.5)


def stringify(value: Any, depth: int = 0) -> str:
    """`JSON.stringify(value)`: compact, not ASCII-escaped, lone surrogates escaped, numbers as JavaScript prints them.

    Object keys that are array indices come first in ascending order, as in every JavaScript object. Values JSON has
    no word for (NaN, infinities) become `null`. Below `MAX_DEPTH` levels a string says that there was more.
    """
    if depth > MAX_DEPTH:
        return '"[nested too deeply]"'
    if isinstance(value, str):
        return _string(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_string(key)}:{stringify(item, depth + 1)}" for key, item in members(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(stringify(item, depth + 1) for item in value) + "]"
    return "null"


def members(value: dict[Any, Any]) -> list[tuple[str, Any]]:
    """`Object.entries(value)`: array indices in ascending order, then the other keys in insertion order."""
    entries = [(str(key), item) for key, item in value.items()]
    indices = [entry for entry in entries if _ARRAY_INDEX.match(entry[0]) and int(entry[0]) < 2**32 - 1]
    if not indices:
        return entries
    taken = {key for key, _ in indices}
    return sorted(indices, key=lambda entry: int(entry[0])) + [entry for entry in entries if entry[0] not in taken]


def _string(value: str) -> str:
    quoted = json.dumps(value, ensure_ascii=False)
    if quoted.isascii():
        return quoted
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _number(value: float) -> str:
    try:
        number = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(number):
        return "null"
    if number.is_integer() and abs(number) < 2**53:
        return str(int(number))
    sign = "-" if number < 0 else ""
    mantissa, _, exponent_text = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    point = len(whole) - leading + int(exponent_text or 0)
    digits = digits.rstrip("0")
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    """Write `0.digits × 10^point` as `Number.prototype.toString` does (ECMA-262, Number::toString)."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    exponent = point - 1
    tail = f"e{'+' if exponent > 0 else '-'}{abs(exponent)}"
    return (digits if count == 1 else f"{digits[0]}.{digits[1:]}") + tail
