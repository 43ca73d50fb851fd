"""Work that belongs to a session rather than to the client that asked for it.

The client's request waits for it. When the client cancels, the work is aborted; when the client just goes away, it goes
on and its end is told to whoever is left.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from octavo.server.connection import Connection

R = TypeVar("R")


async def run_detached(connection: Connection, work: Callable[[], Awaitable[R]], abort: Callable[[], object]) -> R:
    """Run `work()` in the daemon's background and return its result.

    Args:
        connection: Who waits.
        work: What to run.
        abort: Stops the work when the request is cancelled; the answer then is whatever the work ends with.
    """
    outcome: list[R] = []
    failure: list[BaseException] = []
    ended = anyio.Event()

    async def run() -> None:
        try:
            outcome.append(await work())
        except Exception as error:  # noqa: BLE001 - handed to whoever waits
            failure.append(error)
        except BaseException as error:
            failure.append(error)
            raise
        finally:
            ended.set()

    connection.daemon.start(run)
    try:
        await ended.wait()
    except anyio.get_cancelled_exc_class():
        if connection.tasks.cancel_scope.cancel_called:
            raise  # the client is gone: the work goes on without it
        abort()
        with anyio.CancelScope(shield=True):
            await ended.wait()
        if not outcome:
            raise
    if failure:
        raise failure[0]
    return outcome[0]
