"""The generated part of the TypeScript client: types, the tables of requests and notifications, the error table.

Everything comes from the bundle (`schema.bundle`). What a client does with it is hand-written beside it.
"""

import json
from collections.abc import Iterator, Mapping

from octavo_protocol.base import JsonObject
from octavo_protocol.generate.type_text import Notation

_HEAD = "// Generated from the protocol models by `python -m octavo_protocol.generate`; do not edit.\n"
_IMPORTS = """import { NotificationType, RequestType } from "vscode-jsonrpc";

import type { RequestOptions } from "../options.js";
import type * as t from "./types.js";
"""
_NOTATION = Notation(
    plain={"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"},
    either=" | ",
    mapping="{ [key: string]: {} }",
    free="JsonObject",
    anything="unknown",
)


def modules(bundle: JsonObject) -> dict[str, str]:
    """Return the modules by file name."""
    return {"types.ts": _types(bundle), "methods.ts": _methods(bundle), "errors.ts": _errors(bundle)}


def _types(bundle: JsonObject) -> str:
    parts = [
        _HEAD,
        _comment("A JSON object whose fields the protocol does not name.")
        + "export type JsonObject = { [key: string]: unknown };\n",
        _comment("Counts up when a client written for the version before would misread something.")
        + f"export const PROTOCOL_VERSION = {bundle['x-protocol-version']};\n",
    ]
    parts += [_definition(name, schema) for name, schema in bundle["$defs"].items()]
    return "\n".join(parts)


def _definition(name: str, schema: JsonObject) -> str:
    head = _comment(schema.get("description", "")) + f"export type {name} = "
    if schema.get("type") != "object":
        return f"{head}{_NOTATION.of(schema)};\n"
    if not schema.get("properties"):
        return f"{head}{'Record<string, never>' if name == 'Empty' else _NOTATION.of(schema)};\n"
    required = schema.get("required", ())
    fields = []
    for key, field in schema["properties"].items():
        text = field.get("description", "")
        if field.get("default") is not None:
            text += f" Default: `{json.dumps(field['default'], ensure_ascii=False)}`."
        fields.append(_comment(text, "  ") + f"  {_key(key)}{'' if key in required else '?'}: {_NOTATION.of(field)};\n")
    return f"{head}{{\n{''.join(fields)}}};\n"


def _methods(bundle: JsonObject) -> str:
    asked = {n: m for n, m in bundle["x-methods"].items() if m["direction"] == "clientToDaemon"}
    answered = {n: m for n, m in bundle["x-methods"].items() if n not in asked}
    told = bundle["x-notifications"]
    heard = {n: m for n, m in told.items() if m["direction"] == "daemonToClient"}
    said = {n: m for n, m in told.items() if n not in heard}
    return "\n".join(
        [
            _HEAD,
            _IMPORTS,
            _map("Requests", "Requests a client sends: params and result by method.", asked),
            _map("ServerRequests", "Requests the daemon sends.", answered),
            _map("ServerNotifications", "Payloads of the notifications the daemon sends.", heard),
            _map("ClientNotifications", "Payloads of the notifications a client sends.", said),
            *(_request_type(name, spec) for name, spec in bundle["x-methods"].items()),
            *(_notification_type(name, spec) for name, spec in told.items()),
            _class(asked, bundle["$defs"]),
        ]
    )


def _map(name: str, doc: str, table: Mapping[str, JsonObject]) -> str:
    rows = []
    for method, spec in table.items():
        params = f"t.{_NOTATION.of(spec['params'])}"
        kind = f"{{ params: {params}; result: t.{_NOTATION.of(spec['result'])} }}" if "result" in spec else params
        rows.append(_comment(spec["description"], "  ") + f"  {json.dumps(method)}: {kind};\n")
    return f"{_comment(doc)}export interface {name} {{\n{''.join(rows)}}}\n"


def _request_type(name: str, spec: JsonObject) -> str:
    generics = f"t.{_NOTATION.of(spec['params'])}, t.{_NOTATION.of(spec['result'])}, t.ErrorData"
    value = f"new RequestType<{generics}>({json.dumps(name)})"
    return f"{_comment(spec['description'])}export const {_pascal(name)}Request = {value};\n"


def _notification_type(name: str, spec: JsonObject) -> str:
    value = f"new NotificationType<t.{_NOTATION.of(spec['params'])}>({json.dumps(name)})"
    return f"{_comment(spec['description'])}export const {_pascal(name)}Notification = {value};\n"


def _class(table: Mapping[str, JsonObject], defs: JsonObject) -> str:
    groups: dict[str, list[str]] = {}
    for method, spec in table.items():
        group, _, name = method.partition("/")
        params, result = _NOTATION.of(spec["params"]), _NOTATION.of(spec["result"])
        given = f"params: t.{params}" + ("" if defs[params].get("required") else " = {}")
        groups.setdefault(group, []).append(
            _comment(spec["description"], "    ")
            + f"    {name}: ({given}, options?: RequestOptions): Promise<t.{result}> =>\n"
            f"      this.request({json.dumps(method)}, params, options),\n"
        )
    bodies = "\n".join(
        f"{_comment(f'Requests `{group}/…`.', '  ')}  readonly {group} = {{\n{''.join(members)}  }};\n"
        for group, members in groups.items()
    )
    return (
        f"{_comment('Every request as a method: `session/getTree` is `session.getTree`.')}"
        "export abstract class Methods {\n"
        f"{_comment('Send a request and return its result.', '  ')}"
        "  abstract request<M extends keyof Requests>(\n"
        '    method: M,\n    params: Requests[M]["params"],\n    options?: RequestOptions,\n'
        '  ): Promise<Requests[M]["result"]>;\n\n'
        f"{bodies}}}\n"
    )


def _errors(bundle: JsonObject) -> str:
    rows = [
        f"  {json.dumps(kind)}: {{\n    code: {row['code']},\n    when: {_quoted(row['when'])},\n"
        f"    remedy: {_quoted(row['remedy'])},\n  }},\n"
        for kind, row in bundle["x-errors"].items()
    ]
    doc = "Every kind of error: its code, when it happens, and what to do about it."
    row_type = "{ readonly code: number; readonly when: string; readonly remedy: string }"
    return (
        f'{_HEAD}\nimport type {{ ErrorKind }} from "./types.js";\n\n{_comment(doc)}'
        f"export const ERRORS: {{ readonly [K in ErrorKind]: {row_type} }} = {{\n{''.join(rows)}}};\n"
    )


def _pascal(method: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in method.replace("$", "").split("/"))


def _key(name: str) -> str:
    return name if name.isidentifier() else _quoted(name)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _comment(text: str, indent: str = "") -> str:
    lines = list(_wrapped(text.replace("*/", "*\\/")))
    if not lines:
        return ""
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines) + f"{indent} */\n"


def _wrapped(text: str) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + len(word) > 110:
            yield line
            line = ""
        line = f"{line} {word}" if line else word
    if line:
        yield line
