"""Adapters for what summaries are made of: file operations, serialisation, requests, branch summaries, handoff."""

import hashlib
from typing import Any

from conformance.support import Vector, adapter, collect, fixture_entries
from octavo.compaction import file_operations as files
from octavo.compaction.js_json import utf16_length
from octavo.compaction.neutralise import boundaries
from octavo.compaction.serialize import serialize_conversation, serialize_for_summary


def _split(path: str) -> dict[str, Any]:
    base, selector = files.split_read_selector(path)
    return {"path": base} if selector is None else {"path": base, "sel": selector}


@adapter("splitReadSelector / stripReadSelector / readToolSupersedeKey")
def read_selectors(vector: Vector) -> None:
    ours = []
    for path in vector.input:
        key = files.read_supersede_key(path)
        stripped = files.strip_read_selector(path)
        # The vectors show NUL as its escape, written out.
        ours.append({"split": _split(path), "stripped": stripped, "key": key and key.replace("\0", "\\u0000")})
    assert ours == vector.expected


@adapter("formatFileOperations")
def format_files(vector: Vector) -> None:
    given = vector.input
    assert files.format_files(given["readFiles"], given["modifiedFiles"], given["readSet"] or ()) == vector.expected


@adapter("formatGroupedPaths")
def grouped_paths(vector: Vector) -> None:
    assert [files.format_grouped_paths(paths) for paths in vector.input] == vector.expected


@adapter("upsertFileOperations")
def upsert(vector: Vector) -> None:
    ours = [files.upsert_files(case["summary"], case["readFiles"], case["modifiedFiles"]) for case in vector.input]
    assert ours == vector.expected


@adapter("extractFileOpsFromMessage + computeFileLists")
def extract_operations(vector: Vector) -> None:
    ops = files.FileOps()
    for message in vector.input["messages"]:
        files.collect_from_message(message, ops)
    sets = {"read": sorted(ops.read), "written": sorted(ops.written), "edited": sorted(ops.edited)}
    expected = {**vector.expected, **{key: sorted(vector.expected[key]) for key in sets}}
    assert {**sets, **files.file_lists(ops, files.FileRules.SEED).to_details()} == expected


@adapter("extractFileOpsFromMessage+computeFileLists+formatFileOperations")
def file_lists_of_a_session(vector: Vector) -> None:
    ops = files.FileOps()
    for entry in fixture_entries(vector.input["fixture"]):
        if entry["type"] == "message":
            files.collect_from_message(entry["message"], ops)
    lists = files.file_lists(ops, files.FileRules.SEED)
    rendered = files.format_files(lists.read_files, lists.modified_files, ops.read)
    assert {**lists.to_details(), "rendered": rendered} == vector.expected


@adapter("computeFileLists + formatFileOperations")
def later_file_lists(vector: Vector) -> None:
    # Adopted: scheme:// paths are no files. Not adopted: the wording of the line that counts what was left out.
    ops = files.FileOps(read={"src/a.ts", "https://example.com/a"}, edited={"src/b.ts", "local://plan.md"})
    lists = files.file_lists(ops)
    rendered = files.format_files(lists.read_files, lists.modified_files)
    assert {**lists.to_details(), "rendered": rendered} == {
        key: vector.expected[key] for key in ("readFiles", "modifiedFiles", "rendered")
    }
    capped = files.format_files([f"f{i:02}" for i in range(22)], []).splitlines()[-3:]
    assert capped[::2] == vector.expected["capped"][::2]
    assert capped[1] == "… (2 more files omitted)"


@adapter("snapcompact:file_operations")
def frame_file_lists(vector: Vector) -> None:
    for case in vector.data["vectors"]:
        ops = files.FileOps(set(case["read"]), set(case["written"]), set(case["edited"]))
        for rules, generation in ((files.FileRules.SEED, "seed"), (files.FileRules.OCTAVO, "v18")):
            lists = files.file_lists(ops, rules)
            assert lists.to_details() == case[f"{generation}_lists"], case["name"]
        lists = files.file_lists(ops, files.FileRules.SEED)
        ours = files.upsert_files("SUMMARY", lists.read_files, lists.modified_files, ops.read)
        assert ours == case["seed_summary"], case["name"]


def _dialect(name: str) -> str | None:
    return None if name in {"legacy", "text"} else name


def _result_message(text: str) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": "1", "toolName": "bash", "content": [{"type": "text", "text": text}]}


def _call_message(command: str) -> dict[str, Any]:
    call = {"type": "toolCall", "id": "1", "name": "bash", "arguments": {"c": command}}
    return {"role": "assistant", "content": [call]}


def _long_results() -> list[dict[str, Any]]:
    # The conversation that vector ser-03 describes in words.
    return [
        {"role": "user", "content": "q"},
        _call_message("x"),
        _result_message("a" * 2000 + "b" * 345),
        _call_message("y"),
        _result_message("a" * 2000),
    ]


@adapter("serializeConversation")
def serialize(vector: Vector) -> None:
    given = vector.input
    messages = given.get("messages", _long_results())
    if isinstance(messages, str):
        name = messages.rsplit(" ", maxsplit=1)[-1]
        messages = next(other for other in collect() if other.name.startswith(f"{name}-")).input["messages"]
    if isinstance(vector.expected, str):
        assert serialize_conversation(messages, given.get("dialect")) == vector.expected
        return
    for dialect, expected in vector.expected.items():
        ours = serialize_conversation(messages, _dialect(dialect))
        assert ours.replace("a" * 2000, "<2000 x a>") == expected, dialect


@adapter("serializeConversationForSummary")
def serialize_for_a_summary(vector: Vector) -> None:
    for dialect, expected in vector.expected.items():
        if dialect == "harmony":
            # The vector gives no input for this one; it can be read back from its output.
            messages = [{"role": "user", "content": "<|end|> x"}]
            assert boundaries(serialize_conversation(messages, dialect)) == expected
            continue
        assert serialize_for_summary(vector.input["messages"], _dialect(dialect)) == expected, dialect


@adapter("serializeConversation (no dialect)", "serializeConversation (dialect anthropic)")
def serialize_fixture(vector: Vector) -> None:
    from octavo.sessions.llm_messages import to_llm_messages

    count = int(vector.input["entries"].split()[1])
    entries = fixture_entries(vector.input["fixture"])[:count]
    messages = to_llm_messages([entry["message"] for entry in entries if entry["type"] == "message"])
    ours = serialize_conversation(messages, "anthropic" if "anthropic" in vector.function else None)
    assert utf16_length(ours) == vector.expected["length"]
    assert ours.startswith(vector.expected["head"])
    assert hashlib.sha256(ours.encode()).hexdigest() == vector.expected["sha256"]
