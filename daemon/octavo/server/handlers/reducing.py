"""Make a context smaller without a summary: prune stale outputs, shake bulk into an artifact, drop images."""

from dataclasses import replace

from octavo.server.connection import Connection
from octavo.server.hub import SessionHub
from octavo.server.registry import handles
from octavo_protocol.methods.maintenance import PruneParams, PruneResult, ShakeParams, ShakeResult


@handles("session/prune")
async def prune(connection: Connection, params: PruneParams) -> PruneResult:
    """Blank tool results; the former entries stay readable beside the session."""
    from octavo.maintenance.reducing import Pass, Pruned  # noqa: PLC0415 - heavy
    from octavo.maintenance.reducing import prune as prune_results  # noqa: PLC0415

    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    passes: tuple[Pass, ...] = ("stale", "outputs") if params.mode == "both" else (params.mode,)
    done: Pruned | None = None
    with session.slot.begin(session.host.new_id(), "shake", session.host.now_ms()):
        done = await prune_results(session.host, *passes, dry_run=params.dry_run)
    if done is None:
        raise session.slot.cancelled()
    return PruneResult(
        pruned_count=done.count,
        tokens_saved=done.tokens_saved,
        entry_ids=list(done.entry_ids),
        dry_run=params.dry_run,
    )


@handles("session/shake")
async def shake(connection: Connection, params: ShakeParams) -> ShakeResult:
    """Move bulky text into an artifact, or remove images."""
    from octavo.compaction.shake import AUTO_SHAKE, MANUAL_SHAKE  # noqa: PLC0415 - heavy
    from octavo.maintenance.reducing import Shaken, shake_images  # noqa: PLC0415
    from octavo.maintenance.reducing import shake as shake_text  # noqa: PLC0415

    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    config = MANUAL_SHAKE if params.aggressive else AUTO_SHAKE
    if params.protect_tokens is not None:
        config = replace(config, protect_tokens=params.protect_tokens)
    if params.min_savings is not None:
        config = replace(config, min_savings=params.min_savings)
    done: Shaken | None = None
    with session.slot.begin(session.host.new_id(), "shake", session.host.now_ms()):
        if params.mode == "images":
            done = await shake_images(session.host, dry_run=params.dry_run)
        else:
            done = await shake_text(session.host, config, dry_run=params.dry_run)
    if done is None:
        raise session.slot.cancelled()
    result = done.result
    return ShakeResult(
        mode=params.mode,
        tool_results_dropped=result.tool_results_dropped,
        blocks_dropped=result.blocks_dropped,
        images_dropped=result.images_dropped,
        tokens_freed=result.tokens_freed,
        artifact_id=done.artifact_id,
        entry_ids=list(done.entry_ids),
        dry_run=params.dry_run,
    )
