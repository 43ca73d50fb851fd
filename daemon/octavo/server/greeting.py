"""The first exchange of a connection, without I/O: what may happen until `initialize` has succeeded.

It answers `initialize` from our own codec, so that a client waits neither for pygls nor for the LSP types to be
imported. The capabilities it names are those the engine's own builder computes from the same features; a contract test
(tests/wire/test_pygls_contract.py) holds the two together.
"""

import hmac
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from octavo import __version__
from octavo.server import codec, envelope, failures
from octavo.server.registry import Offered
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.lifecycle import InitializationOptions, SessionTreeCapabilities

COMMAND_PREFIX = "octavo."
"""`workspace/executeCommand` with this prefix before a method name calls the method with its first argument."""


_NO_TOKEN = OctavoError(
    ErrorKind.INVALID_REQUEST,
    "initializationOptions.token is missing or wrong; read it from the daemon's token file.",
)


@dataclass(frozen=True, slots=True)
class Greeted:
    """A successful `initialize`: what the client said of itself, and the whole params without the token."""

    params: JsonObject
    options: InitializationOptions
    process_id: int | None
    client_name: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one message led to."""

    answer: bytes | None = None
    greeted: Greeted | None = None
    exit_code: int | None = None
    refused: bool = False
    """Whether the client presented no token or a wrong one; it shall not try again on this connection."""


class Greeting:
    """The state before the engine.

    Args:
        table: What will be callable.
        token: Secret a client must present in `initializationOptions.token`, or None.
    """

    def __init__(self, table: Offered, token: str | None = None) -> None:
        self._table = table
        self._token = token

    def take(self, body: bytes) -> Outcome:
        """Answer one message body; notifications other than `exit` and stray answers are ignored."""
        match envelope.read(body):
            case envelope.Unreadable(message_id, error):
                return Outcome(_error(message_id, error))
            case envelope.Request(message_id, "initialize", params):
                return self._initialize(message_id, params)
            case envelope.Request(message_id, method, _):
                error = OctavoError(ErrorKind.NOT_INITIALIZED, f"{method} came before initialize; send that first.")
                return Outcome(_error(message_id, error))
            case envelope.Notification("exit", _):
                return Outcome(exit_code=1)
        return Outcome()

    def _initialize(self, message_id: envelope.MessageId, params: Any) -> Outcome:
        try:
            greeted = read_params(params)
        except OctavoError as error:
            return Outcome(_error(message_id, error))
        if not token_fits(self._token, greeted.options.token):
            return Outcome(_error(message_id, _NO_TOKEN), refused=True)
        public = greeted.options.model_copy(update={"token": None})
        greeted = Greeted(greeted.params, public, greeted.process_id, greeted.client_name)
        return Outcome(codec.result(message_id, initialize_result(self._table, greeted.params)), greeted)


def token_fits(expected: str | None, given: str | None) -> bool:
    """Whether a client may come in; the time it takes says nothing about the token."""
    return expected is None or hmac.compare_digest((given or "").encode("utf-8", "replace"), expected.encode())


def read_params(params: Any) -> Greeted:
    """Read the members of `initialize` that the daemon uses; the rest is for the engine.

    Raises:
        OctavoError: invalid-params with `details`.
    """
    if not isinstance(params, dict):
        raise failures.bad_params("initialize", [{"loc": [], "msg": "params must be an object"}])
    pid, info = params.get("processId"), params.get("clientInfo")
    bad = []
    if pid is not None and (isinstance(pid, bool) or not isinstance(pid, int)):
        bad.append({"loc": ["processId"], "msg": "must be an integer or null"})
    bad += [
        {"loc": [name], "msg": "must be an object"}
        for name in ("capabilities", "clientInfo")
        if not isinstance(params.get(name, {}), dict | None)
    ]
    if bad:
        raise failures.bad_params("initialize", bad)
    raw = params.get("initializationOptions")
    try:
        options = InitializationOptions.model_validate({} if raw is None else raw)
    except ValidationError as error:
        raise failures.invalid_params("initialize", error, "initializationOptions") from None
    name = info.get("name") if isinstance(info, dict) else None
    public = {key: value for key, value in params.items() if key != "initializationOptions"}
    return Greeted(public, options, pid, name if isinstance(name, str) else "")


def initialize_result(table: Offered, params: JsonObject) -> JsonObject:
    """Return what `initialize` answers: LSP capabilities, and ours under `experimental.sessionTree`."""
    tree = SessionTreeCapabilities(
        methods=table.implemented,
        notifications=list(table.offer.notifications),
        strategies=list(table.offer.strategies),
        formats=list(table.offer.formats),
    )
    return {
        "capabilities": {
            "positionEncoding": _position_encoding(params),
            "textDocumentSync": {"openClose": False, "change": 0, "save": False},
            "executeCommandProvider": {"commands": [COMMAND_PREFIX + name for name in table.implemented]},
            "workspace": {
                "workspaceFolders": {"supported": True, "changeNotifications": True},
                "fileOperations": {},
            },
            "experimental": {"sessionTree": tree.to_wire()},
        },
        "serverInfo": {"name": "octavo", "version": __version__},
    }


def _position_encoding(params: JsonObject) -> str:
    """The client's first choice of LSP's three, else UTF-16; no method of ours has positions."""
    general = (params.get("capabilities") or {}).get("general")
    offered = general.get("positionEncodings") if isinstance(general, dict) else None
    known = [e for e in offered if e in ("utf-8", "utf-16", "utf-32")] if isinstance(offered, list) else []
    return str(known[0]) if known else "utf-16"


def _error(message_id: envelope.MessageId | None, error: OctavoError) -> bytes:
    wire = failures.to_wire(error, "the message")
    return codec.error(message_id, wire.code, wire.message, wire.data)
