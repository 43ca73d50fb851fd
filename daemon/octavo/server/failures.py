"""The one place that turns an exception into a wire error.

What a client may see is decided here: typed errors pass with their data, a defect shows its kind and nothing else.
The traceback of a defect goes to the log.
"""

import logging
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from octavo.server.codec import UnencodableError
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WireError:
    """What stands under `error` in an answer."""

    code: int
    message: str
    data: JsonObject


def to_wire(error: BaseException, method: str) -> WireError:
    """Describe `error`, which ended a request for `method`, to the client."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        # A handler's own task group wraps what its task raised.
        error = error.exceptions[0]
    if isinstance(error, OctavoError):
        return WireError(error.code, error.message, error.data)
    if isinstance(error, UnencodableError):
        _log.error("the result of %s cannot be encoded: %s", method, error)
        return to_wire(OctavoError(ErrorKind.INTERNAL_ERROR, f"The result of {method} cannot be encoded."), method)
    _log.error("a defect ended %s", method, exc_info=error)
    message = f"A defect ended {method} ({type(error).__name__}); the daemon's log has the details."
    return to_wire(OctavoError(ErrorKind.INTERNAL_ERROR, message), method)


def cancelled(method: str) -> WireError:
    """Describe a request that `$/cancelRequest` stopped."""
    return to_wire(OctavoError(ErrorKind.CANCELLED, f"{method} was cancelled."), method)


def invalid_params(method: str, error: ValidationError, *inside: str) -> OctavoError:
    """List every bad field as `{loc, msg}`, `loc` beginning with `inside`; the values themselves are not repeated."""
    return bad_params(method, fields(error, *inside))


def fields(error: ValidationError, *inside: str) -> list[dict[str, Any]]:
    """Every bad field as `{loc, msg}`, without the values, which may be anybody's secrets."""
    return [
        {"loc": [*inside, *item["loc"]], "msg": item["msg"]}
        for item in error.errors(include_url=False, include_input=False, include_context=False)
    ]


def bad_params(method: str, details: list[dict[str, Any]]) -> OctavoError:
    """Return invalid-params for `method` with `details` as `{loc, msg}`, the first of them in the message."""
    where = ".".join(str(part) for part in details[0]["loc"]) if details else ""
    what = f"{where}: {details[0]['msg']}" if where else str(details[0]["msg"]) if details else "wrong shape"
    return OctavoError(ErrorKind.INVALID_PARAMS, f"Invalid params for {method}: {what}.", details=details)
