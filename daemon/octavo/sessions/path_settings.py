"""The settings in effect at the end of a path: model, thinking level, tier, mode (engine.md §3.1, §3.4)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from octavo_protocol.base import JsonObject


@dataclass(slots=True)
class PathSettings:
    """What the entries of a path set; see `context.SessionContext` for the meaning of each field."""

    thinking_level: str = "off"
    models: dict[str, str] = field(default_factory=dict)
    last_model_role: str | None = None
    service_tier: Any = None
    injected_rules: list[str] = field(default_factory=list)
    selected_tools: list[str] = field(default_factory=list)
    has_tool_selection: bool = False
    mode: str = "none"
    mode_data: Any = None


_SETTING_TYPES = frozenset(
    {
        "thinking_level_change",
        "model_change",
        "service_tier_change",
        "ttsr_injection",
        "mcp_tool_selection",
        "mode_change",
    }
)


def path_settings(path: Sequence[JsonObject]) -> PathSettings:
    """Scan a path once and return what it sets; malformed entries set nothing."""
    found = PathSettings()
    for entry in path:
        if (kind := entry.get("type")) in _SETTING_TYPES:
            _apply(kind, entry, found)
    if "default" not in found.models and (inferred := _last_used_model(path)):
        found.models["default"] = inferred
    return found


def _apply(kind: str, entry: JsonObject, found: PathSettings) -> None:
    if kind == "thinking_level_change":
        level = entry.get("thinkingLevel")
        found.thinking_level = level if isinstance(level, str) else "off"
    elif kind == "model_change":
        if isinstance(model := entry.get("model"), str) and model:
            role = entry.get("role")
            found.last_model_role = role if isinstance(role, str) else "default"
            found.models[found.last_model_role] = model
    elif kind == "service_tier_change":
        found.service_tier = entry.get("serviceTier")
    elif kind == "ttsr_injection":
        found.injected_rules = list(dict.fromkeys([*found.injected_rules, *_strings(entry.get("injectedRules"))]))
    elif kind == "mcp_tool_selection":
        found.selected_tools = _strings(entry.get("selectedToolNames"))
        found.has_tool_selection = True
    else:
        mode = entry.get("mode")
        found.mode = mode if isinstance(mode, str) else "none"
        found.mode_data = entry.get("data")


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _last_used_model(path: Sequence[JsonObject]) -> str | None:
    for entry in reversed(path):
        message = entry.get("message")
        if entry.get("type") == "message" and isinstance(message, dict) and message.get("role") == "assistant":
            provider, model = message.get("provider"), message.get("model")
            if isinstance(provider, str) and isinstance(model, str):
                return f"{provider}/{model}"
    return None


def restorable_models(models: dict[str, str], last_role: str | None) -> list[str]:
    """Return the models to try when a session is resumed, best first (engine.md §3.4, getRestorableSessionModels)."""
    default = [models["default"]] if models.get("default") else []
    if last_role is None or last_role in {"default", "fallback"}:
        return default
    chosen = models.get(last_role)
    if not chosen:
        return default
    return [chosen, *(model for model in default if model != chosen)]
