"""Compaction through a real daemon: real pipes and sockets, a real HTTP server that plays the model."""

import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from octavo_client import Client, OctavoClientError, Options
from octavo_protocol.methods.models import AgentAbortResult, LlmCompleteParams, LlmCompleteResult
from octavo_protocol.model_info import ModelInfo
from support.model_server import ModelServer, Reply, chat, error, model_server
from wire.support import dial, spawn, spawn_socket

EXAMPLE = Path(__file__).parents[1] / "data" / "tidewatch.jsonl"
COMMAND = [sys.executable, "-m", "octavo", "serve", "--stdio"]
SUMMARY = (
    "## Goal\nKobe's forecast is 0.25 m too high; Z0 of 0.930 or 0.680 is the open question.\n\n## Next Steps\n1. Wait."
)


def local(server: ModelServer) -> ModelInfo:
    return ModelInfo(
        provider="local", id="small", api="openai-completions", context_window=128_000, base_url=server.url + "/v1"
    )


class Events:
    """Every start and end a client hears, in order."""

    def __init__(self, client: Client) -> None:
        self.heard: list[tuple[str, Any]] = []
        for name in ("session/compactionStart", "session/compactionEnd", "session/didChange"):
            client.on(name, lambda payload, name=name: self.heard.append((name, payload)))

    def of(self, name: str) -> list[Any]:
        return [payload for heard, payload in self.heard if heard == name]

    def the_end(self) -> Any:
        starts, ends = self.of("session/compactionStart"), self.of("session/compactionEnd")
        assert [s.operation_id for s in starts] == [e.operation_id for e in ends]
        return ends[-1]


@asynccontextmanager
async def opened(tmp_path: Path, **options: Any) -> AsyncIterator[tuple[Client, str, Path, Events]]:
    path = tmp_path / "session.jsonl"
    shutil.copy(EXAMPLE, path)
    async with Client.spawn(COMMAND, Options(**options)) as client:
        events = Events(client)
        session = await client.session_open(path=str(path))
        yield client, session.session_id, path, events


async def test_an_openai_compatible_server_without_a_key_writes_the_summary(tmp_path: Path) -> None:
    async with model_server(chat(SUMMARY, usage={"prompt_tokens": 60_000, "completion_tokens": 40})) as server:
        async with opened(tmp_path, models=[local(server)]) as (client, session, path, events):
            phases: list[str | None] = []
            done = await client.session_compact(
                session_id=session, model="local/small", on_progress=lambda report: phases.append(report.phase)
            )
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            assert lines[-1]["type"] == "compaction"
            assert lines[-1]["id"] == done.entry_id
            assert done.model == "local/small"
            assert done.tokens_after < done.tokens_before / 3
            assert all(check.ok for check in done.checks)
            assert done.usage is not None
            assert done.usage.output > 0
            assert {"prepare", "summary"} <= set(phases)
            assert events.the_end().entry_id == done.entry_id
            built = await client.session_build_context(session_id=session)
            assert "0.930 or 0.680" in json.dumps(built.messages[0])
        assert all(headers.get("authorization") is None for headers in server.headers)


async def test_the_client_may_run_the_model_itself(tmp_path: Path) -> None:
    asked: list[LlmCompleteParams] = []

    async def complete(params: LlmCompleteParams) -> LlmCompleteResult:
        asked.append(params)
        return LlmCompleteResult(content=[{"type": "text", "text": SUMMARY}], stop_reason="stop")

    async with opened(tmp_path, handlers={"llm/complete": complete}) as (client, session, _, _):
        done = await client.session_compact(session_id=session)
        assert done.action == "context-full"
        assert done.summary.startswith("## Goal")
        assert {params.purpose for params in asked} >= {"summary", "shortSummary"}
        assert asked[0].session_id == session


@pytest.mark.parametrize("how", ["abort", "cancel"])
async def test_a_hanging_provider_is_left_at_once_and_the_file_is_as_it_was(tmp_path: Path, how: str) -> None:
    """BR-086, BR-094."""
    async with model_server(Reply(silent=True)) as server:
        async with opened(tmp_path, models=[local(server)]) as (client, session, path, events):
            before = path.read_bytes()
            with anyio.fail_after(20):
                async with anyio.create_task_group() as tasks:

                    async def compact() -> None:
                        with pytest.raises(OctavoClientError, match="cancelled"):
                            await client.session_compact(session_id=session, model="local/small")

                    tasks.start_soon(compact)
                    await server.wait_until(asked=1)
                    if how == "abort":
                        assert (await client.session_abort_compaction(session_id=session)).aborted
                    else:
                        tasks.cancel_scope.cancel()
            await server.wait_until(connected=0)
            assert not (await client.session_get_info(session_id=session)).compacting
            assert path.read_bytes() == before
            assert events.the_end().aborted


async def test_aborting_nothing_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as (client, session, _, _):
        assert not (await client.session_abort_compaction(session_id=session)).aborted


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (error(400, "no such model"), "provider-error"),
        (error(401, "who are you"), "no-model"),
        (Reply(200, b"<html>busy</html>", "text/html"), "provider-error"),
        (Reply(200, chat(SUMMARY).body[:200], cut=True), "provider-error"),
        (chat(""), "check-failed"),
        (chat("ok"), "check-failed"),
        (chat("<tool_call>{}</tool_call> and more words to fill the line"), "check-failed"),
    ],
)
async def test_whatever_the_provider_does_wrong_the_session_stays_as_it_was(
    tmp_path: Path, reply: Reply, kind: str
) -> None:
    settings = {"retry.maxRetries": 0}
    async with model_server(reply) as server:
        async with opened(tmp_path, models=[local(server)], settings=settings) as (client, session, path, events):
            before = path.read_bytes()
            with pytest.raises(OctavoClientError) as caught:
                await client.session_compact(session_id=session, model="local/small")
            assert caught.value.kind == kind
            assert path.read_bytes() == before
            assert events.the_end().error_message == caught.value.message


async def test_a_throttled_provider_is_asked_again_after_its_own_delay(tmp_path: Path) -> None:
    settings = {"retry.baseDelayMs": 1}
    async with model_server(error(429, "slow down", retry_after_ms="5"), chat(SUMMARY)) as server:
        async with opened(tmp_path, models=[local(server)], settings=settings) as (client, session, _, _):
            done = await client.session_compact(session_id=session, model="local/small")
            assert any("is tried again" in notice.message for notice in done.notices)


async def test_a_held_result_is_previewed_edited_applied_and_undone(tmp_path: Path) -> None:
    async with opened(tmp_path) as (client, session, path, _):
        before = path.read_bytes()
        original = await client.session_build_context(session_id=session)
        held = await client.session_compact(session_id=session, strategy="extractive", hold=True)
        assert path.read_bytes() == before
        assert (await client.session_get_info(session_id=session)).held_operations == [held.operation_id]
        assert await client.session_get_held_compaction(session_id=session, operation_id=held.operation_id) == held
        done = await client.session_apply_compaction(
            session_id=session, operation_id=held.operation_id, summary="## Goal\nOnly Kobe is left."
        )
        assert done.summary.startswith("## Goal\nOnly Kobe is left.")
        with pytest.raises(OctavoClientError, match="No compaction is held"):
            await client.session_get_held_compaction(session_id=session, operation_id=held.operation_id)
        undone = await client.session_undo_compaction(session_id=session)
        assert undone.compaction_entry_id == done.entry_id
        again = await client.session_build_context(session_id=session)
        assert again.messages == original.messages


async def test_undoing_survives_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path) as (client, session, path, _):
        await client.session_compact(session_id=session, strategy="extractive")
        leaf = (await client.session_undo_compaction(session_id=session)).leaf_id
    async with Client.spawn(COMMAND) as client:
        assert (await client.session_open(path=str(path))).leaf_id == leaf


async def test_a_compaction_outlives_the_client_that_asked_for_it(tmp_path: Path) -> None:
    socket, path = tmp_path / "octavo.sock", tmp_path / "session.jsonl"
    shutil.copy(EXAMPLE, path)
    async with model_server(chat(SUMMARY)) as server, spawn_socket(socket), Client.connect_unix(socket) as watcher:
        events, ended = Events(watcher), anyio.Event()
        watcher.on("session/compactionEnd", lambda _: ended.set())
        session = (await watcher.session_open(path=str(path))).session_id
        async with dial(socket) as asker:
            await asker.initialize(models=[local(server).to_wire()])
            await asker.request("session/open", {"path": str(path)})
            await asker.start("session/compact", {"sessionId": session, "model": "local/small"})
            await server.wait_until(asked=1)
        with anyio.fail_after(20):
            await ended.wait()
        assert events.the_end().entry_id
        assert [change.kind for change in events.of("session/didChange")] == ["appended"]


async def test_a_busy_agent_is_stopped_first(tmp_path: Path) -> None:
    stopped: list[str] = []

    async def stop(params: Any) -> AgentAbortResult:
        stopped.append(params.session_id)
        return AgentAbortResult(stopped=True)

    async with opened(tmp_path, handlers={"agent/abort": stop}) as (client, session, _, _):
        await client.session_set_busy(session_id=session, busy=True)
        await client.session_compact(session_id=session, strategy="extractive")
        assert stopped == [session]


async def test_a_daemon_killed_while_it_compacts_leaves_a_whole_session(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    shutil.copy(EXAMPLE, path)
    before = path.read_bytes()
    async with model_server(Reply(silent=True)) as server, spawn() as daemon:
        await daemon.initialize(models=[local(server).to_wire()])
        session = (await daemon.request("session/open", {"path": str(path)}))["result"]["sessionId"]
        await daemon.start("session/compact", {"sessionId": session, "model": "local/small"})
        await server.wait_until(asked=1)
        os.kill(daemon.pid, signal.SIGKILL)
        await daemon.exit_code()
    assert path.read_bytes() == before
    async with Client.spawn(COMMAND) as client:
        again = await client.session_open(path=str(path))
        assert (await client.session_compact(session_id=again.session_id, strategy="extractive")).entry_id


async def test_the_dry_run_shows_every_strategy_and_writes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as (client, session, path, events):
        before = path.read_bytes()
        plan = await client.session_prepare_compaction(session_id=session)
        assert path.read_bytes() == before
        assert events.heard == []
        assert plan.possible
        figures = {s.strategy: s for s in plan.strategies}
        assert not figures["context-full"].available
        assert figures["snapcompact"].available
        assert figures["snapcompact"].frames > 0
        assert figures["extractive"].tokens_after < plan.tokens_before
        [chosen] = [s.strategy for s in plan.strategies if s.chosen]
        done = await client.session_compact(session_id=session)
        assert done.action == chosen == "snapcompact"
        assert done.frames == figures["snapcompact"].frames


async def test_events_carry_ids_and_counts_and_never_the_history(tmp_path: Path) -> None:
    """BR-107."""
    async with opened(tmp_path) as (client, session, _, events):
        await client.session_compact(session_id=session, strategy="snapcompact")
        largest = max(len(json.dumps(payload.to_wire())) for _, payload in events.heard)
        assert largest < 64 * 1024


async def test_going_back_with_a_summary_and_pruning_work_over_the_wire(tmp_path: Path) -> None:
    async def complete(_params: LlmCompleteParams) -> LlmCompleteResult:
        return LlmCompleteResult(content=[{"type": "text", "text": SUMMARY}], stop_reason="stop")

    async with opened(tmp_path, handlers={"llm/complete": complete}) as (client, session, _, _):
        pruned = await client.session_prune(session_id=session, dry_run=True)
        assert pruned.dry_run
        shaken = await client.session_shake(session_id=session)
        assert shaken.artifact_id is not None
        text = (await client.session_read_artifact(session_id=session, artifact_id=shaken.artifact_id)).content
        assert "### region 1" in text
        branch = await client.session_get_branch(session_id=session, limit=5)
        gone = await client.session_navigate_tree(
            session_id=session, target_id=branch.entries[-1]["id"], summarize=True, include_context=True
        )
        assert gone.summary_entry is not None
        assert gone.context is not None
        assert "Kobe" in json.dumps(gone.context.messages)


async def test_after_a_change_of_model_the_old_frames_are_drawn_for_the_new_one(tmp_path: Path) -> None:
    async with opened(tmp_path) as (client, session, path, _):
        await client.session_compact(session_id=session, strategy="snapcompact")
        await client.session_set_model(session_id=session, model="google/gemini-2.5-pro")
        news = [
            {"role": "user", "content": f"Station {number} reports. " + "Level is fine. " * 400} for number in range(30)
        ]
        await client.session_append(session_id=session, messages=news)
        await client.session_compact(session_id=session, strategy="snapcompact")
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    old, new = (entry["preserveData"]["snapcompact"] for entry in entries if entry["type"] == "compaction")
    first, second = ({(frame["font"], frame["cols"]) for frame in archive["frames"]} for archive in (old, new))
    assert len(first) == len(second) == 1
    assert first != second
    assert new["text"].startswith(old["text"][:1000])
