"""The Python client's typed helpers (`octavo_client/methods.py`): one coroutine per request of the method table.

The text is laid out as the formatter would, so that generating needs no tool.
"""

import importlib
import pkgutil
import textwrap
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

import octavo_protocol.methods
from octavo_protocol.methods import METHODS, Direction, MethodSpec

_HEAD = '''# ruff: noqa: A002 -- the names are the wire's
"""Typed helpers, one for each request a client sends.

Generated from the method table by `python -m octavo_protocol.generate`; do not edit.
"""
'''
_PROGRESS = "on_progress"


def module() -> str:
    """Return the source of the module."""
    specs = [spec for spec in METHODS.values() if spec.direction is Direction.CLIENT_TO_DAEMON]
    aliases = _aliases()
    names: dict[str, set[str]] = {"octavo_client.asking": {"UNSET", "Asking", "OnProgress", "Unset"}}
    methods = [_method(spec, aliases, names) for spec in specs]
    typing = names.pop("typing", set())
    imports = "".join(_import(source, used) for source, used in sorted(names.items()))
    first = f"from typing import {', '.join(sorted(typing))}\n\n" if typing else ""
    body = "\n\n".join(methods)
    return f'{_HEAD}\n{first}{imports}\n\nclass Methods(Asking):\n    """Every request, by name."""\n\n{body}\n'


def _import(source: str, used: set[str]) -> str:
    ordered = sorted(used, key=lambda name: (not name.isupper(), name.lower()))
    line = f"from {source} import {', '.join(ordered)}\n"
    if len(line) <= 121:
        return line
    return f"from {source} import (\n" + "".join(f"    {name},\n" for name in ordered) + ")\n"


def _method(spec: MethodSpec, aliases: dict[Any, tuple[str, str]], names: dict[str, set[str]]) -> str:
    signature, passed = [], []
    for name, field in spec.params.model_fields.items():
        if name == "work_done_token":
            continue
        kind = _source(field.annotation, aliases, names)
        if field.is_required():
            signature.append(f"{name}: {kind}")
        else:
            signature.append(f"{name}: {kind.removesuffix(' | None')} | Unset{' | None' * (' | None' in kind)} = UNSET")
        passed.append(f"{name}={name}")
    if spec.long_running:
        signature.append(f"{_PROGRESS}: OnProgress | None = None")
        passed.append(f"{_PROGRESS}={_PROGRESS}")
    result = _source(spec.result, aliases, names)
    lines = [f"    async def {spec.python_name}("]
    if signature:
        lines += ["        self,", "        *,", *(f"        {part}," for part in signature), f"    ) -> {result}:"]
    else:
        lines = [f"    async def {spec.python_name}(self) -> {result}:"]
    lines += list(_docstring(spec.doc))
    call = [f'"{spec.name}"', _source(spec.params, aliases, names), result, *passed]
    lines += ["        return await self.ask(", *(f"            {part}," for part in call), "        )"]
    return "\n".join(lines)


def _docstring(text: str) -> Iterator[str]:
    summary, _, rest = text.partition(". ")
    if not rest:
        yield f'        """{text}"""'
        return
    yield f'        """{summary}.'
    yield ""
    yield from (f"        {line}" for line in textwrap.wrap(rest, 110))
    yield '        """'


def _source(kind: Any, aliases: dict[Any, tuple[str, str]], names: dict[str, set[str]]) -> str:
    """Return a type as source text, noting in `names` what must be imported from where."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    origin = get_origin(kind)
    if origin is Literal and kind in aliases:
        source, name = aliases[kind]
        names.setdefault(source, set()).add(name)
        return name
    if origin is Literal:
        names.setdefault("typing", set()).add("Literal")
        return f"Literal[{', '.join(_quoted(value) for value in get_args(kind))}]"
    if origin in {Union, UnionType}:
        return " | ".join(_source(part, aliases, names) for part in get_args(kind))
    if origin is list:
        return f"list[{_source(get_args(kind)[0], aliases, names)}]"
    if origin is dict:
        return f"dict[{', '.join(_source(part, aliases, names) for part in get_args(kind))}]"
    if kind is Any:
        names.setdefault("typing", set()).add("Any")
        return "Any"
    if kind is NoneType:
        return "None"
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        names.setdefault(kind.__module__, set()).add(kind.__name__)
    return str(kind.__name__)


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _aliases() -> dict[Any, tuple[str, str]]:
    """Return the public names of literal types in the method modules."""
    found: dict[Any, tuple[str, str]] = {}
    for info in pkgutil.iter_modules(octavo_protocol.methods.__path__, "octavo_protocol.methods."):
        for name, value in vars(importlib.import_module(info.name)).items():
            if get_origin(value) is Literal and not name.startswith("_"):
                found.setdefault(value, (info.name, name))
    return found
