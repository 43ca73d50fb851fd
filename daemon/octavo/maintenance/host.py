"""What maintenance needs of the world around one session: the session, its model, its clients, the clock.

The daemon implements `Host`; tests do too. Nothing here decides anything.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel

from octavo.compaction.native import NativeCompactor
from octavo.compaction.remote import RemoteSummarizer
from octavo.maintenance.archive_view import ArchiveView
from octavo.sessions.artifacts import Artifacts
from octavo.sessions.live import LiveSession
from octavo.tokens.estimate import Estimator
from octavo_protocol.base import JsonObject, Wire
from octavo_protocol.completion import Completion, Model
from octavo_protocol.methods.session import SessionInfo
from octavo_protocol.settings import Settings

A = TypeVar("A", bound=BaseModel)

Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Successor:
    """A session that takes over: the session, and what its clients are told of it once it has its first entry."""

    session: LiveSession
    describe: Callable[[], SessionInfo]


class Host(Protocol):
    """One session and everything outside of it.

    Attributes:
        estimator: Weighs messages; prices frames for the model in force.
        archives: Shows the frames of compactions, for every context that is built or measured.
        system_prompt, tools, plan_files: What the host said it adds to every model call, and what must not be pruned.
    """

    session: LiveSession
    estimator: Estimator
    artifacts: Artifacts
    archives: ArchiveView
    completion: Completion
    system_prompt: Sequence[str]
    tools: Sequence[JsonObject]
    plan_files: Sequence[str]

    @property
    def settings(self) -> Settings:
        """The settings in force for this session now."""
        ...

    @property
    def model(self) -> Model | None:
        """The model in force on the branch, as far as anything is known of it."""
        ...

    @property
    def busy(self) -> bool:
        """Whether the host said that its agent loop is running."""
        ...

    def find_model(self, ref: str) -> Model | None:
        """The model `provider/id`, with whatever the catalogue, settings and client say of it."""
        ...

    def models(self) -> Sequence[Model]:
        """Every model that is known."""
        ...

    def promotion_target(self, model: Model) -> Model | None:
        """The model configured to take over when the window of this one is too small, None without one."""
        ...

    async def start_successor(self, *, title: str | None = None) -> "Successor":
        """Start the session that goes on after a handoff: same cwd, model and effort, this one as its parent.

        It is opened for every client that has this one open, and stays in place when the caller fails afterwards.

        Raises:
            OctavoError: `storage-failed`.
        """
        ...

    def reachable(self, model: Model) -> bool:
        """Whether a call to the model has anyone to answer it: the client, or the daemon with a key or address."""
        ...

    def remote_summarizer(self) -> RemoteSummarizer | None:
        """The endpoint of `compaction.remoteEndpoint`, None when none is set or remote compaction is off."""
        ...

    async def native_compactor(self, model: Model) -> NativeCompactor | None:
        """The provider's own compaction, None where it has none, no key is at hand, or remote compaction is off."""
        ...

    def emit(self, method: str, payload: Wire) -> None:
        """Notify every client that has the session open."""
        ...

    def notice(self, level: Level, message: str, source: str) -> None:
        """Say a sentence to every client that has the session open."""
        ...

    def has_hook(self, hook: str) -> bool:
        """Whether any client registered the hook."""
        ...

    async def ask_hook(self, hook: str, params: Wire, answer: type[A]) -> A | None:
        """Ask the clients that registered a hook, in the order they came; the last answer that says something wins.

        A time-out or an unreachable client counts as no answer and is told in a notice.

        Raises:
            OctavoError: `hook-failed` when a hook answers with an error or in a wrong shape.
        """
        ...

    def tell_hook(self, hook: str, payload: Wire) -> None:
        """Notify the clients that registered a hook."""
        ...

    async def abort_agent(self) -> None:
        """Ask the host to stop what its agent is doing, and wait for that, bounded by `client.abortTimeoutMs`."""
        ...

    def now_ms(self) -> int:
        """Wall-clock time, epoch ms."""
        ...

    def new_id(self) -> str:
        """A fresh operation id."""
        ...
