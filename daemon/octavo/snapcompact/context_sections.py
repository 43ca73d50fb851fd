"""Find the project instructions inside a system prompt (the `agents-md` mode of inline imaging, snapcompact.md §8.3).

A section is `<context>…</context>`, `<repo-rules>…</repo-rules>`, or a heading "## Context" with an
`<instructions>…</instructions>` block under it. Sections without their end tag are left alone.
"""

import re
from collections.abc import Sequence

_OPENING = re.compile(
    r"<(?P<tag>context|repo-rules)>|^## Context[ \t]*(?:\r?\n)+<(?P<under>instructions)>", re.MULTILINE
)


def extract_sections(blocks: Sequence[str], stub: str) -> tuple[str, tuple[str, ...]]:
    """Return the sections of all blocks joined by blank lines, and the blocks with `stub` in their place."""
    found: list[str] = []
    rest = tuple(_extract(block, stub, found) for block in blocks)
    return "\n\n".join(found), rest


def _extract(block: str, stub: str, found: list[str]) -> str:
    kept: list[str] = []
    done = at = 0
    unclosed: set[str] = set()
    while opening := _OPENING.search(block, at):
        tag = opening["tag"] or opening["under"]
        closing = f"</{tag}>"
        end = -1 if tag in unclosed else block.find(closing, opening.end())
        if end < 0:
            unclosed.add(tag)
            at = opening.end()
            continue
        at = end + len(closing)
        found.append(block[opening.start() : at])
        kept += [block[done : opening.start()], stub]
        done = at
    return "".join([*kept, block[done:]])
