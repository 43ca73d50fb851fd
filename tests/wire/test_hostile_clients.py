"""Clients that answer the daemon's requests badly: the session stays as it was, and nobody's data is repeated."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from octavo_client import Options
from octavo_protocol.errors import ErrorKind
from wire.sessions import daemon, refused
from wire.support import DaemonProcess, frame, spawn

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


async def asked(daemon: DaemonProcess, method: str) -> Any:
    """The daemon's next request of this name."""
    while (message := await daemon.receive()).get("method") != method:
        pass
    return message


async def test_usage_that_is_not_a_number_ends_the_call_at_once_and_is_answered_to_whoever_sent_it(
    tmp_path: Path,
) -> None:
    """NaN is no JSON, but what programs write; nobody may wait ten minutes for a message that has come."""
    path = tmp_path / "session.jsonl"
    shutil.copy(EXAMPLE, path)
    before = path.read_bytes()
    async with spawn(OCTAVO_CONFIG="", OCTAVO_SESSIONS_ROOT=str(tmp_path / "sessions")) as daemon:
        await daemon.initialize(client={"complete": True}, settings={"retry.maxRetries": 0})
        session = (await daemon.request("session/open", {"path": str(path)}))["result"]["sessionId"]
        compaction = await daemon.start("session/compact", {"sessionId": session, "strategy": "context-full"})
        request = await asked(daemon, "llm/complete")
        answer = {"content": [], "stopReason": "stop", "usage": {"input": float("nan")}}
        await daemon.send_bytes(frame({"jsonrpc": "2.0", "id": request["id"], "result": answer}))
        refusal = await daemon.answer_to(compaction)
        assert refusal["error"]["data"]["kind"] == "provider-error"
        assert "not JSON" in refusal["error"]["message"]
        assert path.read_bytes() == before

        message = {"role": "assistant", "content": [], "usage": {"input": float("inf")}}
        appended = await daemon.request("session/append", {"sessionId": session, "messages": [message]})
        assert appended["error"]["data"]["kind"] == "parse-error"


@pytest.mark.parametrize("usage", [{"input": 10**12, "output": -7}, {"input": 10**30}, {"cost": {"total": "x"}}])
async def test_usage_that_cannot_be_true_is_believed_by_nobody(tmp_path: Path, usage: Any) -> None:
    path = tmp_path / "session.jsonl"
    shutil.copy(EXAMPLE, path)
    async with daemon(tmp_path) as client:
        session = (await client.session_open(path=str(path))).session_id
        gauge = await client.session_context_usage(session_id=session)
        message = {"role": "assistant", "content": [{"type": "text", "text": "done"}], "usage": usage}
        await client.session_append(session_id=session, messages=[message])
        after = await client.session_context_usage(session_id=session)
        assert gauge.tokens - 20_000 < after.tokens < gauge.tokens + 20_000
        directive = await client.session_check_maintenance(session_id=session, at="turnEnd")
        assert directive.action in {"none", "pruned"}
        assert directive.next == "proceed"
