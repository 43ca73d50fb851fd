from hypothesis import given
from hypothesis import strategies as st

from octavo.compaction.file_operations import (
    FileOps,
    FileRules,
    collect_from_message,
    file_lists,
    format_files,
    format_grouped_paths,
    read_supersede_key,
    seed_from_details,
    split_read_selector,
    strip_file_blocks,
    upsert_files,
)

PATHS = st.text(alphabet="ab/\\:.~ é𝒳", max_size=12)


def call(name: str, path: object) -> dict[str, object]:
    return {"type": "toolCall", "id": "1", "name": name, "arguments": {"path": path}}


def test_malformed_messages_name_no_files() -> None:
    ops = FileOps()
    for content in (None, "text", ["text", None, {"type": "toolCall"}, call("read", 5), call("edit", "")]):
        collect_from_message({"role": "assistant", "content": content}, ops)
    collect_from_message({"role": "user", "content": [call("read", "a.py")]}, ops)
    assert ops == FileOps()


def test_one_file_read_in_parts_and_then_edited_is_listed_once() -> None:
    ops = FileOps()
    content = [call("read", "a.py:1-5"), call("read", "a.py:raw"), call("edit", "a.py")]
    collect_from_message({"role": "assistant", "content": content}, ops)
    lists = file_lists(ops)
    assert (lists.read_files, lists.modified_files) == ([], ["a.py"])
    assert format_files(lists.read_files, lists.modified_files, ops.read) == "<files>\na.py (RW)\n</files>"


def test_web_and_scheme_resources_stay_out_of_the_lists_unless_the_seed_rule_is_asked_for() -> None:
    ops = FileOps(read={"https://example.org/x", "a.py"}, edited={"local://plan.md"})
    assert file_lists(ops).to_details() == {"readFiles": ["a.py"], "modifiedFiles": []}
    assert file_lists(ops, FileRules.SEED).to_details() == {
        "readFiles": ["a.py", "https://example.org/x"],
        "modifiedFiles": ["local://plan.md"],
    }


def test_details_of_the_wrong_shape_seed_nothing() -> None:
    ops = FileOps()
    for details in (None, [], {"readFiles": "a.py", "modifiedFiles": {"b": 1}}, {"readFiles": [1, None]}):
        seed_from_details(details, ops)
    assert ops == FileOps()
    seed_from_details({"readFiles": ["a.py:3-4"], "modifiedFiles": ["b.py"]}, ops)
    assert (ops.read, ops.edited) == ({"a.py"}, {"b.py"})


def test_the_twenty_first_file_is_counted_and_not_listed() -> None:
    lines = format_files([f"{i:02}.py" for i in range(21)], []).splitlines()
    assert lines[-2:] == ["… (1 more files omitted)", "</files>"]
    assert len(lines) == 23


def test_old_and_repeated_file_tags_are_replaced_by_one_block() -> None:
    old = "S\n\n<read-files>\nx\n</read-files>\n<modified-files>\ny\n</modified-files>\n<files>\nz\n</files>\nrest"
    assert upsert_files(old, ["a.py"], []) == "S\n\nrest\n\n<files>\na.py (Read)\n</files>"
    assert strip_file_blocks("<files> never closed") == "<files> never closed"


def test_many_unclosed_tags_take_linear_time() -> None:
    hostile = "<files>" * 200_000
    assert upsert_files(hostile, [], []) == hostile


def test_a_path_deeper_than_the_call_stack_is_drawn() -> None:
    assert format_grouped_paths(["/".join("a" * 5000)]).endswith("\na")


def test_a_newer_read_is_matched_by_path_and_selector() -> None:
    assert read_supersede_key("a.py:5-9") == "a.py\x005-9"
    assert read_supersede_key("skill://x") is None
    assert read_supersede_key(None) is None


@given(PATHS)
def test_a_path_and_its_selector_always_join_back_to_the_call(path: str) -> None:
    base, selector = split_read_selector(path)
    assert path == (base if selector is None else f"{base}:{selector}")


@given(st.lists(PATHS), st.lists(PATHS), st.text(max_size=40))
def test_updating_the_file_block_twice_changes_nothing(read: list[str], modified: list[str], summary: str) -> None:
    once = upsert_files(summary, read, modified)
    assert upsert_files(once, read, modified) == once
