"""Vectors of the session core: reading, migration, tree, context and conversion (engine.md §1–3)."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from conformance.support import Vector, adapter, fixture_entries
from octavo import templates
from octavo.sessions.context import ContextRules, SessionContext, build_context, restorable_models
from octavo.sessions.llm_messages import bash_execution_text, core_llm_messages, to_llm_messages
from octavo.sessions.migrate import migrate_to_current
from octavo.sessions.reading import load_session, parse_lines
from octavo.sessions.tree import SessionTree
from octavo_protocol.errors import ErrorKind, OctavoError


def counter(prefix: str) -> Callable[[], str]:
    numbers = count()
    return lambda: f"{prefix}{next(numbers)}"


def masked(value: Any) -> Any:
    """The generator replaced entry timestamps by a placeholder."""
    return {**value, "timestamp": "<ts>"} if isinstance(value, dict) and "timestamp" in value else value


@adapter("migrateToCurrentVersion")
def migrates(vector: Vector) -> None:
    if "fixture" in vector.input:
        migrates_fixture(vector)
        return
    for name, objects in vector.input.items():
        expected = vector.expected[name]
        header, *entries = objects
        result = migrate_to_current(header, entries, new_id=counter("id"))
        assert result.changed == expected["changed"], name
        assert [masked(e) for e in (result.header, *result.entries)] == expected["entries"], name


def migrates_fixture(vector: Vector) -> None:
    entries = fixture_entries(vector.input["fixture"])
    expected = vector.expected
    assert len(entries) == expected["entryCount"]
    assert (entries[0]["parentId"], entries[-1]["id"], entries[-1]["parentId"]) == (
        expected["firstParentId"],
        expected["lastId"],
        expected["lastParentId"],
    )
    compactions = [
        {
            "fileIndex": line,
            "firstKeptEntryId": entry.get("firstKeptEntryId"),
            "hasFirstKeptEntryIndex": "firstKeptEntryIndex" in entry,
            "tokensBefore": entry["tokensBefore"],
        }
        for line, entry in enumerate(entries, start=1)
        if entry["type"] == "compaction"
    ]
    assert compactions == expected["compactions"]
    roles: dict[str, int] = {}
    for entry in entries:
        key = f"message:{entry['message']['role']}" if entry["type"] == "message" else entry["type"]
        roles[key] = roles.get(key, 0) + 1
    assert roles == expected["rolesCount"]


@adapter("parseSessionEntries")
def parses(vector: Vector) -> None:
    lines = parse_lines(vector.input["content"].encode())
    assert [value.get("id") for value in lines.objects] == vector.expected


@adapter("loadEntriesFromFile")
def refuses_what_is_no_session(vector: Vector) -> None:
    """The seed reads these as empty and then writes over them; ours refuses (engine.md §17 no. 18)."""
    assert set(vector.expected) == {"badHeader", "empty", "missing", "headerIdNotString"}
    assert not any(vector.expected.values())
    cases = {
        "badHeader": b'{"type":"message","id":"a","parentId":null}\n',
        "empty": b"",
        "headerIdNotString": b'{"type":"session","id":7}\n{"type":"message","id":"a"}\n',
    }
    for data in cases.values():
        with pytest.raises(OctavoError) as refused:
            load_session(data)
        assert refused.value.kind is ErrorKind.SESSION_UNREADABLE


def seed_form(context: SessionContext) -> dict[str, Any]:
    """The seed's result object with undefined fields left out."""
    found: dict[str, Any] = {
        "messages": context.messages,
        "thinkingLevel": context.thinking_level,
        "models": context.models,
        "injectedTtsrRules": context.injected_rules,
        "selectedMCPToolNames": context.selected_tools,
        "hasPersistedMCPToolSelection": context.has_tool_selection,
        "mode": context.mode,
    }
    if context.service_tier is not None:
        found["serviceTier"] = context.service_tier
    if context.mode_data is not None:
        found["modeData"] = context.mode_data
    return found


@adapter("buildSessionContext")
def builds_context(vector: Vector) -> None:
    if "fixture" in vector.input:
        builds_fixture_context(vector)
        return
    tree = SessionTree({"type": "session", "id": "s", "version": 3}, vector.input["entries"])
    leaf = vector.input.get("leafId", tree.leaf_id)
    if leaf is not None and leaf not in tree:
        leaf = tree.leaf_id
    options = vector.input.get("options") or {}
    transcript = bool(options.get("transcript") or vector.input.get("transcript"))
    path = tree.path(leaf)
    seed = build_context(path, transcript=transcript, rules=ContextRules.SEED)
    assert seed_form(seed) == vector.expected
    ours = build_context(path, transcript=transcript)
    if all(note.kind == "dangling-call" for note in ours.notes):
        assert seed_form(ours) == vector.expected
    else:
        assert transcript or every_call_is_answered_once(ours.messages)


def every_call_is_answered_once(messages: list[dict[str, Any]]) -> bool:
    open_calls: list[str] = []
    for message in messages:
        if message["role"] == "toolResult":
            if message["toolCallId"] not in open_calls:
                return False
            open_calls.remove(message["toolCallId"])
        elif open_calls:
            return False
        elif message["role"] == "assistant" and isinstance(message.get("content"), list):
            open_calls = [b["id"] for b in message["content"] if b.get("type") == "toolCall"]
    return not open_calls


def builds_fixture_context(vector: Vector) -> None:
    entries = fixture_entries(vector.input["fixture"])
    expected = vector.expected
    by_identity = {id(entry["message"]): entry["id"] for entry in entries if entry["type"] == "message"}

    def name(message: dict[str, Any]) -> str:
        if message["role"] == "compactionSummary":
            return f"compactionSummary(len={len(message['summary'])},tokensBefore={message['tokensBefore']})"
        return f"{message['role']}:{by_identity.get(id(message), '?')}"

    for rules in ContextRules:
        context = build_context(entries, rules=rules)
        names = [name(message) for message in context.messages]
        assert names == expected["llmAll"]
        assert (names[:6], names[-4:], len(names)) == (
            expected["llm"]["head"],
            expected["llm"]["tail"],
            expected["llm"]["count"],
        )
        assert (context.thinking_level, context.models, context.mode) == (
            expected["llm"]["thinkingLevel"],
            expected["llm"]["models"],
            expected["llm"]["mode"],
        )
        assert roles_of(context.messages) == expected["llmRoleCounts"]
        assert every_call_is_answered_once(context.messages)
        transcript = build_context(entries, transcript=True, rules=rules)
        assert len(transcript.messages) == expected["transcript"]["count"]
        assert roles_of(transcript.messages) == expected["transcript"]["roleCounts"]


def roles_of(messages: list[dict[str, Any]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for message in messages:
        counts[message["role"]] = counts.get(message["role"], 0) + 1
    return counts


@adapter("getRestorableSessionModels")
def restores_models(vector: Vector) -> None:
    found = [restorable_models(case["models"], case["lastModelChangeRole"]) for case in vector.input]
    assert found == vector.expected


def masks_template(value: Any, source: dict[str, Any]) -> Any:
    """Vectors hide the wording of the context templates; put the same mask over ours."""
    names = {"branchSummary": "branch-summary-context", "compactionSummary": "compaction-summary-context"}
    if (name := names.get(source["role"])) is None:
        return value
    first, *rest = value["content"]
    summary = source["summary"]
    assert first["text"] == templates.render(name, summary=summary)
    assert f"<summary>\n{summary}\n</summary>" in first["text"]
    return {**value, "content": [{"type": "text", "text": f"{{{{{name} summary={summary}}}}}"}, *rest]}


@adapter("convertToLlm (one message at a time)")
def converts(vector: Vector) -> None:
    found = [[masks_template(m, source) for m in to_llm_messages([source])] for source in vector.input]
    assert found == vector.expected


@adapter("defaultConvertToLlm (agent core; app roles dropped)")
def converts_for_the_core(vector: Vector) -> None:
    found = [len(core_llm_messages([{"role": role, "content": [], "summary": "s"}])) for role in vector.input]
    assert found == vector.expected


@adapter("bashExecutionToText")
def tells_a_command(vector: Vector) -> None:
    run = {"role": "bashExecution", "command": "c", "output": "o", "exitCode": 0, "cancelled": False}
    assert [bash_execution_text({**run, "meta": meta}) for meta in vector.input] == vector.expected


@adapter("format (applied to every rendered template)")
def formats(vector: Vector) -> None:
    assert [templates.format_text(text) for text in vector.input] == vector.expected


@adapter("render")
def renders(vector: Vector) -> None:
    assert [templates.render_text(template, values) for template, values in vector.input] == vector.expected
