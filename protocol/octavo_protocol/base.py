"""The ground under every wire model: JSON aliases and the frozen pydantic bases.

Nothing here knows a method, an entry or an error; those modules import this one.
"""

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, WithJsonSchema
from pydantic.alias_generators import to_camel

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object as the decoder made it; entries and messages stay in this form, unknown fields and all."""

EntryObject: TypeAlias = Annotated[JsonObject, WithJsonSchema({"type": "object", "x-octavo-type": "Entry"})]
"""A session entry on the wire: raw inside, described as `entries.Entry` in the published schema."""

MessageObject: TypeAlias = Annotated[JsonObject, WithJsonSchema({"type": "object", "x-octavo-type": "Message"})]
"""A message on the wire: raw inside, described as `messages.Message` in the published schema."""


class Wire(BaseModel):
    """A value the daemon receives: camelCase names, unknown fields refused, immutable once built.

    Validators are built on first use: a process that imports the whole protocol pays only for what it touches.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True, defer_build=True
    )

    def to_wire(self) -> JsonObject:
        """Return the JSON object a peer receives: aliased names, unset optionals left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Reply(Wire):
    """A value the daemon sends: like `Wire`, but a reader ignores fields it does not know.

    That is what lets an older client live with a newer daemon.
    """

    model_config = ConfigDict(extra="ignore")
