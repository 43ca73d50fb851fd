"""Inline imaging of system prompt and tool results: what is replaced, what never, and that nothing is changed."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_frames import echo, page_text
from octavo.snapcompact.context_sections import extract_sections
from octavo.snapcompact.inline import InlineCache, InlineResult, InlineSettings, estimate_inline, inline_images
from octavo.snapcompact.inline_plan import Candidate, plan_inline
from octavo.snapcompact.journal import SavingsRecorder, read_savings
from octavo.snapcompact.shapes import Shape
from octavo.snapcompact.terms import Picture
from octavo.tokens.counting import count_tokens
from octavo_protocol.completion import Model

SEEING = Model("anthropic", "claude-sonnet-4-5", "anthropic-messages", inputs=("text", "image"))
BLIND = Model("anthropic", "claude-sonnet-4-5", "anthropic-messages")
RESULTS = InlineSettings(tool_results=True)
DENSE = "0123456789 " * 1200
PROMPT = ("You are careful. " * 900, "Second block.")


def tokens(text: str) -> int:
    return len(text) // (4 if text.startswith("prose") else 3)


def result(call: str, text: str = DENSE, **fields: Any) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": call, "content": [{"type": "text", "text": text}], **fields}


def conversation(*results: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "Do it."}, *results, result("last")]


async def image(
    messages: Sequence[dict[str, Any]],
    settings: InlineSettings = RESULTS,
    *,
    prompt: Sequence[str] = PROMPT,
    model: Model = SEEING,
    cache: InlineCache | None = None,
    draw: Any = echo,
    recorder: SavingsRecorder | None = None,
) -> InlineResult:
    return await inline_images(
        prompt,
        messages,
        model=model,
        settings=settings,
        count_tokens=tokens,
        draw=draw,
        cache=cache if cache is not None else InlineCache(),
        recorder=recorder,
    )


async def test_a_large_result_becomes_a_note_and_frames_and_nothing_given_is_changed() -> None:
    messages = conversation(result("a"))
    before = copy.deepcopy(messages)
    sent = (await image(messages)).messages
    assert messages == before
    note, *frames = sent[1]["content"]
    assert "on purpose" in note["text"]
    assert "Do not run the call again" in note["text"]
    assert "".join(page_text(frame["data"]) for frame in frames) == DENSE.strip()
    assert sent[1]["toolCallId"] == "a"
    assert sent[0] is messages[0]
    assert sent[2] is messages[2]


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (result("a", isError=True), "error"),
        (result("a", "small"), "small"),
        (result("a", "prose " * 2166), "margin"),
        ({**result("a"), "content": [{"type": "text", "text": DENSE}, {"type": "image", "data": "x"}]}, "image"),
        (result("a", DENSE * 100), "budget"),
    ],
)
async def test_results_that_must_stay_text_stay(candidate: dict[str, Any], reason: str) -> None:
    messages = conversation(candidate)
    outcome = await image(messages)
    assert outcome.messages[1] is messages[1]
    assert outcome.plan.tool_results[0].reason == reason
    assert outcome.plan.tool_results[1].reason == "last"


@pytest.mark.parametrize(
    ("model", "settings"), [(BLIND, InlineSettings("all", tool_results=True)), (SEEING, InlineSettings())]
)
async def test_a_blind_model_or_settings_that_are_off_change_nothing(model: Model, settings: InlineSettings) -> None:
    messages = conversation(result("a"))
    outcome = await image(messages, settings, model=model)
    assert outcome.messages == tuple(messages)
    assert outcome.system_prompt == PROMPT
    assert outcome.plan.frames == 0


async def test_images_already_in_the_context_use_up_the_providers_budget() -> None:
    """BR-080."""
    gateway = Model("unheard-of", "claude-x", "anthropic-messages", inputs=("text", "image"))
    full = {"role": "user", "content": [{"type": "image", "data": "x"}] * 5}
    outcome = await image([full, *conversation(result("a"))], model=gateway)
    assert outcome.plan.frames == 0
    assert outcome.plan.tool_results[0].reason == "budget"


async def test_the_whole_prompt_moves_to_the_first_user_message_behind_a_note() -> None:
    messages = conversation()
    outcome = await image(messages, InlineSettings("all"))
    assert len(outcome.system_prompt) == 1
    assert "images at the start of the first user message" in outcome.system_prompt[0]
    note, *frames, original = outcome.messages[0]["content"]
    assert "same authority" in note["text"]
    assert "".join(page_text(frame["data"]) for frame in frames).endswith("Second block.")
    assert original == {"type": "text", "text": "Do it."}


async def test_only_the_project_instructions_move_when_asked_for() -> None:
    rules = "<context>" + "Rule. " * 2800 + "</context>"
    outcome = await image(conversation(), InlineSettings("agents-md"), prompt=["Before " + rules + " after", "Tail"])
    assert outcome.system_prompt[0].startswith("Before [")
    assert outcome.system_prompt[0].endswith("] after")
    assert outcome.system_prompt[1] == "Tail"
    assert page_text(outcome.messages[0]["content"][1]["data"]).startswith("<context>Rule.")


async def test_without_a_user_message_the_prompt_stays() -> None:
    outcome = await image([result("a"), result("b")], InlineSettings("all"))
    assert outcome.system_prompt == PROMPT
    assert outcome.plan.system_prompt is not None
    assert outcome.plan.system_prompt.reason == "no-user-message"


async def test_frames_are_drawn_once_until_text_or_shape_changes_and_forgotten_with_the_call() -> None:
    drawn: list[int] = []

    async def counting(pages: Sequence[str], shape: Shape, size: int) -> Sequence[Picture]:
        drawn.append(len(pages))
        return await echo(pages, shape, size)

    cache = InlineCache()
    messages = conversation(result("a"))
    first = await image(messages, InlineSettings("all", tool_results=True), cache=cache, draw=counting)
    again = await image(messages, InlineSettings("all", tool_results=True), cache=cache, draw=counting)
    assert first.messages == again.messages
    assert len(drawn) == 2
    await image(conversation(result("a", DENSE + "!")), cache=cache, draw=counting)
    assert len(drawn) == 3
    await image(messages, InlineSettings(tool_results=True, shape="8x8u-bw"), cache=cache, draw=counting)
    assert len(drawn) == 4
    await image(conversation(), cache=cache, draw=counting)
    assert len(cache) == 1


async def test_the_estimate_is_what_the_transform_does() -> None:
    messages = conversation(result("a"), result("b", "small"), result("c"))
    settings = InlineSettings("all", tool_results=True)
    estimate = estimate_inline(PROMPT, messages, model=SEEING, settings=settings, count_tokens=tokens)
    assert estimate == (await image(messages, settings)).plan
    assert estimate.saved_tokens > 0


async def test_savings_are_recorded_for_imaged_results_only(tmp_path: Path) -> None:
    path = tmp_path / "savings.jsonl"
    recorder = SavingsRecorder(path, "s", lambda: 1, pytest.fail)
    messages = conversation(result("a"), result("b", "small"))
    await image(messages, recorder=recorder)
    await image(messages, recorder=recorder)
    [saving] = read_savings(path)
    assert (saving.tool_call_id, saving.provider) == ("a", "anthropic")
    assert saving.saved_tokens > 0


async def test_malformed_messages_pass_through() -> None:
    odd: list[Any] = [
        {},
        {"role": "toolResult"},
        {"role": "toolResult", "content": 5},
        {"role": "user", "content": None},
    ]
    outcome = await image(odd, InlineSettings("all", tool_results=True))
    assert len(outcome.messages) == 4


def test_sections_are_found_in_every_form_and_unclosed_ones_left_alone() -> None:
    blocks = [
        "a <context>1</context> b <repo-rules>2</repo-rules> c",
        "x\n## Context\n\n<instructions>3</instructions>\ny",
        "<context>open " * 3,
        "## Context without a block",
    ]
    text, rest = extract_sections(blocks, "STUB")
    assert text == (
        "<context>1</context>\n\n<repo-rules>2</repo-rules>\n\n## Context\n\n<instructions>3</instructions>"
    )
    assert rest == ("a STUB b STUB c", "x\nSTUB\ny", *blocks[2:])


@pytest.mark.timeout(20)
def test_a_prompt_of_unclosed_sections_is_scanned_once() -> None:
    assert extract_sections(["<context>" * 200_000], "STUB")[0] == ""


CANDIDATES = st.lists(
    st.builds(Candidate, st.just("x"), st.integers(0, 60_000), st.integers(0, 12), st.booleans(), st.booleans()),
    max_size=12,
)


@given(CANDIDATES, st.integers(-3, 20), st.integers(1, 20_000), st.booleans())
def test_a_plan_never_exceeds_its_budget_never_takes_the_last_and_always_saves(
    candidates: list[Candidate], budget: int, price: int, prompt: bool
) -> None:
    plan = plan_inline(
        tool_results=candidates,
        system_prompt=Candidate("", 50_000, 4) if prompt else None,
        budget=budget,
        frame_token_estimate=price,
        has_user_message=True,
        images_tool_results=True,
        images_system_prompt="all",
    )
    assert plan.frames <= max(0, budget)
    assert not plan.tool_results or not plan.tool_results[-1].imaged
    for decision in plan.tool_results:
        if decision.imaged:
            assert decision.saved_tokens >= 0.1 * decision.candidate.text_tokens > 0


@pytest.mark.parametrize("settings", [RESULTS, InlineSettings("all")])
async def test_text_the_fonts_cannot_draw_stays_text(settings: InlineSettings) -> None:
    """Boxes are cheaper than Tibetan is as text, but no model can read them (BR-079)."""
    tibetan = "བོད་སྐད་ཡིག " * 1500
    messages = conversation(result("a", tibetan))
    done = await inline_images(
        (tibetan,),
        messages,
        model=SEEING,
        settings=settings,
        count_tokens=count_tokens,
        draw=echo,
        cache=InlineCache(),
    )
    assert done.messages == tuple(messages)
    assert done.system_prompt == (tibetan,)
