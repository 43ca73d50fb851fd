r"""JSON on the wire: bytes to Python values and back, losslessly for everything JSON can say.

orjson does the work; the standard library takes over where orjson refuses. Lone surrogates (half an emoji, cut by a
program that counts UTF-16) are kept in both directions as the `\ud83d` escapes they arrived as, because the daemon
must give back what it was given. NaN and Infinity are not JSON: refused on input, an error on output. Results are
pydantic models (camelCase names, unset optionals left out) or plain JSON values; `null` inside raw objects survives.
"""

import json
import re
from functools import cache
from typing import Any, NoReturn

import orjson
from pydantic import BaseModel, RootModel

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
    try:
        # Much faster than pydantic where a model carries raw entries, which is where size is.
        return orjson.dumps(value, default=_members)
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


def _members(value: Any) -> Any:
    """What to encode instead of a value JSON does not know: of a model, its wire names and what is set."""
    if not isinstance(value, BaseModel):
        raise TypeError(f"{type(value).__name__} has no JSON form")
    names = _wire_names(type(value))
    if names is None:
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {wire: member for name, wire in names if (member := getattr(value, name)) is not None}


@cache
def _wire_names(kind: type[BaseModel]) -> tuple[tuple[str, str], ...] | None:
    """Attribute and wire name of each field; None for what only pydantic can serialise."""
    if issubclass(kind, RootModel) or kind.model_config.get("extra") == "allow":
        return None
    custom = kind.__pydantic_decorators__
    if custom.field_serializers or custom.model_serializers or custom.computed_fields:
        return None
    if any(field.exclude for field in kind.model_fields.values()):
        return None
    return tuple((name, field.serialization_alias or name) for name, field in kind.model_fields.items())


def _encode_slowly(value: Any) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_members).encode("ascii")
    except (TypeError, ValueError, RecursionError) as problem:
        raise UnencodableError(str(problem)) from problem
