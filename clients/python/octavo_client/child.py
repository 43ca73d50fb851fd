"""A daemon, or a bridge to one, as a child process whose stdin and stdout are the connection."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import IO, Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from octavo_client.errors import DaemonGoneError

GRACE_S = 5.0
"""Seconds a process gets to end before the next, more forceful way."""
_MAX_COMPLAINT = 4096


@dataclass(frozen=True, slots=True)
class Child:
    """A running process: its stdout, its stdin, and its stderr if that was piped."""

    receive: ByteReceiveStream
    send: ByteSendStream
    stderr: ByteReceiveStream | None

    async def complaint(self) -> str:
        """Return the end of what it said on a piped stderr, until it closes that or `GRACE_S` are over."""
        said = b""
        if self.stderr is not None:
            with anyio.move_on_after(GRACE_S), suppress(anyio.EndOfStream):
                while True:
                    said = (said + await self.stderr.receive())[-_MAX_COMPLAINT:]
        return said.decode(errors="replace").strip()


@asynccontextmanager
async def child(
    command: Sequence[str],
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    stderr: int | IO[Any] | None = None,
) -> AsyncIterator[Child]:
    """Start a process and end it with the context.

    Raises:
        OSError: it cannot be started.
    """
    process = await anyio.open_process(command, stdin=PIPE, stdout=PIPE, stderr=stderr, cwd=cwd, env=env)
    try:
        receive, send = process.stdout, process.stdin
        if receive is None or send is None:
            raise DaemonGoneError("The daemon has no stdin or stdout.")
        yield Child(receive, send, process.stderr)
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)


async def _end(process: Process) -> None:
    """Close the process's stdin and wait for its end, with more and more force."""
    if process.stdin is not None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    for force in (None, process.terminate, process.kill):
        with suppress(ProcessLookupError):
            if force is not None:
                force()
        with anyio.move_on_after(GRACE_S):
            await process.wait()
            break
    await process.aclose()
