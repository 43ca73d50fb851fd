r"""JSON on the wire: bytes to Python values and back, losslessly for everything JSON can say.

orjson does the work; the standard library takes over where orjson refuses. Lone surrogates (half an emoji, cut by a
program that counts UTF-16) are kept in both directions as the `\ud83d` escapes they arrived as, because the daemon
must give back what it was given. NaN and Infinity are not JSON: refused on input, an error on output. Results are
pydantic models (camelCase names, unset optionals left out) or plain JSON values; `null` inside raw objects survives.
"""

import json
import re
from typing import Any, NoReturn

import orjson
from pydantic import BaseModel

from octavo_protocol.errors import ErrorKind, OctavoError

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class UnencodableError(Exception):
    """A value that JSON cannot express: a defect of the handler that produced it."""


def decode(body: bytes) -> Any:
    """Return the value of a JSON document.

    Raises:
        OctavoError: parse-error, when `body` is not UTF-8 JSON or nests too deeply (more than about a thousand).
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        reason = str(error)
        # The second parser is slow; only half pairs are worth it.
        if _SURROGATE_ESCAPE.search(body):
            try:
                return json.loads(body.decode(), parse_constant=_refuse_constant)
            except (ValueError, RecursionError) as again:
                reason = str(again)
    raise OctavoError(ErrorKind.PARSE_ERROR, f"The message is not JSON: {reason}.")


def encode(value: Any) -> bytes:
    """Return `value` as UTF-8 JSON.

    Raises:
        UnencodableError: For values without a JSON form.
    """
    if isinstance(value, BaseModel):
        return _encode_model(value)
    try:
        return orjson.dumps(value)
    except TypeError:
        # Half pairs, integers over 64 bits and nesting over 254 levels are JSON all the same.
        return _encode_slowly(value)


def request(message_id: int | str, method: str, params: Any) -> bytes:
    """Return the body of a request to the peer."""
    return b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}' % (encode(message_id), encode(method), encode(params))


def notification(method: str, params: Any) -> bytes:
    """Return the body of a notification."""
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (encode(method), encode(params))


def result(message_id: int | str | None, value: Any) -> bytes:
    """Return the body of the answer to a request that succeeded."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(message_id), encode(value))


def error(message_id: int | str | None, code: int, message: str, data: Any) -> bytes:
    """Return the body of the answer to a request that failed."""
    wire = {"code": code, "message": message, "data": data}
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (encode(message_id), encode(wire))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _encode_model(model: BaseModel) -> bytes:
    try:
        return model.__pydantic_serializer__.to_json(model, by_alias=True, exclude_none=True)
    except ValueError:
        return _encode_slowly(model.model_dump(by_alias=True, exclude_none=True))


def _encode_slowly(value: Any) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as problem:
        raise UnencodableError(str(problem)) from problem
