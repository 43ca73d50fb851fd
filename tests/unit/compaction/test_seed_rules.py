"""The seed's rules, from the sentences that describe them: every value here is read off engine.md, not off a vector."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.compaction.cut_point import CutRules, find_cut_point
from octavo.compaction.file_operations import format_files, format_grouped_paths
from octavo.compaction.prune import PruneRules, SupersedeConfig, prune_superseded_tool_results
from octavo.compaction.requests import reasoning_effort
from octavo.tokens.estimate import EstimateRules, Estimator, estimate_tokens
from octavo.tokens.thresholds import ThresholdRules, resolve_threshold_tokens
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model
from octavo_protocol.settings import CompactionSettings


@pytest.mark.parametrize(
    ("read", "modified", "known", "lines"),
    [
        (
            ["src/compaction.ts"],
            ["src/utils.ts", "src/prompts/file-operations.md"],
            ["src/utils.ts"],
            ["# src/", "compaction.ts (Read)", "utils.ts (RW)", "## prompts/", "file-operations.md (Write)"],
        ),
        (
            ["../up.ts", "/etc/hosts", "src/x.ts", "src/y/z/w.ts", "~/n.txt"],
            [],
            [],
            [
                *("# ../", "up.ts (Read)", "# /etc/", "hosts (Read)", "# src/", "x.ts (Read)", "## y/z/"),
                *("w.ts (Read)", "# ~/", "n.txt (Read)"),
            ],
        ),
        (
            [f"f{number:02}.ts" for number in range(25)],
            [],
            [],
            [*(f"f{number:02}.ts (Read)" for number in range(20)), "… (5 more files omitted)"],
        ),
        # UTF-16 order: a private-use character comes after the halves of an astral one.
        (["\ue000.ts", "\U0001f600.ts"], [], [], ["\U0001f600.ts (Read)", "\ue000.ts (Read)"]),
    ],
)
def test_files_are_drawn_as_the_worked_examples_show(
    read: list[str], modified: list[str], known: list[str], lines: list[str]
) -> None:
    """engine.md §10, examples 1, 4 and 6, and the order of §10."""
    assert format_files(read, modified, known).splitlines() == ["<files>", *lines, "</files>"]


@pytest.mark.parametrize(
    ("paths", "drawn"),
    [
        (["a/b/c/"], "# a/b/c/"),
        (["a/", "a/b.ts"], "# a/\nb.ts"),
        (["p//q.ts"], "# p//\nq.ts"),
        (["", "x"], "x"),
        (["https://e.com/a", "src/x.ts"], "https://e.com/a\n# src/\nx.ts"),
    ],
)
def test_paths_are_grouped_as_the_worked_examples_show(paths: list[str], drawn: str) -> None:
    """engine.md §10, examples 7 and 8."""
    assert format_grouped_paths(paths) == drawn


def test_fifteen_percent_overtake_the_reserve_at_a_window_of_109227() -> None:
    """engine.md §5: below it the reserve of 16384 counts, at it both are the same."""
    settings = CompactionSettings()
    found = [resolve_threshold_tokens(window, settings, ThresholdRules.SEED) for window in (109_226, 109_227, 109_234)]
    assert found == [109_226 - 16_384, 109_227 - 16_384, 109_234 - 16_385]


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({"role": "user", "content": [{"type": "text", "text": "hello"}, {"type": "image", "data": "A"}]}, 1),
        ({"role": "toolResult", "content": [{"type": "text", "text": "hello"}, {"type": "image", "data": "A"}]}, 1201),
        ({"role": "hookMessage", "content": [{"type": "image", "data": "A"}]}, 1200),
        ({"role": "bashExecution", "command": "ls", "output": "hello world", "excludeFromContext": True}, 3),
        ({"role": "compactionSummary", "summary": "hello world", "images": [{"type": "image"}] * 2}, 2 + 2 * 3300),
        ({"role": "assistant", "content": [{"type": "redactedThinking", "data": "hello world"}]}, 2),
        ({"role": "assistant", "content": [{"type": "image", "data": "A"}]}, 0),
        *(({"role": role, "content": "hello", "code": "hello"}, 0) for role in ("developer", "custom", "other")),
        ({"role": "pythonExecution", "code": "hello", "output": "hello"}, 0),
        ({"role": "fileMention", "files": [{"path": "a", "content": "hello"}]}, 0),
    ],
)
def test_a_message_weighs_what_the_seeds_list_of_roles_says(message: JsonObject, tokens: int) -> None:
    """engine.md §4.2."""
    assert estimate_tokens(message, EstimateRules.SEED) == tokens


@pytest.mark.parametrize(
    ("older", "newer", "goes"),
    [
        ("a.ts", "a.ts", True),
        ("a.ts:1-5", "a.ts", True),
        ("a.ts:1-5", "a.ts:1-5", True),
        ("a.ts", "a.ts:1-5", False),
        ("a.ts:1-5", "a.ts:6-9", False),
        ("http://x/y", "http://x/y", False),
        ("skill://a", "skill://a", False),
        ("", "", False),
    ],
)
def test_a_full_read_replaces_older_reads_and_a_part_only_the_same_part(older: str, newer: str, goes: bool) -> None:
    """engine.md §11.2."""
    entries: list[JsonObject] = []
    for call_id, path in (("1", older), ("2", newer)):
        call = {"type": "toolCall", "id": call_id, "name": "read", "arguments": {"path": path}}
        result = {"role": "toolResult", "toolCallId": call_id, "toolName": "read", "content": "body " * 30}
        for message in ({"role": "assistant", "content": [call]}, result):
            entries.append({"type": "message", "id": f"e{len(entries)}", "message": message})
    estimator = Estimator(EstimateRules.SEED)
    pruned = prune_superseded_tool_results(entries, SupersedeConfig(), 0, estimator, PruneRules.SEED)
    assert [entry["id"] for entry in pruned.replacements] == (["e1"] if goes else [])


@pytest.mark.parametrize(
    ("level", "has_dial", "effort"),
    [("off", True, None), (None, True, "high"), ("inherit", True, "high"), ("low", True, "low"), ("low", False, None)],
)
def test_the_thinking_level_becomes_an_effort(level: str | None, has_dial: bool, effort: str | None) -> None:
    """engine.md §7.2."""
    assert reasoning_effort(level, Model("p", "m", reasoning=has_dial)) == effort


CUT_ROLES = ("user", "assistant", "bashExecution", "hookMessage", "branchSummary", "compactionSummary")
ROLES = (*CUT_ROLES, "toolResult", "custom", "developer")
TYPES = ("custom_message", "branch_summary", "compaction", "model_change", "label")


def entry_of(kind: str, weight: int) -> JsonObject:
    return {"type": "message", "message": {"role": kind, "weight": weight}} if kind in ROLES else {"type": kind}


def weight_of(message: Any) -> int:
    return int(message.get("weight", 0))


entries_with_roles = st.lists(
    st.builds(entry_of, st.sampled_from([*ROLES, *TYPES]), st.integers(0, 40)), min_size=1, max_size=12
)


@given(entries_with_roles, st.integers(0, 3), st.integers(-1, 150))
def test_the_seeds_cut_is_where_its_description_puts_it(entries: list[JsonObject], start: int, keep: int) -> None:
    """engine.md §6.1, the procedure step by step."""
    start = min(start, len(entries) - 1)
    cut = find_cut_point(entries, start, len(entries), keep, weight_of, CutRules.SEED)
    assert (cut.first_kept, cut.turn_start) == described_cut(entries, start, keep, weight_of)


def described_cut(entries: list[JsonObject], start: int, keep: int, estimate: Callable[[Any], int]) -> tuple[int, int]:
    roles = [entry.get("message", {}).get("role") for entry in entries]
    types = [entry["type"] for entry in entries]
    steps = range(len(entries) - 1, start - 1, -1)
    spoken = [kind in {"custom_message", "branch_summary"} for kind in types]
    points = [i for i in range(start, len(entries)) if roles[i] in CUT_ROLES or spoken[i]]
    if not points:
        return start, -1
    cut, gathered = points[0], 0
    for i in (i for i in steps if types[i] == "message"):
        gathered += estimate(entries[i]["message"])
        if gathered >= keep:
            cut = next((point for point in points if point >= i), cut)
            break
    while cut > start and types[cut - 1] not in {"compaction", "message"}:
        cut -= 1
    if roles[cut] == "user":
        return cut, -1
    opens = (j for j in range(cut, start - 1, -1) if spoken[j] or roles[j] in {"user", "bashExecution"})
    return cut, next(opens, -1)
