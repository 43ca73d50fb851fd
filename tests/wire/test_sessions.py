"""A session's life through a real daemon: creating, opening, sharing, changing, losing and getting back."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from octavo_client import Client, Options
from octavo_protocol.errors import ErrorKind
from octavo_protocol.methods.append import SetBusyResult
from storekit import HEADER, assistant, chain, entry, files, read, result, user, write
from wire.sessions import changes, daemon, exists, killable, names, put, refused, said, shared


async def test_a_session_begins_with_what_was_asked_for_and_is_found_again_by_a_part_of_its_id(tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        made = await client.session_create(
            cwd="/p", title="A week", model="anthropic/claude-opus-4-5", thinking_level="high"
        )
        assert (made.title, made.title_source, made.model, made.thinking_level) == (
            "A week",
            "user",
            "anthropic/claude-opus-4-5",
            "high",
        )
        assert not exists(made.path)
        await client.session_append(session_id=made.session_id, messages=[user("hello"), assistant()])
        await client.session_close(session_id=made.session_id)
    async with daemon(tmp_path) as client:
        found = await client.session_open(session_id=made.session_id[:14])
        assert (found.session_id, found.path, found.title, found.message_count) == (
            made.session_id,
            made.path,
            "A week",
            2,
        )
        assert found.recovered is None


async def test_what_was_acknowledged_is_there_after_the_daemon_was_killed(tmp_path: Path) -> None:
    async with killable(tmp_path) as (client, process):
        session = await client.session_create(cwd="/p")
        first = await client.session_append(session_id=session.session_id, messages=[user("only the user has spoken")])
        renamed = await client.session_rename(session_id=session.session_id, title="Named")
        label = await client.session_set_label(session_id=session.session_id, target_id=first.entry_ids[0], label="x")
        last = await client.session_append(session_id=session.session_id, messages=[assistant(text="the last word")])
        process.kill()
        await process.wait()
    assert renamed.applied
    assert session.path is not None
    assert [line.get("id") for line in read(Path(session.path))[1:]] == [
        *first.entry_ids,
        label.entry_id,
        *last.entry_ids,
    ]
    async with daemon(tmp_path) as client:
        found = await client.session_open(session_id=session.session_id)
        assert (found.title, found.leaf_id, found.recovered) == ("Named", last.leaf_id, None)
        context = await client.session_build_context(session_id=session.session_id)
        assert said(context.messages) == ["only the user has spoken", "the last word"]


async def test_a_path_that_was_asked_for_exists_at_once_and_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    async with daemon(tmp_path) as client:
        made = await client.session_create(cwd="/p", path=str(path))
        assert [line["id"] for line in read(path)] == [made.session_id]
        content = path.read_bytes()
        await client.session_close(session_id=made.session_id)
        async with refused(ErrorKind.STORAGE_FAILED):
            await client.session_create(cwd="/p", path=str(path))
        assert path.read_bytes() == content


async def test_an_ephemeral_session_never_touches_the_disk(tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        session = await client.session_create(cwd="/p", ephemeral=True)
        image = {"type": "image", "data": "A" * 4000, "mimeType": "image/png"}
        await client.session_append(
            session_id=session.session_id, messages=[user("hi"), {**user(""), "content": [image]}]
        )
        assert session.path is None
        assert (await client.session_get_entries(session_id=session.session_id)).entries[1]["message"]["content"] == [
            image
        ]
        copy = await client.session_fork(session_id=session.session_id, ephemeral=True)
        assert copy.entry_count == 2
        assert (await client.session_close(session_id=session.session_id)).closed
    assert not (tmp_path / "root").exists()


async def test_two_connections_share_one_session_and_the_last_to_leave_gives_the_lease_back(tmp_path: Path) -> None:
    async with shared(tmp_path) as socket, Client.connect_unix(socket) as one, Client.connect_unix(socket) as two:
        session = await one.session_create(cwd="/p")
        await one.session_append(session_id=session.session_id, messages=[user("from one")])
        joined = await two.session_open(session_id=session.session_id)
        await two.session_append(session_id=session.session_id, messages=[assistant(text="from two")])
        assert joined.epoch == session.epoch
        context = await one.session_build_context(session_id=session.session_id)
        assert said(context.messages) == ["from one", "from two"]
        assert not (await one.session_close(session_id=session.session_id)).closed
        async with refused(ErrorKind.SESSION_NOT_FOUND):
            await one.session_get_info(session_id=session.session_id)
        async with daemon(tmp_path) as other:
            async with refused(ErrorKind.SESSION_LOCKED):
                await other.session_open(session_id=session.session_id)
            assert (await two.session_close(session_id=session.session_id)).closed
            assert (await other.session_open(session_id=session.session_id)).entry_count == 2


async def test_two_processes_cannot_fork_a_session_behind_each_others_back(tmp_path: Path) -> None:
    """BR-002: the second writer is refused and told whose it is; reading beside the writer works and follows it."""
    path = write(tmp_path / "s.jsonl", HEADER, *chain(2))
    async with killable(tmp_path) as (owner, process), daemon(tmp_path) as second:
        await owner.session_open(path=str(path))
        async with refused(ErrorKind.SESSION_LOCKED) as caught:
            await second.session_open(path=str(path))
        assert caught[0].data["details"]["pid"] == process.pid
        reader = await second.session_open(path=str(path), mode="read")
        assert reader.mode == "read"
        heard = changes(second)
        async with refused(ErrorKind.SESSION_READ_ONLY):
            await second.session_append(session_id="s1", messages=[user("mine")])
        done = await owner.session_append(session_id="s1", messages=[user("from the owner")])
        branch = await second.session_get_branch(session_id="s1")
        assert [e["id"] for e in branch.entries] == ["e0", "e1", *done.entry_ids]
        assert [change.entry_ids for change in heard] == [done.entry_ids]
    assert [line["id"] for line in read(path)] == ["s1", "e0", "e1", *done.entry_ids]


async def test_a_reader_hears_of_what_another_process_appends_without_asking(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(1))
    async with daemon(tmp_path) as owner, daemon(tmp_path) as reader:
        await owner.session_open(path=str(path))
        with reader.subscribe("session/didChange") as heard:
            await reader.session_open(path=str(path), mode="read")
            done = await owner.session_append(session_id="s1", messages=[user("news")])
            assert (await heard.receive()).params.entry_ids == done.entry_ids


async def test_a_session_open_for_reading_becomes_writable_when_its_owner_has_gone(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(1))
    async with daemon(tmp_path) as client:
        async with daemon(tmp_path) as owner:
            await owner.session_open(path=str(path))
            reading = await client.session_open(path=str(path), mode="read")
            async with refused(ErrorKind.SESSION_LOCKED):
                await client.session_open(path=str(path))
            assert (await client.session_get_info(session_id="s1")).mode == "read"
        heard = changes(client)
        writing = await client.session_open(path=str(path))
        assert (writing.mode, writing.epoch == reading.epoch) == ("write", False)
        assert [change.epoch for change in heard] == [writing.epoch]
        await client.session_append(session_id="s1", messages=[user("now I may")])
        caught_up = await client.session_get_entries(session_id="s1", since_seq=reading.seq, epoch=reading.epoch)
        assert caught_up.reset


async def test_a_session_is_for_those_who_opened_it(tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        session = await client.session_create(cwd="/p")
        await client.session_append(session_id=session.session_id, messages=[user("hi")])
        await client.session_close(session_id=session.session_id)
        async with refused(ErrorKind.SESSION_NOT_FOUND) as caught:
            await client.session_append(session_id=session.session_id, messages=[user("again")])
        assert caught[0].data["sessionId"] == session.session_id
        for name in ("../../etc/passwd", "a/b", "..", "x\ny"):
            async with refused(ErrorKind.INVALID_PARAMS):
                await client.session_open(session_id=name)
        async with refused(ErrorKind.SESSION_NOT_FOUND):
            await client.session_open(session_id="0000")


NO_SESSIONS: dict[str, bytes] = {
    "empty.jsonl": b"",
    "README.md": b"# A project\n\nIt does things.\n",
    "binary.jsonl": bytes(range(256)) * 64,
    "array.jsonl": b"[1,2,3]\n",
    "long.jsonl": b"x" * 60_000_000,
    "entry-only.jsonl": json.dumps(entry("e1", None)).encode() + b"\n",
}


async def test_files_that_are_no_sessions_are_refused_by_name_and_left_untouched(tmp_path: Path) -> None:
    for name, content in NO_SESSIONS.items():
        (tmp_path / name).write_bytes(content)
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in NO_SESSIONS}
    (tmp_path / "folder.jsonl").mkdir()
    listing = names(tmp_path)
    async with daemon(tmp_path) as client:
        for name in [*NO_SESSIONS, "folder.jsonl"]:
            async with refused(ErrorKind.SESSION_UNREADABLE) as caught:
                await client.session_open(path=str(tmp_path / name))
            assert name in caught[0].message, name
            async with refused(ErrorKind.SESSION_UNREADABLE):
                await client.session_delete(path=str(tmp_path / name))
        async with refused(ErrorKind.SESSION_NOT_FOUND):
            await client.session_open(path=str(tmp_path / "missing.jsonl"))
        async with refused(ErrorKind.INVALID_PARAMS):
            await client.session_open(path="nul\0.jsonl")
    for name, content in NO_SESSIONS.items():
        assert (tmp_path / name).read_bytes() == content
        assert (tmp_path / name).stat().st_mtime_ns == before[name]
    assert names(tmp_path) == listing


def damaged(folder: Path) -> dict[str, tuple[Path, int, str]]:
    """Files with something wrong: path, entries that are there all the same, and a word of the report."""
    head = json.dumps(HEADER)
    lines = [json.dumps(e) for e in chain(3)]
    cyclic = [json.dumps(entry("a", "b")), json.dumps(entry("b", "a"))]
    twice = [json.dumps(entry("a", None, "one")), json.dumps(entry("a", None, "two"))]
    big = json.dumps(entry("big", None, "y" * 60_000_000))
    contents = {
        "bom": (b"\xef\xbb\xbf" + "\n".join([head, *lines]).encode() + b"\n", 3, "byte-order-mark"),
        "crlf": ("\r\n".join([head, *lines]).encode() + b"\r\n", 3, "crlf"),
        "nul": ("\n".join([head, *lines]).encode() + b"\n" + b"\0" * 512, 3, "nul-bytes"),
        "torn": ("\n".join([head, *lines]).encode()[:-10], 2, "torn-tail"),
        "orphan": ("\n".join([head, json.dumps(entry("a", "gone"))]).encode() + b"\n", 1, "orphan-parent"),
        "cycle": ("\n".join([head, *cyclic]).encode() + b"\n", 2, "cycle"),
        "twice": ("\n".join([head, *twice]).encode() + b"\n", 2, "duplicate-id"),
        "utf8": ("\n".join([head, *lines]).encode().replace(b"x1", b"x\xff\xfe"), 3, "invalid-utf8"),
        "big": (f"{head}\n{big}\n".encode(), 1, ""),
        "header": (head.encode() + b"\n", 0, ""),
    }
    found = {}
    for name, (content, count, word) in contents.items():
        path = folder / f"{name}.jsonl"
        path.write_bytes(content)
        found[name] = (path, count, word)
    return found


async def test_damaged_files_open_with_a_report_and_are_not_written_by_that(tmp_path: Path) -> None:
    broken = damaged(tmp_path)
    contents = {name: path.read_bytes() for name, (path, _, _) in broken.items()}
    async with daemon(tmp_path) as client:
        for name, (path, count, word) in broken.items():
            found = await client.session_open(path=str(path))
            assert found.entry_count == count, name
            reasons = [damage.reason for damage in found.recovered.damage] if found.recovered else []
            assert any(word in reason for reason in reasons) if word else not reasons, (name, reasons)
            await client.session_build_context(session_id="s1", include_images=False)
            await client.session_get_tree(session_id="s1")
            await client.session_close(session_id="s1")
            assert path.read_bytes() == contents[name], name


async def test_a_repaired_file_says_where_the_damaged_bytes_went(tmp_path: Path) -> None:
    path, _, _ = damaged(tmp_path)["torn"]
    torn = path.read_bytes()
    async with daemon(tmp_path) as client:
        found = await client.session_open(path=str(path))
        assert found.recovered is not None
        await client.session_append(session_id="s1", messages=[user("goes on")])
        again = await client.session_reload(session_id="s1")
        assert not again.changed
    lines = read(path)
    assert [line["id"] for line in lines][:3] == ["s1", "e0", "e1"]
    assert lines[-1]["message"]["content"] == "goes on"
    saved = [(tmp_path / name).read_bytes() for name in files(tmp_path) if (tmp_path / name).is_file()]
    assert any(b'"e2"' in content and torn.endswith(b"".join(content.splitlines()[-1:])) for content in saved)


async def test_an_old_file_is_migrated_in_memory_and_rewritten_by_the_first_append(tmp_path: Path) -> None:
    head = {key: value for key, value in HEADER.items() if key != "version"}
    message = {"type": "message", "timestamp": "2026-01-01T00:00:01.000Z", "message": user("old")}
    path = write(tmp_path / "v1.jsonl", head, message)
    content = path.read_bytes()
    async with daemon(tmp_path) as client:
        found = await client.session_open(path=str(path))
        assert found.recovered is not None
        assert (found.version, found.recovered.migrated_from, found.recovered.rewrite_pending) == (3, 1, True)
        assert path.read_bytes() == content
        await client.session_append(session_id="s1", messages=[assistant()])
    lines = read(path)
    assert lines[0]["version"] == 3
    assert lines[2]["parentId"] == lines[1]["id"]


async def test_appends_can_be_repeated_and_keep_what_we_do_not_know(tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        session = (await client.session_create(cwd="/p")).session_id
        strange = {"type": "later/kind", "payload": {"null": None, "deep": [1, {"x": "é"}]}, "jsonrpc": "2.0"}
        first = await client.session_append(session_id=session, entries=[strange], ids=["aaaa0001"])
        again = await client.session_append(session_id=session, entries=[strange], ids=["aaaa0001"])
        assert (first.entry_ids, first.repeated_ids) == (["aaaa0001"], [])
        assert (again.entry_ids, again.repeated_ids, again.seq) == (["aaaa0001"], ["aaaa0001"], first.seq)
        stored = (await client.session_get_entries(session_id=session)).entries
        assert [{key: stored[0][key] for key in strange}] == [strange]
        assert len(stored) == 1


async def test_an_append_that_expects_another_leaf_or_parent_changes_nothing(tmp_path: Path) -> None:
    """BR-020: an entry whose parent is not in the file is never written."""
    async with daemon(tmp_path) as client:
        session = (await client.session_create(cwd="/p")).session_id
        done = await client.session_append(session_id=session, messages=[user("one")], expected_leaf_id=None)
        before = await client.session_get_info(session_id=session)
        async with refused(ErrorKind.CONTENT_MODIFIED):
            await client.session_append(session_id=session, messages=[user("two")], expected_leaf_id=None)
        async with refused(ErrorKind.ENTRY_NOT_FOUND):
            await client.session_append(session_id=session, messages=[user("two")], parent_id="only-in-memory")
        after = await client.session_get_info(session_id=session)
        assert (after.seq, after.size_bytes, after.leaf_id) == (before.seq, before.size_bytes, done.leaf_id)
        root = await client.session_append(session_id=session, messages=[user("another root")], parent_id=None)
        branch = await client.session_get_branch(session_id=session)
        assert [e["id"] for e in branch.entries] == root.entry_ids


async def test_late_tool_output_goes_to_the_branch_that_asked_for_it(tmp_path: Path) -> None:
    """BR-016"""
    async with daemon(tmp_path) as client:
        session = (await client.session_create(cwd="/p")).session_id
        asked = await client.session_append(session_id=session, messages=[user("run it"), assistant("call_1")])
        start, call = asked.entry_ids
        other = await client.session_append(session_id=session, messages=[user("meanwhile")], parent_id=start)
        late = await client.session_append(session_id=session, messages=[result("call_1", "finally")])
        assert late.leaf_id == other.leaf_id
        stored = (await client.session_get_entries(session_id=session, ids=late.entry_ids)).entries
        assert stored[0]["parentId"] == call
        assert said((await client.session_build_context(session_id=session)).messages) == ["run it", "meanwhile"]
        there = await client.session_build_context(session_id=session, leaf_id=late.entry_ids[0])
        assert said(there.messages) == ["run it", "ok", "finally"]


async def test_sessions_are_listed_newest_first_page_by_page(tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        ids = []
        for number in range(5):
            session = await client.session_create(cwd="/p" if number < 4 else "/q", title=f"Number {number}")
            await client.session_append(session_id=session.session_id, messages=[user(f"question number-{number}")])
            ids.append(session.session_id)
        first = await client.session_list(limit=2)
        second = await client.session_list(limit=2, cursor=first.next_cursor)
        third = await client.session_list(limit=2, cursor=second.next_cursor)
        pages = [[s.session_id for s in page.sessions] for page in (first, second, third)]
        assert pages == [[ids[4], ids[3]], [ids[2], ids[1]], [ids[0]]]
        assert third.next_cursor is None
        assert [s.title for s in (await client.session_list(cwd="/q")).sessions] == ["Number 4"]
        assert [s.first_message for s in (await client.session_list(query="QUESTION number-2")).sessions] == [
            "question number-2"
        ]
        await client.session_close(session_id=ids[0])
        assert [s.open for s in (await client.session_list()).sessions] == [True] * 4 + [False]
        async with refused(ErrorKind.INVALID_PARAMS):
            await client.session_list(cursor="made-up")


async def test_a_fork_is_a_session_of_its_own_that_names_its_parent(tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        source = await client.session_create(cwd="/p", title="Source")
        done = await client.session_append(
            session_id=source.session_id, messages=[user("a"), assistant(text="b"), user("c")]
        )
        whole = await client.session_fork(session_id=source.session_id)
        part = await client.session_fork(session_id=source.session_id, entry_id=done.entry_ids[1])
        assert (whole.parent_session, whole.title, whole.entry_count) == (source.session_id, "Source", 3)
        assert (part.parent_session, part.entry_count) == (source.path, 2)
        await client.session_append(session_id=part.session_id, messages=[user("another way")])
        assert said((await client.session_build_context(session_id=part.session_id)).messages) == [
            "a",
            "b",
            "another way",
        ]
        assert (await client.session_get_info(session_id=source.session_id)).entry_count == 3
        async with refused(ErrorKind.ENTRY_NOT_FOUND):
            await client.session_fork(session_id=source.session_id, entry_id="nowhere")


async def test_a_moved_session_keeps_its_id_and_its_artifacts(tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        session = await client.session_create(cwd="/p")
        await client.session_append(session_id=session.session_id, messages=[user("hi")])
        put(session.artifacts_dir, "0.bash.log", "kept: ünïcode")
        moved = await client.session_move(session_id=session.session_id, cwd="/elsewhere")
        assert (moved.session_id, moved.cwd) == (session.session_id, "/elsewhere")
        assert exists(moved.path)
        assert not exists(session.path)
        part = await client.session_read_artifact(session_id=session.session_id, artifact_id="0", limit=8)
        assert (part.content, part.size_bytes, part.next_offset) == ("kept: ü", 15, 8)
        async with refused(ErrorKind.ENTRY_NOT_FOUND):
            await client.session_read_artifact(session_id=session.session_id, artifact_id="../0")
        async with refused(ErrorKind.INVALID_PARAMS):
            await client.session_move(session_id=session.session_id, cwd="relative")


async def test_a_deleted_session_is_gone_for_everyone(tmp_path: Path) -> None:
    async with shared(tmp_path) as socket, Client.connect_unix(socket) as one, Client.connect_unix(socket) as two:
        session = await one.session_create(cwd="/p")
        await one.session_append(session_id=session.session_id, messages=[user("hi")])
        await two.session_open(session_id=session.session_id)
        assert session.path is not None
        with two.subscribe("session/didChange") as heard:
            gone = await one.session_delete(session_id=session.session_id)
            assert (await heard.receive()).params.kind == "closed"
        assert (gone.deleted, gone.removed) == (True, [session.path])
        assert not exists(session.path)
        async with refused(ErrorKind.SESSION_NOT_FOUND):
            await two.session_get_info(session_id=session.session_id)
        assert not (await one.session_delete(path=session.path)).deleted
        assert not (await one.session_delete(session_id=session.session_id)).deleted
        fleeting = await one.session_create(cwd="/p", ephemeral=True)
        assert (await one.session_delete(session_id=fleeting.session_id)).deleted


async def test_a_session_another_process_owns_is_not_deleted(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(1))
    async with daemon(tmp_path) as owner, daemon(tmp_path) as other:
        await owner.session_open(path=str(path))
        await other.session_open(path=str(path), mode="read")
        async with refused(ErrorKind.SESSION_LOCKED):
            await other.session_delete(path=str(path))
        assert (await other.session_get_info(session_id="s1")).entry_count == 1
        await owner.session_append(session_id="s1", messages=[user("still mine")])


async def test_titles_of_the_user_stand_against_automatic_ones(tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        session = (await client.session_create(cwd="/p")).session_id
        heard = changes(client)
        assert (await client.session_rename(session_id=session, title="auto\tone", source="auto")).title == "auto one"
        assert (await client.session_rename(session_id=session, title="Mine")).applied
        refused_one = await client.session_rename(session_id=session, title="auto two", source="auto")
        assert (refused_one.applied, refused_one.title) == (False, "Mine")
        assert [(change.kind, change.title) for change in heard] == [("title", "auto one"), ("title", "Mine")]


async def test_busy_ends_with_the_client_that_said_so(tmp_path: Path) -> None:
    async with shared(tmp_path) as socket, Client.connect_unix(socket) as one:
        session = (await one.session_create(cwd="/p", ephemeral=True)).session_id
        async with Client.connect_unix(socket) as two:
            await two.session_open(session_id=session)
            assert await two.session_set_busy(session_id=session, busy=True) == SetBusyResult(busy=True, was_busy=False)
            assert (await one.session_get_info(session_id=session)).busy
        while (await one.session_get_info(session_id=session)).busy:
            await anyio.lowlevel.checkpoint()


async def test_a_file_that_another_program_removed_is_reported_and_can_be_saved_by_a_fork(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(2))
    async with daemon(tmp_path) as client:
        await client.session_open(path=str(path))
        path.unlink()
        async with refused(ErrorKind.CONTENT_MODIFIED):
            await client.session_build_context(session_id="s1")
        saved = await client.session_fork(session_id="s1")
        assert said((await client.session_build_context(session_id=saved.session_id)).messages) == ["x0", "x1"]


async def test_two_files_with_one_id_are_not_taken_for_each_other(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(2))
    copy = write(tmp_path / "copy.jsonl", HEADER, *chain(1))
    async with daemon(tmp_path) as client:
        await client.session_open(path=str(path))
        async with refused(ErrorKind.SESSION_LOCKED) as caught:
            await client.session_open(path=str(copy))
        assert str(path) in caught[0].message
        (tmp_path / "link.jsonl").symlink_to(path)
        assert (await client.session_open(path=str(tmp_path / "link.jsonl"))).entry_count == 2


@pytest.mark.samples
@pytest.mark.parametrize("name", ["before-compaction.jsonl", "large-session.jsonl"])
async def test_real_sessions_open_and_every_call_in_their_context_has_its_result(
    name: str, samples: Path, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes((samples / "pi" / name).read_bytes())
    async with daemon(tmp_path, Options(settings={"compaction": {"enabled": False}})) as client:
        session = await client.session_open(path=str(path))
        for format_ in ("agent", "llm"):
            built = await client.session_build_context(session_id=session.session_id, format=format_)
            assert unanswered(built.messages) == []
            assert len(built.messages) > 100
        branch = await client.session_get_branch(session_id=session.session_id)
        assert branch.entries[-1]["id"] == session.leaf_id
        assert path.read_bytes() == (samples / "pi" / name).read_bytes()


def unanswered(messages: list[Any]) -> list[str]:
    """Ids of calls whose result does not directly follow their turn, and of results without a call before them."""
    wrong: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "toolResult":
            if message["toolCallId"] in waiting:
                waiting.remove(message["toolCallId"])
            else:
                wrong.append(message["toolCallId"])
            continue
        wrong += waiting
        content = message.get("content")
        blocks = content if message["role"] == "assistant" and isinstance(content, list) else []
        waiting = [block["id"] for block in blocks if block.get("type") == "toolCall"]
    return wrong + waiting
