"""Typed views of session entries: what a field of a stored entry means, for readers and for the published schema.

Entries are never validated against these: a stored entry may lack fields, have others, or have a type nobody here
knows (engine.md §1.3). Code that reads one tolerates all of that, and what it does not know survives.
"""

from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from octavo_protocol.messages import Attribution, ImageBlock, Message, TextBlock

Details: TypeAlias = Annotated[Any, Field(description="Data beside the text, such as `{readFiles, modifiedFiles}`.")]
FromExtension: TypeAlias = Annotated[bool, Field(description="Whether an extension supplied it.")]


class SessionHeader(TypedDict):
    """First line of a session file; not an entry."""

    type: Annotated[Literal["session"], Field(description="Kind of line.")]
    version: NotRequired[Annotated[int, Field(description="Version of the entries; absent means 1.")]]
    id: Annotated[str, Field(description="Session id.")]
    timestamp: Annotated[str, Field(description="Creation, ISO 8601.")]
    cwd: Annotated[str, Field(description="Working directory.")]
    title: NotRequired[Annotated[str, Field(description="Title.")]]
    titleSource: NotRequired[Annotated[Literal["auto", "user"], Field(description="Who chose the title.")]]
    parentSession: NotRequired[Annotated[str, Field(description="Id or path of the session it came from.")]]


class EntryBase(TypedDict):
    """What every entry has."""

    id: Annotated[str, Field(description="Id within the session.")]
    parentId: Annotated[str | None, Field(description="Entry before it; null for a root.")]
    timestamp: Annotated[str, Field(description="When it was appended, ISO 8601.")]


class MessageEntry(EntryBase):
    """A message of the talk."""

    type: Annotated[Literal["message"], Field(description="Kind of entry.")]
    message: Annotated[Message, Field(description="The message.")]


class ThinkingLevelChangeEntry(EntryBase):
    """The reasoning effort from here on."""

    type: Annotated[Literal["thinking_level_change"], Field(description="Kind of entry.")]
    thinkingLevel: Annotated[str | None, Field(description="Effort; null means off.")]


class ModelChangeEntry(EntryBase):
    """The model from here on."""

    type: Annotated[Literal["model_change"], Field(description="Kind of entry.")]
    model: Annotated[str, Field(description="`provider/id`.")]
    role: NotRequired[Annotated[str, Field(description="Role it serves; absent means `default`.")]]


class ServiceTierChangeEntry(EntryBase):
    """The service tier from here on."""

    type: Annotated[Literal["service_tier_change"], Field(description="Kind of entry.")]
    serviceTier: Annotated[str | None, Field(description="Tier; null means the provider's usual one.")]


class CompactionEntry(EntryBase):
    """History before `firstKeptEntryId` is replaced by a summary."""

    type: Annotated[Literal["compaction"], Field(description="Kind of entry.")]
    summary: Annotated[str, Field(description="What the model reads instead.")]
    shortSummary: NotRequired[Annotated[str, Field(description="Two or three sentences for lists and dividers.")]]
    firstKeptEntryId: Annotated[str, Field(description="First entry that stays verbatim.")]
    tokensBefore: Annotated[int, Field(description="Tokens of the context before.")]
    details: NotRequired[Details]
    preserveData: NotRequired[
        Annotated[dict[str, Any], Field(description="Data carried on by later compactions: frames, native history.")]
    ]
    fromExtension: NotRequired[FromExtension]


class BranchSummaryEntry(EntryBase):
    """What was left behind when the session went to another branch."""

    type: Annotated[Literal["branch_summary"], Field(description="Kind of entry.")]
    fromId: Annotated[str, Field(description="Entry it hangs at, or `root`.")]
    summary: Annotated[str, Field(description="What the model reads.")]
    details: NotRequired[Details]
    fromExtension: NotRequired[FromExtension]


class CustomEntry(EntryBase):
    """An extension's own record; no model sees it."""

    type: Annotated[Literal["custom"], Field(description="Kind of entry.")]
    customType: Annotated[str, Field(description="Kind, by the extension's choice.")]
    data: NotRequired[Annotated[Any, Field(description="The record.")]]


class CustomMessageEntry(EntryBase):
    """What an extension put into the talk."""

    type: Annotated[Literal["custom_message"], Field(description="Kind of entry.")]
    customType: Annotated[str, Field(description="Kind, by the extension's choice.")]
    content: Annotated[str | list[TextBlock | ImageBlock], Field(description="What the model reads.")]
    display: Annotated[bool, Field(description="Whether a transcript shows it.")]
    details: NotRequired[Details]
    attribution: NotRequired[Attribution]


class LabelEntry(EntryBase):
    """A label for another entry."""

    type: Annotated[Literal["label"], Field(description="Kind of entry.")]
    targetId: Annotated[str, Field(description="Entry that is labelled.")]
    label: NotRequired[Annotated[str, Field(description="The label; empty or absent removes it.")]]


class TtsrInjectionEntry(EntryBase):
    """Rules that were injected into the talk."""

    type: Annotated[Literal["ttsr_injection"], Field(description="Kind of entry.")]
    injectedRules: Annotated[list[str], Field(description="Names of the rules.")]


class McpToolSelectionEntry(EntryBase):
    """The tools that are offered from here on."""

    type: Annotated[Literal["mcp_tool_selection"], Field(description="Kind of entry.")]
    selectedToolNames: Annotated[list[str], Field(description="Names of the tools.")]


class SessionInitEntry(EntryBase):
    """How a sub-agent's session was started."""

    type: Annotated[Literal["session_init"], Field(description="Kind of entry.")]
    systemPrompt: Annotated[str, Field(description="System prompt.")]
    task: Annotated[str, Field(description="Task.")]
    tools: Annotated[list[str], Field(description="Names of the tools.")]
    outputSchema: NotRequired[Annotated[Any, Field(description="JSON schema of the answer.")]]
    spawns: NotRequired[Annotated[str, Field(description="Agents it may start.")]]
    readSummarize: NotRequired[Annotated[bool, Field(description="Whether its reads are summarised.")]]


class ModeChangeEntry(EntryBase):
    """The mode from here on."""

    type: Annotated[Literal["mode_change"], Field(description="Kind of entry.")]
    mode: Annotated[str, Field(description="Mode; `none` leaves it.")]
    data: NotRequired[Annotated[Any, Field(description="Data of the mode.")]]


Entry: TypeAlias = (
    MessageEntry
    | ThinkingLevelChangeEntry
    | ModelChangeEntry
    | ServiceTierChangeEntry
    | CompactionEntry
    | BranchSummaryEntry
    | CustomEntry
    | CustomMessageEntry
    | LabelEntry
    | TtsrInjectionEntry
    | McpToolSelectionEntry
    | SessionInitEntry
    | ModeChangeEntry
)
"""An entry of a session; files may hold others."""
