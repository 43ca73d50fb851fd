"""A file cut at every byte: it opens as far as it is whole, says so, and the next append repairs it."""

from pathlib import Path

import pytest

import storekit as kit
from octavo_protocol.errors import ErrorKind, OctavoError

ENTRIES = [
    kit.entry("e0", None, "zero 🧩"),
    {**kit.entry("e1", "e0"), "message": kit.assistant("call", text='quo"te\\')},
    {**kit.entry("e2", "e1"), "message": kit.result("call")},
]


async def test_a_tail_torn_at_any_byte_is_reported_and_repaired(tmp_path: Path) -> None:
    """BR-001."""
    path = tmp_path / "s.jsonl"
    whole = kit.write(path, kit.HEADER, *ENTRIES).read_bytes()
    ends = [end + 1 for end, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        if cut < ends[0] - 1:
            with pytest.raises(OctavoError) as caught:
                await kit.library(tmp_path).open_path(path)
            assert caught.value.kind == ErrorKind.SESSION_UNREADABLE
            assert path.read_bytes() == whole[:cut]
            continue
        # A record is whole with its last brace; its newline may lack.
        kept = sum(cut >= end - 1 for end in ends) - 1
        torn = cut not in ends and cut + 1 not in ends
        async with kit.opened(tmp_path, path, durability="os") as session:
            assert [entry["id"] for entry in session.tree.entries] == [f"e{n}" for n in range(kept)]
            assert bool(session.recovery) == (cut not in ends)
            assert path.read_bytes() == whole[:cut]
            await session.append([kit.entry("new", session.leaf_id)])
            assert (session.recovery.backup is not None) == torn
            if session.recovery.backup is not None:
                lost = whole[max(end for end in ends if end <= cut) : cut]
                assert session.recovery.backup.read_bytes().endswith(b"\n" + lost + b"\n")
                session.recovery.backup.unlink()
        assert [line["id"] for line in kit.read(path)] == ["s1", *(f"e{n}" for n in range(kept)), "new"]


async def test_a_file_cut_anywhere_and_appended_to_by_a_naive_program_still_opens(tmp_path: Path) -> None:
    """BR-001: the half line has swallowed the newline of the next record."""
    path = tmp_path / "s.jsonl"
    whole = kit.write(path, kit.HEADER, *ENTRIES).read_bytes()
    glued = kit.json.dumps(kit.entry("glued", "e0")).encode() + b"\n"
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole), 3):
        path.write_bytes(whole[:cut] + glued)
        async with kit.opened(tmp_path, path, durability="os") as session:
            assert session.tree.entries[-1]["id"] == "glued"
            await session.append([kit.entry("new", "glued")])
            if session.recovery.backup is not None:
                session.recovery.backup.unlink()
        assert [line["id"] for line in kit.read(path)][-2:] == ["glued", "new"]
