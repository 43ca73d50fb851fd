"""Run the daemon.

Exit code: 0 after `shutdown` and `exit`, at the end of input, after a signal or when nobody needs the daemon any more;
1 after `exit` without `shutdown`; 2 when a transport or the log file cannot be opened; 75 when another daemon has the
place.
"""

import argparse
import gc
import logging
import os
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `octavo serve`."""
    parser.add_argument("--stdio", action="store_true", help="serve one client on stdin and stdout")
    parser.add_argument("--socket", type=Path, metavar="PATH", help="serve any number of clients on a unix socket")
    parser.add_argument("--tcp", type=_port, metavar="PORT", help="the same on a loopback port (0: any), with a token")
    parser.add_argument("--websocket", type=_port, metavar="PORT", help="the same for WebSocket clients")
    parser.add_argument("--daemon", action="store_true", help="be the daemon that `octavo attach` finds")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="put the token of --tcp and --websocket there")
    parser.add_argument(
        "--allow-origin", action="append", default=[], metavar="ORIGIN", help="let a page of ORIGIN use --websocket"
    )
    parser.add_argument(
        "--idle-exit",
        type=float,
        metavar="MINUTES",
        help="end after MINUTES without clients and work; 0: never (server.idleExitSeconds with --daemon, else 0)",
    )
    parser.add_argument(
        "--framing",
        choices=("auto", "content-length", "ndjson"),
        default="auto",
        help="LSP headers, or one JSON document per line; auto: headers on stdio, on sockets as the client begins",
    )
    parser.add_argument(
        "--log-level",
        choices=("debug", "info", "warning", "error"),
        default="warning",
        help="least grave lines that are logged (default: warning)",
    )
    parser.add_argument("--log-file", type=Path, metavar="FILE", help="append log lines to FILE instead of stderr")


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client, a signal or idleness ends it."""
    offered = (arguments.socket, arguments.tcp, arguments.websocket)
    passed = os.environ.get("LISTEN_PID") == str(os.getpid())
    if not (arguments.stdio or arguments.daemon or passed) and all(one is None for one in offered):
        print(
            "octavo serve: give at least one of --stdio, --socket PATH, --tcp PORT, --websocket PORT, --daemon",
            file=sys.stderr,
        )
        return 2
    # Off while modules are imported, which takes a third off the time to `initialize`; see lifecycle.tune_gc.
    gc.disable()
    from octavo.server import listening, logs, serving  # noqa: PLC0415 - the daemon is imported by the command that runs it
    from octavo.server.transports import TransportError  # noqa: PLC0415 - as above

    try:
        logs.configure(arguments.log_level, arguments.log_file)
        options = listening.ServeOptions(
            stdio=arguments.stdio,
            socket=arguments.socket,
            framing=serving.FRAMINGS[arguments.framing],
            tcp=arguments.tcp,
            websocket=arguments.websocket,
            token_file=arguments.token_file,
            origins=tuple(arguments.allow_origin),
            discoverable=arguments.daemon,
            idle_exit_s=None if arguments.idle_exit is None else arguments.idle_exit * 60,
        )
        return serving.run(options)
    except TransportError as error:
        return _refused(error)
    except OSError as error:
        print(f"octavo serve: cannot open the log file: {error}", file=sys.stderr)
        return 2
    except BaseExceptionGroup as group:
        expected, rest = group.split(TransportError)
        if expected is None or rest is not None:
            raise
        return _refused(_first(expected))
    finally:
        logging.shutdown()


def _refused(error: BaseException) -> int:
    from octavo.server.transports import TakenError  # noqa: PLC0415 - see `run`
    from octavo.starting import TAKEN  # noqa: PLC0415 - needed in this case only

    print(f"octavo serve: {error}", file=sys.stderr)
    return TAKEN if isinstance(error, TakenError) else 2


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and (port := int(text)) < 65_536):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; give a number from 0 to 65535")
    return port


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
