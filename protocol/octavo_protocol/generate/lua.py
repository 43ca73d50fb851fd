"""LuaLS annotations of every type of the protocol, for editors' plugins: one `---@class` or `---@alias` each.

They are read by language servers only; no program loads the file.
"""

import json
from typing import Any

from octavo_protocol.base import JsonObject
from octavo_protocol.generate.schema import REF

_PLAIN = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "null": "octavo.Null"}
_PREFIX = "octavo."


def module(bundle: JsonObject) -> str:
    """Return the text of `types.lua`."""
    parts = ["---@meta\n-- Generated from the protocol models by `python -m octavo_protocol.generate`; do not edit.\n"]
    parts.append(_alias("Null", "JSON's null: `vim.NIL`.", ["userdata"]))
    parts += [_definition(name, schema) for name, schema in bundle["$defs"].items()]
    parts += [
        _alias("Request", "Name of a request a client sends.", _names(bundle["x-methods"], "clientToDaemon")),
        _alias("ServerRequest", "Name of a request the daemon sends.", _names(bundle["x-methods"], "daemonToClient")),
        _alias(
            "Notification",
            "Name of a notification the daemon sends.",
            _names(bundle["x-notifications"], "daemonToClient"),
        ),
    ]
    return "\n".join(parts)


def _definition(name: str, schema: JsonObject) -> str:
    text = schema.get("description", "")
    if schema.get("type") != "object":
        return _alias(name, text, _type(schema).split("|"))
    lines = [f"---{text}"] if text else []
    closed = schema.get("additionalProperties") is False
    lines.append(f"---@class {'(exact) ' if closed else ''}{_PREFIX}{name}")
    required = schema.get("required", ())
    for key, field in schema.get("properties", {}).items():
        mark = "" if key in required else "?"
        lines.append(f"---@field {key}{mark} {_type(field)} {field.get('description', '')}".rstrip())
    return "\n".join(lines) + "\n"


def _alias(name: str, text: str, options: list[str]) -> str:
    head = f"---{text}\n" if text else ""
    return f"{head}---@alias {_PREFIX}{name}\n" + "".join(f"---| {option}\n" for option in options)


def _names(table: JsonObject, direction: str) -> list[str]:
    return [json.dumps(name) for name, spec in table.items() if spec["direction"] == direction]


def _type(schema: Any) -> str:
    """Return a schema as a type expression."""
    if "$ref" in schema:
        return _PREFIX + str(schema["$ref"]).removeprefix(REF)
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return "|".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return "|".join(dict.fromkeys(_type(option) for option in schema["anyOf"]))
    match schema.get("type"):
        case "array":
            inner = _type(schema.get("items", {}))
            return f"({inner})[]" if "|" in inner else f"{inner}[]"
        case "object":
            extra = schema.get("additionalProperties")
            return f"table<string, {_type(extra)}>" if isinstance(extra, dict) and extra else "table<string, any>"
        case str(kind):
            return _PLAIN[kind]
    return "any"
