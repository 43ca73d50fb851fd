"""Following one session, against a daemon in this process whose connections can be cut."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo_client import (
    Backoff,
    Changed,
    Client,
    Connected,
    Cursor,
    DaemonGoneError,
    Followed,
    OctavoClientError,
    OpenParams,
    ReconnectingClient,
    Reset,
    SessionFollower,
)
from octavo_protocol.errors import ErrorKind
from unit.client.fake_daemon import FakeDaemon, Link, Session, fake

QUICK = Backoff(initial_s=0, max_s=0)
S = OpenParams(session_id="s")


@asynccontextmanager
async def single(session: Session) -> AsyncIterator[tuple[Client, FakeDaemon]]:
    async with fake(session.answer) as daemon, daemon.dial() as client:
        yield client, daemon


@asynccontextmanager
async def reconnecting(session: Session) -> AsyncIterator[tuple[ReconnectingClient, FakeDaemon]]:
    async with fake(session.answer) as daemon, ReconnectingClient(daemon.dial, backoff=QUICK) as client:
        yield client, daemon


async def upto(follower: SessionFollower, seq: int) -> list[Followed]:
    """What comes until the cursor is at `seq`, but at least one."""
    items: list[Followed] = []
    async for item in follower:
        items.append(item)
        if item.cursor.seq == seq:
            break
    return items


def brief(items: list[Followed]) -> list[str | int]:
    return [item.reason if isinstance(item, Reset) else item.change.seq for item in items]


async def connection(client: ReconnectingClient, daemon: FakeDaemon, number: int) -> None:
    while not (len(daemon.links) == number and isinstance(client.state, Connected)):
        await anyio.lowlevel.checkpoint()


async def test_changes_come_once_and_in_order_and_gaps_are_filled() -> None:
    session = Session(changes=1)
    async with single(session) as (client, _), SessionFollower(client, S) as follower:
        assert brief(await upto(follower, 1)) == ["opened"]
        session.change()
        session.change(tell=False)
        session.change(tell=False)
        session.change()
        for again in (session.changes[4], session.changes[1]):
            session.tell(session.open[0], again)
        session.change()
        assert brief(await upto(follower, 6)) == [2, 3, 4, 5, 6]
        session.change()
        assert brief(await upto(follower, 7)) == [7]
        assert session.calls == ["open", "since 2"]
        assert follower.cursor == Cursor(7, "one")


async def test_what_happens_while_the_session_is_being_opened_is_neither_lost_nor_doubled() -> None:
    session = Session()

    def meanwhile(link: Link) -> None:
        session.change(tell=False)
        session.tell(link, session.changes[0])

    session.while_opening = meanwhile
    async with single(session) as (client, _), SessionFollower(client, S) as follower:
        assert brief([await anext(follower), await anext(follower)]) == ["opened", 1]


async def test_a_connection_that_was_away_catches_up_exactly_page_by_page() -> None:
    session = Session()
    session.page_size = 2
    async with reconnecting(session) as (client, daemon), SessionFollower(client, S, entries=True) as follower:
        await anext(follower)
        session.change()
        assert brief(await upto(follower, 1)) == [1]
        daemon.cut()
        for _ in range(5):
            session.change(tell=False)
        items = await upto(follower, 6)
        await connection(client, daemon, 2)
        session.change()
        items += await upto(follower, 7)
        assert brief(items) == [2, 3, 4, 5, 6, 7]
        assert [item.entries for item in items if isinstance(item, Changed)] == [
            [{"type": "label", "id": f"e{seq}"}] for seq in range(2, 8)
        ]
        assert session.calls[2:] == ["open", "since 1", "since 1", "since 1", "ids e7"]


async def test_a_connection_that_ends_while_it_catches_up_repeats_nothing_on_the_next_one() -> None:
    session = Session()
    session.page_size = 1
    cuts: list[Link] = []

    def cut_at_the_second_page(link: Link) -> None:
        if session.calls[-1:] == ["since 1"] and not cuts:
            cuts.append(link)
            link.cut()

    session.before_entries = cut_at_the_second_page
    async with reconnecting(session) as (client, daemon), SessionFollower(client, S) as follower:
        await anext(follower)
        session.change()
        await anext(follower)
        daemon.cut()
        session.change(tell=False)
        session.change(tell=False)
        assert brief(await upto(follower, 3)) == [2, 3]
        assert (len(cuts), len(daemon.links)) == (1, 3)


async def test_a_daemon_that_was_restarted_numbers_anew_which_is_a_reset() -> None:
    session = Session()
    async with reconnecting(session) as (client, daemon), SessionFollower(client, S) as follower:
        await anext(follower)
        session.change()
        await anext(follower)
        session.restart()
        daemon.cut()
        reset = await anext(follower)
        assert (brief([reset]), reset.cursor) == (["epoch"], Cursor(0, "two"))
        await connection(client, daemon, 2)
        session.change()
        session.change()
        assert brief(await upto(follower, 2)) == [1, 2]


async def test_more_changes_than_the_daemon_remembers_are_a_reset() -> None:
    session = Session()
    async with reconnecting(session) as (client, daemon), SessionFollower(client, S) as follower:
        await anext(follower)
        session.forgotten = 3
        daemon.cut()
        reset = await anext(follower)
        assert (brief([reset]), reset.cursor) == (["history"], Cursor(3, "one"))
        await connection(client, daemon, 2)
        session.change()
        assert brief([await anext(follower)]) == [4]


async def test_a_session_that_is_opened_anew_on_the_same_connection_is_a_reset_and_is_followed_on() -> None:
    session = Session()
    async with single(session) as (client, _), SessionFollower(client, S) as follower:
        await anext(follower)
        session.restart()
        session.change()
        assert brief([await anext(follower)]) == ["epoch"]
        session.change()
        assert brief(await upto(follower, 2)) == [2]


async def test_a_consumer_that_kept_its_place_goes_on_from_there() -> None:
    session = Session(changes=3)
    async with single(session) as (client, _):
        async with SessionFollower(client, S, since=Cursor(1, "one")) as follower:
            assert brief(await upto(follower, 3)) == [2, 3]
        async with SessionFollower(client, S, since=Cursor(9, "other")) as follower:
            assert brief([await anext(follower)]) == ["epoch"]
        async with SessionFollower(client, S, since=Cursor(3, "one")) as follower:
            await client.session_get_info(session_id="s")
            session.change()
            assert brief([await anext(follower)]) == [4]


async def test_a_session_still_locked_by_the_daemon_before_is_waited_for_but_not_at_the_first_opening() -> None:
    session = Session()
    async with reconnecting(session) as (client, daemon):
        async with SessionFollower(client, S, backoff=QUICK) as follower:
            await anext(follower)
            session.locked_for = 3
            daemon.cut()
            session.change(tell=False)
            assert brief([await anext(follower)]) == [1]
            assert session.calls == ["open"] * 5 + ["since 0"]
            session.locked_for = 100
            daemon.cut()
            with pytest.raises(OctavoClientError, match="going"):
                await anext(follower)
            assert session.locked_for == 100 - QUICK.attempts
        session.locked_for = 1
        async with SessionFollower(client, S, backoff=QUICK) as second:
            with pytest.raises(OctavoClientError) as caught:
                await anext(second)
            assert caught.value.kind is ErrorKind.SESSION_LOCKED
            assert [item async for item in second] == []


async def test_a_pause_for_a_locked_session_ends_with_the_connection() -> None:
    session = Session()
    async with reconnecting(session) as (client, daemon):
        async with SessionFollower(client, S, backoff=Backoff(initial_s=3600, max_s=3600)) as follower:
            await anext(follower)
            session.locked_for = 1
            daemon.cut()
            while session.locked_for:
                await anyio.lowlevel.checkpoint()
            session.change(tell=False)
            daemon.cut()
            assert brief([await anext(follower)]) == [1]
            assert len(daemon.links) == 3


async def test_the_session_is_open_again_before_anybody_s_requests_use_a_new_connection() -> None:
    session = Session()
    order = session.calls
    async with reconnecting(session) as (client, daemon), SessionFollower(client, S) as follower:
        await anext(follower)
        daemon.cut()
        await connection(client, daemon, 2)
        await client.session_get_entries(session_id="s", ids=["e1"])
        assert order == ["open", "open", "ids e1"]


async def test_leaving_stops_following_and_the_end_of_the_client_ends_the_iteration() -> None:
    session = Session()
    async with reconnecting(session) as (client, _):
        async with SessionFollower(client, S) as left:
            await anext(left)
        session.change()
        await client.session_get_info(session_id="s")
        assert left.cursor == Cursor(0, "one")
        assert [item async for item in left] == []
        async with SessionFollower(client, S) as follower:
            await anext(follower)
            session.change()
            await client.session_get_info(session_id="s")
            await client.close()
            assert brief([item async for item in follower]) == [2]


async def test_a_single_connection_that_is_lost_ends_its_follower_with_the_reason_after_what_it_told() -> None:
    session = Session()
    async with single(session) as (client, daemon), SessionFollower(client, S) as follower:
        await anext(follower)
        with daemon.links[0].together():
            for _ in range(5):
                session.change()
        daemon.cut()
        assert brief(await upto(follower, 5)) == [1, 2, 3, 4, 5]
        with pytest.raises(DaemonGoneError):
            await anext(follower)
        assert [item async for item in follower] == []


async def test_what_a_connection_told_before_it_ended_is_given_before_the_reset_of_the_next() -> None:
    session = Session()
    async with reconnecting(session) as (client, daemon), SessionFollower(client, S) as follower:
        await anext(follower)
        with daemon.links[0].together():
            for _ in range(5):
                session.change()
        daemon.cut()
        session.restart()
        assert brief([await anext(follower) for _ in range(6)]) == [1, 2, 3, 4, 5, "epoch"]


async def test_changes_of_other_sessions_are_not_given() -> None:
    session = Session()
    async with single(session) as (client, daemon), SessionFollower(client, S) as follower:
        await anext(follower)
        other = {"sessionId": "t", "epoch": "one", "seq": 1, "kind": "leaf"}
        daemon.links[0].tell("session/didChange", other)
        daemon.links[0].tell("session/didChange", {**other, "epoch": "two"})
        session.change()
        session.change()
        items = await upto(follower, 2)
        assert [item.change.kind for item in items if isinstance(item, Changed)] == ["appended", "appended"]
        assert session.calls == ["open"]


async def test_a_session_that_can_no_longer_be_read_ends_the_iteration_with_the_reason() -> None:
    session = Session()
    async with single(session) as (client, _), SessionFollower(client, S, entries=True) as follower:
        await anext(follower)
        session.open[0].tell("session/didChange", {"sessionId": "s", "epoch": "one", "seq": "x", "kind": "leaf"})
        with pytest.raises(ValueError, match="DidChange"):
            await anext(follower)


async def test_what_the_body_raises_comes_out_as_it_is_and_a_follower_is_entered_once() -> None:
    async with single(Session()) as (client, _):
        follower = SessionFollower(client, S)
        with pytest.raises(RuntimeError, match="enter it"):
            await anext(follower)
        with pytest.raises(ZeroDivisionError):
            async with follower:
                raise ZeroDivisionError
        with pytest.raises(RuntimeError, match="entered once"):
            await follower.__aenter__()


@given(st.lists(st.sampled_from(["told", "burst", "untold", "cut", "restart", "answered", "read"]), max_size=25))
def test_whatever_happens_every_change_comes_once_and_in_order_or_a_reset_says_so(events: list[str]) -> None:
    anyio.run(_follow_through, events)


async def _follow_through(events: list[str]) -> None:
    session = Session()
    session.page_size = 2
    items: list[Followed] = []
    async with reconnecting(session) as (client, daemon), SessionFollower(client, S) as follower:
        items.append(await anext(follower))
        for event in events:
            if event == "told":
                session.change()
            elif event == "burst":
                with daemon.links[-1].together():
                    for _ in range(4):
                        session.change()
            elif event == "untold":
                session.change(tell=False)
            elif event == "answered":
                await client.resending.session_get_info(session_id="s")
            elif event == "read":
                session.change()
                await client.resending.session_get_info(session_id="s")
                items += await upto(follower, session.seq) if follower.cursor != items[-1].cursor else []
            else:
                daemon.cut()
                if event == "restart":
                    session.restart(f"epoch {len(daemon.links)} {len(items)}")
        while True:
            session.change()
            await client.resending.session_get_info(session_id="s")
            items += await upto(follower, session.seq)
            if items[-1].cursor == Cursor(session.seq, session.epoch):
                break
    for before, item in pairwise(items):
        if isinstance(item, Changed):
            assert item.cursor == Cursor(before.cursor.seq + 1, before.cursor.epoch)
        else:
            assert item.cursor.epoch != before.cursor.epoch


async def test_cancelling_the_consumer_loses_no_change() -> None:
    session = Session()
    async with single(session) as (client, _), SessionFollower(client, S) as follower:
        await anext(follower)
        with anyio.move_on_after(0.01) as scope:
            await anext(follower)
        assert scope.cancelled_caught
        session.change()
        assert brief([await anext(follower)]) == [1]
