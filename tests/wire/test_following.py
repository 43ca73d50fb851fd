"""Several clients on one session of a real daemon: the same order for all, and catching up exactly after being away."""

from pathlib import Path

import anyio

from octavo_client import Client
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind
from storekit import HEADER, chain, entry, user, write
from wire.sessions import changes, daemon, refused, said, shared


async def test_two_clients_see_every_change_in_the_same_order(tmp_path: Path) -> None:
    async with shared(tmp_path) as socket, Client.connect_unix(socket) as one, Client.connect_unix(socket) as two:
        session = (await one.session_create(cwd="/p")).session_id
        await two.session_open(session_id=session)
        logs = [changes(one), changes(two)]
        clients = [one, two]

        async def write_some(number: int) -> None:
            for count in range(20):
                await clients[number].session_append(
                    session_id=session, messages=[user(f"{number}.{count}")], ids=[f"{number}-{count}"]
                )

        async with anyio.create_task_group() as group:
            group.start_soon(write_some, 0)
            group.start_soon(write_some, 1)
        await one.session_rename(session_id=session, title="Done")
        await two.session_get_info(session_id=session)
        seen = [[(change.seq, change.kind, tuple(change.entry_ids), change.leaf_id) for change in log] for log in logs]
        assert seen[0] == seen[1]
        assert [row[0] for row in seen[0]] == list(range(1, 42))
        stored = (await one.session_get_entries(session_id=session)).entries
        assert [e["id"] for e in stored] == [row[2][0] for row in seen[0][:-1]]
        assert [e["parentId"] for e in stored[1:]] == [e["id"] for e in stored[:-1]]


async def test_a_change_is_told_before_the_answer_to_the_request_that_made_it(tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        session = (await client.session_create(cwd="/p", ephemeral=True)).session_id
        heard = changes(client)
        first = await client.session_append(session_id=session, messages=[user("a")])
        assert [change.seq for change in heard] == [first.seq]
        label = await client.session_set_label(session_id=session, target_id=first.entry_ids[0], label="here")
        assert [(change.seq, change.kind) for change in heard[1:]] == [(label.seq, "label")]
        await client.session_rename(session_id=session, title="T")
        assert [(change.kind, change.title) for change in heard[2:]] == [("title", "T")]


async def test_a_client_that_was_away_catches_up_exactly(tmp_path: Path) -> None:
    async with shared(tmp_path) as socket, Client.connect_unix(socket) as stays:
        session = (await stays.session_create(cwd="/p")).session_id
        async with Client.connect_unix(socket) as leaves:
            known = await leaves.session_open(session_id=session)
            mirror: dict[str, JsonObject] = {}
        for number in range(30):
            await stays.session_append(session_id=session, messages=[user(f"n{number}")], ids=[f"e{number}"])
        await stays.session_append(session_id=session, messages=[user("branch")], ids=["b"], parent_id="e3")
        await stays.session_rename(session_id=session, title="While you were out")
        async with Client.connect_unix(socket) as back:
            await back.session_open(session_id=session)
            cursor, seqs, changed = None, [], []
            while True:
                page = await back.session_get_entries(
                    session_id=session, since_seq=known.seq, epoch=known.epoch, limit=7, cursor=cursor
                )
                assert not page.reset
                assert len(page.entries) <= 7
                mirror |= {e["id"]: e for e in page.entries}
                changed += page.changes
                seqs.append(page.seq)
                if (cursor := page.next_cursor) is None:
                    break
                # What happens between two pages belongs to the next question.
                await stays.session_append(session_id=session, messages=[user("late")])
            assert [change.seq for change in changed] == list(range(known.seq + 1, known.seq + 33))
            assert changed[-1].kind == "title"
            assert set(seqs) == {known.seq + 32}
            assert list(mirror) == [*(f"e{n}" for n in range(30)), "b"]
            rest = await back.session_get_entries(session_id=session, since_seq=seqs[-1], epoch=known.epoch)
            assert said([e["message"] for e in rest.entries]) == ["late"] * (len(seqs) - 1)
            again = await back.session_get_entries(session_id=session, since_seq=rest.seq, epoch=rest.epoch)
            assert (again.entries, again.changes, again.reset) == ([], [], False)


async def test_numbers_of_an_earlier_opening_are_not_taken_for_present_ones(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(2))
    async with daemon(tmp_path) as client:
        first = await client.session_open(path=str(path))
        await client.session_append(session_id="s1", messages=[user("a"), user("b")])
        await client.session_close(session_id="s1")
        second = await client.session_open(path=str(path))
        assert second.epoch != first.epoch
        assert second.seq == 0
        await client.session_append(session_id="s1", messages=[user("c")])
        stale = await client.session_get_entries(session_id="s1", since_seq=0, epoch=first.epoch)
        assert (stale.reset, stale.entries, stale.epoch) == (True, [], second.epoch)
        assert (await client.session_get_entries(session_id="s1", since_seq=99)).reset
        fresh = await client.session_get_entries(session_id="s1", since_seq=0, epoch=second.epoch)
        assert said([e["message"] for e in fresh.entries]) == ["c"]
        async with refused(ErrorKind.INVALID_PARAMS):
            await client.request("session/getEntries", {"sessionId": "s1", "sinceSeq": 0, "ids": ["e0"]})


async def test_what_another_program_appends_is_told_and_caught_up_with(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(2))
    async with daemon(tmp_path) as client:
        session = await client.session_open(path=str(path))
        heard = changes(client)
        with path.open("a") as stream:
            stream.write('{"type":"custom","id":"x1","parentId":"e1","timestamp":"2026-01-01T00:00:09.000Z"}\n')
        caught_up = await client.session_get_entries(session_id="s1", since_seq=session.seq, epoch=session.epoch)
        assert [e["id"] for e in caught_up.entries] == ["x1"]
        assert [(change.kind, change.entry_ids) for change in heard] == [("appended", ["x1"])]


async def test_a_repaired_file_is_what_counts_from_then_on(tmp_path: Path) -> None:
    """BR-028: what another program took out stays out; what we had written of it is kept and said."""
    path = write(tmp_path / "s.jsonl", HEADER, *chain(3))
    async with daemon(tmp_path) as client:
        await client.session_open(path=str(path))
        notices: list[str] = []
        client.on("session/notice", lambda notice: notices.append(notice.message))
        await client.session_append(session_id="s1", messages=[user("broken")], ids=["bad"])
        write(path, HEADER, entry("e0", None, "repaired"), *chain(3)[1:])
        context = await client.session_build_context(session_id="s1")
        assert said(context.messages) == ["repaired", "x1", "x2"]
        assert len(notices) == 1
        assert "removed 1 entry" in notices[0]
        assert (await client.session_get_info(session_id="s1")).leaf_id == "e2"
        assert not (await client.session_reload(session_id="s1")).changed
        await client.session_append(session_id="s1", messages=[user("on the repaired branch")])
        assert said((await client.session_build_context(session_id="s1")).messages)[0] == "repaired"
