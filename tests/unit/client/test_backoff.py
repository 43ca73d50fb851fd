"""Pauses between attempts."""

from hypothesis import given
from hypothesis import strategies as st

from octavo_client import BACKOFF, Backoff


def test_pauses_grow_by_the_factor_up_to_the_limit() -> None:
    backoff = Backoff(initial_s=1, max_s=5, factor=2, jitter=0)
    assert [backoff.pause_s(retry, 0.5) for retry in range(1, 6)] == [1, 2, 4, 5, 5]


@given(retry=st.integers(1, 10_000), random=st.floats(0, 1))
def test_the_jitter_only_shortens_a_pause(retry: int, random: float) -> None:
    full, pause = BACKOFF.pause_s(retry, 0), BACKOFF.pause_s(retry, random)
    assert full * (1 - BACKOFF.jitter) <= pause <= full <= BACKOFF.max_s
