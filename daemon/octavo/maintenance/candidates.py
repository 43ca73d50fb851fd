"""Which models may write a summary, in which order, and how often each is tried.

A transient failure is tried again after the provider's own delay or an exponential one; a long delay, a refused
credential, a time-out or a lasting failure moves on to the next candidate. No call that used up its time is repeated on
the same model (BR-058). Source: engine.md §13.4, §13.5.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol, TypeVar

from octavo.error_text.rate_limits import is_usage_limit_error
from octavo.error_text.verdicts import is_auth_failure, is_transient
from octavo_protocol.completion import Model
from octavo_protocol.errors import ErrorKind, OctavoError

R = TypeVar("R")

ROLES = ("default", "smol", "slow", "vision", "plan", "designer", "commit", "title", "task", "advisor")
"""Model roles in the order they are tried after the current model."""

LONG_DELAY_MS = 30_000
"""A longer wait than this prefers the next candidate, when there is one."""


class Policy(Protocol):
    """The retry settings."""

    @property
    def enabled(self) -> bool:
        """Whether transient failures are repeated at all."""
        ...

    @property
    def max_retries(self) -> int:
        """Repetitions with one model."""
        ...

    @property
    def base_delay_ms(self) -> int:
        """First delay; it doubles."""
        ...

    @property
    def max_delay_ms(self) -> int:
        """Longest delay a provider may ask for; 0 means any."""
        ...


def candidates(
    current: Model | None,
    roles: dict[str, str],
    find: Callable[[str], Model | None],
    known: Iterable[Model],
    reachable: Callable[[Model], bool],
    preferred: Model | None = None,
) -> list[Model]:
    """Models that can be called, best first: preferred, current, by role, then the largest window not yet named."""
    ordered = [preferred, current, *(find(roles[role]) for role in ROLES if role in roles)]
    found: dict[str, Model] = {}
    for model in ordered:
        if model is not None and model.ref not in found and reachable(model):
            found[model.ref] = model
    if current is not None:
        rest = sorted(known, key=lambda model: -model.context_window)
        largest = next((model for model in rest if model.ref not in found and reachable(model)), None)
        if largest is not None:
            found[largest.ref] = largest
    return list(found.values())


async def first_success(
    models: list[Model],
    attempt: Callable[[Model], Awaitable[R]],
    policy: Policy,
    *,
    any_failure: bool = True,
    on_failure: Callable[[Model, OctavoError, str], None] = lambda *_: None,
) -> tuple[Model, R]:
    """Try the models in order and return the first result.

    Args:
        models: As `candidates` gives them; empty is an error.
        attempt: One try with one model; inner retries are its callee's concern and should not exist.
        policy: Retry settings.
        any_failure: False for a manual run: only a refused credential moves on, everything else surfaces.
        on_failure: Told (model, error, "retry" | "next") before going on.

    Raises:
        OctavoError: The last candidate's error, in words the user can act on.
    """
    if not models:
        raise OctavoError(ErrorKind.NO_MODEL, "No model can be called for a summary: set a credential or a model.")
    last: OctavoError | None = None
    for position, model in enumerate(models):
        more = position + 1 < len(models)
        try:
            return model, await _tries(model, attempt, policy, on_failure, more=more)
        except OctavoError as error:
            if error.kind is ErrorKind.CANCELLED:
                raise
            refused = _is_auth(error)
            last = _credentials(model, error) if refused else error
            if not (refused or any_failure):
                raise
            if more:
                on_failure(model, last, "next")
    assert last is not None
    raise last


async def with_retries(
    model: Model,
    attempt: Callable[[Model], Awaitable[R]],
    policy: Policy,
    on_failure: Callable[[Model, OctavoError, str], None] = lambda *_: None,
) -> R:
    """Try one model, where no other may stand in: transient failures are repeated, every other error is raised as is.

    Raises:
        OctavoError: What the last try raised.
    """
    return await _tries(model, attempt, policy, on_failure, more=False)


async def _tries(
    model: Model,
    attempt: Callable[[Model], Awaitable[R]],
    policy: Policy,
    on_failure: Callable[[Model, OctavoError, str], None],
    *,
    more: bool,
) -> R:
    import stamina  # noqa: PLC0415 - needed by the first model call only

    failures = 0

    def backoff(error: Exception) -> bool | float:
        nonlocal failures
        delay = _delay_ms(error, failures, policy) if isinstance(error, OctavoError) else None
        failures += 1
        if delay is None or (delay > LONG_DELAY_MS and more):
            return False
        assert isinstance(error, OctavoError)
        on_failure(model, error, "retry")
        return delay / 1000

    async for try_ in stamina.retry_context(on=backoff, attempts=policy.max_retries + 1, timeout=None):
        with try_:
            return await attempt(model)
    raise AssertionError("the last try either returns or raises")


def _delay_ms(error: OctavoError, number: int, policy: Policy) -> int | None:
    """Milliseconds until the next try, or None when there must not be one."""
    details = error.data.get("details")
    timed_out = isinstance(details, dict) and bool(details.get("timedOut"))
    if not policy.enabled or number >= policy.max_retries or timed_out or error.kind is not ErrorKind.PROVIDER_ERROR:
        return None
    if _is_auth(error):
        return None
    hint = error.data.get("retryAfterMs")
    status = error.data.get("status")
    asked = hint is not None and not _is_final(status)
    if not (asked or is_transient(error.message, status) or is_usage_limit_error(error.message)):
        return None
    delay = max(policy.base_delay_ms * 2**number, hint or 0)
    return None if policy.max_delay_ms and delay > policy.max_delay_ms else delay


def _is_final(status: object) -> bool:
    """Whether a status says that the request itself is wrong: then a time to wait only tells of the gateway's quota."""
    return isinstance(status, int) and 400 <= status < 500 and not is_transient("", status)


def _is_auth(error: OctavoError) -> bool:
    if error.kind is ErrorKind.NO_MODEL:
        return True
    return error.kind is ErrorKind.PROVIDER_ERROR and is_auth_failure(error.message, error.data.get("status"))


def _credentials(model: Model, error: OctavoError) -> OctavoError:
    return OctavoError(
        ErrorKind.NO_MODEL,
        f"Compaction requires usable credentials for {model.ref}. Configure {model.provider} credentials or assign an "
        "authenticated fallback role such as modelRoles.smol.",
        provider=model.provider,
        **({"status": error.data["status"]} if error.data.get("status") else {}),
    )
