"""Build what a model (or a transcript view) sees from the path to a leaf (engine.md §3.1, seed.md on session entries).

Pure and linear in the path. `ContextRules.SEED` is the seed to the letter; `ContextRules.OCTAVO`, the default, deviates
for the model's view where the seed makes a request that providers refuse or loses history:

- every call has exactly one result directly after its turn, results without a call are dropped (`pairing`);
- the latest compaction *whose boundary resolves* counts; if none resolves, the latest one does and nothing older than
  it is kept;
- replay data of a remote compaction is used only for the provider that made it; for another one the kept messages are
  sent instead of being lost;
- `reset_boundary` entries of later versions end the history the model sees.

Entries that hold no message and custom messages without readable content are left out. All of this is reported in
`SessionContext.notes`; nothing is dropped in silence.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from octavo.sessions.context_entries import archive_images, compaction_message, message_of, remote_history
from octavo.sessions.pairing import drop_dangling, pair
from octavo.sessions.path_settings import PathSettings, path_settings, restorable_models
from octavo_protocol.base import JsonObject

__all__ = ["ContextNote", "ContextRules", "SessionContext", "build_context", "restorable_models"]


ArchiveBlocks = Callable[[JsonObject], list[JsonObject]]
"""`(compaction entry) -> content blocks`, oldest first."""


class ContextRules(Enum):
    """Whose rules build the context."""

    SEED = auto()
    OCTAVO = auto()


@dataclass(frozen=True, slots=True)
class ContextNote:
    """Something that was left out, moved or not found while building.

    Attributes:
        kind: `dangling-call`, `repeated-call`, `orphan-result`, `moved-result`, `unresolved-boundary`,
            `malformed-message`, `malformed-custom-message`, `foreign-replay` or `missing-frame`.
        entry_id: The entry concerned.
        detail: The tool call id, boundary id or provider concerned.
    """

    kind: str
    entry_id: str
    detail: str = ""

    def to_wire(self) -> JsonObject:
        """Return `{kind, entryId, detail}`."""
        return {"kind": self.kind, "entryId": self.entry_id, "detail": self.detail}


@dataclass(slots=True)
class SessionContext(PathSettings):
    """Messages and settings in effect at a leaf.

    Attributes:
        messages: Agent messages in order; those of entries are the entries' own objects wherever nothing had to change.
        entry_ids: For each message the id of the entry it came from.
        compaction_id: The compaction whose summary opens `messages`, if one does.
        notes: What was left out, moved or not found.
        thinking_level: "off" unless a change says otherwise.
        models: `provider/id` by role; `default` is inferred from assistant messages when no change sets it.
        last_model_role: Role of the last model change on the path; None without one.
        service_tier: Last service tier set; None for none.
        injected_rules: Rules injected so far, each once, in order.
        selected_tools: Last tool selection; `has_tool_selection` tells an empty one from none.
        mode: "none" outside any mode; `mode_data` is what the last mode change carried.
    """

    messages: list[JsonObject] = field(default_factory=list)
    entry_ids: list[str] = field(default_factory=list)
    compaction_id: str | None = None
    notes: list[ContextNote] = field(default_factory=list)


def build_context(
    path: Sequence[JsonObject],
    *,
    transcript: bool = False,
    provider: str | None = None,
    archive_blocks: ArchiveBlocks | None = None,
    rules: ContextRules = ContextRules.OCTAVO,
) -> SessionContext:
    """Build the context at the end of a path.

    Args:
        path: Entries from the root to the leaf, as `SessionTree.path` returns them.
        transcript: Every entry in order, each compaction inline as a divider, instead of what the model sees.
        provider: The provider the context is for, which decides whether a remote compaction can be replayed; None
            replays it without asking, as the seed does.
        archive_blocks: Returns the blocks that show a compaction's frame archive, for callers that know budgets; left
            out, every frame comes back as an image.
        rules: Whose rules to follow.
    """
    builder = _Builder(path, provider, archive_blocks, rules)
    if transcript:
        builder.emit_transcript()
        return builder.finish(strict=False)
    builder.emit_for_model()
    return builder.finish(strict=rules is ContextRules.OCTAVO)


class _Builder:
    """Collects messages with the entries they come from, then pairs calls and results."""

    def __init__(
        self,
        path: Sequence[JsonObject],
        provider: str | None,
        archive_blocks: ArchiveBlocks | None,
        rules: ContextRules,
    ) -> None:
        self.path = path
        self.provider = provider
        self.archive_blocks = archive_blocks or (lambda entry: archive_images(entry, self.note))
        self.strict = rules is ContextRules.OCTAVO
        settings = path_settings(path)
        self.context = SessionContext(**{name: getattr(settings, name) for name in PathSettings.__slots__})
        self.messages: list[JsonObject] = []
        self.sources: list[JsonObject] = []

    def note(self, kind: str, entry: JsonObject, detail: str = "") -> None:
        self.context.notes.append(ContextNote(kind, str(entry.get("id")), detail))

    def emit_transcript(self) -> None:
        for entry in self.path:
            if entry.get("type") == "compaction":
                self._keep(entry, compaction_message(entry, self.archive_blocks(entry)))
            else:
                self._emit((entry,))

    def emit_for_model(self) -> None:
        start = self._reset_boundary() if self.strict else 0
        compactions = [n for n in range(start, len(self.path)) if self.path[n].get("type") == "compaction"]
        if not compactions:
            self._emit(self.path[start:] if start else self.path)
            return
        chosen, kept_from = self._choose(compactions, start)
        entry = self.path[chosen]
        replay = self._replay(entry)
        self.context.compaction_id = entry.get("id")
        self._keep(entry, compaction_message(entry, self.archive_blocks(entry), replay))
        if replay is None and kept_from is not None:
            self._emit(self.path[kept_from:chosen])
        self._emit(self.path[chosen + 1 :])

    def finish(self, *, strict: bool) -> SessionContext:
        context, sources = self.context, self.sources
        if strict:
            context.messages, places = pair(
                self.messages, lambda kind, at, detail: self.note(kind, sources[at], detail)
            )
        else:
            context.messages, places = drop_dangling(self.messages)
        context.entry_ids = [sources[at].get("id", "") for at in places]
        return context

    def _keep(self, entry: JsonObject, message: JsonObject) -> None:
        self.messages.append(message)
        self.sources.append(entry)

    def _emit(self, entries: Iterable[JsonObject]) -> None:
        messages, sources, note = self.messages.append, self.sources.append, self.note
        for entry in entries:
            # The common case in line: this loop runs over every entry of the session.
            message = entry.get("message") if entry.get("type") == "message" else message_of(entry, note)
            if type(message) is dict:
                messages(message)
                sources(entry)
            elif message is not None or entry.get("type") == "message":
                note("malformed-message", entry)

    def _reset_boundary(self) -> int:
        for number in range(len(self.path) - 1, -1, -1):
            if self.path[number].get("type") == "reset_boundary":
                return number + 1
        return 0

    def _choose(self, compactions: list[int], start: int) -> tuple[int, int | None]:
        """Return the position of the compaction that counts and where its kept entries begin, if they do."""
        positions = {self.path[n].get("id"): n for n in range(start, len(self.path))}
        for number in reversed(compactions):
            entry = self.path[number]
            boundary = entry.get("firstKeptEntryId")
            at = positions.get(boundary) if isinstance(boundary, str) else None
            resolved = at is not None and at <= number
            if resolved or not self.strict or self._replayable(entry):
                return number, at if resolved else None
            self.note("unresolved-boundary", entry, str(boundary))
        return compactions[-1], None

    def _replayable(self, entry: JsonObject) -> bool:
        remote = remote_history(entry)
        return remote is not None and self.provider in {None, remote["provider"]}

    def _replay(self, entry: JsonObject) -> JsonObject | None:
        remote = remote_history(entry)
        if remote is None or not self.strict or self.provider in {None, remote["provider"]}:
            return remote
        self.note("foreign-replay", entry, remote["provider"])
        return None
