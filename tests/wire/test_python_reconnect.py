"""The Python client where connections and daemons end: reconnecting, following, the user's one daemon, a port."""

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from subprocess import DEVNULL

import anyio
import pytest
from anyio.abc import Process, SocketStream

from octavo_client import (
    Backoff,
    Changed,
    Client,
    DaemonGoneError,
    Followed,
    OctavoClientError,
    OpenParams,
    ReconnectingClient,
    Reset,
    SessionFollower,
)
from storekit import user
from wire.sessions import LIMIT_S, SERVE, environment, said, shared
from wire.test_attach import environment as attaching
from wire.test_attach import gone, home, running
from wire.transports import served

QUICK = Backoff(initial_s=0.01, max_s=0.1, attempts=1000)


@asynccontextmanager
async def listening(folder: Path, path: Path) -> AsyncIterator[Process]:
    """A daemon on a socket, killed at the end if it still runs; clients wait for it by themselves."""
    command = [*SERVE, "--socket", str(path)]
    process = await anyio.open_process(command, stdin=DEVNULL, stderr=DEVNULL, env=environment(folder))
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.aclose()


class Line:
    """Dials one socket, over connections that can be cut, unless it is told to wait."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.streams: list[SocketStream] = []
        self.free = anyio.Event()
        self.free.set()

    @asynccontextmanager
    async def dial(self) -> AsyncIterator[Client]:
        await self.free.wait()
        async with await anyio.connect_unix(self.path) as stream:
            self.streams.append(stream)
            async with Client.over(stream, stream) as client:
                yield client

    async def cut(self) -> None:
        """Cut the connection, and let no other be made until `free` is set."""
        self.free = anyio.Event()
        await anyio.aclose_forcefully(self.streams[-1])


async def collected(follower: SessionFollower, into: list[Followed], enough: Callable[[list[Followed]], bool]) -> None:
    async for item in follower:
        into.append(item)
        if enough(into):
            return


def kinds(items: list[Followed]) -> list[str]:
    return [item.reason if isinstance(item, Reset) else item.change.kind for item in items]


async def test_a_connection_that_was_cut_catches_up_exactly_with_what_another_client_did_meanwhile(
    tmp_path: Path,
) -> None:
    async with shared(tmp_path) as path, Client.connect_unix(path) as writer:
        info = await writer.session_create(cwd="/p", path=str(tmp_path / "s.jsonl"))
        session, line = info.session_id, Line(path)
        items: list[Followed] = []

        async def append(first: int, count: int) -> None:
            for number in range(first, first + count):
                await writer.session_append(session_id=session, messages=[user(f"m{number}")])

        async with (
            ReconnectingClient(line.dial, backoff=QUICK) as client,
            SessionFollower(client, OpenParams(path=str(tmp_path / "s.jsonl")), entries=True) as follower,
            anyio.create_task_group() as tasks,
        ):
            items.append(await anext(follower))
            tasks.start_soon(collected, follower, items, lambda all_: all_[-1].cursor.seq == info.seq + 45)
            await append(0, 5)
            await line.cut()
            await append(5, 15)
            line.free.set()
            await client.ready()
            await append(20, 5)
            # And once more in the middle of appends that nobody waits with.
            tasks.start_soon(append, 25, 20)
            await line.cut()
            line.free.set()
        assert len(line.streams) == 3
        assert [item.cursor.seq - info.seq for item in items] == list(range(46))
        assert kinds(items) == ["opened"] + ["appended"] * 45
        texts = [
            said([entry["message"] for entry in item.entries or ()]) for item in items if isinstance(item, Changed)
        ]
        assert texts == [[f"m{number}"] for number in range(45)]


async def test_a_daemon_killed_between_appends_is_found_again_and_what_it_acknowledged_is_there(tmp_path: Path) -> None:
    path, file = tmp_path / "octavo.sock", str(tmp_path / "s.jsonl")
    items: list[Followed] = []
    with anyio.fail_after(LIMIT_S):
        async with ReconnectingClient(lambda: Client.connect_unix(path), backoff=QUICK) as client:
            async with listening(tmp_path, path) as first:
                session = (await client.session_create(cwd="/p", path=file)).session_id
                async with SessionFollower(client, OpenParams(path=file)) as follower:
                    items.append(await anext(follower))
                    await client.session_append(session_id=session, messages=[user("kept")], ids=["a"])
                    items.append(await anext(follower))
                    first.kill()
                    await first.wait()
                    async with listening(tmp_path, path):
                        # Without a word to the client: the same append twice, which its id makes one.
                        for _ in range(2):
                            await client.resending.session_append(
                                session_id=session, messages=[user("after")], ids=["b"]
                            )
                        items += [await anext(follower), await anext(follower)]
                        entries = (await client.resending.session_get_entries(session_id=session)).entries
        assert kinds(items) == ["opened", "appended", "epoch", "appended"]
        assert items[2].cursor.epoch != items[1].cursor.epoch
        assert said([entry["message"] for entry in entries]) == ["kept", "after"]


async def test_a_request_under_way_when_the_daemon_is_killed_is_not_sent_again(tmp_path: Path) -> None:
    path = tmp_path / "octavo.sock"
    with anyio.fail_after(LIMIT_S):
        async with ReconnectingClient(lambda: Client.connect_unix(path), backoff=QUICK) as client:
            async with listening(tmp_path, path) as first:
                await client.settings_get()
                first.send_signal(signal.SIGSTOP)
                outcome: list[str] = []

                async def ask() -> None:
                    try:
                        await client.session_list()
                    except DaemonGoneError:
                        outcome.append("gone")

                async def ask_until_answered() -> None:
                    await client.resending.session_list()
                    outcome.append("answered")

                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(ask)
                    tasks.start_soon(ask_until_answered)
                    await anyio.wait_all_tasks_blocked()
                    first.kill()
                    await first.wait()
                    async with listening(tmp_path, path):
                        while len(outcome) < 2:
                            await anyio.lowlevel.checkpoint()
                assert outcome == ["gone", "answered"]


async def test_attaching_starts_the_user_s_one_daemon_which_stays_when_the_client_leaves() -> None:
    with anyio.fail_after(LIMIT_S):
        async with home() as folder:
            env = attaching(folder)
            with pytest.raises(DaemonGoneError, match="octavo serve --daemon"):
                async with Client.attach(start=False, env=env):
                    pytest.fail("none runs")
            async with Client.attach(env=env) as one:
                pid = running(folder)
                session = (await one.session_create(cwd="/p")).session_id
                async with Client.attach(start=False, env=env) as two:
                    assert (await two.session_open(session_id=session)).session_id == session
            assert pid is not None
            assert running(folder) == pid
            async with Client.attach(start=False, env=env) as again:
                assert again.server_info["name"] == "octavo"


async def test_a_follower_that_attaches_outlives_the_daemon_s_death_and_starts_the_next(tmp_path: Path) -> None:
    file = str(tmp_path / "s.jsonl")
    with anyio.fail_after(LIMIT_S):
        async with home() as folder:
            dial = partial(Client.attach, env=attaching(folder))
            async with (
                ReconnectingClient(dial, backoff=QUICK) as client,
                ReconnectingClient(dial, backoff=QUICK) as other,
            ):
                session = (await client.session_create(cwd="/p", path=file)).session_id
                async with SessionFollower(client, OpenParams(path=file)) as follower:
                    items = [await anext(follower)]
                    pid = running(folder)
                    assert pid is not None
                    os.kill(pid, signal.SIGKILL)
                    await gone(pid)
                    items.append(await anext(follower))
                    await other.resending.session_open(path=file)
                    await other.session_append(session_id=session, messages=[user("from the other")])
                    items.append(await anext(follower))
                    assert running(folder) not in (None, pid)
                    assert kinds(items) == ["opened", "epoch", "appended"]


async def test_a_port_takes_the_token_and_a_wrong_one_is_final(tmp_path: Path) -> None:
    async with served("tcp", tmp_path) as daemon:
        with anyio.fail_after(LIMIT_S):
            async with Client.connect_tcp("127.0.0.1", daemon.port, token=daemon.token) as client:
                assert client.server_info["name"] == "octavo"
            dials: list[int] = []

            def dial() -> AbstractAsyncContextManager[Client]:
                dials.append(1)
                return Client.connect_tcp("127.0.0.1", daemon.port, token="wrong")

            async with ReconnectingClient(dial, backoff=QUICK) as refused:
                with pytest.raises(OctavoClientError, match="token"):
                    await refused.session_list()
            assert dials == [1]
