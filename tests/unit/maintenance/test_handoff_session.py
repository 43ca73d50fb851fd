"""Handing a session over: one start and one end, a successor that knows its parent, a reason for every failure."""

import base64
from pathlib import Path
from typing import Any

import anyio
import pytest

from octavo.maintenance.handoff_session import HandoffSession, HandoffWish
from octavo.maintenance.host import Successor
from octavo.sessions.library import Library
from octavo_protocol.completion import CompletionRequest, CompletionResult
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.settings import Settings
from support.scripted import Scene, ScriptedModel, answer, failing, scene, talk, user

DOCUMENT = "## Goal\nFind out why the forecast of Kobe is too high."


async def talked(folder: Path | None = None, turns: int = 2, **changes: Any) -> Scene:
    made = await scene(folder, **{"completion": ScriptedModel([answer(DOCUMENT)]), **changes})
    await talk(made.session, turns)
    return made


def handoffs(made: Scene) -> HandoffSession:
    return HandoffSession(made.host, made.slot)


def ends(made: Scene) -> list[Any]:
    starts, finished = made.host.named("session/handoffStart"), made.host.named("session/handoffEnd")
    assert [s.operation_id for s in starts] == [e.operation_id for e in finished]
    return finished


async def closed(made: Scene) -> None:
    for session in (*made.host.successors, made.session):
        await session.close()


async def failure(made: Scene, wish: HandoffWish | None = None) -> OctavoError:
    with pytest.raises(OctavoError) as caught:
        await handoffs(made).hand_off(wish or HandoffWish())
    assert made.host.successors == []
    return caught.value


async def test_the_new_session_begins_with_the_document_and_names_its_parent(tmp_path: Path) -> None:
    made = await talked(tmp_path)
    done = await handoffs(made).hand_off(HandoffWish(custom_instructions="mind the harbour office"))
    new = made.host.successors[0]
    assert done.new_session is not None
    assert done.new_session.session_id == new.session_id
    assert new.header["parentSession"] == str(made.session.path)
    assert [e["customType"] for e in new.branch()] == ["handoff"]
    assert new.on_disk
    assert "mind the harbour office" in str(made.host.completion.requests[0].messages[-1])
    assert [(e.aborted, e.error_message) for e in ends(made)] == [(False, None)]
    await closed(made)


async def test_artifacts_of_the_old_session_are_listed_and_readable_in_the_new_one(tmp_path: Path) -> None:
    """BR-083."""
    made = await talked(tmp_path)
    assert isinstance(made.host.library, Library)
    ident = made.host.artifacts.save("plan", "first measure, then compare")
    await handoffs(made).hand_off(HandoffWish())
    new = made.host.successors[0]
    assert made.host.library.artifacts(new).read(ident).text == "first measure, then compare"
    assert f"{ident}.plan.log" in new.branch()[0]["content"]
    await closed(made)


@pytest.mark.parametrize(
    ("replies", "kind", "reason"),
    [
        ([answer("   ")], ErrorKind.CHECK_FAILED, "empty_output"),
        ([failing("invalid request", 400)], ErrorKind.PROVIDER_ERROR, "provider_error"),
    ],
)
async def test_every_way_to_end_without_a_document_has_its_own_reason(
    replies: list[CompletionResult], kind: ErrorKind, reason: str
) -> None:
    """BR-082."""
    made = await talked(completion=ScriptedModel(list(replies)))
    error = await failure(made)
    assert (error.kind, error.data["details"]["reason"]) == (kind, reason)
    assert [(e.aborted, e.error_message) for e in ends(made)] == [(False, error.message)]


async def test_an_abort_is_told_as_one_and_changes_nothing() -> None:
    """BR-082, BR-086."""
    made = await talked(completion=ScriptedModel(hang=True))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                error = await failure(made)
                assert (error.message, error.data["details"]["reason"]) == ("Handoff cancelled", "cancelled")

            tasks.start_soon(run)
            await made.host.completion.asked.wait()
            assert made.slot.abort("handoff")
    assert [e.aborted for e in ends(made)] == [True]
    assert made.slot.current is None


async def test_too_little_no_model_no_key_and_a_busy_agent_are_refused_before_anything_begins() -> None:
    """engine.md §17c 104."""
    assert "no messages yet" in (await failure(await scene())).message
    assert (await failure(await talked(model=None))).message == "No model selected for handoff"
    made = await talked()
    assert made.host.model is not None
    made.host.unreachable = {made.host.model.ref}
    assert (await failure(made)).message == "No API key for anthropic"
    made = await talked(busy=True)
    assert (await failure(made)).kind is ErrorKind.AGENT_BUSY
    assert ends(made) == []


async def test_messages_that_arrive_while_it_is_written_follow_into_the_new_session() -> None:
    """BR-089."""
    made = await talked()

    class Typing(ScriptedModel):
        async def complete(self, request: CompletionRequest, on_progress: Any = None) -> CompletionResult:
            await made.session.append(messages=[user("And Osaka, please.")])
            return await super().complete(request, on_progress)

    made.host.completion = Typing([answer(DOCUMENT)])
    await handoffs(made).hand_off(HandoffWish())
    entries = made.host.successors[0].branch()
    assert [e["type"] for e in entries] == ["custom_message", "message"]
    assert entries[1]["message"]["content"] == "And Osaka, please."


async def test_messages_that_arrive_while_the_new_session_is_made_follow_too(monkeypatch: pytest.MonkeyPatch) -> None:
    made = await talked()
    create = made.host.start_successor

    async def slow(**options: Any) -> Successor:
        successor = await create(**options)
        await made.session.append(messages=[user("And Kobe.")])
        return successor

    monkeypatch.setattr(made.host, "start_successor", slow)
    made.host.completion = ScriptedModel([answer(DOCUMENT)])
    await handoffs(made).hand_off(HandoffWish())
    entries = made.host.successors[0].branch()
    assert [e["message"]["content"] for e in entries[1:]] == ["And Kobe."]


async def test_a_leaf_that_went_elsewhere_supersedes_it() -> None:
    """BR-082, BR-091."""
    made = await talked()

    class Navigating(ScriptedModel):
        async def complete(self, request: CompletionRequest, on_progress: Any = None) -> CompletionResult:
            await made.session.set_leaf(made.session.branch()[0]["id"])
            return await super().complete(request, on_progress)

    made.host.completion = Navigating([answer(DOCUMENT)])
    error = await failure(made)
    assert (error.kind, error.data["details"]["reason"]) == (ErrorKind.CONTENT_MODIFIED, "superseded")


@pytest.mark.parametrize("save", [True, False])
async def test_an_automatic_document_is_saved_beside_the_old_session_when_the_settings_say_so(
    tmp_path: Path, *, save: bool
) -> None:
    dotted = {
        "compaction.strategy": "handoff",
        "compaction.handoffSaveToDisk": save,
        "compaction.thresholdTokens": 500,
    }
    made = await talked(tmp_path, settings=Settings.from_dotted(dotted))
    done = await made.maintainer.check_maintenance("prePrompt")
    assert done.action == "handoff"
    assert done.new_session_id == made.host.successors[0].session_id
    assert made.session.side_folder is not None
    saved = list(made.session.side_folder.glob("handoff-*.md"))
    assert [path.read_text() for path in saved] == ([f"{DOCUMENT}\n"] if save else [])
    assert [e.action for e in made.host.named("session/compactionEnd")] == ["handoff"]
    await closed(made)


async def test_pictures_that_are_stored_beside_the_session_are_shown_to_the_model_as_pictures(tmp_path: Path) -> None:
    """A reference to a blob is no picture: whoever runs the model could not send it."""
    made = await talked(tmp_path)
    data = base64.b64encode(bytes(range(256)) * 8).decode()
    picture = {"type": "image", "mimeType": "image/png", "data": data}
    await made.session.append(messages=[user([{"type": "text", "text": "Look."}, picture])])
    stored = made.session.branch()[-1]["message"]["content"][1]["data"]
    assert stored.startswith("blob:")
    await handoffs(made).hand_off(HandoffWish())
    assert data in str(made.host.completion.requests[0].messages)
    assert stored not in str(made.host.completion.requests[0].messages)
    await closed(made)


async def test_a_handoff_is_asked_for_again_after_a_failure_that_passes() -> None:
    """engine.md §17b 69."""
    made = await talked(
        completion=ScriptedModel([failing("overloaded", 529), answer(DOCUMENT)]),
        settings=Settings.from_dotted({"retry.baseDelayMs": 0}),
    )
    done = await handoffs(made).hand_off(HandoffWish())
    assert done.document == DOCUMENT
    assert len(made.host.completion.requests) == 2
    assert [e.error_message for e in ends(made)] == [None]
