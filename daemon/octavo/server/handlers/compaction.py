"""Compact a session, preview and apply a held result, abort, undo."""

from octavo.server.connection import Connection
from octavo.server.hub import SessionHub
from octavo.server.registry import advertise, handles
from octavo.server.tasks import run_detached
from octavo.sessions.planning import UNSET
from octavo_protocol.methods.common import SessionParams
from octavo_protocol.methods.compaction import (
    ApplyCompactionParams,
    CompactionResult,
    CompactParams,
    DiscardCompactionParams,
    DiscardCompactionResult,
    GetHeldCompactionParams,
    UndoCompactionParams,
    UndoCompactionResult,
)
from octavo_protocol.methods.context import PrepareCompactionParams, PrepareCompactionResult
from octavo_protocol.methods.tree import AbortResult

advertise(
    notifications=("session/compactionStart", "session/compactionEnd", "hook/sessionCompact"),
    strategies=("context-full", "snapcompact", "extractive"),
)


@handles("session/compact")
async def compact(connection: Connection, params: CompactParams) -> CompactionResult:
    """Run a compaction; it belongs to the session and goes on when this client leaves."""
    from octavo.maintenance.strategies import Wish  # noqa: PLC0415 - heavy, needed by the first compaction only

    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    wish = Wish("manual", params.strategy, params.custom_instructions, params.model)
    expected = params.expected_leaf_id if "expected_leaf_id" in params.model_fields_set else UNSET
    compactor = session.compactor
    with connection.progress(params.work_done_token, "Compacting") as progress:
        return await run_detached(
            connection,
            lambda: compactor.compact(wish, hold=params.hold, expected_leaf_id=expected, report=progress.report),
            lambda: session.slot.abort("compaction"),
        )


@handles("session/prepareCompaction")
async def prepare_compaction(connection: Connection, params: PrepareCompactionParams) -> PrepareCompactionResult:
    """Plan without writing or asking anyone."""
    from octavo.maintenance.planning import plan_compaction  # noqa: PLC0415 - heavy
    from octavo.maintenance.strategies import Wish  # noqa: PLC0415

    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    wish = Wish("manual", params.strategy, params.custom_instructions, params.model)
    return await plan_compaction(session.host, wish)


@handles("session/getHeldCompaction")
def get_held_compaction(connection: Connection, params: GetHeldCompactionParams) -> CompactionResult:
    """Show a held result to whoever asks: it belongs to the session, not to the client that made it."""
    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    return session.compactor.held_result(params.operation_id)


@handles("session/applyCompaction")
async def apply_compaction(connection: Connection, params: ApplyCompactionParams) -> CompactionResult:
    """Write a held result, perhaps edited."""
    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    return await session.compactor.apply(params.operation_id, params.summary, params.short_summary)


@handles("session/discardCompaction")
def discard_compaction(connection: Connection, params: DiscardCompactionParams) -> DiscardCompactionResult:
    """Drop a held result."""
    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    session.compactor.discard(params.operation_id)
    return DiscardCompactionResult(discarded=True)


@handles("session/abortCompaction")
def abort_compaction(connection: Connection, params: SessionParams) -> AbortResult:
    """Stop whatever compaction, shake or handoff is running; runs at once, past every queue."""
    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    return AbortResult(aborted=session.slot.abort("compaction", "handoff", "shake"))


@handles("session/undoCompaction")
async def undo_compaction(connection: Connection, params: UndoCompactionParams) -> UndoCompactionResult:
    """Move the leaf to before the newest compaction."""
    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    expected = params.expected_leaf_id if "expected_leaf_id" in params.model_fields_set else UNSET
    return await session.compactor.undo(expected)
