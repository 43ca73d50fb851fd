"""Keeps the tables of docs/cli.md: every command with its options, as the parsers declare them.

`python -m octavo.cli.reference` rewrites the part of the page below the marker; a test fails when it is stale. Needs a
checkout.
"""

import argparse
import inspect
from collections.abc import Iterator
from pathlib import Path

from octavo.cli.main import COMMANDS, parser_of

PAGE = Path(__file__).parents[3] / "docs" / "cli.md"
MARKER = "<!-- Generated below this line by `make schema`; do not edit. -->"


def tables() -> str:
    """Return the generated part of the page."""
    return "\n".join(line for name in COMMANDS for line in _section(name))


def page(current: str) -> str:
    """Return the page with its generated part renewed."""
    return f"{current.partition(MARKER)[0]}{MARKER}\n\n{tables()}"


def _section(name: str) -> Iterator[str]:
    parser = parser_of(name)
    yield f"## octavo {name}"
    yield ""
    yield inspect.cleandoc(parser.description or "")
    yield ""
    yield "| argument | meaning |"
    yield "|---|---|"
    for action in parser._actions:  # noqa: SLF001 - argparse has no other list of what was declared
        if not isinstance(action, argparse._HelpAction):  # noqa: SLF001 - as above
            yield f"| {_spelling(action)} | {_meaning(action)} |"
    yield ""


def _spelling(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else _value(action)
    if not action.option_strings:
        return f"`[{value}]`" if action.nargs == "?" else f"`{value}`"
    return f"`{', '.join(action.option_strings)}{f' {value}' if value else ''}`"


def _value(action: argparse.Action) -> str:
    if action.choices is not None:
        return "NAME"
    return str(action.metavar or action.dest.upper())


def _meaning(action: argparse.Action) -> str:
    text = (action.help or "").replace("|", "\\|")
    if action.choices is not None:
        names = ", ".join(f"`{choice}`" for choice in action.choices)
        text = f"{text}: {names}" if text else names
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
