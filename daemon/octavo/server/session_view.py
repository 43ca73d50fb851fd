"""Open sessions, what was recovered of them, and lists of sessions, as the protocol shows them.

Plain JSON objects of the protocol's models; absent values are left out.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from octavo_protocol.base import JsonObject
from octavo_protocol.methods.session import Mode

if TYPE_CHECKING:
    from octavo.server.open_session import OpenSession
    from octavo.sessions.damage import Damage
    from octavo.sessions.listing import SessionSummary
    from octavo.sessions.live import LiveSession

CURRENT_VERSION = 3


def session_info(session: "OpenSession", mode: Mode) -> JsonObject:
    """Return the `SessionInfo` of a session for a connection that has it open with `mode`; `count` it first."""
    live, numbers, header = session.live, session.numbers, session.live.header
    settings = session.host.path_settings
    source = header.get("titleSource")
    return _present(
        sessionId=live.session_id,
        path=None if live.path is None else str(live.path),
        cwd=_text(header.get("cwd")) or "",
        title=live.title,
        titleSource=source if source in {"auto", "user"} else None,
        parentSession=_text(header.get("parentSession")),
        createdAt=_text(header.get("timestamp")),
        format="pi",
        version=_version(header.get("version")),
        mode=mode,
        entryCount=numbers.entries,
        messageCount=numbers.messages,
        leafId=live.leaf_id,
        seq=live.seq,
        epoch=live.epoch,
        model=settings.models.get("default"),
        thinkingLevel=settings.thinking_level,
        busy=session.host.turn_running,
        compacting=session.compacting,
        heldOperations=session.held_operations,
        sizeBytes=None if live.ephemeral else live.size_bytes,
        artifactsDir=None if live.side_folder is None else str(live.side_folder),
        usage=numbers.usage_to_wire(),
    )


def opened(session: "OpenSession", mode: Mode) -> JsonObject:
    """Return the result of `session/open`: the info, and what was wrong with the file."""
    found = recovered(session.live)
    info = session_info(session, mode)
    return info if found is None else {**info, "recovered": found}


def recovered(live: "LiveSession") -> JsonObject | None:
    """Return the `Recovered` object, None when the file was in perfect order."""
    recovery = live.recovery
    if not recovery:
        return None
    return _present(
        migratedFrom=None if recovery.migrated_from is None else int(recovery.migrated_from),
        damage=[_damage(damage) for damage in recovery.damage],
        backupPath=None if recovery.backup is None else str(recovery.backup),
        rewritePending=recovery.rewrite_pending,
    )


def summary(listed: "SessionSummary", *, is_open: bool) -> JsonObject:
    """Return one line of `session/list`."""
    modified = datetime.fromtimestamp(listed.modified_ns / 1e9, UTC)
    return _present(
        sessionId=listed.id,
        path=str(listed.path),
        cwd=listed.cwd,
        title=listed.title,
        parentSession=listed.parent_session,
        createdAt=listed.created,
        modifiedAt=modified.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        sizeBytes=listed.size,
        messageCount=listed.message_count,
        firstMessage=listed.first_message,
        status=listed.status,
        open=is_open,
    )


def _damage(damage: "Damage") -> JsonObject:
    reason = damage.kind.value
    if damage.count > 1:
        reason += f" ({damage.count} times)"
    if damage.detail:
        reason += f": {damage.detail}"
    return {"line": damage.line, "offset": damage.offset, "length": damage.length, "reason": reason}


def _version(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else CURRENT_VERSION


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _present(**values: Any) -> JsonObject:
    return {key: value for key, value in values.items() if value is not None}
