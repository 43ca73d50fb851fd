"""Let a draft through the checks, or refuse it with their figures (protocol.md §6).

The conditions and repairs themselves are `compaction.checks`; this module feeds them from a session and turns a failed
one into the error a client sees.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import anyio.to_thread

from octavo.compaction.checks import Gate, GateOptions, check_compaction
from octavo.compaction.prepare import Preparation
from octavo.maintenance.drafts import Draft
from octavo.maintenance.host import Host
from octavo.maintenance.measuring import fixed_tokens
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.common import Check

_SENTENCES = {
    "shrinks": "it would not make the context smaller",
    "pairs": "a tool call or result would stand alone",
    "api-valid": "the model's API would refuse the context",
    "last-request": "the newest request would be lost",
    "files": "the file list would be incomplete",
    "open-question": "an open question would be lost",
    "no-invented-user": "it invents a user message",
    "no-markup": "its text is no summary",
    "no-boundary-tags": "its text breaks out of its wrapper",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A draft that may be written, with every repair made; token figures are estimates of the whole next request."""

    draft: Draft
    checks: tuple[Check, ...]
    tokens_before: int
    tokens_after: int


async def judge(
    host: Host, path: Sequence[JsonObject], preparation: Preparation, draft: Draft, *, edited: bool = False
) -> Judged:
    """Run the checks off the event loop.

    Args:
        host: The session.
        path: Entries from the root to the leaf the draft was made for.
        preparation: The plan it was made from.
        draft: What would be written.
        edited: Whether a user wrote the text, which then is not judged as a model's.

    Raises:
        OctavoError: `check-failed`; `details.checks` has every check with its figures.
    """
    by_model = draft.action == "context-full" and not edited and not draft.from_extension
    options = GateOptions(host.model, fixed_tokens(host), judge_text=by_model)
    gate = await anyio.to_thread.run_sync(
        partial(check_compaction, path, draft.entry(), preparation, host.estimator, options), abandon_on_cancel=True
    )
    checks = tuple(Check.model_validate(check.to_wire()) for check in gate.checks)
    if not gate.ok:
        raise _refusal(host, gate, checks)
    repaired = replace(draft, summary=gate.entry["summary"], details=gate.entry.get("details"))
    return Judged(repaired, checks, gate.tokens_before, gate.tokens_after)


def _refusal(host: Host, gate: Gate, checks: Sequence[Check]) -> OctavoError:
    reasons = " and ".join(_SENTENCES.get(name, name) for name in gate.failed)
    return OctavoError(
        ErrorKind.CHECK_FAILED,
        f"The compaction was not written: {reasons} ({gate.tokens_before} → {gate.tokens_after} tokens)",
        sessionId=host.session.session_id,
        details={
            "failed": list(gate.failed),
            "tokensBefore": gate.tokens_before,
            "tokensAfter": gate.tokens_after,
            "checks": [check.to_wire() for check in checks],
        },
    )
