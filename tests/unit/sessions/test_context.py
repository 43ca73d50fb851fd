"""The context at a leaf: boundaries, settings, pairing of calls and results, what is left out and said so."""

from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.sessions.context import ContextRules, SessionContext, build_context
from octavo.sessions.llm_messages import to_llm_messages
from octavo.sessions.migrate import migrate_to_current
from octavo.sessions.reading import load_session, parse_lines
from octavo.sessions.tree import SessionTree

Json = dict[str, Any]


def path_of(*entries: Json) -> list[Json]:
    """Chain entries: ids e0, e1, … unless they have one."""
    chained: list[Json] = []
    for number, entry in enumerate(entries):
        parent = chained[-1]["id"] if chained else None
        chained.append({"id": f"e{number}", "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z", **entry})
    return chained


def said(role: str, content: Any, **fields: Any) -> Json:
    return {"type": "message", "message": {"role": role, "content": content, **fields}}


def user(content: Any = "u") -> Json:
    return said("user", content)


def calls(*ids: str, text: str | None = None, thinking: Json | None = None) -> Json:
    blocks: list[Json] = [] if thinking is None else [thinking]
    blocks += [] if text is None else [{"type": "text", "text": text}]
    blocks += [{"type": "toolCall", "id": own, "name": "read", "arguments": {}} for own in ids]
    return said("assistant", blocks)


def result(own: str, text: str = "ok") -> Json:
    return said("toolResult", [{"type": "text", "text": text}], toolCallId=own, toolName="read", isError=False)


def compaction(boundary: str | None, **fields: Any) -> Json:
    return {"type": "compaction", "summary": "S", "firstKeptEntryId": boundary, "tokensBefore": 1, **fields}


def names(context: SessionContext) -> list[str]:
    return context.entry_ids


def notes(context: SessionContext) -> list[tuple[str, str, str]]:
    return [(note.kind, note.entry_id, note.detail) for note in context.notes]


def assert_valid_for_providers(messages: list[Json]) -> None:
    """Every call has exactly one result directly after its turn; no result stands anywhere else."""
    expected: list[str] = []
    for message in messages:
        content = message.get("content")
        if message["role"] == "toolResult":
            assert message["toolCallId"] in expected
            expected.remove(message["toolCallId"])
            continue
        assert expected == []
        blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
        if message["role"] == "assistant":
            expected = [b["id"] for b in blocks if b.get("type") == "toolCall"]
            assert len(set(expected)) == len(expected)
        else:
            assert not any(b.get("type") in {"tool_result", "toolResult"} for b in blocks)
    assert expected == []


# -- boundaries --------------------------------------------------------------------------------------------------------


def test_a_compaction_stands_for_what_lies_before_its_boundary() -> None:
    path = path_of(user(), user(), user(), compaction("e1"), user())
    context = build_context(path)
    assert names(context) == ["e3", "e1", "e2", "e4"]
    assert context.compaction_id == "e3"
    assert context.messages[0]["role"] == "compactionSummary"
    assert context.messages[1] is path[1]["message"]


def test_a_boundary_that_is_not_on_the_path_keeps_nothing_older_and_is_reported() -> None:
    context = build_context(path_of(user(), user(), compaction("elsewhere"), user()))
    assert names(context) == ["e2", "e3"]
    assert notes(context) == [("unresolved-boundary", "e2", "elsewhere")]


def test_the_latest_compaction_whose_boundary_resolves_counts() -> None:
    """BR-019: a fork's newer compaction that points off the path does not win over one that can be followed."""
    path = path_of(user(), user(), compaction("e1", summary="good"), user(), compaction("gone", summary="bad"), user())
    context = build_context(path)
    assert names(context) == ["e2", "e1", "e3", "e5"]
    assert context.messages[0]["summary"] == "good"
    assert notes(context) == [("unresolved-boundary", "e4", "gone")]
    seed = build_context(path, rules=ContextRules.SEED)
    assert names(seed) == ["e4", "e5"]


def test_a_boundary_behind_its_compaction_does_not_resolve() -> None:
    context = build_context(path_of(user(), compaction("e2"), user()))
    assert names(context) == ["e1", "e2"]
    assert [note.kind for note in context.notes] == ["unresolved-boundary"]


@pytest.mark.parametrize("rules", list(ContextRules))
def test_a_compaction_that_names_itself_keeps_nothing_on_purpose(rules: ContextRules) -> None:
    context = build_context(path_of(user(), compaction("e1"), user()), rules=rules)
    assert names(context) == ["e1", "e2"]
    assert context.notes == []


def test_nothing_before_a_reset_boundary_reaches_the_model() -> None:
    """Engine.md §17 no. 109: a cleared context stays cleared, compactions before it included."""
    path = path_of(user(), compaction("e0"), {"type": "reset_boundary"}, user())
    assert names(build_context(path)) == ["e3"]
    assert names(build_context(path, transcript=True)) == ["e0", "e1", "e3"]


def test_the_transcript_shows_every_entry_with_dividers_in_place() -> None:
    """BR-113: two views of one store."""
    path = path_of(user(), compaction("e0"), user(), compaction("e2", shortSummary="sh"), user())
    context = build_context(path, transcript=True)
    assert names(context) == ["e0", "e1", "e2", "e3", "e4"]
    assert context.messages[3]["shortSummary"] == "sh"


def test_going_back_before_a_compaction_gives_the_context_of_then() -> None:
    """BR-023: compaction destroys nothing."""
    path = path_of(*(user(str(n)) for n in range(5)), compaction("e4"), user())
    before = build_context(path[:5])
    assert [m["content"] for m in before.messages] == list("01234")
    assert all(message is entry["message"] for message, entry in zip(before.messages, path[:5], strict=True))


def test_the_order_is_summary_kept_queued() -> None:
    """BR-037: a user message that was waiting comes after what was kept."""
    path = path_of(user("old"), user("kept"), calls("1"), result("1"), compaction("e1"), user("queued"))
    messages = to_llm_messages(build_context(path).messages)
    assert [m["role"] for m in messages] == ["user", "user", "assistant", "toolResult", "user"]
    assert messages[-1]["content"] == "queued"
    assert_valid_for_providers(messages)


REMOTE = {"openaiRemoteCompaction": {"provider": "openai", "replacementHistory": [{"type": "x"}]}}


@pytest.mark.parametrize("provider", [None, "openai"])
def test_a_remote_compaction_replays_its_history_instead_of_the_kept_messages(provider: str | None) -> None:
    context = build_context(path_of(user(), user(), compaction("e0", preserveData=REMOTE), user()), provider=provider)
    assert names(context) == ["e2", "e3"]
    assert context.messages[0]["providerPayload"] == {
        "type": "openaiResponsesHistory",
        "provider": "openai",
        "items": [{"type": "x"}],
    }


def test_another_provider_gets_the_kept_messages_instead_of_a_foreign_replay() -> None:
    """Engine.md §17 no. 65 and BR-035: what to replay depends on the provider, and history is never lost over it."""
    path = path_of(user(), user(), compaction("e1", preserveData=REMOTE), user())
    context = build_context(path, provider="anthropic")
    assert names(context) == ["e2", "e1", "e3"]
    assert "providerPayload" not in context.messages[0]
    assert notes(context) == [("foreign-replay", "e2", "openai")]


def test_frames_of_an_archive_come_back_as_images_in_order() -> None:
    def frame(data: str, **fields: Any) -> Json:
        return {"data": data, "mimeType": "image/png", "cols": 1, "rows": 1, "chars": 1, **fields}

    frames = [frame("one"), frame("two", detail="original"), frame("blob:sha256:00"), {"data": 5}, None]
    path = path_of(user(), compaction("e0", preserveData={"snapcompact": {"frames": frames}}))
    for context in (build_context(path), build_context(path, transcript=True)):
        summary = next(m for m in context.messages if m["role"] == "compactionSummary")
        assert summary["images"] == [
            {"type": "image", "data": "one", "mimeType": "image/png"},
            {"type": "image", "data": "two", "mimeType": "image/png", "detail": "original"},
        ]
        assert notes(context) == [
            ("missing-frame", "e1", "2"),
            ("missing-frame", "e1", "3"),
            ("missing-frame", "e1", "4"),
        ]


def test_a_caller_that_knows_budgets_chooses_how_an_archive_is_shown() -> None:
    block = {"type": "text", "text": "archive"}
    path = path_of(user(), compaction("e0", preserveData={"snapcompact": {"frames": [{}]}}))
    context = build_context(path, archive_blocks=lambda entry: [block] if entry is path[1] else [])
    assert context.messages[0]["images"] == [block]
    assert context.notes == []


# -- pairing -----------------------------------------------------------------------------------------------------------


def test_a_sound_history_is_passed_on_untouched() -> None:
    path = path_of(user(), calls("1", "2"), result("2"), result("1"), user())
    context = build_context(path)
    assert all(message is entry["message"] for message, entry in zip(context.messages, path, strict=True))
    assert context.notes == []


def test_an_orphan_result_inside_the_kept_window_is_dropped_and_reported() -> None:
    """BR-029: the call was summarised away two compactions ago, its result was not."""
    path = path_of(user(), calls("X"), compaction("e2"), result("X"), calls(text="t"), compaction("e2"), user())
    context = build_context(path)
    assert names(context) == ["e5", "e4", "e6"]
    assert notes(context) == [("orphan-result", "e3", "X")]


def test_a_call_that_was_never_answered_is_not_sent() -> None:
    """BR-031: a session that ends in a call compacts and goes on."""
    path = path_of(user(), calls("1", text="let me see"), compaction("e1"), user())
    context = build_context(path)
    assert context.messages[1]["content"] == [{"type": "text", "text": "let me see"}]
    assert notes(context) == [("dangling-call", "e1", "1")]
    assert_valid_for_providers(context.messages)


def test_a_result_without_any_call_is_dropped() -> None:
    """BR-004: the record that held the call was never written."""
    context = build_context(path_of(user(), result("lost"), user()))
    assert names(context) == ["e0", "e2"]
    assert notes(context) == [("orphan-result", "e1", "lost")]


def test_a_result_before_its_call_does_not_answer_it() -> None:
    context = build_context(path_of(result("1"), calls("1", text="t"), user()))
    assert names(context) == ["e1", "e2"]
    assert {note.kind for note in context.notes} == {"orphan-result", "dangling-call"}


def test_a_late_result_is_moved_to_its_turn() -> None:
    context = build_context(path_of(calls("1", "2"), result("1"), user("in between"), result("2"), user()))
    assert names(context) == ["e0", "e1", "e3", "e2", "e4"]
    assert notes(context) == [("moved-result", "e3", "2")]
    assert_valid_for_providers(context.messages)


def test_a_second_result_of_the_same_call_is_dropped() -> None:
    context = build_context(path_of(calls("1"), result("1", "first"), result("1", "second"), user()))
    assert names(context) == ["e0", "e1", "e3"]
    assert notes(context) == [("orphan-result", "e2", "1")]


def test_an_id_used_again_in_a_later_turn_belongs_to_that_turn() -> None:
    path = path_of(calls("1"), result("1"), calls("1"), result("1"), calls("1", text="t"), user())
    context = build_context(path)
    assert names(context) == ["e0", "e1", "e2", "e3", "e4", "e5"]
    assert notes(context) == [("dangling-call", "e4", "1")]


def test_an_id_used_twice_in_one_turn_is_sent_once() -> None:
    context = build_context(path_of(calls("1", "1"), result("1"), result("1"), user()))
    assert_valid_for_providers(context.messages)
    assert [note.kind for note in context.notes] == ["orphan-result", "repeated-call"]


def test_result_blocks_inside_a_user_message_are_judged_one_by_one() -> None:
    """BR-032: an imported message with text and results keeps its text whatever happens to the results."""
    mixed = user(
        [
            {"type": "tool_result", "tool_use_id": "1", "content": "found", "is_error": True},
            {"type": "tool_result", "tool_use_id": "gone", "content": [{"type": "text", "text": "?"}]},
            {"type": "text", "text": "and now this"},
        ]
    )
    context = build_context(path_of(calls("1"), mixed, user()))
    assert names(context) == ["e0", "e1", "e1", "e2"]
    assert context.messages[1] == {
        "role": "toolResult",
        "toolCallId": "1",
        "toolName": "read",
        "content": [{"type": "text", "text": "found"}],
        "isError": True,
        "timestamp": 0,
    }
    assert context.messages[2]["content"] == [{"type": "text", "text": "and now this"}]
    assert notes(context) == [("orphan-result", "e1", "gone")]


def test_a_signed_thought_is_sent_as_signed_or_not_as_signed_at_all() -> None:
    """BR-034: the signature stays only on a turn that is otherwise untouched."""
    thinking = {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"}
    kept = calls("1", thinking=thinking)
    cut = calls("2", text="t", thinking=thinking)
    cut["message"]["content"].insert(1, {"type": "redactedThinking", "data": "enc"})
    context = build_context(path_of(kept, result("1"), cut, user()))
    assert context.messages[0]["content"][0] is thinking
    assert context.messages[2]["content"] == [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "t"}]


BLOCKS = st.sampled_from(["1", "2", "3"])
TURNS = st.lists(
    st.one_of(
        st.just(user()),
        st.lists(BLOCKS, max_size=3).map(lambda own: calls(*own, text="t")),
        st.lists(BLOCKS, min_size=1, max_size=3).map(lambda own: calls(*own)),
        BLOCKS.map(result),
        BLOCKS.map(lambda own: user([{"type": "toolResult", "toolCallId": own, "content": []}, {"type": "text"}])),
        st.integers(0, 12).map(lambda n: compaction(f"e{n}")),
        st.sampled_from([said("assistant", None), said("user", [None, 5]), {"type": "message"}, {"type": "label"}]),
        st.just(said("toolResult", "text", toolCallId=["odd"])),
    ),
    max_size=14,
)


@given(TURNS)
def test_any_history_makes_a_list_that_strict_providers_accept(turns: list[Json]) -> None:
    path = path_of(*turns)
    before = orjson.dumps(path)
    context = build_context(path)
    assert_valid_for_providers(context.messages)
    assert len(context.entry_ids) == len(context.messages)
    for rules in ContextRules:
        build_context(path, transcript=True, rules=rules)
    assert orjson.dumps(path) == before


@given(TURNS)
def test_what_is_already_valid_is_what_the_seed_makes_of_it(turns: list[Json]) -> None:
    path = path_of(*turns)
    context = build_context(path)
    if all(note.kind == "dangling-call" for note in context.notes):
        seed = build_context(path, rules=ContextRules.SEED)
        answered = [m for m in context.messages if m["role"] == "toolResult"]
        if len({m["toolCallId"] for m in answered}) == len(answered):
            assert context.messages == seed.messages or _reused_id(path) or _result_in_user_message(path)


def _result_in_user_message(path: list[Json]) -> bool:
    """The seed does not see such results, so that it takes their calls for unanswered."""
    return any(
        isinstance(block, dict) and block.get("type") == "toolResult"
        for entry in path
        if entry["type"] == "message" and isinstance(entry.get("message", {}).get("content"), list)
        for block in entry["message"]["content"]
    )


def _reused_id(path: list[Json]) -> bool:
    ids = [
        block["id"]
        for entry in path
        if entry["type"] == "message" and isinstance(entry.get("message", {}).get("content"), list)
        for block in entry["message"]["content"]
        if isinstance(block, dict) and block.get("type") == "toolCall"
    ]
    return len(set(ids)) < len(ids)


# -- entries that are not messages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [None, 5, {"type": "text"}, [None], [1, "x"]])
def test_a_malformed_custom_message_is_left_out_and_reported(content: Any) -> None:
    """Engine.md §17 no. 127: it must not keep a session from opening."""
    context = build_context(path_of(user(), {"type": "custom_message", "customType": "c", "content": content}, user()))
    assert names(context) == ["e0", "e2"]
    assert notes(context) == [("malformed-custom-message", "e1", "")]


def test_the_readable_blocks_of_a_custom_message_are_kept() -> None:
    block = {"type": "text", "text": "t"}
    context = build_context(path_of({"type": "custom_message", "customType": "c", "content": [block, None]}))
    assert context.messages[0]["content"] == [block]
    assert [note.kind for note in context.notes] == ["malformed-custom-message"]


@pytest.mark.parametrize("message", [None, "text", [], 5])
def test_an_entry_whose_message_is_no_object_is_left_out_and_reported(message: Any) -> None:
    context = build_context(path_of({"type": "message", "message": message}, {"type": "message"}, user()))
    assert names(context) == ["e2"]
    assert [note.kind for note in context.notes] == ["malformed-message"] * 2


def test_settings_are_those_of_the_last_change_on_the_path() -> None:
    path = path_of(
        {"type": "thinking_level_change", "thinkingLevel": "high"},
        {"type": "model_change", "model": "p/small", "role": "smol"},
        {"type": "service_tier_change", "serviceTier": "flex"},
        {"type": "ttsr_injection", "injectedRules": ["a", "b"]},
        {"type": "ttsr_injection", "injectedRules": ["b", "c", 5]},
        {"type": "mcp_tool_selection", "selectedToolNames": ["x"]},
        {"type": "mcp_tool_selection", "selectedToolNames": []},
        {"type": "mode_change", "mode": "plan", "data": {"f": 1}},
        said("assistant", [], provider="p", model="used"),
        said("assistant", [], provider="p", model="later"),
    )
    context = build_context(path)
    assert context.thinking_level == "high"
    assert context.models == {"smol": "p/small", "default": "p/later"}
    assert context.last_model_role == "smol"
    assert context.service_tier == "flex"
    assert context.injected_rules == ["a", "b", "c"]
    assert (context.selected_tools, context.has_tool_selection) == ([], True)
    assert (context.mode, context.mode_data) == ("plan", {"f": 1})


def test_a_chosen_model_is_not_overridden_by_the_one_that_answered() -> None:
    """Engine.md §17 no. 117."""
    path = path_of({"type": "model_change", "model": "p/chosen"}, said("assistant", [], provider="q", model="used"))
    assert build_context(path).models == {"default": "p/chosen"}


def test_settings_before_a_compaction_still_hold() -> None:
    path = path_of({"type": "thinking_level_change", "thinkingLevel": "low"}, user(), compaction("e1"), user())
    assert build_context(path).thinking_level == "low"


# -- size and real sessions --------------------------------------------------------------------------------------------


def test_work_grows_with_the_path_and_not_with_its_square() -> None:
    class Counting(dict[str, Any]):
        looked = 0

        def get(self, key: str, default: Any = None) -> Any:
            Counting.looked += 1
            return super().get(key, default)

    def looks(turns: int) -> int:
        Counting.looked = 0
        entries = [e for n in range(turns) for e in (user(), calls(f"{n}"), result(f"{n}"), calls(f"d{n}", text="t"))]
        build_context([Counting(e) for e in path_of(*entries)])
        return Counting.looked

    assert looks(2_000) <= 2 * looks(1_000) + 100


@pytest.mark.samples
@pytest.mark.parametrize("name", ["before-compaction.jsonl", "large-session.jsonl"])
def test_a_real_session_cut_after_any_line_makes_a_context_with_every_call_answered(name: str, samples: Path) -> None:
    header, *entries = parse_lines((samples / "pi" / name).read_bytes()).objects
    ids = count(1)
    path = migrate_to_current(header, entries, new_id=lambda: f"e{next(ids)}").entries
    for length in range(len(path) + 1):
        context = build_context(path[:length])
        assert_valid_for_providers(context.messages)


@pytest.mark.samples
@pytest.mark.parametrize("name", ["before-compaction.jsonl", "large-session.jsonl"])
def test_a_real_file_cut_after_a_line_or_inside_one_opens_and_makes_a_valid_context(name: str, samples: Path) -> None:
    data = (samples / "pi" / name).read_bytes()
    ends = [number for number, byte in enumerate(data) if byte == 10]
    for end in (*ends[:5], *ends[5 :: len(ends) // 20], len(data) - 1):
        whole = load_session(data[: end + 1])
        torn = load_session(data[: end - 30]) if end > ends[0] else whole
        for session in (whole, torn):
            tree = SessionTree(session.header, session.entries)
            assert_valid_for_providers(build_context(tree.path(tree.leaf_id)).messages)
        assert not whole.damaged
        assert torn is whole or torn.lines.unterminated_tail
