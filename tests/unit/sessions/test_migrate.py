"""Older files become current ones, newer ones are left alone."""

from itertools import count
from typing import Any

import pytest

from octavo.sessions.migrate import migrate_to_current, sanitise_replay, version_of


def numbered() -> Any:
    numbers = count()
    return lambda: f"n{next(numbers)}"


def test_a_version_1_file_becomes_a_chain() -> None:
    entries = [{"type": "message", "message": {"role": "user"}}, {"type": "custom"}, {"type": "custom"}]
    migrated = migrate_to_current({"type": "session", "id": "s"}, entries, new_id=numbered())
    assert [(e["id"], e["parentId"]) for e in migrated.entries] == [("n0", None), ("n1", "n0"), ("n2", "n1")]
    assert migrated.header["version"] == 3
    assert migrated.changed


@pytest.mark.parametrize(
    ("index", "kept"), [(1, "n0"), (2, "n1"), (3, "n2"), (0, None), (-1, None), (4, None), (99, None), (1.5, None)]
)
def test_a_boundary_by_index_counts_the_header_and_needs_an_entry_that_has_an_id(
    index: float, kept: str | None
) -> None:
    entries: list[dict[str, Any]] = [
        {"type": "message"},
        {"type": "message"},
        {"type": "compaction", "firstKeptEntryIndex": index},
        {"type": "message"},
    ]
    compaction = migrate_to_current({"id": "s"}, entries, new_id=numbered()).entries[2]
    assert compaction.get("firstKeptEntryId") == kept
    assert "firstKeptEntryIndex" not in compaction


def test_a_version_2_file_keeps_its_ids_and_renames_the_hook_role() -> None:
    entry = {"type": "message", "id": "x", "parentId": None, "message": {"role": "hookMessage", "content": "h"}}
    migrated = migrate_to_current({"version": 2, "id": "s"}, [entry], new_id=numbered())
    assert migrated.entries == [{**entry, "message": {"role": "custom", "content": "h"}}]
    assert entry["message"] == {"role": "hookMessage", "content": "h"}


@pytest.mark.parametrize("version", [3, 4, 99, "new", {"major": 4}])
def test_a_current_or_unknown_version_is_loaded_as_it_is(version: Any) -> None:
    entry = {"type": "message", "id": "x", "message": {"role": "hookMessage"}}
    migrated = migrate_to_current({"version": version, "id": "s"}, [entry], new_id=numbered())
    assert migrated.entries == [entry]
    assert not migrated.changed


def test_an_absent_version_is_the_first() -> None:
    assert version_of({}) == 1
    assert version_of({"version": None}) == 1
    assert version_of({"version": 2}) == 2


def test_messages_without_a_replay_payload_keep_their_identity() -> None:
    other = {"type": "openaiResponsesDelta"}
    for message in ({"role": "assistant"}, {"role": "assistant", "providerPayload": other}, {"role": "user"}, None):
        entry = {"type": "message", "message": message}
        assert sanitise_replay(entry) is entry
