"""What `JSON.stringify` would write, for counts that must agree with the seed.

Only for text that is counted; files and wires have their own encoders.
"""

import json
import math
import re
from typing import Any

from octavo.js_text import properties

_SURROGATE = re.compile("[\ud800-\udfff]")
_EXACT_INTEGERS = 2**53
_LONGEST_PLAIN = 21
_SMALLEST_PLAIN = -6


class _Ready(str):
    """A piece that is JSON already."""

    __slots__ = ()


def stringify(value: Any) -> str:
    """Return compact JSON with JavaScript's number format and key order; lone surrogates escaped, NaN as null."""
    pieces: list[str] = []
    # An explicit stack: decoded JSON may be nested deeper than Python has frames.
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Ready):
            pieces.append(item)
        elif isinstance(item, str):
            pieces.append(_quote(item))
        elif isinstance(item, dict):
            parts: list[Any] = [_Ready("{")]
            for key, member in properties(item):
                parts += [_Ready(f"{',' if len(parts) > 1 else ''}{_quote(key)}:"), member]
            stack.extend(reversed([*parts, _Ready("}")]))
        elif isinstance(item, list | tuple):
            parts = [_Ready("[")]
            for member in item:
                parts += [_Ready(","), member] if len(parts) > 1 else [member]
            stack.extend(reversed([*parts, _Ready("]")]))
        else:
            pieces.append(_scalar(item))
    return "".join(pieces)


def _quote(text: str) -> str:
    literal = json.dumps(text, ensure_ascii=False)
    if literal.isascii() or not _SURROGATE.search(literal):
        return literal
    joined = literal.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", joined)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    return "null"


def _number(value: float) -> str:
    try:
        number = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(number):
        return "null"
    if number.is_integer() and abs(number) < _EXACT_INTEGERS:
        return str(int(number))
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    written = whole + (fraction if fraction != "0" else "")
    digits = written.lstrip("0")
    point = len(whole) - (len(written) - len(digits)) + int(exponent or 0)
    return ("-" if number < 0 else "") + _place_point(digits.rstrip("0"), point)


def _place_point(digits: str, point: int) -> str:
    """Write 0.digits x 10^point as ECMA-262 `Number::toString` does."""
    if len(digits) <= point <= _LONGEST_PLAIN:
        return digits.ljust(point, "0")
    if 0 < point <= _LONGEST_PLAIN:
        return f"{digits[:point]}.{digits[point:]}"
    if _SMALLEST_PLAIN < point <= 0:
        return "0." + "0" * -point + digits
    exponent = point - 1
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{'+' if exponent > 0 else '-'}{abs(exponent)}"
