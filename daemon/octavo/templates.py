"""Prompts and context templates: find them by name, fill them in, tidy the result (engine.md §3.3, end).

The language is a small part of Handlebars without escaping: `{{name}}` (also `{{a.b}}`), `{{#if x}}…{{else}}…{{/if}}`,
`{{#unless x}}`, `{{#each list}}` with `{{this}}`, `{{@index}}` and the fields of each item, `{{#xml "tag"}}…{{/xml}}`
(wraps its trimmed content in an element, nothing when empty) and `{{! comments }}`. A block tag alone on its line
leaves no line behind. Values are inserted as they are and never parsed as templates; both passes are linear in their
text. Missing values render as nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from octavo.resources import data

_JS_SPACE = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What `trim()` removes in the language the formatter was defined in."""

_TAG = re.compile(r"\{\{\{(?P<raw>[^{}]+)\}\}\}|\{\{(?:!--.*?--|(?P<body>[^{}]*))\}\}", re.DOTALL)
_CLOSING_ELEMENT = re.compile(r"</[A-Za-z][\w.:-]*>")
_TABLE_RULE = re.compile(r"\|[-:|\s]+\|")


def text(name: str) -> str:
    """Return the template `prompts/<name>.md` as it is on disk."""
    return _read(name)


def render(name: str, /, **values: Any) -> str:
    """Fill in the template `prompts/<name>.md` and format the result."""
    return render_text(_read(name), values)


def render_text(template: str, values: Mapping[str, Any]) -> str:
    """Fill in a template given as text and format the result.

    Raises:
        ValueError: The template is malformed.
    """
    return format_text("".join(_rendered(_compiled(template), (values,))))


@cache
def _read(name: str) -> str:
    return (data("prompts") / f"{name}.md").read_text(encoding="utf-8")


# -- formatting --------------------------------------------------------------------------------------------------------


def format_text(value: str) -> str:
    """Tidy rendered text as the seed does.

    Outside code fences: trailing white space goes, two or more blank lines in a row go altogether (a single one stays),
    blank lines before a closing XML tag and at the end go, table rows are compacted. Inside a fence only trailing white
    space goes.
    """
    lines: list[str] = []
    blanks = 0
    fenced = False
    for raw in value.split("\n"):
        line = raw.rstrip(_JS_SPACE)
        bare = line.lstrip(_JS_SPACE)
        if fenced:
            lines.append(line)
            fenced = not bare.startswith("```")
            continue
        if not bare:
            blanks += 1
            continue
        if blanks == 1 and not _CLOSING_ELEMENT.fullmatch(bare):
            lines.append("")
        blanks = 0
        fenced = bare.startswith("```")
        is_row = len(bare) > 1 and bare[0] == "|" == bare[-1]
        lines.append(line[: len(line) - len(bare)] + _compact_row(bare) if is_row else line)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines)


def _compact_row(row: str) -> str:
    cells = [cell.strip(_JS_SPACE) for cell in row[1:-1].split("|")]
    if "-" in row and _TABLE_RULE.fullmatch(row):
        cells = [f"{':' if c.startswith(':') else ''}---{':' if c.endswith(':') else ''}" for c in cells if c]
    return f"|{'|'.join(cells)}|"


# -- templates ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Node:
    """Literal text (`kind` "text"), a value, or a block with its body and its `{{else}}` part."""

    kind: str
    argument: str
    body: list["_Node"] = field(default_factory=list)
    otherwise: list["_Node"] = field(default_factory=list)


_BLOCKS = frozenset({"if", "unless", "each", "xml"})


@cache
def _compiled(template: str) -> list[_Node]:
    root = _Node("root", "")
    open_blocks: list[tuple[_Node, list[_Node]]] = [(root, root.body)]
    for kind, argument in _tokens(template):
        block, target = open_blocks[-1]
        if kind == "open":
            name, _, rest = argument.partition(" ")
            if name not in _BLOCKS:
                raise ValueError(f"Unknown block {{{{#{argument}}}}} in a template.")
            node = _Node(name, rest.strip())
            target.append(node)
            open_blocks.append((node, node.body))
        elif kind == "else":
            if block is root:
                raise ValueError("A template has {{else}} outside a block.")
            open_blocks[-1] = (block, block.otherwise)
        elif kind == "close":
            if block.kind != argument:
                raise ValueError(f"A template closes {{{{/{argument}}}}} where {block.kind} is open.")
            open_blocks.pop()
        else:
            target.append(_Node(kind, argument))
    if len(open_blocks) > 1:
        raise ValueError(f"A template leaves {{{{#{open_blocks[-1][0].kind}}}}} open.")
    return root.body


def _tokens(template: str) -> Iterator[tuple[str, str]]:
    """Yield ("text" | "value" | "open" | "else" | "close", argument)."""
    done = 0
    for match in _TAG.finditer(template):
        kind, argument = _kind(match)
        start, end = match.span()
        if kind != "value":
            start, end = _whole_line(template, start, end)
        if start > done:
            yield "text", template[done:start]
        if kind != "comment":
            yield kind, argument
        done = max(done, end)
    if done < len(template):
        yield "text", template[done:]


def _kind(match: re.Match[str]) -> tuple[str, str]:
    if match["raw"] is not None:
        return "value", match["raw"].strip()
    body = (match["body"] if match["body"] is not None else "!").strip()
    if body.startswith("!"):
        return "comment", ""
    if body == "else":
        return "else", ""
    if body.startswith("#"):
        return "open", body[1:].strip()
    if body.startswith("/"):
        return "close", body[1:].strip()
    return "value", body


def _whole_line(template: str, start: int, end: int) -> tuple[int, int]:
    """Widen a tag that stands alone on its line to the whole line."""
    line_start = template.rfind("\n", 0, start) + 1
    line_end = template.find("\n", end)
    after = len(template) if line_end < 0 else line_end + 1
    if template[line_start:start].strip() or template[end:after].strip():
        return start, end
    return line_start, after


def _rendered(nodes: Sequence[_Node], scopes: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    for node in nodes:
        if node.kind == "text":
            yield node.argument
        elif node.kind == "value":
            yield _string(_lookup(node.argument, scopes))
        elif node.kind == "xml":
            tag = _literal(node.argument, scopes)
            if content := "".join(_rendered(node.body, scopes)).strip(_JS_SPACE):
                yield f"<{tag}>\n{content}\n</{tag}>"
        elif node.kind == "each":
            items = _lookup(node.argument, scopes)
            if not isinstance(items, list | tuple) or not items:
                yield from _rendered(node.otherwise, scopes)
                continue
            for index, item in enumerate(items):
                fields = item if isinstance(item, Mapping) else {}
                own = {**fields, "this": item, "@index": index}
                yield from _rendered(node.body, (*scopes, own))
        else:
            holds = bool(_lookup(node.argument, scopes)) is (node.kind == "if")
            yield from _rendered(node.body if holds else node.otherwise, scopes)


def _literal(argument: str, scopes: tuple[Mapping[str, Any], ...]) -> str:
    if len(argument) > 1 and argument[0] in "\"'" and argument[-1] == argument[0]:
        return argument[1:-1]
    return _string(_lookup(argument, scopes))


def _lookup(path: str, scopes: tuple[Mapping[str, Any], ...]) -> Any:
    first, *rest = path.split(".")
    value = next((scope[first] for scope in reversed(scopes) if first in scope), None)
    for name in rest:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _string(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
