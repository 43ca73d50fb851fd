"""Real daemons and typed clients for tests about sessions: on stdio, shared by several clients, and one to kill."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio
import pytest
from anyio.abc import Process

from octavo_client import Client, OctavoClientError, Options
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind

LIMIT_S = 60.0
SERVE = (sys.executable, "-m", "octavo", "serve")


def environment(folder: Path, **more: str) -> dict[str, str]:
    """An environment in which the daemon keeps to `folder` and knows no settings of the machine."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("OCTAVO_")}
    return {**ours, "OCTAVO_CONFIG": "", "OCTAVO_SESSIONS_ROOT": str(folder / "root" / "sessions"), **more}


@asynccontextmanager
async def daemon(folder: Path, options: Options | None = None, **more: str) -> AsyncIterator[Client]:
    """A daemon of one client over stdio."""
    with anyio.fail_after(LIMIT_S):
        command = [*SERVE, "--stdio"]
        async with Client.spawn(command, options, stderr=DEVNULL, env=environment(folder, **more)) as client:
            yield client


@asynccontextmanager
async def killable(folder: Path) -> AsyncIterator[tuple[Client, Process]]:
    """A daemon over stdio that the test may kill; the client learns of it only by the broken pipe."""
    with anyio.fail_after(LIMIT_S):
        process = await anyio.open_process(
            [*SERVE, "--stdio"], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment(folder)
        )
        try:
            assert process.stdout is not None
            assert process.stdin is not None
            async with Client.over(process.stdout, process.stdin) as client:
                yield client, process
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.aclose()


@asynccontextmanager
async def shared(folder: Path) -> AsyncIterator[Path]:
    """A daemon on a unix socket; yields the socket."""
    path = folder / "octavo.sock"
    with anyio.fail_after(LIMIT_S):
        process = await anyio.open_process(
            [*SERVE, "--socket", str(path)], stdin=DEVNULL, stderr=DEVNULL, env=environment(folder)
        )
        try:
            while True:
                try:
                    await (await anyio.connect_unix(path)).aclose()
                    break
                except OSError:
                    assert process.returncode is None
                    await anyio.lowlevel.checkpoint()
            yield path
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.aclose()


@asynccontextmanager
async def refused(kind: ErrorKind) -> AsyncIterator[list[OctavoClientError]]:
    """The block must be refused with this kind; the error is in the list afterwards."""
    caught: list[OctavoClientError] = []
    with pytest.raises(OctavoClientError) as info:
        yield caught
    caught.append(info.value)
    assert info.value.kind is kind, info.value.message
    assert info.value.message


def changes(client: Client) -> list[Any]:
    """A list that every `session/didChange` of this client is added to."""
    heard: list[Any] = []
    client.on("session/didChange", heard.append)
    return heard


def said(messages: list[JsonObject]) -> list[str]:
    """The text of every message."""
    return [text_of(message) for message in messages]


def text_of(message: JsonObject) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content or ())


def exists(path: str | Path | None) -> bool:
    return path is not None and Path(path).exists()


def names(folder: Path) -> list[str]:
    """What lies directly in a folder."""
    return sorted(path.name for path in folder.iterdir())


def put(folder: str | None, name: str, text: str) -> None:
    """Write a file into a folder that may not exist yet."""
    assert folder is not None
    Path(folder).mkdir(parents=True, exist_ok=True)
    (Path(folder) / name).write_text(text)


def content(path: str | Path | None) -> str:
    assert path is not None
    return Path(path).read_text()
