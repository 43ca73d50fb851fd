"""The daemon that runs already, as commands speak to it; they never start one."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from octavo import discovery
from octavo.cli.daemon_child import CommandError
from octavo_client import Client, Options


@asynccontextmanager
async def client(name: str) -> AsyncIterator[Client]:
    """Connect to the user's daemon.

    Raises:
        CommandError: None runs, or it may not be connected to.
    """
    socket = discovery.places(os.environ).socket
    try:
        link = discovery.dial(socket)
    except OSError as error:
        raise CommandError(f"Cannot connect to {socket}: {error.strerror}.") from error
    if link is None:
        raise CommandError(f"No daemon listens on {socket}; octavo attach or octavo serve --daemon starts one.")
    link.close()
    async with Client.connect_unix(socket, Options(name=f"octavo {name}")) as connected:
        yield connected


def listens() -> bool:
    """Whether a daemon can be connected to."""
    try:
        link = discovery.dial(discovery.places(os.environ).socket)
    except OSError:
        return False
    if link is None:
        return False
    link.close()
    return True
