"""Answer for the daemon itself: who is connected, what is open and running, what was counted."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from octavo import __version__
from octavo.server.connection import Connection
from octavo.server.counters import Counters
from octavo.server.hub import SessionHub
from octavo.server.registry import handles
from octavo_protocol.methods.daemon import (
    ClientStatus,
    MetricsParams,
    MetricsResult,
    SessionStatus,
    StatusParams,
    StatusResult,
    WorkStatus,
)
from octavo_protocol.version import PROTOCOL_VERSION

if TYPE_CHECKING:
    from octavo.server.open_session import OpenSession


@handles("daemon/status")
def status(connection: Connection, _params: StatusParams) -> StatusResult:
    """Say who is connected and what is open; at once, whatever runs."""
    daemon = connection.daemon
    sessions = list(daemon.service(SessionHub).sessions.values())
    return StatusResult(
        pid=os.getpid(),
        version=__version__,
        protocol_version=PROTOCOL_VERSION,
        uptime_ms=round(daemon.service(Counters).uptime_s * 1000),
        memory_bytes=memory_bytes(),
        clients=[_client(one, connection, sessions) for one in sorted(daemon.connections, key=lambda c: c.number)],
        sessions=[_session(one) for one in sessions],
    )


@handles("daemon/metrics")
def metrics(connection: Connection, _params: MetricsParams) -> MetricsResult:
    """Print the counters."""
    daemon = connection.daemon
    return MetricsResult(text=daemon.service(Counters).text(memory_bytes(), len(daemon.service(SessionHub).sessions)))


def memory_bytes() -> int | None:
    """Resident memory of this process, where the system tells."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _client(one: Connection, asking: Connection, sessions: "list[OpenSession]") -> ClientStatus:
    return ClientStatus(
        name=one.name,
        asking=one is asking,
        sessions=[session.session_id for session in sessions if one in session.openers],
        requests=one.requests,
        queued_bytes=one.queued_bytes,
    )


def _session(one: "OpenSession") -> SessionStatus:
    live = one.live
    work = one.slot.current if one.compacting else None
    return SessionStatus(
        session_id=one.session_id,
        path=None if live.path is None else str(live.path),
        title=live.title,
        clients=len(one.openers),
        busy=one.host.turn_running,
        work=None
        if work is None
        else WorkStatus(operation_id=work.id, kind=work.kind, running_ms=max(0, _now_ms() - work.started_ms)),
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
