"""Compact a session file: replace old history by a summary or by frames.

Works on a copy, named at the end, unless told to change the file itself. A run that fails leaves nothing behind.
"""

import argparse
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from octavo.cli import daemon_child
from octavo.cli.copies import copy_session, free_target, remove_copy, session_file, sessions_folder
from octavo.cli.progress_line import ProgressLine
from octavo.cli.show_compaction import check_lines, notice_lines, plan_lines, result_lines
from octavo.cli.terminal import Terminal, clean, print_json, standard_output
from octavo_client import UNSET, Client
from octavo_protocol.methods.compaction import CompactionResult

STRATEGIES = ("context-full", "snapcompact", "extractive")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `octavo compact`."""
    parser.add_argument("file", metavar="FILE", help="session file")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--in-place", action="store_true", help="change FILE itself")
    where.add_argument("--out", metavar="PATH", help="where the copy goes (default: NAME.compacted.jsonl right here)")
    parser.add_argument(
        "--strategy",
        choices=STRATEGIES,
        help="a model's summary, frames, or the local summary (default: compaction.strategy of the settings)",
    )
    parser.add_argument("--model", metavar="PROVIDER/ID", help="model that summarises (default: the session's)")
    parser.add_argument("--instructions", metavar="TEXT", help="what a model's summary should look at")
    parser.add_argument("--keep", type=int, metavar="TOKENS", help="newest tokens that stay verbatim (default: 20000)")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--plan", action="store_true", help="say what each strategy would do, and change nothing")
    mode.add_argument("--hold", action="store_true", help="show the result and ask before it is written")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Compact the file or a copy of it."""
    return daemon_child.run("compact", lambda: _compact(arguments, session_file(arguments.file)))


async def _compact(arguments: argparse.Namespace, source: Path) -> int:
    settings = {} if arguments.keep is None else {"compaction.keepRecentTokens": arguments.keep}
    async with daemon_child.daemon(settings, name="compact") as client:
        if arguments.plan:
            return await _plan(client, arguments, source)
        async with _workplace(client, arguments, source) as (path, keep):
            session = await client.session_open(path=str(path))
            with ProgressLine(sys.stderr) as progress:
                result = await client.session_compact(
                    session_id=session.session_id,
                    strategy=arguments.strategy or UNSET,
                    model=arguments.model or UNSET,
                    custom_instructions=arguments.instructions or UNSET,
                    hold=arguments.hold,
                    on_progress=progress.show,
                )
            written: CompactionResult | None = result
            if arguments.hold:
                written = await _ask(client, session.session_id, result, arguments)
            await client.session_close(session_id=session.session_id)
            if written is not None:
                keep()
        terminal = standard_output()
        if arguments.json:
            where = {"path": str(path), "inPlace": arguments.in_place} if written is not None else {}
            print_json({**where, "written": written is not None, "result": (written or result).to_wire()})
        elif written is None:
            terminal.line("Nothing was written.")
        else:
            _tell(written, path, terminal, in_place=arguments.in_place)
        return 0


async def _plan(client: Client, arguments: argparse.Namespace, path: Path) -> int:
    session = await client.session_open(path=str(path), mode="read")
    plan = await client.session_prepare_compaction(
        session_id=session.session_id,
        strategy=arguments.strategy or UNSET,
        model=arguments.model or UNSET,
        custom_instructions=arguments.instructions or UNSET,
    )
    if arguments.json:
        print_json({"plan": plan.to_wire()})
        return 0
    terminal = standard_output()
    terminal.heading("Plan", f"{plan.tokens_before:,} tokens now")
    terminal.lines(plan_lines(plan, terminal))
    return 0


class _Keep:
    """Says that the copy is worth keeping."""

    def __init__(self) -> None:
        self.said = False

    def __call__(self) -> None:
        self.said = True


@asynccontextmanager
async def _workplace(client: Client, arguments: argparse.Namespace, source: Path) -> AsyncIterator[tuple[Path, _Keep]]:
    """The file to work on: the user's own, or a copy that is gone again unless it is said to be kept."""
    keep = _Keep()
    if arguments.in_place:
        yield source, keep
        return
    root = await sessions_folder(client)
    target = free_target(source, arguments.out)
    try:
        await anyio.to_thread.run_sync(copy_session, source, target, root)
        yield target, keep
    finally:
        if not keep.said:
            remove_copy(target)


async def _ask(
    client: Client, session_id: str, result: CompactionResult, arguments: argparse.Namespace
) -> CompactionResult | None:
    """Show a held result and write it if the user says so; without a terminal to ask on it is only shown."""
    agreed = False
    if not arguments.json:
        terminal = standard_output()
        terminal.lines(result_lines(result, terminal))
        terminal.heading("Summary")
        terminal.lines(f"  {clean(line)}" for line in result.summary.splitlines())
        terminal.heading("Checks")
        terminal.lines(check_lines(result.checks, terminal))
        terminal.lines(notice_lines(result.notices, terminal))
        terminal.line()
        if sys.stdin.isatty():
            print("Write it? [y/N] ", end="", file=terminal.out, flush=True)
            # Not in a thread: one that waits for a key would outlive an interruption.
            await anyio.wait_readable(sys.stdin)
            agreed = sys.stdin.readline().strip().lower() in {"y", "yes"}
    if agreed:
        return await client.session_apply_compaction(session_id=session_id, operation_id=result.operation_id)
    await client.session_discard_compaction(session_id=session_id, operation_id=result.operation_id)
    return None


def _tell(result: CompactionResult, path: Path, terminal: Terminal, *, in_place: bool) -> None:
    terminal.line()
    terminal.lines(result_lines(result, terminal))
    terminal.heading("Checks")
    terminal.lines(check_lines(result.checks, terminal))
    terminal.lines(notice_lines(result.notices, terminal))
    terminal.line()
    terminal.line(f"  {'Changed' if in_place else 'The compacted copy is'} {path}")
