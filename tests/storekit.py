"""Small things the tests of the store share: a library in a temporary folder, messages, and reading a file back."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from octavo.sessions.library import Library
from octavo.sessions.live import LiveSession
from octavo.sessions.store.writer import WriterThreads

WRITERS = WriterThreads()
"""Shared, so that a test with a thousand libraries does not start thousands of threads."""
HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/p"}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": 1}


def assistant(*calls: str, text: str = "ok") -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
    blocks += [{"type": "toolCall", "id": call, "name": "bash", "arguments": {}} for call in calls]
    return {"role": "assistant", "content": blocks, "timestamp": 2}


def result(call: str, text: str = "out") -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call, "toolName": "bash", "content": content, "timestamp": 3}


def entry(entry_id: str, parent: str | None, text: str = "x", **more: Any) -> dict[str, Any]:
    head = {"type": "message", "id": entry_id, "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z"}
    return {**head, "message": user(text), **more}


def compaction(entry_id: str, parent: str | None, kept: str, summary: str) -> dict[str, Any]:
    head = {"type": "compaction", "id": entry_id, "parentId": parent, "timestamp": "2026-01-01T00:00:02.000Z"}
    return {**head, "summary": summary, "firstKeptEntryId": kept, "tokensBefore": 1}


def write(path: Path, *objects: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value, separators=(",", ":")) + "\n" for value in objects))
    return path


def chain(length: int, text: str = "x") -> list[dict[str, Any]]:
    return [entry(f"e{n}", f"e{n - 1}" if n else None, f"{text}{n}") for n in range(length)]


def read(path: Path | None) -> list[dict[str, Any]]:
    """Every line as strict JSON: fails when a line is anything else."""
    assert path is not None
    return [json.loads(line) for line in path.read_text().splitlines()]


def library(folder: Path, **options: Any) -> Library:
    places = {"home": folder / "home", "temp": folder / "temp", "writers": WRITERS}
    return Library(folder / "sessions", **{**places, **options})


@contextlib.asynccontextmanager
async def opened(folder: Path, path: Path, durability: str = "fsync", **options: Any) -> AsyncIterator[LiveSession]:
    session = await library(folder, durability=durability).open_path(path, **options)
    try:
        yield session
    finally:
        await session.close()


@contextlib.asynccontextmanager
async def created(folder: Path, **options: Any) -> AsyncIterator[LiveSession]:
    session = await library(folder).create("/p", **options)
    try:
        yield session
    finally:
        await session.close()


def files(folder: Path) -> list[str]:
    """Every file and folder below, as sorted relative paths."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def python(script: str, *arguments: object) -> "subprocess.Popen[str]":
    """Run a script that may import what tests import; its stdin and stdout are pipes of text lines."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(script: str, *arguments: object, patience: float = 100) -> str:
    """What the script prints; fails with what it said on stderr when it fails."""
    with python(script, *arguments) as process:
        out, error = process.communicate(timeout=patience)
    assert process.returncode == 0, error[-4000:]
    return out


def grow(mounted: Path, size: str) -> None:
    """Give a tmpfs another size."""
    subprocess.run(["mount", "-o", f"remount,size={size}", str(mounted)], check=True)
