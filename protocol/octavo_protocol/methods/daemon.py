"""Params and results of questions about the daemon itself: who is connected, what runs, what was counted."""

from typing import Literal

from pydantic import Field

from octavo_protocol.base import Reply, Wire


class StatusParams(Wire):
    """Params of `daemon/status`."""


class ClientStatus(Reply):
    """One client of the daemon."""

    name: str = Field(description="Transport and number, and what the client calls itself.")
    asking: bool = Field(description="Whether this is the client that asks.")
    sessions: list[str] = Field(description="Ids of the sessions it has open.")
    requests: list[str] = Field(description="Methods of its requests that are not answered yet.")
    queued_bytes: int = Field(description="Bytes that wait for it to read.")


class WorkStatus(Reply):
    """Long work on a session."""

    operation_id: str = Field(description="Names the run in events.")
    kind: Literal["compaction", "handoff", "branchSummary", "shake"] = Field(description="What it is.")
    running_ms: int = Field(description="Time since it began.")


class SessionStatus(Reply):
    """One open session."""

    session_id: str = Field(description="The session.")
    path: str | None = Field(default=None, description="Its file; absent when it only lives in memory.")
    title: str | None = Field(default=None, description="Its title.")
    clients: int = Field(description="Clients that have it open.")
    busy: bool = Field(description="Whether a host said that its agent loop runs.")
    work: WorkStatus | None = Field(default=None, description="What runs on it.")


class StatusResult(Reply):
    """Result of `daemon/status`."""

    pid: int = Field(description="Process of the daemon.")
    version: str = Field(description="Version of octavo.")
    protocol_version: int = Field(description="Version of the protocol.")
    uptime_ms: int = Field(description="Time since it started.")
    memory_bytes: int | None = Field(default=None, description="Resident memory, where the system tells.")
    clients: list[ClientStatus] = Field(description="Who is connected, in the order they came.")
    sessions: list[SessionStatus] = Field(description="What is open.")


class MetricsParams(Wire):
    """Params of `daemon/metrics`."""


class MetricsResult(Reply):
    """Result of `daemon/metrics`."""

    text: str = Field(description="Counters and gauges in Prometheus's text format, version 0.0.4.")
