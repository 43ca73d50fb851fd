"""When the process is ready and when it ends: engine loading, garbage collection, signals, vanished clients."""

import gc
import logging
import os
import signal
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from octavo.server.daemon import Daemon

_log = logging.getLogger(__name__)

_POLL_S = 1.0


async def load_engine(daemon: "Daemon") -> Any:
    """Return the module `octavo.server.rpc` when it, the method table and the settings are there.

    They are imported in a thread, so that other clients are served meanwhile; the first caller waits for all of it.
    """
    async with daemon.loading:
        module = await anyio.to_thread.run_sync(_load, daemon)
        tune_gc()
        follow_settings(daemon)
    return module


def follow_settings(daemon: "Daemon") -> Any:
    """Let the daemon's limits follow the settings, and return those of the process."""
    from octavo.server.settings_book import SettingsBook  # noqa: PLC0415 - heavy, and not needed to greet a client

    return daemon.service(SettingsBook).view().settings


def _load(daemon: "Daemon") -> Any:
    module = import_module("octavo.server.rpc")
    import_module("octavo.server.settings_book")
    _ = daemon.table
    return module


def tune_gc() -> None:
    """Set the collector up for a process that decodes large messages; it was off while modules were imported.

    What is alive now stays for ever and need not be looked at again; the young generation is large because a message of
    50 MB makes a million objects of which none is garbage.
    """
    if gc.isenabled():
        return
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)
    gc.enable()


async def process_gone(pid: int) -> None:
    """Return when the process `pid` does not exist any more (at once, if it never did)."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except (AttributeError, OSError, OverflowError):
        await _poll(pid)
        return
    try:
        await anyio.wait_readable(handle)
    finally:
        os.close(handle)


async def watch_signals(daemon: "Daemon", abort: Callable[[], None]) -> None:
    """On the first SIGTERM or SIGINT let the daemon finish what it is doing; on the second call `abort`."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
        async for number in received:
            _log.info("%s received", signal.Signals(number).name)
            if daemon.stopping:
                abort()
                return
            daemon.stop()


async def _poll(pid: int) -> None:
    while True:
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError, ValueError):
            return
        except PermissionError:
            pass
        await anyio.sleep(_POLL_S)
