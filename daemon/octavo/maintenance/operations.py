"""The one long operation a session may have at a time: who runs, how to stop it, what is held for preview.

Stopping is keyed by operation, so that a late cancel of an earlier run never touches the next one (BR-088), and busy is
true from the first moment on, before anything is awaited (BR-089).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import anyio

from octavo_protocol.errors import ErrorKind, OctavoError

Kind: TypeAlias = Literal["compaction", "handoff", "branchSummary", "shake"]


@dataclass(slots=True, eq=False)
class Operation:
    """A run: its id, what it is, and the scope that ends it."""

    id: str
    kind: Kind
    started_ms: int
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    aborted: bool = False

    def abort(self) -> None:
        """Stop the run; it still reports its end."""
        self.aborted = True
        self.scope.cancel()


class OperationSlot:
    """Room for one operation of one session."""

    def __init__(self, session_id: str) -> None:
        self.current: Operation | None = None
        self._session_id = session_id

    @contextmanager
    def begin(self, operation_id: str, kind: Kind, now_ms: int) -> Iterator[Operation]:
        """Occupy the slot while the block runs.

        The block runs inside the operation's cancel scope. When it was aborted the block's remainder is skipped, and
        `operation.aborted` tells.

        Raises:
            OctavoError: `compaction-in-progress`, naming the running operation.
        """
        if self.current is not None:
            raise OctavoError(
                ErrorKind.COMPACTION_IN_PROGRESS,
                "Compaction already in progress",
                sessionId=self._session_id,
                details={"operationId": self.current.id, "kind": self.current.kind},
            )
        self.current = operation = Operation(operation_id, kind, now_ms)
        try:
            with operation.scope:
                yield operation
        finally:
            self.current = None

    def cancelled(self) -> OctavoError:
        """The error for a block that was skipped because its operation was aborted."""
        return OctavoError(ErrorKind.CANCELLED, "The operation was cancelled", sessionId=self._session_id)

    def abort(self, *kinds: Kind) -> bool:
        """Stop the running operation if it is of one of the kinds (any, when none is named); says whether it was."""
        if self.current is None or (kinds and self.current.kind not in kinds):
            return False
        self.current.abort()
        return True
