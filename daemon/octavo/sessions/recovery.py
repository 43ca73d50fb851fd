"""The slow path of reading: what can be saved from one line that the fast decoder refused.

Works on the bytes of a single physical line and is linear in its length, whatever is in it. It does not know entries,
headers or the tree.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from octavo.sessions.damage import DamageKind
from octavo_protocol.base import JsonObject

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n\v\f"
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)
_RECORD_START = re.compile(r'\{\s*"(?:type|id|parentId|timestamp|message)"\s*:')
_BETWEEN = re.compile(r"[\s\x00]*")
_SCAN_FACTOR = 4  # characters that resynchronising may look at, as a multiple of the line


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of damage inside a line; `offset` and `length` are bytes relative to the line."""

    kind: DamageKind
    offset: int
    length: int
    count: int = 1
    detail: str = ""


@dataclass(slots=True)
class Recovered:
    """The objects of a line in order, and everything that was wrong with it."""

    objects: list[JsonObject] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def note(self, kind: DamageKind, offset: int, length: int, count: int = 1, detail: str = "") -> None:
        """Add one finding."""
        self.findings.append(Finding(kind, offset, length, count, detail))


def scrub_surrogates(text: str) -> str:
    """Join surrogate halves that belong together and replace lone ones by U+FFFD, so that UTF-8 can hold the text."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def recover_line(raw: bytes, *, first: bool) -> Recovered:
    """Return whatever objects `raw` (one line, without its newline) still holds.

    Args:
        raw: The bytes of the line.
        first: Whether the line begins the file, where a byte order mark may stand.
    """
    found = Recovered()
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    else:
        _take(value, 0, len(raw), found)
        return found
    start = 0
    if first and raw.startswith(_BOM):
        start = len(_BOM)
        found.note(DamageKind.BOM, 0, start)
    body = raw[start:].strip(_BLANK + b"\0")
    if nuls := (raw.count(0, start) - body.count(0)):
        found.note(DamageKind.NUL, start, len(raw) - start, nuls)
    if not body:
        return found
    start = raw.index(body[:64], start)
    text = _scrub_escapes(_decode(body, start, found), start, len(body), found)
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        _resynchronise(text, start, found)
    else:
        _take(value, start, len(body), found)
    return found


def _take(value: Any, offset: int, length: int, found: Recovered) -> None:
    if type(value) is dict:
        found.objects.append(value)
    else:
        found.note(DamageKind.NOT_OBJECT, offset, length, detail=type(value).__name__)


def _decode(body: bytes, offset: int, found: Recovered) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        pass
    try:
        # JavaScript programs that encode UTF-16 halves one by one (CESU-8) lose nothing here.
        text = body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        text = body.decode("utf-8", "replace")
        found.note(DamageKind.INVALID_UTF8, offset + error.start, error.end - error.start, detail=error.reason)
        return text
    scrubbed = scrub_surrogates(text)
    if lone := scrubbed.count("�") - text.count("�"):
        found.note(DamageKind.LONE_SURROGATE, offset, len(body), lone)
    return scrubbed


def _scrub_escapes(text: str, offset: int, length: int, found: Recovered) -> str:
    lone = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal lone
        if match[1] is None:
            return match[0]
        lone += 1
        return r"\ufffd"

    if r"\ud" not in text and r"\uD" not in text:
        return text
    text = _ESCAPE.sub(replace, text)
    if lone:
        found.note(DamageKind.LONE_SURROGATE, offset, length, lone)
    return text


class _NonFinite:
    """Counts the NaN and Infinity a decoder met, reading each as null."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, _name: str) -> None:
        self.count += 1


def _integer(digits: str) -> int | float:
    # The same ranges as the fast decoder, so that every number can be written again.
    if len(digits) < 19:
        return int(digits)
    if len(digits) <= 20 and -(2**63) <= (value := int(digits)) < 2**64:
        return value
    return float(digits)


def _resynchronise(text: str, start: int, found: Recovered) -> None:
    """Read record after record; where one breaks off, look for the next place where a whole one begins."""
    non_finite = _NonFinite()
    decode = json.JSONDecoder(parse_constant=non_finite, parse_int=_integer).raw_decode
    budget = _SCAN_FACTOR * len(text) + 4096
    position, read = 0, len(found.objects)
    measured, at = 0, start
    while (position := _skip(text, position)) < len(text):
        value, end, reason = _attempt(decode, text, position)
        if reason is None:
            _take(value, start + position, end - position, found)
            position = end
            continue
        budget -= end - position
        resume, budget = _next_record(decode, text, position + 1, budget)
        rest = len(text) if resume is None else resume
        kind = DamageKind.SYNTAX if resume is None else DamageKind.HALF_RECORD
        if reason == DamageKind.TOO_DEEP:
            kind = DamageKind.TOO_DEEP
        at += len(text[measured:position].encode())
        length = len(text[position:rest].encode())
        found.note(kind, at, length, detail=reason)
        position = measured = rest
        at += length
    if (glued := len(found.objects) - read) > 1:
        found.note(DamageKind.GLUED, start, len(text.encode()), glued)
    if non_finite.count:
        found.note(DamageKind.NON_FINITE, start, len(text.encode()), non_finite.count)


def _skip(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


_RawDecode = Callable[[str, int], tuple[Any, int]]


def _attempt(decode: _RawDecode, text: str, position: int) -> tuple[Any, int, str | None]:
    """Decode one value; return (value, end, None) or (None, where it broke off, why)."""
    try:
        value, end = decode(text, position)
    except json.JSONDecodeError as error:
        return None, max(error.pos, position + 1), error.msg
    except RecursionError:
        return None, len(text), DamageKind.TOO_DEEP
    return value, end, None


def _next_record(decode: _RawDecode, text: str, position: int, budget: int) -> tuple[int | None, int]:
    """Find where the next whole record begins.

    A broken record may contain blocks that look like records, so only an object that has the `type` and `timestamp`
    every entry has, and that is followed by the end of the line or by another object, counts as one.
    """
    while budget > 0 and (match := _RECORD_START.search(text, position)):
        budget -= match.start() - position
        value, end, reason = _attempt(decode, text, match.start())
        budget -= end - match.start()
        if reason is None and _is_record(value) and _ends_record(text, end):
            return match.start(), budget
        position = match.start() + 1
    return None, budget


def _is_record(value: Any) -> bool:
    return type(value) is dict and isinstance(value.get("type"), str) and "timestamp" in value


def _ends_record(text: str, end: int) -> bool:
    after = _skip(text, end)
    return after >= len(text) or text[after] == "{"
