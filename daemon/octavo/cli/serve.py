"""Run the daemon.

Exit code: 0 after `shutdown` and `exit`, at the end of input or after a signal; 1 after `exit` without `shutdown`; 2
when a transport or the log file cannot be opened.
"""

import argparse
import gc
import logging
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `octavo serve`."""
    parser.add_argument("--stdio", action="store_true", help="serve one client on stdin and stdout")
    parser.add_argument("--socket", type=Path, metavar="PATH", help="serve any number of clients on a unix socket")
    parser.add_argument(
        "--framing",
        choices=("content-length", "ndjson"),
        default="content-length",
        help="how messages are delimited: LSP headers (default) or one JSON document per line",
    )
    parser.add_argument("--log-level", choices=("debug", "info", "warning", "error"), default="warning")
    parser.add_argument("--log-file", type=Path, metavar="FILE", help="append log lines to FILE instead of stderr")


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client or a signal ends it."""
    if not arguments.stdio and arguments.socket is None:
        print("octavo serve: give --stdio, --socket PATH or both", file=sys.stderr)
        return 2
    # Off while modules are imported, which takes a third off the time to `initialize`; see lifecycle.tune_gc.
    gc.disable()
    from octavo.server import logs, serving  # noqa: PLC0415 - the daemon is imported by the command that runs it
    from octavo.server.transports import TransportError  # noqa: PLC0415 - as above

    try:
        logs.configure(arguments.log_level, arguments.log_file)
        options = serving.ServeOptions(arguments.stdio, arguments.socket, serving.FRAMINGS[arguments.framing])
        return serving.run(options)
    except TransportError as error:
        print(f"octavo serve: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"octavo serve: cannot open the log file: {error}", file=sys.stderr)
        return 2
    except BaseExceptionGroup as group:
        expected, rest = group.split(TransportError)
        if expected is None or rest is not None:
            raise
        print(f"octavo serve: {_first(expected)}", file=sys.stderr)
        return 2
    finally:
        logging.shutdown()


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
