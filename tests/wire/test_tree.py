"""Reading a session's tree through a real daemon: windows, branches and entries page by page, and search."""

import base64
from pathlib import Path
from typing import Any

import pytest

from octavo_client import Client, Options
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind
from octavo_protocol.methods.tree import GetBranchResult
from storekit import HEADER, assistant, chain, compaction, entry, result, user, write
from wire.sessions import content, daemon, refused

MANY = 10_000


async def test_a_window_of_a_long_tree_holds_no_more_nodes_than_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(MANY))
    async with daemon(tmp_path) as client:
        await client.session_open(path=str(path))
        at_leaf = await client.session_get_tree(session_id="s1", window=50)
        assert [node.id for node in at_leaf.nodes] == [f"e{n}" for n in range(MANY - 50, MANY)]
        assert (at_leaf.matching, at_leaf.total, at_leaf.hidden_before, at_leaf.hidden_after) == (
            MANY,
            MANY,
            MANY - 50,
            0,
        )
        middle = await client.session_get_tree(session_id="s1", window=11, around="e5000")
        assert [node.id for node in middle.nodes] == [f"e{n}" for n in range(4995, 5006)]
        assert (middle.hidden_before, middle.hidden_after) == (4995, MANY - 5006)
        assert len((await client.session_get_tree(session_id="s1")).nodes) == 500
        appended = await client.session_append(session_id="s1", messages=[user("newest")])
        grown = await client.session_get_tree(session_id="s1", window=1)
        assert [node.id for node in grown.nodes] == appended.entry_ids
        async with refused(ErrorKind.ENTRY_NOT_FOUND):
            await client.session_get_tree(session_id="s1", around="nowhere")


async def test_the_filter_is_the_users_setting_unless_the_request_names_one(tmp_path: Path) -> None:
    branch = [entry("u", None, "ask"), {**entry("m", "u"), "type": "model_change", "model": "a/b"}]
    branch += [{**entry("t", "m"), "message": result("c1")}]
    path = write(tmp_path / "s.jsonl", HEADER, *branch)
    async with daemon(tmp_path, Options(settings={"treeFilterMode": "user-only"})) as client:
        await client.session_open(path=str(path))

        async def shown(**options: Any) -> tuple[str, list[str]]:
            tree = await client.session_get_tree(session_id="s1", **options)
            return tree.filter, [node.id for node in tree.nodes]

        assert await shown() == ("user-only", ["u"])
        assert await shown(filter="all") == ("all", ["u", "m", "t"])
        await client.settings_update(settings={"treeFilterMode": "no-tools"}, scope="session", session_id="s1")
        assert await shown() == ("no-tools", ["u"])
        await client.settings_update(settings={"treeFilterMode": None}, scope="session", session_id="s1")
        assert await shown(filter="default") == ("default", ["u", "t"])


async def pages(client: Client, **options: Any) -> list[GetBranchResult]:
    found = [await client.session_get_branch(session_id="s1", **options)]
    while found[-1].next_cursor is not None:
        found.append(await client.session_get_branch(session_id="s1", cursor=found[-1].next_cursor, **options))
    return found


async def test_a_branch_comes_page_by_page_from_either_end(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(10))
    async with daemon(tmp_path) as client:
        await client.session_open(path=str(path))
        forward = await pages(client, limit=4)
        assert [[e["id"] for e in page.entries] for page in forward] == [
            ["e0", "e1", "e2", "e3"],
            ["e4", "e5", "e6", "e7"],
            ["e8", "e9"],
        ]
        backward = await pages(client, limit=4, order="newestFirst")
        assert [[e["id"] for e in page.entries] for page in backward] == [
            ["e6", "e7", "e8", "e9"],
            ["e2", "e3", "e4", "e5"],
            ["e0", "e1"],
        ]
        assert {page.total for page in forward + backward} == {10}
        part = await client.session_get_branch(session_id="s1", leaf_id="e4")
        assert (part.total, part.leaf_id, part.next_cursor) == (5, "e4", None)


async def test_the_pages_of_a_branch_stay_with_the_branch_they_began_on(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(6))
    async with daemon(tmp_path) as client:
        await client.session_open(path=str(path))
        first = await client.session_get_branch(session_id="s1", limit=4)
        await client.session_append(session_id="s1", messages=[user("elsewhere")], parent_id="e0")
        second = await client.session_get_branch(session_id="s1", limit=4, cursor=first.next_cursor)
        assert [e["id"] for e in second.entries] == ["e4", "e5"]
        for options in ({"order": "newestFirst"}, {"leaf_id": "e2"}):
            async with refused(ErrorKind.INVALID_PARAMS):
                await client.session_get_branch(session_id="s1", cursor=first.next_cursor, **options)
        async with refused(ErrorKind.INVALID_PARAMS):
            await client.session_get_branch(session_id="s1", cursor="%%%")


async def test_entries_come_by_id_and_all_of_them_in_file_order(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(5))
    async with daemon(tmp_path) as client:
        await client.session_open(path=str(path))
        found = await client.session_get_entries(session_id="s1", ids=["e3", "nowhere", "e1"])
        assert ([e["id"] for e in found.entries], found.missing) == (["e3", "e1"], ["nowhere"])
        first = await client.session_get_entries(session_id="s1", limit=3)
        await client.session_append(session_id="s1", messages=[user("more")], ids=["e5"])
        second = await client.session_get_entries(session_id="s1", limit=3, cursor=first.next_cursor)
        assert [[e["id"] for e in page.entries] for page in (first, second)] == [["e0", "e1", "e2"], ["e3", "e4", "e5"]]
        assert second.next_cursor is None


async def test_entries_come_back_as_they_were_appended_pictures_and_all(tmp_path: Path) -> None:
    picture = base64.b64encode(bytes(range(256)) * 16).decode()
    shown: JsonObject = {**user(""), "content": [{"type": "image", "data": picture, "mimeType": "image/png"}]}
    async with daemon(tmp_path) as client:
        session = await client.session_create(cwd="/p")
        done = await client.session_append(session_id=session.session_id, messages=[shown, assistant()])
        assert picture not in content(session.path)
        found = await client.session_get_entries(session_id=session.session_id, ids=done.entry_ids)
        assert found.entries[0]["message"]["content"] == shown["content"]


async def test_what_was_compacted_away_stays_findable(tmp_path: Path) -> None:
    branch = [
        entry("e0", None, "the needle of old"),
        entry("e1", "e0", "kept needle"),
        compaction("c", "e1", "e1", "sum"),
    ]
    path = write(
        tmp_path / "s.jsonl", HEADER, *branch, entry("other", "e0", "needle on another branch"), entry("e2", "c")
    )
    async with daemon(tmp_path) as client:
        await client.session_open(path=str(path))

        async def hits(query: str, **options: Any) -> list[str]:
            return [hit.entry_id for hit in (await client.session_search(session_id="s1", query=query, **options)).hits]

        assert await hits("NEEDLE") == ["e1", "e0"]
        assert await hits("needle", scope="archived") == ["e0"]
        assert await hits("needle", scope="tree") == ["other", "e1", "e0"]
        assert await hits(r"need\w+ of", regex=True) == ["e0"]
        assert await hits("NEEDLE", case_sensitive=True) == []
        first = await client.session_search(session_id="s1", query="needle", limit=1)
        snippet, match = first.hits[0].snippet, first.hits[0].matches[0]
        assert snippet[match.start : match.end] == "needle"
        second = await client.session_search(session_id="s1", query="needle", limit=1, cursor=first.next_cursor)
        assert [hit.entry_id for hit in second.hits] == ["e0"]
        await client.session_append(session_id="s1", messages=[user("a needle just now")], ids=["e3"])
        assert await hits("needle") == ["e3", "e1", "e0"]
        for bad in ({"query": "(", "regex": True}, {"query": "needle", "cursor": first.next_cursor, "scope": "tree"}):
            async with refused(ErrorKind.INVALID_PARAMS):
                await client.session_search(session_id="s1", **bad)


@pytest.mark.samples
async def test_a_real_session_is_read_in_small_pieces(samples: Path, tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        path = samples / "pi" / "before-compaction.jsonl"
        session = await client.session_open(path=str(path), mode="read")
        tree = await client.session_get_tree(session_id=session.session_id, window=20)
        assert len(tree.nodes) == 20
        assert max(len(node.text) for node in tree.nodes) <= 200
        assert tree.hidden_before + len(tree.nodes) + tree.hidden_after == tree.matching
