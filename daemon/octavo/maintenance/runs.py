"""A compaction as its clients see it: one start, exactly one end, whatever happens in between."""

from dataclasses import dataclass, field

from octavo.maintenance.host import Host
from octavo.maintenance.operations import Operation
from octavo_protocol.methods.common import Action, Reason
from octavo_protocol.methods.compaction import CompactionResult
from octavo_protocol.notifications import CompactionEnd, CompactionStart

FAILURES: dict[Reason, str] = {
    "manual": "",
    "overflow": "Context overflow recovery failed: ",
    "incomplete": "Incomplete response recovery failed: ",
}
"""How an end event begins its error text (seed.md "Runtime behavior"); other reasons take `AUTOMATIC`."""

AUTOMATIC = "Auto-compaction failed: "


@dataclass(slots=True)
class Run:
    """One attempt. `start` and `end` may be called as often as it happens; each event is sent once.

    `fill_before` is the figure by which automatic attempts are decided, so that the next one compares like with like.
    """

    host: Host
    operation: Operation
    reason: Reason
    action: Action
    will_retry: bool = False
    tokens_before: int | None = None
    fill_before: int = 0
    model: str | None = None
    _started: bool = field(default=False, init=False)
    _ended: bool = field(default=False, init=False)

    @property
    def duration_ms(self) -> int:
        """Time since the attempt began; never negative, however the clock jumps."""
        return max(0, self.host.now_ms() - self.operation.started_ms)

    def start(self) -> None:
        """Tell the clients that it begins."""
        if self._started:
            return
        self._started = True
        self.host.emit(
            "session/compactionStart",
            CompactionStart(
                session_id=self.host.session.session_id,
                operation_id=self.operation.id,
                reason=self.reason,
                action=self.action,
                tokens_before=self.tokens_before,
            ),
        )

    def end(
        self,
        result: CompactionResult | None = None,
        *,
        aborted: bool = False,
        skip_reason: str | None = None,
        error: str | None = None,
        remark: str | None = None,
        done: bool = False,
        tokens_after: int | None = None,
    ) -> None:
        """Tell the clients how it ended; nothing is said of an attempt that never began.

        Args:
            result: The compaction, when there is one.
            aborted: Whether it was stopped.
            skip_reason: Why there was nothing to do.
            error: Why it failed; told after the words that name the kind of run.
            remark: What to tell as it is, instead of `error`.
            done: Whether it did what it was to do, for runs that end without a `result`.
            tokens_after: Tokens of the context now, for those runs.
        """
        if not self._started or self._ended:
            return
        self._ended = True
        self.host.emit(
            "session/compactionEnd",
            CompactionEnd(
                session_id=self.host.session.session_id,
                operation_id=self.operation.id,
                reason=self.reason,
                action=result.action if result else self.action,
                result=result,
                entry_id=result.entry_id if result else None,
                aborted=aborted,
                will_retry=self.will_retry and (done or result is not None),
                skipped=skip_reason is not None,
                skip_reason=skip_reason,
                error_message=FAILURES.get(self.reason, AUTOMATIC) + error if error else remark,
                tokens_before=result.tokens_before if result else self.tokens_before,
                tokens_after=result.tokens_after if result else tokens_after,
                model=result.model if result else self.model,
                duration_ms=self.duration_ms,
            ),
        )
