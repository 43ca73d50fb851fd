"""Where a client that reconnects can stand."""

from dataclasses import dataclass
from typing import TypeAlias

from octavo_client.client import Client


@dataclass(frozen=True, slots=True)
class Connecting:
    """It dials; `attempt` counts from 1 since the last connection."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Connected:
    """It has a connection that requests go over."""

    client: Client


@dataclass(frozen=True, slots=True)
class Waiting:
    """It pauses for `delay_s` seconds before attempt number `attempt`, because of `error`."""

    attempt: int
    delay_s: float
    error: Exception


@dataclass(frozen=True, slots=True)
class Closed:
    """No more connections come: because of `error`, or because it was closed, or not entered yet."""

    error: Exception | None = None


ConnectionState: TypeAlias = Connecting | Connected | Waiting | Closed
