"""Contexts through a real daemon: for a model, for display, in the shape of each API, and how full they are."""

import base64
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from octavo_client import Client, Options
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind
from octavo_protocol.model_info import ModelInfo
from storekit import HEADER, assistant, compaction, entry, result, user, write
from wire.sessions import daemon, refused, said
from wire.test_sessions import unanswered

MODEL = "acme/large"
ACME = ModelInfo(provider="acme", id="large", api="openai-completions", context_window=10_000, inputs=["text", "image"])
PICTURE = base64.b64encode(bytes(3000)).decode()


def message(entry_id: str, parent: str | None, body: JsonObject) -> JsonObject:
    return {**entry(entry_id, parent), "message": body}


def turn() -> list[JsonObject]:
    """A question with a picture, a call, its result, an answer."""
    asked = {
        **user(""),
        "content": [{"type": "text", "text": "look"}, {"type": "image", "data": PICTURE, "mimeType": "image/png"}],
    }
    return [
        {**entry("m", None), "type": "model_change", "model": MODEL},
        message("u", "m", asked),
        message("a", "u", assistant("call_1", text="I look")),
        message("r", "a", result("call_1", "seen")),
        message("d", "r", assistant(text="done")),
    ]


def frame(number: int) -> JsonObject:
    """A frame of 200 KB that is a PNG by its head."""
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 100, 100, 8, 0, 0, 0, 0)
    data = base64.b64encode(head + struct.pack(">I", number) * 37_500).decode()
    return {"data": data, "mimeType": "image/png", "cols": 100, "rows": 100, "chars": 5000}


async def opened(client: Client, path: Path) -> str:
    return (await client.session_open(path=str(path))).session_id


async def test_each_api_gets_messages_it_accepts(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *turn())
    async with daemon(tmp_path, Options(models=[ACME])) as client:
        session = await opened(client, path)

        async def built(name: str) -> list[JsonObject]:
            context = await client.session_build_context(session_id=session, format=name)
            assert context.format == name
            assert context.model == MODEL
            return context.messages

        assert [m["role"] for m in await built("agent")] == ["user", "assistant", "toolResult", "assistant"]
        assert unanswered(await built("llm")) == []
        anthropic = await built("anthropic")
        assert [m["role"] for m in anthropic] == ["user", "assistant", "user", "assistant"]
        assert anthropic[0]["content"][1]["source"]["data"] == PICTURE
        assert anthropic[2]["content"][0]["tool_use_id"] == anthropic[1]["content"][1]["id"]
        chat = await built("openai-chat")
        assert [m["role"] for m in chat] == ["user", "assistant", "tool", "assistant"]
        assert chat[2]["tool_call_id"] == chat[1]["tool_calls"][0]["id"]
        items = await built("openai-responses")
        kinds = [item["type"] for item in items]
        assert kinds == ["message", "message", "function_call", "function_call_output", "message"]
        google = await built("google")
        assert [m["role"] for m in google] == ["user", "model", "user", "model"]
        assert google[2]["parts"][0]["functionResponse"]["response"] == {"output": "seen"}


async def test_pictures_can_be_left_out_and_a_short_note_stands_for_them(tmp_path: Path) -> None:
    async with daemon(tmp_path, Options(models=[ACME])) as client:
        session = (await client.session_create(cwd="/p", model=MODEL)).session_id
        await client.session_append(session_id=session, entries=[{"type": "message", "message": turn()[1]["message"]}])
        for name in ("agent", "llm", "anthropic", "openai-chat"):
            slim = await client.session_build_context(session_id=session, format=name, include_images=False)
            whole = await client.session_build_context(session_id=session, format=name)
            assert PICTURE in str(whole.messages), name
            assert PICTURE not in str(slim.messages), name
            assert "[image: image/png]" in str(slim.messages), name


async def test_a_picture_whose_blob_is_gone_is_named_and_never_sent_as_a_reference(tmp_path: Path) -> None:
    """One such picture would have the provider refuse every request of the session."""
    gone = {"type": "image", "data": "blob:sha256:" + "0" * 64, "mimeType": "image/png"}
    asked = {**user(""), "content": [{"type": "text", "text": "look"}, gone]}
    path = write(tmp_path / "s.jsonl", HEADER, turn()[0], message("u", "m", asked))
    async with daemon(tmp_path, Options(models=[ACME])) as client:
        session = await opened(client, path)
        for name in ("llm", "anthropic", "openai-chat", "openai-responses", "google"):
            built = str((await client.session_build_context(session_id=session, format=name)).messages)
            assert "blob:" not in built, name
            assert "[image: image/png, missing]" in built, name
        assert "blob:sha256:" in str((await client.session_build_context(session_id=session, format="agent")).messages)


async def test_the_conversation_before_a_compaction_is_shown_and_not_sent(tmp_path: Path) -> None:
    """BR-113: the transcript keeps everything with the compaction as a divider; the context begins with the summary."""
    branch = [entry("e0", None, "old"), entry("e1", "e0", "kept"), compaction("c", "e1", "e1", "What happened.")]
    path = write(tmp_path / "s.jsonl", HEADER, *branch, entry("e2", "c", "new"))
    async with daemon(tmp_path) as client:
        session = await opened(client, path)
        transcript = await client.session_build_context(session_id=session, transcript=True)
        assert [m["role"] for m in transcript.messages] == ["user", "user", "compactionSummary", "user"]
        assert transcript.messages[2]["summary"] == "What happened."
        assert (transcript.format, transcript.usage) == ("agent", None)
        context = await client.session_build_context(session_id=session)
        assert len(context.messages) == 3
        assert "What happened." in said(context.messages)[0]
        assert said(context.messages)[1:] == ["kept", "new"]
        assert "old" not in str(context.messages)
        agent = await client.session_build_context(session_id=session, format="agent")
        assert [m["role"] for m in agent.messages] == ["compactionSummary", "user", "user"]


async def test_a_failed_turn_can_be_left_out_without_losing_what_was_kept_before_it(tmp_path: Path) -> None:
    failed: JsonObject = {**assistant("call_2", text="broken"), "stopReason": "error"}
    branch = [
        entry("e0", None, "old"),
        message("bad", "e0", failed),
        message("r", "bad", result("call_2")),
        compaction("c", "r", "bad", "Sum."),
        entry("e1", "c", "new"),
    ]
    path = write(tmp_path / "s.jsonl", HEADER, *branch)
    async with daemon(tmp_path) as client:
        session = await opened(client, path)
        context = await client.session_build_context(session_id=session, drop_entry_ids=["bad"])
        assert unanswered(context.messages) == []
        assert [m["role"] for m in context.messages] == ["user", "user"]
        assert (await client.session_get_info(session_id=session)).entry_count == 5
        async with refused(ErrorKind.ENTRY_NOT_FOUND):
            await client.session_build_context(session_id=session, drop_entry_ids=["nowhere"])
        async with refused(ErrorKind.ENTRY_NOT_FOUND):
            await client.session_build_context(session_id=session, leaf_id="nowhere")
        at_root = await client.session_build_context(session_id=session, leaf_id="e0")
        assert (said(at_root.messages), at_root.leaf_id) == (["old"], "e0")


async def test_frames_of_archived_history_stay_within_what_one_request_may_carry(tmp_path: Path) -> None:
    frames = [frame(number) for number in range(20)]
    archive = {"snapcompact": {"frames": frames, "totalChars": 100_000, "truncatedChars": 0}}
    archived = {**compaction("c", "e0", "e0", "Sum."), "preserveData": archive}
    path = write(tmp_path / "s.jsonl", HEADER, entry("e0", None), archived, entry("e1", "c"))
    async with daemon(tmp_path, Options(models=[ACME])) as client:
        session = await opened(client, path)
        await client.session_set_model(session_id=session, model=MODEL)
        context = await client.session_build_context(session_id=session)
        blocks = context.messages[0]["content"]
        shown = [block["data"] for block in blocks if block["type"] == "image"]
        assert 10 <= len(shown) < 20
        assert sum(map(len, shown)) <= 3_000_000
        assert shown[-1] == frames[-1]["data"]
        assert any(str(20 - len(shown)) in block["text"] for block in blocks[1:] if block["type"] == "text")
        assert context.usage is not None
        assert context.usage.breakdown.frames > 0


async def test_usage_counts_what_the_host_adds_and_what_is_about_to_come(tmp_path: Path) -> None:
    async with daemon(tmp_path, Options(models=[ACME])) as client:
        session = (await client.session_create(cwd="/p", model=MODEL)).session_id
        await client.session_append(session_id=session, messages=[user("word " * 1000)])
        plain = await client.session_context_usage(session_id=session)
        assert (plain.context_window, plain.model, plain.source) == (10_000, MODEL, "estimate")
        assert 1000 <= plain.breakdown.user <= 1100
        assert plain.percent == pytest.approx(plain.tokens / 100)
        assert 0 < plain.threshold < 10_000
        tool: JsonObject = {"name": "bash", "description": "Run it.", "parameters": {"type": "object"}}
        told = await client.session_set_host_context(
            session_id=session, system_prompt=["Be brief.", "x " * 500], tools=[tool]
        )
        assert told.system_tokens > 500
        assert told.tool_tokens > 5
        full = await client.session_context_usage(session_id=session, pending_messages=[user("word " * 100)])
        assert (full.breakdown.system, full.breakdown.tools) == (told.system_tokens, told.tool_tokens)
        assert full.breakdown.user - plain.breakdown.user >= 100
        assert full.tokens == sum(full.breakdown.model_dump().values())
        built = await client.session_build_context(session_id=session, system_prompt="Other.")
        assert built.system_prompt == ["Other."]
        assert built.usage is not None
        assert 0 < built.usage.breakdown.system < 10
        assert (await client.session_build_context(session_id=session)).system_prompt == ["Be brief.", "x " * 500]
        elsewhere = await client.session_context_usage(session_id=session, model="anthropic/claude-opus-4-5")
        assert (elsewhere.context_window, elsewhere.model) == (200_000, "anthropic/claude-opus-4-5")
        async with refused(ErrorKind.INVALID_PARAMS):
            await client.session_context_usage(session_id=session, model="nameless")


async def test_a_measurement_of_the_provider_is_believed(tmp_path: Path) -> None:
    measured: JsonObject = {
        **assistant(text="short"),
        "provider": "acme",
        "model": "large",
        "usage": {"input": 4321, "output": 10, "totalTokens": 4331},
    }
    async with daemon(tmp_path, Options(models=[ACME])) as client:
        session = (await client.session_create(cwd="/p", model=MODEL, ephemeral=True)).session_id
        await client.session_append(session_id=session, messages=[user("hi"), measured])
        usage = await client.session_context_usage(session_id=session)
        assert usage.source == "usage"
        assert 4321 <= usage.tokens <= 4331 + 10


async def test_a_model_nobody_knows_has_no_window_and_no_percentage(tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        session = (await client.session_create(cwd="/p", ephemeral=True)).session_id
        await client.session_append(session_id=session, messages=[user("hi")])
        usage = await client.session_context_usage(session_id=session)
        assert (usage.context_window, usage.threshold, usage.percent, usage.model) == (0, 0, None, None)
        empty = (await client.session_create(cwd="/p", ephemeral=True)).session_id
        built = await client.session_build_context(session_id=empty)
        assert (built.messages, built.leaf_id) == ([], None)


@pytest.mark.samples
@pytest.mark.parametrize("name", ["before-compaction.jsonl", "large-session.jsonl"])
async def test_real_contexts_are_valid_in_every_shape(name: str, samples: Path, tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        opened_ = await client.session_open(path=str(samples / "pi" / name), mode="read")
        formats: dict[str, Any] = {}
        for format_ in ("anthropic", "openai-chat", "openai-responses", "google"):
            built = await client.session_build_context(session_id=opened_.session_id, format=format_)
            formats[format_] = built.messages
            assert built.usage is not None
            assert built.usage.tokens > 10_000
        roles = [m["role"] for m in formats["anthropic"]]
        assert roles[0] == "user"
        assert all(before != after for before, after in pairwise(roles))
        asked = [call["id"] for m in formats["openai-chat"] for call in m.get("tool_calls", ())]
        answered = [m["tool_call_id"] for m in formats["openai-chat"] if m["role"] == "tool"]
        assert asked == answered
        called = [item["call_id"] for item in formats["openai-responses"] if item["type"] == "function_call"]
        assert called == [i["call_id"] for i in formats["openai-responses"] if i["type"] == "function_call_output"]
