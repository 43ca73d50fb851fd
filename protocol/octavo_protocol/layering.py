"""How layers of settings combine: reading keys, checking values, laying one over the other.

Pure functions over any tree of pydantic models; the tree itself is in `settings`. Layers, weakest first: defaults, the
TOML file, the environment (`OCTAVO_…`), `initialize`, `workspace/didChangeConfiguration`, the session.
"""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

Path: TypeAlias = tuple[str, ...]
Layer: TypeAlias = Mapping[Path, Any]
"""Values by path, checked; a None takes a key back."""

SECTION = "octavo"
"""Key under which editors keep a server's settings."""

_SECRET = frozenset({"apiKey", "apiKeyCommand", "headers"})
_PROVIDER_DEPTH = 2
_IN_ADDRESS = re.compile(r"(?<=://)[^/?#]*@|\?[^#]+")
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the settings reference."""

    path: Path
    field: FieldInfo
    annotation: Any

    @property
    def key(self) -> str:
        """Dotted key."""
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        """Environment variable: `compaction.keepRecentTokens` → `OCTAVO_COMPACTION_KEEP_RECENT_TOKENS`."""
        return "OCTAVO_" + "_".join(_upper_snake(part) for part in self.path)


def read(model: type[BaseModel], updates: Any, *, nulls: bool = False) -> Layer:
    """Return the layer that `updates` (dotted or nested keys, perhaps under `octavo`) spell.

    With `nulls`, a null stays in the layer and takes a value back when laid over another; otherwise it is dropped.

    Raises:
        OctavoError: invalid-params; names each wrong key, its value, and what is allowed.
    """
    if isinstance(updates, dict) and isinstance(updates.get(SECTION), dict):
        updates = {**{k: v for k, v in updates.items() if k != SECTION}, **updates[SECTION]}
    out: dict[Path, Any] = {}
    problems = list(_place(model, (), (), {} if updates is None else updates, out))
    if not problems:
        problems = list(_wrong_values(model, {path: value for path, value in out.items() if value is not None}))
    if problems:
        raise OctavoError(ErrorKind.INVALID_PARAMS, "; ".join(problem["msg"] for problem in problems), details=problems)
    return out if nulls else {path: value for path, value in out.items() if value is not None}


def read_toml(model: type[BaseModel], text: str) -> Layer:
    """Return the layer of a TOML file.

    Raises:
        OctavoError: invalid-params, for broken TOML as for wrong values.
    """
    import tomllib  # noqa: PLC0415 -- most runs have no settings file

    try:
        return read(model, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise OctavoError(
            ErrorKind.INVALID_PARAMS,
            f"The settings file is not valid TOML: {error}.",
            details=[{"loc": [], "msg": str(error)}],
        ) from None


def read_environment(model: type[BaseModel], environment: Mapping[str, str]) -> Layer:
    """Return the layer of the `OCTAVO_…` variables that name a setting; others are left alone.

    Raises:
        OctavoError: invalid-params; names each wrong key, its value, and what is allowed.
    """
    nest: JsonObject = {}
    for setting in settings_of(model):
        text = environment.get(setting.variable)
        if text is not None:
            nest[setting.key] = _from_text(setting.annotation, text)
    return read(model, nest)


def overlay(layers: Iterable[Layer]) -> Layer:
    """Return one layer: later ones win, path by path."""
    out: dict[Path, Any] = {}
    for layer in layers:
        out.update(layer)
    return out


def update(layer: Layer, changes: Layer) -> Layer:
    """Return `layer` with `changes` in it; a null takes back the path and everything below it."""
    taken = [path for path, value in changes.items() if value is None]
    kept = {path: value for path, value in layer.items() if not any(path[: len(t)] == t for t in taken)}
    return {**kept, **{path: value for path, value in changes.items() if value is not None}}


def nested(layer: Layer) -> JsonObject:
    """Return the layer as nested objects, the form a model validates."""
    out: JsonObject = {}
    for path, value in layer.items():
        at = out
        for part in path[:-1]:
            at = at.setdefault(part, {})
        at[path[-1]] = value
    return out


def dotted(model: type[BaseModel], values: JsonObject) -> JsonObject:
    """Return values by dotted key, maps whole, credentials replaced by `(hidden)`."""
    out: JsonObject = {}
    for setting in settings_of(model):
        at: Any = values
        for part in setting.path:
            at = at[part]
        out[setting.key] = _hidden(setting.path, at)
    return out


def sources(layers: Iterable[tuple[str, Layer]]) -> dict[str, str]:
    """Return the name of the layer each given key comes from, the last one winning."""
    return {".".join(path): name for name, layer in layers for path in layer}


def settings_of(model: type[BaseModel], prefix: Path = ()) -> Iterator[Setting]:
    """Yield every setting of the tree in order; a map is one setting."""
    for name, field in model.model_fields.items():
        path = (*prefix, to_camel(name))
        group = _group(field.annotation)
        if group is not None:
            yield from settings_of(group, path)
        else:
            yield Setting(path, field, field.annotation)


def allowed(annotation: Any, field: FieldInfo | None = None) -> str:
    """Say which values a type allows, in words that can follow `allowed:`."""
    if get_origin(annotation) is Literal:
        return ", ".join(json.dumps(value) for value in get_args(annotation))
    if get_origin(annotation) in {Union, UnionType}:
        return " or ".join(allowed(part, field) for part in get_args(annotation))
    if get_origin(annotation) is list:
        return f"a list of {allowed(get_args(annotation)[0])}"
    if get_origin(annotation) is dict:
        return f"an object whose values are {allowed(get_args(annotation)[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "an object with " + ", ".join(f"`{to_camel(name)}`" for name in annotation.model_fields)
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a string", type(None): "null"}
    words = names.get(annotation, "any value")
    bounds = {type(m).__name__: m for m in field.metadata} if field and annotation in {int, float} else {}
    return words + (f" from {bounds['Ge'].ge} up" if "Ge" in bounds else "")


def _place(kind: Any, prefix: Path, rest: Path, value: Any, out: dict[Path, Any]) -> Iterator[JsonObject]:
    """Put `value` at `prefix` + `rest` below a node of type `kind`; yield what is wrong."""
    group = _group(kind)
    item = _map_item(kind)
    if group is None and item is None:
        if rest:
            yield _problem((*prefix, *rest), f"`{'.'.join(prefix)}` has no keys below it")
        else:
            out[prefix] = value
    elif not rest:
        if value is None and prefix:
            out[prefix] = None
        elif not isinstance(value, dict):
            name = f"`{'.'.join(prefix)}`" if prefix else "settings"
            yield _problem(prefix, f"{name} must be an object, not {_show(prefix, value)}")
        else:
            for key, inner in value.items():
                parts = (str(key),) if item is not None else tuple(str(key).split("."))
                yield from _place(kind, prefix, parts, inner, out)
    elif item is not None:
        inner_group = _group(item)
        split = (
            len(rest) - 1 if inner_group is not None and len(rest) > 1 and _field(inner_group, rest[-1]) else len(rest)
        )
        yield from _place(item, (*prefix, ".".join(rest[:split])), rest[split:], value, out)
    elif group is not None:
        field = _field(group, rest[0])
        if field is None:
            yield _problem((*prefix, *rest), _unknown(group, prefix, rest[0]))
        else:
            yield from _place(field.annotation, (*prefix, rest[0]), rest[1:], value, out)


def _wrong_values(model: type[BaseModel], layer: Layer) -> Iterator[JsonObject]:
    try:
        model.model_validate(nested(layer))
    except ValidationError as error:
        seen: set[Path] = set()
        for item in error.errors(include_url=False, include_context=False):
            loc = tuple(str(part) for part in item["loc"])
            path = next((p for p in sorted(layer, key=len, reverse=True) if loc[: len(p)] == p), loc)
            if path not in seen:
                seen.add(path)
                words = _allowed_at(model, path)
                shown = _show(path, layer.get(path))
                inner = "".join(f" ({'.'.join(loc[len(path) :])}: {item['msg']})" if len(loc) > len(path) else "")
                message = f"`{'.'.join(path)}` cannot be {shown}{inner}; allowed: {words}"
                yield {"loc": list(path), "msg": message, "key": ".".join(path), "allowed": words}


def _allowed_at(model: type[BaseModel], path: Path) -> str:
    kind: Any = model
    field: FieldInfo | None = None
    for part in path:
        group = _group(kind)
        if group is not None:
            field = _field(group, part)
            kind = field.annotation if field else None
        else:
            kind, field = _map_item(kind), None
    return allowed(kind, field)


def _problem(path: Path, message: str) -> JsonObject:
    return {"loc": list(path), "msg": message, "key": ".".join(path)}


def _unknown(group: type[BaseModel], prefix: Path, name: str) -> str:
    known = [to_camel(field) for field in group.model_fields]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean `{'.'.join((*prefix, close[0]))}`" if close else f"known here: {', '.join(known)}"
    return f"there is no setting `{'.'.join((*prefix, name))}`; {hint}"


def _field(group: type[BaseModel], alias: str) -> FieldInfo | None:
    return next((field for name, field in group.model_fields.items() if to_camel(name) == alias), None)


def _group(kind: Any) -> type[BaseModel] | None:
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _map_item(kind: Any) -> Any:
    return get_args(kind)[1] if get_origin(kind) is dict else None


def _show(path: Path, value: Any) -> str:
    text = json.dumps(_hidden(path, value), ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:79] + "…"


def _hidden(path: Path, value: Any) -> Any:
    # What stands in the place of all providers, or of one, may be a spoilt text that has its key somewhere.
    spoilt = path[:1] == ("providers",) and len(path) <= _PROVIDER_DEPTH and isinstance(value, str)
    if spoilt or not _SECRET.isdisjoint(path):
        return None if value is None else "(hidden)"
    if isinstance(value, dict):
        return {key: _hidden((*path, str(key)), inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_hidden(path, inner) for inner in value]
    return public_address(value) if isinstance(value, str) and "://" in value else value


def public_address(url: str) -> str:
    """Return an address without the credentials and the query that some servers are given in it."""
    return _IN_ADDRESS.sub(lambda found: "?(hidden)" if found[0].startswith("?") else "(hidden)@", url)


def _upper_snake(name: str) -> str:
    return "".join(f"_{c}" if c.isupper() else c.upper() for c in name)


def _from_text(annotation: Any, text: str) -> Any:
    """Return the value an environment variable spells: JSON, or the text itself for strings."""
    kinds = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)
    if bool in kinds and text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    if str in kinds or any(get_origin(kind) is Literal for kind in kinds):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
