"""The file: durable appends, repair of tails, atomic rewrites, and notice of what others do."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from octavo.sessions.store import disk, jsonl
from octavo.sessions.store.jsonl import Copy, JsonlFile, encode_line
from octavo_protocol.errors import ErrorKind, OctavoError

A, B, C = b'{"a":1}\n', b'{"b":2}\n', b'{"c":3}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "s.jsonl"
    target.write_bytes(A)
    return target


def refuse_writes(monkeypatch: pytest.MonkeyPatch, after: int, code: int = errno.ENOSPC) -> None:
    """Let the disk accept `after` more bytes and then fail."""
    real, left = os.write, after

    def write(descriptor: int, data: Any) -> int:
        nonlocal left
        if left <= 0:
            raise OSError(code, os.strerror(code))
        written = real(descriptor, bytes(data)[:left])
        left -= written
        return written

    monkeypatch.setattr(disk.os, "write", write)


def test_an_append_goes_behind_the_last_line_and_tells_its_offset(path: Path) -> None:
    file = JsonlFile(path)
    assert file.append(B, 0) == (len(A), None)
    assert file.append(C, 0) == (len(A + B), None)
    assert path.read_bytes() == A + B + C


def test_an_append_is_one_write_and_is_flushed_before_it_returns(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    write, fsync = os.write, os.fsync
    monkeypatch.setattr(disk.os, "write", lambda fd, data: (calls.append("write"), write(fd, data))[1])
    monkeypatch.setattr(disk.os, "fsync", lambda fd: (calls.append("fsync"), fsync(fd))[1])
    JsonlFile(path).append(B + C, 0)
    assert calls == ["write", "fsync"]


def test_with_durability_os_nothing_waits_for_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk.os, "fsync", lambda _: pytest.fail("flushed"))
    JsonlFile(path, "os").append(B, 0)
    assert path.read_bytes() == A + B


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT])
@pytest.mark.parametrize("after", [0, 1, 7])
def test_a_write_that_fails_part_way_leaves_the_file_as_before(
    path: Path, monkeypatch: pytest.MonkeyPatch, after: int, code: int
) -> None:
    """BR-001."""
    file = JsonlFile(path)
    with monkeypatch.context() as failing:
        refuse_writes(failing, after, code)
        with pytest.raises(OctavoError) as caught:
            file.append(B, 0)
    assert caught.value.kind == ErrorKind.STORAGE_FAILED
    assert caught.value.data["details"]["errno"] == errno.errorcode[code]
    assert path.read_bytes() == A
    file.append(C, 0)
    assert path.read_bytes() == A + C


def test_a_failed_flush_takes_the_bytes_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = JsonlFile(path)
    with monkeypatch.context() as failing:

        def refuse(_: int) -> None:
            raise OSError(errno.EIO, "I/O error")

        failing.setattr(disk.os, "fsync", refuse)
        with pytest.raises(OctavoError):
            file.append(B, 0)
    assert path.read_bytes() == A
    file.append(C, 0)
    assert path.read_bytes() == A + C


def test_when_even_the_undo_fails_the_next_append_begins_with_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = JsonlFile(path)
    with monkeypatch.context() as failing:
        refuse_writes(failing, 3)

        def refuse(_: int, __: int) -> None:
            raise OSError(errno.EIO, "I/O error")

        failing.setattr(jsonl.os, "ftruncate", refuse)
        with pytest.raises(OctavoError):
            file.append(B, 0)
    assert path.read_bytes() == A + B[:3]
    file.append(C, 0)
    assert path.read_bytes() == A + C


def test_a_whole_record_without_its_newline_gets_one(path: Path) -> None:
    path.write_bytes(A + B[:-1])
    offset, repair = JsonlFile(path).append(C, 0)
    assert path.read_bytes() == A + B + C
    assert offset == len(A + B)
    assert repair is not None
    assert repair.backup is None


def test_a_torn_tail_is_backed_up_and_replaced_by_the_next_append(path: Path) -> None:
    """BR-001."""
    path.write_bytes(A + b'{"b": tor')
    _, repair = JsonlFile(path).append(C, 1_700_000_000_000)
    assert path.read_bytes() == A + C
    assert repair is not None
    assert repair.backup is not None
    assert repair.backup.name.startswith("s.jsonl.damaged-20231114T221320")
    assert repair.backup.read_bytes() == b'{"offset":8,"length":9}\n{"b": tor\n'


def test_two_backups_of_the_same_moment_do_not_overwrite_each_other(path: Path) -> None:
    names = set()
    for _ in range(3):
        with path.open("ab") as stream:
            stream.write(b"torn")
        _, repair = JsonlFile(path).append(C, 5)
        assert repair is not None
        names.add(repair.backup)
    assert len(names) == 3


def test_a_torn_tail_longer_than_a_block_is_found(path: Path) -> None:
    path.write_bytes(A + b'{"x":"' + b"y" * 9_000_000)
    JsonlFile(path).append(C, 0)
    assert path.read_bytes() == A + C


def test_drift_tells_growth_from_replacement(path: Path) -> None:
    file = JsonlFile(path)
    assert file.drift() == "same"
    with path.open("ab") as stream:
        stream.write(B)
    assert file.drift() == "grown"
    path.write_bytes(C + B + A)
    assert file.drift() == "replaced"
    file.reopen()
    assert file.drift() == "same"
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)
    assert file.drift() == "replaced"
    path.unlink()
    assert file.drift() == "missing"


@pytest.mark.parametrize("change", ["grown", "replaced", "missing"])
def test_nothing_is_appended_to_a_file_that_somebody_changed(path: Path, change: str) -> None:
    file = JsonlFile(path)
    if change == "missing":
        path.unlink()
    else:
        path.write_bytes(A + B if change == "grown" else B)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(OctavoError) as caught:
        file.append(C, 0)
    assert caught.value.kind == ErrorKind.CONTENT_MODIFIED
    assert caught.value.data["details"]["change"] == change
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_rewrite_takes_ranges_and_new_lines_in_order_and_keeps_the_mode(path: Path) -> None:
    path.chmod(0o640)
    file = JsonlFile(path)
    file.append(B, 0)
    assert file.rewrite([C, Copy(len(A), len(B)), Copy(0, len(A))], file.size) == b""
    assert path.read_bytes() == C + B + A
    assert path.stat().st_mode & 0o777 == 0o640
    file.append(C, 0)
    assert path.read_bytes() == C + B + A + C
    assert [p.name for p in path.parent.iterdir()] == ["s.jsonl"]


def test_a_rewrite_carries_over_what_was_appended_meanwhile(path: Path) -> None:
    file = JsonlFile(path)

    def pieces() -> Any:
        yield C
        with path.open("ab") as stream:
            stream.write(B)

    assert file.rewrite(pieces(), file.size) == B
    assert path.read_bytes() == C + B


def test_a_rewrite_carries_over_what_reached_the_file_in_the_last_moment(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = JsonlFile(path)
    foreign = os.open(path, os.O_WRONLY | os.O_APPEND)
    replace = Path.replace

    def late(source: Path, target: Path) -> Path:
        os.write(foreign, B)
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", late)
    assert file.rewrite([C], file.size) == B
    os.close(foreign)
    assert path.read_bytes() == C + B


def test_a_rewrite_refuses_when_the_file_was_replaced_meanwhile(path: Path) -> None:
    file = JsonlFile(path)

    def pieces() -> Any:
        yield C
        other = path.with_name("other")
        other.write_bytes(B)
        other.replace(path)

    with pytest.raises(OctavoError) as caught:
        file.rewrite(pieces(), file.size)
    assert caught.value.kind == ErrorKind.CONTENT_MODIFIED
    assert path.read_bytes() == B
    assert [p.name for p in path.parent.iterdir()] == ["s.jsonl"]


def test_a_rewrite_that_runs_out_of_disk_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = JsonlFile(path)
    with monkeypatch.context() as failing:
        refuse_writes(failing, 2)
        with pytest.raises(OctavoError) as caught:
            file.rewrite([C], file.size)
    assert caught.value.kind == ErrorKind.STORAGE_FAILED
    assert [(p.name, p.read_bytes()) for p in path.parent.iterdir()] == [("s.jsonl", A)]
    file.append(B, 0)
    assert path.read_bytes() == A + B


def test_creation_is_exclusive_and_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "new.jsonl"
    with monkeypatch.context() as failing:
        refuse_writes(failing, 3)
        with pytest.raises(OctavoError):
            disk.create_exclusively(target, (A, B), "fsync")
    assert list(tmp_path.iterdir()) == []
    disk.create_exclusively(target, (A, B), "fsync")
    with pytest.raises(FileExistsError):
        disk.create_exclusively(target, (C,), "fsync")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("new.jsonl", A + B)]


def test_a_new_file_and_a_rename_flush_their_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[bool] = []
    fsync = os.fsync
    monkeypatch.setattr(disk.os, "fsync", lambda fd: (flushed.append(stat.S_ISDIR(os.fstat(fd).st_mode)), fsync(fd))[1])
    disk.create_exclusively(path.with_name("n.jsonl"), (A,), "fsync")
    assert flushed == [False, True]
    flushed.clear()
    JsonlFile(path).rewrite([C], len(A))
    assert flushed == [False, True]


def test_entries_nested_deeper_than_the_fast_encoder_goes_are_written() -> None:
    value: dict[str, Any] = {}
    for _ in range(300):
        value = {"d": value}
    assert encode_line(value) == b'{"d":' * 300 + b"{}" + b"}" * 300 + b"\n"


def test_a_file_that_cannot_be_read_when_it_is_opened_leaves_no_descriptor_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    real = os.open

    def remember(*arguments: Any, **options: Any) -> int:
        opened.append(real(*arguments, **options))
        return opened[-1]

    def truncated(*_: Any) -> bytes:
        return b""

    monkeypatch.setattr(jsonl.os, "open", remember)
    monkeypatch.setattr(jsonl.os, "pread", truncated)
    with pytest.raises(OctavoError) as caught:
        JsonlFile(path)
    assert caught.value.kind is ErrorKind.STORAGE_FAILED
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])
