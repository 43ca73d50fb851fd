"""Pruning and shaking change the session, keep what they take out, and give it back to who goes back."""

import gc
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from octavo.compaction.shake import MANUAL_SHAKE
from octavo.maintenance.reducing import prune, shake, shake_images
from octavo.sessions.context import build_context
from octavo.sessions.library import Library
from octavo.tokens.counting import count_each
from octavo.tokens.estimate import Estimator
from octavo_protocol.base import JsonObject
from support.scripted import Scene, assistant, call, result, scene, talk, text, user


async def reads(folder: Path, count: int = 3, words: int = 900, **fields: Any) -> Scene:
    """A session that reads one file again and again."""
    made = await scene(folder)
    await made.session.append(messages=[user("go")])
    for number in range(count):
        await made.session.append(
            messages=[
                assistant([call(f"c{number}", "read", path="a.ts")]),
                result(f"c{number}", "read", f"version {number} {text(words)}", **fields),
            ]
        )
    await made.session.append(messages=[assistant("done")])
    return made


def outputs(made: Scene) -> list[str]:
    messages = build_context(made.session.branch()).messages
    return [m["content"][0]["text"] for m in messages if m["role"] == "toolResult"]


async def test_superseded_reads_are_blanked_in_the_file_too(tmp_path: Path) -> None:
    made = await reads(tmp_path)
    done = await prune(made.host, "stale")
    assert done.count == 2
    path = made.session.path
    assert path is not None
    await made.session.close()
    again = await Library(tmp_path / "sessions").open_path(path)
    texts = [m["content"][0]["text"] for m in build_context(again.branch()).messages if m["role"] == "toolResult"]
    assert texts[:2] == ["[Superseded by a newer read of this file]"] * 2
    assert texts[2].startswith("version 2")
    await again.close()


async def test_a_dry_run_counts_and_changes_nothing(tmp_path: Path) -> None:
    made = await reads(tmp_path)
    seq = made.session.seq
    assert (await prune(made.host, "stale", dry_run=True)).count == 2
    assert made.session.seq == seq
    await made.session.close()


async def test_two_passes_count_no_output_twice_and_a_dry_run_promises_what_is_done(tmp_path: Path) -> None:
    made = await reads(tmp_path, words=30_000)
    # Long ago: no cache is warm, so that superseded reads may go wherever they are.
    await made.session.append(messages=[assistant("still here", timestamp=1)])
    stale, old = [await prune(made.host, name, dry_run=True) for name in ("stale", "outputs")]
    promised = await prune(made.host, "stale", "outputs", dry_run=True)
    assert stale.count
    assert old.count
    assert set(promised.entry_ids) == {*stale.entry_ids, *old.entry_ids}
    assert len(promised.entry_ids) == promised.count < stale.count + old.count
    assert await prune(made.host, "stale", "outputs") == promised
    await made.session.close()


async def test_old_outputs_go_when_enough_is_gained_even_with_a_single_user_message(tmp_path: Path) -> None:
    """BR-050: protection is by tokens, not by the number of user messages."""
    made = await scene(tmp_path)
    await made.session.append(messages=[user("go")])
    for number in range(30):
        words = text(4000, seed=number)
        await made.session.append(
            messages=[assistant([call(f"c{number}", "bash", command=str(number))]), result(f"c{number}", "bash", words)]
        )
    done = await prune(made.host, "outputs")
    assert done.tokens_saved >= 20_000
    assert outputs(made)[0].startswith("[Output truncated - ")
    assert outputs(made)[-1].startswith("alpha")
    await made.session.close()


async def test_whoever_goes_back_to_before_a_prune_sees_the_outputs_again(tmp_path: Path) -> None:
    """BR-022."""
    made = await reads(tmp_path)
    original = outputs(made)
    early = made.session.branch()[4]["id"]
    await prune(made.host, "stale")
    assert outputs(made)[0] != original[0]
    await made.navigator.navigate(early)
    assert outputs(made) == original[:2]
    await made.session.close()


async def test_shaking_moves_bulk_into_an_artifact_that_can_be_read_back(tmp_path: Path) -> None:
    made = await scene(tmp_path)
    await made.session.append(messages=[user("go"), assistant([call("c", "bash", command="ls")])])
    await made.session.append(messages=[result("c", "bash", text(9000)), assistant("done"), user(text(5000))])
    done = await shake(made.host, MANUAL_SHAKE)
    assert done.result.tool_results_dropped == 1
    assert done.artifact_id == "0"
    assert "artifact://0 (region 1)" in outputs(made)[0]
    assert text(9000) in made.host.artifacts.read("0").text
    again = await shake(made.host, MANUAL_SHAKE)
    assert (again.result.tool_results_dropped, again.artifact_id) == (0, None)
    await made.session.close()


async def test_images_can_be_dropped_oldest_first(tmp_path: Path) -> None:
    made = await scene(tmp_path)
    picture = {"type": "image", "mimeType": "image/png", "data": "A" * 400}
    await made.session.append(messages=[user([{"type": "text", "text": str(n)}, picture]) for n in range(3)])
    done = await shake_images(made.host, keep_bytes=400)
    assert done.result.images_dropped == 2
    shown = [len(m["content"]) for m in build_context(made.session.branch()).messages]
    assert shown == [1, 1, 2]
    await made.session.close()


@pytest.mark.parametrize("path", ["plans/now.md"])
async def test_reads_of_the_active_plan_are_never_pruned(tmp_path: Path, path: str) -> None:
    made = await scene(tmp_path, plan_files=[path])
    await made.session.append(messages=[user("go")])
    for number in range(2):
        await made.session.append(
            messages=[assistant([call(f"c{number}", "read", path=path)]), result(f"c{number}", "read", text(2000))]
        )
    assert (await prune(made.host, "stale")).count == 0
    await made.session.close()


async def test_what_is_pruned_leaves_the_memory_too(tmp_path: Path) -> None:
    """BR-076: the originals are on disk only."""
    made = await reads(tmp_path)
    texts = [
        m["content"][0]["text"] for m in build_context(made.session.branch()).messages if m["role"] == "toolResult"
    ]
    made.host.estimator.total(build_context(made.session.branch()).messages)
    await prune(made.host, "stale")
    gc.collect()
    first, second, newest = [sys.getrefcount(output) for output in texts]
    assert first == second < newest  # the newest is still part of the session
    await made.session.close()


@pytest.mark.parametrize(
    "reduce", [lambda host: prune(host, "stale", "outputs"), lambda host: shake(host, MANUAL_SHAKE)]
)
async def test_tokens_of_a_long_history_are_not_counted_on_the_event_loop(reduce: Any) -> None:
    """What a compaction took out of the context nobody has weighed yet; 100 MB of it would stop every client."""
    made = await scene()
    await talk(made.session, 6)
    for turn in range(2):
        await made.session.append(messages=[user("Again."), *read_of("tables/part0.csv", f"again{turn}")])
    loop, threads = threading.get_ident(), set()

    def count(texts: Sequence[str]) -> list[int]:
        if any(texts):
            threads.add(threading.get_ident())
        return count_each(texts)

    made.host.estimator = Estimator(count=count)
    await reduce(made.host)
    assert threads
    assert loop not in threads


def read_of(path: str, ident: str) -> list[JsonObject]:
    return [assistant([call(ident, "read", path=path)]), result(ident, "read", text(300))]
