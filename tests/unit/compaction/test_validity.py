"""What a model is sent stays acceptable whatever was compacted, navigated, pruned and shaken before."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.compaction.checks import GateOptions, check_compaction
from octavo.compaction.drop_images import drop_images
from octavo.compaction.prepare import prepare_compaction
from octavo.compaction.prune import PruneConfig, prune_tool_outputs, read_key
from octavo.compaction.shake import RESCUE_SHAKE, apply_shake_regions, collect_shake_regions, shake_placeholder
from octavo.compaction.validators import violations
from octavo.sessions.context import build_context
from octavo.sessions.llm_messages import to_llm_messages
from octavo.sessions.tree import SessionTree
from octavo.tokens.estimate import Estimator
from octavo_protocol.completion import Model
from octavo_protocol.settings import CompactionSettings

APIS = ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"]
LONG = "see\n```\n" + "alpha beta gamma delta\n" * 110 + "```"
IMAGE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
SUMMARY = "## Goal\nGo on with the work as it was asked for."


class History:
    """A session that grows by random steps, as an agent and its user would make it grow."""

    def __init__(self) -> None:
        self.tree = SessionTree({"type": "session", "id": "s", "version": 3})
        self.made = 0
        self.clock = 0
        self.say("user", "Begin, please.")
        for number in range(3):
            self.call(2, signed=bool(number))
            self.answer(0, LONG, image=True)
            self.answer(0, "ok", image=False)
        self.say("assistant", LONG)
        self.say("user", "And now?")

    def add(self, body: dict[str, Any]) -> None:
        self.made += 1
        self.tree.add({"id": f"h{self.made}", "parentId": self.tree.leaf_id, **body})

    def say(self, role: str, text: str, **extra: Any) -> None:
        self.clock += 1000
        content = [{"type": "text", "text": text}]
        message = {"role": role, "content": content, "stopReason": "stop", "timestamp": self.clock, **extra}
        self.add({"type": "message", "message": message})

    def call(self, count: int, *, signed: bool) -> None:
        thinking = [{"type": "thinking", "thinking": "hm", "thinkingSignature": f"sig{self.made}"}] if signed else []
        blocks = [
            {"type": "toolCall", "id": f"c{self.made}.{n}", "name": "read", "arguments": {"path": f"f{n}.py"}}
            for n in range(count)
        ]
        self.say("assistant", "x", content=[*thinking, {"type": "text", "text": LONG}, *blocks])

    def answer(self, choice: int, text: str, *, image: bool) -> None:
        asked = [b["id"] for e in self.path() for b in blocks_of(e, "toolCall")]
        answered = {e.get("message", {}).get("toolCallId") for e in self.path()}
        waiting = [call for call in asked if call not in answered]
        if waiting:
            content = [{"type": "text", "text": text}, *([IMAGE] if image else [])]
            self.say("toolResult", "", toolCallId=waiting[choice % len(waiting)], toolName="read", content=content)

    def path(self) -> list[dict[str, Any]]:
        return list(self.tree.path(self.tree.leaf_id))

    def replace(self, entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            self.tree.replace(entry)

    def compact(self, keep: int, api: str) -> None:
        path = self.path()
        plan = prepare_compaction(path, CompactionSettings(keep_recent_tokens=keep))
        if plan is None:
            return
        draft = {"type": "compaction", "summary": SUMMARY, "firstKeptEntryId": plan.first_kept_entry_id}
        gate = check_compaction(path, draft, plan, Estimator(), GateOptions(Model("p", "m", api)))
        assert set(gate.failed) <= {"shrinks"}, gate.checks
        self.add({"tokensBefore": plan.tokens_before, **gate.entry})


def blocks_of(entry: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    content = entry.get("message", {}).get("content")
    return [b for b in content if b["type"] == kind] if isinstance(content, list) else []


STEPS = st.one_of(
    st.tuples(st.just("user"), st.sampled_from(["Next?", LONG])),
    st.tuples(st.just("assistant"), st.sampled_from(["Done.", LONG, "Shall I go on?"])),
    st.tuples(st.just("call"), st.integers(1, 3), st.booleans()),
    st.tuples(st.just("answer"), st.integers(0, 5), st.sampled_from(["ok", LONG]), st.booleans()),
    st.tuples(st.just("label")),
    st.tuples(st.just("note")),
    st.tuples(st.just("bash")),
    st.tuples(st.just("navigate"), st.integers(0, 40)),
    st.tuples(st.just("compact"), st.sampled_from([0, 100, 700, 2000])),
    st.tuples(st.just("compact"), st.sampled_from([0, 1000])),
    st.tuples(st.just("prune")),
    st.tuples(st.just("shake")),
    st.tuples(st.just("images")),
)


def take(history: History, step: tuple[Any, ...], api: str) -> None:
    match step:
        case ("user" | "assistant" as role, text):
            history.say(role, text)
        case ("call", count, signed):
            history.call(count, signed=signed)
        case ("answer", choice, text, image):
            history.answer(choice, text, image=image)
        case ("label",):
            history.add({"type": "label", "targetId": "h1", "label": "x"})
        case ("note",):
            history.add({"type": "custom_message", "customType": "n", "content": "note", "display": True})
        case ("bash",):
            history.say("bashExecution", "", command="ls", output=LONG)
        case ("navigate", choice):
            entries = history.tree.entries
            history.tree.move_leaf(entries[choice % len(entries)]["id"])
        case ("compact", keep):
            history.compact(keep, api)
        case ("prune",):
            config = PruneConfig(protect_tokens=0, minimum_savings=0, supersede_key=read_key)
            history.replace(prune_tool_outputs(history.path(), config, 1, Estimator()).replacements)
        case ("shake",):
            regions = collect_shake_regions(history.path(), RESCUE_SHAKE, Estimator())
            line = lambda region, number: shake_placeholder(region, number, None)  # noqa: E731
            history.replace(apply_shake_regions(history.path(), regions, line, 1).replacements)
        case ("images",):
            history.replace(drop_images(history.path()).replacements)


@settings(max_examples=120, deadline=None)
@given(st.lists(STEPS, min_size=4, max_size=25), st.sampled_from(APIS))
def test_every_context_along_the_way_is_valid_for_the_api(steps: list[tuple[Any, ...]], api: str) -> None:
    history = History()
    for step in steps:
        take(history, step, api)
        sent = to_llm_messages(build_context(history.path()).messages)
        assert violations(sent, api) == [], step


@settings(max_examples=80, deadline=None)
@given(st.lists(STEPS, min_size=4, max_size=25))
def test_signed_reasoning_is_sent_with_the_bytes_it_was_signed_with_or_not_at_all(steps: list[tuple[Any, ...]]) -> None:
    """BR-034."""
    history = History()
    signed: dict[str, str] = {}
    for step in steps:
        take(history, step, "anthropic-messages")
        for entry in history.tree.entries:
            for block in blocks_of(entry, "thinking"):
                turn = json.dumps(entry["message"]["content"])
                assert signed.setdefault(block["thinkingSignature"], turn) == turn
        for message in build_context(history.path()).messages:
            for block in message["content"] if isinstance(message.get("content"), list) else []:
                if block.get("thinkingSignature"):
                    assert json.dumps(message["content"]) == signed[block["thinkingSignature"]]


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=25), st.integers(0, 40), st.sampled_from([0, 300]))
def test_going_back_to_before_a_compaction_brings_the_whole_context_back(
    steps: list[tuple[Any, ...]], choice: int, keep: int
) -> None:
    """BR-023, BR-110."""
    history = History()
    for step in steps:
        take(history, step, "")
    leaf = history.tree.leaf_id
    before = copy.deepcopy(build_context(history.path()).messages)
    history.compact(keep, "")
    history.tree.move_leaf(leaf)
    assert build_context(history.path()).messages == before


@pytest.mark.samples
@pytest.mark.parametrize("name", ["before-compaction.jsonl", "large-session.jsonl"])
def test_a_real_session_compacted_five_times_in_a_row_stays_valid(samples: Path, name: str) -> None:
    from conformance.support import fixture_entries

    entries = list(fixture_entries(f"fixtures/{name}"))
    history = History()
    history.tree = SessionTree({"type": "session", "id": "s", "version": 3}, entries)
    for keep in (60_000, 9_000, 100, 25_000, 1_000):
        history.compact(keep, "anthropic-messages")
        history.say("user", f"Go on with {keep}.")
        history.say("assistant", LONG)
        sent = to_llm_messages(build_context(history.path()).messages)
        for api in APIS:
            assert [v for v in violations(sent, api) if v.rule != "call-id"] == []
