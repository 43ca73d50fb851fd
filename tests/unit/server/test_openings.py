"""Sessions that are opened and closed while something else goes on."""

from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from octavo.server.hub import SessionHub
from octavo.server.open_session import OpenSession
from octavo.server.openings import Openings
from octavo.sessions.library import Library
from octavo.sessions.live import LiveSession
from storekit import HEADER, chain, user, write
from support.memory_daemon import call, client, running, until


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTAVO_CONFIG", "")
    monkeypatch.setenv("OCTAVO_SESSIONS_ROOT", str(tmp_path / "root" / "sessions"))


@pytest.mark.parametrize("leaves", ["before", "between"])
async def test_a_successor_that_nobody_is_left_to_open_is_written_and_closed_again(tmp_path: Path, leaves: str) -> None:
    async with running() as daemon:
        hub = daemon.service(SessionHub)
        async with AsyncExitStack() as work, AsyncExitStack() as there:
            peer = await there.enter_async_context(client(daemon))
            made = await call(peer, "session/create", cwd="/p", model="acme/large")
            await call(peer, "session/append", sessionId=made["sessionId"], messages=[user("hi")])
            session = hub.sessions[made["sessionId"]]
            work.enter_context(session.in_use())
            if leaves == "before":
                await there.aclose()
            successor = (await session.host.start_successor(title="Next")).session
            await there.aclose()
            await anyio.lowlevel.checkpoint()
            assert hub.sessions[successor.session_id].working
            await successor.append(messages=[user("the document")])
        await until(lambda: not hub.sessions)
        assert successor.closed
        async with client(daemon) as other:
            found = await call(other, "session/open", sessionId=successor.session_id)
            assert (found["title"], found["entryCount"]) == ("Next", 2)


@pytest.mark.parametrize("method", ["session/open", "session/reload"])
async def test_a_session_deleted_while_a_request_for_it_is_answered_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    async with running() as daemon, client(daemon) as peer, client(daemon) as other:
        made = await call(peer, "session/create", cwd="/p", path=str(tmp_path / "s.jsonl"))
        asked = {"sessionId": made["sessionId"]}
        real = OpenSession.count

        async def count(session: OpenSession) -> None:
            monkeypatch.undo()
            assert (await call(other, "session/delete", path=made["path"]))["deleted"]
            await real(session)

        monkeypatch.setattr(OpenSession, "count", count)
        answer = await peer.request(method, asked)
        assert answer["error"]["data"]["kind"] == "session-not-found"


async def test_what_is_being_deleted_can_not_be_opened_at_the_same_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(1))
    async with running() as daemon, client(daemon) as one, client(daemon) as two:
        hub = daemon.service(SessionHub)
        real = Library.delete

        async def delete(library: Library, place: str | Path) -> list[Path]:
            two.send({"jsonrpc": "2.0", "id": "open", "method": "session/open", "params": {"path": str(path)}})
            await until(lambda: hub.sessions or any(count > 1 for _, count in hub._openings._doors._locks.values()))
            return await real(library, place)

        monkeypatch.setattr(Library, "delete", delete)
        assert (await call(one, "session/delete", path=str(path)))["removed"] == [str(path)]
        answer = await two.receive()
        assert (answer["id"], answer["error"]["data"]["kind"]) == ("open", "session-not-found")


async def test_a_session_that_is_being_moved_is_not_closed_before_it_has_arrived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as daemon, client(daemon) as one, client(daemon) as two:
        hub = daemon.service(SessionHub)
        made = await call(one, "session/create", cwd="/p")
        real = LiveSession.relocate
        closed: list[bool] = []

        async def relocate(session: LiveSession, path: Path) -> None:
            closed.append(await hub.close(one.connection, session.session_id))
            await real(session, path)

        monkeypatch.setattr(LiveSession, "relocate", relocate)
        moved = await call(one, "session/move", sessionId=made["sessionId"], cwd="/elsewhere")
        assert (closed, moved["cwd"]) == ([False], "/elsewhere")
        assert (await call(two, "session/open", sessionId=made["sessionId"]))["path"] == moved["path"]


async def test_a_session_that_moves_while_it_is_opened_by_its_id_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as daemon, client(daemon) as one, client(daemon) as two:
        hub = daemon.service(SessionHub)
        made = await call(one, "session/create", cwd="/p")
        await call(one, "session/append", sessionId=made["sessionId"], messages=[user("hi")])
        real = Openings._real

        async def resolve(openings: Openings, path: Path) -> Path:
            monkeypatch.setattr(Openings, "_real", real)
            found = await real(openings, path)
            session = hub.sessions[made["sessionId"]]
            await session.library.move(session.live, "/elsewhere")
            return found

        monkeypatch.setattr(Openings, "_real", resolve)
        assert (await call(two, "session/open", sessionId=made["sessionId"]))["cwd"] == "/elsewhere"


async def test_a_deletion_that_is_cancelled_lets_nobody_in_before_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, *chain(1))
    async with running() as daemon, client(daemon) as peer:
        hub = daemon.service(SessionHub)
        real = Library.delete
        removed: list[Path] = []

        async def delete(library: Library, place: str | Path) -> list[Path]:
            request.cancel()
            removed.extend(await real(library, place))
            return removed

        monkeypatch.setattr(Library, "delete", delete)
        with anyio.CancelScope() as request:
            await hub.delete(peer.connection, path=str(path))
        assert removed == [path]
