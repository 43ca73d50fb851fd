"""The models one daemon knows: the catalogue, the settings, and what clients registered; and how each is reached.

Adds to `tokens.models` what is the daemon's: registrations that outlive their client, and the addresses of
`settings.providers`. Calls nobody.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model
from octavo_protocol.model_info import ModelInfo
from octavo_protocol.settings import Settings

if TYPE_CHECKING:
    from octavo.server.daemon import Daemon
    from octavo.tokens.models import KnownModel, ModelRegistry

Source = Literal["builtin", "settings", "registered"]


class ModelBook:
    """A service; see the module."""

    def __init__(self, _daemon: "Daemon | None" = None) -> None:
        self._registered: dict[str, ModelInfo] = {}
        self.revision = 0
        """Counts up with every registration."""

    def register(self, infos: Iterable[ModelInfo]) -> list[str]:
        """Add models or replace what is known of them; returns their `provider/id`."""
        added = {f"{info.provider}/{info.id}": info for info in infos}
        self._registered.update(added)
        self.revision += 1
        return list(added)

    def find(self, ref: str, settings: Settings, *, provider: str | None = None) -> "KnownModel | None":
        """The model of `provider/id` (or of a bare id within `provider`), known or not; None when there is no such."""
        known = self._registry(settings).resolve_ref(ref, provider)
        return None if known is None else self._reached(known, settings)

    def all(self, settings: Settings) -> "list[KnownModel]":
        """Every model, sorted by `provider/id`."""
        return [self._reached(known, settings) for known in self._registry(settings).known()]

    def source(self, ref: str, settings: Settings) -> Source:
        """Who told the daemon about a model."""
        if ref in self._registered:
            return "registered"
        return "settings" if any(f"{info.provider}/{info.id}" == ref for info in settings.models) else "builtin"

    def _registry(self, settings: Settings) -> "ModelRegistry":
        from octavo.tokens.models import ModelRegistry  # noqa: PLC0415 - keeps start-up short

        registry = ModelRegistry(settings.models)
        registry.register(self._registered.values())
        return registry

    def _reached(self, known: "KnownModel", settings: Settings) -> "KnownModel":
        """Lay the provider's address over a model that has none, and its wire unless the model's own was declared."""
        model = known.model
        provider = settings.providers.get(model.provider)
        if provider is None:
            return known
        changes: JsonObject = {}
        if model.base_url is None and provider.base_url:
            changes["base_url"] = provider.base_url
        if provider.api and not self._declares_api(model, settings):
            changes["api"] = provider.api
        return replace(known, model=replace(model, **changes)) if changes else known

    def _declares_api(self, model: Model, settings: Settings) -> bool:
        infos = [info for info in settings.models if (info.provider, info.id) == (model.provider, model.id)]
        if model.ref in self._registered:
            infos.append(self._registered[model.ref])
        return any("api" in info.model_fields_set and info.api for info in infos)
