"""An async, typed client of the octavo daemon. It needs the protocol package, not the daemon's."""

from octavo_client.asking import UNSET, OnProgress
from octavo_client.backoff import BACKOFF, Backoff
from octavo_client.client import Client
from octavo_client.errors import DaemonGoneError, OctavoClientError
from octavo_client.follower import Changed, Cursor, Followable, Followed, Reset, SessionFollower
from octavo_client.hearing import Notification
from octavo_client.options import Handler, Options
from octavo_client.reconnect import Dial, ReconnectingClient
from octavo_client.states import Closed, Connected, Connecting, ConnectionState, Waiting
from octavo_protocol.methods.session import OpenParams

__all__ = [
    "BACKOFF",
    "UNSET",
    "Backoff",
    "Changed",
    "Client",
    "Closed",
    "Connected",
    "Connecting",
    "ConnectionState",
    "Cursor",
    "DaemonGoneError",
    "Dial",
    "Followable",
    "Followed",
    "Handler",
    "Notification",
    "OctavoClientError",
    "OnProgress",
    "OpenParams",
    "Options",
    "ReconnectingClient",
    "Reset",
    "SessionFollower",
    "Waiting",
]
