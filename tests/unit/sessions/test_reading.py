"""Reading session files, sound and damaged."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.sessions.damage import DamageKind
from octavo.sessions.lines import MAX_DAMAGE
from octavo.sessions.reading import LoadedSession, load_session, parse_lines
from octavo.sessions.tree import SessionTree
from octavo_protocol.errors import ErrorKind, OctavoError

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/x"}


def entry(own: str, parent: str | None, text: str = "hello", **fields: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": own,
        "parentId": parent,
        "timestamp": "2026-01-01T00:00:01.000Z",
        "message": {"role": "user", "content": text},
        **fields,
    }


def encode(*values: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)


def kinds(session: LoadedSession) -> list[DamageKind]:
    return [damage.kind for damage in session.damage]


def ids_of(session: LoadedSession) -> list[str]:
    return [e["id"] for e in session.entries]


CHAIN = (entry("a", None), entry("b", "a"), entry("c", "b"))
FILE = encode(HEADER, *CHAIN)


def test_a_sound_file_is_read_without_remarks() -> None:
    session = load_session(FILE)
    assert session.entries == list(CHAIN)
    assert not session.damaged
    assert not session.needs_rewrite
    assert session.version_on_disk == 3
    assert session.lines.size == len(FILE)
    assert not session.lines.unterminated_tail


def test_unknown_entry_types_and_fields_survive_loading() -> None:
    strange = {"type": "future", "id": "z", "parentId": "c", "timestamp": "t", "payload": {"deep": [1, None, {}]}}
    session = load_session(encode(HEADER, *CHAIN, strange) + encode(entry("y", "z", novel=[1])))
    assert session.entries[3] == strange
    assert session.entries[4]["novel"] == [1]


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_the_size_of_the_pieces_a_file_arrives_in_does_not_matter(size: int) -> None:
    pieces = [FILE[n : n + size] for n in range(0, len(FILE), size)]
    assert load_session(iter(pieces)).entries == list(CHAIN)
    assert list(load_session(iter(pieces)).lines.offsets) == list(load_session(FILE).lines.offsets)
    assert load_session(memoryview(FILE)).entries == list(CHAIN)


def test_every_object_knows_where_its_line_begins() -> None:
    lines = parse_lines(FILE)
    for value, offset in zip(lines.objects, lines.offsets, strict=True):
        assert json.loads(FILE[offset:].split(b"\n", 1)[0]) == value


def test_a_file_cut_anywhere_keeps_every_whole_record_and_names_the_torn_one() -> None:
    """BR-001: a torn tail is reported with its offset, whatever byte it ends at."""
    first = FILE.index(b"\n") + 1
    for cut in range(first, len(FILE)):
        session = load_session(FILE[:cut])
        whole = FILE[:cut].count(b"\n") - 1
        tail_start = FILE.rfind(b"\n", 0, cut) + 1
        complete = cut > tail_start and FILE[cut : cut + 1] == b"\n"
        assert len(session.entries) == whole + complete
        assert session.lines.unterminated_tail == (cut > tail_start)
        assert session.lines.tail_offset == tail_start
        assert session.lines.tail_valid == complete
        if cut > tail_start:
            expected = DamageKind.UNTERMINATED_TAIL if complete else DamageKind.TORN_TAIL
            assert [(d.kind, d.offset, d.length) for d in session.damage] == [(expected, tail_start, cut - tail_start)]
        else:
            assert not session.damaged


def test_a_bad_line_in_the_middle_is_skipped_and_reported() -> None:
    bad = b'{"type":"message", BROKEN\n'
    head = encode(HEADER, CHAIN[0])
    session = load_session(head + bad + encode(CHAIN[1]))
    assert ids_of(session) == ["a", "b"]
    [damage] = session.damage
    assert (damage.kind, damage.line, damage.offset, damage.length) == (
        DamageKind.SYNTAX,
        3,
        len(head),
        len(bad) - 1,
    )


def test_a_record_written_half_and_then_whole_is_read_once() -> None:
    """BR-005: line 5 is the first half of line 6; the session opens and says what happened."""
    whole = encode(CHAIN[1])
    session = load_session(encode(HEADER, CHAIN[0]) + whole[: len(whole) // 2] + b"\n" + whole + encode(CHAIN[2]))
    assert ids_of(session) == ["a", "b", "c"]
    assert kinds(session) == [DamageKind.SYNTAX]


def test_a_half_record_followed_by_a_whole_one_on_the_same_line_gives_the_whole_one() -> None:
    """BR-001: the append after a torn write landed on the same physical line."""
    whole = encode(CHAIN[1])
    for cut in range(1, len(whole) - 1):
        session = load_session(encode(HEADER, CHAIN[0]) + whole[:cut] + encode(CHAIN[1], CHAIN[2]))
        assert ids_of(session) == ["a", "b", "c"], whole[:cut]
        assert kinds(session) == [DamageKind.HALF_RECORD]
        assert session.damage[0].length == cut


def test_glued_records_are_all_read() -> None:
    glued = encode(CHAIN[0]).rstrip() + encode(CHAIN[1]).rstrip() + b" " + encode(CHAIN[2])
    session = load_session(encode(HEADER) + glued)
    assert session.entries == list(CHAIN)
    assert [(d.kind, d.count) for d in session.damage] == [(DamageKind.GLUED, 3)]


def test_blocks_inside_a_broken_record_are_not_taken_for_records() -> None:
    blocks = (
        '{"type":"message","id":"x","message":{"content":[{"type":"toolCall","id":"1","name":"read"},{"type":"text"'
    )
    nested = '{"type":"custom","data":{"log":[{"type":"message","id":"n","timestamp":"t"},{"type":"mess'
    session = load_session(encode(HEADER, CHAIN[0]) + f"{blocks}\n\n{nested}\n".encode() + encode(CHAIN[1]))
    assert ids_of(session) == ["a", "b"]
    assert session.damage_count == 2


def test_nul_runs_are_stepped_over_wherever_they_are() -> None:
    padded = encode(CHAIN[1]).rstrip() + b"\0" * 300 + b"\n"
    session = load_session(encode(HEADER, CHAIN[0]) + b"\0" * 200 + b"\n" + padded + b"\0\0" + encode(CHAIN[2]))
    assert session.entries == list(CHAIN)
    assert [(d.kind, d.count) for d in session.damage] == [
        (DamageKind.NUL, 200),
        (DamageKind.NUL, 300),
        (DamageKind.NUL, 2),
    ]


def test_a_nul_run_inside_a_record_costs_that_record_only() -> None:
    line = encode(CHAIN[1])
    session = load_session(encode(HEADER, CHAIN[0]) + line[:50] + b"\0" * 20 + encode(CHAIN[2]))
    assert ids_of(session) == ["a", "c"]


def test_a_byte_order_mark_and_crlf_line_ends_are_accepted_and_reported_once() -> None:
    session = load_session(b"\xef\xbb\xbf" + FILE.replace(b"\n", b"\r\n"))
    assert session.entries == list(CHAIN)
    assert [(d.kind, d.count) for d in session.damage] == [(DamageKind.BOM, 1), (DamageKind.CRLF, 4)]


def test_invalid_utf8_is_read_as_replacement_characters() -> None:
    """BR-100: one bad byte costs one character, not the session."""
    line = encode(CHAIN[1]).replace(b"hello", b"he\xff\xfelo")
    session = load_session(encode(HEADER, CHAIN[0]) + line + encode(CHAIN[2]))
    assert session.entries[1]["message"]["content"] == "he��lo"
    [damage] = session.damage
    assert damage.kind is DamageKind.INVALID_UTF8
    assert FILE[damage.offset : damage.offset + 3] == b"llo"


def test_a_lone_surrogate_is_read_as_a_replacement_character_and_pairs_are_kept() -> None:
    line = encode(CHAIN[1]).replace(b"hello", rb"\ud83e\udde9 \\ud83d \uD83D and \uDC00")
    session = load_session(encode(HEADER, CHAIN[0]) + line)
    assert session.entries[1]["message"]["content"] == "🧩 \\ud83d � and �"
    assert [(d.kind, d.count) for d in session.damage] == [(DamageKind.LONE_SURROGATE, 2)]


def test_surrogate_halves_encoded_one_by_one_lose_nothing() -> None:
    halves = "𠮷".encode("utf-16-be")
    pair = b"".join(chr(int.from_bytes(halves[n : n + 2])).encode("utf-8", "surrogatepass") for n in (0, 2))
    session = load_session(encode(HEADER, CHAIN[0]).replace(b"hello", pair))
    assert session.entries[0]["message"]["content"] == "𠮷"


def test_astral_characters_escaped_or_raw_are_the_same_text() -> None:
    """BR-109: no half of an escaped pair is lost."""
    text = "🧩 and 𠮷"
    raw = load_session(encode(HEADER, entry("a", None, text)))
    escaped = load_session(encode(HEADER) + json.dumps(entry("a", None, text)).encode() + b"\n")
    assert raw.entries == escaped.entries
    assert raw.entries[0]["message"]["content"] == text


def test_line_separators_inside_strings_do_not_end_a_line() -> None:
    session = load_session(encode(HEADER, entry("a", None, "one\u2028two\u2029three\x85four")))
    assert session.entries[0]["message"]["content"] == "one\u2028two\u2029three\x85four"


def test_a_record_with_raw_newlines_in_a_string_is_joined() -> None:
    line = encode(CHAIN[1]).replace(b"hello", b"one\ntwo\nthree")
    session = load_session(encode(HEADER, CHAIN[0]) + line + encode(CHAIN[2]))
    assert [e["message"]["content"] for e in session.entries] == ["hello", "one\ntwo\nthree", "hello"]
    assert [(d.kind, d.line, d.count) for d in session.damage] == [(DamageKind.SPLIT_RECORD, 3, 3)]


def test_numbers_no_other_program_can_read_are_read_as_null() -> None:
    line = encode(CHAIN[1]).replace(b'"hello"', b"[NaN, -Infinity, 1]")
    session = load_session(encode(HEADER, CHAIN[0]) + line)
    assert session.entries[1]["message"]["content"] == [None, None, 1]
    assert [(d.kind, d.count) for d in session.damage] == [(DamageKind.NON_FINITE, 2)]


def test_a_record_nested_beyond_reason_costs_that_record_only() -> None:
    deep = b'{"type":"custom","data":' + b"[" * 200_000 + b"\n"
    session = load_session(encode(HEADER, CHAIN[0]) + deep + encode(CHAIN[1]))
    assert ids_of(session) == ["a", "b"]
    assert session.damage_count == 1


def test_values_that_are_not_objects_are_skipped_and_reported() -> None:
    session = load_session(encode(HEADER, CHAIN[0]) + b'[1,2]\n"text"\nnull\n' + encode(CHAIN[1]))
    assert ids_of(session) == ["a", "b"]
    assert kinds(session) == [DamageKind.NOT_OBJECT] * 3


def test_a_line_of_sixty_megabytes_is_one_record() -> None:
    text = "x" * 60_000_000
    session = load_session(encode(HEADER, entry("a", None, text)) + encode(CHAIN[1]))
    assert len(session.entries[0]["message"]["content"]) == 60_000_000
    assert ids_of(session) == ["a", "b"]


def test_looking_for_records_in_a_hostile_line_stays_linear() -> None:
    """Without a budget this line would be scanned once for every one of its 200,000 openings."""
    hostile = b'{"type":' * 200_000
    session = load_session(encode(HEADER, CHAIN[0]) + hostile + b"\n" + encode(CHAIN[1]))
    assert ids_of(session) == ["a", "b"]


def test_damage_beyond_the_limit_is_counted_but_not_kept() -> None:
    session = load_session(encode(HEADER) + b"[]\n" * (MAX_DAMAGE + 50))
    assert len(session.damage) == MAX_DAMAGE
    assert session.damage_count == MAX_DAMAGE + 50


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\n\n  \n", "empty"),
        (bytes(range(256)) * 40, "not-jsonl"),
        (b"# A readme\n\nwith text\n", "not-jsonl"),
        (encode(CHAIN[0]) + encode(HEADER), "no-header"),
        (b'{"type":"session"}\n' + encode(CHAIN[0]), "bad-header-id"),
        (b'{"type":"session","id":12}\n' + encode(CHAIN[0]), "bad-header-id"),
        (b'{"type":"title","v":1,"title":"t"}\n', "no-header"),
        (encode(HEADER)[:-20], "not-jsonl"),
    ],
)
def test_what_is_not_a_session_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    """BR-011, and engine.md §17 no. 18 and 116: a file with a bad header is never taken for an empty session."""
    with pytest.raises(OctavoError) as refused:
        load_session(data)
    assert refused.value.kind is ErrorKind.SESSION_UNREADABLE
    assert refused.value.data["details"]["reason"] == reason


def test_a_header_alone_is_an_empty_session() -> None:
    session = load_session(encode(HEADER))
    assert session.entries == []
    assert SessionTree(session.header, session.entries).leaf_id is None


def test_a_second_header_among_the_entries_is_left_out_and_reported() -> None:
    session = load_session(encode(HEADER, CHAIN[0], {**HEADER, "id": "other"}, CHAIN[1]))
    assert ids_of(session) == ["a", "b"]
    [damage] = session.damage
    assert (damage.kind, damage.detail) == (DamageKind.DUPLICATE_HEADER, "other")


def test_the_title_line_of_later_versions_wins_over_the_header() -> None:
    slot = {"type": "title", "v": 1, "title": "Newer", "source": "user", "updatedAt": "t", "pad": "   "}
    session = load_session(encode(slot, {**HEADER, "title": "Older", "titleSource": "auto"}, CHAIN[0]))
    assert (session.header["title"], session.header["titleSource"]) == ("Newer", "user")
    assert session.title_slot == slot
    assert not session.needs_rewrite


def test_the_same_record_twice_is_kept_once() -> None:
    """BR-013: repeated records do not become repeated entries."""
    session = load_session(encode(HEADER, CHAIN[0], CHAIN[1], CHAIN[0], CHAIN[2]))
    assert session.entries == list(CHAIN)
    assert kinds(session) == [DamageKind.DUPLICATE_RECORD]
    assert session.needs_rewrite


def test_two_records_with_one_id_are_both_kept_and_what_follows_stays_with_the_later_one() -> None:
    other = entry("b", "a", "another text")
    session = load_session(encode(HEADER, CHAIN[0], CHAIN[1], other, CHAIN[2]))
    assert ids_of(session)[:2] == ["a", "b"]
    renamed = session.entries[2]
    assert renamed["id"] not in {"a", "b", "c"}
    assert renamed["message"]["content"] == "another text"
    assert session.entries[3]["parentId"] == renamed["id"]
    assert kinds(session) == [DamageKind.DUPLICATE_ID]


def test_a_file_in_which_every_id_is_the_same_still_reads_as_one_conversation() -> None:
    scrubbed = [entry("x", "x", f"message {n}") for n in range(5)]
    session = load_session(encode(HEADER, *scrubbed))
    tree = SessionTree(session.header, session.entries)
    assert [e["message"]["content"] for e in tree.path(tree.leaf_id)] == [f"message {n}" for n in range(5)]


def test_entries_without_an_id_are_given_one_and_hang_under_the_entry_before_them() -> None:
    nameless = {"type": "message", "timestamp": "t", "message": {"role": "user", "content": "x"}}
    session = load_session(encode(HEADER, CHAIN[0], nameless))
    assert session.entries[1]["parentId"] == "a"
    assert isinstance(session.entries[1]["id"], str)
    assert kinds(session) == [DamageKind.MISSING_ID]
    assert session.needs_rewrite


def test_orphans_and_cycles_are_reported_and_loaded() -> None:
    ring = (entry("x", "y"), entry("y", "x"), entry("o", "gone"), entry("w", {"a": 1}))  # type: ignore[arg-type]
    session = load_session(encode(HEADER, CHAIN[0], *ring))
    assert {(d.kind, d.detail) for d in session.damage} == {
        (DamageKind.ORPHAN_PARENT, "o"),
        (DamageKind.ORPHAN_PARENT, "w"),
        (DamageKind.CYCLE, "x"),
    }
    assert not session.needs_rewrite


def test_opening_a_file_without_ids_twice_gives_the_same_ids() -> None:
    old = b'{"type":"session","id":"s","timestamp":"t","cwd":"/"}\n' + b"".join(
        json.dumps({"type": "message", "timestamp": "t", "message": {"role": "user", "content": str(n)}}).encode()
        + b"\n"
        for n in range(20)
    )
    first, second = load_session(old), load_session(old)
    assert first.needs_rewrite
    assert first.version_on_disk == 1
    assert ids_of(first) == ids_of(second)
    assert len(set(ids_of(first))) == 20


def test_replay_payloads_are_dropped_with_the_signatures_of_their_message() -> None:
    content = [{"type": "thinking", "thinking": "t", "thinkingSignature": "s"}, {"type": "text", "text": "x"}]
    payload = {"type": "openaiResponsesHistory", "provider": "openai", "items": []}
    message = {"role": "assistant", "content": content, "providerPayload": payload}
    untouched = {"role": "assistant", "content": content}
    session = load_session(encode(HEADER, entry("a", None, message=message), entry("b", "a", message=untouched)))
    assert session.entries[0]["message"] == {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "x"}],
    }
    assert session.entries[1]["message"] == untouched
    assert session.needs_rewrite


def test_a_caller_can_replace_heavy_objects_while_the_file_is_read() -> None:
    """BR-007: what need not be in memory never has to be, all at once."""

    def slim(value: dict[str, Any], offset: int, length: int) -> dict[str, Any]:
        assert json.loads(FILE[offset : offset + length]) == value
        return {**value, "message": None} if value["type"] == "message" else value

    session = load_session(FILE, on_object=slim)
    assert [e["message"] for e in session.entries] == [None, None, None]


def test_findings_travel_as_plain_objects() -> None:
    session = load_session(encode(HEADER) + b"[1]\n")
    assert session.damage[0].to_wire() == {
        "kind": "not-object",
        "line": 2,
        "offset": len(encode(HEADER)),
        "length": 3,
        "count": 1,
        "detail": "list",
    }


@given(st.lists(st.binary(max_size=40), max_size=12), st.integers(0, 2**16))
def test_no_bytes_behind_a_header_keep_a_session_from_opening(junk: list[bytes], cut: int) -> None:
    data = encode(HEADER) + b"\n".join([*junk[::2], encode(CHAIN[0]).rstrip(), *junk[1::2]])
    data = data[: max(len(encode(HEADER)), cut)]
    session = load_session(data)
    assert len({e["id"] for e in session.entries}) == len(session.entries)
    SessionTree(session.header, session.entries).path(None)
    assert load_session(iter([data[n : n + 5] for n in range(0, len(data), 5)])).entries == session.entries


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(), st.lists, max_leaves=8))
def test_any_json_value_in_an_entry_survives_the_slow_path_as_the_fast_one(value: Any) -> None:
    fast = load_session(encode(HEADER, entry("a", None, data=value)))
    slow = load_session(encode(HEADER).rstrip() + encode(entry("a", None, data=value)))
    assert slow.entries == fast.entries
