"""The dispatcher of the `octavo` command: one module per subcommand, imported only when it is called.

A subcommand module `octavo.cli.<name>` has `add_arguments(parser)` and `run(arguments) -> int` (the exit code); its row
in `COMMANDS` is its help.
"""

import argparse
import sys
from importlib import import_module

from octavo import __version__

COMMANDS: dict[str, str] = {
    "serve": "run the daemon on stdio or a unix socket",
}
"""Subcommand → one line of help."""


def run(argv: list[str]) -> int:
    """Run `octavo` with `argv` (without the program's name) and return the exit code."""
    if argv and argv[0] in COMMANDS:
        module = import_module(f"octavo.cli.{argv[0]}")
        parser = argparse.ArgumentParser(prog=f"octavo {argv[0]}", description=module.__doc__)
        module.add_arguments(parser)
        try:
            return int(module.run(parser.parse_args(argv[1:])))
        except BrokenPipeError:
            # The reader of our output has seen enough (`octavo tree … | head`).
            sys.stderr.close()
            return 0
    parser = argparse.ArgumentParser(prog="octavo", description="Keeps a coding agent's sessions inside their window.")
    parser.add_argument("--version", action="version", version=f"octavo {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        commands.add_parser(name, help=text, add_help=False)
    parser.parse_args(argv)
    return 2
