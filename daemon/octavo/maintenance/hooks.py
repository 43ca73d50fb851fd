"""Ask the clients' compaction hooks and read what they say (engine.md §15).

A hook that fails stops a compaction a user asked for, with a typed error; an automatic one goes on without it and says
so, because a broken extension must not let a context overflow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from octavo.compaction.prepare import Preparation
from octavo.maintenance.drafts import Draft, Report
from octavo.maintenance.host import Host
from octavo.maintenance.runs import Run
from octavo.maintenance.strategies import HookContext, Wish
from octavo_protocol.base import JsonObject, Wire
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.hooks import (
    HookPreparation,
    SessionBeforeCompactParams,
    SessionBeforeCompactResult,
    SessionCompactingParams,
    SessionCompactingResult,
)

A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class BeforeCompact:
    """What the hooks want: nothing, no compaction, or their own."""

    cancel: bool = False
    draft: Draft | None = None


async def before_compact(
    host: Host, run: Run, wish: Wish, path: Sequence[JsonObject], preparation: Preparation, report: Report
) -> BeforeCompact:
    """Ask `sessionBeforeCompact`."""
    if not host.has_hook("sessionBeforeCompact"):
        return BeforeCompact()
    report("hooks", "Asking hooks")
    params = SessionBeforeCompactParams(
        session_id=host.session.session_id,
        operation_id=run.operation.id,
        reason=run.reason,
        preparation=HookPreparation.model_validate(_described(preparation)),
        branch_entries=list(path),
        custom_instructions=wish.custom_instructions,
    )
    answer = await _ask(host, wish, "sessionBeforeCompact", params, SessionBeforeCompactResult)
    if answer is None:
        return BeforeCompact()
    try:
        return BeforeCompact(answer.cancel, _draft(answer, preparation, path))
    except OctavoError as error:
        _passed_over(host, wish, error)
        return BeforeCompact()


def _described(preparation: Preparation) -> JsonObject:
    wire = preparation.to_wire()
    wire.pop("previousPreserveData", None)
    return wire


def _draft(answer: SessionBeforeCompactResult, preparation: Preparation, path: Sequence[JsonObject]) -> Draft | None:
    made = answer.compaction
    if made is None or answer.cancel:
        return None
    if made.first_kept_entry_id is not None and all(entry.get("id") != made.first_kept_entry_id for entry in path):
        # Nothing at all would be kept from then on, and no check could tell whether that was meant.
        raise OctavoError(
            ErrorKind.HOOK_FAILED,
            f"The hook sessionBeforeCompact keeps everything from entry {made.first_kept_entry_id}, which is not on "
            "the branch; name an entry of branchEntries, or none for the planned one.",
            details={"hook": "sessionBeforeCompact"},
        )
    return Draft(
        action="context-full",
        summary=made.summary,
        short_summary=made.short_summary,
        first_kept_entry_id=made.first_kept_entry_id or preparation.first_kept_entry_id,
        tokens_before=preparation.tokens_before if made.tokens_before is None else made.tokens_before,
        details=made.details,
        preserve_data=made.preserve_data,
        from_extension=True,
    )


async def compacting(host: Host, run: Run, preparation: Preparation, wish: Wish, report: Report) -> HookContext:
    """Ask `sessionCompacting`."""
    if not host.has_hook("sessionCompacting"):
        return HookContext()
    report("hooks", "Asking hooks")
    params = SessionCompactingParams(
        session_id=host.session.session_id, operation_id=run.operation.id, messages=preparation.discarded_messages
    )
    answer = await _ask(host, wish, "sessionCompacting", params, SessionCompactingResult)
    if answer is None:
        return HookContext()
    return HookContext(tuple(answer.context or ()), answer.prompt, answer.preserve_data)


async def _ask(host: Host, wish: Wish, hook: str, params: Wire, kind: type[A]) -> A | None:
    try:
        return await host.ask_hook(hook, params, kind)
    except OctavoError as error:
        _passed_over(host, wish, error)
        return None


def _passed_over(host: Host, wish: Wish, error: OctavoError) -> None:
    """Tell of a hook that failed and go on, unless a user asked for the compaction."""
    if error.kind is not ErrorKind.HOOK_FAILED or wish.manual:
        raise error
    host.notice("warning", f"{error.message.rstrip('.')}; the compaction goes on without it", "hooks")
