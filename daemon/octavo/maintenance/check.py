"""One check of a session by its host: what it was asked with, what it found, and how it is answered.

Builds directives; the decisions are in `triggers` and `recovery`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio.to_thread

from octavo import templates
from octavo.maintenance.circles import circle
from octavo.maintenance.drafts import Report, no_report
from octavo.maintenance.findings import Turn
from octavo.maintenance.host import Host, Level
from octavo.maintenance.measuring import NO_FILL, Fill, usage_now
from octavo_protocol.base import JsonObject
from octavo_protocol.methods.common import Notice, Reason
from octavo_protocol.methods.maintenance import At, Directive, DirectiveAction, Next


@dataclass(slots=True)
class Check:
    """See the module.

    Attributes:
        at: Where the host stands.
        pending: Messages it is about to append.
        queued: Whether its user has messages waiting.
        may_defer: Whether a handoff may run after the answer.
        may_continue: Whether the host wants to be told to go on.
        path: The branch as it was when the check began.
        turn: Its last assistant message.
        full: How full the context is.
    """

    host: Host
    at: At
    pending: Sequence[JsonObject] = ()
    queued: bool = False
    may_defer: bool = True
    may_continue: bool = True
    report: Report = no_report
    path: list[JsonObject] = field(default_factory=list)
    turn: Turn | None = None
    full: Fill = NO_FILL
    tokens_freed: int = 0
    notices: list[Notice] = field(default_factory=list)

    @property
    def reason(self) -> Reason:
        """What a run is for that only the size of the context sets off."""
        return "midTurn" if self.at == "midTurn" else "threshold"

    @property
    def has_work_left(self) -> bool:
        """Whether there is anything to go on with: a call without its result, a cut answer, or queued messages.

        A final answer with an empty queue is the end; opening a turn after it would be work nobody asked for (BR-092).
        """
        turn = self.turn
        return self.queued or (turn is not None and (turn.calls_tools or turn.stop_reason in {"toolUse", "length"}))

    def notice(self, level: Level, message: str) -> None:
        """Tell every client, and the host with its directive."""
        self.host.notice(level, message, "maintenance")
        self.notices.append(Notice(level=level, message=message, source="maintenance"))

    async def warn_of_circle(self) -> bool:
        """Tell when the agent only reads again what compactions took away (BR-085); whether it does."""
        found = await anyio.to_thread.run_sync(circle, self.host.session.branch())
        if found is not None:
            self.notice("warning", found.sentence())
        return found is not None

    async def answer(self, action: DirectiveAction, following: Next, **fields: Any) -> Directive:
        """The directive, with how full the context is now."""
        usage = await anyio.to_thread.run_sync(usage_now, self.host, self.host.session.branch())
        return Directive(
            action=action,
            next=following,
            usage=usage,
            notices=self.notices,
            **{"tokens_freed": self.tokens_freed, **fields},
        )

    async def nothing(self, skipped: str | None = None, following: Next = "proceed", **fields: Any) -> Directive:
        """The directive of a check after which nothing was done, or only pruning."""
        return await self.answer("pruned" if self.tokens_freed else "none", following, skipped=skipped, **fields)

    async def go_on(self, action: DirectiveAction, **fields: Any) -> Directive:
        """The directive after something was done: the host goes on by itself, or is told to where work is left."""
        wanted = self.may_continue and self.host.settings.compaction.auto_continue
        if self.at != "turnEnd" or not (wanted and self.has_work_left):
            return await self.answer(action, "proceed", **fields)
        return await self.answer(action, "autoContinue", prompt=continue_prompt(), **fields)


def continue_prompt() -> str:
    """The developer prompt that has an agent go on after its context was made smaller."""
    return templates.text("auto-continue").strip()
