"""Look whether octavo can work here: versions, daemon, settings, providers, fonts, models, sessions.

Nothing is changed, no key is printed and no model is called. Exit code: 0, also with warnings; 1 when something fails.
"""

import argparse
import logging
import os
from pathlib import Path

from octavo.cli import daemon_child
from octavo.cli.health import Finding, host_findings, settings_in_force
from octavo.cli.terminal import clean, count, print_json, standard_output

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failure": ("✗", "red")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `octavo doctor`."""
    parser.add_argument("--offline", action="store_true", help="do not look whether providers can be reached")
    parser.add_argument(
        "--root", type=Path, metavar="FOLDER", help="sessions folder to look at (default: sessions.root)"
    )
    parser.add_argument("--all", action="store_true", help="read every session whole, not only the newest 200")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Look and report."""
    return daemon_child.run("doctor", lambda: _examine(arguments))


async def _examine(arguments: argparse.Namespace) -> int:
    from octavo.cli.health_sessions import session_findings  # noqa: PLC0415 - only this command reads sessions itself

    # What is wrong is reported once, as a finding.
    logging.getLogger("octavo").addHandler(logging.NullHandler())
    settings, problems = settings_in_force(os.environ)
    findings = await host_findings(settings, problems, offline=arguments.offline)
    findings += session_findings(settings, arguments.root, everything=arguments.all)
    failed = any(one.state == "failure" for one in findings)
    if arguments.json:
        print_json({"healthy": not failed, "findings": [one.to_json() for one in findings]})
        return int(failed)
    _print(findings)
    return int(failed)


def _print(findings: list[Finding]) -> None:
    terminal = standard_output()
    for one in findings:
        mark, colour = _MARKS[one.state]
        terminal.line(f"{terminal.paint(mark, colour)} {terminal.paint(one.subject, 'bold')}: {clean(one.text)}")  # type: ignore[arg-type]
        if one.remedy:
            terminal.line(f"    {clean(one.remedy)}")
    failures = sum(one.state == "failure" for one in findings)
    warnings = sum(one.state == "warning" for one in findings)
    terminal.line()
    terminal.line(f"{count(failures, 'failure')}, {count(warnings, 'warning')}")
