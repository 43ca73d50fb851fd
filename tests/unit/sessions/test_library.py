"""The sessions folder: creating, finding, opening, copying, moving and deleting, and what is refused."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

import storekit as kit
from octavo.sessions.paths import restore_orphaned_backups
from octavo_protocol.errors import ErrorKind, OctavoError


async def refused(kind: ErrorKind, call: Any) -> OctavoError:
    with pytest.raises(OctavoError) as caught:
        await call
    assert caught.value.kind == kind, caught.value
    return caught.value


# -- creating and finding ------------------------------------------------------------------------------------------


async def test_a_new_session_lies_in_the_folder_of_its_working_directory(tmp_path: Path) -> None:
    async with kit.created(tmp_path, title=" My\ttitle ", parent_session="older") as session:
        assert session.path is not None
        assert session.path.parent == tmp_path / "sessions" / "--p--"
        assert session.path.name.endswith(f"_{session.session_id}.jsonl")
        (header,) = kit.read(session.path)
        assert header == session.header
        assert (header["title"], header["titleSource"]) == ("My title", "user")
        assert (header["parentSession"], header["cwd"], header["version"]) == ("older", "/p", 3)
        assert session.path.stat().st_mode & 0o777 == 0o600


async def test_creation_at_a_path_takes_over_an_empty_file_and_nothing_else(tmp_path: Path) -> None:
    """BR-011."""
    empty, full = tmp_path / "empty.jsonl", tmp_path / "full.jsonl"
    empty.touch()
    full.write_text("precious")
    async with kit.created(tmp_path, path=empty):
        assert [line["type"] for line in kit.read(empty)] == ["session"]
    await refused(ErrorKind.STORAGE_FAILED, kit.library(tmp_path).create("/p", path=full))
    assert full.read_text() == "precious"
    assert kit.files(tmp_path) == ["empty.jsonl", "full.jsonl"]


async def test_a_session_is_found_by_the_beginning_of_its_id_or_name_whatever_the_case(tmp_path: Path) -> None:
    library = kit.library(tmp_path)
    session = await library.create("/p")
    await session.close()
    assert session.path is not None
    stem = session.path.stem
    for name in (session.session_id, session.session_id[:13].upper(), stem, stem[:10]):
        assert library.find(name) == session.path
        assert library.find(name, cwd="/elsewhere") == session.path
    again = await library.open(session.session_id)
    assert again.session_id == session.session_id
    await again.close()


async def test_the_current_project_is_searched_first_and_an_ambiguous_name_is_refused(tmp_path: Path) -> None:
    library = kit.library(tmp_path)
    one, two = library.folder_for("/one"), library.folder_for("/two")
    for folder, number in ((one, 1), (two, 2)):
        kit.write(folder / f"2026_abc-{number}.jsonl", {**kit.HEADER, "id": f"abc-{number}"})
    assert library.find("abc", cwd="/one").parent == one
    assert library.find("abc", cwd="/two").parent == two
    error = await refused(ErrorKind.INVALID_PARAMS, library.open("abc"))
    assert error.data["details"] == {"candidates": ["2026_abc-1.jsonl", "2026_abc-2.jsonl"]}
    await refused(ErrorKind.SESSION_NOT_FOUND, library.open("xyz"))


@pytest.mark.parametrize(
    "name",
    ["", "../x", "a/b", "/etc/passwd", "..", ".", "a\0b", "a\nb", "~", "a..b", "-x", "a" * 300, "a b", "*", "a\\b"],
)
async def test_an_id_that_looks_like_a_path_or_worse_is_refused(tmp_path: Path, name: str) -> None:
    await refused(ErrorKind.INVALID_PARAMS, kit.library(tmp_path).open(name))
    assert kit.files(tmp_path) == []


@pytest.mark.parametrize("path", ["", "a\0b", "a\nb.jsonl", "~nobody-has-this-name/x", "\x7f"])
async def test_a_path_with_control_characters_is_refused(tmp_path: Path, path: str) -> None:
    library = kit.library(tmp_path)
    await refused(ErrorKind.INVALID_PARAMS, library.open_path(path))
    await refused(ErrorKind.INVALID_PARAMS, library.create("/p", path=path))
    await refused(ErrorKind.INVALID_PARAMS, library.delete(path))


async def test_a_link_out_of_the_sessions_folder_is_no_session_of_it(tmp_path: Path) -> None:
    library = kit.library(tmp_path)
    outside = kit.write(tmp_path / "outside" / "2026_secret.jsonl", kit.HEADER)
    folder = library.folder_for("/p")
    folder.mkdir(parents=True)
    (folder / "2026_secret.jsonl").symlink_to(outside)
    (library.root / "linked").symlink_to(outside.parent)
    await refused(ErrorKind.SESSION_NOT_FOUND, library.open("secret"))
    assert await library.summaries() == []
    session = await library.open_path(folder / "2026_secret.jsonl")
    assert session.path == outside
    await session.close()


# -- opening what is no session ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"# Read me\n",
        b"\0" * 5000,
        b'{"type":"message"}\n',
        b'{"type":"session"}\n',
        b"\x89PNG\r\n",
        b"[]",
        b"{" * 99,
    ],
    ids=["empty", "text", "nul", "no header", "no id", "binary", "array", "broken"],
)
async def test_what_is_no_session_is_refused_and_left_untouched(tmp_path: Path, content: bytes) -> None:
    """BR-011."""
    path = tmp_path / "file.jsonl"
    path.write_bytes(content)
    before = path.stat()
    library = kit.library(tmp_path)
    await refused(ErrorKind.SESSION_UNREADABLE, library.open_path(path))
    await refused(ErrorKind.SESSION_UNREADABLE, library.open_path(path, mode="read"))
    await refused(ErrorKind.SESSION_UNREADABLE, library.delete(path))
    assert path.read_bytes() == content
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert kit.files(tmp_path) == ["file.jsonl"]


async def test_folders_pipes_and_missing_files_are_refused_at_once(tmp_path: Path) -> None:
    """BR-011."""
    library = kit.library(tmp_path)
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    await refused(ErrorKind.SESSION_UNREADABLE, library.open_path(tmp_path))
    await refused(ErrorKind.SESSION_UNREADABLE, library.open_path(tmp_path / "pipe.jsonl"))
    await refused(ErrorKind.SESSION_UNREADABLE, library.open_path("/dev/null"))
    await refused(ErrorKind.SESSION_NOT_FOUND, library.open_path(tmp_path / "nothing.jsonl"))
    await refused(ErrorKind.SESSION_NOT_FOUND, library.open_path(tmp_path / "pipe.jsonl" / "x"))
    await refused(ErrorKind.SESSION_NOT_FOUND, library.open_path(tmp_path / "loop"))


async def test_two_openings_for_writing_exclude_each_other_and_reading_is_free(tmp_path: Path) -> None:
    """BR-002."""
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(2))
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    library = kit.library(tmp_path)
    first = await library.open_path(path)
    for name in (path, link):
        error = await refused(ErrorKind.SESSION_LOCKED, library.open_path(name))
        assert error.data["details"]["pid"] == os.getpid()
    await refused(ErrorKind.SESSION_LOCKED, library.delete(path))
    reader = await library.open_path(path, mode="read")
    assert len(reader.branch()) == 2
    await reader.close()
    await first.close()
    second = await library.open_path(link)
    await second.append(messages=[kit.user("x")])
    await second.close()
    assert link.is_symlink()
    assert kit.files(tmp_path) == ["link.jsonl", "s.jsonl"]


async def test_a_failed_opening_gives_the_lease_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(2))
    library = kit.library(tmp_path)
    with monkeypatch.context() as failing:

        def refuse(*_: Any, **__: Any) -> Any:
            raise OctavoError(ErrorKind.STORAGE_FAILED, "no")

        failing.setattr("octavo.sessions.library.SessionFile.open", refuse)
        await refused(ErrorKind.STORAGE_FAILED, library.open_path(path))
    await (await library.open_path(path)).close()


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.EPERM])
async def test_a_folder_that_may_not_be_written_allows_reading_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *kit.chain(2))
    real = os.open

    def closed(name: Any, flags: int, *mode: int, **options: Any) -> int:
        # Permissions do not bind root, so the refusal of the system is played here.
        if str(name).startswith(str(tmp_path)) and flags & (os.O_CREAT | os.O_RDWR | os.O_WRONLY):
            raise OSError(code, os.strerror(code))
        return real(name, flags, *mode, **options)

    monkeypatch.setattr(os, "open", closed)
    library = kit.library(tmp_path)
    error = await refused(ErrorKind.STORAGE_FAILED, library.open_path(path))
    assert error.data["details"]["errno"] == errno.errorcode[code]
    await refused(ErrorKind.STORAGE_FAILED, library.create("/p", path=tmp_path / "new.jsonl"))
    reader = await library.open_path(path, mode="read")
    assert len(reader.branch()) == 2
    await reader.close()
    assert kit.files(tmp_path) == ["s.jsonl"]


async def test_a_clock_that_goes_back_disturbs_nothing(tmp_path: Path) -> None:
    times = iter([5_000_000, 4_000_000, 3_000_000, 2_000_000, *[1_000_000] * 50])
    library = kit.library(tmp_path, now_ms=lambda: next(times))
    session = await library.create("/p")
    for text in "abc":
        await session.append(messages=[kit.user(text)])
    await session.set_title("t")
    order = [entry["message"]["content"] for entry in session.branch()]
    assert order == ["a", "b", "c"]
    await session.close()
    again = await library.open(session.session_id)
    assert [entry["message"]["content"] for entry in again.branch()] == order
    assert not again.recovery
    await again.close()


# -- copies --------------------------------------------------------------------------------------------------------


def reachable(path: Path | None) -> list[str]:
    """Ids from the last line to the root; fails when a parent is missing or there are several roots."""
    entries = kit.read(path)[1:]
    by_id = {entry["id"]: entry for entry in entries}
    assert len(by_id) == len(entries)
    assert sum(entry["parentId"] is None for entry in entries) == 1
    assert all(entry["parentId"] is None or entry["parentId"] in by_id for entry in entries)
    found, current = [], entries[-1]["id"]
    while current is not None:
        found.append(current)
        current = by_id[current]["parentId"]
    return found[::-1]


async def test_a_fork_has_the_same_entries_and_leaf_under_a_new_id(tmp_path: Path) -> None:
    library = kit.library(tmp_path)
    session = await library.create("/p", title="T")
    answer = await session.append(messages=[kit.user("a"), kit.user("b"), kit.user("c")])
    await session.set_leaf(answer.entry_ids[1])
    library.artifacts(session).save("shake", "kept text")
    fork = await library.fork(session)
    assert fork.session_id != session.session_id
    assert fork.header["parentSession"] == session.session_id
    assert (fork.title, fork.header["titleSource"], fork.leaf_id) == ("T", "user", answer.entry_ids[1])
    assert fork.tree.entries == session.tree.entries
    assert library.artifacts(fork).read("0").text == "kept text"
    await fork.append(messages=[kit.user("only here")])
    assert len(session.tree) == 4
    ephemeral = await library.fork(session, ephemeral=True)
    assert ephemeral.branch() == session.branch()
    for each in (session, fork, ephemeral):
        await each.close()


async def test_branching_out_re_parents_around_labels(tmp_path: Path) -> None:
    """BR-017."""
    library = kit.library(tmp_path)
    session = await library.create("/p")
    root = (await session.append(messages=[kit.user("root")])).entry_ids[0]
    await session.set_label(root, "start")
    rest = await session.append(messages=[kit.user("q"), kit.assistant("call")])
    branched = await library.branch_out(session, rest.entry_ids[-1])
    assert branched.header["parentSession"] == str(session.path)
    assert reachable(branched.path)[:3] == [root, *rest.entry_ids]
    assert branched.tree.label_of(root) == "start"
    results = [line for line in kit.read(branched.path)[1:] if line.get("message", {}).get("role") == "toolResult"]
    assert [line["message"]["toolCallId"] for line in results] == ["call"]
    await refused(ErrorKind.ENTRY_NOT_FOUND, library.branch_out(session, "nope"))
    for each in (session, branched):
        await each.close()


async def test_a_copy_of_an_ephemeral_session_has_its_pictures(tmp_path: Path) -> None:
    library = kit.library(tmp_path)
    session = await library.create("/p", ephemeral=True)
    content = [{"type": "image", "mimeType": "image/png", "data": "QUJD" * 400}]
    await session.append(messages=[{"role": "user", "content": content}])
    assert kit.files(tmp_path) == []
    fork = await library.fork(session)
    assert "QUJDQUJD" not in json.dumps(kit.read(fork.path))
    assert fork.resolved(fork.branch()).value[0]["message"]["content"] == content
    assert session.resolved(session.branch()).value[0]["message"]["content"] == content
    await fork.close()


async def test_pictures_of_another_program_s_file_stay_in_its_store(tmp_path: Path) -> None:
    path = kit.write(tmp_path / "agent" / "sessions" / "-p" / "2026_s1.jsonl", kit.HEADER, *kit.chain(1))
    (tmp_path / "agent" / "blobs").mkdir()
    async with kit.opened(tmp_path, path) as session:
        content = [{"type": "image", "mimeType": "image/png", "data": "QUJD" * 400}]
        await session.append(messages=[{"role": "user", "content": content}])
        assert session.blobs.folder == tmp_path / "agent" / "blobs"
        fork = await kit.library(tmp_path).fork(session)
        assert fork.blobs.folder == tmp_path / "blobs"
        assert fork.resolved(fork.branch()).value[-1]["message"]["content"] == content
        await fork.close()


# -- moving and deleting -------------------------------------------------------------------------------------------


async def test_a_moved_session_keeps_its_side_folder_and_stays_open(tmp_path: Path) -> None:
    """engine.md §17d 120."""
    library = kit.library(tmp_path)
    session = await library.create("/p")
    await session.append(messages=[kit.user("a")])
    old = session.path
    assert old is not None
    library.artifacts(session).save("shake", "text")
    await library.move(session, "/q")
    assert session.path == library.folder_for("/q") / old.name
    assert kit.read(session.path)[0]["cwd"] == "/q"
    assert library.artifacts(session).read("0").text == "text"
    assert not old.exists()
    await refused(ErrorKind.SESSION_LOCKED, library.open_path(session.path))
    await session.append(messages=[kit.user("b")])
    await session.close()
    assert len(kit.read(session.path)) == 3
    assert [name for name in kit.files(tmp_path) if "/." in name] == []


async def test_a_move_that_cannot_finish_moves_nothing(tmp_path: Path) -> None:
    library = kit.library(tmp_path)
    session = await library.create("/p")
    library.artifacts(session).save("shake", "text")
    old = session.path
    assert old is not None
    (library.folder_for("/q") / old.stem).mkdir(parents=True)
    await refused(ErrorKind.STORAGE_FAILED, library.move(session, "/q"))
    assert session.path == old
    assert kit.read(old)[0]["cwd"] == "/p"
    assert library.artifacts(session).read("0").text == "text"
    await session.append(messages=[kit.user("still here")])
    await session.close()


async def test_moving_a_file_outside_the_folder_changes_its_header_only(tmp_path: Path) -> None:
    path = kit.write(tmp_path / "mine.jsonl", kit.HEADER, *kit.chain(1))
    async with kit.opened(tmp_path, path) as session:
        await kit.library(tmp_path).move(session, "/q")
        assert session.path == path
        assert kit.read(path)[0]["cwd"] == "/q"


async def test_deleting_removes_the_file_and_its_side_folder_and_nothing_behind_links(tmp_path: Path) -> None:
    library = kit.library(tmp_path)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    session = await library.create("/p")
    library.artifacts(session).save("shake", "text")
    await session.close()
    assert session.path is not None
    assert session.side_folder is not None
    (session.side_folder / "link").symlink_to(precious)
    assert await library.delete(session.path) == [session.side_folder, session.path]
    assert await library.delete(session.path) == []
    linked = kit.write(library.folder_for("/p") / "2026_x.jsonl", kit.HEADER)
    linked.with_suffix("").symlink_to(precious)
    await library.delete(linked)
    assert kit.files(precious) == ["file"]
    assert [name for name in kit.files(tmp_path) if name.endswith(".jsonl")] == []


async def test_a_folder_that_only_shares_the_name_of_a_session_is_neither_deleted_nor_copied(tmp_path: Path) -> None:
    """`project.jsonl` beside the folder `project`: what a person works on is nobody's artifacts."""
    library = kit.library(tmp_path)
    path = kit.write(tmp_path / "project.jsonl", {**kit.HEADER, "id": "0197f2b4"})
    source = tmp_path / "project" / "src"
    source.mkdir(parents=True)
    (source / "main.py").write_text("precious")
    (tmp_path / "project" / "notes.md").write_text("precious too")
    session = await library.open_path(path)
    library.artifacts(session).save("shake", "text")
    fork = await library.fork(session)
    assert fork.side_folder is not None
    assert kit.files(fork.side_folder) == ["0.shake.log"]
    for live in (session, fork):
        await live.close()
    assert await library.delete(path) == [path]
    assert kit.files(tmp_path / "project") == ["0.shake.log", "notes.md", "src", "src/main.py"]
    assert fork.path is not None
    assert await library.delete(fork.path) == [fork.side_folder, fork.path]


async def test_a_folder_that_holds_artifacts_only_goes_with_its_session_wherever_that_is(tmp_path: Path) -> None:
    library = kit.library(tmp_path)
    path = kit.write(tmp_path / "project.jsonl", {**kit.HEADER, "id": "0197f2b4"})
    session = await library.open_path(path)
    library.artifacts(session).save("shake", "text")
    await session.close()
    assert await library.delete(path) == [tmp_path / "project", path]


async def test_an_orphaned_backup_is_renamed_back_the_newest_first(tmp_path: Path) -> None:
    """engine.md §17d 114."""
    for number, stem in enumerate(("old", "new")):
        backup = kit.write(tmp_path / f"2026_s.jsonl.{stem}.bak", {**kit.HEADER, "title": stem})
        os.utime(backup, (number, number))
    kit.write(tmp_path / "kept.jsonl", {**kit.HEADER, "title": "primary"})
    kit.write(tmp_path / "kept.jsonl.x.bak", {**kit.HEADER, "title": "stale"})
    assert restore_orphaned_backups(tmp_path) == [tmp_path / "2026_s.jsonl"]
    assert kit.read(tmp_path / "2026_s.jsonl")[0]["title"] == "new"
    assert kit.read(tmp_path / "kept.jsonl")[0]["title"] == "primary"
