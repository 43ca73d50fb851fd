"""An open session: order, durability, idempotence, navigation, rewrites, and what other programs do to the file."""

import errno
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

import storekit as kit
from octavo.sessions.changes import Change, ChangeLog
from octavo.sessions.live import UNSET, LiveSession
from octavo.sessions.planning import Unset
from octavo.sessions.store import disk
from octavo.sessions.store.offload import is_stub
from octavo_protocol.errors import ErrorKind, OctavoError


def ids(session: LiveSession) -> list[str]:
    return [entry["id"] for entry in session.branch()]


async def refused(kind: ErrorKind, call: Any) -> OctavoError:
    with pytest.raises(OctavoError) as caught:
        await call
    assert caught.value.kind == kind, caught.value
    return caught.value


# -- appending -----------------------------------------------------------------------------------------------------


async def test_an_append_is_on_disk_when_it_is_acknowledged(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        first = await session.append(messages=[kit.user("one")])
        second = await session.append(messages=[kit.assistant(), kit.user("two")])
        lines = kit.read(session.path)
        assert [line["id"] for line in lines[1:]] == [*first.entry_ids, *second.entry_ids]
        assert [line["parentId"] for line in lines[1:]] == [None, first.entry_ids[0], second.entry_ids[0]]
        assert second.leaf_id == session.leaf_id == second.entry_ids[1]
        assert lines[1]["timestamp"].endswith("Z")


async def test_the_daemon_s_sessions_are_on_disk_from_the_start(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        assert [line["type"] for line in kit.read(session.path)] == ["session"]


async def test_a_lazy_session_appears_with_its_first_assistant_message(tmp_path: Path) -> None:
    async with kit.created(tmp_path, lazy=True) as session:
        assert session.path is not None
        await session.set_model("p/m")
        await session.append(messages=[kit.user("q")])
        assert kit.files(tmp_path) == []
        await session.append(messages=[kit.assistant()])
        assert [line["type"] for line in kit.read(session.path)] == ["session", "model_change", "message", "message"]
        await session.append(messages=[kit.user("r")])
        assert len(kit.read(session.path)) == 5


async def test_an_ephemeral_session_leaves_nothing_on_disk(tmp_path: Path) -> None:
    async with kit.created(tmp_path, ephemeral=True) as session:
        await session.append(messages=[kit.user("q"), kit.assistant()])
        await session.rewrite(lambda tree: [{**tree.entries[0], "pruned": True}], "prune")
        assert await session.set_title("t")
        assert len(session.branch()) == 2
        assert session.ephemeral
    assert kit.files(tmp_path) == []


async def test_a_repeated_id_is_a_no_op(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        first = await session.append(messages=[kit.user("a"), kit.user("b")], ids=["x", "y"])
        size, seq = session.size_bytes, session.seq
        again = await session.append(messages=[kit.user("a"), kit.user("b")], ids=["x", "y"], expected_leaf_id="gone")
        assert (again.entry_ids, again.repeated_ids, again.leaf_id) == (first.entry_ids, ("x", "y"), "y")
        assert (session.size_bytes, session.seq) == (size, seq)
        more = await session.append(messages=[kit.user("b"), kit.user("c")], ids=["y", "z"])
        assert (more.entry_ids, more.repeated_ids) == (("y", "z"), ("y",))
        assert session.tree.by_id["z"]["parentId"] == "y"


async def test_concurrent_appends_share_writes_and_are_all_acknowledged_in_file_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kit.created(tmp_path) as session:
        flushes: list[int] = []
        fsync = os.fsync
        monkeypatch.setattr(disk.os, "fsync", lambda fd: (flushes.append(fd), fsync(fd))[1])
        told: list[str] = []
        session.subscribe(lambda change: told.extend(change.entry_ids))
        acknowledged: list[str] = []

        async def client(number: int) -> None:
            for turn in range(5):
                answer = await session.append(messages=[kit.user(f"{number}.{turn}")])
                assert answer.entry_ids[0] in told
                acknowledged.extend(answer.entry_ids)

        async with anyio.create_task_group() as group:
            for number in range(16):
                group.start_soon(client, number)
        lines = kit.read(session.path)[1:]
        assert [line["id"] for line in lines] == told
        assert sorted(acknowledged) == sorted(told)
        assert len(lines) == 80
        assert len(flushes) <= 20
        assert ids(session) == told


async def test_in_a_shared_write_a_bad_append_fails_alone(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        outcomes: dict[str, object] = {}

        async def client(name: str, message: dict[str, Any], parent_id: str | Unset = UNSET) -> None:
            try:
                outcomes[name] = await session.append(messages=[message], parent_id=parent_id)
            except OctavoError as error:
                outcomes[name] = error.kind

        deep: dict[str, Any] = {}
        for _ in range(5000):
            deep = {"d": deep}
        async with anyio.create_task_group() as group:
            group.start_soon(client, "first", kit.user("1"))
            group.start_soon(client, "good", kit.user("2"))
            group.start_soon(client, "no parent", kit.user("3"), "nowhere")
            group.start_soon(client, "not JSON", {"role": "user", "content": object()})
            group.start_soon(client, "too deep", {"role": "user", "content": deep})
            group.start_soon(client, "late", kit.user("4"))
        assert outcomes["no parent"] == ErrorKind.ENTRY_NOT_FOUND
        assert outcomes["not JSON"] == outcomes["too deep"] == ErrorKind.INVALID_PARAMS
        texts = [line["message"]["content"] for line in kit.read(session.path)[1:]]
        assert texts == ["1", "2", "4"]
        assert [entry["message"]["content"] for entry in session.branch()] == texts


async def test_a_failed_write_fails_the_whole_batch_and_changes_neither_file_nor_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-001."""
    async with kit.created(tmp_path) as session:
        await session.append(messages=[kit.user("before")])
        assert session.path is not None
        content, seq, leaf = session.path.read_bytes(), session.seq, session.leaf_id
        failures: list[ErrorKind] = []

        async def client() -> None:
            try:
                await session.append(messages=[kit.user("lost")])
            except OctavoError as error:
                failures.append(error.kind)

        def refuse(_: int, __: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as failing:
            failing.setattr(disk.os, "write", refuse)
            async with anyio.create_task_group() as group:
                for _ in range(4):
                    group.start_soon(client)
        assert failures == [ErrorKind.STORAGE_FAILED] * 4
        assert session.path.read_bytes() == content
        assert (session.seq, session.leaf_id, len(session.tree)) == (seq, leaf, 1)
        await session.append(messages=[kit.user("after")])
        assert [line["message"]["content"] for line in kit.read(session.path)[1:]] == ["before", "after"]


async def test_an_append_whose_parent_is_not_in_the_session_is_refused(tmp_path: Path) -> None:
    """BR-020."""
    async with kit.created(tmp_path) as session:
        await refused(ErrorKind.ENTRY_NOT_FOUND, session.append(messages=[kit.user("x")], parent_id="ghost"))
        orphan = {"type": "custom", "customType": "c", "parentId": "ghost"}
        await refused(ErrorKind.ENTRY_NOT_FOUND, session.append([orphan]))
        assert len(kit.read(session.path)) == 1


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "session", "id": "s"},
        {"type": "title"},
        {"customType": "x"},
        {"type": ""},
        {"type": "message"},
        {"type": "message", "message": {"content": "no role"}},
        {"type": "custom", "id": 7},
        {"type": "custom", "timestamp": 7},
    ],
    ids=str,
)
async def test_what_is_no_entry_is_refused(tmp_path: Path, entry: dict[str, Any]) -> None:
    async with kit.created(tmp_path) as session:
        await refused(ErrorKind.INVALID_PARAMS, session.append([entry]))
        assert len(kit.read(session.path)) == 1


async def test_an_append_for_another_leaf_is_refused(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        first = await session.append(messages=[kit.user("a")], expected_leaf_id=None)
        error = await refused(
            ErrorKind.CONTENT_MODIFIED, session.append(messages=[kit.user("b")], expected_leaf_id=None)
        )
        assert error.data["details"] == {"leafId": first.leaf_id}
        await session.append(messages=[kit.user("b")], expected_leaf_id=first.leaf_id)


async def test_an_append_withdrawn_while_it_waits_is_not_written(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(session.append, [{"type": "custom", "customType": "first"}])
            await anyio.lowlevel.checkpoint()
            with anyio.CancelScope() as scope:
                scope.cancel()
                await session.append(messages=[kit.user("withdrawn")])
        assert [line["type"] for line in kit.read(session.path)] == ["session", "custom"]


@pytest.mark.parametrize("text", ["🧩𠮷", "\u2028 \u2029", "\x00\x1f\x7f", "e\u0301", '"\\/\b', "\u202eRTL"])
async def test_any_string_comes_back_as_it_was(tmp_path: Path, text: str) -> None:
    """BR-109."""
    async with kit.created(tmp_path) as session:
        message = {
            "role": "assistant",
            "content": [{"type": "toolCall", "id": "c", "name": "n", "arguments": {text: text}}],
        }
        await session.append(messages=[message])
        path = session.path
        assert path is not None
        await session.close()
        async with kit.opened(tmp_path, path, mode="read") as again:
            assert again.branch()[0]["message"] == message


async def test_what_utf8_cannot_hold_is_stored_as_reading_would_see_it(tmp_path: Path) -> None:
    """BR-109."""
    async with kit.created(tmp_path) as session:
        await session.append([{"type": "custom", "customType": "c", "data": ["a\ud83d", float("nan"), 2**70]}])
        kept = session.branch()
        assert session.path is not None
        await session.close()
        async with kit.opened(tmp_path, session.path) as again:
            assert again.branch() == kept
            assert not again.recovery


# -- tool results --------------------------------------------------------------------------------------------------


async def test_a_late_tool_result_goes_to_the_branch_that_issued_the_call(tmp_path: Path) -> None:
    """BR-016, engine.md §17d 133."""
    async with kit.created(tmp_path) as session:
        asked = await session.append(messages=[kit.user("q"), kit.assistant("call-1", "call-2")])
        done = await session.append(messages=[kit.result("call-1")])
        elsewhere = await session.append(messages=[kit.user("other")], parent_id=asked.entry_ids[0])
        late = await session.append(messages=[kit.result("call-2")])
        assert session.tree.by_id[late.entry_ids[0]]["parentId"] == done.entry_ids[0]
        assert late.leaf_id == session.leaf_id == elsewhere.leaf_id
        assert session.path is not None
        await session.close()
        async with kit.opened(tmp_path, session.path) as again:
            assert again.leaf_id == elsewhere.leaf_id


async def test_a_tool_result_on_the_current_path_follows_the_leaf(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        await session.append(messages=[kit.assistant("c")])
        for number in range(100):
            await session.append(messages=[kit.user(str(number))])
        leaf = session.leaf_id
        answer = await session.append(messages=[kit.result("c")])
        assert session.tree.by_id[answer.entry_ids[0]]["parentId"] == leaf
        assert session.leaf_id == answer.entry_ids[0]


async def test_a_call_and_its_result_in_one_append_stay_together(tmp_path: Path) -> None:
    """BR-004."""
    async with kit.created(tmp_path) as session:
        answer = await session.append(messages=[kit.assistant("c"), kit.result("c"), kit.user("next")])
        assert ids(session) == list(answer.entry_ids)


async def test_a_result_without_a_call_needs_an_explicit_parent(tmp_path: Path) -> None:
    """BR-004, BR-016."""
    async with kit.created(tmp_path) as session:
        first = await session.append(messages=[kit.user("q")])
        await refused(ErrorKind.INVALID_PARAMS, session.append(messages=[kit.result("unknown")]))
        await refused(ErrorKind.INVALID_PARAMS, session.append(messages=[kit.user("x"), kit.result("unknown")]))
        answer = await session.append(messages=[kit.result("unknown")], parent_id=first.leaf_id)
        assert session.leaf_id == answer.entry_ids[0]


async def test_a_result_of_another_branch_mixed_with_new_messages_is_refused(tmp_path: Path) -> None:
    """BR-016."""
    async with kit.created(tmp_path) as session:
        asked = await session.append(messages=[kit.user("q"), kit.assistant("c")])
        await session.set_leaf(asked.entry_ids[0])
        await refused(ErrorKind.INVALID_PARAMS, session.append(messages=[kit.result("c"), kit.user("x")]))
        await refused(ErrorKind.INVALID_PARAMS, session.append(messages=[kit.user("x"), kit.result("c")]))


async def test_when_call_ids_repeat_the_result_goes_to_the_call_on_the_path(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        root = await session.append(messages=[kit.user("q")])
        one = await session.append(messages=[kit.assistant("call_1")])
        await session.append(messages=[kit.assistant("call_1")], parent_id=root.leaf_id)
        await session.set_leaf(one.leaf_id)
        answer = await session.append(messages=[kit.result("call_1")])
        assert ids(session) == [root.leaf_id, one.leaf_id, answer.leaf_id]


# -- leaf, label, title --------------------------------------------------------------------------------------------


async def test_a_navigation_survives_reopening(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        answer = await session.append(messages=[kit.user("a"), kit.user("b"), kit.user("c")])
        moved = await session.set_leaf(answer.entry_ids[0])
        assert (moved.leaf_id, moved.entry_ids) == (answer.entry_ids[0], ())
        seq = session.seq
        await session.set_leaf(answer.entry_ids[0])
        assert session.seq == seq
        assert session.path is not None
        await session.close()
        async with kit.opened(tmp_path, session.path) as again:
            assert again.leaf_id == answer.entry_ids[0]
            await again.set_leaf(None)
            root = await again.append(messages=[kit.user("new root")])
            assert ids(again) == list(root.entry_ids)


async def test_navigating_to_an_unknown_entry_is_refused(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        await refused(ErrorKind.ENTRY_NOT_FOUND, session.set_leaf("nope"))
        await refused(ErrorKind.ENTRY_NOT_FOUND, session.set_label("nope", "x"))
        assert len(kit.read(session.path)) == 1


async def test_a_label_becomes_the_leaf_and_an_empty_one_clears(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        target = (await session.append(messages=[kit.user("a")])).entry_ids[0]
        labelled = await session.set_label(target, "here")
        assert session.tree.label_of(target) == "here"
        assert session.leaf_id == labelled.entry_ids[0]
        await session.set_label(target, "")
        assert session.tree.label_of(target) is None
        assert "label" not in kit.read(session.path)[-1]


async def test_a_title_is_kept_with_the_entries_and_the_user_s_word_stands(tmp_path: Path) -> None:
    """engine.md §17d 121, 124."""
    async with kit.created(tmp_path) as session:
        changes: list[Change] = []
        session.subscribe(changes.append)
        await session.append(messages=[kit.user("a")])
        assert await session.set_title("auto one", "auto")
        assert await session.set_title("  Mine\n", "user")
        assert not await session.set_title("auto two", "auto")
        assert not await session.set_title("\x07", "user")
        assert [(c.kind, c.title) for c in changes[1:]] == [("title", "auto one"), ("title", "Mine")]
        header, entry = kit.read(session.path)
        assert (header["title"], header["titleSource"]) == ("Mine", "user")
        assert entry["id"] == session.leaf_id


async def test_an_automatic_title_never_wins_a_race_against_the_user(tmp_path: Path) -> None:
    """engine.md §17d 121."""
    async with kit.created(tmp_path) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(session.set_title, "mine", "user")
            group.start_soon(session.set_title, "auto", "auto")
        assert session.title == kit.read(session.path)[0]["title"] == "mine"


# -- following -----------------------------------------------------------------------------------------------------


async def test_changes_are_numbered_without_gaps_and_a_client_catches_up_exactly(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        seen: list[Change] = []
        session.subscribe(seen.append)
        target = (await session.append(messages=[kit.user("a")])).entry_ids[0]
        away = session.seq
        await session.append(messages=[kit.user("b")])
        await session.set_label(target, "l")
        await session.set_leaf(target)
        await session.rewrite(lambda tree: [{**tree.by_id[target], "pruned": 1}], "prune")
        await session.set_title("t")
        assert [change.seq for change in seen] == [1, 2, 3, 4, 5, 6]
        assert [change.kind for change in seen] == ["appended", "appended", "label", "leaf", "rewritten", "title"]
        assert session.changes_since(away) == seen[1:]
        assert session.changes_since(session.seq) == []
        assert session.changes_since(session.seq + 1) is None


def test_a_log_that_forgot_says_so() -> None:
    log = ChangeLog(limit=3)
    for number in range(5):
        log.record("appended", (str(number),), None)
    assert log.since(1) is None
    found = log.since(2)
    assert found is not None
    assert [change.seq for change in found] == [3, 4, 5]


async def test_a_subscriber_that_fails_neither_stops_the_change_nor_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with kit.created(tmp_path) as session:
        seen: list[int] = []

        def fail(_: Change) -> None:
            raise RuntimeError("boom")

        session.subscribe(fail)
        end = session.subscribe(lambda change: seen.append(change.seq))
        await session.append(messages=[kit.user("a")])
        end()
        await session.append(messages=[kit.user("b")])
        assert seen == [1]
        assert "boom" in caplog.text


async def test_closing_tells_subscribers_and_ends_every_method(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        kinds: list[str] = []
        session.subscribe(lambda change: kinds.append(change.kind))
        await session.close()
        await session.close()
        assert kinds == ["closed"]
        await refused(ErrorKind.SESSION_NOT_FOUND, session.append(messages=[kit.user("x")]))
        await refused(ErrorKind.SESSION_NOT_FOUND, session.reload())
        assert session.path is not None
        async with kit.opened(tmp_path, session.path):
            pass


# -- rewriting -----------------------------------------------------------------------------------------------------


async def test_a_rewrite_replaces_entries_and_keeps_every_other_line_byte_for_byte(tmp_path: Path) -> None:
    odd = '{"type": "x-unknown",  "id": "u", "parentId": null, "timestamp": "t", "n": 1.50, "k\\u00e9": [1,{"a":2}]}\n'
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER)
    with path.open("a") as stream:
        stream.write(odd)
    async with kit.opened(tmp_path, path) as session:
        await session.append([kit.entry("a", "u"), kit.entry("b", "a")])
        before = session.leaf_id
        assert await session.rewrite(lambda tree: [{**tree.by_id["a"], "pruned": True}], "prune") == ("a",)
        assert session.leaf_id == before
        assert session.branch()[1]["pruned"] is True
    assert odd in path.read_text()
    assert [line.get("pruned") for line in kit.read(path)[1:]] == [None, True, None]


async def test_what_a_rewrite_replaced_stays_retrievable(tmp_path: Path) -> None:
    """BR-022."""
    async with kit.created(tmp_path) as session:
        entry_id = (await session.append(messages=[kit.user("original")])).entry_ids[0]
        original = session.branch()[0]
        for text in ("second", "third"):
            new = {**session.branch()[0], "message": kit.user(text)}
            await session.rewrite(lambda _, new=new: [new], "prune")  # type: ignore[misc]
        assert await session.original(entry_id) == original
        assert await session.original("other") is None


async def test_a_rewrite_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        await session.append(messages=[kit.user("a")])
        assert session.path is not None
        before = session.path.stat()
        assert await session.rewrite(lambda tree: tree.entries, "prune") == ()
        after = session.path.stat()
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
        await refused(ErrorKind.ENTRY_NOT_FOUND, session.rewrite(lambda _: [kit.entry("no", None)], "prune"))


async def test_a_failed_rewrite_changes_neither_file_nor_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """BR-014."""
    async with kit.created(tmp_path) as session:
        entry_id = (await session.append(messages=[kit.user("a")])).entry_ids[0]
        await session.rewrite(lambda tree: [{**tree.by_id[entry_id], "pruned": 1}], "prune")
        assert session.path is not None
        content = session.path.read_bytes()

        def refuse(*_: Any) -> Any:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as failing:
            failing.setattr(Path, "replace", refuse)
            call = session.rewrite(lambda tree: [{**tree.by_id[entry_id], "pruned": 2}], "prune")
            await refused(ErrorKind.STORAGE_FAILED, call)
            await refused(ErrorKind.STORAGE_FAILED, session.set_title("t"))
        assert session.path.read_bytes() == content
        assert session.branch()[0]["pruned"] == 1
        assert session.title is None
        await session.append(messages=[kit.user("b")])
        assert len(kit.read(session.path)) == 3


async def test_rewrites_and_appends_at_once_lose_nothing(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        target = (await session.append(messages=[kit.user("target")])).entry_ids[0]
        acknowledged: list[str] = []

        async def client(name: str) -> None:
            for number in range(20):
                answer = await session.append(messages=[kit.user(f"{name}{number}")])
                acknowledged.extend(answer.entry_ids)

        async def pruner() -> None:
            for number in range(10):
                await session.rewrite(
                    lambda tree, number=number: [{**tree.by_id[target], "n": number}],  # type: ignore[misc]
                    "prune",
                )

        async with anyio.create_task_group() as group:
            for name in "abcd":
                group.start_soon(client, name)
            group.start_soon(pruner)
        lines = kit.read(session.path)[1:]
        assert [line["id"] for line in lines] == [entry["id"] for entry in session.tree.entries]
        assert set(acknowledged) <= {line["id"] for line in lines}
        assert lines[0]["n"] == 9


# -- compactions ---------------------------------------------------------------------------------------------------


async def test_a_compaction_is_one_line_and_nothing_is_written_twice(tmp_path: Path) -> None:
    """BR-013."""
    async with kit.created(tmp_path) as session:
        count = 0
        for appended in (30, 5, 5):
            for number in range(appended):
                await session.append(messages=[kit.user(str(number))])
            kept = session.branch()[-2]["id"]
            await session.write_compaction(kit.compaction("", None, kept, "S") | {"id": f"c{count}"}, session.leaf_id)
            count += appended + 1
        lines = kit.read(session.path)[1:]
        assert len(lines) == count
        assert len({line["id"] for line in lines}) == count


async def test_a_compaction_made_from_another_leaf_is_not_written(tmp_path: Path) -> None:
    async with kit.created(tmp_path) as session:
        first = await session.append(messages=[kit.user("a")])
        await session.append(messages=[kit.user("b")])
        draft = {"type": "compaction", "summary": "S", "firstKeptEntryId": first.leaf_id, "tokensBefore": 1}
        await refused(ErrorKind.CONTENT_MODIFIED, session.write_compaction(draft, first.leaf_id))
        assert len(kit.read(session.path)) == 3


async def test_superseded_large_compactions_leave_memory_and_come_back_when_needed(tmp_path: Path) -> None:
    """BR-007."""
    big = [character * 100_000 for character in "abc"]
    entries = [kit.entry("e0", None)]
    for number, text in enumerate(big):
        entries.append(kit.compaction(f"c{number}", entries[-1]["id"], entries[-1]["id"], text))
        entries.append(kit.entry(f"e{number + 1}", f"c{number}"))
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *entries)
    async with kit.opened(tmp_path, path) as session:
        by_id = session.tree.by_id
        assert [is_stub(by_id[f"c{n}"]) for n in range(3)] == [True, True, False]
        assert [e["summary"] for e in session.branch("c1") if e["id"] == "c1"] == [big[1]]
        assert [e["summary"] for e in session.branch(whole=True) if e["type"] == "compaction"] == big
        assert session.entries(["c0"]) == [entries[1]]
        await session.set_leaf("e1")
        assert session.tree.path("e1") == entries[:3]
        await session.set_leaf("e3")
        new = await session.write_compaction(
            {"type": "compaction", "summary": "d" * 100_000, "firstKeptEntryId": "e3", "tokensBefore": 1}, "e3"
        )
        assert all(is_stub(by_id[f"c{n}"]) for n in range(3))
        assert not is_stub(by_id[str(new.leaf_id)])
        await session.set_title("rewritten")
        assert session.entries(["c2"])[0]["summary"] == big[2]
        await session.rewrite(lambda tree: [{**tree.by_id["e0"], "x": 1}], "prune")
        assert session.entries(["c0", "c1"]) == [entries[1], entries[3]]
    assert [e.get("summary") for e in kit.read(path) if e["type"] == "compaction"] == [*big, "d" * 100_000]
    assert "octavoOffloaded" not in path.read_text()


async def test_when_the_newest_compaction_does_not_resolve_the_one_before_it_is_whole_too(tmp_path: Path) -> None:
    """BR-019."""
    big = "x" * 100_000
    path = kit.write(
        tmp_path / "s.jsonl",
        kit.HEADER,
        kit.entry("a", None),
        kit.compaction("c1", "a", "a", big),
        kit.compaction("c2", "c1", "elsewhere", big),
    )
    async with kit.opened(tmp_path, path) as session:
        assert [is_stub(entry) for entry in session.branch()] == [False, False, False]


# -- the file as it was found, and other programs ------------------------------------------------------------------


async def test_an_old_file_is_untouched_until_the_first_append_rewrites_it(tmp_path: Path) -> None:
    old = {key: value for key, value in kit.HEADER.items() if key != "version"}
    path = kit.write(tmp_path / "s.jsonl", old, {"type": "message", "timestamp": "t", "message": kit.user("a")})
    original = path.read_bytes()
    async with kit.opened(tmp_path, path) as session:
        assert session.recovery.migrated_from == 1
        assert session.recovery.rewrite_pending
        assert path.read_bytes() == original
        first = session.leaf_id
        await session.append(messages=[kit.user("b")])
        header, a, b = kit.read(path)
        assert header["version"] == 3
        assert (a["id"], b["parentId"]) == (first, first)
        assert not session.recovery.rewrite_pending
    async with kit.opened(tmp_path, path) as again:
        assert not again.recovery


async def test_damaged_lines_are_backed_up_and_repaired_by_the_next_append(tmp_path: Path) -> None:
    """BR-001, BR-005."""
    lines = [kit.entry(f"e{n}", f"e{n - 1}" if n else None, f"text {n}") for n in range(6)]
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *lines)
    rows = path.read_bytes().splitlines(keepends=True)
    half, glued = rows[4][:40] + b"\n", rows[2][:-1] + rows[3]
    path.write_bytes(b"".join([rows[0], rows[1], glued, half, *rows[4:]]))
    damaged = path.read_bytes()
    async with kit.opened(tmp_path, path) as session:
        assert len(session.tree) == 6
        assert session.recovery.damage_count >= 2
        assert path.read_bytes() == damaged
        await session.append([kit.entry("new", "e5")])
        assert [line["id"] for line in kit.read(path)[1:]] == [*(f"e{n}" for n in range(6)), "new"]
        assert session.recovery.backup is not None
        backup = session.recovery.backup.read_bytes()
        assert glued in backup
        assert half in backup
    assert backup.startswith(b'{"offset":')


async def test_a_torn_tail_is_reported_on_opening_and_repaired_without_a_rewrite(tmp_path: Path) -> None:
    """BR-001."""
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(3))
    path.write_bytes(path.read_bytes()[:-60])
    inode = path.stat().st_ino
    async with kit.opened(tmp_path, path) as session:
        assert [damage.kind for damage in session.recovery.damage][-1] == "torn-tail"
        assert not session.recovery.rewrite_pending
        await session.append([kit.entry("new", None)])
        assert session.recovery.backup is not None
    assert [line["id"] for line in kit.read(path)[1:]] == ["e0", "e1", "new"]
    assert path.stat().st_ino == inode


@pytest.mark.parametrize("tail", [b"\0\0\0", b'{"type":"cust', b' {"type":"custom","id":"t2"'])
async def test_a_record_glued_to_a_torn_one_at_the_end_is_kept(tmp_path: Path, tail: bytes) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(2))
    path.write_bytes(path.read_bytes()[:-1] + tail)
    async with kit.opened(tmp_path, path) as session:
        assert "e1" in session.tree
        await session.append([kit.entry("new", "e1")])
    assert [line["id"] for line in kit.read(path)[1:]] == ["e0", "e1", "new"]


async def test_bom_and_crlf_do_not_force_a_rewrite(tmp_path: Path) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(2))
    content = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(content)
    async with kit.opened(tmp_path, path) as session:
        assert len(session.tree) == 2
        await session.append([kit.entry("new", "e1")])
    assert path.read_bytes().startswith(content)
    async with kit.opened(tmp_path, path) as again:
        assert again.leaf_id == "new"
        await again.rewrite(lambda tree: [{**tree.by_id["e0"], "x": 1}], "prune")
    async with kit.opened(tmp_path, path) as last:
        assert [entry["id"] for entry in last.branch()] == ["e0", "e1", "new"]


async def test_lines_another_program_appended_become_siblings_of_ours(tmp_path: Path) -> None:
    """BR-002."""
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(2))
    async with kit.opened(tmp_path, path) as session:
        changes: list[Change] = []
        session.subscribe(changes.append)
        with path.open("ab") as stream:
            stream.write(kit.json.dumps(kit.entry("theirs", "e1")).encode() + b"\n")
        ours = await session.append(messages=[kit.user("mine")])
        assert session.tree.by_id[ours.entry_ids[0]]["parentId"] == "e1"
        assert session.tree.by_id["theirs"]["parentId"] == "e1"
        assert [(change.kind, change.entry_ids) for change in changes] == [
            ("appended", ("theirs",)),
            ("appended", ours.entry_ids),
        ]
    assert [line["id"] for line in kit.read(path)[1:]] == ["e0", "e1", "theirs", *ours.entry_ids]


async def test_an_expected_leaf_still_counts_after_a_merge(tmp_path: Path) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(2))
    async with kit.opened(tmp_path, path) as session:
        with path.open("ab") as stream:
            stream.write(kit.json.dumps(kit.entry("theirs", "e1")).encode() + b"\n")
        await session.append(messages=[kit.user("x")], expected_leaf_id="e1")
        await refused(ErrorKind.CONTENT_MODIFIED, session.append(messages=[kit.user("x")], expected_leaf_id="e1"))


async def test_a_half_line_another_program_left_is_not_glued_to_ours(tmp_path: Path) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(2))
    async with kit.opened(tmp_path, path) as session:
        with path.open("ab") as stream:
            stream.write(kit.json.dumps(kit.entry("theirs", "e1")).encode() + b'\n{"type":"mess')
        await session.append([kit.entry("ours", "e1")])
    assert [line["id"] for line in kit.read(path)[1:]] == ["e0", "e1", "theirs", "ours"]


async def test_a_repaired_file_is_read_again(tmp_path: Path) -> None:
    """BR-028."""
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(4))
    async with kit.opened(tmp_path, path) as session:
        changes: list[Change] = []
        session.subscribe(changes.append)
        kit.write(path, kit.HEADER, *kit.chain(2, "repaired "))
        assert await session.reload()
        assert [entry["message"]["content"] for entry in session.branch()] == ["repaired 0", "repaired 1"]
        assert changes[-1].kind == "rewritten"
        assert set(changes[-1].entry_ids) == {"e0", "e1", "e2", "e3"}
        assert not await session.reload()
        assert not await session.reload(force=True)
        await session.append([kit.entry("new", "e1")])
    assert [line["id"] for line in kit.read(path)[1:]] == ["e0", "e1", "new"]


async def test_an_append_to_a_replaced_file_continues_from_what_is_there(tmp_path: Path) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(4))
    async with kit.opened(tmp_path, path) as session:
        kit.write(path, kit.HEADER, *kit.chain(2, "other "))
        error = await refused(
            ErrorKind.CONTENT_MODIFIED, session.append(messages=[kit.user("x")], expected_leaf_id="e3")
        )
        assert error.data["details"] == {"leafId": "e1"}
        await session.append(messages=[kit.user("x")])
    assert [line["parentId"] for line in kit.read(path)[1:]] == [None, "e0", "e1"]


async def test_what_we_acknowledged_and_another_program_removed_is_kept_and_reported(tmp_path: Path) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(2))
    stale = path.read_bytes()
    async with kit.opened(tmp_path, path) as session:
        await session.append([kit.entry("ours", "e1", "precious")])
        path.write_bytes(stale)
        assert await session.reload()
        assert session.recovery.vanished == ("ours",)
        assert session.recovery.vanished_path is not None
        assert [line["message"]["content"] for line in kit.read(session.recovery.vanished_path)] == ["precious"]


async def test_a_file_that_became_no_session_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(2))
    async with kit.opened(tmp_path, path) as session:
        path.write_text("# read me\n")
        await refused(ErrorKind.SESSION_UNREADABLE, session.append(messages=[kit.user("x")]))
        await refused(ErrorKind.SESSION_UNREADABLE, session.reload())
        assert path.read_text() == "# read me\n"
        assert len(session.branch()) == 2
        path.unlink()
        await refused(ErrorKind.CONTENT_MODIFIED, session.append(messages=[kit.user("x")]))
        assert not path.exists()


async def test_a_reader_follows_a_writer_and_cannot_write(tmp_path: Path) -> None:
    """BR-002."""
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(2))
    async with kit.opened(tmp_path, path) as writer, kit.opened(tmp_path, path, mode="read") as reader:
        await refused(ErrorKind.SESSION_READ_ONLY, reader.append(messages=[kit.user("x")]))
        await refused(ErrorKind.SESSION_READ_ONLY, reader.set_title("x"))
        answer = await writer.append(messages=[kit.user("x")])
        assert await reader.reload()
        assert reader.leaf_id == answer.leaf_id
        with path.open("ab") as stream:
            stream.write(b'{"type":"half')
        assert not await reader.reload()
        await writer.rewrite(lambda tree: [{**tree.by_id["e0"], "x": 1}], "prune")
        assert await reader.reload()
        assert reader.branch() == writer.branch()


async def test_the_title_slot_of_newer_files_is_kept_and_follows_the_title(tmp_path: Path) -> None:
    slot = {"type": "title", "v": 1, "title": "old", "updatedAt": "2026-01-01T00:00:00.000Z", "pad": ""}
    path = kit.write(tmp_path / "s.jsonl", slot, kit.HEADER, *kit.chain(2))
    async with kit.opened(tmp_path, path) as session:
        assert session.title == "old"
        await session.set_title("n" * 500)
        await session.append([kit.entry("new", "e1")])
    first = path.read_bytes().splitlines(keepends=True)[0]
    assert len(first) == 256
    assert kit.read(path)[0]["title"] == "n" * len(kit.read(path)[0]["title"])
    async with kit.opened(tmp_path, path) as again:
        assert again.leaf_id == "new"


def test_unset_is_not_none() -> None:
    assert UNSET is not None
