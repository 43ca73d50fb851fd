"""What a host asks at its turn ends, idle maintenance, handoff, and the tick."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from octavo.server.connection import Connection
from octavo.server.hub import SessionHub
from octavo.server.open_session import OpenSession
from octavo.server.registry import advertise, handles
from octavo.server.tasks import run_detached
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.maintenance import (
    CheckMaintenanceParams,
    Directive,
    HandoffParams,
    HandoffResult,
    RunIdleCompactionParams,
    RunIdleCompactionResult,
    TickedSession,
    TickParams,
    TickResult,
)

R = TypeVar("R")

advertise(
    notifications=("session/handoffStart", "session/handoffEnd", "session/continue", "session/modelPromoted"),
)


@handles("session/checkMaintenance")
async def check_maintenance(connection: Connection, params: CheckMaintenanceParams) -> Directive:
    """Do what is due and say what the host does next; what runs goes on when this client leaves."""
    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    maintainer = session.maintainer
    await session.fresh()
    with connection.progress(params.work_done_token, "Maintaining the context") as progress:
        return await _run(
            connection,
            session,
            lambda: maintainer.check_maintenance(
                params.at,
                pending_messages=params.pending_messages,
                queued=params.queued,
                allow_defer=params.allow_defer,
                auto_continue=params.auto_continue,
                report=progress.report,
            ),
        )


@handles("session/runIdleCompaction")
async def run_idle_compaction(connection: Connection, params: RunIdleCompactionParams) -> RunIdleCompactionResult:
    """Do now what idle maintenance would do."""
    from octavo.maintenance.idle import run_idle  # noqa: PLC0415 - heavy

    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    await session.fresh()
    with connection.progress(params.work_done_token, "Compacting an idle session") as progress:
        return await _run(connection, session, lambda: run_idle(session.maintainer, progress.report))


@handles("session/handoff")
async def hand_off(connection: Connection, params: HandoffParams) -> HandoffResult:
    """Have a document written and start the session that goes on with it."""
    from octavo.maintenance.handoff_session import HandoffSession, HandoffWish  # noqa: PLC0415 - heavy

    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    wish = HandoffWish("manual", params.custom_instructions, params.model, params.save_to_disk)
    handoffs = HandoffSession(session.host, session.slot)
    await session.fresh()
    with connection.progress(params.work_done_token, "Handing over") as progress:
        return await _run(connection, session, lambda: handoffs.hand_off(wish, progress.report))


@handles("maintenance/tick")
async def tick(connection: Connection, params: TickParams) -> TickResult:
    """Give every open session that has been idle for long enough its idle maintenance, one after the other."""
    sessions = tuple(connection.daemon.service(SessionHub).sessions.values())
    return TickResult(sessions=[await _ticked(connection, session, params.idle_for_ms) for session in sessions])


async def _ticked(connection: Connection, session: OpenSession, needed_ms: int | None) -> TickedSession:
    """One session's part of a tick; what fails for it is told and does not stop the others."""
    from octavo.maintenance.idle import idle_seconds, not_due, run_idle  # noqa: PLC0415 - heavy

    if session.live.mode == "read":
        return TickedSession(session_id=session.session_id, ran=False, reason="it is open for reading only")
    if needed_ms is None:
        needed_ms = int(idle_seconds(session.host.settings.compaction) * 1000)
    idle_ms = session.idle_for() * 1000
    try:
        with session.in_use():
            await session.fresh()
            why = await not_due(session.maintainer)
        if why is None and idle_ms < needed_ms:
            why = f"it has not been idle for {needed_ms / 1000:g} s"
        if why is not None:
            return TickedSession(session_id=session.session_id, ran=False, reason=why)
        done = await _run(connection, session, lambda: run_idle(session.maintainer))
    except OctavoError as error:
        if error.kind is ErrorKind.CANCELLED:
            raise
        return TickedSession(session_id=session.session_id, ran=False, reason=error.message)
    return TickedSession(
        session_id=session.session_id,
        ran=done.ran,
        reason=done.reason,
        tokens_before=done.result.tokens_before if done.result is not None else None,
        tokens_after=done.result.tokens_after if done.result is not None else None,
    )


async def _run(connection: Connection, session: OpenSession, work: Callable[[], Awaitable[R]]) -> R:
    """Run work that belongs to the session; a client that cancels stops it and is answered that it was cancelled."""
    cancelled = False

    def abort() -> None:
        nonlocal cancelled
        cancelled = True
        session.slot.abort()

    async def guarded() -> R:
        with session.in_use():
            result = await work()
        if cancelled:
            raise OctavoError(
                ErrorKind.CANCELLED,
                "The request was cancelled; what had begun was stopped",
                sessionId=session.session_id,
            )
        return result

    return await run_detached(connection, guarded, abort)
