"""A schema of the bundle as a type expression, in the notation of one language."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from octavo_protocol.generate.schema import REF


@dataclass(frozen=True, slots=True)
class Notation:
    """How a language writes types: `plain` by JSON type, `prefix` of named types, `either` between options.

    `mapping` takes the type of an object's values at `{}`; `free` is an object of anything, `anything` whatever it is.
    """

    plain: Mapping[str, str]
    either: str
    mapping: str
    free: str
    anything: str
    prefix: str = ""

    def of(self, schema: Any) -> str:
        """Return the type expression of a schema."""
        if "$ref" in schema:
            return self.prefix + str(schema["$ref"]).removeprefix(REF)
        if "const" in schema:
            return json.dumps(schema["const"])
        if "enum" in schema:
            return self.either.join(json.dumps(value) for value in schema["enum"])
        if "anyOf" in schema:
            return self.either.join(dict.fromkeys(self.of(option) for option in schema["anyOf"]))
        match schema.get("type"):
            case "array":
                inner = self.of(schema.get("items", {}))
                return f"({inner})[]" if self.either in inner else f"{inner}[]"
            case "object":
                extra = schema.get("additionalProperties")
                return self.mapping.replace("{}", self.of(extra)) if isinstance(extra, dict) and extra else self.free
            case str(kind):
                return self.plain[kind]
        return self.anything
