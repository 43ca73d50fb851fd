"""Moments in which two things happen to one open session at once, each brought about on purpose."""

import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

import storekit as kit
from octavo.sessions.corpus import Corpus
from octavo.sessions.live import LiveSession
from octavo.sessions.store import jsonl
from octavo.sessions.store.offload import is_stub
from octavo.sessions.store.writer import Job, WriterThreads


async def test_a_large_compaction_read_while_a_rewrite_changes_its_place_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = "old " * 20_000
    lines = [*kit.chain(3, "bulk " * 1000), kit.compaction("c0", "e2", "e1", summary)]
    lines += [kit.compaction("c1", "c0", "e2", "new"), kit.entry("z", "c1")]
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *lines)
    seen: list[Any] = []
    async with kit.opened(tmp_path, path) as session:
        assert is_stub(session.tree.by_id["c0"])
        real = jsonl.flush_folder

        def flush(*arguments: Any) -> None:
            # The new file is in place, the rewrite is not over: whoever reads now must get the entry all the same.
            seen.extend(session.entries(["c0"]))
            real(*arguments)

        monkeypatch.setattr(jsonl, "flush_folder", flush)
        await session.rewrite(lambda tree: [{**tree.by_id["e0"], "message": kit.user("short")}], "prune")
        assert [entry.get("summary") for entry in seen] == [summary]
        assert session.entries(["c0"])[0]["summary"] == summary


async def test_a_line_that_another_program_adds_between_our_look_and_our_write_is_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(2))
    async with kit.opened(tmp_path, path) as session:
        real = jsonl.write_all

        def write(descriptor: int, data: Any) -> None:
            monkeypatch.setattr(jsonl, "write_all", real)
            with path.open("ab") as other:
                other.write(jsonl.encode_line(kit.entry("theirs", "e1")))
            real(descriptor, data)

        monkeypatch.setattr(jsonl, "write_all", write)
        await session.append([kit.entry("ours", "e1")])
        await session.append([kit.entry("next", "ours")])
        await session.rewrite(lambda tree: [{**tree.by_id["e0"], "message": kit.user("short")}], "prune")
        assert {"theirs", "ours", "next"} <= set(session.tree.by_id)
        assert [line["id"] for line in kit.read(path)[1:]] == ["e0", "e1", "theirs", "ours", "next"]


class _AtOnce(WriterThreads):
    """A disk that is done before anybody else gets a turn."""

    def hand_over(self, job: Job[Any]) -> Job[Any]:
        job.run()
        return job


async def test_an_append_that_a_close_takes_along_is_acknowledged(tmp_path: Path) -> None:
    session = await kit.library(tmp_path, writers=_AtOnce()).create("/p")
    done: list[Any] = []

    async def append(live: LiveSession) -> None:
        done.append(await live.append(messages=[kit.user("last words")]))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(append, session)
            group.start_soon(session.close)
    assert [line["id"] for line in kit.read(session.path)[1:]] == list(done[0].entry_ids)


async def test_a_search_after_a_cancelled_one_finds_everything_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(20, "needle "))
    began, go_on = threading.Event(), threading.Event()
    real = Corpus._add

    def add(corpus: Corpus, entries: Any, start: int) -> None:
        began.set()
        assert go_on.wait(30)
        real(corpus, entries, start)

    monkeypatch.setattr(Corpus, "_add", add)
    with anyio.fail_after(30):
        async with kit.opened(tmp_path, path) as session, anyio.create_task_group() as group:
            searcher = kit.library(tmp_path).searcher(session)
            first = anyio.CancelScope()

            async def begin() -> None:
                with first:
                    await searcher.search("needle")

            group.start_soon(begin)
            await anyio.to_thread.run_sync(began.wait)
            first.cancel()
            found: list[Any] = []

            async def again() -> None:
                found.append(await searcher.search("needle"))

            group.start_soon(again)
            await anyio.wait_all_tasks_blocked()
            go_on.set()
            while not found:
                await anyio.lowlevel.checkpoint()
            await session.append([kit.entry("last", "e19", "needle at last")])
            last = await searcher.search("needle", limit=100)
    assert [hit.entry_id for hit in last.hits] == ["last", *(f"e{n}" for n in reversed(range(20)))]


async def test_a_move_that_is_cancelled_half_way_is_finished(tmp_path: Path) -> None:
    library = kit.library(tmp_path)
    with anyio.fail_after(30):
        async with kit.created(tmp_path) as session, anyio.create_task_group() as group:
            await session.append(messages=[kit.user("hi")])
            moving = anyio.CancelScope()
            real = session.relocate

            async def hold() -> None:
                async with session._turn:
                    while not moving.cancel_called:
                        await anyio.lowlevel.checkpoint()
                    await anyio.wait_all_tasks_blocked()

            async def relocate(path: Path) -> None:
                await real(path)
                # Somebody else gets the session's turn just now, and the client thinks better of it.
                group.start_soon(hold)
                while not session._turn.locked():
                    await anyio.lowlevel.checkpoint()
                moving.cancel()

            session.relocate = relocate  # type: ignore[method-assign]
            with moving:
                await library.move(session, "/elsewhere")
            assert session.header["cwd"] == "/elsewhere"
            assert session.path is not None
            assert session.path.parent == library.folder_for("/elsewhere")


async def test_a_changed_file_with_an_entry_too_deep_to_be_compared_is_read_again(tmp_path: Path) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, kit.entry("e0", None, "before"))
    line = b'{"type":"custom","id":"deep","parentId":"e0","timestamp":"2026-01-01T00:00:01.000Z","data":%b}\n'
    with path.open("ab") as stream:
        stream.write(line % (b'{"a":' * 1010 + b"1" + b"}" * 1010))
    async with kit.opened(tmp_path, path) as session:
        path.write_bytes(path.read_bytes().replace(b"before", b"changed"))
        assert await session.reload()
        assert session.tree.by_id["e0"]["message"]["content"] == "changed"
        assert "deep" in session.tree


@pytest.mark.parametrize("change", ["prune", "title"])
async def test_a_rewrite_during_which_another_program_uses_an_id_again_succeeds_and_keeps_both_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(3))
    async with kit.opened(tmp_path, path) as session:
        real = jsonl.JsonlFile._write_pieces

        def write(file: jsonl.JsonlFile, descriptor: int, pieces: Any) -> None:
            real(file, descriptor, pieces)
            with path.open("ab") as other:
                other.write(jsonl.encode_line(kit.entry("e1", "e2", "theirs")))

        with monkeypatch.context() as patched:
            patched.setattr(jsonl.JsonlFile, "_write_pieces", write)
            if change == "prune":
                done = await session.rewrite(lambda tree: [{**tree.by_id["e0"], "message": kit.user("short")}], "prune")
                assert done == ("e0",)
            else:
                assert await session.set_title("t")
        assert [entry["message"]["content"] for entry in session.tree.entries[1:]] == ["x1", "x2", "theirs"]
        assert session.leaf_id == "e2"
        await session.append([kit.entry("next", "e2")])
        assert len({line["id"] for line in kit.read(path)}) == 6
