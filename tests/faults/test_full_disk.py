"""A disk that is full, for real: a file size limit in a child process, and a tiny file system if it may be mounted."""

import json
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import storekit as kit
from octavo_protocol.errors import ErrorKind, OctavoError

LIMITED = """
import anyio, json, resource, sys
from pathlib import Path
import storekit as kit
from octavo_protocol.errors import OctavoError

LIMIT = 64 * 1024

async def main(path):
    library = kit.library(path.parent)
    session = await library.open_path(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, resource.RLIM_INFINITY))
    acknowledged, failures = [], []

    async def client(name):
        for number in range(40):
            entry_id = f"{name}-{number}"
            try:
                await session.append(messages=[kit.user("x" * 1000)], ids=[entry_id])
            except OctavoError as error:
                failures.append([error.kind, error.data["details"]["errno"]])
            else:
                acknowledged.append(entry_id)

    async with anyio.create_task_group() as group:
        for name in "abc":
            group.start_soon(client, name)
    full = path.read_bytes()
    large = {**session.branch()[0], "pruned": "y" * 9000}
    for change in (session.set_title("t" * 9000), session.rewrite(lambda _: [large], "prune")):
        try:
            await change
        except OctavoError as error:
            failures.append([error.kind, error.data["details"]["errno"]])
    same = path.read_bytes() == full
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await session.append(messages=[kit.user("space again")], ids=["last"])
    await session.close()
    print(json.dumps({"acknowledged": acknowledged, "failures": failures, "same": same}))

anyio.run(main, Path(sys.argv[1]))
"""


def test_a_file_size_limit_fails_appends_with_a_typed_error_and_loses_nothing(tmp_path: Path) -> None:
    """BR-001."""
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, kit.entry("first", None))
    told = json.loads(kit.output(LIMITED, path))
    assert len(told["acknowledged"]) + len([f for f in told["failures"] if f]) == 122
    assert {tuple(failure) for failure in told["failures"]} == {("storage-failed", "EFBIG")}
    assert told["same"]
    assert [line["id"] for line in kit.read(path)[1:]] == ["first", *told["acknowledged"], "last"]
    assert kit.files(tmp_path) == ["s", "s.jsonl", "s/originals.jsonl"]


@contextmanager
def tiny_disk(folder: Path) -> Iterator[Path]:
    """A file system of 256 KiB, or a skip where this process may not mount one."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a tmpfs is not allowed here; the file size limit above covers the same paths")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


async def test_a_full_file_system_fails_appends_until_there_is_space_again(tmp_path: Path) -> None:
    """BR-001."""
    with tiny_disk(tmp_path / "disk") as disk:
        path = kit.write(disk / "s.jsonl", kit.HEADER)
        async with kit.opened(tmp_path, path) as session:
            written, refusal = 0, None
            while refusal is None and written < 1000:
                try:
                    await session.append(messages=[kit.user("x" * 3000)])
                    written += 1
                except OctavoError as error:
                    refusal = error
            assert refusal is not None
            assert refusal.kind == ErrorKind.STORAGE_FAILED
            assert refusal.data["details"]["errno"] == "ENOSPC"
            assert written > 20
            before = path.read_bytes()
            for change in (session.set_title("t"), session.append(messages=[kit.user("y" * 9000)])):
                with pytest.raises(OctavoError) as caught:
                    await change
                assert caught.value.kind == ErrorKind.STORAGE_FAILED
            assert path.read_bytes() == before
            assert len(kit.read(path)) == written + 1
            kit.grow(disk, "2m")
            await session.append(messages=[kit.user("space again")])
            assert await session.set_title("t")
            assert len(kit.read(path)) == written + 2


def test_the_limit_of_this_process_is_untouched() -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
