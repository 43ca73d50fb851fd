"""What a row of the method table says; the rows themselves are in `table`."""

from dataclasses import dataclass
from enum import StrEnum

from octavo_protocol.base import Wire
from octavo_protocol.errors import ErrorKind


class Direction(StrEnum):
    """Who asks whom."""

    CLIENT_TO_DAEMON = "clientToDaemon"
    DAEMON_TO_CLIENT = "daemonToClient"


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """One request: its name on the wire, its models, and the sentences the reference prints.

    `long_running` requests accept a `workDoneToken` and report `$/progress`. `cancellable` ones stop on
    `$/cancelRequest` with the error kind `cancelled`. `errors` lists the kinds that are typical of the method, beside
    those every method may answer.
    """

    name: str
    params: type[Wire]
    result: type[Wire]
    doc: str
    direction: Direction = Direction.CLIENT_TO_DAEMON
    long_running: bool = False
    cancellable: bool = False
    errors: tuple[ErrorKind, ...] = ()

    @property
    def python_name(self) -> str:
        """`session/getTree` → `session_get_tree`: how a Python client or handler calls it."""
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in self.name.replace("/", "_"))
