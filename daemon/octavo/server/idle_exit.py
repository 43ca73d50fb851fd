"""Ends a daemon that nobody uses: no client and no running work for a while."""

import logging

import anyio

from octavo.server.daemon import Daemon

_log = logging.getLogger(__name__)

_LOOKS = 20
"""How often the daemon is looked at while the time runs."""


async def stop_when_idle(daemon: Daemon, limit_s: float) -> None:
    """Stop the daemon once nobody was connected and nothing ran for `limit_s` seconds; 0 means never."""
    if limit_s <= 0:
        return
    step = min(limit_s / _LOOKS, 30.0)
    idle, served = 0.0, daemon.served
    while True:
        await anyio.sleep(step)
        if daemon.connections or daemon.working or daemon.served != served:
            idle, served = 0.0, daemon.served
            continue
        idle += step
        if idle >= limit_s:
            _log.info("nobody needed this daemon for %.0f s; it ends", limit_s)
            daemon.stop()
            return
