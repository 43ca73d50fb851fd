"""Small things the tests of the store share: a library in a temporary folder, messages, and reading a file back."""

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from octavo.sessions.library import Library
from octavo.sessions.live import LiveSession

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
    return Library(folder / "sessions", home=folder / "home", temp=folder / "temp", **options)


@contextlib.asynccontextmanager
async def opened(folder: Path, path: Path, **options: Any) -> AsyncIterator[LiveSession]:
    session = await library(folder).open_path(path, **options)
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
