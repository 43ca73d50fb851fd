import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.tokens.thresholds import ThresholdRules, effective_reserve, resolve_threshold_tokens, should_compact
from octavo_protocol.settings import Settings

SEED = ThresholdRules.SEED
NUMBERS = st.floats(-10, 2e6) | st.sampled_from([math.inf, -math.inf, math.nan])


@dataclass
class Given:
    enabled: bool = True
    strategy: str = "context-full"
    threshold_percent: float = -1
    threshold_tokens: float = -1
    reserve_tokens: float | None = 16384


def test_the_settings_of_the_wire_fit() -> None:
    assert resolve_threshold_tokens(200_000, Settings().compaction) == 170_000


@pytest.mark.parametrize("window", [1, 10, 1000, 8000, 16_384, 19_000])
def test_small_windows_get_a_threshold_of_85_percent_where_the_seed_has_none(window: int) -> None:
    """engine.md §17 item 6."""
    ours = resolve_threshold_tokens(window, Given())
    assert ours == max(1, min(window - 1, window - max(1, math.floor(0.15 * window))))
    assert resolve_threshold_tokens(window, Given(), SEED) == window - 16_384


@pytest.mark.parametrize("window", [0, -5, math.nan, math.inf])
@pytest.mark.parametrize("tokens", [0, 10, 10**12, math.nan])
def test_an_unknown_window_never_triggers(window: float, tokens: float) -> None:
    """BR-040."""
    assert resolve_threshold_tokens(window, Given(threshold_percent=50, threshold_tokens=5)) is None
    assert not should_compact(tokens, window, Given())


def test_unknown_tokens_never_trigger() -> None:
    """BR-040."""
    assert not should_compact(math.nan, 200_000, Given())


def test_a_session_far_below_the_present_window_is_left_alone() -> None:
    """BR-025: 50,000 tokens of a window of 258,400."""
    assert not should_compact(50_000, 258_400, Given())


def test_equality_does_not_trigger() -> None:
    assert not should_compact(170_000, 200_000, Given())
    assert should_compact(170_001, 200_000, Given())


def test_absolute_tokens_win_over_percent_over_reserve() -> None:
    assert resolve_threshold_tokens(200_000, Given(threshold_tokens=5000, threshold_percent=50)) == 5000
    assert resolve_threshold_tokens(200_000, Given(threshold_percent=50)) == 100_000
    assert resolve_threshold_tokens(200_000, Given(threshold_percent=0.5)) == 2000
    assert resolve_threshold_tokens(200_000, Given(threshold_percent=150)) == 198_000


def test_a_written_reserve_is_obeyed_when_it_leaves_room() -> None:
    assert resolve_threshold_tokens(128_000, Given(reserve_tokens=50_000)) == 78_000
    assert resolve_threshold_tokens(32_000, Given(reserve_tokens=50_000)) == 27_200
    assert resolve_threshold_tokens(200_000, Given(reserve_tokens=None)) == 170_000


@given(st.integers(1, 2_000_000), NUMBERS, NUMBERS, st.none() | NUMBERS)
def test_the_threshold_lies_within_the_window_whatever_is_set(
    window: int, percent: float, tokens: float, reserve: float | None
) -> None:
    settings = Given(threshold_percent=percent, threshold_tokens=tokens, reserve_tokens=reserve)
    threshold = resolve_threshold_tokens(window, settings)
    assert threshold is not None
    assert 1 <= threshold <= max(1, window - 1)
    assert effective_reserve(window, settings) >= 0


@pytest.mark.parametrize("rules", list(ThresholdRules))
def test_off_means_never(rules: ThresholdRules) -> None:
    assert not should_compact(10**9, 1000, Given(enabled=False), rules)
    assert not should_compact(10**9, 1000, Given(strategy="off"), rules)
