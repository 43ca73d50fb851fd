"""A summary in the common headings taken apart into items, so that a later one can carry them on.

Reads what `extractive` wrote as well as what a model wrote after our prompts; text under unknown headings is kept as
critical context. Fences are opaque: headings inside quoted text are text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

GOAL = "Goal"
CONSTRAINTS = "Constraints & Preferences"
PROGRESS = "Progress"
DONE = "Done"
IN_PROGRESS = "In Progress"
BLOCKED = "Blocked"
DECISIONS = "Key Decisions"
NEXT = "Next Steps"
CONTEXT = "Critical Context"
NOTES = "Additional Notes"

_KNOWN = {
    name.lower(): name
    for name in (GOAL, CONSTRAINTS, PROGRESS, DONE, IN_PROGRESS, BLOCKED, DECISIONS, NEXT, CONTEXT, NOTES)
}
_HEADING = re.compile(r"#{1,4} +(.+?)[ #]*\Z")
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,4}[.)]) +")
_MARKER = re.compile(r"(?:[-*+]|[0-9]{1,4}[.)]) +(?:\[[ xX]\] +)?")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


@dataclass(slots=True)
class Sections:
    """Items by heading, in order, without their list markers; `fences` tells which items are quoted text."""

    items: dict[str, list[str]] = field(default_factory=dict)

    def of(self, heading: str) -> list[str]:
        """Return the items under a heading."""
        return self.items.get(heading, [])


def parse_sections(summary: str) -> Sections:
    """Return the summary's items by heading."""
    sections = Sections()
    heading = CONTEXT
    for kind, text in _pieces(summary):
        if kind == "heading":
            heading = _KNOWN.get(text.lower(), CONTEXT)
            if heading == CONTEXT and text.lower() not in _KNOWN:
                sections.items.setdefault(heading, []).append(f"**{text.strip('*:')}**")
        elif text.strip("-* \t"):
            sections.items.setdefault(heading, []).append(text)
    return sections


def unquoted(item: str) -> str | None:
    """Return the text inside an item that is one fenced quotation, None for any other item."""
    lines = item.split("\n")
    opening = _FENCE.match(lines[0])
    if opening is None or len(lines) < 2 or lines[-1].strip() != opening[1]:
        return None
    return "\n".join(lines[1:-1])


def quoted(text: str) -> str:
    """Return the text in a fence that nothing inside it can close."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _pieces(summary: str) -> Iterator[tuple[str, str]]:
    item: list[str] = []
    fence: str | None = None
    for line in summary.split("\n"):
        if fence is not None:
            item.append(line)
            if line.strip() == fence:
                fence = None
            continue
        opened = _FENCE.match(line)
        heading = _HEADING.match(line)
        starts = heading is not None or not line.strip() or _ITEM.match(line) is not None
        if item and (starts or (opened and not line.startswith(" "))):
            yield "item", _bare(item)
            item = []
        if heading is not None:
            yield "heading", heading[1].strip()
        elif line.strip():
            item.append(line)
            fence = opened[1] if opened else None
    if item:
        yield "item", _bare(item)


def _bare(lines: list[str]) -> str:
    return "\n".join([_MARKER.sub("", lines[0], count=1), *lines[1:]])
