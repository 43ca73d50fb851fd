"""What a daemon says of itself: its clients, its sessions, its work and its counters."""

import re
from pathlib import Path
from typing import Any

from wire.support import FrameClient
from wire.transports import served

SAMPLE = re.compile(r'[a-z_]+(?:\{(?:[a-z]+="[^"\\\n]*",?)+\})? [0-9.]+')


async def append(client: FrameClient, session: str, text: str) -> None:
    answer = await client.request(
        "session/append", {"sessionId": session, "messages": [{"role": "user", "content": text}]}
    )
    assert "result" in answer


async def metrics(client: FrameClient) -> str:
    answer = await client.request("daemon/metrics")
    text: str = answer["result"]["text"]
    return text


def sample(text: str, name: str) -> float:
    """The value of one sample."""
    return float(next(line for line in text.splitlines() if line.startswith(f"{name} ")).rsplit(" ", 1)[1])


async def test_status_names_clients_their_sessions_and_open_requests(tmp_path: Path) -> None:
    async with served("unix", tmp_path) as daemon, daemon.client() as one, daemon.client() as two:
        created = (await one.request("session/create", {"cwd": "/", "title": "Tides"}))["result"]
        await one.request("session/setBusy", {"sessionId": created["sessionId"], "busy": True})
        status = (await two.request("daemon/status"))["result"]
        assert status["pid"] == daemon.process.pid
        first, second = status["clients"]
        assert (first["asking"], first["sessions"], first["requests"]) == (False, [created["sessionId"]], [])
        assert (second["asking"], second["sessions"], second["requests"]) == (True, [], ["daemon/status"])
        [session] = status["sessions"]
        assert session["sessionId"] == created["sessionId"]
        assert (session["title"], session["clients"], session["busy"], session.get("work")) == ("Tides", 1, True, None)
        assert status["memoryBytes"] > 10_000_000


async def test_status_shows_running_work_and_the_client_that_waits_for_it(tmp_path: Path) -> None:
    async with served("unix", tmp_path) as daemon, daemon.dial() as one, daemon.client() as two:
        await one.initialize(client={"complete": True}, settings={"compaction.keepRecentTokens": 100})
        session = (await one.request("session/create", {"cwd": "/", "model": "acme/large"}))["result"]["sessionId"]
        for i in range(20):
            await append(one, session, f"{i} " + "word " * 400)
        await one.start("session/compact", {"sessionId": session, "strategy": "context-full"})
        while (asked := await one.receive()).get("method") != "llm/complete":
            assert "error" not in asked, asked
        status = (await two.request("daemon/status"))["result"]
        work = status["sessions"][0]["work"]
        assert work["kind"] == "compaction"
        assert work["runningMs"] >= 0
        assert status["clients"][0]["requests"] == ["session/compact"]
        await one.request("session/abortCompaction", {"sessionId": session})
        assert 'octavo_compactions_total{action="context-full",reason="manual",outcome="aborted"} 1' in await metrics(
            two
        )


async def test_metrics_count_requests_by_outcome_with_their_latencies(tmp_path: Path) -> None:
    async with served("unix", tmp_path) as daemon, daemon.client() as client:
        session = (await client.request("session/create", {"cwd": "/"}))["result"]["sessionId"]
        for i in range(3):
            await append(client, session, f"{i}")
        await client.request("session/getInfo", {"sessionId": "nowhere"})
        text = await metrics(client)
        assert sample(text, 'octavo_requests_total{method="session/append",outcome="ok"}') == 3
        assert sample(text, 'octavo_requests_total{method="session/getInfo",outcome="session-not-found"}') == 1
        assert sample(text, 'octavo_request_seconds_count{method="session/append"}') == 3
        assert sample(text, 'octavo_request_seconds_bucket{method="session/append",le="+Inf"}') == 3
        assert (sample(text, "octavo_clients"), sample(text, "octavo_sessions")) == (1, 1)
        families = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")]
        assert len(families) == len(set(families))
        for line in text.splitlines():
            assert line.startswith(("# HELP ", "# TYPE ")) or SAMPLE.fullmatch(line), line


async def test_a_compaction_counts_the_tokens_it_saved(tmp_path: Path) -> None:
    async with served("unix", tmp_path) as daemon, daemon.client() as client:
        options: dict[str, Any] = {"settings": {"compaction.keepRecentTokens": 200}}
        await client.request("settings/update", options)
        session = (await client.request("session/create", {"cwd": "/"}))["result"]["sessionId"]
        for i in range(20):
            await append(client, session, f"{i} " + "word " * 400)
        answer = await client.request("session/compact", {"sessionId": session, "strategy": "extractive"})
        assert "result" in answer, answer
        result = answer["result"]
        saved = sample(await metrics(client), 'octavo_tokens_saved_total{by="extractive"}')
        assert saved == result["tokensBefore"] - result["tokensAfter"]
        assert saved > 0


async def test_tracing_tells_how_long_requests_took_until_it_is_switched_off(tmp_path: Path) -> None:
    async with served("unix", tmp_path) as daemon, daemon.client() as client:
        await client.notify("$/setTrace", {"value": "messages"})
        await client.request("settings/get")
        traced = (await client.receive())["params"]["message"]
        assert re.match(r"settings/get \('test-\d+'\) was answered after [0-9.]+ ms\.", traced)
        await client.notify("$/setTrace", {"value": "off"})
        await client.request("settings/get")
        await client.request("settings/get")
        assert not [m for m in client.seen if "settings/get" in str(m.get("params"))]
