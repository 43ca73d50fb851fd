"""What a host is told at its three places, and what was done before it was told."""

import math
from pathlib import Path
from typing import Any

import anyio
import pytest

from octavo.maintenance.measuring import plain_estimate
from octavo.maintenance.strategies import Wish
from octavo.sessions.context import build_context
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model
from octavo_protocol.methods.maintenance import At, Directive
from octavo_protocol.settings import Settings
from support.scripted import (
    SONNET,
    SUMMARY,
    Scene,
    ScriptedModel,
    answer,
    assistant,
    call,
    failing,
    result,
    scene,
    talk,
    text,
    user,
)

SMALL = Model("anthropic", "claude-sonnet-4-5", "anthropic-messages", 20_000, 8_000, ("text", "image"))
LARGE = Model("anthropic", "claude-large", "anthropic-messages", 1_000_000, 8_000, ("text", "image"))
TOO_LONG = "prompt is too long: 213462 tokens > 200000 maximum"


def settings(**dotted: Any) -> Settings:
    plain = {key.replace("__", "."): value for key, value in dotted.items()}
    few = {"compaction.keepRecentTokens": 600, "compaction.reserveTokens": 2_000, "retry.baseDelayMs": 0}
    return Settings.from_dotted({**few, **plain})


async def session(turns: int = 8, *, folder: Path | None = None, **changes: Any) -> Scene:
    made = await scene(folder, **{"settings": settings(), "model": SMALL, **changes})
    await talk(made.session, turns)
    return made


async def full(**changes: Any) -> Scene:
    """A session above the threshold of 17,000 tokens, by its own texts."""
    made = await session(8, **changes)
    await made.session.append(messages=[user(f"Look at this too: {text(4_100)}"), assistant("It is in order.")])
    return made


async def fail(made: Scene, message: str = TOO_LONG, **fields: Any) -> str:
    """Append a request and a turn that failed; returns the turn's id."""
    said = assistant([], stopReason="error", errorMessage=message, **fields)
    done = await made.session.append(messages=[user("And what of Osaka?"), said])
    return done.entry_ids[-1]


def ends(made: Scene) -> list[Any]:
    starts, finished = made.host.named("session/compactionStart"), made.host.named("session/compactionEnd")
    assert [s.operation_id for s in starts] == [e.operation_id for e in finished]
    return finished


def compactions(made: Scene) -> list[JsonObject]:
    return [entry for entry in made.session.branch() if entry["type"] == "compaction"]


def in_context(made: Scene, entry_id: str | None) -> bool:
    return entry_id in build_context(made.session.branch()).entry_ids


async def turn_end(made: Scene, **asked: Any) -> Directive:
    return await made.maintainer.check_maintenance("turnEnd", **asked)


# -- overflow ------------------------------------------------------------------------------------------------------


async def test_a_request_that_was_too_long_is_compacted_and_tried_again_without_the_failed_turn() -> None:
    """The failed turn leaves the context and stays in the tree (engine.md §17c 107)."""
    made = await session()
    failed = await fail(made)
    done = await turn_end(made)
    assert (done.action, done.next, done.reason, done.drop_entry_id) == ("compacted", "retry", "overflow", failed)
    assert not in_context(made, failed)
    assert made.session.tree.get(failed)["message"]["errorMessage"] == TOO_LONG
    assert [(e.reason, e.will_retry, e.error_message) for e in ends(made)] == [("overflow", True, None)]
    assert build_context(made.session.branch()).messages[-1]["content"] == "And what of Osaka?"


async def test_settings_changed_after_the_failed_turn_come_along() -> None:
    made = await session()
    await fail(made)
    await made.session.set_thinking_level("high")
    await turn_end(made)
    assert build_context(made.session.branch()).thinking_level == "high"


async def test_a_second_overflow_without_a_successful_turn_is_a_dead_end_with_an_event() -> None:
    """BR-038: a provider that always overflows costs one recovery, not endless ones."""
    made = await session()
    await fail(made)
    assert (await turn_end(made)).next == "retry"
    again = assistant([], stopReason="length", usage={"input": int(SMALL.context_window * 0.99), "output": 0})
    await made.session.append(messages=[{**again, "stopReason": "error", "errorMessage": TOO_LONG}])
    done = await turn_end(made)
    assert (done.action, done.next) == ("none", "stop")
    assert "too long again" in (done.skipped or "")
    assert (ends(made)[-1].error_message or "").startswith("Context overflow recovery failed: ")
    assert len(compactions(made)) == 1


async def test_an_overflow_after_a_successful_turn_is_recovered_anew() -> None:
    made = await session()
    await fail(made)
    await turn_end(made)
    await made.session.append(messages=[assistant("Osaka is in order."), user("Thanks, go on."), assistant("Done.")])
    await turn_end(made)
    await talk(made.session, 6)
    await fail(made)
    assert (await turn_end(made)).next == "retry"


async def test_an_empty_length_stop_in_a_full_window_counts_as_overflow_and_is_recovered_once() -> None:
    """BR-038: stop=length, output 0, input at 99 % of the window, again and again."""
    made = await full()
    stop = assistant([], stopReason="length", usage={"input": int(SMALL.context_window * 0.99), "output": 0})
    following = []
    for _ in range(4):
        await made.session.append(messages=[stop])
        following.append((await turn_end(made)).next)
    assert following[0] == "retry"
    assert following[-1] == "stop" or following[-1] == "proceed"
    assert following.count("retry") <= 4
    assert sum(e.reason == "overflow" and e.result is not None for e in ends(made)) == 1


async def test_an_overflow_of_another_model_or_from_before_the_compaction_changes_nothing() -> None:
    """BR-043, engine.md §17c 76."""
    made = await session()
    await fail(made, model="claude-opus-4-1")
    assert (await turn_end(made)).action == "none"
    made = await session()
    await made.compactor.compact(Wish("manual"))
    await fail(made, timestamp=1)
    assert (await turn_end(made)).action == "none"
    assert len(compactions(made)) == 1


async def test_when_no_model_answers_an_overflow_is_recovered_locally() -> None:
    made = await session(completion=ScriptedModel([failing("invalid request", 400)]), model=SMALL)
    made.host.model = Model(SMALL.provider, SMALL.id, SMALL.api, SMALL.context_window, 8_000, ("text",))
    await fail(made)
    done = await turn_end(made)
    assert done.next == "retry"
    assert done.result is not None
    assert done.result.action == "extractive"


async def test_a_recovery_that_fails_puts_the_failed_turn_back_and_says_why() -> None:
    made = await session(
        completion=ScriptedModel([failing("invalid request", 400)]),
        settings=settings(compaction__localFallback="never"),
    )
    failed = await fail(made)
    before = made.session.leaf_id
    done = await turn_end(made)
    assert (done.action, done.next) == ("none", "stop")
    assert made.session.leaf_id == before
    assert in_context(made, failed)
    assert (ends(made)[-1].error_message or "").startswith("Context overflow recovery failed: ")


async def test_with_automatic_compaction_off_an_overflow_is_explained_and_left_to_the_user() -> None:
    made = await session(settings=settings(compaction__enabled=False))
    failed = await fail(made)
    done = await turn_end(made)
    assert (done.action, done.next) == ("none", "stop")
    assert "compaction.enabled" in (done.skipped or "")
    assert in_context(made, failed)
    assert ends(made) == []


async def test_a_throttle_that_speaks_of_tokens_never_touches_the_history() -> None:
    """BR-056."""
    made = await session()
    await fail(made, "429 too many tokens per minute, please slow down")
    done = await turn_end(made)
    assert (done.action, done.next) == ("none", "proceed")
    assert ends(made) == []


async def test_an_unknown_error_near_a_full_window_is_told_with_its_figures_and_nothing_is_done() -> None:
    """BR-056: maybe an overflow."""
    made = await full()
    await made.session.append(messages=[user(text(1_500)), assistant([], stopReason="error", errorMessage="bad field")])
    done = await turn_end(made)
    assert done.action == "none"
    assert str(SMALL.context_window) in done.notices[0].message
    assert ends(made) == []


async def test_a_body_too_large_drops_images_first_and_leaves_the_text_alone() -> None:
    """engine.md §17c 92, 110: a request too large in bytes is not a context too long in tokens."""
    made = await session(folder=None)
    picture = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo" * 8_000}
    await made.session.append(messages=[user([picture]), assistant("A chart."), user([picture]), assistant("Another.")])
    failed = await fail(made, "413 request_too_large: Request exceeds the maximum size")
    done = await turn_end(made)
    assert (done.action, done.next, done.drop_entry_id) == ("pruned", "retry", failed)
    assert compactions(made) == []


async def test_a_body_too_large_without_images_and_with_room_left_is_explained() -> None:
    made = await session()
    await fail(made, "413 Payload Too Large")
    done = await turn_end(made)
    assert (done.action, done.next) == ("none", "stop")
    assert ends(made) == []


async def test_a_last_result_that_alone_exceeds_the_window_is_shaken_out_and_the_turn_tried_again() -> None:
    """engine.md §17c 98: shaken, then its images dropped, then reported."""
    made = await session(2)
    huge = text(25_000)
    await made.session.append(
        messages=[user("Read it all."), assistant([call("big", "read", path="all.csv")]), result("big", "read", huge)]
    )
    failed = (await made.session.append(messages=[assistant([], stopReason="error", errorMessage=TOO_LONG)])).entry_ids[
        0
    ]
    done = await turn_end(made)
    assert (done.next, done.drop_entry_id) == ("retry", failed)
    assert done.usage.tokens < SMALL.context_window
    assert "artifact://" in str(build_context(made.session.branch()).messages[-1]["content"])


async def test_a_message_that_alone_exceeds_the_window_ends_in_a_report() -> None:
    made = await session(1)
    await made.session.append(messages=[user(text(25_000)), assistant([], stopReason="error", errorMessage=TOO_LONG)])
    done = await turn_end(made)
    assert done.next == "stop"
    assert any(n.level == "error" for n in done.notices)
    ends(made)


# -- cut-off answers -----------------------------------------------------------------------------------------------


async def test_a_cut_answer_is_recovered_at_most_three_times_in_a_row() -> None:
    """engine.md §17c 101, BR-092."""
    made = await session()
    following = []
    for _ in range(5):
        await talk_on(made)
        following.append((await turn_end(made)).next)
    assert following == ["retry", "retry", "retry", "stop", "stop"]
    assert (ends(made)[-1].error_message or "").startswith("Incomplete response recovery failed: ")


async def talk_on(made: Scene) -> None:
    """Tool work without an answer of its own, then an answer that is cut."""
    for number in range(3):
        await made.session.append(messages=[user(text(300, seed=number))])
    await made.session.append(messages=[assistant("It begins", stopReason="length", usage={"input": 900, "output": 3})])


async def test_a_tiny_cut_answer_beyond_the_window_is_tried_again_and_not_taken_for_the_end() -> None:
    """BR-092: stop=length with 300 output tokens at 136 % of the window."""
    made = await full()
    usage = {"input": int(SMALL.context_window * 1.36), "output": 300}
    await made.session.append(messages=[user("Go on."), assistant("It begins", stopReason="length", usage=usage)])
    assert (await turn_end(made)).next == "retry"


async def test_an_aborted_turn_is_left_alone() -> None:
    made = await full()
    await made.session.append(messages=[user("stop"), assistant("I", stopReason="aborted")])
    assert (await turn_end(made)).action == "none"


# -- threshold -----------------------------------------------------------------------------------------------------


async def test_a_final_answer_above_the_threshold_is_compacted_and_nothing_is_continued() -> None:
    """BR-092: stop with text and no queue opens no new turn."""
    made = await full()
    done = await turn_end(made)
    assert (done.action, done.next, done.prompt) == ("compacted", "proceed", None)
    assert (await turn_end(made)).action == "none"


async def test_with_messages_queued_the_host_is_told_to_go_on() -> None:
    made = await full()
    done = await turn_end(made, queued=True)
    assert (done.action, done.next) == ("compacted", "autoContinue")
    assert done.prompt


@pytest.mark.parametrize("off", [{"auto_continue": False}, {}])
async def test_automatic_continuation_can_be_declined_by_call_and_by_setting(off: dict[str, Any]) -> None:
    made = await full(settings=settings(**({} if off else {"compaction__autoContinue": False})))
    assert (await turn_end(made, queued=True, **off)).next == "proceed"


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"input": None, "output": "x"},
        {"input": math.nan},
        {"input": 10**12, "totalTokens": 10**12},
        {"input": -1},
    ],
)
async def test_usage_that_cannot_be_true_never_starts_anything(usage: Any) -> None:
    """BR-040, BR-062: a fresh session with nonsense usage, and a usage accumulated over a whole loop."""
    made = await session(1)
    await made.session.append(messages=[user("Hello"), assistant("Hello.", usage=usage)])
    for at in ("turnEnd", "midTurn", "prePrompt"):
        done = await made.maintainer.check_maintenance(at)  # type: ignore[arg-type]
        assert (done.action, done.next) == ("none", "proceed")
    assert ends(made) == []


async def test_an_unknown_window_never_starts_anything() -> None:
    """BR-040."""
    made = await full(model=Model("local", "llama"))
    assert (await turn_end(made)).action == "none"
    assert ends(made) == []


async def test_usage_from_before_the_compaction_is_forgotten_after_it() -> None:
    """BR-043, BR-044: the figure after a compaction is that of the rebuilt context and rises with what is new only."""
    made = await session()
    await made.session.append(messages=[user("More"), assistant("Yes.", usage={"input": 18_500, "output": 2})])
    first = await turn_end(made)
    assert first.action == "compacted"
    await made.session.append(messages=[user("one two three four five six seven eight nine ten")])
    second = await made.maintainer.check_maintenance("prePrompt")
    assert second.action == "none"
    assert 0 < second.usage.tokens - first.usage.tokens < 30
    assert second.usage.tokens < 5_000


async def test_what_a_request_left_out_does_not_hide_how_large_the_session_is() -> None:
    """engine.md §17c 105: the local estimate is a floor."""
    made = await full()
    await made.session.append(messages=[user("More"), assistant("Yes.", usage={"input": 12_000, "output": 2})])
    assert (await turn_end(made)).action == "compacted"


async def test_encrypted_reasoning_alone_does_not_reach_the_threshold() -> None:
    """BR-061: 2 kB of text and 200 kB of opaque signature, measured at little."""
    made = await session(1)
    thinking = {"type": "thinking", "thinking": "short", "thinkingSignature": "A" * 200_000}
    said = assistant([thinking, {"type": "text", "text": text(300)}], usage={"input": 1_500, "output": 400})
    await made.session.append(messages=[user("Think."), said])
    assert (await turn_end(made)).action == "none"


async def test_a_long_tool_loop_is_compacted_in_its_middle_once_per_crossing() -> None:
    """BR-041, BR-049: one user message and many tool results; the check answers at every boundary."""
    made = await scene(settings=settings(compaction__keepRecentTokens=2_000), model=SMALL)
    await made.session.append(messages=[user("Go through all parts.")])
    done = []
    for number in range(60):
        block = call(f"c{number}", "read", path=f"part{number}.csv")
        await made.session.append(
            messages=[assistant([block], stopReason="toolUse"), result(f"c{number}", "read", text(300, seed=number))]
        )
        done.append(await made.maintainer.check_maintenance("midTurn"))
        assert done[-1].usage.tokens <= 17_000
    assert {d.next for d in done} == {"proceed"}
    crossings = [d for d in done if d.action == "compacted"]
    assert 1 <= len(crossings) <= 6
    assert len(ends(made)) == len(crossings)
    assert {e.reason for e in ends(made)} == {"midTurn"}


async def read_all(made: Scene, rounds: int, at: At, *, edit: bool = False) -> list[list[str]]:
    """Read five files that do not fit the window together, again and again; the notices of each round."""
    told: list[list[str]] = []
    for turn in range(rounds):
        told.append([])
        if edit:
            await made.session.append(
                messages=[
                    assistant([call(f"e{turn}", "edit", path="part0.csv", text=f"{turn}")], stopReason="toolUse"),
                    result(f"e{turn}", "edit", "done"),
                ]
            )
        for number in range(5):
            ident = f"c{turn}-{number}"
            block = call(ident, "read", path=f"part{number}.csv")
            output = result(ident, "read", text(2_200, seed=number))
            await made.session.append(messages=[assistant([block], stopReason="toolUse"), output])
            done = await made.maintainer.check_maintenance(at, queued=True)
            circles = [notice.message for notice in done.notices if "No progress" in notice.message]
            told[-1] += circles
            assert not circles or done.next == ("stop" if at == "turnEnd" else "proceed")
    return told


@pytest.mark.parametrize("at", ["midTurn", "turnEnd"])
async def test_reading_the_same_files_after_every_compaction_is_reported_as_no_progress(at: At) -> None:
    """BR-085: what the task needs is larger than the window; the list of files outlives every round."""
    made = await scene(settings=settings(), model=SMALL)
    await made.session.append(messages=[user("Compare all five parts.")])
    told = await read_all(made, 5, at)
    assert not told[0]
    assert told[-1]
    assert all(f"part{number}.csv" in told[-1][-1] for number in range(5))
    files = compactions(made)[-1]
    assert files["details"]["readFiles"] == [f"part{number}.csv" for number in range(5)]
    assert files["summary"].count("(Read)") == 5


async def test_reading_again_after_a_change_or_because_a_person_asks_is_progress() -> None:
    made = await scene(settings=settings(), model=SMALL)
    await made.session.append(messages=[user("Correct the parts.")])
    assert not any(await read_all(made, 4, "midTurn", edit=True))
    for _ in range(3):
        await made.session.append(messages=[user("Read them once more.")])
        assert not any(await read_all(made, 1, "midTurn"))


async def test_mid_turn_maintenance_can_be_turned_off() -> None:
    made = await full(settings=settings(compaction__midTurnEnabled=False))
    assert (await made.maintainer.check_maintenance("midTurn")).action == "none"


async def test_a_result_that_shrinks_little_ends_continuation_with_a_warning_and_is_not_repeated_at_once() -> None:
    """BR-049, engine.md §17c 97."""
    made = await session(1, settings=settings(compaction__keepRecentTokens=16_400))
    await made.session.append(messages=[user(text(8_000)), assistant("Yes."), user("More"), assistant("No.")])
    await made.session.append(messages=[user(text(100))])
    done = await turn_end(made, queued=True)
    assert done.action == "compacted"
    assert done.next == "stop"
    assert any("close to the threshold" in n.message for n in done.notices)
    calls = len(made.host.completion.requests)
    await made.session.append(messages=[assistant("Short.")])
    for _ in range(3):
        later = await turn_end(made)
        assert later.action == "none"
    assert len(made.host.completion.requests) == calls


async def test_a_check_during_a_running_compaction_tells_the_host_to_wait() -> None:
    """BR-049: one in flight per session."""
    made = await full(completion=ScriptedModel(hang=True))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(made.compactor.compact, Wish("manual"))
            await made.host.completion.asked.wait()
            done = await made.maintainer.check_maintenance("midTurn")
            assert (done.action, done.next) == ("none", "wait")
            assert made.slot.current is not None
            assert done.operation_id == made.slot.current.id
            tasks.cancel_scope.cancel()


async def test_a_turn_that_was_too_long_waits_for_the_decision_about_a_held_compaction() -> None:
    made = await session()
    held = await made.compactor.compact(Wish("manual", "extractive"), hold=True)
    assert ((await turn_end(made)).next, compactions(made)) == ("proceed", [])
    await fail(made)
    done = await turn_end(made)
    assert (done.action, done.next, done.operation_id) == ("none", "stop", held.operation_id)
    assert "apply or discard it" in done.notices[0].message
    made.compactor.discard(held.operation_id)
    assert (await turn_end(made)).next == "retry"


async def test_three_failures_pause_automatic_attempts_and_every_skip_says_why() -> None:
    """BR-052: no silent way out."""
    made = await full(
        completion=ScriptedModel([failing("invalid request", 400)]),
        settings=settings(compaction__localFallback="never"),
    )
    for _ in range(3):
        done = await turn_end(made)
        assert (done.action, bool(done.skipped)) == ("none", True)
    asked = len(made.host.completion.requests)
    done = await turn_end(made)
    assert "pauses" in (done.skipped or "")
    assert len(made.host.completion.requests) == asked
    assert [e.skip_reason for e in ends(made)][-1] == done.skipped
    made.host.settings = settings(compaction__localFallback="always")
    assert (await turn_end(made)).action == "compacted"


@pytest.mark.parametrize("share", [0.6, 0.9, 1.1])
async def test_automatic_attempts_pause_whatever_share_of_the_estimate_the_provider_measured(share: float) -> None:
    """A provider that leaves out what was cached must not make every turn look like one after much growth."""
    made = await full(
        completion=ScriptedModel([failing("invalid request", 400)]),
        settings=settings(compaction__localFallback="never"),
    )
    sent = int(plain_estimate(made.host, made.session.branch()) * share)
    await made.session.append(messages=[user("And Osaka?"), assistant("Fine.", usage={"input": sent, "output": 5})])
    for _ in range(3):
        await turn_end(made)
    asked = len(made.host.completion.requests)
    assert "pauses" in ((await turn_end(made)).skipped or "")
    assert len(made.host.completion.requests) == asked


async def test_a_prompt_that_would_go_over_is_made_room_for_before_it_is_sent() -> None:
    """engine.md §17c 81: before the turn, in line, without continuing by itself."""
    made = await session(8)
    done = await made.maintainer.check_maintenance("prePrompt", pending_messages=[user(text(6_000))], queued=True)
    assert (done.action, done.next, done.reason) == ("compacted", "proceed", "threshold")


async def test_a_prompt_that_no_compaction_can_make_fit_is_not_to_be_sent() -> None:
    made = await session(4)
    done = await made.maintainer.check_maintenance("prePrompt", pending_messages=[user(text(12_000))])
    assert done.next == "stop"
    assert "window" in (done.skipped or "")


async def test_when_the_summary_fails_and_the_prompt_would_overflow_the_local_summary_stands_in() -> None:
    made = await session(10, completion=ScriptedModel([failing("invalid request", 400)]))
    done = await made.maintainer.check_maintenance("prePrompt", pending_messages=[user(text(8_000))])
    assert (done.action, done.next) == ("compacted", "proceed")
    assert done.usage.tokens < 8_000


async def test_many_large_images_are_thinned_out_by_bytes_however_few_their_tokens() -> None:
    """BR-064: 40 images of 0.85 MB with room in tokens."""
    made = await scene(settings=settings(), model=LARGE)
    for number in range(40):
        picture = {"type": "image", "mimeType": "image/png", "data": f"{number:04d}" + "iVBORw0KGgoA" * 70_833}
        await made.session.append(messages=[user([picture]), assistant("Seen.", model=LARGE.id)])
    done = await turn_end(made)
    assert done.action == "pruned"
    shown = str(build_context(made.session.branch()).messages).count("'type': 'image'")
    assert 5 < shown < 20
    assert (await turn_end(made)).action == "none"
    assert compactions(made) == []


# -- promotion -----------------------------------------------------------------------------------------------------


async def test_a_larger_model_is_tried_before_anything_is_compacted() -> None:
    made = await full(others=[LARGE])
    made.host.promotions = {SMALL.ref: LARGE.ref}
    done = await turn_end(made)
    assert (done.action, done.next, done.model) == ("promoted", "proceed", LARGE.ref)
    assert build_context(made.session.branch()).models["default"] == LARGE.ref
    told = made.host.named("session/modelPromoted")[0].to_wire()
    assert (told["from"], told["to"], told["reason"]) == (SMALL.ref, LARGE.ref, "threshold")
    assert compactions(made) == []


async def test_after_an_overflow_the_larger_model_repeats_the_turn() -> None:
    made = await session(others=[LARGE])
    made.host.promotions = {SMALL.ref: LARGE.ref}
    failed = await fail(made)
    done = await turn_end(made)
    assert (done.action, done.next, done.drop_entry_id) == ("promoted", "retry", failed)
    assert not in_context(made, failed)


@pytest.mark.parametrize("why", ["disabled", "unreachable", "smaller", "itself"])
async def test_a_promotion_that_cannot_help_is_not_made(why: str) -> None:
    target = Model("anthropic", "claude-x", "anthropic-messages", 10_000 if why == "smaller" else 900_000)
    made = await full(others=[target], settings=settings(contextPromotion__enabled=why != "disabled"))
    made.host.promotions = {SMALL.ref: SMALL.ref if why == "itself" else target.ref}
    made.host.unreachable = {target.ref} if why == "unreachable" else set()
    assert (await turn_end(made)).action == "compacted"


# -- other strategies ----------------------------------------------------------------------------------------------


async def test_shaking_alone_is_enough_when_it_frees_enough() -> None:
    made = await scene(settings=settings(compaction__strategy="shake"), model=SONNET)
    await made.session.append(
        messages=[user("Read."), assistant([call("big", "read", path="a")]), result("big", "read", text(60_000))]
    )
    await made.session.append(
        messages=[user(text(9_000)), assistant(text(1_000), usage={"input": 171_000, "output": 9})]
    )
    made.host.model = Model(SONNET.provider, SONNET.id, SONNET.api, 160_000, 8_000)
    done = await turn_end(made)
    assert done.tokens_freed > 50_000
    assert ends(made)[0].action == "shake"


async def test_a_deferred_handoff_runs_after_the_answer_and_tells_the_host_where_to_go_on(tmp_path: Path) -> None:
    """engine.md §17c 79."""
    made = await full(folder=tmp_path, settings=settings(compaction__strategy="handoff"))
    jobs: list[Any] = []
    made.maintainer.background = jobs.append
    done = await turn_end(made, queued=True)
    assert (done.action, done.next) == ("deferred", "wait")
    assert (await made.maintainer.check_maintenance("prePrompt")).next == "wait"
    await jobs[0]()
    new = made.host.successors[0]
    told = made.host.named("session/continue")[0]
    assert (told.session_id, told.kind) == (new.session_id, "autoContinue")
    assert [e.action for e in ends(made)] == ["handoff"]
    await new.close()
    await made.session.close()


async def test_a_handoff_never_runs_in_the_middle_of_a_turn_nor_after_an_overflow() -> None:
    made = await full(settings=settings(compaction__strategy="handoff"))
    assert (await made.maintainer.check_maintenance("midTurn")).action == "compacted"
    made = await session(settings=settings(compaction__strategy="handoff"))
    await fail(made)
    assert (await turn_end(made)).action == "compacted"
    assert made.host.successors == []


async def test_a_handoff_without_a_document_falls_back_to_a_compaction() -> None:
    replies = [answer("  "), answer(" "), answer(SUMMARY)]
    made = await full(settings=settings(compaction__strategy="handoff"), completion=ScriptedModel(list(replies)))
    done = await made.maintainer.check_maintenance("prePrompt")
    assert done.action == "compacted"
    assert [e.action for e in ends(made)] == ["handoff", "context-full"]


async def test_aborting_a_recovery_puts_everything_back() -> None:
    """BR-086."""
    made = await session(completion=ScriptedModel(hang=True))
    failed = await fail(made)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:

            async def check() -> None:
                done = await turn_end(made)
                assert (done.action, done.next) == ("none", "stop")

            tasks.start_soon(check)
            await made.host.completion.asked.wait()
            assert made.slot.abort()
    assert in_context(made, failed)
    assert [e.aborted for e in ends(made)] == [True]
    assert made.slot.current is None


async def test_with_little_headroom_a_small_gain_is_taken_too() -> None:
    """BR-053: 198,500 of 200,000 used, and the removable part is small."""
    made = await session(2, settings=settings(compaction__keepRecentTokens=16_000))
    await made.session.append(messages=[user(text(7_400)), assistant("Yes.")])
    before = made.host.estimator.total(build_context(made.session.branch()).messages)
    assert before > 17_000
    done = await turn_end(made)
    assert done.action == "compacted"
    assert done.usage.tokens < before


async def test_a_host_that_goes_away_during_a_recovery_leaves_the_failed_turn_in_its_place() -> None:
    made = await session(completion=ScriptedModel(hang=True))
    failed = await fail(made)
    before = made.session.leaf_id
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(turn_end, made)
            await made.host.completion.asked.wait()
            tasks.cancel_scope.cancel()
    assert made.session.leaf_id == before
    assert in_context(made, failed)
    assert [e.aborted for e in ends(made)] == [True]


async def test_a_dead_end_does_not_keep_a_person_from_prompting_again() -> None:
    """After an overflow that nothing helped against, another prompt that fits may be sent, and recovered once."""
    made = await session()
    await fail(made)
    assert (await turn_end(made)).next == "retry"
    await fail(made)
    assert (await turn_end(made)).next == "stop"
    prompt = user("Forget that; only Kobe, please.")
    asked = await made.maintainer.check_maintenance("prePrompt", pending_messages=[prompt])
    assert asked.next == "proceed"
    await made.session.append(messages=[prompt])
    await talk(made.session, 4)
    await fail(made)
    assert (await turn_end(made)).next == "retry"


async def test_with_compaction_off_a_failed_turn_does_not_block_the_next_prompt() -> None:
    made = await session(settings=settings(compaction__strategy="off"))
    await fail(made)
    done = await made.maintainer.check_maintenance("prePrompt", pending_messages=[user("Shorter, please.")])
    assert done.next == "proceed"
