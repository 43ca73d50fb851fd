"""An async, typed client of the octavo daemon. It needs the protocol package, not the daemon's."""

from octavo_client.asking import UNSET, OnProgress
from octavo_client.client import Client, Handler, Notification, Options
from octavo_client.errors import DaemonGoneError, OctavoClientError

__all__ = [
    "UNSET",
    "Client",
    "DaemonGoneError",
    "Handler",
    "Notification",
    "OctavoClientError",
    "OnProgress",
    "Options",
]
