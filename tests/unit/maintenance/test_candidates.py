"""How often a model is tried, and when the next one is."""

import pytest

from octavo.maintenance.candidates import first_success
from octavo_protocol.completion import Model
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.settings import Settings

ONE = Model("p", "one")
QUICK = Settings.from_dotted({"retry.baseDelayMs": 0}).retry


async def calls_until_given_up(message: str, **data: object) -> int:
    calls = 0

    async def attempt(_model: Model) -> None:
        nonlocal calls
        calls += 1
        raise OctavoError(ErrorKind.PROVIDER_ERROR, message, provider="p", **data)

    with pytest.raises(OctavoError):
        await first_success([ONE], attempt, QUICK)
    return calls


@pytest.mark.parametrize("status", [400, 404, 413, 422])
async def test_a_request_refused_for_good_is_not_repeated_because_a_header_names_a_time(status: int) -> None:
    """Gateways tell in every answer when their window of requests starts anew; that makes no bad request good."""
    assert await calls_until_given_up("invalid request", status=status, retryAfterMs=1) == 1


async def test_a_failure_is_repeated_when_the_provider_asks_for_it() -> None:
    assert await calls_until_given_up("come back", status=429, retryAfterMs=1) == QUICK.max_retries + 1
    assert await calls_until_given_up("come back", retryAfterMs=1) == QUICK.max_retries + 1
