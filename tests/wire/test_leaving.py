"""Clients that leave in the middle of a compaction: it goes on, unless nobody is left who could run the model."""

from pathlib import Path
from typing import Any

from octavo_protocol.base import JsonObject
from wire.support import FrameClient
from wire.transports import served

SETTINGS = {"compaction.keepRecentTokens": 100}


async def start(client: FrameClient, session: str) -> JsonObject:
    """Ask for a compaction and wait until the model is asked; return that request."""
    await client.start("session/compact", {"sessionId": session, "strategy": "context-full"})
    return await heard(client, "llm/complete")


async def heard(client: FrameClient, method: str) -> Any:
    """The next message of that name."""
    while (message := await client.receive()).get("method") != method:
        assert "error" not in message, message
    return message


async def fill(client: FrameClient) -> str:
    created = await client.request("session/create", {"cwd": "/", "model": "acme/large", "ephemeral": True})
    session: str = created["result"]["sessionId"]
    messages = [{"role": "user", "content": f"{i} " + "word " * 400} for i in range(20)]
    assert "result" in await client.request("session/append", {"sessionId": session, "messages": messages})
    return session


async def test_when_the_only_client_that_can_run_the_model_dies_the_attempt_ends_with_its_event(tmp_path: Path) -> None:
    async with served("unix", tmp_path) as daemon, daemon.client() as other:
        async with daemon.client(client={"complete": True}, settings=SETTINGS) as runner:
            session = await fill(runner)
            assert "result" in await other.request("session/open", {"sessionId": session})
            await start(runner, session)
            runner.writer.transport.abort()
        end = (await heard(other, "session/compactionEnd"))["params"]
        assert end.get("result") is None
        assert end.get("errorMessage") or end["aborted"]
        info = (await other.request("session/getInfo", {"sessionId": session}))["result"]
        assert info["compacting"] is False
        assert "result" in await other.request(
            "session/append", {"sessionId": session, "messages": [{"role": "user", "content": "still here"}]}
        )


async def test_when_the_client_that_asked_dies_another_one_runs_the_model_to_the_end(tmp_path: Path) -> None:
    async with (
        served("unix", tmp_path) as daemon,
        daemon.client(client={"complete": True}, settings=SETTINGS) as runner,
    ):
        session = await fill(runner)
        async with daemon.client(settings=SETTINGS) as asking:
            assert "result" in await asking.request("session/open", {"sessionId": session})
            await asking.start("session/compact", {"sessionId": session, "strategy": "context-full"})
            asked = await heard(runner, "llm/complete")
            asking.writer.transport.abort()
        while True:
            summary = (
                "## Goal\nCount the words.\n\n## Progress\n### Done\n- [x] Twenty messages of words were written.\n"
            )
            answer = {"content": [{"type": "text", "text": summary}], "stopReason": "stop"}
            await runner.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
            message = await runner.receive()
            while message.get("method") not in ("llm/complete", "session/compactionEnd"):
                message = await runner.receive()
            if message["method"] == "session/compactionEnd":
                break
            asked = message
        assert message["params"]["aborted"] is False
        assert message["params"].get("entryId"), message["params"]
