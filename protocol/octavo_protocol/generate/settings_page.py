"""The settings reference (`docs/settings.md`): every key with what it allows, its default and its variable."""

import json
from importlib import resources
from typing import Any

from pydantic import BaseModel

from octavo_protocol.generate.reference import rows_table
from octavo_protocol.layering import Setting, allowed, settings_of
from octavo_protocol.settings import ProviderSettings, Settings


def page() -> str:
    """Return the whole page."""
    intro = (resources.files(__package__) / "settings_intro.md").read_text(encoding="utf-8").rstrip()
    parts = [intro]
    groups: dict[str, list[Setting]] = {}
    for setting in settings_of(Settings):
        groups.setdefault(setting.path[0] if len(setting.path) > 1 else "", []).append(setting)
    for name, rows in groups.items():
        doc = f"{Settings.model_fields[_attribute(name)].annotation.__doc__}\n\n" if name else ""
        parts.append(f"## {name or 'General'}\n\n{doc}{_table(rows)}")
    parts.append(f"## A provider\n\n{ProviderSettings.__doc__}\n\n{_table(list(settings_of(ProviderSettings)))}")
    return "\n\n".join(parts) + "\n"


def _table(rows: list[Setting]) -> str:
    return rows_table(
        ("key", "allowed", "default", "meaning"),
        [
            (
                f"`{row.key}`",
                _cell(allowed(row.annotation, row.field)),
                _default(row),
                _cell(row.field.description or ""),
            )
            for row in rows
        ],
    )


def _default(row: Setting) -> str:
    value: Any = row.field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, BaseModel) or value is None:
        return "unset"
    return f"`{json.dumps(value)}`"


def _attribute(alias: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in alias)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
