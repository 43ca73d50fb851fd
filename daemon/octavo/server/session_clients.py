"""The clients that have one session open, as its work sees them: tell them, ask their hooks, borrow their models.

Who has the session open is the hub's decision; this module only speaks to them. Every wait for a client is bounded by
a setting.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import anyio
from pydantic import BaseModel

from octavo.server.connection import ClientError, ClientGone
from octavo.server.counters import Counters
from octavo.sessions.state import Mode
from octavo_protocol.base import JsonObject, Wire
from octavo_protocol.errors import ERRORS, ErrorKind, OctavoError
from octavo_protocol.methods.models import AgentAbortParams, AgentAbortResult, LlmCompleteResult
from octavo_protocol.notifications import CompactionEnd, SessionNotice
from octavo_protocol.settings import Settings

if TYPE_CHECKING:
    from octavo.server.connection import Connection
    from octavo.server.daemon import Daemon

_log = logging.getLogger(__name__)

A = TypeVar("A", bound=BaseModel)
Level = Literal["info", "warning", "error"]


class SessionClients:
    """The openers of one session.

    Args:
        daemon: Delivers notifications.
        session_id: The session.
        settings: Returns the settings in force for it.

    Attributes:
        modes: Every connection that has the session open with its mode, in the order they opened it.
    """

    def __init__(self, daemon: "Daemon", session_id: str, settings: Callable[[], Settings]) -> None:
        self.modes: dict[Connection, Mode] = {}
        self._daemon = daemon
        self._session_id = session_id
        self._settings = settings

    # -- telling ---------------------------------------------------------------------------------------------------

    def emit(self, method: str, payload: Any) -> None:
        """Notify all of them."""
        if isinstance(payload, CompactionEnd):
            self._daemon.service(Counters).compaction_ended(payload)
        self._daemon.broadcast(self._session_id, method, payload)

    def notice(self, level: Level, message: str, source: str) -> None:
        """Say a sentence to all of them, and to the log."""
        _log.log(logging.INFO if level == "info" else logging.WARNING, "%s: %s", self._session_id, message)
        notice = SessionNotice(session_id=self._session_id, level=level, message=message, source=source)
        self.emit("session/notice", notice)

    def tell_hook(self, hook: str, payload: Wire) -> None:
        """Notify those that registered the hook."""
        for connection in self._registered(hook):
            connection.notify(f"hook/{hook}", payload)

    # -- hooks -----------------------------------------------------------------------------------------------------

    def has_hook(self, hook: str) -> bool:
        """Whether any of them registered the hook."""
        return bool(self._registered(hook))

    async def ask_hook(self, hook: str, params: Wire, answer: type[A]) -> A | None:
        """Ask those that registered the hook in order; a cancel ends it, else the last that says something wins.

        Raises:
            OctavoError: hook-failed when one answers with an error or in a wrong shape.
        """
        won: A | None = None
        for connection in self._registered(hook):
            said = await self._ask_one(connection, hook, params, answer)
            if said is not None and said.model_dump(exclude_defaults=True, exclude_none=True):
                won = said
                if getattr(said, "cancel", False):
                    break
        return won

    async def _ask_one(self, connection: "Connection", hook: str, params: Wire, answer: type[A]) -> A | None:
        limit_ms = self._settings().hooks.timeout_ms
        try:
            return await connection.ask(f"hook/{hook}", params, answer, timeout_s=limit_ms / 1000)
        except TimeoutError:
            self.notice("warning", f"{connection.name} did not answer the hook {hook} within {limit_ms} ms", "hooks")
        except ClientGone:
            self.notice("warning", f"{connection.name} went away before it answered the hook {hook}", "hooks")
        except ClientError as error:
            raise OctavoError(
                ErrorKind.HOOK_FAILED,
                f"The hook {hook} of {connection.name} failed: {error.message}; fix the hook or unregister it.",
                sessionId=self._session_id,
                details={"hook": hook, "client": connection.name, "code": error.code},
            ) from error
        return None

    def _registered(self, hook: str) -> list["Connection"]:
        return [connection for connection in self.modes if hook in connection.options.client.hooks]

    # -- models ----------------------------------------------------------------------------------------------------

    @property
    def can_complete(self) -> bool:
        """Whether any of them offered to run models."""
        return bool(self._completers())

    async def complete(self, params: JsonObject) -> JsonObject:
        """Have the newest client that offers it run a model; when it goes away, the next one.

        Raises:
            OctavoError: provider-error when the call fails, takes longer than `client.completeTimeoutMs`
                (`details.timedOut`), or every such client went away; cancelled when the client cancelled it.
        """
        limit_ms = self._settings().client.complete_timeout_ms
        tried: set[Connection] = set()
        while waiting := [connection for connection in self._completers() if connection not in tried]:
            connection = waiting[0]
            tried.add(connection)
            try:
                answer = await connection.ask("llm/complete", params, LlmCompleteResult, timeout_s=limit_ms / 1000)
            except ClientGone:
                _log.info("%s went away while it ran a model for %s", connection.name, self._session_id)
            except TimeoutError:
                raise _provider_error(
                    f"{connection.name} did not answer llm/complete within {limit_ms} ms (client.completeTimeoutMs)",
                    details={"timedOut": True},
                ) from None
            except ClientError as error:
                raise _failed_call(connection.name, error) from error
            else:
                return answer.to_wire()
        raise _provider_error("The client that was to run the model went away before it answered; connect it again")

    def _completers(self) -> list["Connection"]:
        return [connection for connection in reversed(self.modes) if connection.options.client.complete]

    # -- the agent -------------------------------------------------------------------------------------------------

    async def abort_agent(self) -> None:
        """Ask all that can to stop the agent loop, at once, and wait at most `client.abortTimeoutMs`."""
        asked = [connection for connection in self.modes if connection.options.client.agent]
        async with anyio.create_task_group() as group:
            for connection in asked:
                group.start_soon(partial(self._abort_one, connection))

    async def _abort_one(self, connection: "Connection") -> None:
        limit_ms = self._settings().client.abort_timeout_ms
        params = AgentAbortParams(session_id=self._session_id, reason="compaction")
        try:
            await connection.ask("agent/abort", params, AgentAbortResult, timeout_s=limit_ms / 1000)
        except TimeoutError:
            text = f"{connection.name} did not stop its agent within {limit_ms} ms; going on without"
            self.notice("warning", text, "agent")
        except ClientGone:
            _log.info("%s went away while its agent was to stop", connection.name)
        except ClientError as error:
            self.notice("warning", f"{connection.name} could not stop its agent: {error.message}", "agent")


def _failed_call(name: str, error: ClientError) -> OctavoError:
    if error.code == ERRORS[ErrorKind.CANCELLED].code:
        return OctavoError(ErrorKind.CANCELLED, f"{name} cancelled the model call.")
    told = error.data if isinstance(error.data, dict) else {}
    kept: JsonObject = {key: told[key] for key in ("status", "retryAfterMs") if isinstance(told.get(key), int)}
    return _provider_error(f"{name} could not run the model: {error.message}", **kept)


def _provider_error(message: str, **data: Any) -> OctavoError:
    return OctavoError(ErrorKind.PROVIDER_ERROR, message, provider="client", **data)
