"""Frames without a session over the wire: prices, pictures, progress, cancellation, inline imaging, refusals."""

import base64
import io
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import anyio
import pytest

from octavo.snapcompact.render import render_text
from octavo.snapcompact.shapes import VARIANTS, variant
from octavo_client import Client, OctavoClientError, Options
from octavo_protocol.errors import ErrorKind
from octavo_protocol.notifications import ProgressValue

CLAUDE = "anthropic/claude-sonnet-4-5"
PROSE = "The pump ran all night and the level fell by two centimetres an hour.\n" * 400
DENSE = "0123456789 abcdef 9876543210;\n" * 1200


@asynccontextmanager
async def daemon(**settings: Any) -> AsyncIterator[Client]:
    command = [sys.executable, "-m", "octavo", "serve", "--stdio"]
    with anyio.fail_after(60):
        async with Client.spawn(command, Options(settings=settings or None), stderr=DEVNULL) as client:
            yield client


def size_of(data: str) -> tuple[int, int]:
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        image.load()
        return image.size


async def refused(call: Any) -> OctavoClientError:
    with pytest.raises(OctavoClientError) as caught:
        await call
    assert caught.value.kind is ErrorKind.INVALID_PARAMS
    return caught.value


async def test_shapes_are_priced_for_the_model_and_the_resolved_one_is_the_models() -> None:
    async with daemon() as client:
        claude = await client.snapcompact_shapes(model=CLAUDE)
        assert [shape.name for shape in claude.shapes] == list(VARIANTS)
        assert claude.family == "anthropic"
        assert claude.resolved.name == "11on16-bw"
        assert claude.resolved.capacity == claude.resolved.cols * claude.resolved.rows
        gpt = await client.snapcompact_shapes(model="openai/gpt-5")
        assert (gpt.family, gpt.resolved.name, gpt.resolved.detail) == ("openai", "8on22-bw", "original")
        prices = {shape.name: shape.frame_tokens for shape in claude.shapes}
        assert {shape.name: shape.frame_tokens for shape in gpt.shapes} != prices
        nobody = await client.snapcompact_shapes()
        assert nobody.family == "unknown"
        assert nobody.frame_budget < claude.frame_budget


async def test_the_api_says_who_bills_a_model_nobody_registered() -> None:
    async with daemon() as client:
        found = await client.snapcompact_shapes(model="acme/pump-9", api="google-generative-ai")
        assert found.family == "google"


async def test_an_estimate_is_what_rendering_then_costs() -> None:
    async with daemon() as client:
        for shape in ("auto", "doc-8on16-sent-dim"):
            estimate = await client.snapcompact_estimate(model=CLAUDE, text=PROSE, shape=shape)
            drawn = await client.snapcompact_render(model=CLAUDE, text=PROSE, shape=shape)
            assert estimate.frames == len(drawn.frames) > 1
            assert estimate.frame_tokens == drawn.frame_tokens == sum(frame.tokens for frame in drawn.frames)
            assert estimate.text_tokens == drawn.text_tokens
            assert estimate.saved_tokens == estimate.text_tokens - estimate.frame_tokens
            assert estimate.cells >= sum(frame.chars for frame in drawn.frames) * 0.9


async def test_rendered_frames_are_pictures_of_the_stated_size_and_the_bytes_of_the_library() -> None:
    async with daemon() as client:
        drawn = await client.snapcompact_render(model=CLAUDE, text=PROSE)
        expected = render_text(PROSE, variant("11on16-bw"))
        assert [base64.b64decode(frame.data) for frame in drawn.frames] == [frame.png for frame in expected]
        for frame in drawn.frames:
            assert size_of(frame.data) == (frame.width, frame.height)
            assert frame.height == frame.rows * drawn.shape.cell_height
        assert f"{len(drawn.frames)} image frames" in drawn.guide
        assert drawn.dropped_chars == 0


async def test_frames_beyond_the_limit_are_counted_as_dropped_and_the_guide_owns_up() -> None:
    async with daemon() as client:
        whole = await client.snapcompact_render(model=CLAUDE, text=PROSE)
        part = await client.snapcompact_render(model=CLAUDE, text=PROSE, max_frames=1)
        assert len(part.frames) == 1
        assert part.dropped_chars == sum(frame.chars for frame in whole.frames[1:])
        assert f"{part.dropped_chars:,}" in part.guide


async def test_the_layout_of_the_settings_counts_unless_the_request_names_one() -> None:
    text = "def pump():\n        return 'läuft'\n"
    async with daemon(**{"snapcompact.layout": "seed"}) as client:
        seed = await client.snapcompact_estimate(text=text)
        ours = await client.snapcompact_estimate(text=text, layout="octavo")
        assert seed.chars != ours.chars
        assert (await client.snapcompact_estimate(text=text, layout="seed")).chars == seed.chars


async def test_any_text_is_drawn_or_gives_no_frame() -> None:
    async with daemon() as client:
        for text in ("\ud800 lone", "\x00\x01\x02", "🜁🜂🜃 🦀🦀", "مرحبا بالعالم", "\x1b[31mred\x1b[0m", "x" * 100_000):
            drawn = await client.request("snapcompact/render", {"text": text, "model": CLAUDE})
            assert all(size_of(frame["data"])[0] == 1568 for frame in drawn["frames"])
            assert bool(drawn["frames"]) == any(character.isprintable() for character in text)


async def test_what_cannot_be_drawn_is_refused_with_the_field() -> None:
    async with daemon() as client:
        for size in (0, -1, 1_000_000, 3):
            await refused(client.request("snapcompact/render", {"text": "a", "frameSize": size}))
        error = await refused(client.request("snapcompact/render", {"text": "a", "shape": "7x7-bw"}))
        assert "11on16-bw" in error.message
        error = await refused(client.request("snapcompact/shapes", {"model": "sonnet"}))
        assert "provider/id" in error.message


async def test_more_frames_than_an_answer_may_hold_are_refused_before_any_is_drawn() -> None:
    async with daemon() as client:
        error = await refused(client.request("snapcompact/render", {"text": "ab" * 20_000, "frameSize": 16}))
        assert "maxFrames" in error.message
        drawn = await client.snapcompact_render(text="ab" * 20_000, frame_size=16, max_frames=3)
        assert len(drawn.frames) == 3


async def test_rendering_reports_progress_and_leaves_the_loop_free() -> None:
    reports: list[ProgressValue] = []
    async with daemon() as client, anyio.create_task_group() as tasks:
        done = anyio.Event()

        async def draw() -> None:
            await client.snapcompact_render(text=PROSE * 20, model=CLAUDE, on_progress=reports.append)
            done.set()

        tasks.start_soon(draw)
        asked = 0
        while not done.is_set():
            await client.snapcompact_shapes()
            asked += 1
    assert asked > 3
    assert [reports[0].kind, reports[-1].kind] == ["begin", "end"]
    assert any(report.frames_total for report in reports)


async def test_a_cancelled_rendering_ends_without_an_answer_and_the_daemon_goes_on() -> None:
    async with daemon() as client:
        started = anyio.Event()

        def report(value: ProgressValue) -> None:
            if value.frames_done:
                started.set()

        async with anyio.create_task_group() as tasks:

            async def draw() -> None:
                await client.snapcompact_render(text=PROSE * 60, model=CLAUDE, on_progress=report)
                raise AssertionError("the request was answered although it was cancelled")

            tasks.start_soon(draw)
            await started.wait()
            tasks.cancel_scope.cancel()
        assert (await client.snapcompact_render(text="still here")).frames


def request(*results: str) -> list[dict[str, Any]]:
    """A request with tool results; the last one always stays text."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Check the pumps."}]
    for number, text in enumerate([*results, "done"]):
        call = {"type": "toolCall", "id": f"call-{number}", "name": "read", "arguments": {}}
        messages.append({"role": "assistant", "content": [call]})
        content = [{"type": "text", "text": text}]
        messages.append({"role": "toolResult", "toolCallId": f"call-{number}", "content": content})
    return messages


async def test_inline_draws_large_results_and_says_why_others_stay_text() -> None:
    messages = request(DENSE, "short")
    async with daemon() as client:
        made = await client.snapcompact_inline(model=CLAUDE, messages=messages, tool_results=True)
        assert [(item.tool_call_id, item.imaged, item.reason) for item in made.items] == [
            ("call-0", True, None),
            ("call-1", False, "small"),
            ("call-2", False, "latest"),
        ]
        assert [block["type"] for block in made.messages[2]["content"]] == ["text"] + ["image"] * made.images
        assert made.messages[4] == messages[4]
        assert made.saved_tokens == made.items[0].text_tokens - made.items[0].frame_tokens > 0


async def test_a_plan_is_what_inline_then_does_and_carries_no_messages() -> None:
    asked = {"model": CLAUDE, "messages": request(DENSE), "system_prompt": [DENSE], "tool_results": True}
    async with daemon() as client:
        plan = await client.snapcompact_inline(**asked, system_prompt_mode="all", plan_only=True)
        done = await client.snapcompact_inline(**asked, system_prompt_mode="all")
        assert plan.items == done.items
        assert (plan.images, plan.saved_tokens) == (done.images, done.saved_tokens)
        assert plan.messages == []
        assert len(done.system_prompt[0]) < len(DENSE)


async def test_without_a_user_message_the_system_prompt_stays_text() -> None:
    async with daemon() as client:
        for plan_only in (True, False):
            made = await client.snapcompact_inline(
                model=CLAUDE, messages=[], system_prompt=[PROSE], system_prompt_mode="all", plan_only=plan_only
            )
            assert [(item.target, item.reason) for item in made.items] == [("systemPrompt", "no-user")]


async def test_a_model_that_cannot_see_gets_its_request_back_unchanged() -> None:
    messages = request(DENSE)
    async with daemon() as client:
        made = await client.snapcompact_inline(model="deepseek/deepseek-chat", messages=messages, tool_results=True)
        assert made.messages == messages
        assert made.images == 0


async def test_savings_of_a_session_are_written_down_once(tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    async with daemon(**{"sessions.root": str(root)}) as client:
        session = await client.session_create(cwd=str(tmp_path), model=CLAUDE)
        for _ in range(2):
            made = await client.snapcompact_inline(
                messages=request(DENSE), tool_results=True, session_id=session.session_id
            )
            assert made.images > 0
        lines = (tmp_path / "snapcompact-savings.jsonl").read_text().splitlines()
        assert [json.loads(line)["toolCallId"] for line in lines] == ["call-0"]
        assert json.loads(lines[0])["savedTokens"] == made.saved_tokens
