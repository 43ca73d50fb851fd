"""The dispatcher of the `octavo` command: one module per subcommand, imported only when it is called.

A subcommand module `octavo.cli.<name>` has `add_arguments(parser)` and `run(arguments) -> int` (the exit code); its row
in `COMMANDS` is its help.
"""

import argparse
import os
import sys
from importlib import import_module

from octavo import __version__

COMMANDS: dict[str, str] = {
    "compact": "compact a session file, or a copy of it",
    "context": "show what the model of a session sees, and how full its window is",
    "tree": "show the tree of a session",
    "render": "draw a text as frames that a vision model reads",
    "demo": "compact a copy of an example session, or of yours, and show every step",
    "serve": "run the daemon on stdio, a unix socket, TCP or WebSocket",
    "attach": "connect stdin and stdout to the running daemon, or start it",
    "ps": "show the running daemon: clients, sessions, work, counters",
    "tick": "give idle sessions of the running daemon their maintenance",
    "doctor": "look whether everything octavo needs works here",
}
"""Subcommand → one line of help."""


def run(argv: list[str]) -> int:
    """Run `octavo` with `argv` (without the program's name) and return the exit code."""
    if argv and argv[0] in COMMANDS:
        try:
            module = import_module(f"octavo.cli.{argv[0]}")
            code = int(module.run(parser_of(argv[0]).parse_args(argv[1:])))
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader of our output has seen enough (`octavo tree … | head`); what is buffered has nowhere to go.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except KeyboardInterrupt:
            return 130
        return code
    parser = argparse.ArgumentParser(prog="octavo", description="Keeps a coding agent's sessions inside their window.")
    parser.add_argument("--version", action="version", version=f"octavo {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        commands.add_parser(name, help=text, add_help=False)
    parser.parse_args(argv)
    return 2


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of a subcommand."""
    module = import_module(f"octavo.cli.{name}")
    parser = argparse.ArgumentParser(prog=f"octavo {name}", description=module.__doc__)
    module.add_arguments(parser)
    return parser
