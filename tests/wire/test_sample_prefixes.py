"""Real transcripts cut after any line: they open, compact with and without frames, and give a context that holds."""

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import anyio
import pytest

from octavo_client import Client, OctavoClientError, Options
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind

SAMPLES = ("before-compaction", "large-session")
ENDS = 14
"""Cuts of each sample, spread over the file; the unit tests make every cut in process."""

NOTHING_TO_DO = {ErrorKind.NOTHING_TO_COMPACT, ErrorKind.ALREADY_COMPACTED}
NOT_BY_FRAMES = {ErrorKind.STRATEGY_UNAVAILABLE, ErrorKind.CHECK_FAILED}


@asynccontextmanager
async def daemon(root: Path) -> AsyncIterator[Client]:
    command = [sys.executable, "-m", "octavo", "serve", "--stdio"]
    options = Options(settings={"sessions.root": str(root), "sessions.durability": "os"})
    with anyio.fail_after(110):
        async with Client.spawn(command, options, stderr=DEVNULL) as client:
            yield client


def cuts(path: Path) -> Iterator[tuple[int, bytes]]:
    """Prefixes of the file: right after the header, after uneven steps, and the whole."""
    lines = path.read_bytes().splitlines(keepends=True)
    ends = {1, 2, 3, len(lines)} | {1 + (len(lines) - 1) * step**2 // ENDS**2 for step in range(2, ENDS)}
    for end in sorted(ends):
        yield end, b"".join(lines[:end])


def unanswered(messages: list[JsonObject]) -> list[Any]:
    """Calls without exactly one result before the next turn, and results without a call."""
    wrong: list[Any] = []
    calls: list[Any] = []
    for message in messages:
        if message["role"] == "toolResult":
            if message["toolCallId"] in calls:
                calls.remove(message["toolCallId"])
            else:
                wrong.append(message["toolCallId"])
            continue
        wrong += calls
        content = message["content"] if message["role"] == "assistant" else ()
        calls = [block["id"] for block in content if block.get("type") == "toolCall"]
    return wrong + calls


@pytest.mark.samples
@pytest.mark.parametrize("strategy", ["extractive", "snapcompact"])
@pytest.mark.parametrize("name", SAMPLES)
async def test_a_session_cut_anywhere_opens_compacts_and_keeps_every_call_with_its_result(
    name: str, strategy: str, samples: Path, tmp_path: Path
) -> None:
    compacted, refusals = 0, []
    allowed = NOTHING_TO_DO | (NOT_BY_FRAMES if strategy == "snapcompact" else set())
    prefixes = dict(cuts(samples / "pi" / f"{name}.jsonl"))
    async with daemon(tmp_path / "sessions") as client:
        for end, data in prefixes.items():
            path = tmp_path / f"{end}.jsonl"
            path.write_bytes(data)
            session = await client.session_open(path=str(path))
            assert session.entry_count <= end
            try:
                result = await client.session_compact(session_id=session.session_id, strategy=strategy)
            except OctavoClientError as error:
                refusals.append((end, error.kind))
            else:
                compacted += 1
                assert result.tokens_after < result.tokens_before
                assert [check.name for check in result.checks if not check.ok] == []
            context = await client.session_build_context(session_id=session.session_id, include_images=False)
            assert unanswered(context.messages) == [], f"{end} lines"
            assert (await client.session_close(session_id=session.session_id)).closed
    assert [refusal for refusal in refusals if refusal[1] not in allowed] == []
    assert compacted >= 5
    assert all((tmp_path / f"{end}.jsonl").read_bytes() == prefixes[end] for end, _ in refusals)
