"""LuaLS annotations of every type of the protocol, for editors' plugins: one `---@class` or `---@alias` each.

They are read by language servers only; no program loads the file.
"""

import json

from octavo_protocol.base import JsonObject
from octavo_protocol.generate.type_text import Notation

_PREFIX = "octavo."
_NOTATION = Notation(
    plain={"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "null": "octavo.Null"},
    either="|",
    mapping="table<string, {}>",
    free="table<string, any>",
    anything="any",
    prefix=_PREFIX,
)


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
        return _alias(name, text, _NOTATION.of(schema).split("|"))
    lines = [f"---{text}"] if text else []
    closed = schema.get("additionalProperties") is False
    lines.append(f"---@class {'(exact) ' if closed else ''}{_PREFIX}{name}")
    required = schema.get("required", ())
    for key, field in schema.get("properties", {}).items():
        mark = "" if key in required else "?"
        lines.append(f"---@field {key}{mark} {_NOTATION.of(field)} {field.get('description', '')}".rstrip())
    return "\n".join(lines) + "\n"


def _alias(name: str, text: str, options: list[str]) -> str:
    head = f"---{text}\n" if text else ""
    return f"{head}---@alias {_PREFIX}{name}\n" + "".join(f"---| {option}\n" for option in options)


def _names(table: JsonObject, direction: str) -> list[str]:
    return [json.dumps(name) for name, spec in table.items() if spec["direction"] == direction]
