"""Params and results of a session's life: create, open, list, close, delete, rename, move, fork, import, export.

Appending to it is in `append`, reading and navigating its tree in `tree`.
"""

from typing import Literal, TypeAlias

from pydantic import Field, model_validator

from octavo_protocol.base import JsonObject, Reply, Wire
from octavo_protocol.methods.common import Page, SessionParams, TokenUsage, WorkDone

Mode: TypeAlias = Literal["write", "read"]
Status: TypeAlias = Literal["complete", "interrupted", "aborted", "error", "pending", "unknown"]
ExportFormat: TypeAlias = Literal["pi", "anthropic", "openai-chat", "openai-responses", "google", "markdown", "html"]


class HostContext(Wire):
    """What the host adds to every model call, so that usage, prompts and handoffs can be measured and made."""

    system_prompt: str | list[str] | None = Field(default=None, description="System prompt, whole or in parts.")
    tools: list[JsonObject] | None = Field(
        default=None, description="Tools offered to the model: `{name, description, parameters}` with a JSON schema."
    )
    plan_files: list[str] | None = Field(
        default=None, description="Paths whose reads are never pruned or shaken, such as the active plan."
    )


class CreateParams(HostContext):
    """Params of `session/create`."""

    cwd: str = Field(description="Working directory of the session, absolute.")
    title: str | None = Field(default=None, description="Title; counts as chosen by the user.")
    model: str | None = Field(default=None, description="`provider/id`, written as the first model change.")
    thinking_level: str | None = Field(default=None, description="Reasoning effort, written as the first change.")
    parent_session: str | None = Field(default=None, description="Id or path of the session this one continues.")
    path: str | None = Field(
        default=None, description="File to create, absolute or relative to `cwd`; absent means its sessions folder."
    )
    ephemeral: bool = Field(default=False, description="Keep the session in memory only.")


class OpenParams(HostContext):
    """Params of `session/open`: exactly one of `sessionId` and `path`."""

    session_id: str | None = Field(
        default=None, description="Id or unambiguous prefix of an id or file name, searched in the sessions folder."
    )
    path: str | None = Field(default=None, description="File to open, absolute or relative to `cwd`.")
    cwd: str | None = Field(default=None, description="Directory whose sessions are searched first.")
    mode: Mode = Field(
        default="write", description="`write` takes the file's lease; `read` follows it beside another writer."
    )

    @model_validator(mode="after")
    def _one_name(self) -> "OpenParams":
        if (self.session_id is None) == (self.path is None):
            raise ValueError("give exactly one of `sessionId` and `path`")
        return self


class SessionInfo(Reply):
    """What there is to know about an open session without its entries."""

    session_id: str = Field(description="The session's own id.")
    path: str | None = Field(default=None, description="Its file; absent for an ephemeral session.")
    cwd: str = Field(description="Working directory the session belongs to.")
    title: str | None = Field(default=None, description="Title, if one was set.")
    title_source: Literal["auto", "user"] | None = Field(default=None, description="Who chose the title.")
    parent_session: str | None = Field(default=None, description="Id or path of the session it came from.")
    created_at: str | None = Field(default=None, description="Header timestamp, ISO 8601.")
    format: str = Field(description="Format of the file: `pi`, or the foreign format it was read from.")
    version: int = Field(description="Version of the entries as they are held now.")
    mode: Mode = Field(description="Whether this connection may change it.")
    entry_count: int = Field(description="Entries in the whole tree.")
    message_count: int = Field(description="Entries of type `message` in the whole tree.")
    leaf_id: str | None = Field(default=None, description="Where the next entry goes; absent means a new root.")
    seq: int = Field(description="Number of the last change; `session/didChange` counts on from here.")
    epoch: str = Field(description="Identifies the numbering of `seq`; it changes when the daemon opens the file anew.")
    model: str | None = Field(default=None, description="`provider/id` in force on the branch.")
    thinking_level: str | None = Field(default=None, description="Reasoning effort in force on the branch.")
    busy: bool = Field(default=False, description="Whether the host said its agent loop is running.")
    compacting: bool = Field(default=False, description="Whether a compaction, handoff or branch summary is running.")
    held_operations: list[str] = Field(default_factory=list, description="Operation ids of results held for preview.")
    size_bytes: int | None = Field(default=None, description="Size of the file; absent for an ephemeral session.")
    artifacts_dir: str | None = Field(default=None, description="Folder of the session's side files.")
    usage: TokenUsage = Field(default_factory=TokenUsage, description="Tokens and cost over the whole tree.")


class Damage(Reply):
    """One stretch of a file that could not be read as an entry."""

    line: int = Field(description="Line number in the file, from 1.")
    offset: int = Field(description="First byte of the stretch.")
    length: int = Field(description="Bytes.")
    reason: str = Field(description="What is wrong with it.")


class Recovered(Reply):
    """What opening had to do beyond reading."""

    migrated_from: int | None = Field(default=None, description="Version on disk, when it was older than the current.")
    damage: list[Damage] = Field(default_factory=list, description="Stretches that were skipped.")
    backup_path: str | None = Field(default=None, description="Where damaged bytes were (or will be) kept.")
    restored_backup: str | None = Field(default=None, description="Orphaned backup that was renamed back.")
    rewrite_pending: bool = Field(default=False, description="Whether the next append rewrites the whole file.")


class OpenResult(SessionInfo):
    """Result of `session/open` and `session/reload`."""

    recovered: Recovered | None = Field(default=None, description="Absent when the file was in perfect order.")


class ListParams(Page):
    """Params of `session/list`."""

    cwd: str | None = Field(default=None, description="Only sessions of this working directory.")
    root: str | None = Field(default=None, description="Sessions folder to list instead of the configured one.")
    query: str | None = Field(default=None, description="Words that must occur in title, id, path or first message.")


class SessionSummary(Reply):
    """One line of a session list, from the head and tail of its file."""

    session_id: str = Field(description="The session's own id.")
    path: str = Field(description="Its file.")
    cwd: str = Field(description="Working directory; empty when the header names none.")
    title: str | None = Field(default=None, description="Title, or the short summary of an early compaction.")
    parent_session: str | None = Field(default=None, description="Id or path of the session it came from.")
    created_at: str | None = Field(default=None, description="Header timestamp, ISO 8601.")
    modified_at: str = Field(description="Modification time of the file, ISO 8601.")
    size_bytes: int = Field(description="Size of the file.")
    message_count: int = Field(description="Messages seen in the head of the file: a lower bound.")
    first_message: str = Field(description="Text of the first user message, or `(no messages)`.")
    status: Status = Field(description="How the last message left it.")
    open: bool = Field(default=False, description="Whether this daemon has it open.")


class ListResult(Reply):
    """Result of `session/list`, newest first."""

    sessions: list[SessionSummary] = Field(description="The page.")
    next_cursor: str | None = Field(default=None, description="Pass as `cursor` for more; absent on the last page.")


class CloseResult(Reply):
    """Result of `session/close`."""

    closed: bool = Field(description="False when other connections still have it open.")


class DeleteParams(Wire):
    """Params of `session/delete`: exactly one of `sessionId` and `path`."""

    session_id: str | None = Field(default=None, description="Id of the session, open or not.")
    path: str | None = Field(default=None, description="Its file.")

    @model_validator(mode="after")
    def _one_name(self) -> "DeleteParams":
        if (self.session_id is None) == (self.path is None):
            raise ValueError("give exactly one of `sessionId` and `path`")
        return self


class DeleteResult(Reply):
    """Result of `session/delete`."""

    deleted: bool = Field(description="False when there was nothing to delete.")
    removed: list[str] = Field(default_factory=list, description="Paths that are gone: the file and its artifacts.")


class RenameParams(SessionParams):
    """Params of `session/rename`."""

    title: str = Field(description="New title; control characters become spaces.")
    source: Literal["auto", "user"] = Field(default="user", description="An `auto` title never replaces a user's.")


class RenameResult(Reply):
    """Result of `session/rename`."""

    applied: bool = Field(
        description="False when the title was empty or a user's title stood against an automatic one."
    )
    title: str | None = Field(default=None, description="Title now in force.")


class MoveParams(SessionParams):
    """Params of `session/move`."""

    cwd: str = Field(description="Working directory the session shall belong to.")


class ForkParams(SessionParams):
    """Params of `session/fork`."""

    entry_id: str | None = Field(
        default=None, description="Keep only the path from the root to this entry; absent means every entry."
    )
    ephemeral: bool = Field(default=False, description="Keep the new session in memory only.")


class ImportParams(WorkDone):
    """Params of `session/import`: exactly one of `path` and `messages`."""

    path: str | None = Field(default=None, description="Foreign transcript.")
    messages: list[JsonObject] | None = Field(default=None, description="A provider's message array instead of a file.")
    format: str | None = Field(default=None, description="Name of the format; absent means by looking at the content.")
    cwd: str | None = Field(
        default=None, description="Working directory of the new session; absent means the source's."
    )
    target_path: str | None = Field(default=None, description="File to create; absent means the sessions folder.")
    ephemeral: bool = Field(default=False, description="Keep the new session in memory only.")

    @model_validator(mode="after")
    def _one_source(self) -> "ImportParams":
        if (self.path is None) == (self.messages is None):
            raise ValueError("give exactly one of `path` and `messages`")
        return self


class ImportResult(Reply):
    """Result of `session/import`."""

    sessions: list[SessionInfo] = Field(description="New sessions: the main one first, then those of sub-agents.")
    format: str = Field(description="Format the source was read as.")
    imported: int = Field(description="Records that became entries.")
    skipped: int = Field(description="Records that did not.")
    warnings: list[str] = Field(default_factory=list, description="What could not be carried over, in sentences.")


class ExportParams(SessionParams):
    """Params of `session/export`."""

    format: ExportFormat = Field(description="What to write.")
    path: str | None = Field(default=None, description="File to write; absent means to answer with the content.")
    leaf_id: str | None = Field(default=None, description="End of the branch; absent means the current leaf.")
    transcript: bool = Field(default=True, description="Whole branch with dividers rather than the model's context.")
    include_images: bool = Field(default=True, description="False replaces images by a short note.")


class ExportResult(Reply):
    """Result of `session/export`."""

    format: ExportFormat = Field(description="What was written.")
    media_type: str = Field(description="Media type of the content.")
    size_bytes: int = Field(description="Size of the content as UTF-8.")
    content: str | None = Field(default=None, description="The content, when no path was given.")
    path: str | None = Field(default=None, description="The file, when one was given.")


class ReloadParams(SessionParams):
    """Params of `session/reload`."""

    force: bool = Field(default=False, description="Read the file again even when it seems unchanged.")


class ReloadResult(OpenResult):
    """Result of `session/reload`."""

    changed: bool = Field(description="Whether the file differed from what the daemon held.")
