"""Adapters for whole sessions: maintenance after a turn, manual and idle compaction, hooks, handoff, shake, navigation.

The vectors say in words how their sessions were built; the builders here read the figures out of those words and of the
expected values. Toy texts are replaced where our rules would refuse them: a summary "S1" is answered by one that passes
the checks, and turns are as long as their usage says, because a measurement far from the estimate is not believed
(known failures BR-026, BR-062); for the same reason a system prompt fills up contexts that are said to be nearly full.

Deliberate deviations, each recognised by structure and asserted as ours:

- A recovery that did not happen (failed, or forbidden by the settings) leaves the failed turn in the context; the seed
  had taken it out already (engine.md §17c 107).
- An answer to a request beyond the window (silent overflow) is dropped before the retry, so that no request ends in an
  assistant turn; the seed's rebuild brings it back.
- A body that is too large in bytes is no overflow of tokens (engine.md §17c 92).
- A manual compaction has a start and an end event as well; the context afterwards is estimated, not unknown (BR-044).
- A manual shake protects the newest tokens (engine.md §17c 139); the seed's limits are passed here.
"""

import re
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, count
from pathlib import Path
from typing import Any, TypeVar

import anyio

from conformance.support import Vector, adapter
from octavo import templates
from octavo.compaction.shake import SEED_MANUAL_SHAKE
from octavo.error_text.overflow import classify_text
from octavo.maintenance.handoff_session import HandoffSession, HandoffWish
from octavo.maintenance.idle import run_idle
from octavo.maintenance.reducing import shake
from octavo.maintenance.strategies import Wish
from octavo.sessions.context import build_context
from octavo.sessions.live import LiveSession
from octavo.sessions.tree import is_leaf_marker
from octavo.tokens.counting import count_tokens
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import CompletionRequest, CompletionResult
from octavo_protocol.errors import OctavoError
from octavo_protocol.settings import Settings
from support.scripted import SONNET, SUMMARY, Scene, ScriptedModel, answer, assistant, failing, result, scene, user

R = TypeVar("R")

_OTHER = replace(SONNET, id="claude-haiku-4-5")
_PLAUSIBLE_FACTOR, _PLAUSIBLE_ALLOWANCE = 3, 60_000
_TRANSIENT = "overloaded"


def _words(tokens: int, word: str = "alpha") -> str:
    """Text of exactly so many tokens."""
    made = " ".join([word] * tokens)
    while count_tokens(made) > tokens:
        made = made.rsplit(" ", 1)[0]
    while count_tokens(made) < tokens:
        made += " a"
    assert count_tokens(made) == tokens
    return made


def _run(work: Callable[[], Awaitable[None]]) -> None:
    anyio.run(work)


async def _outcome(work: Callable[[], Awaitable[R]]) -> tuple[R | None, str | None]:
    """The result, or the message of the error."""
    try:
        return await work(), None
    except OctavoError as error:
        return None, error.message


def _roles(path: Sequence[JsonObject], *, without: str | None = None) -> list[str]:
    context = build_context(path)
    shown = []
    for message, entry_id in zip(context.messages, context.entry_ids, strict=True):
        stop = message.get("stopReason")
        if entry_id != without:
            shown.append(f"{message['role']}/{stop}" if stop in {"error", "aborted"} else message["role"])
    return shown


def _shown(entry: JsonObject) -> str:
    kind = str(entry["type"])
    if kind == "message":
        return f"message:{entry['message']['role']}"
    return f"{kind}:{entry['customType']}" if kind == "custom_message" else kind


def _auto_events(made: Scene) -> list[JsonObject]:
    """Our events under the seed's names."""
    shown: list[JsonObject] = []
    for name, payload in made.host.events:
        if name == "session/compactionStart":
            shown.append(
                {
                    "type": "auto_compaction_start",
                    "reason": payload.reason,
                    "action": payload.action,
                    "hasResult": False,
                }
            )
        elif name == "session/compactionEnd":
            end: JsonObject = {
                "type": "auto_compaction_end",
                "action": payload.action,
                "aborted": payload.aborted,
                "willRetry": payload.will_retry,
            }
            if payload.skipped:
                end["skipped"] = True
            if payload.error_message is not None:
                end["errorMessage"] = payload.error_message
            shown.append({**end, "hasResult": payload.result is not None})
    return shown


# -- AgentSession agent_end maintenance ----------------------------------------------------------------------------


def _figure(setup: str, pattern: str, otherwise: int) -> int:
    found = re.search(pattern, setup)
    return int(found[1]) if found else otherwise


class _PairFailing(ScriptedModel):
    """Fails history and turn prefix, which are asked for at once, in this order and both of them, as the seed does.

    After `pairs` such failures it answers.
    """

    def __init__(self, failure: CompletionResult, pairs: int = 1000) -> None:
        super().__init__([*[failure] * pairs, answer(SUMMARY)])
        self._prefix_asked = anyio.Event()

    async def complete(self, request: CompletionRequest, on_progress: Any = None) -> CompletionResult:
        if len(self.script) == 1:
            return await super().complete(request, on_progress)
        if templates.render("compaction-turn-prefix")[:60] in str(request.messages):
            self.requests.append(request)
            self._prefix_asked.set()
            await anyio.sleep_forever()
        with anyio.fail_after(5):
            await self._prefix_asked.wait()
        self._prefix_asked = anyio.Event()
        return await super().complete(request, on_progress)


class _AgentEnd:
    """One scenario: the session its words describe, and what our maintenance makes of it."""

    def __init__(self, setup: str, case: JsonObject) -> None:
        self.case = case
        self.words = str(case["case"])
        self.turns = _figure(setup, r"(\d+) turns", 2)
        self.answer_tokens = _figure(setup, r"assistant of (\d+) tokens", 120)
        self.keep = _figure(setup, r"keepRecentTokens (\d+)", 121)
        self.model = replace(SONNET, context_window=_figure(setup, r"window (\d+)", SONNET.context_window))
        self.last: JsonObject = case["lastMessage"]
        usage = self.last.get("usage") or {}
        self.sent = sum(usage.get(key, 0) for key in ("input", "cacheRead", "cacheWrite"))
        self.output = usage.get("output", 0)
        self.by_other = "another model" in self.words
        self.is_stale = "stale" in self.words

    @property
    def summariser(self) -> ScriptedModel:
        if "summarizer fails" in self.words:
            return _PairFailing(failing("invalid request", 400))
        if "transient" in self.words:
            return _PairFailing(failing(_TRANSIENT, 529), pairs=1)
        return ScriptedModel([answer(SUMMARY)])

    @property
    def system_prompt(self) -> tuple[str, ...]:
        """What makes the usage plausible for texts this short."""
        missing = -(-max(0, self.sent - _PLAUSIBLE_ALLOWANCE) // _PLAUSIBLE_FACTOR)
        return (_words(missing + 10),) if missing else ()

    @property
    def settings(self) -> Settings:
        # The seed shrinks its budget by the ratio of usage to estimate, however absurd, and keeps the message that goes
        # beyond it, where ours keeps what fits; so what the seed keeps is given outright. A turn that is dropped before
        # the compaction takes its usage along.
        estimated = self.turns * (self.answer_tokens + 2) + 2 + self.output
        stays = self.last["stopReason"] == "stop" and self.sent <= self.model.context_window
        keep = max(1, int(self.keep / max(1, self.sent / estimated))) if stays else self.keep
        newest = [*([max(1, self.output)] if stays else []), count_tokens("final"), self.answer_tokens]
        sums = list(accumulate(newest))
        keep = next((total for total in sums if total >= keep), sums[-1])
        return Settings.from_dotted(
            {
                "compaction.keepRecentTokens": keep,
                "compaction.autoContinue": False,
                "compaction.localFallback": "never",
                "contextPromotion.enabled": False,
                "retry.baseDelayMs": 0,
                **self.case["settings"],
            }
        )

    async def built(self) -> Scene:
        made = await scene(
            model=self.model,
            others=[_OTHER],
            settings=self.settings,
            completion=self.summariser,
            system_prompt=self.system_prompt,
        )
        for number in range(1, self.turns + 1):
            await made.session.append(messages=[user(f"ask{number}"), assistant(_words(self.answer_tokens))])
        if self.is_stale:
            entry = {
                "type": "compaction",
                "summary": SUMMARY,
                "firstKeptEntryId": made.session.branch()[0]["id"],
                "tokensBefore": 1,
            }
            await made.session.write_compaction(entry, made.session.leaf_id)
        text = _words(max(1, self.output)) if self.last["stopReason"] != "error" else None
        last = assistant([] if text is None else text, **self.last)
        last["timestamp"] = 1 if self.is_stale else made.host.now_ms()
        last["model"] = _OTHER.id if self.by_other else self.model.id
        await made.session.append(messages=[user("final"), last])
        return made

    async def check(self) -> None:
        made = await self.built()
        old_leaf = made.session.leaf_id
        done = await made.maintainer.check_maintenance("turnEnd")
        session: LiveSession = made.host.successors[0] if made.host.successors else made.session
        entries = [entry for entry in session.tree.entries if not is_leaf_marker(entry)]
        wanted = self.case
        written = sum(entry["type"] == "compaction" for entry in entries)
        if self.is_payload:
            assert (_auto_events(made), done.next) == ([], "stop"), self.words
            return
        assert _auto_events(made) == wanted["events"], self.words
        assert len(made.host.completion.requests) == wanted["llmCalls"], self.words
        assert int(done.next == "retry") == wanted["continueCalls"], self.words
        assert [_shown(e) for e in entries[-len(wanted["lastEntryTypes"]) :]] == wanted["lastEntryTypes"], self.words
        assert written == wanted["compactions"], self.words
        roles = _roles(session.branch(), without=done.drop_entry_id)
        if done.next == "retry" and self.last["stopReason"] == "stop":
            assert old_leaf not in build_context(session.branch()).entry_ids
            assert (roles[0], roles[-1]) == (wanted["agentRoles"][0], "user"), self.words
        elif self.failed_in_vain(done.next):
            failed = "assistant/error" if self.last["stopReason"] == "error" else "assistant"
            assert roles == [*wanted["agentRoles"], failed], self.words
        else:
            assert roles == wanted["agentRoles"], self.words

    @property
    def is_payload(self) -> bool:
        error = self.last.get("errorMessage")
        return bool(self.case["events"]) and isinstance(error, str) and classify_text(error) == "payload"

    def failed_in_vain(self, following: str) -> bool:
        """Whether the seed left the failed turn out although nothing came of the recovery."""
        return following != "retry" and self.case["agentRoles"][-1] == "user"


@adapter("AgentSession agent_end maintenance")
def agent_end(vector: Vector) -> None:
    async def work() -> None:
        for case in vector.expected:
            await _AgentEnd(vector.input["setup"], case).check()

    _run(work)


# -- AgentSession.compact --------------------------------------------------------------------------------------------


async def _talked(turns: int, usage: JsonObject | None = None, folder: Path | None = None, **changes: Any) -> Scene:
    """Some turns with an answer of 120 tokens, the last one shorter and with a usage."""
    keep = 13 if turns > 1 else 1000
    dotted = {"compaction.keepRecentTokens": keep, "compaction.localFallback": "never", **changes.pop("dotted", {})}
    made = await scene(folder, settings=Settings.from_dotted(dotted), **changes)
    for number in range(turns):
        newest = number == turns - 1
        said = assistant(_words(10 if newest else 120), **({"usage": usage} if newest and usage else {}))
        await made.session.append(messages=[user(f"ask {number}"), said])
    return made


@adapter("AgentSession.compact")
def manual_compact(vector: Vector) -> None:
    async def work() -> None:
        made: Scene | None = None
        for case in vector.expected:
            wanted = case["r"]
            if case["case"] != "again" or made is None:
                made = await _compactable(case)
            done, refused = await _outcome(partial(made.compactor.compact, Wish("manual")))
            assert refused == wanted.get("threw"), case["case"]
            if done is None:
                assert (made.slot.current is not None) is case.get("stillCompacting", False)
                continue
            entry = made.session.branch()[-1]
            kept = made.session.tree.get(done.first_kept_entry_id)
            assert done.summary.startswith(SUMMARY), case["case"]
            assert bool(done.short_summary) == bool(wanted.get("shortSummary"))
            assert (entry["tokensBefore"], kept["message"]["role"]) == (wanted["tokensBefore"], wanted["keptRole"])
            assert entry["type"] == case["lastEntryType"]
            assert entry["fromExtension"] is case["fromExtension"]
            assert _roles(made.session.branch()) == case["agentRoles"]
            assert [e["reason"] for e in _auto_events(made) if "reason" in e] == ["manual"]

    _run(work)


async def _compactable(case: JsonObject) -> Scene:
    words = str(case["case"])
    threw = case["r"].get("threw")
    script: list[Any] = [answer(SUMMARY)]
    if re.fullmatch(r"\d{3}", words):
        script = [failing("refused", int(words))]
    elif threw and threw.startswith("Summarization failed: "):
        script = [failing(threw.removeprefix("Summarization failed: "), 400)]
    before = case["r"].get("tokensBefore", 110)
    usage = {"input": before - 10, "output": 10}
    turns = 1 if words == "one turn" else 2
    return await _talked(turns, usage if turns > 1 else None, completion=ScriptedModel(script))


@adapter("AgentSession.compact with extension handlers")
def compact_with_hooks(vector: Vector) -> None:
    names = {
        "session_before_compact": "sessionBeforeCompact",
        "session.compacting": "sessionCompacting",
        "session_compact": "sessionCompact",
    }

    async def work() -> None:
        for case in vector.expected:
            logged = [item["type"] for item in case["log"]]
            wanted = case["result"]
            made = await _hooked(case, logged)
            done, refused = await _outcome(partial(made.compactor.compact, Wish("manual")))
            assert refused == wanted.get("threw")
            if done is None:
                assert case["entry"] is None
                assert made.session.branch()[-1]["type"] == "message"
            else:
                entry = made.session.branch()[-1]
                assert done.summary.startswith(wanted["summary"] if entry["fromExtension"] else SUMMARY)
                assert done.details == wanted["details"]
                if entry["fromExtension"]:
                    shown = (entry["tokensBefore"], done.short_summary)
                    assert shown == (wanted["tokensBefore"], wanted["shortSummary"])
                assert {key: entry[key] for key in case["entry"]} == case["entry"]
            asked = [*made.host.hooks_asked, *made.host.hooks_told]
            assert [name for name, _ in asked] == [names[kind] for kind in logged]
            for item, (_, payload) in zip(case["log"], asked, strict=True):
                shown_keys = set(payload.to_wire()) | {"signal", "type", "customInstructions"}
                assert set(item["keys"]) <= shown_keys
                if "messages" in item:
                    assert len(payload.to_wire()["messages"]) == item["messages"]
                if "fromExtension" in item:
                    assert payload.to_wire()["fromExtension"] is item["fromExtension"]
            assert len(made.host.completion.requests) == case["llmCalls"]

    _run(work)


async def _hooked(case: JsonObject, logged: Sequence[str]) -> Scene:
    """Two turns (or what the compacting hook was shown), with hooks that answer what the case's result shows."""
    wanted, answers = case["result"], {}
    if "threw" in wanted:
        answers["sessionBeforeCompact"] = {"cancel": True}
    elif "session_before_compact" in logged:
        answers["sessionBeforeCompact"] = {"compaction": wanted}
    shown = next((item["messages"] for item in case["log"] if "messages" in item), 4)
    if "session.compacting" in logged:
        answers["sessionCompacting"] = {"preserveData": wanted["preserveData"]}
    return await _talked(shown // 2 + 1, hook_answers=answers)


# -- AgentSession.runIdleCompaction ----------------------------------------------------------------------------------


@adapter("AgentSession.runIdleCompaction")
def idle_compaction(vector: Vector) -> None:
    async def work() -> None:
        for case in vector.expected:
            words = str(case["case"])
            dotted: dict[str, Any] = {"compaction.enabled": "enabled=false" not in words}
            if "strategy off" in words:
                dotted["compaction.strategy"] = "off"
            script = [failing("invalid request", 400)] if words == "error" else [answer(SUMMARY)]
            turns = 1 if "nothing to compact" in words else 3
            made = await _talked(turns, dotted=dotted, completion=ScriptedModel(list(script)))
            await run_idle(made.maintainer)
            ours = _auto_events(made)
            assert len(ours) == len(case["events"]), words
            for event, expected in zip(ours, case["events"], strict=True):
                assert {key: event.get(key) for key in expected} == expected, words
                assert ("errorMessage" in event, "skipped" in event) == (
                    "errorMessage" in expected,
                    "skipped" in expected,
                )

    _run(work)


# -- AgentSession.handoff --------------------------------------------------------------------------------------------


@adapter("AgentSession.handoff")
def handoff(vector: Vector) -> None:
    async def work() -> None:
        for case in vector.expected:
            with tempfile.TemporaryDirectory() as folder:
                await _handed_off(case, Path(folder))

    _run(work)


async def _handed_off(case: JsonObject, folder: Path) -> None:
    wanted = case["r"]
    completion = ScriptedModel([answer(wanted.get("document", SUMMARY))])
    made = await _talked(0 if case["case"] == "too few" else 2, folder=folder, completion=completion)
    if case["case"] == "pre-aborted":
        made.host.completion = _Aborting(made)
    old = made.session.path
    leaf = made.session.leaf_id
    done, refused = await _outcome(partial(HandoffSession(made.host, made.slot).hand_off, HandoffWish()))
    await made.session.close()
    assert refused == wanted.get("threw")
    if done is None:
        assert (made.host.successors, made.session.leaf_id) == ([], leaf)
        return
    new = made.host.successors[0]
    entries = new.branch()
    await new.close()
    assert done.document == wanted["document"]
    assert (new.path != old) is case["newFile"]
    assert (new.header["parentSession"] == str(old)) is case["parentIsOldFile"]
    assert (new.path is not None and new.path.exists()) is case["fileExists"]
    assert _roles(entries) == case["agentRoles"]
    for entry, expected in zip(entries, case["entries"], strict=True):
        plain = {key: value for key, value in expected.items() if key not in {"contentStarts", "containsDoc"}}
        assert {key: entry.get(key) for key in plain} == plain
        assert entry["content"].startswith(expected["contentStarts"])
        assert (done.document in entry["content"]) is expected["containsDoc"]


class _Aborting(ScriptedModel):
    """A model that is never reached: the run is aborted first."""

    def __init__(self, made: Scene) -> None:
        super().__init__()
        self.made = made

    async def complete(self, request: CompletionRequest, on_progress: Any = None) -> CompletionResult:
        self.made.slot.abort()
        await anyio.lowlevel.checkpoint()
        raise AssertionError("the abort must end the run here")


# -- AgentSession.shake ----------------------------------------------------------------------------------------------


@adapter("AgentSession.shake")
def shake_session(vector: Vector) -> None:
    first, again = vector.expected
    label, tokens = re.match(r"### region 1 \((\w+), ~(\d+) tok\)", first["artifactHead"]).groups()  # type: ignore[union-attr]
    output = _numbered(int(tokens))

    async def work() -> None:
        with tempfile.TemporaryDirectory() as folder:
            made = await scene(Path(folder))
            call = {"type": "toolCall", "id": "c1", "name": label, "arguments": {}}
            await made.session.append(messages=[user("run it"), assistant([call]), result("c1", label, output)])
            done = await shake(made.host, SEED_MANUAL_SHAKE)
            message = made.session.branch()[-1]["message"]
            assert _shake_figures(done) == first["result"]
            assert message["content"][0]["text"] == first["text"]
            assert ("prunedAt" in message) is first["pruned"]
            assert made.host.artifacts.names() == first["artifactFiles"]
            assert made.host.artifacts.read(done.artifact_id or "").text.startswith(first["artifactHead"])
            assert _shake_figures(await shake(made.host, SEED_MANUAL_SHAKE)) == again["again"]
            await made.session.close()

    _run(work)


def _numbered(tokens: int) -> str:
    """The words `alpha0 alpha1 …`, as many as make so many tokens."""
    words: list[str] = []
    for number in count():
        words.append(f"alpha{number}")
        if count_tokens(" ".join(words)) >= tokens:
            break
    return " ".join(words)


def _shake_figures(done: Any) -> JsonObject:
    shown: JsonObject = {
        "mode": "elide",
        "toolResultsDropped": done.result.tool_results_dropped,
        "blocksDropped": done.result.blocks_dropped,
        "tokensFreed": done.result.tokens_freed,
    }
    return shown if done.artifact_id is None else {**shown, "artifactId": done.artifact_id}


# -- AgentSession.navigateTree ---------------------------------------------------------------------------------------


_TREE: tuple[tuple[str, JsonObject], ...] = (
    ("u1", {"type": "message", "message": user("first")}),
    ("a1", {"type": "message", "message": assistant("answer one")}),
    (
        "u2",
        {
            "type": "message",
            "message": user(
                [
                    {"type": "text", "text": "sec"},
                    {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
                    {"type": "text", "text": "ond"},
                ]
            ),
        },
    ),
    ("a2", {"type": "message", "message": assistant("answer two")}),
    ("cm", {"type": "custom_message", "customType": "note", "content": "custom text", "display": True}),
    ("a3", {"type": "message", "message": assistant("answer three")}),
)


@adapter("AgentSession.navigateTree")
def navigate_tree(vector: Vector) -> None:
    async def work() -> None:
        for case in vector.expected:
            await _navigated(case)

    _run(work)


async def _navigated(case: JsonObject) -> None:
    wanted = case.get("result") or {}
    ending = ((wanted.get("summaryEntry") or {}).get("summaryEndsWith")) or ":SUMMARY"
    made = await scene(completion=ScriptedModel([answer(f"The first idea was tried and given up{ending}")]))
    await made.session.append([entry for _, entry in _TREE], ids=[ident for ident, _ in _TREE])
    options = case.get("options", {"summarize": True})
    if case.get("case") == "summary aborted":
        made.host.completion = _Aborting(made)
    if "threw" in case:
        made.host.completion = ScriptedModel([failing(case["threw"], 400)])
    target = case.get("target", "u1")
    go = partial(
        made.navigator.navigate,
        target,
        summarize=options.get("summarize", False),
        custom_instructions=options.get("customInstructions"),
    )
    threw = case.get("threw") or wanted.get("threw")
    done, refused = await _outcome(go)
    assert (refused is None) is (threw is None)
    if done is None:
        assert (threw or "").replace("<id>", target) in (refused or "")
        assert made.session.leaf_id == case["leafAfter"]
        return
    leaf = made.session.leaf_id
    assert (done.cancelled, done.aborted or None) == (wanted["cancelled"], wanted["aborted"])
    if done.cancelled:
        assert leaf == case["leafAfter"]
        return
    roles = _roles(made.session.branch())
    assert leaf not in dict(_TREE) if case["leafAfter"] == "<new>" else leaf == case["leafAfter"]
    assert (made.session.tree.get(leaf)["type"] if leaf else None) == case["leafType"]
    assert roles == case["agentRoles"]
    assert wanted["contextRoles"] in (None, roles)
    assert done.editor_text == wanted["editorText"]
    expected, entry = wanted["summaryEntry"], done.summary_entry
    assert (entry is None) == (expected is None)
    if entry is not None:
        shown = {"parent": entry["parentId"], **{key: entry[key] for key in ("fromId", "details", "fromExtension")}}
        assert shown == {key: expected[key] for key in shown}
        assert entry["summary"].endswith(expected["summaryEndsWith"])
