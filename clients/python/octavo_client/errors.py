"""What can go wrong for a client: the daemon said no, or the daemon is gone."""

from typing import Any

from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ERRORS, ErrorKind

_KINDS = {spec.code: kind for kind, spec in ERRORS.items()}


class OctavoClientError(Exception):
    """The daemon answered a request with an error.

    Attributes:
        kind: What to switch on; None when the daemon is newer and the kind is not known here.
        code: The JSON-RPC code.
        message: One sentence a person can act on.
        data: `error.data` as it came: `sessionId`, `entryId`, `provider`, `status`, `retryAfterMs`, `details`.
    """

    def __init__(self, code: int, message: str, data: JsonObject) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        name = data.get("kind")
        self.kind = ErrorKind(name) if name in set(ErrorKind) else _KINDS.get(code)

    @classmethod
    def of(cls, error: Any) -> "OctavoClientError":
        """Return the exception for the `error` member of an answer, however malformed."""
        if not isinstance(error, dict):
            return cls(-32603, f"The daemon sent a malformed error: {error!r}", {})
        code, data = error.get("code"), error.get("data")
        return cls(
            code if isinstance(code, int) else -32603,
            str(error.get("message", "")),
            data if isinstance(data, dict) else {},
        )


class DaemonGoneError(ConnectionError):
    """The connection to the daemon ended."""
