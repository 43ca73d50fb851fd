"""The single table that says which function answers which method.

A handler module declares

    @handles("session/getInfo")
    async def get_info(connection: Connection, params: SessionParams) -> SessionInfo: ...

and is listed in `octavo.server.handlers.MODULES`; `advertise(...)` names what else it makes work. Params arrive
validated as the model the method table names; the result is a model of the named type (or, for bulk, the JSON object
it would become). A plain `def` runs at once on the event loop and is for answers that are at hand; an `async def` runs
in its own cancel scope, which `$/cancelRequest` cancels. Raise `OctavoError` for what the user can act on; anything
else is reported as a defect.

What a handler has at hand (see `connection` and `daemon` for details):

- `connection.notify("session/notice", params)`: to this client, before the answer; `ephemeral=True, key=…` coalesces
- `connection.daemon.broadcast(session_id, "session/didChange", params)`: to every client subscribed to the session
- `with connection.progress(params.work_done_token, "Compacting") as bar: bar.report("summary", percentage=40)`
- `await connection.ask("llm/complete", params, LlmCompleteResult, timeout_s=…)`: a request to the client; raises
  `ClientError`, `ClientGone` or `TimeoutError`; cancelling it cancels it at the client
- `connection.daemon.start(work)`: work that outlives this client
- `connection.daemon.service(SessionHub)`: shared state, made on first use as `SessionHub(daemon)`
- `connection.options`: what the client said in `initialize` (settings, models, what it can do)
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from octavo.server import failures

if TYPE_CHECKING:
    from octavo.server.connection import Connection

P = TypeVar("P", bound=BaseModel)
R = TypeVar("R")
Function: TypeAlias = "Callable[[Connection, Any], Awaitable[Any] | Any]"

_HANDLERS: dict[str, Function] = {}
_OFFERS: set[tuple[str, str]] = set()


class Spec(Protocol):
    """The part of a `MethodSpec` that dispatch needs."""

    @property
    def name(self) -> str:
        """Method name on the wire."""
        ...

    @property
    def params(self) -> type[BaseModel]:
        """Model of the params."""
        ...


@dataclass(frozen=True)
class Handler:
    """A method that is implemented."""

    spec: Spec
    function: Function

    def validate(self, raw: Any) -> BaseModel:
        """Return the params as the method's model; absent params count as an empty object.

        Raises:
            OctavoError: invalid-params, listing every bad field as `{loc, msg}`.
        """
        if raw is None:
            raw = {}
        if not isinstance(raw, dict):
            raise failures.bad_params(self.spec.name, [{"loc": [], "msg": "params must be an object"}])
        try:
            return self.spec.params.model_validate(raw)
        except ValidationError as error:
            raise failures.invalid_params(self.spec.name, error) from None
        except RecursionError:
            raise failures.bad_params(self.spec.name, [{"loc": [], "msg": "params nest too deeply"}]) from None


@dataclass(frozen=True, slots=True)
class Offer:
    """What works beside the methods, as `initialize` advertises it; each sorted."""

    notifications: tuple[str, ...] = ("$/progress", "window/logMessage")
    strategies: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()


class Offered(Protocol):
    """What `initialize` tells; a `Table` knows it, and so does the generated list before there is a table."""

    @property
    def implemented(self) -> list[str]:
        """Names of the methods that work, sorted."""
        ...

    @property
    def offer(self) -> Offer:
        """What works beside them."""
        ...


@dataclass(frozen=True, slots=True)
class Advertised:
    """`Offered`, as it was found when the list was generated."""

    implemented: list[str]
    offer: Offer


class Table:
    """Every method a client may call, and the handlers of those that are implemented.

    Args:
        specs: Methods of the protocol that go from client to daemon, by name.
        handlers: Functions by name of the method or notification.
        offer: What else is advertised.
        notifications: Notifications that go from client to daemon and are not LSP's own, by name.
    """

    def __init__(
        self,
        specs: Mapping[str, Spec],
        handlers: Mapping[str, Function],
        offer: Offer = Offer(),
        notifications: Mapping[str, Spec] = MappingProxyType({}),
    ) -> None:
        rows = {**notifications, **specs}
        if unknown := sorted(set(handlers) - set(rows)):
            raise LookupError(f"handlers without a row in the method table: {', '.join(unknown)}")
        self._offer = offer
        self.notifications = notifications
        """Notifications of ours that a client may send, by name."""
        self._specs = specs
        self._handlers = {name: Handler(rows[name], function) for name, function in handlers.items()}

    @property
    def offer(self) -> Offer:
        """What is advertised beside the methods."""
        return self._offer

    def get(self, method: str) -> Handler | None:
        """Return the handler of a method or notification, or None when there is none."""
        return self._handlers.get(method)

    def __contains__(self, method: object) -> bool:
        """Whether the protocol has the method, implemented or not."""
        return method in self._specs

    @cached_property
    def implemented(self) -> list[str]:
        """Names of the methods that work, sorted: what `initialize` advertises."""
        return sorted(name for name in self._handlers if name in self._specs)

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Handlers by method name."""
        return self._handlers


def handles(method: str) -> "Callable[[Callable[[Connection, P], R]], Callable[[Connection, P], R]]":
    """Bind a function to a method of the protocol.

    Raises:
        LookupError: When the method has a handler already.
    """

    def bind(function: "Callable[[Connection, P], R]") -> "Callable[[Connection, P], R]":
        if method in _HANDLERS:
            raise LookupError(f"{method} has two handlers")
        _HANDLERS[method] = function
        return function

    return bind


def advertise(
    *, notifications: Iterable[str] = (), strategies: Iterable[str] = (), formats: Iterable[str] = ()
) -> None:
    """Name what a handler module makes work, at module level: what it sends, compacts with, imports."""
    _OFFERS.update(("notifications", name) for name in notifications)
    _OFFERS.update(("strategies", name) for name in strategies)
    _OFFERS.update(("formats", name) for name in formats)


def advertised() -> Advertised:
    """Return what the daemon's own table will offer, without loading it; see `advertise`."""
    from octavo.server import advertised as found  # noqa: PLC0415 - generated from this module's table

    return Advertised(list(found.METHODS), Offer(found.NOTIFICATIONS, found.STRATEGIES, found.FORMATS))


def table() -> Table:
    """Return the daemon's own table: every handler module is imported, every method of the protocol is known."""
    from octavo.server.handlers import load  # noqa: PLC0415 - handlers import this module
    from octavo_protocol.methods import METHODS, Direction  # noqa: PLC0415 - building the models takes a while
    from octavo_protocol.notifications import NOTIFICATIONS  # noqa: PLC0415 - as above

    load()
    ours = Direction.CLIENT_TO_DAEMON
    specs = {name: spec for name, spec in METHODS.items() if spec.direction is ours}
    notifications = {name: spec for name, spec in NOTIFICATIONS.items() if spec.direction is ours}
    return Table(specs, _HANDLERS, _offer(), notifications)


def _offer() -> Offer:
    def named(kind: str) -> tuple[str, ...]:
        return tuple(sorted(name for of, name in _OFFERS if of == kind))

    always = Offer().notifications
    return Offer(tuple(sorted({*always, *named("notifications")})), named("strategies"), named("formats"))
