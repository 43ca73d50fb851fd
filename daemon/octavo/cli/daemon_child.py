"""A daemon of our own for one command: a child process that speaks over stdio through the Python client.

Commands are clients like any other; what they print came over the wire. Failures leave as one sentence on stderr.
"""

import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import anyio
from pydantic import ValidationError

from octavo.cli.terminal import clean
from octavo_client import Client, DaemonGoneError, OctavoClientError, Options
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

SERVE = (sys.executable, "-P", "-m", "octavo", "serve", "--stdio", "--log-level", "warning")
"""`-P`: a folder named `octavo` in the working directory must not be taken for the package."""


class CommandError(Exception):
    """A failure the user can act on, as one sentence."""


_TOLD = (CommandError, OctavoClientError, OctavoError, OSError, ValidationError)
"""What a user can act on; anything else is a defect and keeps its traceback."""


@asynccontextmanager
async def daemon(settings: JsonObject | None = None, *, name: str) -> AsyncIterator[Client]:
    """Start a daemon and end it with the context; its log is kept only when it is needed.

    Raises:
        CommandError: the daemon has a defect or is gone; the sentence says where its log is.
    """
    with _Log() as log:
        try:
            options = Options(settings=settings, name=f"octavo {name}")
            async with Client.spawn(SERVE, options, stderr=log.stream) as client:
                client.on("session/notice", _say)
                yield client
        except DaemonGoneError as error:
            raise CommandError(f"The daemon ended unexpectedly; its log is {log.keep()}.") from error
        except OctavoClientError as error:
            if error.kind is ErrorKind.INTERNAL_ERROR:
                raise CommandError(f"{error.message.partition(';')[0]}; the daemon's log is {log.keep()}.") from error
            raise


class _Log:
    """A temporary file for the daemon's log, gone with the context unless it is kept."""

    def __enter__(self) -> Self:
        handle, name = tempfile.mkstemp(prefix="octavo-", suffix=".log")
        self.stream = os.fdopen(handle, "wb")
        self._path = Path(name)
        self._kept = False
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        if not self._kept:
            self._path.unlink(missing_ok=True)

    def keep(self) -> Path:
        """Leave the file where it is, and say where that is."""
        self._kept = True
        return self._path


def run(name: str, work: Callable[[], Awaitable[int]]) -> int:
    """Run a command to its exit code; 1 and one sentence on stderr when it fails, 130 when it is interrupted."""
    try:
        return anyio.run(work)
    except BaseExceptionGroup as group:
        error = _first(group)
    except _TOLD as caught:
        error = caught
    except KeyboardInterrupt:
        return 130
    if isinstance(error, BrokenPipeError):
        raise error
    if not isinstance(error, _TOLD):
        raise error
    print(f"octavo {name}: {sentence(error)}", file=sys.stderr)
    return 1


def sentence(error: Exception) -> str:
    """What went wrong, on one line."""
    if isinstance(error, OctavoClientError | OctavoError):
        return clean(error.message)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part).replace("_", "-") for part in first["loc"])
        return clean(f"{where}: {first['msg']}." if where else f"{first['msg']}.")
    if isinstance(error, OSError) and error.strerror:
        return clean(f"{error.filename}: {error.strerror}." if error.filename is not None else f"{error.strerror}.")
    return clean(str(error))


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _say(notice: Any) -> None:
    """Pass on what the daemon wants a user to see."""
    if notice.level != "info":
        print(f"{notice.level}: {clean(notice.message)}", file=sys.stderr)
