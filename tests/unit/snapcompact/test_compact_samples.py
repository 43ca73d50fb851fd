"""Real transcripts become archives that hold their text, fit their budgets and are drawn for every family."""

import itertools
from pathlib import Path

import anyio
import pytest

from echo_frames import echo
from octavo.js_text import utf16_length
from octavo.sessions.llm_messages import to_llm_messages
from octavo.sessions.migrate import migrate_to_current
from octavo.sessions.reading import parse_lines
from octavo.snapcompact.archive import archive_text, open_archive
from octavo.snapcompact.compact import compact_to_frames
from octavo.snapcompact.drawing import rasterizer
from octavo.snapcompact.frames import png_size_of
from octavo.snapcompact.terms import FrameOptions, FrameRequest, Window
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model

MODELS = [
    Model("anthropic", "claude-opus-4-8", "anthropic-messages"),
    Model("openai", "gpt-5.5", "openai-responses"),
    Model("google", "gemini-3-flash", "google-generative-ai"),
]


def llm_messages(path: Path) -> list[JsonObject]:
    header, *entries = parse_lines(path.read_bytes()).objects
    counter = itertools.count()
    migrated = migrate_to_current(header, entries, new_id=lambda: f"e{next(counter)}")
    return to_llm_messages(entry["message"] for entry in migrated.entries if entry.get("type") == "message")


@pytest.mark.samples
@pytest.mark.parametrize("name", ["before-compaction.jsonl", "large-session.jsonl"])
async def test_ten_compactions_of_a_real_session_stay_in_budget_and_keep_its_head(samples: Path, name: str) -> None:
    messages = llm_messages(samples / "pi" / name)
    options = FrameOptions.for_model(MODELS[0], max_frames=12)
    share = -(-len(messages) // 10)
    preserved, first = None, None
    for start in range(0, len(messages), share):
        request = FrameRequest("kept", messages[start : start + share], 10**9, previous_preserve_data=preserved)
        result = await compact_to_frames(request, options, echo, Window(200_000, 5000, 20_000, lambda t: len(t) // 3))
        preserved = result.preserve_data
        archive = result.archive
        first = first or archive.frames[0]
        assert archive.frames[0] == first
        assert len(archive.frames) <= 12
        assert archive.data_bytes <= 3_000_000
        assert result.tokens_after is not None
        assert result.tokens_after <= 170_000
    shown = archive.total_chars + archive.truncated_chars + utf16_length(archive.text_tail or "")
    known = utf16_length(archive.text or "") + archive.text_dropped
    # Dim toggles are characters of the source and of the tail, but of no frame.
    assert shown >= known - 10 - sum((archive.text or "").count(toggle) for toggle in "\x0e\x0f") * 2
    assert archive_text(archive).startswith("[User]: ")


@pytest.mark.samples
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.id)
async def test_a_real_session_is_drawn_for_every_family(samples: Path, model: Model) -> None:
    messages = llm_messages(samples / "pi" / "large-session.jsonl")
    with anyio.fail_after(60):
        result = await compact_to_frames(
            FrameRequest("kept", messages[:150], 10**9), FrameOptions.for_model(model), rasterizer()
        )
    reading = open_archive(result.preserve_data)
    assert reading.problems == ()
    assert reading.archive is not None
    for frame in reading.archive.frames:
        width, height = png_size_of(frame) or (0, 0)
        assert width == FrameOptions.for_model(model).size
        assert 0 < height <= width
