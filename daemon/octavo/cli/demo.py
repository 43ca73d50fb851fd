"""Compact a session before your eyes: tree, context gauge, plan, compaction, checks, and where everything is.

A daemon is started as an editor would start it. It works on a copy, asks no model and needs no network: frames when the
session's model reads images, else the local summary.
"""

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from octavo.cli import daemon_child
from octavo.cli.copies import begins_like, copy_session, session_file
from octavo.cli.daemon_child import CommandError, sentence
from octavo.cli.pictures import frames_of, write_contact_sheet, write_pictures
from octavo.cli.progress_line import ProgressLine
from octavo.cli.show_compaction import check_lines, notice_lines, plan_lines, result_lines
from octavo.cli.show_context import context_note, gauge_lines
from octavo.cli.show_session import session_lines
from octavo.cli.show_tree import node_line, turn_lines
from octavo.cli.terminal import fit, pad, size, standard_output
from octavo.cli.tree import tree_note
from octavo_client import Client, OctavoClientError
from octavo_protocol.errors import ErrorKind
from octavo_protocol.methods.common import Strategy
from octavo_protocol.methods.compaction import CompactionResult
from octavo_protocol.methods.context import PrepareCompactionResult
from octavo_protocol.methods.tree import GetTreeResult

EXAMPLE = Path("tests/data/tidewatch.jsonl")
"""The session of the checkout; a wheel does not have it."""

_STEPS_ASIDE = {ErrorKind.STRATEGY_UNAVAILABLE, ErrorKind.CHECK_FAILED}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `octavo demo`."""
    parser.add_argument("session", nargs="?", metavar="SESSION", help="session file (default: the example)")
    parser.add_argument("--out", metavar="DIR", default="build/demo", help="folder of the copy (default: build/demo)")
    parser.add_argument(
        "--strategy", choices=("snapcompact", "extractive"), help="frames or the local summary (default: what fits)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the demonstration."""
    return daemon_child.run("demo", lambda: _Demo(arguments, _source(arguments.session)).show())


def _source(named: str | None) -> Path:
    """The session to copy.

    Raises:
        CommandError: none was named and the example is not at hand.
        OctavoError: the file is no session.
    """
    if named:
        return session_file(named)
    example = Path(__file__).parents[3] / EXAMPLE
    if not example.is_file():
        raise CommandError("The example session comes with a checkout only; name a session file: octavo demo FILE.")
    return session_file(str(example))


@dataclass(frozen=True, slots=True)
class _Files:
    """Where things go: laid out like a sessions folder, so that later commands find the pictures of the copy."""

    folder: Path
    stem: str

    @property
    def root(self) -> Path:
        return self.folder / "sessions"

    @property
    def copy(self) -> Path:
        return self.root / "demo" / f"{self.stem}.jsonl"

    @property
    def frames(self) -> Path:
        return self.folder / f"{self.stem}-frames"

    @property
    def sheet(self) -> Path:
        return self.folder / f"{self.stem}-contact-sheet.png"


class _Demo:
    """The steps, in the order they are shown."""

    def __init__(self, arguments: argparse.Namespace, source: Path) -> None:
        self.source = source
        self.strategy: Strategy | None = arguments.strategy
        folder = Path(os.path.abspath(arguments.out))  # noqa: PTH100 - links in the user's path are the user's
        self.files = _Files(folder, source.name.removesuffix(".jsonl"))
        self.terminal = standard_output()

    async def show(self) -> int:
        """Show everything."""
        files, terminal = self.files, self.terminal
        settings = {"sessions.root": str(files.root)}
        async with daemon_child.daemon(settings, name="demo") as client:
            await anyio.to_thread.run_sync(copy_session, self.source, files.copy, files.root)
            before = files.copy.stat().st_size
            session = await client.session_open(path=str(files.copy))
            terminal.heading("Session", f"a copy of {_near(self.source)}")
            terminal.lines(session_lines(session, terminal))
            session_id = session.session_id

            tree = await client.session_get_tree(session_id=session_id, window=10_000)
            terminal.heading("Tree", tree_note(tree))
            terminal.lines(turn_lines(tree, terminal))

            usage = await client.session_context_usage(session_id=session_id)
            terminal.heading("Context before")
            terminal.lines(gauge_lines(usage, terminal))

            plan = await client.session_prepare_compaction(session_id=session_id)
            chosen = self.strategy or _choose(plan)
            terminal.heading("Plan", "nothing is written and no model is asked yet")
            terminal.lines(plan_lines(plan, terminal, chosen=chosen))
            if not plan.possible:
                return self._small()
            result = await self._compact(client, session_id, chosen)

            await self._transcript(client, session_id, result)
            terminal.heading("Checks", "made before anything was written")
            terminal.lines(check_lines(result.checks, terminal))
            terminal.lines(notice_lines(result.notices, terminal))

            context = await client.session_build_context(session_id=session_id, format="agent")
            terminal.heading("Context after", context_note(context.messages))
            if context.usage is not None:
                terminal.lines(gauge_lines(context.usage, terminal))
            pictures = frames_of(context.messages[0]) if context.messages else []
            await client.session_close(session_id=session_id)
        if pictures:
            write_pictures(pictures, files.frames)
            write_contact_sheet(pictures, files.sheet)
        self._where(before, frames=bool(pictures))
        return 0

    async def _compact(self, client: Client, session_id: str, chosen: Strategy) -> CompactionResult:
        """Run the compaction; where frames cannot be, the local summary is tried, unless frames were asked for."""
        with ProgressLine(sys.stderr) as progress:
            try:
                return await client.session_compact(session_id=session_id, strategy=chosen, on_progress=progress.show)
            except OctavoClientError as error:
                if chosen == "extractive" or self.strategy is not None or error.kind not in _STEPS_ASIDE:
                    raise
                told = sentence(error)
            self.terminal.line(f"  {self.terminal.paint('!', 'yellow', 'bold')} {told} The local summary is made.")
            return await client.session_compact(session_id=session_id, strategy="extractive", on_progress=progress.show)

    async def _transcript(self, client: Client, session_id: str, result: CompactionResult) -> None:
        """Show the branch around the cut and around its end, where the divider stands."""
        terminal = self.terminal
        cut = await client.session_get_tree(session_id=session_id, around=result.first_kept_entry_id, window=7)
        end = await client.session_get_tree(session_id=session_id, around=result.entry_id, window=6)
        terminal.heading("Transcript", "nothing is deleted; the dashes show the cut")
        if cut.hidden_before:
            terminal.line(terminal.paint(f"  … {cut.hidden_before:,} earlier entries …", "dim"))
        self._rows(cut, result, until=end)
        between = end.hidden_before - cut.hidden_before - len(cut.nodes)
        if between > 0:
            terminal.line(terminal.paint(f"  … {between:,} more …", "dim"))
        self._rows(end, result)
        terminal.lines(result_lines(result, terminal))

    def _rows(self, part: GetTreeResult, result: CompactionResult, until: GetTreeResult | None = None) -> None:
        later = {node.id for node in until.nodes} if until is not None else set()
        for node in part.nodes:
            if node.id in later or node.id == result.entry_id or not node.on_branch:
                continue
            if node.id == result.first_kept_entry_id:
                mark = "above: in the summary · below: kept word for word"
                self.terminal.line(self.terminal.paint(f"  ╌╌╌ {mark} {'╌' * (self.terminal.width - 58)}", "yellow"))
            self.terminal.line(node_line(node, self.terminal, alone=True))

    def _small(self) -> int:
        self._where(None, frames=False)
        return 0

    def _where(self, before: int | None, *, frames: bool) -> None:
        files, terminal = self.files, self.terminal
        terminal.heading("Files")
        grown = size(files.copy.stat().st_size)
        if before is not None:
            appended = begins_like(files.copy, self.source)
            grown = f"{size(before)} → {grown}, {'only appended to' if appended else 'brought to the current version'}"
        rows = [("session", files.copy, grown)]
        if frames:
            rows += [("frames", files.frames, ""), ("look at", files.sheet, "all frames on one sheet")]
        for name, path, note in rows:
            room = terminal.width - 14 - len(_near(path))
            shown = terminal.paint(f"({note})", "dim") if note and len(note) <= room else ""
            terminal.line(f"  {terminal.paint(pad(name, 10), 'dim')}{_near(path)}  {shown}")
            if note and not shown:
                terminal.line(terminal.paint(f"  {pad('', 10)}({note})", "dim"))
        terminal.heading("Go on")
        octavo, copy = _program(), _near(files.copy)
        for command, what in (
            (f"{octavo} context {copy}", "what the model sees now"),
            (f"{octavo} tree {copy} --filter all", "nothing was deleted"),
            (f"{octavo} compact {copy} --plan", "what the next compaction would do"),
            (f"{octavo} serve --stdio", "what an editor or an agent starts"),
        ):
            terminal.line(f"  {command}")
            terminal.line(terminal.paint(f"      {fit(what, terminal.width - 6)}", "dim"))
        terminal.line()


def _choose(plan: PrepareCompactionResult) -> Strategy:
    frames = next((item for item in plan.strategies if item.strategy == "snapcompact"), None)
    return "snapcompact" if frames is not None and frames.available else "extractive"


def _near(path: Path) -> str:
    """The path as one would type it here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _program() -> str:
    beside = Path(sys.executable).with_name("octavo")
    return _near(beside) if beside.is_file() else "octavo"
