"""Image and byte budgets, and the journal of what inline imaging saved."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.snapcompact.budgets import effective_reserve, newest_within, provider_frame_budget, provider_image_budget
from octavo.snapcompact.journal import Saving, SavingsRecorder, read_savings


def test_a_gateway_that_drops_images_silently_is_never_sent_more_than_it_takes() -> None:
    """BR-080."""
    assert provider_image_budget("openrouter") == 8
    assert provider_frame_budget("openrouter", 80) == 8
    assert provider_frame_budget("some-gateway", 80) == 5
    assert provider_frame_budget("anthropic", 0) == 1


def test_the_reserve_is_a_share_of_the_window_but_never_below_the_setting() -> None:
    assert effective_reserve(200_000) == 30_000
    assert effective_reserve(32_000) == 16_384


@given(st.lists(st.integers(1, 50), min_size=1, max_size=20), st.integers(0, 200), st.integers(0, 2), st.booleans())
def test_the_byte_budget_is_kept_and_the_newest_item_always_there(
    sizes: list[int], budget: int, pinned: int, unbroken: bool
) -> None:
    """BR-064."""
    kept = newest_within(sizes, budget, pinned=pinned, unbroken=unbroken)
    assert kept[-1] == len(sizes) - 1
    assert kept == sorted(set(kept))
    assert sum(sizes[index] for index in kept) <= budget or kept == [len(sizes) - 1]
    if unbroken:
        newest = [index for index in kept if index >= pinned]
        assert newest == list(range(len(sizes) - len(newest), len(sizes))) or len(sizes) <= pinned


def recorder(path: Path, session: str | None = "s1", failures: list[OSError] | None = None) -> SavingsRecorder:
    return SavingsRecorder(path, session, lambda: 1234, (failures if failures is not None else []).append)


def record(savings: SavingsRecorder, call: str, tokens: int = 500) -> bool:
    return savings.record(provider="anthropic", model="m", tool_call_id=call, saved_tokens=tokens)


def test_a_saving_is_written_once_per_session_and_call(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "snapcompact-savings.jsonl"
    savings = recorder(path)
    assert record(savings, "a")
    assert not record(savings, "a")
    assert record(recorder(path), "a")
    assert read_savings(path) == [Saving(1234, "s1", "anthropic", "m", "a", 500)]
    assert len(path.read_text().splitlines()) == 2
    assert json.loads(path.read_text().splitlines()[0])["toolCallId"] == "a"


def test_nothing_is_written_without_a_session_file_or_without_savings(tmp_path: Path) -> None:
    path = tmp_path / "j"
    assert not record(recorder(path, None), "a")
    assert not record(recorder(path), "a", 0)
    assert not record(recorder(path), "a", -5)
    assert not path.exists()
    assert read_savings(path) == []


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b'{"ts":1}',
        b'{"ts":"x","session":"s","provider":"p","model":"m","toolCallId":"c","savedTokens":1}',
    ],
)
def test_bad_lines_are_skipped_by_readers(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "j"
    record(recorder(path), "a")
    path.write_bytes(line + b"\n" + path.read_bytes() + line)
    assert [saving.tool_call_id for saving in read_savings(path)] == ["a"]


def test_a_write_that_fails_is_reported_and_fails_nothing(tmp_path: Path) -> None:
    failures: list[OSError] = []
    assert not record(recorder(tmp_path, failures=failures), "a")
    assert len(failures) == 1
