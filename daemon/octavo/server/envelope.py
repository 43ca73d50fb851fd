"""The JSON-RPC 2.0 envelope: what kind of message a body is, before anyone looks at its params.

Only the top level is read, so a `"jsonrpc"` key inside params is data like any other.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from octavo.server import codec
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

MessageId: TypeAlias = int | str


@dataclass(frozen=True, slots=True)
class Request:
    """A message with `method` and `id`: it gets exactly one answer."""

    id: MessageId
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Notification:
    """A message with `method` and no `id`: it is never answered."""

    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Response:
    """An answer to one of our requests; exactly one of `result` and `error` counts."""

    id: MessageId | None
    result: Any
    error: JsonObject | None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Not a message; `id` is the one to answer to, if it could be made out."""

    id: MessageId | None
    error: OctavoError


Message: TypeAlias = Request | Notification | Response | Unreadable

_MAX_SECOND_LOOK = 8 << 20
"""Bytes of a broken message that are worth the slow parser."""

_ID = re.compile(
    rb'^\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,)*\s*"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*[,}]'
)


def read(body: bytes) -> Message:
    """Classify one message body; never raises."""
    try:
        data = codec.decode(body)
    except OctavoError as error:
        return _almost_json(body, error)
    if isinstance(data, list):
        return _invalid(None, "Batches are not supported; send the requests one by one.")
    if not isinstance(data, dict):
        return _invalid(None, "A message must be a JSON object.")
    message_id = _usable(data.get("id"))
    if data.get("jsonrpc") != "2.0":
        return _invalid(message_id, 'A message must have "jsonrpc": "2.0".')
    if "method" not in data:
        return _response(data, message_id)
    if not isinstance(data["method"], str):
        return _invalid(message_id, "The method must be a string.")
    if "id" not in data:
        return Notification(data["method"], data.get("params"))
    if message_id is None:
        return _invalid(None, "A request id must be a string or an integer.")
    return Request(message_id, data["method"], data.get("params"))


def sniff_id(prefix: bytes) -> MessageId | None:
    """Return the request id at the beginning of a message that was not read in full, if it stands before params."""
    match = _ID.match(prefix)
    if match is None:
        return None
    try:
        return _usable(codec.decode(match[1]))
    except OctavoError:
        return None


def _almost_json(body: bytes, error: OctavoError) -> Message:
    """Find out whom a message with NaN or broken UTF-8 in it was about, so that nobody waits for an answer for ever."""
    try:
        data = json.loads(body.decode(errors="replace")) if len(body) <= _MAX_SECOND_LOOK else None
    except (ValueError, RecursionError):
        data = None
    message_id = _usable(data.get("id")) if isinstance(data, dict) else None
    if not isinstance(data, dict) or message_id is None:
        return Unreadable(None, error)
    if "method" in data:
        return Unreadable(message_id, error)
    return Response(message_id, None, {"code": error.code, "message": error.message})


def _usable(raw_id: Any) -> MessageId | None:
    return raw_id if isinstance(raw_id, int | str) and not isinstance(raw_id, bool) else None


def _response(data: JsonObject, message_id: MessageId | None) -> Message:
    if "result" not in data and "error" not in data:
        return _invalid(message_id, "A message needs a method, a result or an error.")
    error = data.get("error")
    if error is not None and not isinstance(error, dict):
        error = {"code": -32603, "message": "the client answered with a malformed error"}
    return Response(message_id, data.get("result"), error)


def _invalid(message_id: MessageId | None, why: str) -> Unreadable:
    return Unreadable(message_id, OctavoError(ErrorKind.INVALID_REQUEST, why))
