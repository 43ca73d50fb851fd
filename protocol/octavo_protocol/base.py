"""The ground under every wire model: JSON aliases and the frozen pydantic base.

Nothing here knows a method, an entry or an error; those modules import this one.
"""

from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object as the decoder made it; entries and messages stay in this form, unknown fields and all."""


class Wire(BaseModel):
    """A value that crosses the wire: camelCase names, unknown fields refused, immutable once built."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)

    def to_wire(self) -> JsonObject:
        """Return the JSON object a peer receives: aliased names, unset optionals left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
