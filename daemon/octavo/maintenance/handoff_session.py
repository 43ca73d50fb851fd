"""Hand a session over: its model writes a document, a new session begins with it (engine.md §9).

Nothing changes before the document exists. Messages that arrive while it is written follow it into the new session.
Every way to end without one has a reason of its own in the error's `details.reason` (BR-082): `nothing_to_hand_off`,
`cancelled`, `empty_output`, `tool_calls`, `unusable_output`, `provider_error`, `superseded`. The new session names this
one as its parent, through which it reads the artifacts (BR-083). How the document is asked for is
`compaction.handoff`'s subject.
"""

import logging
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from octavo import templates
from octavo.compaction.handoff import Handoff, HandoffOptions, generate_handoff
from octavo.compaction.outcome import SummaryProgress
from octavo.maintenance.candidates import with_retries
from octavo.maintenance.drafts import Report, no_report
from octavo.maintenance.host import Host
from octavo.maintenance.measuring import context_of
from octavo.maintenance.operations import Operation, OperationSlot
from octavo.maintenance.strategies import thinking_level
from octavo.sessions.ids import iso_timestamp
from octavo.sessions.pictures import without_missing_images
from octavo.sessions.store.disk import create_exclusively, make_folder
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.common import Reason
from octavo_protocol.methods.maintenance import HandoffResult
from octavo_protocol.notifications import HandoffEnd, HandoffStart

_log = logging.getLogger(__name__)

_MOST_ARTIFACTS = 50


@dataclass(frozen=True, slots=True)
class HandoffWish:
    """What was asked for.

    `save` writes the document beside the old session; an automatic handoff is saved when the settings say so, and
    looks at what a nearly full context must not lose.
    """

    reason: Reason = "manual"
    custom_instructions: str | None = None
    model: str | None = None
    save: bool = False

    @property
    def manual(self) -> bool:
        """Whether a user asked."""
        return self.reason == "manual"


class HandoffSession:
    """The handoffs of one session."""

    def __init__(self, host: Host, slot: OperationSlot) -> None:
        self.host = host
        self.slot = slot

    async def hand_off(self, wish: HandoffWish, report: Report = no_report) -> HandoffResult:
        """Write the document and start the session that goes on with it.

        Raises:
            OctavoError: `agent-busy` for a manual one while the agent loop runs, `nothing-to-compact` below two
                messages, `no-model`, `compaction-in-progress`, `cancelled`, `check-failed` when no document came,
                `provider-error`, `content-modified` when the leaf went elsewhere, `storage-failed`.
        """
        if wish.manual and self.host.busy:
            raise self._failed(
                ErrorKind.AGENT_BUSY, "The agent is working; stop it or wait until its turn has ended", "busy"
            )
        path = self.host.session.branch()
        if sum(entry.get("type") == "message" for entry in path) < 2:
            raise self._failed(
                ErrorKind.NOTHING_TO_COMPACT, "Nothing to hand off (no messages yet)", "nothing_to_hand_off"
            )
        model = self._model(wish)
        result: HandoffResult | None = None
        with self.slot.begin(self.host.new_id(), "handoff", self.host.now_ms()) as operation:
            self._start(operation, wish)
            try:
                result = await self._handed_over(operation, wish, model, path, report)
            except OctavoError as error:
                aborted = error.kind is ErrorKind.CANCELLED
                self._end(operation, wish, aborted=aborted, error=error.message)
                raise
            except anyio.get_cancelled_exc_class():
                self._end(operation, wish, aborted=True, error="Handoff cancelled")
                raise
            except BaseException as error:
                self._end(operation, wish, error=f"Handoff failed: internal error ({type(error).__name__})")
                raise
            self._end(operation, wish, result=result)
        if result is None:
            raise self._failed(ErrorKind.CANCELLED, "Handoff cancelled", "cancelled")
        return result

    async def _handed_over(
        self, operation: Operation, wish: HandoffWish, model: Model, path: list[JsonObject], report: Report
    ) -> HandoffResult:
        host = self.host
        leaf_id = host.session.leaf_id
        await anyio.lowlevel.checkpoint()

        def progress(at: SummaryProgress) -> None:
            report("summary", "Writing the handoff document", tokensOut=at.characters // 4)

        focus = wish.custom_instructions
        if not wish.manual and focus is None:
            focus = templates.text("auto-handoff-threshold-focus").strip()
        options = HandoffOptions(
            system_prompt=host.system_prompt,
            tools=host.tools,
            custom_instructions=focus,
            thinking_level=thinking_level(host),
        )
        messages = await anyio.to_thread.run_sync(_live_messages, host, path)

        async def attempt(model: Model) -> Handoff:
            return await generate_handoff(messages, host.completion, model, options, on_progress=progress)

        made = await with_retries(model, attempt, host.settings.retry)
        for notice in made.notices:
            host.notice("info", notice, "handoff")
        if (since := self._since(leaf_id)) is None:
            raise self._failed(
                ErrorKind.CONTENT_MODIFIED,
                "The leaf is another than the handoff was written for; nothing was changed. Ask for it again.",
                "superseded",
            )
        names = (await anyio.to_thread.run_sync(host.artifacts.names))[:_MOST_ARTIFACTS]
        with anyio.CancelScope(shield=True):
            report("write", "Starting the new session")
            successor = await host.start_successor()
            # Once more: what came while the new session was made follows as well.
            since = self._since(leaf_id) or since
            await successor.session.append([_opening(made, names), *since])
            await successor.session.ensure_on_disk()
            saved = await self._save(made.document) if wish.save else None
            return HandoffResult(
                operation_id=operation.id,
                document=made.document,
                saved_path=saved,
                new_session=successor.describe(),
                model=model.ref,
            )
        raise AssertionError("a shielded scope ends by itself")

    def _since(self, leaf_id: str | None) -> list[JsonObject] | None:
        """Entries appended behind the leaf the document was written for, to be appended again; None off its branch."""
        path = self.host.session.branch()
        position = next((i for i, entry in enumerate(path) if entry.get("id") == leaf_id), None)
        if position is None:
            return None
        own = {"id", "parentId", "timestamp"}
        kinds = {"message", "custom_message", "model_change", "thinking_level_change"}
        later = [entry for entry in path[position + 1 :] if entry.get("type") in kinds]
        return [{key: value for key, value in entry.items() if key not in own} for entry in later]

    async def _save(self, document: str) -> str | None:
        folder = self.host.artifacts.folder
        if folder is None:
            self.host.notice("info", "The handoff was not saved: this session has no place on disk", "handoff")
            return None
        stamp = iso_timestamp(self.host.now_ms()).replace(":", "-").replace(".", "-")
        path = folder / f"handoff-{stamp}.md"
        try:
            await anyio.to_thread.run_sync(_write, path, f"{document}\n")
        except (OctavoError, OSError) as error:
            _log.warning("the handoff document could not be saved: %s", error)
            self.host.notice("warning", f"The handoff document could not be saved: {error}", "handoff")
            return None
        return str(path)

    def _model(self, wish: HandoffWish) -> Model:
        host = self.host
        model = host.find_model(wish.model) if wish.model else host.model
        if model is None:
            text = f"No model {wish.model} is known" if wish.model else "No model selected for handoff"
            raise self._failed(ErrorKind.NO_MODEL, text, "no_model")
        if not host.reachable(model):
            raise self._failed(ErrorKind.NO_MODEL, f"No API key for {model.provider}", "no_model")
        return model

    # -- events --------------------------------------------------------------------------------------------------

    def _start(self, operation: Operation, wish: HandoffWish) -> None:
        self.host.emit(
            "session/handoffStart",
            HandoffStart(session_id=self._session_id, operation_id=operation.id, reason=wish.reason),
        )

    def _end(
        self,
        operation: Operation,
        wish: HandoffWish,
        *,
        result: HandoffResult | None = None,
        aborted: bool = False,
        error: str | None = None,
    ) -> None:
        self.host.emit(
            "session/handoffEnd",
            HandoffEnd(
                session_id=self._session_id,
                operation_id=operation.id,
                reason=wish.reason,
                result=result,
                aborted=aborted,
                error_message=error,
                duration_ms=max(0, self.host.now_ms() - operation.started_ms),
            ),
        )

    @property
    def _session_id(self) -> str:
        return self.host.session.session_id

    def _failed(self, kind: ErrorKind, text: str, reason: str) -> OctavoError:
        return OctavoError(kind, text, sessionId=self._session_id, details={"reason": reason})


def _live_messages(host: Host, path: list[JsonObject]) -> list[JsonObject]:
    """The context as a model is sent it: with pictures, not with references into our blob store."""
    messages: list[JsonObject] = host.session.resolved(context_of(host, path).messages).value
    return [without_missing_images(message) for message in messages]


def _opening(made: Handoff, names: list[str]) -> JsonObject:
    """The visible message the new session begins with; it lists the artifacts that can still be read."""
    document = templates.render("handoff-artifacts", document=made.document, names=names) if names else made.document
    return {
        "type": "custom_message",
        "customType": "handoff",
        "content": Handoff(document).context_text,
        "display": True,
        "attribution": "agent",
    }


def _write(path: Path, text: str) -> None:
    make_folder(path.parent, "fsync")
    create_exclusively(path, (text.encode("utf-8", "replace"),), "fsync")
