"""Show what the model of a session gets to see, and how full its window is.

The file is read and never changed.
"""

import argparse
from pathlib import Path

from octavo.cli import daemon_child
from octavo.cli.copies import session_file
from octavo.cli.show_context import context_note, gauge_lines, message_lines
from octavo.cli.show_session import session_lines
from octavo.cli.terminal import print_json, standard_output
from octavo_client import UNSET

FORMATS = ("agent", "llm", "anthropic", "openai-chat", "openai-responses", "google")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `octavo context`."""
    parser.add_argument("file", metavar="FILE", help="session file")
    parser.add_argument("--leaf", metavar="ENTRY", help="end of the branch (default: the leaf)")
    parser.add_argument("--model", metavar="PROVIDER/ID", help="model to measure for (default: the session's)")
    parser.add_argument("--transcript", action="store_true", help="the whole branch with compactions as dividers")
    parser.add_argument("--format", choices=FORMATS, help="shape of the messages; prints JSON")
    parser.add_argument("--no-images", action="store_true", help="a short note instead of every image")
    parser.add_argument("--json", action="store_true", help="print the answer of session/buildContext")


def run(arguments: argparse.Namespace) -> int:
    """Show the context."""
    return daemon_child.run("context", lambda: _show(arguments, session_file(arguments.file)))


async def _show(arguments: argparse.Namespace, path: Path) -> int:
    as_json = arguments.json or arguments.format is not None
    leaf = arguments.leaf or UNSET
    async with daemon_child.daemon(name="context") as client:
        session = await client.session_open(path=str(path), mode="read")
        context = await client.session_build_context(
            session_id=session.session_id,
            leaf_id=leaf,
            transcript=arguments.transcript,
            format=arguments.format or (UNSET if as_json else "agent"),
            include_images=as_json and not arguments.no_images,
        )
        usage = await client.session_context_usage(
            session_id=session.session_id, leaf_id=leaf, model=arguments.model or UNSET
        )
    if as_json:
        told = context if context.usage is None else context.model_copy(update={"usage": usage})
        print_json(told.to_wire())
        return 0
    terminal = standard_output()
    terminal.heading("Session", path.name)
    terminal.lines(session_lines(session, terminal))
    terminal.heading("Context")
    terminal.lines(gauge_lines(usage, terminal))
    terminal.heading("Transcript" if arguments.transcript else "Messages", context_note(context.messages))
    terminal.lines(message_lines(context.messages, terminal))
    return 0
