"""Lists of sessions from heads and tails, and artifacts beside them."""

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

import storekit as kit
from octavo.sessions import listing
from octavo.sessions.artifacts import Artifacts, safe_tool_name
from octavo.sessions.listing import BATCH, TAIL_BYTES, list_sessions, stream_summaries, summarise
from octavo.sessions.store.writer import WriterThreads
from octavo_protocol.errors import ErrorKind, OctavoError


def session(path: Path, *entries: dict[str, Any], **header: Any) -> Path:
    return kit.write(path, {**kit.HEADER, **header}, *entries)


def reply(entry_id: str, stop: str = "stop", text: str = "done") -> dict[str, Any]:
    return {**kit.entry(entry_id, None), "message": {**kit.assistant(text=text), "stopReason": stop}}


def test_one_bad_line_never_hides_a_session(tmp_path: Path) -> None:
    """BR-005."""
    path = session(tmp_path / "s.jsonl", *kit.chain(10))
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*rows[:5], rows[5][:30] + b"\n", *rows[5:]]))
    found = summarise(path)
    assert found is not None
    assert (found.first_message, found.message_count, found.status) == ("x0", 11, "pending")


@pytest.mark.parametrize(
    "spoil", [lambda b: b"\xef\xbb\xbf" + b, lambda b: b.replace(b"\n", b"\r\n"), lambda b: b"\n\n" + b]
)
def test_bom_crlf_and_blank_lines_do_not_hide_it_either(tmp_path: Path, spoil: Any) -> None:
    path = session(tmp_path / "s.jsonl", kit.entry("a", None, "hello"))
    path.write_bytes(spoil(path.read_bytes()))
    found = summarise(path)
    assert found is not None
    assert found.first_message == "hello"


def test_a_header_longer_than_the_head_is_read(tmp_path: Path) -> None:
    path = session(tmp_path / "s.jsonl", kit.entry("a", None, "hello"), additional="y" * 50_000, title="T")
    found = summarise(path)
    assert found is not None
    assert (found.title, found.first_message) == ("T", "hello")


def test_a_first_message_far_from_the_start_is_found(tmp_path: Path) -> None:
    """BR-007."""
    noise = {"type": "custom", "id": "n", "parentId": None, "timestamp": "t", "data": "z" * 300_000}
    found = summarise(session(tmp_path / "s.jsonl", noise, kit.entry("a", None, "hello")))
    assert found is not None
    assert found.first_message == "hello"


def test_a_last_message_longer_than_the_tail_is_found(tmp_path: Path) -> None:
    entries = [kit.entry("a", None, "q"), reply("b", "error", "e" * (2 * TAIL_BYTES))]
    found = summarise(session(tmp_path / "s.jsonl", *entries))
    assert found is not None
    assert found.status == "error"


def test_a_title_slot_wins_over_the_header(tmp_path: Path) -> None:
    path = kit.write(tmp_path / "s.jsonl", {"type": "title", "v": 1, "title": "slot"}, {**kit.HEADER, "title": "old"})
    found = summarise(path)
    assert found is not None
    assert found.title == "slot"


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b"not json\n", b'{"type":"session"}\n', b'{"type":"session","id":""}\n']
)
def test_what_is_no_session_is_left_out(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)
    assert summarise(path) is None
    assert summarise(tmp_path / "gone.jsonl") is None


async def test_two_hundred_large_sessions_cost_their_heads_and_tails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-008."""
    for number in range(200):
        path = session(tmp_path / f"2026_{number}.jsonl", kit.entry("a", None, f"first {number}"))
        last = kit.json.dumps(reply("z")) + "\n"
        with path.open("r+b") as stream:
            stream.seek(30 << 20)
            stream.write(b"\n" + last.encode())
    read = 0

    def counting(data: Any, **options: Any) -> Any:
        nonlocal read
        read += len(data)
        return parse(data, **options)

    parse = listing.parse_lines
    monkeypatch.setattr(listing, "parse_lines", counting)
    with anyio.fail_after(20):
        found = await list_sessions([tmp_path], WriterThreads())
    assert len(found) == 200
    assert {summary.status for summary in found} == {"complete"}
    assert read <= 200 * (listing.HEAD_BYTES + TAIL_BYTES)


async def test_the_latest_modified_comes_first_and_a_query_narrows(tmp_path: Path) -> None:
    for number, title in enumerate(("Alpha beta", "Gamma", "Beta delta")):
        path = session(tmp_path / f"2026_{number}.jsonl", kit.entry("a", None, "hello"), title=title)
        os.utime(path, (number, number))
    writers = WriterThreads()
    assert [s.title for s in await list_sessions([tmp_path], writers)] == ["Beta delta", "Gamma", "Alpha beta"]
    assert [s.title for s in await list_sessions([tmp_path], writers, query="BETA hello")] == [
        "Beta delta",
        "Alpha beta",
    ]
    assert await list_sessions([tmp_path], writers, query="beta gamma") == []
    assert await list_sessions([tmp_path / "missing"], writers) == []


async def test_a_list_comes_in_batches_and_can_be_cancelled_between_them(tmp_path: Path) -> None:
    for number in range(3 * BATCH):
        session(tmp_path / f"2026_{number}.jsonl")
    batches = 0
    with anyio.CancelScope() as scope:
        async for batch in stream_summaries([tmp_path], WriterThreads()):
            assert len(batch) == BATCH
            batches += 1
            scope.cancel()
    assert scope.cancelled_caught
    assert batches == 1


# -- artifacts -----------------------------------------------------------------------------------------------------


def test_artifact_ids_continue_and_names_are_made_safe(tmp_path: Path) -> None:
    """engine.md §17d 123."""
    folder = tmp_path / "side"
    assert [Artifacts(folder).save("ba/sh ../é", "one"), Artifacts(folder).save("x" * 99, "two")] == ["0", "1"]
    assert sorted(path.name for path in folder.iterdir()) == ["0.ba_sh_____.log", f"1.{'x' * 64}.log"]
    (folder / "0.ba_sh_____.log").unlink()
    assert Artifacts(folder).save("t", "three") == "2"
    assert safe_tool_name("") == "tool"


def test_two_writers_of_one_folder_never_share_an_id(tmp_path: Path) -> None:
    one, two = Artifacts(tmp_path), Artifacts(tmp_path)
    ids = [one.save("t", "a"), two.save("t", "b"), one.save("t", "c"), two.save("t", "d")]
    assert ids == ["0", "1", "2", "3"]
    assert [one.read(number).text for number in ids] == ["a", "b", "c", "d"]


def test_an_artifact_is_read_in_pieces_that_end_at_characters(tmp_path: Path) -> None:
    text = "aé🧩" * 100
    for artifacts in (Artifacts(tmp_path), Artifacts(None)):
        number = artifacts.save("t", text)
        parts, offset = [], 0
        while True:
            part = artifacts.read(number, offset=offset, limit=10)
            assert part.size == len(text.encode())
            parts.append(part.text)
            if part.next_offset is None:
                break
            assert len(part.text.encode()) <= 10
            offset = part.next_offset
        assert "".join(parts) == text


@pytest.mark.parametrize("name", ["7", "../secret", "/etc/passwd", ".hidden", "originals.jsonl", "link", "", "a\0b"])
def test_only_files_of_the_folder_are_artifacts(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "side"
    Artifacts(folder).save("t", "x")
    (tmp_path / "secret").write_text("secret")
    for forbidden in (".hidden", "originals.jsonl"):
        (folder / forbidden).write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(OctavoError) as caught:
        Artifacts(folder).read(name)
    assert caught.value.kind == ErrorKind.ENTRY_NOT_FOUND
    assert Artifacts(folder).names() == ["0.t.log"]


async def test_a_session_reads_the_artifacts_of_those_it_continues(tmp_path: Path) -> None:
    """BR-083."""
    library = kit.library(tmp_path)
    first = await library.create("/p")
    assert library.artifacts(first).save("shake", "from the first") == "0"
    assert first.side_folder is not None
    (first.side_folder / "plan.md").write_text("the plan")
    second = await library.create("/p", parent_session=first.session_id)
    third = await library.create("/q", parent_session=str(second.path))
    artifacts = library.artifacts(third)
    assert artifacts.read("0").text == "from the first"
    assert artifacts.read("plan.md").text == "the plan"
    assert artifacts.save("shake", "from the third") == "1"
    assert artifacts.names() == ["1.shake.log", "0.shake.log", "plan.md"]
    orphan = await library.create("/p", parent_session="gone")
    assert library.artifacts(orphan).names() == []
    for each in (first, second, third, orphan):
        await each.close()
