"""Params and results of what changes a session from the host's side: append, set, say, and read artifacts back."""

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from octavo_protocol.base import JsonObject, MessageObject, Reply
from octavo_protocol.methods.common import SessionParams
from octavo_protocol.methods.session import HostContext

_HEADER_TYPES = frozenset({"session", "title"})


def _has_role(message: JsonObject) -> JsonObject:
    role = message.get("role")
    if not (isinstance(role, str) and role):
        raise ValueError("a message needs a string `role`")
    return message


def _has_type(entry: JsonObject) -> JsonObject:
    kind = entry.get("type")
    if not (isinstance(kind, str) and kind):
        raise ValueError("an entry needs a string `type`")
    if kind in _HEADER_TYPES:
        raise ValueError("a header is no entry; use session/rename or session/move")
    return entry


class AppendParams(SessionParams):
    """Params of `session/append`: exactly one of `messages` and `entries`."""

    messages: list[Annotated[MessageObject, AfterValidator(_has_role)]] | None = Field(
        default=None, min_length=1, description="Messages, each stored as one entry of type `message`."
    )
    entries: list[Annotated[JsonObject, AfterValidator(_has_type)]] | None = Field(
        default=None,
        min_length=1,
        description="Entries of any type; `id`, `parentId` and `timestamp` are filled in where absent.",
    )
    parent_id: str | None = Field(
        default=None, description="Entry to hang them under: absent means the leaf, null means a new root."
    )
    expected_leaf_id: str | None = Field(
        default=None, description="Refuse with `content-modified` when the leaf is another; null expects an empty tree."
    )
    ids: list[str] | None = Field(
        default=None, description="Ids for the new entries, one each; repeating one that exists is a no-op."
    )

    @model_validator(mode="after")
    def _one_list_with_as_many_ids(self) -> "AppendParams":
        if (self.messages is None) == (self.entries is None):
            raise ValueError("give exactly one of `messages` and `entries`")
        if self.ids is not None and len(self.ids) != len(self.messages or self.entries or ()):
            raise ValueError("`ids` needs one id for every message or entry")
        return self

    @property
    def parent_given(self) -> bool:
        """Whether `parentId` was sent, be it null."""
        return "parent_id" in self.model_fields_set

    @property
    def leaf_expected(self) -> bool:
        """Whether `expectedLeafId` was sent, be it null."""
        return "expected_leaf_id" in self.model_fields_set


class AppendResult(Reply):
    """Result of `session/append`: everything named here is durable."""

    entry_ids: list[str] = Field(description="Ids in the order given.")
    repeated_ids: list[str] = Field(default_factory=list, description="Those that were there before and left alone.")
    leaf_id: str = Field(description="Leaf now.")
    seq: int = Field(description="Number of the change.")


class SetModelParams(SessionParams):
    """Params of `session/setModel`."""

    model: str = Field(description="`provider/id`.")
    role: str | None = Field(default=None, description="Role it serves; absent means the default.")


class SetThinkingLevelParams(SessionParams):
    """Params of `session/setThinkingLevel`."""

    thinking_level: str | None = Field(description="Reasoning effort; null or `off` means none.")


class SetLabelParams(SessionParams):
    """Params of `session/setLabel`."""

    target_id: str = Field(description="Entry to label.")
    label: str | None = Field(default=None, description="The label; empty or absent removes it.")


class EntryResult(Reply):
    """Result of a request that appended one entry."""

    entry_id: str = Field(description="The new entry.")
    leaf_id: str = Field(description="Leaf now.")
    seq: int = Field(description="Number of the change.")


class SetBusyParams(SessionParams):
    """Params of `session/setBusy`."""

    busy: bool = Field(description="True when the host's agent loop starts, false when it has ended.")
    turn_id: str | None = Field(default=None, description="Host's name for the turn, for its own correlation.")


class SetBusyResult(Reply):
    """Result of `session/setBusy`."""

    busy: bool = Field(description="State now.")
    was_busy: bool = Field(description="State before.")


class SetHostContextParams(SessionParams, HostContext):
    """Params of `session/setHostContext`; absent fields stay as they are."""


class SetHostContextResult(Reply):
    """Result of `session/setHostContext`."""

    system_tokens: int = Field(description="Estimated tokens of the system prompt now known.")
    tool_tokens: int = Field(description="Estimated tokens of the tools now known.")


class ReadArtifactParams(SessionParams):
    """Params of `session/readArtifact`."""

    artifact_id: str = Field(description="Id as it stands in `artifact://<id>`.")
    offset: int = Field(default=0, ge=0, description="First byte.")
    limit: int = Field(default=1_000_000, ge=1, description="Largest number of bytes to answer.")


class ReadArtifactResult(Reply):
    """Result of `session/readArtifact`."""

    artifact_id: str = Field(description="The artifact.")
    content: str = Field(description="Text from `offset`, cut at a character boundary.")
    size_bytes: int = Field(description="Size of the whole artifact.")
    next_offset: int | None = Field(default=None, description="Where to go on; absent at the end.")
