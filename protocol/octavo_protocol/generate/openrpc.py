"""The OpenRPC document, made from the bundle; what OpenRPC has no words for stands under `x-` keys."""

import json

from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ERRORS, ErrorKind
from octavo_protocol.generate import examples
from octavo_protocol.generate.schema import REF
from octavo_protocol.methods import METHODS, MethodSpec
from octavo_protocol.methods.spec import Direction

_ALWAYS = (ErrorKind.INVALID_PARAMS, ErrorKind.INTERNAL_ERROR, ErrorKind.NOT_INITIALIZED, ErrorKind.NOT_AVAILABLE)


def document(bundle: JsonObject) -> JsonObject:
    """Return the document for `bundle` (from `schema.bundle`)."""
    out: JsonObject = {
        "openrpc": "1.3.2",
        "info": {
            "title": "octavo",
            "version": str(bundle["x-protocol-version"]),
            "description": bundle["description"],
            "license": {"name": "MIT"},
        },
        "methods": [_method(spec, bundle["$defs"]) for spec in METHODS.values()],
        "x-notifications": bundle["x-notifications"],
        "components": {
            "schemas": bundle["$defs"],
            "errors": {kind.value: _error(kind) for kind in ErrorKind},
        },
    }
    moved = json.dumps(out).replace(f'"{REF}', '"#/components/schemas/')
    return dict(json.loads(moved))


def _method(spec: MethodSpec, defs: JsonObject) -> JsonObject:
    params = defs[spec.params.__name__]
    example = examples.requests()[spec.name]
    own_session = spec.direction is Direction.CLIENT_TO_DAEMON and "sessionId" in params.get("required", ())
    kinds = [*spec.errors, *((ErrorKind.SESSION_NOT_FOUND,) if own_session else ())]
    kinds += [ErrorKind.CANCELLED] if spec.cancellable else []
    return {
        "name": spec.name,
        "description": spec.doc,
        "paramStructure": "by-name",
        "params": [
            {
                "name": name,
                "required": name in params.get("required", ()),
                "description": field["description"],
                "schema": field,
            }
            for name, field in params.get("properties", {}).items()
        ],
        "result": {"name": "result", "schema": {"$ref": REF + spec.result.__name__}},
        "errors": [{"$ref": f"#/components/errors/{kind.value}"} for kind in dict.fromkeys([*kinds, *_ALWAYS])],
        "examples": [
            {
                "name": "example",
                "params": [{"name": name, "value": value} for name, value in example["params"].items()],
                "result": {"name": "result", "value": example["result"]},
            }
        ],
        "x-direction": spec.direction.value,
        "x-longRunning": spec.long_running,
        "x-cancellable": spec.cancellable,
    }


def _error(kind: ErrorKind) -> JsonObject:
    return {"code": ERRORS[kind].code, "message": ERRORS[kind].when, "data": {"kind": kind.value}}
