"""The protocol reference (`docs/protocol.md`): every method, notification, type and error kind with its tables."""

import json
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import Any

from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ERRORS, ErrorKind
from octavo_protocol.generate import examples
from octavo_protocol.generate.schema import REF
from octavo_protocol.methods import METHODS, Direction, MethodSpec
from octavo_protocol.notifications import NOTIFICATIONS, NotificationSpec
from octavo_protocol.settings import Group

_SUBJECTS = {
    "Sessions": "session/",
    "Maintenance of all sessions": "maintenance/",
    "Frames": "snapcompact/",
    "Models": "model/",
    "Settings": "settings/",
    "The daemon": "daemon/",
}

_ABOUT_TYPES = (
    "Params and payloads stand with their method or notification. Settings have [a page of their own](settings.md)."
)


def page(bundle: JsonObject) -> str:
    """Return the whole page for `bundle` (from `schema.bundle`)."""
    defs = bundle["$defs"]
    shown = {spec.params.__name__ for spec in METHODS.values()} | {s.params.__name__ for s in NOTIFICATIONS.values()}
    shown |= {group.__name__ for group in Group.__subclasses__()}
    intro = (resources.files(__package__) / "intro.md").read_text(encoding="utf-8").rstrip()
    parts = [intro, *_methods(defs), *_notifications(defs), *_errors(), "## Types", _ABOUT_TYPES]
    parts += [_type(name, schema) for name, schema in defs.items() if name not in shown]
    return "\n\n".join(parts) + "\n"


def kind(schema: JsonObject) -> str:
    """Return a type as the tables name it."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(REF)
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " \\| ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "anyOf" in schema or "oneOf" in schema:
        return " \\| ".join(kind(option) for option in schema.get("anyOf") or schema["oneOf"])
    if schema.get("type") == "array":
        return f"array of {kind(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {kind(schema['additionalProperties'])}"
    return str(schema.get("type", "any"))


def table(schema: JsonObject, empty: str) -> str:
    """Return the table of a type's fields."""
    required = schema.get("required", ())
    rows = [
        (f"`{name}`", kind(field), _need(field, required=name in required), _cell(field.get("description", "")))
        for name, field in schema.get("properties", {}).items()
    ]
    return rows_table(("field", "type", "", "meaning"), rows) if rows else empty


def rows_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _methods(defs: JsonObject) -> Iterator[str]:
    asked = [spec for spec in METHODS.values() if spec.direction is Direction.CLIENT_TO_DAEMON]
    yield "## Requests, client to daemon"
    for title, prefix in _SUBJECTS.items():
        yield f"### {title}"
        for spec in asked:
            if spec.name.startswith(prefix):
                yield _method(spec, defs)
    yield "## Requests, daemon to client"
    for spec in METHODS.values():
        if spec.direction is Direction.DAEMON_TO_CLIENT:
            yield _method(spec, defs)


def _method(spec: MethodSpec, defs: JsonObject) -> str:
    facts = [
        "Takes a `workDoneToken`." if spec.long_running else "",
        "Can be cancelled." if spec.cancellable else "",
        "Errors: " + ", ".join(f"[{k.value}](#{k.value})" for k in spec.errors) + "." if spec.errors else "",
    ]
    example = examples.requests()[spec.name]
    result = kind({"$ref": REF + spec.result.__name__})
    parts = [
        f"#### `{spec.name}`",
        spec.doc,
        " ".join(fact for fact in facts if fact),
        table(defs[spec.params.__name__], "No params."),
        f"Result: {result}",
        _json({"params": example["params"], "result": example["result"]}),
    ]
    return "\n\n".join(part for part in parts if part)


def _notifications(defs: JsonObject) -> Iterator[str]:
    for title, direction in (
        ("daemon to client", Direction.DAEMON_TO_CLIENT),
        ("client to daemon", Direction.CLIENT_TO_DAEMON),
    ):
        yield f"## Notifications, {title}"
        yield from (_notification(spec, defs) for spec in NOTIFICATIONS.values() if spec.direction is direction)


def _notification(spec: NotificationSpec, defs: JsonObject) -> str:
    shown = _json(examples.notifications()[spec.name])
    return f"#### `{spec.name}`\n\n{spec.doc}\n\n{table(defs[spec.params.__name__], 'No payload.')}\n\n{shown}"


def _errors() -> Iterator[str]:
    yield "## Error kinds"
    yield "Switch on `error.data.kind`; [ErrorData](#errordata) has the other fields. `error.message` is for people."
    for name in ErrorKind:
        spec = ERRORS[name]
        message = examples.errors()[name.value]["message"]
        yield f"#### {name.value}\n\n`{spec.code}`. {spec.when}\n\nRemedy: {spec.remedy}\n\nExample: “{message}”"


def _type(name: str, schema: JsonObject) -> str:
    text = schema.get("description", "").strip()
    if "properties" in schema:
        body = table(schema, "")
    elif "type" in schema and schema["type"] == "object":
        body = "No fields."
    else:
        body = "One of: " + kind({k: v for k, v in schema.items() if k != "title"})
    return "\n\n".join(part for part in (f"### {name}", text, body) if part)


def _need(field: JsonObject, *, required: bool) -> str:
    if required:
        return "required"
    if field.get("default") is None:
        return ""
    return f"`{json.dumps(field['default'], ensure_ascii=False)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _json(value: Any) -> str:
    return f"```json\n{json.dumps(value, ensure_ascii=False, indent=2)}\n```"
