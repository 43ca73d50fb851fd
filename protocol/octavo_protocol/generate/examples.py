"""The examples: one request and answer per method, one payload per notification, one failure per error kind.

They are data (`examples/*.json`), used by the reference, the OpenRPC document and the golden wire files.
"""

import json
from functools import cache
from importlib import resources
from typing import Any

from octavo_protocol.base import JsonObject

_SUBJECTS = ("session", "tree", "context", "compaction", "maintenance", "snapcompact", "models", "daemon", "client")


def _read(name: str) -> Any:
    return json.loads((resources.files(__package__) / "examples" / f"{name}.json").read_text(encoding="utf-8"))


@cache
def requests() -> dict[str, JsonObject]:
    """Return `{params, result}` by method name."""
    return {name: example for subject in _SUBJECTS for name, example in _read(subject).items()}


@cache
def notifications() -> dict[str, JsonObject]:
    """Return a payload by notification name."""
    return dict(_read("notifications"))


@cache
def errors() -> dict[str, JsonObject]:
    """Return `{method, params, message, data}` by error kind; `method` is null where the frame itself is wrong."""
    return dict(_read("errors"))
