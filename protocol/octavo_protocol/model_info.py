"""What is said of a model on the wire and in settings. `completion.Model` is what the daemon makes of it."""

from typing import Literal

from pydantic import Field

from octavo_protocol.base import Wire


class Prices(Wire):
    """US dollars per million tokens."""

    input: float = Field(default=0, ge=0, description="Uncached input.")
    output: float = Field(default=0, ge=0, description="Output.")
    cache_read: float = Field(default=0, ge=0, description="Input read from the cache.")
    cache_write: float = Field(default=0, ge=0, description="Input written to the cache.")


class ModelInfo(Wire):
    """A model: what it takes, what it costs and how it is reached."""

    provider: str = Field(min_length=1, description="Provider id, the part of `provider/id` before the slash.")
    id: str = Field(min_length=1, description="Model id as the provider spells it.")
    api: str = Field(default="", description="Wire it speaks; an unknown one is reachable through the client only.")
    context_window: int = Field(default=0, ge=0, description="Tokens; 0 when unknown.")
    max_output: int = Field(default=0, ge=0, description="Tokens; 0 when unknown.")
    inputs: list[Literal["text", "image"]] = Field(default=["text"], description="Kinds of content it reads.")
    reasoning: bool = Field(default=False, description="Whether it has an effort dial.")
    base_url: str | None = Field(default=None, description="Endpoint instead of the provider's own.")
    prices: Prices | None = Field(default=None, description="Absent when unknown.")
    context_promotion_target: str | None = Field(
        default=None, description="Model with a larger window to switch to (`provider/id`, or an id of this provider)."
    )
