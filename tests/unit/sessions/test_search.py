"""Finding entries: words, phrases, expressions, scopes, pages and snippets; never stale, never hanging."""

import re
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

import storekit as kit
from octavo.sessions import corpus, search_query
from octavo.sessions.live import LiveSession
from octavo.sessions.search import SNIPPET_CHARS, Searcher, archived_until, snippet_of
from octavo.sessions.search_query import fold, literal_of
from octavo.sessions.search_text import searchable_text
from octavo_protocol.errors import ErrorKind, OctavoError


def searcher(session: LiveSession) -> Searcher:
    return Searcher(session, kit.WRITERS)


async def ids(found: Searcher, query: str, **options: Any) -> list[str]:
    return [hit.entry_id for hit in (await found.search(query, **options)).hits]


async def seeded(folder: Path, *texts: str) -> LiveSession:
    session = await kit.library(folder).create("/p", ephemeral=True)
    if texts:
        await session.append(messages=[kit.user(text) for text in texts], ids=[f"e{n}" for n in range(len(texts))])
    return session


async def test_all_words_must_occur_in_any_case_and_the_newest_comes_first(tmp_path: Path) -> None:
    session = await seeded(tmp_path, "Alpha beta", "beta GAMMA", "alpha gamma", "alphabet")
    found = searcher(session)
    assert await ids(found, "ALPHA") == ["e3", "e2", "e0"]
    assert await ids(found, "gamma beta") == ["e1"]
    assert await ids(found, "alpha", case_sensitive=True) == ["e3", "e2"]
    assert await ids(found, '"alpha gamma"') == ["e2"]
    assert await ids(found, "delta") == []


@pytest.mark.parametrize(
    "query", ["'; DROP", '"', "a AND b", "NEAR(", "*", "(", "\\", "%_", "^$", "a\0b", "-x", 'say "hi']
)
async def test_nothing_in_a_query_of_words_has_a_meaning_of_its_own(tmp_path: Path, query: str) -> None:
    session = await seeded(tmp_path, f"before {query} after", "nothing of the kind, truly: zzz")
    hits = await ids(searcher(session), query)
    assert "e1" not in hits
    assert hits == ["e0"] or "\0" in query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("会议纪要已保存", "会议"),
        ("会议纪要已保存", "存"),
        ("Straße nach Köln", "STRASSE köln"),
        ("cafe\u0301", "CAFÉ"),
        ("CAFÉ", "cafe\u0301"),
        ("Привет, мир", "привет МИР"),
        ("party 🧩 time", "🧩"),
        ("İstanbul", "i̇stanbul"),
    ],
)
async def test_words_of_any_script_are_found_even_single_characters(tmp_path: Path, text: str, query: str) -> None:
    session = await seeded(tmp_path, text, "something else")
    assert await ids(searcher(session), query) == ["e0"]


async def test_expressions_match_lines_and_respect_case(tmp_path: Path) -> None:
    session = await seeded(tmp_path, "error: E1234\nnext", "Error: none", "x = 12")
    found = searcher(session)
    assert await ids(found, r"^error: e\d{4}$", regex=True) == ["e0"]
    assert await ids(found, "error", regex=True) == ["e1", "e0"]
    assert await ids(found, "error", regex=True, case_sensitive=True) == ["e0"]
    assert await ids(found, r"\d+", regex=True) == ["e2", "e0"]
    assert await ids(found, "none|12$", regex=True) == ["e2", "e1"]


@pytest.mark.parametrize(("query", "regex"), [("(", True), ("", True), ("[z-a]", True), ("   ", False)])
async def test_a_query_that_means_nothing_is_refused(tmp_path: Path, query: str, *, regex: bool) -> None:
    found = searcher(await seeded(tmp_path, "a"))
    with pytest.raises(OctavoError) as caught:
        await found.search(query, regex=regex)
    assert caught.value.kind == ErrorKind.INVALID_PARAMS


async def test_a_pathological_expression_is_given_up_and_hangs_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_query, "REGEX_SECONDS", 0.1)
    found = searcher(await seeded(tmp_path, "x" * 5000 + "y"))
    beats = 0
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:

            async def heart() -> None:
                nonlocal beats
                while True:
                    beats += 1
                    await anyio.sleep(0.005)

            group.start_soon(heart)
            with pytest.raises(OctavoError) as caught:
                await found.search("(x+)+$", regex=True)
            group.cancel_scope.cancel()
    assert caught.value.kind == ErrorKind.INVALID_PARAMS
    assert beats > 3


async def test_scopes_are_the_branch_the_tree_and_what_compaction_archived(tmp_path: Path) -> None:
    session = await seeded(tmp_path, "word zero", "word one", "word two", "word three")
    await session.append([{**kit.compaction("c", "e3", "e2", "word summary")}], parent_id="e3")
    await session.append(messages=[kit.user("word after")], ids=["after"])
    await session.append(messages=[kit.user("word aside")], ids=["aside"], parent_id="e1")
    await session.set_leaf("after")
    found = searcher(session)
    assert await ids(found, "word") == ["after", "c", "e3", "e2", "e1", "e0"]
    assert await ids(found, "word", scope="tree") == ["aside", "after", "c", "e3", "e2", "e1", "e0"]
    assert await ids(found, "word", scope="archived") == ["e1", "e0"]
    flags = {hit.entry_id: (hit.on_branch, hit.archived) for hit in (await found.search("word", scope="tree")).hits}
    assert flags["aside"] == (False, False)
    assert flags["e0"] == (True, True)
    assert flags["e2"] == (True, False)


def test_what_no_model_sees_any_more_is_archived() -> None:
    """BR-019."""
    path = kit.chain(4)
    assert archived_until(path) == 0
    assert archived_until([*path, kit.compaction("c", "e3", "e2", "s")]) == 2
    assert archived_until([*path, kit.compaction("c", "e3", "gone", "s")]) == 4
    two = [*path, kit.compaction("c", "e3", "e2", "s"), kit.compaction("d", "c", "gone", "s")]
    assert archived_until(two) == 2
    reset = {"type": "reset_boundary", "id": "r", "parentId": "e3"}
    assert archived_until([*path, reset, kit.entry("x", "r")]) == 5


async def test_appended_and_rewritten_entries_are_found_as_they_are_now(tmp_path: Path) -> None:
    session = await seeded(tmp_path, "old words", "other")
    found = searcher(session)
    assert await ids(found, "words") == ["e0"]
    await session.append(messages=[kit.user("new words")], ids=["n"])
    assert await ids(found, "words") == ["n", "e0"]
    await session.rewrite(lambda tree: [{**tree.by_id["e0"], "message": kit.user("blanked")}], "prune")
    assert await ids(found, "words") == ["n"]
    assert await ids(found, "blanked") == ["e0"]
    await session.set_leaf("e1")
    assert await ids(found, "words") == []
    assert await ids(found, "words", scope="tree") == ["n"]
    await session.set_leaf("n")
    assert await ids(found, "words") == ["n"]


async def test_pages_follow_each_other_without_gaps(tmp_path: Path) -> None:
    session = await seeded(tmp_path, *(f"word {n}" for n in range(25)))
    found = searcher(session)
    seen: list[str] = []
    while True:
        page = await found.search("word", limit=10, offset=len(seen))
        seen += [hit.entry_id for hit in page.hits]
        if not page.more:
            break
    assert seen == [f"e{n}" for n in reversed(range(25))]
    assert not (await found.search("word", limit=25)).more


async def test_order_and_freshness_hold_across_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "CHUNK_BYTES", 64)
    session = await seeded(tmp_path, *(f"word number {n}" for n in range(30)))
    found = searcher(session)
    assert await ids(found, "word", limit=99) == [f"e{n}" for n in reversed(range(30))]
    for number in (3, 29, 0, 15):
        new = {**session.tree.by_id[f"e{number}"], "message": kit.user("changed word")}
        await session.rewrite(lambda _, new=new: [new], "prune")  # type: ignore[misc]
    assert await ids(found, "word", limit=99) == [f"e{n}" for n in reversed(range(30))]
    assert await ids(found, "changed") == ["e29", "e15", "e3", "e0"]
    assert await ids(found, "number 15") == []


async def test_the_payload_of_an_offloaded_compaction_is_found(tmp_path: Path) -> None:
    entries = [kit.entry("e0", None)]
    for number in range(2):
        entries.append(kit.compaction(f"c{number}", entries[-1]["id"], "e0", "x" * 100_000 + f" needle{number}"))
    path = kit.write(tmp_path / "s.jsonl", kit.HEADER, *entries)
    async with kit.opened(tmp_path, path) as session:
        assert await ids(searcher(session), "needle0") == ["c0"]


def test_what_is_searched_is_what_was_said_called_and_answered() -> None:
    message = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "thought", "thinkingSignature": "SIGNATURE"},
            {"type": "text", "text": "said"},
            {"type": "toolCall", "id": "CALLID", "name": "bash", "arguments": {"command": "ls", "deep": [{"a": "b"}]}},
            {"type": "image", "data": "PAYLOAD"},
            "stray",
            None,
        ],
        "provider": "PROVIDER",
    }
    assert searchable_text({"type": "message", "message": message}) == "thought\nsaid\nbash\nls\nb"
    bash = {"role": "bashExecution", "command": "make", "output": "done"}
    assert searchable_text({"type": "message", "message": bash}) == "make\ndone"
    assert searchable_text({"type": "compaction", "summary": "S", "shortSummary": "s"}) == "S\ns"
    assert searchable_text({"type": "label", "label": "here", "targetId": "TARGET"}) == "here"
    for broken in ({}, {"message": None}, {"message": {"content": 7}}, {"content": [None, 1, {}]}):
        assert searchable_text(broken) == ""


async def test_a_hit_shows_its_match_in_utf16_units(tmp_path: Path) -> None:
    text = "🧩" * 200 + " before needle\nafter " + "🧩" * 400
    (hit,) = (await searcher(await seeded(tmp_path, text)).search("NEEDLE after")).hits
    units = hit.snippet.encode("utf-16-le")
    shown = [units[2 * start : 2 * end].decode("utf-16-le") for start, end in hit.matches]
    assert shown == ["needle", "after"]
    assert len(units) // 2 <= SNIPPET_CHARS
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert "\n" not in hit.snippet
    assert (hit.type, hit.role) == ("message", "user")


@given(st.text(max_size=600), st.integers(0, 600), st.integers(1, 400))
def test_a_snippet_is_never_too_long_and_its_matches_lie_inside(text: str, start: int, length: int) -> None:
    spans = [(start, start + length)] if start + length <= len(text) else []
    snippet, matches = snippet_of(text, spans)
    units = len(snippet.encode("utf-16-le", "surrogatepass")) // 2
    assert units <= SNIPPET_CHARS
    assert all(0 <= begin < end <= units for begin, end in matches)
    assert len(matches) == len(spans)


@pytest.mark.parametrize(
    ("source", "literal"),
    [
        ("abc", "abc"),
        (r"ab\.c", "ab.c"),
        (r"\d+abc", "abc"),
        ("ab*c", "a"),
        ("abc?de", "ab"),
        ("ab+cd", "ab"),
        ("a{2}bcd", "bcd"),
        ("a{0,}bcd", "bcd"),
        ("[abc]xy[^]q]zzz", "zzz"),
        ("(abc)de", "de"),
        ("(abc)?d", "d"),
        ("a|b", ""),
        ("(?x) a b", ""),
        (r"\x41bcd", ""),
        (".", ""),
    ],
)
def test_the_literal_of_an_expression_is_certain_to_occur(source: str, literal: str) -> None:
    assert literal_of(source) == literal


PIECES = st.sampled_from(
    ["a", "bc", ".", "a*", "b+", "c?", "[ab]", "(ab)", "(b)?", "a{2}", "b{0,2}", r"\.", r"\w", "^", "$", "a|b"]
)


@given(st.lists(PIECES, min_size=1, max_size=5).map("".join), st.text("abc.", max_size=8))
def test_no_match_is_lost_by_looking_for_the_literal_first(source: str, text: str) -> None:
    try:
        matched = re.search(source, text)
    except re.error:
        return
    if matched:
        assert literal_of(source) in text


@given(st.text(), st.text())
def test_folding_keeps_parts_together(one: str, two: str) -> None:
    assert fold(one.lower()) == fold(one) or not one.isascii()
    assert fold(fold(one)) == fold(one)
    assert one.isascii() is False or fold(one) in fold(one + " " + two)
