"""Params and results of reading a session's tree, searching it and moving about in it."""

from typing import Literal, TypeAlias

from pydantic import Field, model_validator

from octavo_protocol.base import EntryObject, Reply
from octavo_protocol.methods.common import Page, SessionParams, WorkDone
from octavo_protocol.methods.context import BuildContextResult

TreeFilter: TypeAlias = Literal["default", "no-tools", "user-only", "labeled-only", "all"]
"""Which entries a tree view shows (engine.md §2.3)."""

ChangeKind: TypeAlias = Literal["appended", "rewritten", "leaf", "title", "label", "closed"]


class GetTreeParams(SessionParams):
    """Params of `session/getTree`."""

    filter: TreeFilter | None = Field(default=None, description="Entries to show; absent means `treeFilterMode`.")
    max_depth: int | None = Field(
        default=None, ge=0, description="Generations of shown nodes below each root (or below `around`)."
    )
    around: str | None = Field(default=None, description="Entry the window is centred on; absent means the leaf.")
    window: int = Field(default=500, ge=1, le=10_000, description="Largest number of nodes to answer.")


class TreeNode(Reply):
    """One shown entry; its children follow it, deeper ones first (pre-order)."""

    id: str = Field(description="Entry id.")
    parent_id: str | None = Field(default=None, description="Nearest shown ancestor; absent for a root.")
    depth: int = Field(description="Forks between this node and its root: the indentation a view needs.")
    type: str = Field(description="Entry type.")
    role: str | None = Field(default=None, description="Message role, for entries of type `message`.")
    timestamp: str | None = Field(default=None, description="Entry timestamp, ISO 8601.")
    text: str = Field(description="One line that stands for the entry, at most 200 characters.")
    label: str | None = Field(default=None, description="Label in force.")
    tool_names: list[str] = Field(default_factory=list, description="Tools an assistant message calls.")
    is_error: bool = Field(default=False, description="Whether it is a failed tool result or a failed turn.")
    on_branch: bool = Field(default=False, description="Whether it lies on the path from the root to the leaf.")
    is_leaf: bool = Field(default=False, description="Whether it is the leaf, or the nearest shown ancestor of it.")
    child_count: int = Field(description="Children that pass the filter, in this answer or not.")
    hidden_children: int = Field(default=0, description="Those of them that this answer leaves out.")


class GetTreeResult(Reply):
    """Result of `session/getTree`: a window of the tree in display order."""

    nodes: list[TreeNode] = Field(description="Shown nodes in pre-order; children sorted by timestamp.")
    hidden_before: int = Field(default=0, description="Nodes that pass the filter before the first one shown.")
    hidden_after: int = Field(default=0, description="Nodes that pass the filter after the last one shown.")
    matching: int = Field(description="Nodes of the whole tree that pass the filter.")
    total: int = Field(description="Entries of the whole tree.")
    leaf_id: str | None = Field(default=None, description="The leaf itself, shown or not.")
    filter: TreeFilter = Field(description="Filter that was applied.")
    seq: int = Field(description="State of the session the answer shows.")


class GetBranchParams(SessionParams, Page):
    """Params of `session/getBranch`."""

    leaf_id: str | None = Field(default=None, description="End of the branch; absent means the leaf.")
    order: Literal["rootFirst", "newestFirst"] = Field(
        default="rootFirst", description="Which end the first page is from; a page itself always runs root to leaf."
    )


class GetBranchResult(Reply):
    """Result of `session/getBranch`."""

    entries: list[EntryObject] = Field(description="The page, root to leaf.")
    total: int = Field(description="Entries of the whole branch.")
    leaf_id: str | None = Field(default=None, description="End of the branch; absent when the session is empty.")
    next_cursor: str | None = Field(default=None, description="Pass as `cursor` for more; absent on the last page.")
    seq: int = Field(description="State of the session the answer shows.")


class GetEntriesParams(SessionParams, Page):
    """Params of `session/getEntries`: `ids`, `sinceSeq`, or neither for all entries in file order."""

    ids: list[str] | None = Field(default=None, description="Entries to read.")
    since_seq: int | None = Field(default=None, ge=0, description="Last change the client knows of.")
    epoch: str | None = Field(default=None, description="Numbering `sinceSeq` belongs to (`SessionInfo.epoch`).")

    @model_validator(mode="after")
    def _one_question(self) -> "GetEntriesParams":
        if self.ids is not None and self.since_seq is not None:
            raise ValueError("give `ids` or `sinceSeq`, not both")
        return self


class Change(Reply):
    """One change of a session."""

    seq: int = Field(description="Its number; numbers count up by one.")
    kind: ChangeKind = Field(description="What happened.")
    entry_ids: list[str] = Field(default_factory=list, description="Entries appended or rewritten.")
    leaf_id: str | None = Field(default=None, description="Leaf after it; absent when there is none.")


class GetEntriesResult(Reply):
    """Result of `session/getEntries`."""

    entries: list[EntryObject] = Field(description="Entries in the order asked for, or in file order.")
    missing: list[str] = Field(default_factory=list, description="Ids asked for that do not exist.")
    changes: list[Change] = Field(default_factory=list, description="With `sinceSeq`: every change after it, in order.")
    reset: bool = Field(
        default=False, description="With `sinceSeq`: the changes are no longer known; read everything again."
    )
    seq: int = Field(description="State of the session the answer shows.")
    epoch: str = Field(description="Numbering `seq` belongs to.")
    leaf_id: str | None = Field(default=None, description="Leaf now; absent when the session is empty.")
    next_cursor: str | None = Field(default=None, description="Pass as `cursor` for more; absent on the last page.")


class SearchParams(SessionParams, Page):
    """Params of `session/search`."""

    query: str = Field(min_length=1, description="Words that must all occur, or a regular expression.")
    regex: bool = Field(default=False, description="Take `query` as a regular expression.")
    case_sensitive: bool = Field(default=False, description="Tell capitals from small letters.")
    scope: Literal["branch", "tree", "archived"] = Field(
        default="branch", description="The branch, every branch, or what compaction took out of the context."
    )


class Match(Reply):
    """Where in a snippet the query was found, in UTF-16 units."""

    start: int = Field(description="First unit.")
    end: int = Field(description="Unit after the last.")


class SearchHit(Reply):
    """One entry that matches."""

    entry_id: str = Field(description="The entry.")
    type: str = Field(description="Its type.")
    role: str | None = Field(default=None, description="Message role, for entries of type `message`.")
    timestamp: str | None = Field(default=None, description="Entry timestamp, ISO 8601.")
    snippet: str = Field(description="Text around the first match, at most 300 characters.")
    matches: list[Match] = Field(description="Matches within the snippet.")
    on_branch: bool = Field(description="Whether it lies on the path from the root to the leaf.")
    archived: bool = Field(description="Whether compaction took it out of the context.")


class SearchResult(Reply):
    """Result of `session/search`, newest first."""

    hits: list[SearchHit] = Field(description="The page.")
    next_cursor: str | None = Field(default=None, description="Pass as `cursor` for more; absent on the last page.")


class NavigateTreeParams(SessionParams, WorkDone):
    """Params of `session/navigateTree`."""

    target_id: str = Field(description="Entry to go to; a user's message goes back into the editor.")
    summarize: bool = Field(default=False, description="Summarise what is left behind before going.")
    custom_instructions: str | None = Field(
        default=None, description="Prompt for that summary instead of the standard one."
    )
    label: str | None = Field(default=None, description="Label to put on the entry arrived at.")
    expected_leaf_id: str | None = Field(
        default=None, description="Refuse with `content-modified` when the leaf is another."
    )
    include_context: bool = Field(default=False, description="Answer with the context of the new branch.")


class NavigateTreeResult(Reply):
    """Result of `session/navigateTree`."""

    cancelled: bool = Field(description="True when a hook or an abort kept the session where it was.")
    aborted: bool | None = Field(default=None, description="True when it was the summary that was aborted.")
    editor_text: str | None = Field(default=None, description="Text of the user message navigated to, for the editor.")
    leaf_id: str | None = Field(default=None, description="Leaf now; absent means the next entry becomes a root.")
    old_leaf_id: str | None = Field(default=None, description="Leaf before.")
    summary_entry: EntryObject | None = Field(default=None, description="The stored branch summary.")
    context: BuildContextResult | None = Field(default=None, description="Context of the new branch, if asked for.")
    seq: int = Field(description="State of the session afterwards.")


class AbortResult(Reply):
    """Result of the abort methods."""

    aborted: bool = Field(description="False when there was nothing to abort.")
