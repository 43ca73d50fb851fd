"""The world around one open session as maintenance sees it (`octavo.maintenance.host.Host`): model, settings, clients.

Decides nothing. What the clients are told and asked is in `session_clients`; keys and addresses come from the settings.
"""

import os
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from pydantic import BaseModel

from octavo.compaction.native import NativeCompactor
from octavo.compaction.remote import RemoteSummarizer
from octavo.maintenance.archive_view import ArchiveView
from octavo.maintenance.host import Successor
from octavo.providers.client import HttpCompletion, Timeouts
from octavo.providers.credentials import Credentials, variables
from octavo.providers.delegated import Delegated
from octavo.providers.http import post_json
from octavo.providers.router import Router
from octavo.server.model_book import ModelBook
from octavo.server.session_clients import Level, SessionClients
from octavo.server.settings_book import SettingsBook, SettingsView
from octavo.sessions.artifacts import Artifacts
from octavo.sessions.live import LiveSession
from octavo.sessions.path_settings import PathSettings, path_settings
from octavo.snapcompact.billing import family_of, frame_tokens
from octavo.tokens.estimate import Estimator
from octavo.tokens.models import KnownModel
from octavo_protocol import layering
from octavo_protocol.base import JsonObject, Wire
from octavo_protocol.completion import Completion, CompletionRequest, CompletionResult, Model, OnProgress
from octavo_protocol.layering import Layer
from octavo_protocol.settings import Settings

if TYPE_CHECKING:
    from octavo.server.daemon import Daemon

A = TypeVar("A", bound=BaseModel)

Succeed: TypeAlias = Callable[[str | None], Awaitable[Successor]]

REMOTE_PROVIDER = "remote"
"""Provider id under which the settings may hold a key for `compaction.remoteEndpoint`; no other key is sent there."""


class SessionHost:
    """A `Host`.

    Args:
        daemon: Where the services are.
        session: The session.
        artifacts: Its side files.
        succeed: Starts the session that takes over after a handoff, with a title.

    Attributes:
        session: The session; another object after it was opened anew for writing.
        estimator: Weighs its messages, each once.
        artifacts: Its side files.
        archives: Shows the frames of its compactions.
        completion: Runs models: at a client that offers it, else over HTTP.
        system_prompt: What the host said of its system prompt, in parts.
        tools: What the host said of its tools.
        plan_files: Paths whose reads stay as they are.
        clients: The connections that have it open.
        turn_running: Whether the agent loop was said to run.
    """

    def __init__(self, daemon: "Daemon", session: LiveSession, artifacts: Artifacts, succeed: Succeed) -> None:
        self.session = session
        self.artifacts = artifacts
        self.archives = ArchiveView(session)
        self.estimator = Estimator(frame_price=self._frame_price)
        self.completion: Completion = _Completing(self)
        self.system_prompt: Sequence[str] = ()
        self.tools: Sequence[JsonObject] = ()
        self.plan_files: Sequence[str] = ()
        self.clients = SessionClients(daemon, session.session_id, lambda: self.settings)
        self.turn_running = False
        self._own_settings: Layer = {}
        self._own_revision = 0
        self._succeed = succeed
        self._book = daemon.service(SettingsBook)
        self._models = daemon.service(ModelBook)
        self._view: tuple[object, SettingsView] | None = None
        self._path: tuple[object, PathSettings] | None = None
        self._http: HttpCompletion | None = None

    # -- settings and models -------------------------------------------------------------------------------------------

    @property
    def settings_view(self) -> SettingsView:
        """The settings in force for this session, with their sources."""
        state = (self._book.revision, tuple(self.clients.modes), self._own_revision)
        if self._view is None or self._view[0] != state:
            self._view = (state, self._book.view(self.clients.modes, self._own_settings))
        return self._view[1]

    def update_settings(self, changes: JsonObject) -> None:
        """Change the settings of this session alone; null takes a value back.

        Raises:
            OctavoError: invalid-params; nothing was changed.
        """
        self._own_settings = layering.update(self._own_settings, layering.read(Settings, changes, nulls=True))
        self._own_revision += 1

    def adopt(self, session: LiveSession, artifacts: Artifacts) -> None:
        """Go on with the session as it was opened anew."""
        self.session, self.artifacts, self.archives = session, artifacts, ArchiveView(session)

    @property
    def settings(self) -> Settings:
        """The settings in force for this session now."""
        return self.settings_view.settings

    @property
    def path_settings(self) -> PathSettings:
        """What the entries of the branch set: models by role, reasoning effort."""
        session = self.session
        state = (session.epoch, session.seq, session.leaf_id)
        if self._path is None or self._path[0] != state:
            self._path = (state, path_settings(session.tree.path(session.leaf_id)))
        return self._path[1]

    @property
    def known_model(self) -> KnownModel | None:
        """The model in force on the branch, else the `default` role of the settings, with all that is known of it."""
        return self._known(self.path_settings)

    def model_on(self, path: Sequence[JsonObject]) -> KnownModel | None:
        """The same for the end of another path."""
        return self._known(path_settings(path))

    @property
    def model(self) -> Model | None:
        """The model in force on the branch, as far as anything is known of it."""
        known = self.known_model
        return None if known is None else known.model

    @property
    def busy(self) -> bool:
        """Whether the host said that its agent loop is running."""
        return self.turn_running

    def know(self, ref: str) -> KnownModel | None:
        """The model `provider/id` with the source of its figures; None when the text names none."""
        return self._models.find(ref, self.settings)

    def find_model(self, ref: str) -> Model | None:
        """The model `provider/id`, with whatever the catalogue, settings and client say of it."""
        known = self.know(ref)
        return None if known is None else known.model

    def models(self) -> Sequence[Model]:
        """Every model that is known."""
        return [known.model for known in self._models.all(self.settings)]

    def promotion_target(self, model: Model) -> Model | None:
        """The model configured to take over when the window of this one is too small, None without one."""
        known = self.know(model.ref)
        if known is None or known.promotion_target is None:
            return None
        target = self._models.find(known.promotion_target, self.settings, provider=model.provider)
        return None if target is None else target.model

    async def start_successor(self, *, title: str | None = None) -> Successor:
        """Start the session that goes on after a handoff, opened for every client that has this one open.

        Raises:
            OctavoError: storage-failed.
        """
        return await self._succeed(title)

    # -- calling models ------------------------------------------------------------------------------------------------

    def reachable(self, model: Model) -> bool:
        """Whether a call to the model has anyone to answer it."""
        return self.router().reachable(model)

    def router(self) -> Router:
        """Who runs models at this moment."""
        delegated = None
        if self.clients.can_complete:
            delegated = Delegated(self.clients.complete, self.new_id, self.session.session_id)
        return Router(self._http_completion(), delegated)

    def remote_summarizer(self) -> RemoteSummarizer | None:
        """The endpoint of `compaction.remoteEndpoint`, None when none is set or remote compaction is off."""
        settings = self.settings.compaction
        if not settings.remote_enabled or not settings.remote_endpoint:
            return None
        chosen = self.find_model(settings.model) if settings.model else None
        model = chosen or self.model
        return RemoteSummarizer(
            post=post_json,
            url=settings.remote_endpoint,
            model=model.id if model is not None else "",
            api_key=self._remote_key(),
            timeout_seconds=settings.remote_timeout_ms / 1000,
        )

    async def native_compactor(self, model: Model) -> NativeCompactor | None:
        """The provider's own compaction, None where it has none, no key is at hand, or remote compaction is off."""
        settings = self.settings.compaction
        if not settings.remote_enabled:
            return None
        credentials = self._http_completion().credentials
        compactor = NativeCompactor(post=post_json, api_key="")
        if not compactor.accepts(model) or not credentials.configured(model.provider):
            return None
        secret = await credentials.find(model.provider)
        if secret is None:
            return None
        provider = credentials.of(model.provider)
        return NativeCompactor(
            post=post_json,
            api_key=secret.value,
            account_id=provider.account_id,
            headers=provider.headers,
            timeout_seconds=settings.remote_timeout_ms / 1000,
        )

    # -- clients -------------------------------------------------------------------------------------------------------

    def emit(self, method: str, payload: Wire) -> None:
        """Notify every client that has the session open."""
        self.clients.emit(method, payload)

    def notice(self, level: Level, message: str, source: str) -> None:
        """Say a sentence to every client that has the session open."""
        self.clients.notice(level, message, source)

    def has_hook(self, hook: str) -> bool:
        """Whether any client registered the hook."""
        return self.clients.has_hook(hook)

    async def ask_hook(self, hook: str, params: Wire, answer: type[A]) -> A | None:
        """Ask the clients that registered a hook; see `SessionClients.ask_hook`."""
        return await self.clients.ask_hook(hook, params, answer)

    def tell_hook(self, hook: str, payload: Wire) -> None:
        """Notify the clients that registered a hook."""
        self.clients.tell_hook(hook, payload)

    async def abort_agent(self) -> None:
        """Ask the host to stop what its agent is doing, and wait for that, bounded by `client.abortTimeoutMs`."""
        await self.clients.abort_agent()

    # -- clock and ids -------------------------------------------------------------------------------------------------

    def now_ms(self) -> int:
        """Wall-clock time, epoch ms."""
        return time.time_ns() // 1_000_000

    def new_id(self) -> str:
        """A fresh operation id."""
        return uuid.uuid4().hex

    # -- inside --------------------------------------------------------------------------------------------------------

    def _known(self, found: PathSettings) -> KnownModel | None:
        ref = found.models.get("default") or self.settings.model_roles.get("default")
        return None if ref is None else self.know(ref)

    def _frame_price(self, width: int, height: int) -> int:
        model = self.model
        return frame_tokens(family_of(model.api if model is not None else None), width, height)

    def _http_completion(self) -> HttpCompletion:
        settings = self.settings
        timeouts = Timeouts(connect=settings.http.connect_timeout_ms / 1000, idle=settings.http.stall_timeout_ms / 1000)
        if self._http is None or self._http.credentials.settings != settings.providers:
            # A key that a command gave may not be used under other settings.
            self._http = HttpCompletion(Credentials(settings.providers), timeouts)
        self._http.timeouts = timeouts
        return self._http

    def _remote_key(self) -> str | None:
        provider = self.settings.providers.get(REMOTE_PROVIDER)
        if provider is not None and provider.api_key:
            return provider.api_key
        named = provider.api_key_env if provider is not None else None
        names = (named,) if named else variables(REMOTE_PROVIDER)
        return next((os.environ[name] for name in names if os.environ.get(name)), None)


class _Completing:
    """The `Completion` of a session: looks anew for every call who can run it."""

    def __init__(self, host: SessionHost) -> None:
        self._host = host

    async def complete(self, request: CompletionRequest, on_progress: OnProgress | None = None) -> CompletionResult:
        """Run one model call; see `octavo.providers.router`."""
        return await self._host.router().complete(request, on_progress)
