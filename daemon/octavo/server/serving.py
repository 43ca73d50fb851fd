"""Runs a daemon: which transports, until when, and with which exit code."""

import anyio

from octavo.server import idle_exit, lifecycle, transports
from octavo.server.daemon import Daemon
from octavo.server.framing import HEADERS, NDJSON, Framing
from octavo.server.listening import ServeOptions, opened
from octavo.server.registry import table
from octavo.server.settings_book import SettingsBook

FRAMINGS: dict[str, Framing | None] = {HEADERS.name: HEADERS, NDJSON.name: NDJSON, "auto": None}
"""By the name on the command line; None takes every socket client at its first byte."""


def run(options: ServeOptions) -> int:
    """Serve until the end and return the process's exit code: see `serve`."""
    return anyio.run(serve, options)


async def serve(options: ServeOptions) -> int:
    """Serve until stdio ends, a signal arrives, nobody needs the daemon, or every transport is gone.

    Returns:
        0 after `shutdown` and `exit`, the end of input or a signal; 1 after `exit` alone.

    Raises:
        TransportError: A transport cannot be opened.
    """
    code = 0
    async with Daemon(table()) as daemon, anyio.create_task_group() as group:
        settings = daemon.service(SettingsBook).view().settings.server
        group.start_soon(lifecycle.watch_signals, daemon, group.cancel_scope.cancel)
        async with opened(options, daemon) as doors, anyio.create_task_group() as serving:
            for door in doors:
                serving.start_soon(
                    transports.serve_listener, daemon, door.listener, options.framing, door.name, door.token
                )
            if options.stdio:
                code = await transports.serve_stdio(daemon, options.framing or HEADERS)
                daemon.stop()
            else:
                daemon.start(lifecycle.load_engine)
                limit = options.idle_exit_s
                if limit is None:
                    limit = settings.idle_exit_seconds if options.discoverable else 0
                group.start_soon(idle_exit.stop_when_idle, daemon, limit)
                await daemon.stopped()
        group.cancel_scope.cancel()
    return code
