"""What must not be lost when two things meet: two repairs in one moment, two sessions with one picture."""

import errno
import hashlib
import os
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import storekit as kit
from octavo.sessions.blobs import PREFIX, BlobStore
from octavo.sessions.store import jsonl
from octavo.sessions.store.jsonl import encode_line
from octavo_protocol.errors import ErrorKind, OctavoError


async def test_two_losses_in_the_same_millisecond_are_kept_in_two_files(tmp_path: Path) -> None:
    """Also when the clock was set back to a moment that has been."""
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, kit.entry("e0", None))
    session = await kit.library(tmp_path, now_ms=lambda: 1_700_000_000_000).open_path(path)
    try:
        kept = []
        for name in ("first", "second"):
            await session.append([kit.entry(name, "e0")])
            kit.write(path, kit.HEADER, kit.entry("e0", None, f"repaired, so that {name} is gone"))
            assert await session.reload()
            kept.append(session.recovery.vanished_path)
        assert [[line["id"] for line in kit.read(place)] for place in kept] == [["first"], ["second"]]
    finally:
        await session.close()


def test_a_picture_that_another_session_just_stored_survives_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"picture" * 1000
    ours, theirs = BlobStore(tmp_path), BlobStore(tmp_path)

    def present(*_: object) -> bool:
        # Between this look and what follows, the other session stores the same picture and acknowledges its entry.
        monkeypatch.undo()
        theirs.put(data)

        def full(*_: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("octavo.sessions.store.disk.os.write", full)
        return False

    monkeypatch.setattr(BlobStore, "_present", staticmethod(present))
    with pytest.raises(OctavoError):
        ours.put(data)
    assert theirs.get(hashlib.sha256(data).hexdigest()) == data


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOTSUP, errno.ENOSYS])
async def test_a_folder_that_takes_no_hard_links_still_holds_sessions_and_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", refuse)
    store = BlobStore(tmp_path)
    reference = store.put(b"picture", "image/png")
    assert store.get(reference.removeprefix(PREFIX)) == b"picture"
    async with kit.created(tmp_path) as session:
        await session.append(messages=[kit.user("hi")])
        assert len(kit.read(session.path)) == 2


async def test_a_repair_that_a_full_disk_refuses_again_and_again_leaves_one_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, kit.entry("e0", None))
    with path.open("ab") as stream:
        stream.write(b"{broken\n" + encode_line(kit.entry("e1", "e0")))
    async with kit.opened(tmp_path, path) as session:

        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patched:
            patched.setattr(jsonl, "write_all", full)
            for _ in range(3):
                with pytest.raises(OctavoError):
                    await session.append(messages=[kit.user("hi")])
        await session.append(messages=[kit.user("hi")])
        assert len(kit.read(path)) == 4
        assert session.recovery.backup is not None
        assert [name for name in kit.files(tmp_path) if ".damaged-" in name] == [session.recovery.backup.name]


async def test_a_fork_whose_artifacts_do_not_fit_on_the_disk_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = kit.library(tmp_path)
    async with kit.created(tmp_path) as source:
        await source.append(messages=[kit.user("hi")])
        library.artifacts(source).save("shake", "text")
        before = kit.files(tmp_path)
        real = shutil.copy2

        def full(origin: Any, target: Any, **options: Any) -> None:
            real(origin, target, **options)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(shutil, "copytree", partial(shutil.copytree, copy_function=full))
        with pytest.raises(OctavoError) as caught:
            await library.fork(source)
        assert caught.value.kind is ErrorKind.STORAGE_FAILED
        assert kit.files(tmp_path) == before
