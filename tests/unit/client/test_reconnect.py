"""A client over one connection after another, against a daemon in this process whose connections can be cut."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from octavo_client import (
    Backoff,
    Client,
    Closed,
    Connected,
    Connecting,
    ConnectionState,
    DaemonGoneError,
    OctavoClientError,
    ReconnectingClient,
    Waiting,
)
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from unit.client.fake_daemon import LIMIT_S, NEVER, FakeDaemon, Link, Session, fake


async def at_once(_: float) -> None:
    await anyio.lowlevel.checkpoint()


def reconnecting(daemon: FakeDaemon) -> ReconnectingClient:
    return ReconnectingClient(daemon.dial, sleep=at_once)


async def connected_to(client: ReconnectingClient, daemon: FakeDaemon, number: int) -> None:
    """Wait until connection number `number`, from 1, is the present one."""
    while not (
        len(daemon.links) == number and isinstance(client.state, Connected) and client.state.client.gone is None
    ):
        await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def nobody(dials: list[int]) -> AsyncIterator[Client]:
    dials.append(len(dials) + 1)
    raise ConnectionRefusedError(f"nobody listens ({len(dials)})")
    yield


async def test_dialling_goes_on_with_growing_pauses_until_it_gives_up_with_the_last_reason() -> None:
    dials: list[int] = []
    pauses: list[float] = []
    states: list[ConnectionState] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    backoff = Backoff(initial_s=0.1, max_s=0.5, factor=2, jitter=0, attempts=5)
    client = ReconnectingClient(lambda: nobody(dials), backoff=backoff, sleep=sleep)
    client.on_state(states.append)
    with anyio.fail_after(LIMIT_S):
        async with client:
            for _ in range(2):
                with pytest.raises(ConnectionRefusedError, match=r"nobody listens \(5\)"):
                    await client.session_list()
    assert pauses == [0.1, 0.2, 0.4, 0.5]
    assert states[:3] == [Connecting(1), states[1], Connecting(2)]
    assert isinstance(states[1], Waiting)
    assert (states[1].attempt, states[1].delay_s, str(states[1].error)) == (2, 0.1, "nobody listens (1)")
    assert isinstance(states[-1], Closed)
    assert isinstance(states[-1].error, ConnectionRefusedError)


async def test_a_daemon_that_refuses_the_greeting_is_not_asked_again() -> None:
    async with fake() as daemon:
        daemon.refuses = OctavoError(ErrorKind.INVALID_REQUEST, "The token is wrong.")
        async with reconnecting(daemon) as client:
            with pytest.raises(OctavoClientError, match="The token is wrong") as caught:
                await client.session_list()
            assert caught.value.kind is ErrorKind.INVALID_REQUEST
        assert len(daemon.links) == 1


async def test_a_mistake_in_dialling_is_no_reason_to_dial_again() -> None:
    dials: list[int] = []

    @asynccontextmanager
    async def mistaken() -> AsyncIterator[Client]:
        dials.append(1)
        raise ValueError("no such handler")
        yield

    with anyio.fail_after(LIMIT_S):
        async with ReconnectingClient(mistaken, sleep=at_once) as client:
            with pytest.raises(ValueError, match="no such handler"):
                await client.ready()
    assert dials == [1]


async def test_a_request_is_sent_again_only_when_the_caller_says_that_it_may_be() -> None:
    asked: list[JsonObject] = []

    async def answer(link: Link, method: str, params: JsonObject) -> Any:
        asked.append(params)
        if len(asked) % 3 != 0:
            link.cut()
        return {"entryIds": ["a"], "leafId": "a", "seq": 1}

    async with fake(answer) as daemon, reconnecting(daemon) as client:
        said: Any = {"session_id": "s", "messages": [{"role": "user", "content": "hello"}], "ids": ["a"]}
        with pytest.raises(DaemonGoneError):
            await client.session_append(**said)
        with pytest.raises(DaemonGoneError):
            await client.request("session/append", {})
        assert (await client.resending.session_append(**said)).entry_ids == ["a"]
        assert len(asked) == 3
        assert (await client.request("session/append", {}, resend=True))["seq"] == 1
        assert (len(asked), len(daemon.links)) == (6, 5)


async def test_an_error_answer_is_raised_and_not_sent_again() -> None:
    session = Session()
    async with fake(session.answer) as daemon, reconnecting(daemon) as client:
        with pytest.raises(OctavoClientError):
            await client.resending.session_reload(session_id="s")
        session.locked_for = 1
        with pytest.raises(OctavoClientError):
            await client.resending.session_open(session_id="s")
        assert session.calls == ["open"]


async def test_a_request_waits_while_the_old_connection_is_still_being_left() -> None:
    leaving, left = anyio.Event(), anyio.Event()
    async with fake() as daemon:

        @asynccontextmanager
        async def slowly() -> AsyncIterator[Client]:
            async with daemon.dial() as client:
                yield client
            leaving.set()
            await left.wait()

        async with ReconnectingClient(slowly, sleep=at_once) as client, anyio.create_task_group() as tasks:
            await client.ready()
            daemon.cut()
            await leaving.wait()
            answers: list[Any] = []

            async def ask() -> None:
                answers.append(await client.request("session/getInfo", {"sessionId": "s"}, resend=True))

            tasks.start_soon(ask)
            await anyio.lowlevel.checkpoint()
            assert (answers, len(daemon.links)) == ([], 1)
            left.set()
        assert answers[0]["sessionId"] == "s"
        assert len(daemon.links) == 2


async def test_listeners_and_streams_stay_over_connections() -> None:
    session = Session()
    heard: list[int] = []
    async with fake(session.answer) as daemon, reconnecting(daemon) as client:
        stop = client.on("session/didChange", lambda change: heard.append(change.seq))
        with client.subscribe("session/didChange") as stream:
            for number in (1, 2):
                await connected_to(client, daemon, number)
                await client.session_open(session_id="s")
                session.change()
                assert (await stream.receive()).params.seq == number
                daemon.cut()
            stop()
            await connected_to(client, daemon, 3)
            await client.session_open(session_id="s")
            session.change()
            assert (await stream.receive()).params.seq == 3
            await client.close()
            assert [notification async for notification in stream] == []
    assert heard == [1, 2]


async def test_every_connection_is_given_to_its_listeners_before_requests_use_it() -> None:
    order: list[str] = []

    async def answer(link: Link, method: str, params: JsonObject) -> Any:
        order.append(params["who"])

    async def prepare(client: Client) -> None:
        await client.request("test/any", {"who": "listener"})
        await client.request("test/any", {"who": "listener"})

    async with fake(answer) as daemon, reconnecting(daemon) as client, anyio.create_task_group() as tasks:
        await client.ready()
        tasks.start_soon(client.each_connection, prepare)
        while len(order) < 2:
            await anyio.lowlevel.checkpoint()
        daemon.cut()
        with pytest.raises(DaemonGoneError):
            await client.request("test/any", {"who": "lost"})
        await client.request("test/any", {"who": "user"})
        assert order == ["listener", "listener", "listener", "listener", "user"]
        await client.close()


async def test_a_listener_that_comes_just_after_the_connection_gets_it_once() -> None:
    got: list[Client] = []

    async def remember(client: Client) -> None:
        got.append(client)

    async with fake() as daemon, anyio.create_task_group() as tasks:
        client = reconnecting(daemon)
        assert await client.each_connection(remember) is None
        async with client:
            for _ in range(30):
                tasks.start_soon(client.each_connection, remember)
                await anyio.lowlevel.checkpoint()
            await client.ready()
            while len(got) < 30:
                await anyio.lowlevel.checkpoint()
            await client.session_get_info(session_id="s")
            assert len(got) == 30


async def test_what_a_listener_raises_comes_out_and_the_client_goes_on_without_it() -> None:
    async def fail(client: Client) -> None:
        raise ZeroDivisionError

    async with fake() as daemon, reconnecting(daemon) as client:
        with pytest.raises(ZeroDivisionError):
            await client.each_connection(fail)
        assert (await client.session_get_info(session_id="s")).session_id == "s"


async def test_a_listener_that_is_cancelled_holds_up_nobody() -> None:
    started = anyio.Event()

    async def hang(client: Client) -> None:
        started.set()
        await anyio.sleep_forever()

    async with fake() as daemon, reconnecting(daemon) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.each_connection, hang)
        await started.wait()
        tasks.cancel_scope.cancel()
    async with fake() as daemon, reconnecting(daemon) as client:
        await client.ready()
        async with anyio.create_task_group() as tasks:
            started = anyio.Event()
            tasks.start_soon(client.each_connection, hang)
            await started.wait()
            daemon.cut()
            while len(daemon.links) < 2:
                await anyio.lowlevel.checkpoint()
            with anyio.move_on_after(0.05) as scope:
                await client.ready()
            assert scope.cancelled_caught
            tasks.cancel_scope.cancel()
        assert (await client.session_get_info(session_id="s")).session_id == "s"


async def test_a_connection_that_ends_under_a_listener_is_followed_by_the_next() -> None:
    got: list[Client] = []

    async def wait_for_its_end(client: Client) -> None:
        got.append(client)
        if len(got) == 1:
            daemon.cut()
            raise await client.ended() or AssertionError

    async with fake() as daemon, reconnecting(daemon) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.each_connection, wait_for_its_end)
        assert (await client.session_get_info(session_id="s")).session_id == "s"
        assert [one.gone is None for one in got] == [False, True]
        await client.close()


async def test_closing_ends_requests_listeners_and_later_requests() -> None:
    asked, ends = anyio.Event(), list[Any]()

    async def answer(link: Link, method: str, params: JsonObject) -> Any:
        asked.set()
        return NEVER

    async def nothing(client: Client) -> None: ...

    async with fake(answer) as daemon, reconnecting(daemon) as client, anyio.create_task_group() as tasks:

        async def ask() -> None:
            try:
                await client.request("test/never", resend=True)
            except DaemonGoneError as error:
                ends.append(str(error))

        async def watch() -> None:
            ends.append(await client.each_connection(nothing))

        tasks.start_soon(watch)
        tasks.start_soon(ask)
        await asked.wait()
        daemon.links[-1].cut()
        await connected_to(client, daemon, 2)
        await client.close()
        with pytest.raises(DaemonGoneError, match="closed"):
            await client.session_list()
        assert await client.each_connection(nothing) is None
        await client.close()
    assert sorted(ends, key=str) == [None, "The client is closed."]


async def test_cancelling_a_caller_cancels_its_request_and_nothing_else() -> None:
    dials: list[int] = []
    backoff = Backoff(initial_s=3600, max_s=3600)
    with anyio.fail_after(LIMIT_S):
        async with ReconnectingClient(lambda: nobody(dials), backoff=backoff) as client:
            with anyio.move_on_after(0.01) as scope:
                await client.session_list()
            assert scope.cancelled_caught
            assert not isinstance(client.state, Closed)
        assert isinstance(client.state, Closed)


async def test_cancelling_what_surrounds_a_client_ends_it_and_its_connection() -> None:
    async with fake() as daemon:
        with anyio.CancelScope() as scope:
            async with reconnecting(daemon) as client:
                present = await client.ready()
                scope.cancel()
                await anyio.lowlevel.checkpoint()
        assert scope.cancelled_caught
        assert present.gone is not None
        assert isinstance(client.state, Closed)


async def test_what_the_body_raises_comes_out_as_it_is_and_a_client_is_entered_once() -> None:
    async with fake() as daemon:
        client = reconnecting(daemon)
        with pytest.raises(ZeroDivisionError):
            async with client:
                raise ZeroDivisionError
        with pytest.raises(RuntimeError, match="entered once"):
            await client.__aenter__()
    with pytest.raises(DaemonGoneError, match="closed"):
        await ReconnectingClient(daemon.dial).ready()


async def test_a_state_listener_s_mistake_is_logged_and_stopping_it_ends_it(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[ConnectionState] = []
    async with fake() as daemon:
        client = reconnecting(daemon)
        client.on_state(lambda _: 1 / 0)  # type: ignore[arg-type]
        stop = client.on_state(heard.append)
        async with client:
            await client.ready()
            stop()
            stop()
    assert [type(state) for state in heard] == [Connecting, Connected]
    assert "A listener to the state" in caplog.text
