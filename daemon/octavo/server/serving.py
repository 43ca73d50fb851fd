"""Runs a daemon: which transports, until when, and with which exit code."""

import logging
from dataclasses import dataclass
from pathlib import Path

import anyio

from octavo.server import lifecycle, transports
from octavo.server.daemon import Daemon
from octavo.server.framing import HEADERS, NDJSON, Framing
from octavo.server.registry import table

_log = logging.getLogger(__name__)

FRAMINGS = {framing.name: framing for framing in (HEADERS, NDJSON)}


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What `octavo serve` was asked for; at least one of `stdio` and `socket`."""

    stdio: bool = False
    socket: Path | None = None
    framing: Framing = HEADERS


def run(options: ServeOptions) -> int:
    """Serve until the end and return the process's exit code: see `serve`."""
    return anyio.run(serve, options)


async def serve(options: ServeOptions) -> int:
    """Serve until stdio ends, a signal arrives, or every transport is gone.

    Returns:
        0 after `shutdown` and `exit`, the end of input or a signal; 1 after `exit` alone.

    Raises:
        TransportError: A transport cannot be opened.
    """
    code = 0
    async with Daemon(table()) as daemon, anyio.create_task_group() as group:
        group.start_soon(lifecycle.watch_signals, daemon, group.cancel_scope.cancel)
        async with anyio.create_task_group() as serving:
            if options.socket is not None:
                await serving.start(_serve_socket, daemon, options.socket, options.framing)
                daemon.start(lifecycle.load_engine)
            if options.stdio:
                code = await transports.serve_stdio(daemon, options.framing)
                daemon.stop()
        group.cancel_scope.cancel()
    return code


async def _serve_socket(
    daemon: Daemon, path: Path, framing: Framing, *, task_status: anyio.abc.TaskStatus[None]
) -> None:
    async with transports.unix_listener(path) as listener:
        _log.info("listening on %s", path)
        task_status.started()
        await transports.serve_listener(daemon, listener, framing, "unix")
