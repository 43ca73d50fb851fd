"""A host drives whole sessions against a provider that overflows, cuts, stalls, throttles and lies about usage.

What must hold in every run: no request is larger than the window, no turn asks for ever, every start has exactly one
end, and no call or result stands alone.
"""

import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from octavo.compaction.validators import pairing_violations
from octavo.maintenance.measuring import plain_estimate
from octavo.sessions.context import build_context
from octavo.sessions.llm_messages import to_llm_messages
from octavo.tokens.counting import count_tokens
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import CompletionRequest, CompletionResult, Model
from octavo_protocol.methods.maintenance import Directive
from octavo_protocol.settings import Settings
from support.scripted import SUMMARY, Scene, ScriptedModel, answer, assistant, call, failing, result, scene, text, user

WINDOW = 6_000
MODEL = Model("anthropic", "claude-sonnet-4-5", "anthropic-messages", WINDOW, 1_000, ("text",))
CALLS_PER_PROMPT = 40
LIES: tuple[Any, ...] = (math.nan, 10**12, -5, None, "many", math.inf)
OVERFLOWS = (
    "prompt is too long: 213462 tokens > 200000 maximum",
    "This model's maximum context length is 6000 tokens",
    "400 status code (no body)",
)


class Provider:
    """A model behind an API that behaves badly at a seeded pace; refuses what is larger than its window."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.kinds: Counter[str] = Counter()
        self.calls = 0

    def reply(self, sent: int, allowed: int) -> JsonObject:
        """An assistant message for a request of `sent` tokens; the provider's own limit is `allowed`."""
        self.calls += 1
        if sent > allowed:
            return self._overflow(sent)
        kind = self.dice.choices(
            ("answer", "tool", "cut", "empty", "stall", "throttle", "lie"), (40, 40, 4, 2, 2, 2, 10)
        )[0]
        self.kinds[kind] += 1
        usage: JsonObject = {"input": sent, "output": 20, "cacheRead": 0, "cacheWrite": 0, "totalTokens": sent + 20}
        words = text(self.dice.randrange(5, 120), seed=self.calls)
        if kind == "tool":
            return assistant(
                [call(f"t{self.calls}", "read", path=f"f{self.calls}.txt")], stopReason="toolUse", usage=usage
            )
        if kind == "cut":
            return assistant(words, stopReason="length", usage=usage)
        if kind == "empty":
            return assistant([], stopReason="length", usage={**usage, "output": 0})
        if kind == "stall":
            return assistant([], stopReason="error", errorMessage="stream stall: no data for 180 s")
        if kind == "throttle":
            return assistant([], stopReason="error", errorMessage="429 too many tokens per minute")
        if kind == "lie":
            lie = self.dice.choice(LIES)
            return assistant(words, usage={"input": lie, "output": lie, "cacheRead": lie, "totalTokens": lie})
        return assistant(words, usage=usage)

    def _overflow(self, sent: int) -> JsonObject:
        self.kinds["overflow"] += 1
        how = self.dice.randrange(3)
        if how == 0:
            return assistant("I answer all the same", usage={"input": max(sent, WINDOW + 1), "output": 5})
        if how == 1:
            return assistant([], stopReason="length", usage={"input": sent, "output": 0})
        return assistant([], stopReason="error", errorMessage=self.dice.choice(OVERFLOWS))


class SimulatedHost:
    """The loop of a host that does what directives say and nothing else."""

    def __init__(self, made: Scene, provider: Provider) -> None:
        self.made = made
        self.provider = provider
        self.stops = 0
        self.sent: list[int] = []

    async def prompt(self, words: int) -> None:
        message = user(f"Please go on. {text(words, seed=self.provider.calls)}")
        before = await self.made.maintainer.check_maintenance("prePrompt", pending_messages=[message])
        if before.next == "stop":
            self.stops += 1
            return
        assert before.next == "proceed"
        await self.made.session.append(messages=[message])
        for _ in range(CALLS_PER_PROMPT):
            if not await self._once():
                return
        raise AssertionError("the loop did not come to an end")

    async def _once(self) -> bool:
        session = self.made.session
        size = plain_estimate(self.made.host, session.branch())
        assert size <= WINDOW, "a request larger than the window was sent"
        self.sent.append(size)
        # Now and then the provider counts more than we do.
        strict = 0.6 if self.provider.dice.random() < 0.2 else 1.0
        reply = self.provider.reply(size, int(WINDOW * strict))
        await session.append(messages=[reply])
        if reply["stopReason"] == "toolUse":
            ident = reply["content"][0]["id"]
            words = self.provider.dice.choice((10, 60, 200, 600, 3_000))
            await session.append(messages=[result(ident, "read", text(words, seed=self.provider.calls))])
            return self._follow(await self.made.maintainer.check_maintenance("midTurn"), again=True)
        queued = self.provider.dice.random() < 0.1
        return self._follow(await self.made.maintainer.check_maintenance("turnEnd", queued=queued), again=False)

    def _follow(self, directive: Directive, *, again: bool) -> bool:
        if directive.next == "stop":
            self.stops += 1
            return False
        return again if directive.next == "proceed" else directive.next in {"retry", "autoContinue"}


async def simulate(
    seed: int, completion: ScriptedModel, turns: int = 300, **dotted: Any
) -> tuple[SimulatedHost, Scene]:
    settings = {
        "compaction.keepRecentTokens": 1_200,
        "retry.baseDelayMs": 0,
        "retry.maxRetries": 1,
        **{key.replace("__", "."): value for key, value in dotted.items()},
    }
    made = await scene(model=MODEL, settings=Settings.from_dotted(settings), completion=completion)
    host = SimulatedHost(made, Provider(seed))
    for _ in range(turns):
        await host.prompt(host.provider.dice.choice((5, 20, 80, 300, 700)))
        assert_events_pair_up(made)
    context = to_llm_messages(build_context(made.session.branch()).messages)
    assert not pairing_violations(context)
    return host, made


def assert_events_pair_up(made: Scene) -> None:
    for what in ("compaction", "handoff"):
        starts = [e.operation_id for e in made.host.named(f"session/{what}Start")]
        assert starts == [e.operation_id for e in made.host.named(f"session/{what}End")]
    assert len(made.host.named("session/compactionStart")) == len(
        {e.operation_id for e in made.host.named("session/compactionStart")}
    )


def flaky(seed: int) -> ScriptedModel:
    """A summariser that mostly answers, and sometimes fails in a way that passes."""
    dice = random.Random(seed)

    def reply(_: CompletionRequest) -> CompletionResult:
        return failing("overloaded", 529) if dice.random() < 0.2 else answer(SUMMARY)

    return ScriptedModel([reply])


@pytest.mark.parametrize("seed", [1, 2])
async def test_three_hundred_turns_against_a_bad_provider_stay_within_the_window_and_end(seed: int) -> None:
    host, made = await simulate(seed, flaky(seed))
    assert host.provider.kinds.keys() >= {"answer", "tool", "cut", "empty", "stall", "throttle", "lie", "overflow"}
    done = [e for e in made.host.named("session/compactionEnd") if e.result is not None]
    assert {"threshold", "midTurn", "overflow", "incomplete"} <= {e.reason for e in done}
    assert all(e.result.tokens_after < e.result.tokens_before for e in done)
    # The conversation goes on: being stopped is the exception.
    assert host.stops < 40
    assert len(host.sent) > 300


def echo(request: CompletionRequest) -> CompletionResult:
    """The conversation it was given, word for word."""
    return answer(str(request.messages[-1]["content"]))


def huge(_: CompletionRequest) -> CompletionResult:
    """More than the whole window."""
    return answer(text(4_000))


HOSTILE: dict[str, Callable[[CompletionRequest], CompletionResult]] = {
    "empty": lambda _: answer(""),
    "huge": huge,
    "echoing": echo,
    "refusing": lambda _: answer("I'm sorry, but I can't help with that."),
    "broken": lambda _: failing("invalid request", 400),
    "tool-calling": lambda _: CompletionResult((call("x", "read", path="a"),), "toolUse"),
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
async def test_a_hostile_summariser_never_brings_the_session_to_a_standstill(name: str) -> None:
    host, made = await simulate(7, ScriptedModel([HOSTILE[name]]), turns=60)
    written = [entry for entry in made.session.tree.entries if entry.get("type") == "compaction"]
    assert written, "when no model helps, the local summary steps in before the window is exceeded"
    assert all(count_tokens(entry["summary"]) < WINDOW // 2 for entry in written)
    assert len(host.sent) > 40
    assert host.stops < 20


async def test_summaries_refused_by_the_checks_open_the_breaker_instead_of_costing_calls_for_ever() -> None:
    completion = ScriptedModel([failing("invalid request", 400)])
    host, made = await simulate(3, completion, turns=40, compaction__localFallback="never")
    assert any("pauses" in message for _, message in made.host.notices)
    assert len(completion.requests) < 3 * len(host.sent)
