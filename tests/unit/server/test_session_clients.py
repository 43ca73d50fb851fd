"""Asking the clients of a session: hooks in order, models by whoever is newest and still there, bounded waits."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from octavo.server.connection import ClientError, ClientGone
from octavo.server.session_clients import SessionClients
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.lifecycle import ClientOptions, InitializationOptions
from octavo_protocol.methods.hooks import SessionBeforeTreeParams, SessionBeforeTreeResult, TreePreparation
from octavo_protocol.settings import Settings

HOOK = "sessionBeforeTree"
PARAMS = SessionBeforeTreeParams(
    session_id="s", preparation=TreePreparation(target_id="t", entries_to_summarize=[], user_wants_summary=False)
)
SETTINGS = Settings.from_dotted(
    {"hooks.timeoutMs": 1500, "client.completeTimeoutMs": 2500, "client.abortTimeoutMs": 3500}
)


class FakeClient:
    """A connection that answers `ask` by its script: a JSON object, or an exception."""

    def __init__(self, name: str, answer: Any, *, hooks: tuple[str, ...] = (HOOK,), **can: bool) -> None:
        self.name = name
        self.options = InitializationOptions(client=ClientOptions(hooks=list(hooks), **can))
        self.answer = answer
        self.asked: list[tuple[str, float | None]] = []
        self.heard: list[tuple[str, Any]] = []

    async def ask(self, method: str, params: Any, result: Any, *, timeout_s: float | None = None) -> Any:
        self.asked.append((method, timeout_s))
        if isinstance(self.answer, Exception):
            raise self.answer
        return result.model_validate(self.answer)

    def notify(self, method: str, params: Any) -> None:
        self.heard.append((method, params))


class FakeDaemon:
    """Records what is broadcast."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def broadcast(self, session_id: str, method: str, params: Any) -> None:
        assert (session_id, method) == ("s", "session/notice")
        self.told.append(params)


def session(*clients: FakeClient) -> tuple[SessionClients, FakeDaemon]:
    daemon = FakeDaemon()
    asked = SessionClients(daemon, "s", lambda: SETTINGS)  # type: ignore[arg-type]
    for client in clients:
        asked.modes[client] = "write"  # type: ignore[index]
    return asked, daemon


async def ask(*clients: FakeClient) -> tuple[SessionBeforeTreeResult | None, list[str]]:
    asked, daemon = session(*clients)
    answer = await asked.ask_hook(HOOK, PARAMS, SessionBeforeTreeResult)
    return answer, [notice.message for notice in daemon.told]


def summary(text: str) -> JsonObject:
    return {"summary": {"summary": text}}


async def test_the_last_hook_that_says_something_wins() -> None:
    clients = [FakeClient("a", summary("first")), FakeClient("b", summary("second")), FakeClient("c", {})]
    answer, told = await ask(*clients)
    assert answer is not None
    assert answer.summary is not None
    assert answer.summary.summary == "second"
    assert not told
    assert [client.asked for client in clients] == [[("hook/sessionBeforeTree", 1.5)]] * 3


async def test_a_hook_that_cancels_ends_the_round() -> None:
    after = FakeClient("b", summary("never asked"))
    answer, _ = await ask(FakeClient("a", {"cancel": True}), after)
    assert answer is not None
    assert answer.cancel
    assert after.asked == []


async def test_only_those_that_registered_a_hook_are_asked_and_told() -> None:
    deaf = FakeClient("deaf", summary("x"), hooks=())
    asked, _ = session(deaf)
    assert not asked.has_hook(HOOK)
    assert await asked.ask_hook(HOOK, PARAMS, SessionBeforeTreeResult) is None
    hears = FakeClient("hears", {}, hooks=("sessionTree",))
    asked, _ = session(deaf, hears)
    asked.tell_hook("sessionTree", PARAMS)
    assert hears.heard == [("hook/sessionTree", PARAMS)]
    assert deaf.heard == []


@pytest.mark.parametrize("failure", [TimeoutError(), ClientGone("gone")])
async def test_a_hook_that_does_not_answer_counts_as_silent_and_is_told(failure: Exception) -> None:
    answer, told = await ask(FakeClient("slow", failure), FakeClient("b", summary("said")))
    assert answer is not None
    assert answer.summary is not None
    assert len(told) == 1
    assert "slow" in told[0]


async def test_a_hook_that_fails_is_an_error_that_names_it() -> None:
    with pytest.raises(OctavoError) as caught:
        await ask(FakeClient("broken", ClientError(-32603, "boom")))
    assert caught.value.kind is ErrorKind.HOOK_FAILED
    assert "broken" in caught.value.message
    assert "boom" in caught.value.message


ANSWER: JsonObject = {"content": [{"type": "text", "text": "done", "extra": None}], "stopReason": "stop"}


def runs(name: str, answer: Any) -> FakeClient:
    return FakeClient(name, answer, hooks=(), complete=True)


async def test_the_newest_client_that_offers_it_runs_the_model() -> None:
    old, new, cannot = runs("old", ANSWER), runs("new", ANSWER), FakeClient("x", ANSWER, hooks=())
    asked, _ = session(old, new, cannot)
    assert asked.can_complete
    assert await asked.complete({}) == ANSWER
    assert (old.asked, new.asked, cannot.asked) == ([], [("llm/complete", 2.5)], [])
    assert not session(cannot)[0].can_complete


async def test_when_the_client_goes_away_another_one_runs_the_model() -> None:
    old, new = runs("old", ANSWER), runs("new", ClientGone("gone"))
    asked, _ = session(old, new)
    assert await asked.complete({}) == ANSWER
    old.answer = ClientGone("gone too")
    with pytest.raises(OctavoError) as caught:
        await asked.complete({})
    assert caught.value.kind is ErrorKind.PROVIDER_ERROR
    assert "went away" in caught.value.message


async def test_a_model_call_that_takes_too_long_says_so_and_is_not_given_to_the_next() -> None:
    old = runs("old", ANSWER)
    asked, _ = session(old, runs("slow", TimeoutError()))
    with pytest.raises(OctavoError) as caught:
        await asked.complete({})
    assert caught.value.kind is ErrorKind.PROVIDER_ERROR
    assert caught.value.data["details"] == {"timedOut": True}
    assert old.asked == []


async def test_what_the_provider_told_the_client_is_kept() -> None:
    failure = ClientError(-31031, "429 slow down", {"kind": "provider-error", "status": 429, "retryAfterMs": 700})
    asked, _ = session(runs("a", failure))
    with pytest.raises(OctavoError) as caught:
        await asked.complete({})
    assert (caught.value.data["status"], caught.value.data["retryAfterMs"]) == (429, 700)
    asked, _ = session(runs("a", ClientError(-32800, "cancelled")))
    with pytest.raises(OctavoError) as caught:
        await asked.complete({})
    assert caught.value.kind is ErrorKind.CANCELLED


@pytest.mark.parametrize(
    ("answer", "notices"),
    [({"stopped": True}, 0), (TimeoutError(), 1), (ClientError(-32603, "no"), 1), (ClientGone("gone"), 0)],
)
async def test_stopping_the_agent_never_stops_the_work(answer: Any, notices: int) -> None:
    agent, other = FakeClient("agent", answer, agent=True), FakeClient("other", {})
    asked, daemon = session(agent, other)
    await asked.abort_agent()
    assert agent.asked == [("agent/abort", 3.5)]
    assert other.asked == []
    assert len(daemon.told) == notices


def test_notices_reach_the_log_as_well(caplog: pytest.LogCaptureFixture) -> None:
    asked, daemon = session()
    levels: list[Callable[[], None]] = [
        lambda: asked.notice("info", "quiet", "test"),
        lambda: asked.notice("warning", "loud", "test"),
    ]
    with caplog.at_level(logging.WARNING):
        for say in levels:
            say()
    assert [notice.session_id for notice in daemon.told] == ["s", "s"]
    assert [record.message for record in caplog.records] == ["s: loud"]
