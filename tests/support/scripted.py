"""A session with scripted surroundings: a host without a daemon, a model that says what it is told to.

Used by the tests of maintenance and by the session-level vectors.
"""

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from pydantic import BaseModel

from octavo.compaction.native import NativeCompactor
from octavo.compaction.remote import RemoteSummarizer
from octavo.maintenance.archive_view import ArchiveView
from octavo.maintenance.compactor import Compactor
from octavo.maintenance.host import Successor
from octavo.maintenance.navigation import Navigator
from octavo.maintenance.operations import OperationSlot
from octavo.maintenance.triggers import Maintainer
from octavo.sessions.artifacts import Artifacts
from octavo.sessions.library import Library
from octavo.sessions.live import LiveSession
from octavo.tokens.estimate import Estimator
from octavo_protocol.base import JsonObject, Wire
from octavo_protocol.completion import CompletionRequest, CompletionResult, Model, OnProgress
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.session import SessionInfo
from octavo_protocol.settings import Settings

SONNET = Model(
    "anthropic", "claude-sonnet-4-5", "anthropic-messages", 200_000, 64_000, ("text", "image"), reasoning=True
)
SUMMARY = "## Goal\nFind out why the forecast of Kobe is too high, and say so to the harbour office."


def text(words: int, *, seed: int = 0) -> str:
    """Some tokens of text, no two of them alike for different seeds."""
    return " ".join(f"alpha{(i + seed) % 97}" for i in range(words))


def answer(words: str, **fields: Any) -> CompletionResult:
    """A model's answer."""
    return CompletionResult(({"type": "text", "text": words},), fields.pop("stop_reason", "stop"), **fields)


def failing(message: str, status: int | None = None, **fields: Any) -> CompletionResult:
    """A model call that ends in an error."""
    return CompletionResult((), "error", error_message=message, error_status=status, **fields)


Reply = CompletionResult | Callable[[CompletionRequest], CompletionResult]


@dataclass
class ScriptedModel:
    """A `Completion`: takes the next reply of the script, the last one again and again; `hang` never answers."""

    script: list[Reply] = field(default_factory=lambda: [answer(SUMMARY)])
    requests: list[CompletionRequest] = field(default_factory=list)
    hang: bool = False
    asked: anyio.Event = field(default_factory=anyio.Event)

    async def complete(self, request: CompletionRequest, on_progress: OnProgress | None = None) -> CompletionResult:
        self.requests.append(request)
        self.asked.set()
        if self.hang:
            await anyio.sleep_forever()
        await anyio.lowlevel.checkpoint()
        reply = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if on_progress is not None:
            on_progress(10)
        return reply(request) if callable(reply) else reply


@dataclass
class ScriptedHost:
    """A `Host` that records what it is told."""

    session: LiveSession
    completion: ScriptedModel = field(default_factory=ScriptedModel)
    settings: Settings = field(default_factory=Settings)
    model: Model | None = SONNET
    others: list[Model] = field(default_factory=list)
    unreachable: set[str] = field(default_factory=set)
    busy: bool = False
    estimator: Estimator = field(default_factory=Estimator)
    artifacts: Artifacts = field(default_factory=lambda: Artifacts(None))
    system_prompt: Sequence[str] = ()
    tools: Sequence[JsonObject] = ()
    plan_files: Sequence[str] = ()
    archives: ArchiveView = field(init=False)
    events: list[tuple[str, Any]] = field(default_factory=list)
    notices: list[tuple[str, str]] = field(default_factory=list)
    hook_answers: dict[str, JsonObject | Exception | None] = field(default_factory=dict)
    hooks_asked: list[tuple[str, Wire]] = field(default_factory=list)
    hooks_told: list[tuple[str, Wire]] = field(default_factory=list)
    aborts: int = 0
    promotions: dict[str, str] = field(default_factory=dict)
    library: Library | None = None
    successors: list[LiveSession] = field(default_factory=list)
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.archives = ArchiveView(self.session)

    def find_model(self, ref: str) -> Model | None:
        return next((m for m in self.models() if m.ref == ref), None)

    def models(self) -> list[Model]:
        return [*([self.model] if self.model else []), *self.others]

    def promotion_target(self, model: Model) -> Model | None:
        ref = self.promotions.get(model.ref)
        return None if ref is None else self.find_model(ref)

    async def start_successor(self, *, title: str | None = None) -> Successor:
        parent = self.session
        library = self.library
        assert library is not None
        live = await library.create(
            str(parent.header["cwd"]),
            parent_session=str(parent.path or parent.session_id),
            title=title,
            ephemeral=parent.ephemeral,
        )
        self.successors.append(live)

        def describe() -> SessionInfo:
            return SessionInfo(
                session_id=live.session_id,
                path=str(live.path) if live.path else None,
                cwd=str(live.header["cwd"]),
                parent_session=live.header.get("parentSession"),
                format="pi",
                version=3,
                mode="write",
                entry_count=len(live.branch()),
                message_count=0,
                leaf_id=live.leaf_id,
                seq=live.seq,
                epoch=live.epoch,
            )

        return Successor(live, describe)

    def reachable(self, model: Model) -> bool:
        return model.ref not in self.unreachable

    def remote_summarizer(self) -> RemoteSummarizer | None:
        return None

    async def native_compactor(self, model: Model) -> NativeCompactor | None:
        return None

    def emit(self, method: str, payload: Wire) -> None:
        self.events.append((method, payload))

    def notice(self, level: str, message: str, source: str) -> None:
        self.notices.append((level, message))

    def has_hook(self, hook: str) -> bool:
        return hook in self.hook_answers

    async def ask_hook(self, hook: str, params: Wire, answer: type[BaseModel]) -> Any:
        self.hooks_asked.append((hook, params))
        given = self.hook_answers[hook]
        if isinstance(given, Exception):
            raise OctavoError(ErrorKind.HOOK_FAILED, f"The hook {hook} failed: {given}")
        return None if given is None else answer.model_validate(given)

    def tell_hook(self, hook: str, payload: Wire) -> None:
        self.hooks_told.append((hook, payload))

    async def abort_agent(self) -> None:
        self.aborts += 1
        self.busy = False

    def now_ms(self) -> int:
        return int(time.time() * 1000)

    def new_id(self) -> str:
        return f"op{next(self._ids)}"

    def named(self, method: str) -> list[Any]:
        """Payloads of every event of one name, in order."""
        return [payload for name, payload in self.events if name == method]


@dataclass
class Scene:
    """A scripted host with the machinery of one session around it."""

    host: ScriptedHost
    slot: OperationSlot
    compactor: Compactor
    navigator: Navigator
    maintainer: Maintainer

    @property
    def session(self) -> LiveSession:
        return self.host.session


async def scene(folder: Path | None = None, **changes: Any) -> Scene:
    """Build one around a new session: on disk below `folder`, or in memory."""
    library = Library((folder or Path("/nonexistent")) / "sessions")
    session = await library.create("/home/mira/tidewatch", ephemeral=folder is None)
    host = ScriptedHost(session, library=library, **changes)
    if session.side_folder is not None:
        host.artifacts = Artifacts(session.side_folder)
    slot = OperationSlot(session.session_id)
    compactor = Compactor(host, slot)
    return Scene(host, slot, compactor, Navigator(host, slot), Maintainer(host, slot, compactor))


def user(content: Any, **fields: Any) -> JsonObject:
    """A user message."""
    return {"role": "user", "content": content, **fields}


def assistant(content: Any, **fields: Any) -> JsonObject:
    """An assistant message of the scene's model, without usage unless given."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    base = {"api": SONNET.api, "provider": SONNET.provider, "model": SONNET.id, "stopReason": "stop"}
    return {"role": "assistant", "content": blocks, **base, **fields}


def call(ident: str, name: str, **arguments: Any) -> JsonObject:
    """A tool call block."""
    return {"type": "toolCall", "id": ident, "name": name, "arguments": arguments}


def result(ident: str, name: str, output: str, **fields: Any) -> JsonObject:
    """A tool result message."""
    content = [{"type": "text", "text": output}]
    return {"role": "toolResult", "toolCallId": ident, "toolName": name, "content": content, "isError": False, **fields}


async def talk(session: LiveSession, turns: int, words: int = 400) -> None:
    """Append some turns: a request, a read of a file with its result, a closing answer."""
    for turn in range(turns):
        await session.append(
            messages=[
                user(f"Please look at part {turn} of the tide tables. {text(words // 4, seed=turn)}"),
                assistant([call(f"c{turn}", "read", path=f"tables/part{turn}.csv")]),
                result(f"c{turn}", "read", text(words, seed=turn * 7)),
                assistant(f"Part {turn} is in order. {text(words // 4, seed=turn * 3)}"),
            ]
        )
