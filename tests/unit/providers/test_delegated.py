"""Letting the client run the model."""

from typing import Any

import pytest

from octavo.providers.client import HttpCompletion
from octavo.providers.credentials import Credentials
from octavo.providers.delegated import Delegated
from octavo.providers.router import Router
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import CompletionRequest, Model
from octavo_protocol.errors import ErrorKind, OctavoError

REQUEST = CompletionRequest(Model("any", "thing"), ("s",), ({"role": "user", "content": "hi"},), max_tokens=9)


def answering(answer: Any) -> Delegated:
    async def ask(params: JsonObject) -> Any:
        asked.append(params)
        return answer

    asked.clear()
    return Delegated(ask, lambda: "r1")


asked: list[JsonObject] = []


async def test_the_client_is_preferred_and_needs_no_key_or_known_api() -> None:
    router = Router(HttpCompletion(Credentials({}, {})), answering({"content": "done", "stopReason": "stop"}))
    assert router.reachable(REQUEST.model)
    assert (await router.complete(REQUEST)).text == "done"
    assert asked[0]["requestId"] == "r1"
    assert asked[0]["maxTokens"] == 9
    assert "tools" not in asked[0]


async def test_a_client_may_report_the_providers_error() -> None:
    answer = {"content": [], "stopReason": "error", "errorMessage": "429", "errorStatus": 429, "retryAfterMs": 5}
    result = await answering(answer).complete(REQUEST)
    assert (result.stop_reason, result.error_status, result.retry_after_ms) == ("error", 429, 5)


@pytest.mark.parametrize("odd", ["many", -3.7, 10**30, [1], None, float("nan")])
async def test_figures_that_are_no_counts_count_as_nothing(odd: Any) -> None:
    answer = {"content": "done", "stopReason": "stop", "usage": {"input": odd, "output": 7, "cost": {"total": odd}}}
    result = await answering(answer).complete(REQUEST)
    assert result.usage == {"input": 0, "output": 7, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 7}


ODD: list[JsonObject] = [
    {"content": [{"type": "text"}], "stopReason": "stop"},
    {"content": [{"type": "text", "text": 3}], "stopReason": "stop"},
]


@pytest.mark.parametrize(
    "answer", [None, {}, {"content": 3}, {"content": [1]}, {"content": [], "stopReason": "maybe"}, *ODD]
)
async def test_an_answer_of_the_wrong_shape_is_a_typed_error(answer: Any) -> None:
    with pytest.raises(OctavoError, match="llm/complete") as caught:
        await answering(answer).complete(REQUEST)
    assert caught.value.kind is ErrorKind.PROVIDER_ERROR
