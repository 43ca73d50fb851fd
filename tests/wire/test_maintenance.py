"""Maintenance through a real daemon: a host asks, a model at the client answers, directives and events come back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from octavo_client import Client, OctavoClientError, Options
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind
from octavo_protocol.methods.models import LlmCompleteParams, LlmCompleteResult
from octavo_protocol.model_info import ModelInfo
from support.scripted import SUMMARY, assistant, text, user
from wire.sessions import daemon, refused

SMALL = ModelInfo(provider="anthropic", id="claude-sonnet-4-5", api="anthropic-messages", context_window=20_000)
LARGE = ModelInfo(provider="anthropic", id="claude-large", api="anthropic-messages", context_window=900_000)
SETTINGS: JsonObject = {"compaction.keepRecentTokens": 600, "compaction.reserveTokens": 2_000}
EVENTS = (
    "session/compactionStart",
    "session/compactionEnd",
    "session/handoffStart",
    "session/handoffEnd",
    "session/continue",
    "session/modelPromoted",
)


class Host:
    """A client that runs models and hears every event."""

    def __init__(self) -> None:
        self.asked: list[LlmCompleteParams] = []
        self.hang = False
        self.called = anyio.Event()
        self.heard: list[tuple[str, Any]] = []
        self.came = {name: anyio.Event() for name in EVENTS}

    def hear(self, name: str, payload: Any) -> None:
        self.heard.append((name, payload))
        self.came[name].set()

    async def complete(self, params: LlmCompleteParams) -> LlmCompleteResult:
        self.asked.append(params)
        self.called.set()
        if self.hang:
            await anyio.sleep_forever()
        return LlmCompleteResult(content=[{"type": "text", "text": SUMMARY}], stop_reason="stop")

    def of(self, name: str) -> list[Any]:
        return [payload for heard, payload in self.heard if heard == name]


@asynccontextmanager
async def hosted(
    folder: Path, models: tuple[ModelInfo, ...] = (SMALL,), **dotted: Any
) -> AsyncIterator[tuple[Client, Host]]:
    host = Host()
    options = Options(
        models=list(models),
        settings={**SETTINGS, **{key.replace("__", "."): value for key, value in dotted.items()}},
        handlers={"llm/complete": host.complete},
    )
    async with daemon(folder, options) as client:
        for name in EVENTS:
            client.on(name, lambda payload, name=name: host.hear(name, payload))
        yield client, host


async def begun(client: Client, turns: int = 6) -> str:
    session = await client.session_create(cwd="/home/mira/tidewatch", model="anthropic/claude-sonnet-4-5")
    for number in range(turns):
        messages = [user(f"Part {number}. {text(400, seed=number)}"), assistant(text(400, seed=number + 50))]
        await client.session_append(session_id=session.session_id, messages=messages)
    return session.session_id


async def test_a_host_is_told_to_repeat_a_turn_that_was_too_long(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (client, host):
        session = await begun(client)
        failed = assistant([], stopReason="error", errorMessage="prompt is too long: 30000 tokens > 20000 maximum")
        said = await client.session_append(session_id=session, messages=[user("And Osaka?"), failed])
        done = await client.session_check_maintenance(session_id=session, at="turnEnd")
        assert (done.action, done.next, done.drop_entry_id) == ("compacted", "retry", said.entry_ids[-1])
        built = await client.session_build_context(session_id=session)
        assert built.messages[-1]["content"] == "And Osaka?"
        assert [e.will_retry for e in host.of("session/compactionEnd")] == [True]
        tree = await client.session_get_entries(session_id=session, ids=[said.entry_ids[-1]])
        assert tree.entries[0]["message"]["stopReason"] == "error"


async def test_a_larger_model_takes_over_where_one_is_configured(tmp_path: Path) -> None:
    small = SMALL.model_copy(update={"context_promotion_target": "claude-large"})
    small = ModelInfo.model_validate(small.to_wire())
    async with hosted(tmp_path, (small, LARGE)) as (client, host):
        session = await begun(client, 12)
        done = await client.session_check_maintenance(session_id=session, at="turnEnd")
        assert (done.action, done.model) == ("promoted", "anthropic/claude-large")
        assert [p.to for p in host.of("session/modelPromoted")] == ["anthropic/claude-large"]
        assert host.asked == []


async def test_a_handoff_opens_the_session_that_goes_on_for_the_client(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (client, host):
        session = await begun(client, 2)
        await client.session_set_busy(session_id=session, busy=True)
        async with refused(ErrorKind.AGENT_BUSY):
            await client.session_handoff(session_id=session)
        await client.session_set_busy(session_id=session, busy=False)
        done = await client.session_handoff(session_id=session, save_to_disk=True)
        assert done.new_session is not None
        assert await anyio.Path(done.saved_path or "").read_text() == f"{SUMMARY}\n"
        built = await client.session_build_context(session_id=done.new_session.session_id)
        assert SUMMARY in built.messages[0]["content"][0]["text"]
        assert built.model == "anthropic/claude-sonnet-4-5"
        assert [e.aborted for e in host.of("session/handoffEnd")] == [False]


async def test_a_deferred_handoff_is_told_with_the_session_to_go_on_in(tmp_path: Path) -> None:
    async with hosted(tmp_path, compaction__strategy="handoff", compaction__thresholdTokens=1_000) as (client, host):
        session = await begun(client, 2)
        done = await client.session_check_maintenance(session_id=session, at="turnEnd", queued=True)
        assert (done.action, done.next) == ("deferred", "wait")
        with anyio.fail_after(20):
            await host.came["session/continue"].wait()
        told = host.of("session/continue")[0]
        assert told.session_id != session
        assert (await client.session_get_info(session_id=told.session_id)).parent_session


async def test_cancelling_a_check_stops_its_compaction_and_leaves_the_session_as_it_was(tmp_path: Path) -> None:
    """BR-086."""
    async with hosted(tmp_path) as (client, host):
        session = await begun(client, 12)
        before = await client.session_get_info(session_id=session)
        host.hang = True
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:

                async def check() -> None:
                    await client.session_check_maintenance(session_id=session, at="turnEnd")

                tasks.start_soon(check)
                await host.called.wait()
                tasks.cancel_scope.cancel()
            await host.came["session/compactionEnd"].wait()
        assert host.of("session/compactionEnd")[0].aborted
        after = await client.session_get_info(session_id=session)
        assert (after.leaf_id, after.compacting) == (before.leaf_id, False)


async def test_idle_compaction_on_request_and_by_tick_says_what_it_did(tmp_path: Path) -> None:
    async with hosted(tmp_path, compaction__idleEnabled=True, compaction__idleThresholdTokens=2_000) as (client, host):
        session = await begun(client)
        early = await client.maintenance_tick()
        assert [(s.session_id, s.ran) for s in early.sessions] == [(session, False)]
        assert "idle" in (early.sessions[0].reason or "")
        done = await client.maintenance_tick(idle_for_ms=0)
        assert [(s.session_id, s.ran) for s in done.sessions] == [(session, True)]
        assert (done.sessions[0].tokens_after or 0) < (done.sessions[0].tokens_before or 0)
        again = await client.session_run_idle_compaction(session_id=session)
        assert not again.ran
        assert again.reason
        assert {e.reason for e in host.of("session/compactionEnd")} == {"idle"}


async def test_a_session_opened_for_reading_is_not_maintained(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (client, _):
        session = await begun(client, 1)
        info = await client.session_get_info(session_id=session)
        await client.session_close(session_id=session)
        opened = await client.session_open(path=info.path, mode="read")
        with pytest.raises(OctavoClientError, match="read"):
            await client.session_check_maintenance(session_id=opened.session_id, at="turnEnd")
