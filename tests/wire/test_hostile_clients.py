"""Clients that answer the daemon's requests badly: the session stays as it was, and nobody's data is repeated."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from octavo_client import Options
from octavo_protocol.errors import ErrorKind
from wire.sessions import daemon, refused

EXAMPLE = Path(__file__).parents[1] / "data" / "tidewatch.jsonl"
SECRET = "swordfish-4711"


@pytest.mark.parametrize(
    "answer", [None, [SECRET], 5, SECRET, {"content": SECRET}, {"stopReason": SECRET, "content": []}, {SECRET: SECRET}]
)
async def test_a_model_answer_of_a_wrong_shape_is_named_in_a_sentence_without_its_content(
    tmp_path: Path, answer: Any
) -> None:
    async def complete(_: Any) -> Any:
        return answer

    path = tmp_path / "session.jsonl"
    shutil.copy(EXAMPLE, path)
    before = path.read_bytes()
    async with daemon(tmp_path, Options(handlers={"llm/complete": complete})) as client:
        session = await client.session_open(path=str(path))
        async with refused(ErrorKind.PROVIDER_ERROR) as caught:
            await client.session_compact(session_id=session.session_id, strategy="context-full")
    message = caught[0].message
    assert "the client's answer to llm/complete has a wrong shape (" in message
    assert "\n" not in message
    assert "pydantic" not in message
    # A name that nobody knows is told; what stands under it is not.
    assert SECRET not in message.replace(f"({SECRET}: ", "")
    assert path.read_bytes() == before


@pytest.mark.parametrize("hook", ["hook/sessionBeforeCompact", "hook/sessionCompacting"])
async def test_a_hook_answer_of_a_wrong_shape_stops_the_compaction_that_was_asked_for(
    tmp_path: Path, hook: str
) -> None:
    async def answered(_: Any) -> Any:
        return {"compaction": {"summary": [SECRET]}, "context": SECRET}

    path = tmp_path / "session.jsonl"
    shutil.copy(EXAMPLE, path)
    before = path.read_bytes()
    async with daemon(tmp_path, Options(handlers={hook: answered})) as client:
        session = await client.session_open(path=str(path))
        async with refused(ErrorKind.HOOK_FAILED) as caught:
            await client.session_compact(session_id=session.session_id, strategy="extractive")
    assert "has a wrong shape" in caught[0].message
    assert "\n" not in caught[0].message
    assert SECRET not in caught[0].message
    assert path.read_bytes() == before


@pytest.mark.parametrize("strategy", ["snapcompact", "extractive"])
async def test_instructions_for_a_strategy_that_follows_none_are_refused_and_not_ignored(
    tmp_path: Path, strategy: str
) -> None:
    path = tmp_path / "session.jsonl"
    shutil.copy(EXAMPLE, path)
    async with daemon(tmp_path) as client:
        session = await client.session_open(path=str(path))
        asked = {"sessionId": session.session_id, "strategy": strategy, "customInstructions": "the constants of Osaka"}
        for method in ("session/compact", "session/prepareCompaction"):
            async with refused(ErrorKind.INVALID_PARAMS) as caught:
                await client.request(method, asked)
            assert f"{strategy} follows no instructions" in caught[0].message
