"""Show the running daemon: its clients, the sessions they have open, and what runs on them.

Exit code: 0; 1 when no daemon runs.
"""

import argparse
import sys
from collections.abc import Iterator

from octavo.cli import daemon_child, running
from octavo.cli.terminal import Terminal, clean, count, print_json, size, standard_output
from octavo_protocol.methods.daemon import ClientStatus, SessionStatus, StatusResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `octavo ps`."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the answer of daemon/status")
    form.add_argument("--metrics", action="store_true", help="print the counters in Prometheus's text format")


def run(arguments: argparse.Namespace) -> int:
    """Ask and print."""
    return daemon_child.run("ps", lambda: _show(arguments))


async def _show(arguments: argparse.Namespace) -> int:
    async with running.client("ps") as client:
        if arguments.metrics:
            sys.stdout.write((await client.daemon_metrics()).text)
            return 0
        status = await client.daemon_status()
    if arguments.json:
        print_json(status.to_wire())
        return 0
    terminal = standard_output()
    terminal.lines(_lines(status, terminal))
    return 0


def _lines(status: StatusResult, terminal: Terminal) -> Iterator[str]:
    memory = "" if status.memory_bytes is None else f" · {size(status.memory_bytes)}"
    yield terminal.columns(
        f"octavo {status.version}, process {status.pid}", f"up {duration(status.uptime_ms)}{memory}", style="bold"
    )
    others = [one for one in status.clients if not one.asking]
    for client in others:
        yield terminal.columns(f"  {clean(client.name)}", _doing(client))
    if not others:
        yield "  no clients"
    for session in status.sessions:
        title = clean(session.title or session.path or session.session_id)
        yield terminal.columns(f"  {title}", _state(session))
        yield f"    {session.session_id}"


def _doing(client: ClientStatus) -> str:
    parts = [count(len(client.sessions), "session")]
    parts += client.requests
    if client.queued_bytes:
        parts.append(f"{size(client.queued_bytes)} unread")
    return " · ".join(parts)


def _state(session: SessionStatus) -> str:
    parts = [count(session.clients, "client")]
    if session.busy:
        parts.append("agent runs")
    if session.work is not None:
        parts.append(f"{session.work.kind} for {duration(session.work.running_ms)}")
    return " · ".join(parts)


def duration(milliseconds: int) -> str:
    """Return a time as people say it: `12 s`, `5 min`, `3 h`, `2 d`."""
    seconds = milliseconds // 1000
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"
