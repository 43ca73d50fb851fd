"""The exact shape of a header and of every entry that is written (engine.md §1.2, §1.3; vector sess-02).

Pure constructors. Id, parent and timestamp come from the caller as a `Stamp`; optional fields that are None are left
out, as undefined ones are on disk.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from octavo.sessions.migrate import CURRENT_VERSION
from octavo_protocol.base import JsonObject

ROOT = "root"
"""`fromId` of a branch summary that hangs under no entry."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What every entry has: its id, its parent's id (None for a root) and an ISO timestamp."""

    id: str
    parent_id: str | None
    timestamp: str


def _entry(kind: str, stamp: Stamp, /, **fields: Any) -> JsonObject:
    return {"type": kind, "id": stamp.id, "parentId": stamp.parent_id, "timestamp": stamp.timestamp, **fields}


def _given(**fields: Any) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def session_header(
    session_id: str,
    timestamp: str,
    cwd: str,
    *,
    title: str | None = None,
    title_source: str | None = None,
    parent_session: str | None = None,
) -> JsonObject:
    """Return a header of the current version; `parent_session` is an id (fork) or a path (branch, handoff)."""
    header = {"type": "session", "version": CURRENT_VERSION, "id": session_id, "timestamp": timestamp, "cwd": cwd}
    return header | _given(title=title, titleSource=title_source, parentSession=parent_session)


def message_entry(stamp: Stamp, message: JsonObject) -> JsonObject:
    """Return a `message` entry."""
    return _entry("message", stamp, message=message)


def thinking_level_entry(stamp: Stamp, level: str | None) -> JsonObject:
    """Return a `thinking_level_change`; None is written as null and means off."""
    return _entry("thinking_level_change", stamp, thinkingLevel=level)


def model_entry(stamp: Stamp, model: str, role: str | None = None) -> JsonObject:
    """Return a `model_change` to `provider/id`; no role means the default role."""
    return _entry("model_change", stamp, model=model, **_given(role=role))


def service_tier_entry(stamp: Stamp, tier: str | None) -> JsonObject:
    """Return a `service_tier_change`."""
    return _entry("service_tier_change", stamp, serviceTier=tier)


def mode_entry(stamp: Stamp, mode: str, data: JsonObject | None = None) -> JsonObject:
    """Return a `mode_change`; mode "none" leaves the mode."""
    return _entry("mode_change", stamp, mode=mode, **_given(data=data))


def session_init_entry(
    stamp: Stamp,
    system_prompt: str,
    task: str,
    tools: Sequence[str],
    *,
    output_schema: Any = None,
    spawns: Any = None,
    read_summarize: bool | None = None,
) -> JsonObject:
    """Return a `session_init`: how a sub-agent's session was started."""
    optional = _given(outputSchema=output_schema, spawns=spawns, readSummarize=read_summarize)
    return _entry("session_init", stamp, systemPrompt=system_prompt, task=task, tools=list(tools), **optional)


def compaction_entry(
    stamp: Stamp,
    *,
    summary: str,
    first_kept_entry_id: str,
    tokens_before: int,
    short_summary: str | None = None,
    details: Any = None,
    from_extension: bool | None = None,
    preserve_data: JsonObject | None = None,
) -> JsonObject:
    """Return a `compaction`; everything before `first_kept_entry_id` is what `summary` stands for."""
    return _entry(
        "compaction",
        stamp,
        summary=summary,
        **_given(shortSummary=short_summary),
        firstKeptEntryId=first_kept_entry_id,
        tokensBefore=tokens_before,
        **_given(details=details, fromExtension=from_extension, preserveData=preserve_data),
    )


def branch_summary_entry(
    stamp: Stamp, summary: str, *, details: Any = None, from_extension: bool | None = False
) -> JsonObject:
    """Return a `branch_summary`; `fromId` is where it hangs, not the leaf that was left (engine.md §2.1)."""
    return _entry(
        "branch_summary",
        stamp,
        fromId=ROOT if stamp.parent_id is None else stamp.parent_id,
        summary=summary,
        **_given(details=details, fromExtension=from_extension),
    )


def custom_entry(stamp: Stamp, custom_type: str, data: Any = None) -> JsonObject:
    """Return a `custom` entry, which never reaches a model."""
    return _entry("custom", stamp, customType=custom_type, **_given(data=data))


def custom_message_entry(
    stamp: Stamp,
    custom_type: str,
    content: str | list[JsonObject],
    *,
    display: bool,
    details: Any = None,
    attribution: str | None = None,
) -> JsonObject:
    """Return a `custom_message`, which reaches the model as a developer message."""
    optional = _given(details=details, attribution=attribution)
    return _entry("custom_message", stamp, customType=custom_type, content=content, display=display, **optional)


def tool_selection_entry(stamp: Stamp, names: Sequence[str]) -> JsonObject:
    """Return an `mcp_tool_selection`."""
    return _entry("mcp_tool_selection", stamp, selectedToolNames=list(names))


def rule_injection_entry(stamp: Stamp, rules: Sequence[str]) -> JsonObject:
    """Return a `ttsr_injection`."""
    return _entry("ttsr_injection", stamp, injectedRules=list(rules))


def label_entry(stamp: Stamp, target_id: str, label: str | None) -> JsonObject:
    """Return a `label` for `target_id`; None or an empty text clears it."""
    return _entry("label", stamp, targetId=target_id, **_given(label=label))
