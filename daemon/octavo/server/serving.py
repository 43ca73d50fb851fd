"""Runs a daemon: which transports, until when, and with which exit code."""

import anyio

from octavo.server import idle_exit, lifecycle, registry, transports
from octavo.server.daemon import Daemon
from octavo.server.framing import HEADERS, NDJSON, Framing
from octavo.server.listening import ServeOptions, opened

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
    async with new_daemon() as daemon, anyio.create_task_group() as group:
        group.start_soon(lifecycle.watch_signals, daemon, group.cancel_scope.cancel)
        if options.websocket is not None:
            # Its limits are the library's, which is told them when a client is welcomed.
            await lifecycle.load_engine(daemon)
        async with opened(options, daemon) as doors, anyio.create_task_group() as serving:
            for door in doors:
                serving.start_soon(
                    transports.serve_listener, daemon, door.listener, options.framing, door.name, door.token
                )
            if options.stdio:
                code = await transports.serve_stdio(daemon, options.framing or HEADERS)
                daemon.stop()
            else:
                await lifecycle.load_engine(daemon)
                group.start_soon(idle_exit.stop_when_idle, daemon, _idle_limit_s(options, daemon))
                await daemon.stopped()
        group.cancel_scope.cancel()
    return code


def new_daemon() -> Daemon:
    """Make the daemon of the protocol's own methods; they are loaded while the first client reads the answer."""
    return Daemon(registry.table, registry.advertised())


def _idle_limit_s(options: ServeOptions, daemon: Daemon) -> float:
    if options.idle_exit_s is not None:
        return options.idle_exit_s
    return lifecycle.follow_settings(daemon).server.idle_exit_seconds if options.discoverable else 0
