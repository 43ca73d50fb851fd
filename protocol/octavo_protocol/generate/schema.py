"""The JSON Schema bundle: every type of the protocol under `$defs`, and the tables of what uses them.

What pydantic makes is adapted to what is on the wire: raw entries and messages refer to their descriptions, fields the
daemon always sends are required, and an unset field is absent, never null.
"""

import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import TypeAdapter

from octavo_protocol.base import JsonObject, Reply, Wire
from octavo_protocol.entries import Entry, SessionHeader
from octavo_protocol.errors import ERRORS, ErrorData, ErrorKind
from octavo_protocol.lifecycle import InitializationOptions, SessionTreeCapabilities
from octavo_protocol.messages import ContentBlock, Message
from octavo_protocol.methods import METHODS
from octavo_protocol.notifications import NOTIFICATIONS
from octavo_protocol.settings import Settings
from octavo_protocol.version import PROTOCOL_VERSION

REF = "#/$defs/"
_RAW = "x-octavo-type"
_UNIONS = {"Entry": Entry, "Message": Message, "ContentBlock": ContentBlock}
_ALSO = (SessionHeader, ErrorData, InitializationOptions, SessionTreeCapabilities, Settings)


def bundle() -> JsonObject:
    """Return the bundle: `$defs`, and `x-methods`, `x-notifications`, `x-errors`, which name types by reference."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "OctavoProtocol",
        "description": "Generated from the protocol models; do not edit.",
        "x-protocol-version": PROTOCOL_VERSION,
        "type": "object",
        "properties": {name: {"$ref": REF + name} for name in _definitions()},
        "$defs": _definitions(),
        "x-methods": {
            spec.name: {
                "direction": spec.direction.value,
                "params": ref(spec.params),
                "result": ref(spec.result),
                "description": spec.doc,
                "longRunning": spec.long_running,
                "cancellable": spec.cancellable,
                "errors": [kind.value for kind in spec.errors],
            }
            for spec in METHODS.values()
        },
        "x-notifications": {
            spec.name: {"direction": spec.direction.value, "params": ref(spec.params), "description": spec.doc}
            for spec in NOTIFICATIONS.values()
        },
        "x-errors": {
            kind.value: {"code": ERRORS[kind].code, "when": ERRORS[kind].when, "remedy": ERRORS[kind].remedy}
            for kind in ErrorKind
        },
    }


def ref(model: type[Wire]) -> JsonObject:
    """Return the reference to a model's definition."""
    return {"$ref": REF + model.__name__}


def dump(value: JsonObject) -> str:
    """Return JSON text as the derived files hold it."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def models() -> dict[str, type[Wire]]:
    """Return every wire model by name, whether a method uses it directly or not."""

    def below(model: type[Wire]) -> Iterator[type[Wire]]:
        for child in model.__subclasses__():
            yield child
            yield from below(child)

    return {model.__name__: model for model in below(Wire) if model.__module__.startswith("octavo_protocol")}


def _definitions() -> JsonObject:
    used: dict[str, Any] = {}
    for spec in METHODS.values():
        used[spec.params.__name__] = spec.params
        used[spec.result.__name__] = spec.result
    used |= {spec.params.__name__: spec.params for spec in NOTIFICATIONS.values()}
    used |= {kind.__name__: kind for kind in _ALSO} | _UNIONS
    inputs: list[tuple[str, Literal["validation"], TypeAdapter[Any]]] = [
        (name, "validation", TypeAdapter(kind)) for name, kind in used.items()
    ]
    refs, made = TypeAdapter.json_schemas(inputs, ref_template=REF + "{model}")
    defs = dict(made["$defs"])
    defs |= {name: refs[name, "validation"] for name in _UNIONS}
    classes = models()
    return {name: _adapted(name, defs[name], classes.get(name)) for name in sorted(defs)}


def _adapted(name: str, schema: JsonObject, model: type[Wire] | None) -> JsonObject:
    out = _without_titles(schema)
    out = {"title": name, **out}
    if model is not None and issubclass(model, Reply):
        required = list(out.get("required", ()))
        for key, field in out.get("properties", {}).items():
            if field.get("default", ...) is None:
                _never_null(field)
            elif key not in required and _always_sent(model, key):
                required.append(key)
        if required:
            out["required"] = [key for key in out["properties"] if key in required]
    return out


def _always_sent(model: type[Wire], alias: str) -> bool:
    field = next(f for n, f in model.model_fields.items() if alias in {f.alias, n})
    return field.get_default(call_default_factory=True, validated_data={}) is not None


def _never_null(field: JsonObject) -> None:
    del field["default"]
    options = [option for option in field.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        del field["anyOf"]
        field.update({**options[0], "description": field["description"]})
    elif options:
        field["anyOf"] = options


def _without_titles(value: Any) -> Any:
    """Drop the titles pydantic gives every field, and point raw objects at their description."""
    if isinstance(value, list):
        return [_without_titles(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _RAW in value:
        return {"$ref": REF + value[_RAW], **{k: v for k, v in value.items() if k == "description"}}
    return {
        key: {name: _without_titles(inner) for name, inner in item.items()}
        if key in {"properties", "$defs"}
        else _without_titles(item)
        for key, item in value.items()
        if not (key == "title" and isinstance(item, str))
    }
