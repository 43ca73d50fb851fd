"""Typed views of messages: what a field of a stored message means, for readers and for the published schema.

Messages are never validated against these: a stored message may lack fields, have others, or have a role nobody here
knows (engine.md §3.2). Code that reads one tolerates all of that.
"""

from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

Text: TypeAlias = Annotated[str, Field(description="Text.")]
Timestamp: TypeAlias = Annotated[int, Field(description="Milliseconds since 1970, UTC.")]
Attribution: TypeAlias = Annotated[Literal["user", "agent"], Field(description="Who speaks.")]


class TextBlock(TypedDict):
    """Text."""

    type: Annotated[Literal["text"], Field(description="Kind of block.")]
    text: Text
    textSignature: NotRequired[Annotated[str, Field(description="Provider's id or signature of the text.")]]


class ImageBlock(TypedDict):
    """An image."""

    type: Annotated[Literal["image"], Field(description="Kind of block.")]
    data: Annotated[str, Field(description="Base64, or `blob:sha256:<hex>` on disk.")]
    mimeType: Annotated[str, Field(description="Media type.")]
    detail: NotRequired[Annotated[str, Field(description="Detail hint for the provider.")]]


class ThinkingBlock(TypedDict):
    """Reasoning a model showed."""

    type: Annotated[Literal["thinking"], Field(description="Kind of block.")]
    thinking: Text
    thinkingSignature: NotRequired[Annotated[str, Field(description="Provider's signature; kept whole or cleared.")]]


class RedactedThinkingBlock(TypedDict):
    """Reasoning a provider hid."""

    type: Annotated[Literal["redactedThinking"], Field(description="Kind of block.")]
    data: Annotated[str, Field(description="Opaque data for the provider.")]


class ToolCallBlock(TypedDict):
    """A call of a tool."""

    type: Annotated[Literal["toolCall"], Field(description="Kind of block.")]
    id: Annotated[str, Field(description="Id its result names.")]
    name: Annotated[str, Field(description="Tool.")]
    arguments: Annotated[dict[str, Any], Field(description="Arguments by name.")]
    customWireName: NotRequired[Annotated[str, Field(description="Name on the provider's wire, if another.")]]


UserContent: TypeAlias = Annotated[
    str | list[TextBlock | ImageBlock], Field(description="A string, or blocks of text and images.")
]
ContentBlock: TypeAlias = TextBlock | ImageBlock | ThinkingBlock | RedactedThinkingBlock | ToolCallBlock


class Cost(TypedDict, total=False):
    """US dollars of a model call."""

    input: Annotated[float, Field(description="Uncached input.")]
    output: Annotated[float, Field(description="Output.")]
    cacheRead: Annotated[float, Field(description="Input read from the cache.")]
    cacheWrite: Annotated[float, Field(description="Input written to the cache.")]
    total: Annotated[float, Field(description="Sum.")]


class Usage(TypedDict, total=False):
    """Tokens of a model call, as the provider reported them."""

    input: Annotated[int, Field(description="Uncached input.")]
    output: Annotated[int, Field(description="Output, reasoning included.")]
    cacheRead: Annotated[int, Field(description="Input read from the cache.")]
    cacheWrite: Annotated[int, Field(description="Input written to the cache.")]
    totalTokens: Annotated[int, Field(description="Sum; wins over the parts when not zero.")]
    cost: Annotated[Cost, Field(description="US dollars.")]


class UserMessage(TypedDict):
    """What the user said."""

    role: Annotated[Literal["user"], Field(description="Role.")]
    content: UserContent
    timestamp: NotRequired[Timestamp]
    attribution: NotRequired[Attribution]
    steering: NotRequired[Annotated[bool, Field(description="Whether it was typed while the agent was running.")]]


class DeveloperMessage(TypedDict):
    """What the host told the model."""

    role: Annotated[Literal["developer"], Field(description="Role.")]
    content: UserContent
    timestamp: NotRequired[Timestamp]
    attribution: NotRequired[Attribution]


class AssistantMessage(TypedDict):
    """What the model answered."""

    role: Annotated[Literal["assistant"], Field(description="Role.")]
    content: Annotated[
        list[TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolCallBlock],
        Field(description="Text, reasoning and tool calls in the order they came."),
    ]
    api: NotRequired[Annotated[str, Field(description="Wire that was spoken.")]]
    provider: NotRequired[Annotated[str, Field(description="Provider.")]]
    model: NotRequired[Annotated[str, Field(description="Model id.")]]
    usage: NotRequired[Annotated[Usage, Field(description="Tokens.")]]
    stopReason: NotRequired[
        Annotated[Literal["stop", "length", "toolUse", "error", "aborted"], Field(description="Why it stopped.")]
    ]
    errorMessage: NotRequired[Annotated[str, Field(description="Provider's text, for `error`.")]]
    errorStatus: NotRequired[Annotated[int, Field(description="HTTP status, for `error`.")]]
    stopDetails: NotRequired[Annotated[dict[str, Any], Field(description="Further facts about why it stopped.")]]
    providerPayload: NotRequired[Annotated[dict[str, Any], Field(description="Native history for the same provider.")]]
    timestamp: NotRequired[Timestamp]


class ToolResultMessage(TypedDict):
    """What a tool answered."""

    role: Annotated[Literal["toolResult"], Field(description="Role.")]
    toolCallId: Annotated[str, Field(description="Call it answers.")]
    toolName: Annotated[str, Field(description="Tool.")]
    content: Annotated[list[TextBlock | ImageBlock], Field(description="What the model reads.")]
    isError: NotRequired[Annotated[bool, Field(description="Whether the tool failed.")]]
    details: NotRequired[Annotated[Any, Field(description="Data for the host; never sent to a model.")]]
    useless: NotRequired[Annotated[bool, Field(description="Whether nothing would be lost without it.")]]
    prunedAt: NotRequired[Annotated[int, Field(description="When its content was blanked, in ms since 1970.")]]
    timestamp: NotRequired[Timestamp]
    attribution: NotRequired[Attribution]


class BashExecutionMessage(TypedDict):
    """A command the user ran."""

    role: Annotated[Literal["bashExecution"], Field(description="Role.")]
    command: Annotated[str, Field(description="Command line.")]
    output: Annotated[str, Field(description="What it printed.")]
    exitCode: NotRequired[Annotated[int | None, Field(description="Exit code, if it ended.")]]
    cancelled: NotRequired[Annotated[bool, Field(description="Whether it was stopped.")]]
    truncated: NotRequired[Annotated[bool, Field(description="Whether the output was cut.")]]
    meta: NotRequired[Annotated[dict[str, Any], Field(description="Facts about cuts and limits.")]]
    excludeFromContext: NotRequired[Annotated[bool, Field(description="Whether the model never sees it.")]]
    timestamp: NotRequired[Timestamp]


class PythonExecutionMessage(TypedDict):
    """Python the user ran."""

    role: Annotated[Literal["pythonExecution"], Field(description="Role.")]
    code: Annotated[str, Field(description="Source.")]
    output: Annotated[str, Field(description="What it printed.")]
    exitCode: NotRequired[Annotated[int | None, Field(description="Exit code, if it ended.")]]
    cancelled: NotRequired[Annotated[bool, Field(description="Whether it was stopped.")]]
    truncated: NotRequired[Annotated[bool, Field(description="Whether the output was cut.")]]
    meta: NotRequired[Annotated[dict[str, Any], Field(description="Facts about cuts and limits.")]]
    excludeFromContext: NotRequired[Annotated[bool, Field(description="Whether the model never sees it.")]]
    timestamp: NotRequired[Timestamp]


class CustomMessage(TypedDict):
    """What an extension put into the talk; models read it as developer."""

    role: Annotated[Literal["custom", "hookMessage"], Field(description="Role; `hookMessage` is the old name.")]
    customType: Annotated[str, Field(description="Kind, by the extension's choice.")]
    content: UserContent
    display: NotRequired[Annotated[bool, Field(description="Whether a transcript shows it.")]]
    details: NotRequired[Annotated[Any, Field(description="Data for the extension.")]]
    attribution: NotRequired[Attribution]
    timestamp: NotRequired[Timestamp]


class BranchSummaryMessage(TypedDict):
    """Summary of a branch that was left, as built into a context."""

    role: Annotated[Literal["branchSummary"], Field(description="Role.")]
    summary: Text
    fromId: Annotated[str, Field(description="Entry the summary hangs at, or `root`.")]
    timestamp: NotRequired[Timestamp]


class CompactionSummaryMessage(TypedDict):
    """Summary of compacted history, as built into a context."""

    role: Annotated[Literal["compactionSummary"], Field(description="Role.")]
    summary: Text
    tokensBefore: Annotated[int, Field(description="Tokens of the context before.")]
    shortSummary: NotRequired[Annotated[str, Field(description="Two or three sentences.")]]
    images: NotRequired[Annotated[list[ImageBlock], Field(description="Frames of archived history.")]]
    providerPayload: NotRequired[Annotated[dict[str, Any], Field(description="Native history for the same provider.")]]
    timestamp: NotRequired[Timestamp]


class MentionedFile(TypedDict):
    """A file the user mentioned."""

    path: Annotated[str, Field(description="Path.")]
    content: Annotated[str, Field(description="Its text.")]
    lineCount: NotRequired[Annotated[int, Field(description="Lines.")]]
    byteSize: NotRequired[Annotated[int, Field(description="Bytes.")]]
    skippedReason: NotRequired[Annotated[str, Field(description="Why the text is not here.")]]
    image: NotRequired[Annotated[ImageBlock, Field(description="The file, when it is an image.")]]


class FileMentionMessage(TypedDict):
    """Files the user mentioned."""

    role: Annotated[Literal["fileMention"], Field(description="Role.")]
    files: Annotated[list[MentionedFile], Field(description="The files.")]
    timestamp: NotRequired[Timestamp]


Message: TypeAlias = (
    UserMessage
    | DeveloperMessage
    | AssistantMessage
    | ToolResultMessage
    | BashExecutionMessage
    | PythonExecutionMessage
    | CustomMessage
    | BranchSummaryMessage
    | CompactionSummaryMessage
    | FileMentionMessage
)
"""A message of a session. LLM messages are those with role user, developer, assistant or toolResult."""
