"""Show the tree of a session file.

The file is read and never changed.
"""

import argparse
from pathlib import Path

from octavo.cli import daemon_child
from octavo.cli.copies import session_file
from octavo.cli.show_session import session_lines
from octavo.cli.show_tree import node_lines, turn_lines
from octavo.cli.terminal import count, print_json, standard_output
from octavo_client import UNSET
from octavo_protocol.methods.tree import GetTreeResult

FILTERS = ("default", "no-tools", "user-only", "labeled-only", "all")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `octavo tree`."""
    parser.add_argument("file", metavar="FILE", help="session file")
    parser.add_argument("--filter", choices=FILTERS, help="which entries to show (default: the conversation)")
    parser.add_argument("--turns", action="store_true", help="fold every turn into one line")
    parser.add_argument("--around", metavar="ENTRY", help="entry the window is centred on (default: the leaf)")
    parser.add_argument("--depth", type=int, metavar="N", help="generations to show below each root, or below ENTRY")
    parser.add_argument("--window", type=int, default=10_000, metavar="N", help="most entries to show (default: 10000)")
    parser.add_argument("--json", action="store_true", help="print the answer of session/getTree")


def run(arguments: argparse.Namespace) -> int:
    """Show the tree."""
    return daemon_child.run("tree", lambda: _show(arguments, session_file(arguments.file)))


async def _show(arguments: argparse.Namespace, path: Path) -> int:
    async with daemon_child.daemon(name="tree") as client:
        session = await client.session_open(path=str(path), mode="read")
        tree = await client.session_get_tree(
            session_id=session.session_id,
            filter=arguments.filter or UNSET,
            around=arguments.around or UNSET,
            max_depth=UNSET if arguments.depth is None else arguments.depth,
            window=arguments.window,
        )
    if arguments.json:
        print_json(tree.to_wire())
        return 0
    terminal = standard_output()
    terminal.heading("Session", path.name)
    terminal.lines(session_lines(session, terminal))
    terminal.heading("Tree", tree_note(tree))
    shown = turn_lines(tree, terminal, most=len(tree.nodes)) if arguments.turns else node_lines(tree, terminal)
    terminal.lines(shown)
    return 0


def tree_note(tree: GetTreeResult) -> str:
    """How much of the tree is shown."""
    forks = sum(node.child_count > 1 for node in tree.nodes)
    parts = [f"{tree.matching:,} of {count(tree.total, 'entry', 'entries')}"]
    if forks:
        parts.append(count(forks, "fork"))
    return " · ".join(parts)
