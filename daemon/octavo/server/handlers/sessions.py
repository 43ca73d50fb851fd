"""A session's life: create, open, list, close, delete, rename, move, fork, reload, and what a host says about it."""

from typing import TYPE_CHECKING

from octavo.server.connection import Connection
from octavo.server.hub import SessionHub
from octavo.server.paging import Pages
from octavo.server.registry import advertise, handles
from octavo.server.session_view import opened, session_info, summary
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.append import (
    SetBusyParams,
    SetBusyResult,
    SetHostContextParams,
    SetHostContextResult,
)
from octavo_protocol.methods.common import SessionParams
from octavo_protocol.methods.session import (
    CloseResult,
    CreateParams,
    DeleteParams,
    DeleteResult,
    ForkParams,
    ListParams,
    Mode,
    MoveParams,
    OpenParams,
    ReloadParams,
    RenameParams,
    RenameResult,
)

if TYPE_CHECKING:
    from octavo.server.open_session import OpenSession
    from octavo.sessions.listing import SessionSummary

advertise(notifications=("session/didChange", "session/notice"))


@handles("session/create")
async def create(connection: Connection, params: CreateParams) -> JsonObject:
    """Start a session; it has a file from the first thing on that must not be lost, or at once with `path`."""
    from octavo.sessions.paths import checked_cwd  # noqa: PLC0415 - keeps start-up short

    hub = connection.daemon.service(SessionHub)
    session = await hub.create(
        connection,
        checked_cwd(params.cwd),
        title=params.title,
        parent_session=params.parent_session,
        path=params.path,
        ephemeral=params.ephemeral,
        lazy=params.path is None,
    )
    session.set_context(params)
    if params.model is not None:
        await session.live.set_model(params.model)
    if params.thinking_level is not None:
        await session.live.set_thinking_level(params.thinking_level)
    return await _info(session, "write")


@handles("session/open")
async def open_(connection: Connection, params: OpenParams) -> JsonObject:
    """Open a file in place, or join those who have it open."""
    hub = connection.daemon.service(SessionHub)
    session = await hub.open(
        connection, session_id=params.session_id, path=params.path, cwd=params.cwd, mode=params.mode
    )
    session.set_context(params)
    await session.fresh()
    await session.count()
    return opened(session, session.mode_of(connection))


@handles("session/list")
async def list_(connection: Connection, params: ListParams) -> JsonObject:
    """List session files, newest first."""
    from octavo.sessions.paths import checked_path  # noqa: PLC0415 - keeps start-up short

    hub = connection.daemon.service(SessionHub)
    root = None if params.root is None else checked_path(params.root)
    listed = await hub.library(connection).summaries(cwd=params.cwd, root=root, query=params.query or "")
    page = Pages("list", params).cut(listed, key=_place)
    return page.to_wire("sessions", [summary(one, is_open=_is_open(hub, one)) for one in page.items])


@handles("session/close")
async def close(connection: Connection, params: SessionParams) -> CloseResult:
    """Give a session up."""
    return CloseResult(closed=await connection.daemon.service(SessionHub).close(connection, params.session_id))


@handles("session/delete")
async def delete(connection: Connection, params: DeleteParams) -> DeleteResult:
    """Delete a session's file and artifacts; whoever has it open in this daemon loses it."""
    removed = await connection.daemon.service(SessionHub).delete(
        connection, session_id=params.session_id, path=params.path
    )
    return DeleteResult(deleted=removed is not None, removed=[str(path) for path in removed or ()])


@handles("session/rename")
async def rename(connection: Connection, params: RenameParams) -> RenameResult:
    """Set the title."""
    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    live = await session.durable()
    applied = await live.set_title(params.title, params.source)
    return RenameResult(applied=applied, title=live.title)


@handles("session/move")
async def move(connection: Connection, params: MoveParams) -> JsonObject:
    """Let a session belong to another working directory."""
    from octavo.sessions.paths import checked_cwd  # noqa: PLC0415 - keeps start-up short

    cwd = checked_cwd(params.cwd)
    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    with session.in_use():
        await session.library.move(await session.durable(), cwd)
        session.place_changed()
    return await _info(session, "write")


@handles("session/fork")
async def fork(connection: Connection, params: ForkParams) -> JsonObject:
    """Copy a session, whole or one branch of it, into a new one."""
    hub = connection.daemon.service(SessionHub)
    source = hub.get(connection, params.session_id)
    with source.in_use():
        session = await hub.fork(connection, source, params.entry_id, ephemeral=params.ephemeral)
    return await _info(session, "write")


@handles("session/reload")
async def reload(connection: Connection, params: ReloadParams) -> JsonObject:
    """Read the file again after another program changed it."""
    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    if session.compacting:
        raise OctavoError(
            ErrorKind.COMPACTION_IN_PROGRESS,
            "A compaction of this session is running; wait for it or abort it before reading the file again.",
            sessionId=params.session_id,
        )
    changed = await session.reload(force=params.force)
    await session.count()
    return {**opened(session, session.mode_of(connection)), "changed": changed}


@handles("session/getInfo")
async def get_info(connection: Connection, params: SessionParams) -> JsonObject:
    """Describe a session without its entries."""
    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    await session.fresh()
    return await _info(session, session.mode_of(connection))


@handles("session/setHostContext")
async def set_host_context(connection: Connection, params: SetHostContextParams) -> SetHostContextResult:
    """Note the host's system prompt, tools and plan files."""
    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    session.set_context(params)
    fixed = await session.fixed_parts()
    return SetHostContextResult(system_tokens=fixed.system, tool_tokens=fixed.tools)


@handles("session/setBusy")
def set_busy(connection: Connection, params: SetBusyParams) -> SetBusyResult:
    """Note that the agent loop started or ended."""
    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    was_busy = session.set_busy(connection if params.busy else None)
    return SetBusyResult(busy=params.busy, was_busy=was_busy)


async def _info(session: "OpenSession", mode: Mode) -> JsonObject:
    await session.count()
    return session_info(session, mode)


def _is_open(hub: SessionHub, listed: "SessionSummary") -> bool:
    """Whether the listed file itself is open here, not another one with its id."""
    session = hub.sessions.get(listed.id)
    return session is not None and session.live.path is not None and session.live.path.name == listed.path.name


def _place(listed: "SessionSummary") -> tuple[int, str]:
    return -listed.modified_ns, str(listed.path)
