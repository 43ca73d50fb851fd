import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.compaction.drop_images import IMAGE_REMOVED, drop_images
from octavo.compaction.shake import (
    MANUAL_SHAKE,
    RESCUE_SHAKE,
    ShakeRules,
    apply_shake_regions,
    artifact_text,
    collect_shake_regions,
    shake_placeholder,
)
from octavo.compaction.shake_blocks import find_blocks, splice
from octavo.js_text import utf16_length
from octavo.tokens.counting import count_tokens
from octavo.tokens.estimate import EstimateRules, Estimator

NOW = 77
LONG = "\n".join(f"const value{n} = {n};" for n in range(150))
FENCED = f"see 😀\n```ts\n{LONG}\n```\nend"
IMAGE = {"type": "image", "data": "A" * 1000, "mimeType": "image/png"}


def entry(entry_id: str, **message: Any) -> dict[str, Any]:
    return {"type": "message", "id": entry_id, "message": message}


def result(entry_id: str, *blocks: dict[str, Any], **extra: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": LONG}, *blocks]
    return entry(entry_id, role="toolResult", toolCallId=entry_id, toolName="bash", content=content, **extra)


def collect(
    entries: list[dict[str, Any]], rules: ShakeRules = ShakeRules.OCTAVO, config: Any = RESCUE_SHAKE
) -> list[Any]:
    return collect_shake_regions(entries, config, Estimator(), rules)


def shaken(entries: list[dict[str, Any]]) -> Any:
    return apply_shake_regions(entries, collect(entries), lambda region, n: shake_placeholder(region, n, "0"), NOW)


def test_elided_regions_leave_a_line_that_says_where_they_are() -> None:
    entries = [entry("u", role="user", content=FENCED), result("r")]
    before = copy.deepcopy(entries)
    done = shaken(entries)
    assert entries == before
    text, other = done.replacements
    assert text["message"]["content"].startswith("see 😀\n[shaken ~")
    assert text["message"]["content"].endswith("recover: artifact://0 (region 1)]\nend")
    assert other["message"]["content"][0]["text"].endswith("(region 2)]")
    assert other["message"]["prunedAt"] == NOW
    assert (done.tool_results_dropped, done.blocks_dropped, done.first_changed_index) == (1, 1, 0)


def test_the_artifact_holds_what_was_taken_out_word_for_word() -> None:
    regions = collect([entry("u", role="user", content=FENCED), result("r")])
    stored = artifact_text(regions)
    assert f"### region 1 (user, ~{regions[0].tokens} tok)\n\n```ts\n{LONG}\n```\n" in stored
    assert f"### region 2 (bash, ~{regions[1].tokens} tok)\n\n{LONG}\n" in stored


def test_without_an_artifact_nothing_is_promised() -> None:
    region = collect([result("r")])[0]
    assert shake_placeholder(region, 1, None) == f"[shaken ~{region.tokens} tokens]"


def test_images_beside_an_elided_text_stay_and_do_not_count_as_freed() -> None:
    """engine.md §17 item 138."""
    entries = [result("r", IMAGE)]
    region = collect(entries)[0]
    assert region.tokens == count_tokens(LONG)
    assert shaken(entries).replacements[0]["message"]["content"][1:] == [IMAGE]
    assert collect_shake_regions(entries, RESCUE_SHAKE, Estimator(EstimateRules.SEED), ShakeRules.SEED)[0].tokens > 1200


def test_reads_of_artifacts_and_skills_stay() -> None:
    """engine.md §17 item 138."""

    def reading(path: str) -> list[dict[str, Any]]:
        call = {"type": "toolCall", "id": path, "name": "read", "arguments": {"path": path}}
        answer = result(path)
        answer["message"]["toolName"] = "read"
        return [entry(f"{path}.call", role="assistant", content=[call]), answer]

    entries = [*reading("artifact://3"), *reading("skill://x"), *reading("a.py")]
    assert [region.entry_id for region in collect(entries)] == ["a.py"]


@pytest.mark.parametrize(
    "reasoning",
    [
        {"type": "thinking", "thinking": "t", "thinkingSignature": "c2ln"},
        {"type": "redactedThinking", "data": "xx"},
        {"type": "toolCall", "id": "1", "name": "x", "arguments": {}, "thoughtSignature": "c2ln"},
    ],
)
def test_the_text_of_a_signed_turn_stays_as_it_was_signed(reasoning: dict[str, Any]) -> None:
    """BR-034."""
    entries = [entry("a", role="assistant", content=[reasoning, {"type": "text", "text": FENCED}])]
    assert collect(entries) == []
    assert len(collect(entries, ShakeRules.SEED)) == 1


def test_a_changed_text_loses_the_provider_s_own_copy_and_its_replay_id() -> None:
    content = [{"type": "text", "text": FENCED, "textSignature": "msg_1"}]
    entries = [entry("a", role="assistant", content=content, providerPayload={"items": []})]
    changed = shaken(entries).replacements[0]["message"]
    assert "providerPayload" not in changed
    assert "textSignature" not in changed["content"][0]


def test_a_manual_shake_keeps_the_newest_tokens() -> None:
    """engine.md §17 item 139."""
    entries = [result("old"), *(result(f"r{n}") for n in range(8))]
    assert [region.entry_id for region in collect(entries, config=MANUAL_SHAKE)][:1] == ["old"]
    assert "r7" not in [region.entry_id for region in collect(entries, config=MANUAL_SHAKE)]


def test_useless_results_go_even_from_the_protected_tail() -> None:
    assert [r.entry_id for r in collect([result("new", useless=True)], config=MANUAL_SHAKE)] == ["new"]


def test_nothing_before_the_kept_entries_of_the_latest_compaction_is_touched() -> None:
    boundary = {"type": "compaction", "id": "c", "summary": "s", "firstKeptEntryId": "kept"}
    entries = [result("old"), result("kept"), boundary, result("new")]
    assert [region.entry_id for region in collect(entries)] == ["kept", "new"]


def test_shaking_twice_frees_nothing_more() -> None:
    entries = [entry("u", role="user", content=FENCED), result("r")]
    assert collect(shaken(entries).replacements) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\n```\nx\n```\nb", ["```\nx\n```"]),
        ("  ~~~\nx\n~~~", ["  ~~~\nx\n~~~"]),
        ("```\nunterminated", []),
        ("<data>\nx\n  </data>\nend", ["<data>\nx\n  </data>"]),
        ('<data a="1">\nx\n</data>', ['<data a="1">\nx\n</data>']),
        (" <data>\nx\n</data>", []),
        ("<data> x\n</data>", []),
        ("<a>\n<b>\nx\n</b>\n</a>", ["<a>\n<b>\nx\n</b>\n</a>"]),
        ("<a>\n```\n</a>\n```\n</a>", ["<a>\n```\n</a>\n```\n</a>"]),
        ("<A>\nx\n</A>", []),
        ("<a>\nx\n</b>", []),
        ("<a>\n<b>\nx\n</a>", ["<a>\n<b>\nx\n</a>"]),
    ],
)
def test_blocks_are_found_by_whole_lines(text: str, found: list[str]) -> None:
    assert [block.text for block in find_blocks(text, 0, count_tokens)] == found


@given(st.lists(st.sampled_from(["```", "~~~", "<a>", "</a>", "<b>", " </b>", "x😀", "", "\ud800"]), max_size=20))
def test_the_offsets_of_a_block_are_where_it_stands_in_utf16(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = find_blocks(text, 0, len)
    for block in found:
        assert utf16_length(block.text) == block.end - block.start
        assert splice(text, block.start, block.end, block.text) == text
    for block in reversed(found):
        text = splice(text, block.start, block.end, "")
    assert utf16_length(text) == utf16_length("\n".join(lines)) - sum(b.end - b.start for b in found)


def test_finding_blocks_is_linear_in_unclosed_tags() -> None:
    text = "<a>\n" * 200_000 + "</b>\n" * 10
    assert find_blocks(text, 0, len) == []


def test_dropping_images_leaves_text_in_their_place() -> None:
    entries = [
        entry("u", role="user", content=[{"type": "text", "text": "look"}, IMAGE]),
        entry("d", role="developer", content=[IMAGE]),
        {"type": "custom_message", "id": "c", "content": [IMAGE]},
        entry("t", role="toolResult", content=[IMAGE], details={"images": [IMAGE], "n": 1}),
        entry("f", role="fileMention", files=[{"path": "a.png", "image": IMAGE}]),
        entry("a", role="assistant", content=[IMAGE]),
    ]
    before = copy.deepcopy(entries)
    done = drop_images(entries)
    assert entries == before
    gone = [{"type": "text", "text": IMAGE_REMOVED}]
    user, developer, custom, tool, mention = done.replacements
    assert user["message"]["content"] == [{"type": "text", "text": "look"}]
    assert developer["message"]["content"] == custom["content"] == tool["message"]["content"] == gone
    assert tool["message"]["details"] == {"n": 1}
    assert mention["message"]["files"] == [{"path": "a.png"}]
    assert (done.images_dropped, done.tokens_freed, done.first_changed_index) == (6, 5 * 1200, 0)


def test_the_newest_images_stay_within_a_byte_budget() -> None:
    """BR-064: 40 screenshots of 0.85 MB; 18 MiB may stay."""
    image = {"type": "image", "data": "A" * 850_000, "mimeType": "image/png"}
    entries = [entry(f"r{n}", role="toolResult", content=[image]) for n in range(40)]
    done = drop_images(entries, keep_chars=18 * 1024 * 1024)
    assert [e["id"] for e in done.replacements] == [f"r{n}" for n in range(18)]


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"type": "message", "message": {"role": "toolResult", "content": 3}},
        {"type": "message", "message": {"role": "user", "content": [None, {"type": "text", "text": 4}]}},
        {"type": "custom_message", "content": None},
        {"type": "message", "message": {"role": "fileMention", "files": [1, {}]}},
    ],
)
def test_malformed_entries_are_left_as_they_are(broken: dict[str, Any]) -> None:
    assert [region.entry_id for region in collect([broken, result("r")])] == ["r"]
    assert drop_images([broken]).replacements == []


def test_nothing_is_taken_out_that_is_smaller_than_the_line_in_its_place() -> None:
    """A manual shake of many short results must not make the context larger than it was."""
    entries = [
        entry(f"r{n}", role="toolResult", toolCallId=f"r{n}", toolName="bash", content=[{"type": "text", "text": "ok"}])
        for n in range(50)
    ]
    assert collect(entries) == []
    assert [region.entry_id for region in collect([*entries, result("long")])] == ["long"]
