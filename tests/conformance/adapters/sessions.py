"""Vectors of the session core: reading, migration, tree, context and conversion (engine.md §1–3)."""

import json
import re
import secrets
import uuid
from collections.abc import Callable
from dataclasses import asdict
from itertools import count
from typing import Any

import pytest

from conformance.support import Vector, adapter, fixture_entries
from octavo import templates
from octavo.sessions import entry_factory as make
from octavo.sessions import ids
from octavo.sessions.branching import BranchRules, branch_out, collect_for_branch_summary
from octavo.sessions.context import ContextRules, SessionContext, build_context, restorable_models
from octavo.sessions.llm_messages import bash_execution_text, core_llm_messages, to_llm_messages
from octavo.sessions.migrate import migrate_to_current
from octavo.sessions.reading import load_session, parse_lines
from octavo.sessions.statistics import usage_statistics
from octavo.sessions.titles import retitled
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
    wanted = [value.get("id") if isinstance(value, dict) else value for value in vector.expected]
    assert [value.get("id") for value in lines.objects] == wanted


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
    expected = defined(vector.expected)
    assert seed_form(seed) == expected
    ours = build_context(path, transcript=transcript)
    if all(note.kind == "dangling-call" for note in ours.notes):
        assert seed_form(ours) == expected
    else:
        assert transcript or every_call_is_answered_once(ours.messages)


def defined(expected: dict[str, Any]) -> dict[str, Any]:
    """The fields that have a value; a setting that was cleared may be written as null or be left out."""
    return {key: value for key, value in expected.items() if value is not None}


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


HEADER = make.session_header("0190-s", "2026-01-01T00:00:00.000Z", "/work")


class Scribe:
    """Appends to a tree as a session does: ids id0, id1, …, a second apart, each under the leaf."""

    def __init__(self) -> None:
        self.tree = SessionTree(HEADER)
        self.new_id = counter("id")
        self.seconds = count()

    def stamp(self) -> make.Stamp:
        return make.Stamp(self.new_id(), self.tree.leaf_id, f"2026-01-01T00:00:{next(self.seconds):02d}.000Z")

    def add(self, entry: dict[str, Any]) -> str:
        self.tree.add(entry)
        return str(entry["id"])

    def say(self, role: str, text: str) -> str:
        return self.add(make.message_entry(self.stamp(), {"role": role, "content": text}))


@adapter("SessionManager.append*")
def shapes_entries(vector: Vector) -> None:
    scribe = Scribe()
    for shown in vector.expected:
        if shown["parentId"] != scribe.tree.leaf_id:
            scribe.tree.move_leaf(shown["parentId"])
        scribe.add(_made(scribe.stamp(), shown))
    assert [masked(entry) for entry in scribe.tree.entries] == vector.expected


def _made(stamp: make.Stamp, shown: dict[str, Any]) -> dict[str, Any]:
    """The entry that the call which must have made `shown` makes."""
    get = shown.get
    match shown["type"]:
        case "message":
            return make.message_entry(stamp, shown["message"])
        case "thinking_level_change":
            return make.thinking_level_entry(stamp, shown["thinkingLevel"])
        case "service_tier_change":
            return make.service_tier_entry(stamp, shown["serviceTier"])
        case "mode_change":
            return make.mode_entry(stamp, shown["mode"], get("data"))
        case "model_change":
            return make.model_entry(stamp, shown["model"], get("role"))
        case "session_init":
            optional = {"output_schema": get("outputSchema"), "spawns": get("spawns")}
            required = (shown["systemPrompt"], shown["task"], shown["tools"])
            return make.session_init_entry(stamp, *required, **optional, read_summarize=get("readSummarize"))
        case "compaction":
            return make.compaction_entry(
                stamp,
                summary=shown["summary"],
                short_summary=get("shortSummary"),
                first_kept_entry_id=shown["firstKeptEntryId"],
                tokens_before=shown["tokensBefore"],
                details=get("details"),
                from_extension=get("fromExtension"),
                preserve_data=get("preserveData"),
            )
        case "branch_summary":
            return make.branch_summary_entry(
                stamp, shown["summary"], details=get("details"), from_extension=get("fromExtension")
            )
        case "custom":
            return make.custom_entry(stamp, shown["customType"], get("data"))
        case "custom_message":
            return make.custom_message_entry(
                stamp,
                shown["customType"],
                shown["content"],
                display=shown["display"],
                details=get("details"),
                attribution=get("attribution"),
            )
        case "mcp_tool_selection":
            return make.tool_selection_entry(stamp, shown["selectedToolNames"])
        case "ttsr_injection":
            return make.rule_injection_entry(stamp, shown["injectedRules"])
        case "label":
            return make.label_entry(stamp, shown["targetId"], get("label"))
    raise AssertionError(f"no way to append a {shown['type']}")


@adapter("SessionManager tree")
def keeps_a_tree(vector: Vector) -> None:
    scribe = Scribe()
    tree = scribe.tree
    expected = vector.expected
    first = scribe.say("user", "u1")
    second = scribe.say("assistant", "a1")
    scribe.say("user", "u2")
    tree.move_leaf(second)
    other = scribe.say("user", "u2b")
    scribe.add(make.label_entry(scribe.stamp(), first, "start"))
    scribe.add(make.label_entry(scribe.stamp(), other, "later"))
    scribe.add(make.label_entry(scribe.stamp(), other, None))

    def nested(own: str) -> dict[str, Any]:
        entry = tree.by_id[own]
        kind = entry["message"]["content"] if entry["type"] == "message" else entry["type"]
        node = {"id": own, "kind": kind, "children": [nested(child) for child in tree.sorted_children(own)]}
        return node if tree.label_of(own) is None else {**node, "label": tree.label_of(own)}

    assert [nested(root) for root in tree.sorted_children(None)] == expected["tree"]
    assert {"a": tree.label_of(first), "d": tree.label_of(other)} == expected["labels"]
    assert len(tree.children(second)) == expected["childrenOfB"]
    assert tree.leaf_id is not None
    assert tree.by_id[tree.leaf_id]["type"] == expected["leafIsLastLabel"]
    for message in expected["errors"]:
        with pytest.raises(OctavoError, match=f"^{re.escape(message)}$"):
            tree.move_leaf("nope")
    tree.move_leaf(None)
    root = scribe.say("user", "another beginning")
    assert tree.by_id[root]["parentId"] == expected["secondRootParent"]
    assert len(tree.children(None)) == expected["roots"]
    tree.move_leaf(None)
    summary = make.branch_summary_entry(scribe.stamp(), "from root")
    assert masked({**summary, "id": "id7"}) == expected["branchSummaryFromRoot"]


@adapter("collectEntriesForBranchSummary")
def collects(vector: Vector) -> None:
    tree = SessionTree(HEADER, vector.input["entries"])
    found = []
    for old, target in vector.input["cases"]:
        abandoned = collect_for_branch_summary(tree, old, target)
        ids_found = [entry["id"] for entry in abandoned.entries]
        found.append(
            {"oldLeaf": old, "target": target, "entries": ids_found, "commonAncestorId": abandoned.common_ancestor_id}
        )
    assert found == vector.expected


@adapter("createBranchedSession")
def branches_out(vector: Vector) -> None:
    expected = vector.expected
    if "throws" in expected:
        scribe = Scribe()
        scribe.say("user", "u1")
        with pytest.raises(OctavoError, match=f"^{re.escape(expected['throws'])}$"):
            branch_out(scribe.tree, vector.input["leafId"], new_id=scribe.new_id, timestamp=LATER)
        return
    parts = {"entries": expected} if isinstance(expected, list) else expected
    roles = next((value for key, value in parts.items() if "roles" in key.lower()), None)
    shown = next((value for value in parts.values() if _are_entries(value)), None) or _from_kinds(parts, roles)
    shown = [entry for entry in shown if entry["type"] != "session"]
    given = vector.input if isinstance(vector.input, dict) else {}
    source = given["entries"] if _are_entries(given.get("entries")) else _source_of(shown)
    tree = SessionTree(HEADER, source)
    ends = [entry["id"] for entry in shown if entry["type"] != "label"]
    leaf = given["leafId"] if given.get("leafId") in tree else ends[-1]
    seed, ours = (_branched(tree, leaf, rules) for rules in (BranchRules.SEED, BranchRules.OCTAVO))
    assert [_without_ids(entry) for entry in seed] == [_without_ids(entry) for entry in shown]
    assert [entry["parentId"] for entry in seed[: len(ends)]] == [entry["parentId"] for entry in shown[: len(ends)]]
    # Ours: the same entries in one chain, so that nothing before a dropped label is lost.
    assert [_without_ids(entry) for entry in ours] == [_without_ids(entry) for entry in shown]
    assert [entry["parentId"] for entry in ours] == [None, *(entry["id"] for entry in ours[:-1])]
    for entries, is_seed in ((seed, True), (ours, False)):
        branched = SessionTree(HEADER, entries)
        found = [message["role"] for message in build_context(branched.path(branched.leaf_id)).messages]
        if roles is not None:
            assert found == roles if is_seed else found[len(found) - len(roles) :] == roles


LATER = "2026-01-01T00:00:09.000Z"


def _from_kinds(parts: dict[str, Any], roles: list[str] | None) -> list[dict[str, Any]]:
    """Entries for a list of kinds such as `message:user`; a label stood before the part that the context still has."""
    is_kind = re.compile(r"label\Z|message:").match
    lists = [value for key, value in parts.items() if "roles" not in key.lower() and isinstance(value, list)]
    kinds = next(value for value in lists if value and is_kind(str(value[0])))
    kept = [kind.partition(":") for kind in kinds if kind not in {"label", "session"}]
    first_seen = -1 if roles is None else len(kept) - len(roles)
    entries: list[dict[str, Any]] = []
    for number, (kind, _, role) in enumerate(kept):
        parent = "dropped" if 0 < number == first_seen else entries[-1]["id"] if entries else None
        message = {"role": role, "content": f"{role} {number}"}
        entries.append({"type": kind, "id": f"id{number}", "parentId": parent, "timestamp": LATER, "message": message})
    labels = [{"type": "label", "targetId": entry["id"], "label": "L"} for entry in entries]
    return [*entries, *labels[: kinds.count("label")]]


def _are_entries(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(e, dict) and "type" in e for e in value)


def _branched(tree: SessionTree, leaf: str, rules: BranchRules) -> list[dict[str, Any]]:
    return branch_out(tree, leaf, new_id=counter("new"), timestamp=LATER, rules=rules)


def _without_ids(entry: dict[str, Any]) -> dict[str, Any]:
    """Fresh labels have ids and times of their own, and hang under each other."""
    own = {"id", "parentId", "timestamp"} if entry["type"] == "label" else {"timestamp", "parentId"}
    return {key: value for key, value in entry.items() if key not in own}


def _source_of(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A session that branches out to `shown`: where a parent is missing stood a label, the other labels follow."""
    labels = [entry for entry in shown if entry["type"] == "label"]
    source: list[dict[str, Any]] = []
    for entry in (entry for entry in shown if entry["type"] != "label"):
        known = {None, *(other["id"] for other in source)}
        if entry["parentId"] not in known:
            label = labels.pop(0)
            source.append({**label, "id": entry["parentId"], "parentId": source[-1]["id"]})
        source.append(entry)
    for number, label in enumerate(labels):
        source.append({**label, "id": f"aside{number}", "parentId": source[-1]["id"]})
    return source


@adapter("SessionManager.fork")
def forks(vector: Vector) -> None:
    scribe = Scribe()
    scribe.say("user", "u1")
    scribe.say("assistant", "a1")
    old = scribe.tree.header
    new = make.session_header(
        ids.new_session_id(1767225600000, secrets.token_bytes), old["timestamp"], old["cwd"], parent_session=old["id"]
    )
    assert (new["parentSession"] == old["id"]) == vector.expected["parentSessionIsOldId"]
    assert len([new, *scribe.tree.entries]) == vector.expected["newFileLines"]
    names = {ids.session_file_name(header["timestamp"], header["id"]) for header in (old, new)}
    assert (len(names) == 2) == vector.expected["differentFile"]


@adapter("appendMessage")
def draws_ids(vector: Vector) -> None:
    entry_id = ids.new_entry_id(set(), random_bytes=secrets.token_bytes, now_ms=lambda: 1767225600000)
    assert bool(re.match(vector.expected["entryIdMatches"], entry_id)) == vector.expected["ok"]
    session_id = ids.new_session_id(1767225600000, secrets.token_bytes)
    assert (uuid.UUID(session_id).version == 7) == vector.expected["sessionIdIsUuidV7"]
    assert HEADER["version"] == vector.expected["headerVersion"]


@adapter("SessionManager file naming")
def names_files(vector: Vector) -> None:
    now = 1767225600123
    name = ids.session_file_name(ids.iso_timestamp(now), ids.new_session_id(now, secrets.token_bytes))
    assert bool(re.match(vector.expected["matches"], name)) == vector.expected["ok"]


@adapter("SessionManager.open")
def opens(vector: Vector) -> None:
    scribe = Scribe()
    model = scribe.add(make.model_entry(scribe.stamp(), "p/m"))
    scribe.say("user", "u1")
    scribe.say("assistant", "a1")
    scribe.say("user", "u2")
    scribe.tree.move_leaf(model)
    scribe.say("user", "on a branch")
    header = retitled(HEADER, "My title")
    file = "".join(json.dumps(line) + "\n" for line in (header, *scribe.tree.entries))
    session = load_session(file.encode())
    tree = SessionTree(session.header, session.entries)
    assert (session.header["title"], session.header["titleSource"]) == (
        vector.expected["title"],
        vector.expected["titleSource"],
    )
    assert len(tree) == vector.expected["entries"]
    assert (tree.leaf_id == tree.entries[-1]["id"]) == vector.expected["leafIsLastEntry"]
    roles = [e["message"]["role"] if e["type"] == "message" else e["type"] for e in tree.path(tree.leaf_id)]
    assert roles == vector.expected["branchRoles"]


@adapter("setSessionName")
def names_sessions(vector: Vector) -> None:
    header = HEADER
    for step in vector.expected:
        renamed = retitled(header, step["name"], step["source"])
        assert (renamed is not None) == step["accepted"]
        header = renamed or header
        assert (header.get("title"), header.get("titleSource")) == (step["current"], step["titleSource"])


@adapter("getUsageStatistics")
def counts_usage(vector: Vector) -> None:
    def usage(figures: tuple[int, ...], cost: float) -> dict[str, Any]:
        names = ("input", "output", "cacheRead", "cacheWrite")
        return {**dict(zip(names, figures, strict=True)), "cost": {"total": cost}}

    def result(tool: str, amount: dict[str, Any]) -> dict[str, Any]:
        return {"role": "toolResult", "toolName": tool, "toolCallId": "c", "content": [], "details": {"usage": amount}}

    # The assistant has what the vector counts beyond the sub-agent's share.
    expected = vector.expected
    share = (10, 5, 3, 2)
    names = ("input", "output", "cacheRead", "cacheWrite")
    own = tuple(expected[name] - part for name, part in zip(names, share, strict=True))
    scribe = Scribe()
    messages = [
        {"role": "assistant", "content": [], "usage": usage(own, expected["cost"] - 0.5)},
        result("task", usage(share, 0.5)),
        result("bash", usage((7, 7, 7, 7), 7)),
        {"role": "user", "content": "x", "usage": usage((7, 7, 7, 7), 7)},
    ]
    entries = [make.message_entry(scribe.stamp(), message) for message in messages]
    found = asdict(usage_statistics(entries))
    camel = {"cache_read": "cacheRead", "cache_write": "cacheWrite", "premium_requests": "premiumRequests"}
    assert {camel.get(name, name): figure for name, figure in found.items()} == expected


@adapter("computeDefaultSessionDir (basename)")
def names_folders(vector: Vector) -> None:
    places = {"<HOME>": "/home/ada", "<TMP>": "/tmp"}

    def placed(path: str) -> str:
        for mark, place in places.items():
            path = path.replace(mark, place)
        return path

    found = [
        ids.session_folder_name(placed(cwd), home=places["<HOME>"], temp=places["<TMP>"])
        for cwd in vector.input["cwds"]
    ]
    assert found == vector.expected
