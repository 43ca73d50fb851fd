"""Which model is meant, how large its window is, and who said so.

Looks ids up in layers: what a client registered wins over the settings, those over the built-in catalogue, field by
field. Holds no credentials and calls nobody. BR-055: the window a client declares is the one that counts.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, TypeAlias

from octavo.tokens.catalogue import CATALOGUE, PROVIDER_APIS, CatalogueRow
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model
from octavo_protocol.model_info import ModelInfo

WindowSource: TypeAlias = Literal["client", "settings", "catalogue", "unknown"]
"""Who said how large the window is."""

_DATE = re.compile(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d|\d{4})(?=$|[-:])")
_TAIL = re.compile(r"(?:-latest|-preview(?:-\d\d-\d\d)?|-exp|-v\d+(?::\d+)?|:[a-z0-9.-]+)$")
_FIELDS = ("api", "context_window", "max_output", "reasoning", "base_url")


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A resolved model, the source of its window, and the model to promote to when its window is too small."""

    model: Model
    window_source: WindowSource
    promotion_target: str | None = None


class ModelRegistry:
    """Everything known about models in one daemon: the catalogue, the settings, and what clients registered."""

    def __init__(self, from_settings: Iterable[ModelInfo] = ()) -> None:
        self._settings = _by_ref(from_settings)
        self._registered: dict[str, ModelInfo] = {}

    def configure(self, from_settings: Iterable[ModelInfo]) -> None:
        """Replace what the settings say."""
        self._settings = _by_ref(from_settings)

    def register(self, infos: Iterable[ModelInfo]) -> None:
        """Add what a client declares; a later declaration of the same model replaces the earlier one."""
        self._registered.update(_by_ref(infos))

    def resolve(self, provider: str, model_id: str) -> KnownModel:
        """Return the model, known or not: an unknown one has window 0 and takes text only."""
        found = _from_catalogue(provider, model_id)
        ref = f"{provider}/{model_id}"
        for source, layer in (("settings", self._settings), ("client", self._registered)):
            if ref in layer:
                found = _overlaid(found, layer[ref], "settings" if source == "settings" else "client")
        return found

    def resolve_ref(self, ref: str, provider: str | None = None) -> KnownModel | None:
        """Return the model of `provider/id`, or of a bare id within `provider`; None when the text names none.

        Ids may hold slashes themselves: only the first one divides, and a reference whose head is no provider we know
        of stays an id of `provider` when that is given.
        """
        head, slash, tail = ref.partition("/")
        if slash and head and tail and (provider is None or self._knows_provider(head)):
            return self.resolve(head, tail)
        return self.resolve(provider, ref) if provider and ref else None

    def known(self) -> list[KnownModel]:
        """Return every model of the settings, the clients and the catalogue (under its vendor), sorted by reference."""
        refs = {f"{row.vendor}/{row.id}": (row.vendor, row.id) for row in CATALOGUE}
        for info in [*self._settings.values(), *self._registered.values()]:
            refs[f"{info.provider}/{info.id}"] = (info.provider, info.id)
        return [self.resolve(*refs[ref]) for ref in sorted(refs)]

    def _knows_provider(self, name: str) -> bool:
        declared = (info.provider for layer in (self._settings, self._registered) for info in layer.values())
        return name in PROVIDER_APIS or name in declared


def resolve_model(provider: str, model_id: str, overrides: Iterable[ModelInfo] = ()) -> Model:
    """Return the model with overrides applied; shorthand where no registry is at hand."""
    registry = ModelRegistry()
    registry.register(overrides)
    return registry.resolve(provider, model_id).model


def _by_ref(infos: Iterable[ModelInfo]) -> dict[str, ModelInfo]:
    return {f"{info.provider}/{info.id}": info for info in infos}


def _overlaid(known: KnownModel, info: ModelInfo, source: WindowSource) -> KnownModel:
    """Lay the fields that were really given over what is known; a window of 0 says nothing."""
    given = info.model_fields_set
    changes: dict[str, Any] = {name: getattr(info, name) for name in _FIELDS if name in given}
    if not changes.get("context_window"):
        changes.pop("context_window", None)
    if "inputs" in given:
        changes["inputs"] = tuple(info.inputs)
    if info.prices is not None:
        changes["prices"] = info.prices.to_wire()
    return KnownModel(
        replace(known.model, **changes),
        source if "context_window" in changes else known.window_source,
        info.context_promotion_target or known.promotion_target,
    )


def _from_catalogue(provider: str, model_id: str) -> KnownModel:
    api = PROVIDER_APIS.get(provider, "")
    row, is_exact = _row(model_id)
    if row is None:
        return KnownModel(Model(provider, model_id, api), "unknown")
    prices = _prices(row) if is_exact and provider == row.vendor else {}
    inputs = ("text", "image") if row.images else ("text",)
    model = Model(provider, model_id, api, row.window, row.output, inputs, row.reasoning, None, prices)
    return KnownModel(model, "catalogue")


def _prices(row: CatalogueRow) -> JsonObject:
    if row.prices is None:
        return {}
    return dict(zip(("input", "output", "cacheRead", "cacheWrite"), row.prices, strict=True))


def _row(model_id: str) -> tuple[CatalogueRow | None, bool]:
    """Return the row of an id and whether it is that very model, not only one of its family."""
    name = _plain(model_id)
    rows = _rows()
    if name in rows:
        return rows[name], True
    family = max((known for known in rows if name.startswith(f"{known}-")), key=len, default=None)
    return (None, False) if family is None else (rows[family], False)


@cache
def _rows() -> Mapping[str, CatalogueRow]:
    return {row.id: row for row in CATALOGUE}


def _plain(model_id: str) -> str:
    """Return the id without a gateway's vendor prefix, region, date, version or variant."""
    name = model_id.lower().rsplit("/", 1)[-1]
    name = re.sub(r"^(?:[a-z]+\.)*anthropic\.", "", name)
    name = re.sub(r"(?<=\d)\.(?=\d)", "-", name) if name.startswith("claude") else name
    previous = ""
    while name != previous:
        previous = name
        name = _TAIL.sub("", _DATE.sub("", name))
    return name
