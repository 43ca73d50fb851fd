"""The bracketed notices under a command's output: what was cut, which limits were hit, what a language server said.

Pure text from the `meta` object of a run (engine.md §3.3, output-notice). Parts of an unknown shape are left out.
"""

from typing import Any, TypeGuard

from octavo_protocol.base import JsonObject

_LIMITS = (("matchLimit", "matches"), ("resultLimit", "results"), ("headLimit", "results"))
_KILO = 1024


def output_notice(meta: Any) -> str:
    """Return the notices as they follow the output, each paragraph with its blank line before; "" without any."""
    if not isinstance(meta, dict):
        return ""
    parts = [*_truncation(_object(meta, "truncation")), *_limits(_object(meta, "limits"))]
    notice = f"\n\n[{'. '.join(parts)}]" if parts else ""
    return notice + _diagnostics(_object(meta, "diagnostics"))


def _object(parent: JsonObject, key: str) -> JsonObject:
    found = parent.get(key)
    return found if isinstance(found, dict) else {}


def _number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _truncation(truncation: JsonObject) -> list[str]:
    total = truncation.get("totalLines")
    if not _number(total):
        return []
    shown = _object(truncation, "shownRange")
    start, end = shown.get("start"), shown.get("end")
    if _number(start) and _number(end):
        parts = [f"Showing lines {start}-{end} of {total}"]
    else:
        parts = [f"Showing {truncation.get('outputLines', 0)} of {total} lines"]
    if truncation.get("truncatedBy") == "bytes":
        limit = truncation.get("maxBytes", truncation.get("outputBytes"))
        if _number(limit):
            parts[0] += f" ({_size(limit)} limit)"
    if _number(offset := truncation.get("nextOffset")):
        parts.append(f"Use offset={offset} to continue")
    if truncation.get("artifactId") is not None:
        parts.append(f"Read artifact://{truncation['artifactId']} for full output")
    return parts


def _size(amount: float) -> str:
    if amount < _KILO:
        return f"{amount}B"
    if amount < _KILO * _KILO:
        return f"{amount / _KILO:.1f}KB"
    return f"{amount / (_KILO * _KILO):.1f}MB"


def _limits(limits: JsonObject) -> list[str]:
    parts = []
    for key, things in _LIMITS:
        limit = _object(limits, key)
        if _number(reached := limit.get("reached")):
            parts.append(f"{reached} {things} limit reached. Use limit={limit.get('suggestion')} for more")
    columns = _object(limits, "columnTruncated")
    if _number(width := columns.get("maxColumn")):
        parts.append(f"Some lines truncated to {width} chars")
    return parts


def _diagnostics(diagnostics: JsonObject) -> str:
    messages = diagnostics.get("messages")
    if not isinstance(messages, list) or not messages:
        return ""
    summary = diagnostics.get("summary")
    heading = f"LSP Diagnostics ({summary}):" if isinstance(summary, str) and summary else "LSP Diagnostics:"
    return "\n\n" + "\n".join([heading, *(f"  {message}" for message in messages)])
