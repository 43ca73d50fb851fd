"""What is generated for TypeScript and Lua names every type, refers only to those, and says what is required."""

import re
from typing import Any

import pytest

from octavo_protocol.errors import ERRORS
from octavo_protocol.generate import lua, schema, typescript
from octavo_protocol.methods import METHODS, Direction
from octavo_protocol.notifications import NOTIFICATIONS


@pytest.fixture(scope="module")
def bundle() -> dict[str, Any]:
    return schema.bundle()


def made(definition: dict[str, Any]) -> str:
    """The types.ts of a bundle with one definition, without its head."""
    bundle = {"$defs": {"Thing": definition}, "x-protocol-version": 1, "x-methods": {}, "x-notifications": {}}
    return typescript.modules({**bundle, "x-errors": {}})["types.ts"].split("PROTOCOL_VERSION = 1;\n\n")[1]


def test_typescript_has_every_type_once(bundle: dict[str, Any]) -> None:
    names = re.findall(r"^export type (\w+) = ", typescript.modules(bundle)["types.ts"], re.MULTILINE)
    assert sorted(names) == sorted([*bundle["$defs"], "JsonObject"])


def test_typescript_has_every_request_notification_and_error(bundle: dict[str, Any]) -> None:
    modules = typescript.modules(bundle)
    for name in METHODS:
        assert re.search(
            rf'^  "{re.escape(name)}": {{ params: t\.\w+; result: t\.\w+ }};$', modules["methods.ts"], re.MULTILINE
        )
        assert f'>("{name}");' in modules["methods.ts"]
    for name in NOTIFICATIONS:
        assert re.search(rf'^  "{re.escape(name)}": t\.\w+;$', modules["methods.ts"], re.MULTILINE)
    for kind, row in ERRORS.items():
        assert f'"{kind.value}": {{\n    code: {row.code},' in modules["errors.ts"]


def test_typescript_offers_a_helper_for_what_clients_ask_and_none_for_what_they_are_asked(
    bundle: dict[str, Any],
) -> None:
    helpers = set(re.findall(r"this\.request\(\"([^\"]+)\"", typescript.modules(bundle)["methods.ts"]))
    assert helpers == {name for name, spec in METHODS.items() if spec.direction is Direction.CLIENT_TO_DAEMON}


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ({"type": "integer"}, "number"),
        ({"const": "a"}, '"a"'),
        ({"enum": ["a", "b"]}, '"a" | "b"'),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, "number"),
        ({"type": "array", "items": {"type": "string"}}, "string[]"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, '("a" | "b")[]'),
        ({"type": "object", "additionalProperties": True}, "JsonObject"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "{ [key: string]: number }"),
        ({"$ref": "#/$defs/Other"}, "Other"),
        ({}, "unknown"),
    ],
)
def test_a_schema_becomes_the_type_a_reader_expects(field: dict[str, Any], text: str) -> None:
    assert made({"type": "object", "properties": {"x": field}}) == f"export type Thing = {{\n  x?: {text};\n}};\n"


def test_required_fields_are_required_and_defaults_and_descriptions_are_said() -> None:
    fields = {"x-y": {"type": "string", "description": "End */ it."}, "n": {"type": "integer", "default": 5}}
    text = made({"type": "object", "description": "A thing.", "properties": fields, "required": ["x-y"]})
    assert text == (
        "/** A thing. */\nexport type Thing = {\n"
        '  /** End *\\/ it. */\n  "x-y": string;\n'
        "  /** Default: `5`. */\n  n?: number;\n};\n"
    )


def test_lua_names_every_type_and_refers_only_to_what_it_names(bundle: dict[str, Any]) -> None:
    text = lua.module(bundle)
    named = set(re.findall(r"^---@(?:class|alias) (?:\(exact\) )?octavo\.(\w+)$", text, re.MULTILINE))
    assert set(bundle["$defs"]) <= named
    annotations = re.findall(r"^---(?:@field \S+ (\S+)|\| (\S+))", text, re.MULTILINE)
    used = {name for pair in annotations for part in pair for name in re.findall(r"octavo\.(\w+)", part)}
    assert used
    assert used <= named


def test_lua_is_nothing_but_comments(bundle: dict[str, Any]) -> None:
    assert [line for line in lua.module(bundle).splitlines() if line and not line.startswith("--")] == []


def test_lua_says_which_fields_may_be_absent_or_null(bundle: dict[str, Any]) -> None:
    text = lua.module(bundle)
    params = text.split("---@class (exact) octavo.GetEntriesParams\n")[1].split("\n\n")[0] + "\n"
    assert "---@field sessionId string " in params
    assert "---@field sinceSeq? integer|octavo.Null " in params
    assert '\n---@alias octavo.Request\n---| "session/create"\n' in text
