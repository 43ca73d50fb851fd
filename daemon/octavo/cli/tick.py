"""Give the open sessions of the running daemon their idle maintenance; for timers.

Exit code: 0, also when no daemon runs and so no session is open; 1 when it failed.
"""

import argparse

from octavo.cli import daemon_child, running
from octavo.cli.terminal import clean, print_json, standard_output
from octavo_client import UNSET


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `octavo tick`."""
    parser.add_argument(
        "--idle-for",
        type=float,
        metavar="MINUTES",
        help="idle time a session needs (default: compaction.idleTimeoutSeconds)",
    )
    parser.add_argument("--json", action="store_true", help="print the answer of maintenance/tick")


def run(arguments: argparse.Namespace) -> int:
    """Tick and say what was done."""
    return daemon_child.run("tick", lambda: _tick(arguments))


async def _tick(arguments: argparse.Namespace) -> int:
    if not running.listens():
        if arguments.json:
            print_json({"sessions": []})
        return 0
    idle = UNSET if arguments.idle_for is None else round(arguments.idle_for * 60_000)
    async with running.client("tick") as client:
        result = await client.maintenance_tick(idle_for_ms=idle)
    if arguments.json:
        print_json(result.to_wire())
        return 0
    terminal = standard_output()
    for session in result.sessions:
        if session.ran and session.tokens_before is not None and session.tokens_after is not None:
            done = f"{session.tokens_before:,} → {session.tokens_after:,} tokens"
        else:
            done = "done" if session.ran else clean(session.reason or "nothing to do")
        terminal.line(f"{session.session_id}  {done}")
    return 0
