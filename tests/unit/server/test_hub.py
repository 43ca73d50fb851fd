"""Sharing, keeping and closing sessions inside one daemon, and the world a session's work sees."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from octavo.server.daemon import Daemon
from octavo.server.hub import SessionHub
from octavo.server.memory import MemoryClient, connect
from octavo.server.open_session import OpenSession
from octavo_protocol.completion import CompletionRequest
from octavo_protocol.errors import ErrorKind, OctavoError
from storekit import HEADER, chain, user, write
from support.memory_daemon import call, client, running, until


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OCTAVO_REMOTE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OCTAVO_CONFIG", "")
    monkeypatch.setenv("OCTAVO_SESSIONS_ROOT", str(tmp_path / "root" / "sessions"))


async def new_session(daemon: Daemon, peer: MemoryClient, **params: Any) -> OpenSession:
    made = await call(peer, "session/create", cwd="/p", **params)
    return daemon.service(SessionHub).sessions[made["sessionId"]]


async def test_opening_one_file_at_the_same_time_gives_one_session(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(3))
    async with running() as daemon, client(daemon) as one, client(daemon) as two:
        async with anyio.create_task_group() as group:
            for peer in (one, two):
                group.start_soon(lambda peer=peer: call(peer, "session/open", path=str(path)))  # type: ignore[misc]
        hub = daemon.service(SessionHub)
        assert len(hub.sessions) == 1
        assert set(hub.sessions["s1"].openers) == {one.connection, two.connection}


async def test_a_session_closes_when_the_last_client_is_gone(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(1))
    async with running() as daemon:
        hub = daemon.service(SessionHub)
        async with client(daemon) as one:
            async with client(daemon) as two:
                await call(one, "session/open", path=str(path))
                await call(two, "session/open", path=str(path), mode="read")
                session = hub.sessions["s1"]
            await until(lambda: session.openers == (one.connection,))
            assert not session.live.closed
        await until(lambda: session.live.closed)
        assert hub.sessions == {}


async def test_work_that_still_runs_keeps_a_session_open_until_it_ends(tmp_path: Path) -> None:
    async with running() as daemon:
        hub = daemon.service(SessionHub)
        async with client(daemon) as peer:
            session = await new_session(daemon, peer)
            await call(peer, "session/append", sessionId=session.session_id, messages=[user("hi")])
            with session.in_use():
                assert await call(peer, "session/close", sessionId=session.session_id) == {"closed": False}
                assert session.session_id in hub.sessions
                done = await session.live.append([{"type": "custom", "customType": "late"}])
                assert not session.live.closed
            await until(lambda: session.live.closed)
        async with client(daemon) as peer:
            found = await call(peer, "session/open", sessionId=session.session_id)
            assert found["leafId"] == done.entry_ids[0]


async def test_a_session_that_waits_to_be_closed_can_be_opened_again(tmp_path: Path) -> None:
    async with running() as daemon, client(daemon) as stays:
        hub = daemon.service(SessionHub)
        async with client(daemon) as leaves:
            session = await new_session(daemon, leaves, ephemeral=True)
            with session.in_use():
                await call(leaves, "session/close", sessionId=session.session_id)
                again = await call(stays, "session/open", sessionId=session.session_id)
                assert again["epoch"] == session.live.epoch
        await hub._openings._close_when_idle(session)
        assert hub.get(stays.connection, session.session_id) is session
        assert not session.live.closed


async def test_a_client_that_hangs_up_while_a_session_opens_leaves_no_lease_behind(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(2000, "text " * 50))
    async with running() as daemon:
        async with connect(daemon) as peer:
            await peer.initialize()
            peer.send({"jsonrpc": "2.0", "id": 1, "method": "session/open", "params": {"path": str(path)}})
        hub = daemon.service(SessionHub)
        await until(lambda: not hub.sessions)
        async with client(daemon) as other:
            assert (await call(other, "session/open", path=str(path)))["mode"] == "write"


async def test_the_end_of_the_daemon_stops_what_runs_and_closes_every_session(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(1))
    ended: list[str] = []
    async with running() as daemon:
        peer_context = client(daemon)
        peer = await peer_context.__aenter__()
        await call(peer, "session/open", path=str(path))
        session = daemon.service(SessionHub).sessions["s1"]

        async def work() -> None:
            with session.slot.begin("op", "compaction", 0) as operation:
                await anyio.sleep_forever()
            ended.append("aborted" if operation.aborted else "lost")

        daemon.start(work)
        await until(lambda: session.compacting)
        info = await call(peer, "session/getInfo", sessionId="s1")
        assert info["compacting"]
        await peer_context.__aexit__(None, None, None)
        assert not session.live.closed
    assert ended == ["aborted"]
    assert session.live.closed


async def test_modes_belong_to_connections(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(1))
    async with running() as daemon, client(daemon) as one, client(daemon) as two:
        hub = daemon.service(SessionHub)
        await call(one, "session/open", path=str(path), mode="read")
        session = hub.sessions["s1"]
        assert session.live.mode == "read"
        with pytest.raises(OctavoError) as caught:
            hub.writable(one.connection, "s1")
        assert caught.value.kind is ErrorKind.SESSION_READ_ONLY
        await call(two, "session/open", path=str(path))
        assert session.live.mode == "write"
        assert hub.writable(two.connection, "s1") is session
        with pytest.raises(OctavoError):
            hub.writable(one.connection, "s1")
        assert any(message["params"]["kind"] == "rewritten" for message in one.notifications) or (
            (await one.receive())["params"]["kind"] == "rewritten"
        )
        await call(one, "session/open", path=str(path))
        assert hub.writable(one.connection, "s1") is session
        await call(one, "session/open", path=str(path), mode="read")
        assert hub.writable(one.connection, "s1") is session


async def test_a_successor_is_open_for_everyone_and_knows_what_the_host_said(tmp_path: Path) -> None:
    async with running() as daemon, client(daemon) as one, client(daemon) as two:
        session = await new_session(daemon, one, model="acme/large", thinkingLevel="high", systemPrompt="Be brief.")
        await call(one, "session/append", sessionId=session.session_id, messages=[user("hi")])
        await call(two, "session/open", sessionId=session.session_id, mode="read")
        started = await session.host.start_successor(title="Next")
        info = started.describe()
        after = daemon.service(SessionHub).sessions[info.session_id]
        assert (info.title, info.cwd, info.parent_session) == ("Next", "/p", str(session.live.path))
        assert (info.model, info.thinking_level) == ("acme/large", "high")
        assert after.openers == (one.connection, two.connection)
        assert after.host.system_prompt == ("Be brief.",)
        assert started.session.on_disk


async def test_settings_of_clients_and_of_a_session_reach_its_work(tmp_path: Path) -> None:
    key = "compaction.keepRecentTokens"
    async with running() as daemon, client(daemon, settings={key: 1}) as one, client(daemon, settings={key: 2}) as two:
        session = await new_session(daemon, one)

        def kept() -> int:
            return session.host.settings.compaction.keep_recent_tokens

        assert kept() == 1
        await call(two, "session/open", sessionId=session.session_id)
        assert kept() == 2
        update = {"settings": {key: 3}, "scope": "session", "sessionId": session.session_id}
        answer = await call(one, "settings/update", **update)
        assert (kept(), answer["sources"][key]) == (3, "session")
        await call(one, "settings/update", **(update | {"settings": {key: None}}))
        await call(two, "session/close", sessionId=session.session_id)
        assert kept() == 1


async def test_a_model_is_reached_as_clients_and_settings_say(tmp_path: Path) -> None:
    large = {"provider": "acme", "id": "large", "contextWindow": 64_000, "contextPromotionTarget": "huge"}
    settings = {
        "providers": {"acme": {"api": "openai-completions", "baseUrl": "http://localhost:1/v1"}},
        "models": [{"provider": "acme", "id": "huge", "contextWindow": 900_000, "api": "anthropic-messages"}],
    }
    async with running() as daemon, client(daemon, settings=settings, models=[large]) as peer:
        session = await new_session(daemon, peer, model="acme/large")
        model = session.host.model
        assert model is not None
        assert (model.context_window, model.api, model.base_url) == (
            64_000,
            "openai-completions",
            "http://localhost:1/v1",
        )
        target = session.host.promotion_target(model)
        assert target is not None
        assert (target.ref, target.context_window, target.api) == ("acme/huge", 900_000, "anthropic-messages")
        assert session.host.reachable(model)
        unknown = session.host.find_model("nobody/knows")
        assert unknown is not None
        assert not session.host.reachable(unknown)
        assert session.host.promotion_target(unknown) is None
        listed = {row["id"]: row for row in (await call(peer, "model/list", provider="acme"))["models"]}
        assert [listed[name]["source"] for name in ("large", "huge")] == ["registered", "settings"]
        assert listed["large"]["usable"]
        await call(peer, "model/register", models=[{**large, "contextWindow": 32_000}])
        assert session.host.model is not None
        assert session.host.model.context_window == 32_000


async def test_remote_compaction_follows_the_settings_and_sends_no_other_providers_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    settings = {"compaction.remoteEndpoint": "http://localhost:1/summarise", "compaction.remoteTimeoutMs": 5000}
    async with running() as daemon, client(daemon, settings=settings) as peer:
        session = await new_session(daemon, peer, model="openai/gpt-5.1")
        remote = session.host.remote_summarizer()
        assert remote is not None
        assert (remote.model, remote.api_key, remote.timeout_seconds) == ("gpt-5.1", None, 5.0)
        model = session.host.model
        assert model is not None
        native = await session.host.native_compactor(model)
        assert native is not None
        assert native.api_key == "sk-openai"
        other = session.host.find_model("anthropic/claude-opus-4-5")
        assert other is not None
        assert await session.host.native_compactor(other) is None
        await call(peer, "settings/update", settings={"providers": {"remote": {"apiKey": "sk-remote"}}})
        remote = session.host.remote_summarizer()
        assert remote is not None
        assert remote.api_key == "sk-remote"
        await call(peer, "settings/update", settings={"compaction.remoteEnabled": False})
        assert session.host.remote_summarizer() is None
        assert await session.host.native_compactor(model) is None


async def test_a_model_call_goes_to_the_client_that_offers_it(tmp_path: Path) -> None:
    async with running() as daemon, client(daemon, client={"complete": True}) as peer:
        session = await new_session(daemon, peer, model="acme/large")
        model = session.host.model
        assert model is not None
        request = CompletionRequest(model=model, system_prompt=("Sum.",), messages=(user("hi"),))
        texts: list[str] = []

        async def complete() -> None:
            texts.append((await session.host.completion.complete(request)).text)

        async with anyio.create_task_group() as group:
            group.start_soon(complete)
            asked = await peer.receive()
            assert asked["method"] == "llm/complete"
            assert asked["params"]["sessionId"] == session.session_id
            assert asked["params"]["model"]["id"] == "large"
            answer = {"content": [{"type": "text", "text": "A summary."}], "stopReason": "stop"}
            peer.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
        assert texts == ["A summary."]


async def test_settings_that_are_wrong_are_told_and_the_rest_counts(tmp_path: Path) -> None:
    async with running() as daemon, client(daemon, settings={"nothing": 1, "language": "Dutch"}) as peer:
        settings = await call(peer, "settings/get", keys=["language"])
        assert settings == {"settings": {"language": "Dutch"}, "sources": {"language": "initialize"}}
        peer.notify("workspace/didChangeConfiguration", {"settings": {"language": 5}})
        assert (await call(peer, "settings/get", keys=["language"]))["settings"] == {"language": "Dutch"}
        peer.notify("workspace/didChangeConfiguration", {"settings": {"octavo": {"language": "Thai"}}})
        assert (await call(peer, "settings/get", keys=["language"]))["settings"] == {"language": "Thai"}
        notices = [m["params"]["message"] for m in peer.notifications if m["method"] == "session/notice"]
        assert len(notices) == 2
        assert "nothing" in notices[0]
        assert "language" in notices[1]
        answer = await peer.request("settings/update", {"settings": {}, "scope": "session"})
        assert answer["error"]["data"]["kind"] == "invalid-params"
