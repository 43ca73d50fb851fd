"""When a context is full enough to be compacted: arithmetic on a window and the settings, nothing else.

Source: engine.md §5. `ThresholdRules.SEED` gives the seed's figures, which are zero or negative for small windows and
would compact after every turn (engine.md §17 item 6). `ThresholdRules.OCTAVO`, after the later versions: a reserve
that would leave less than 15 % of the window, or that is larger than the window, gives way to 15 % of the window; the
threshold is at least 1 and at most the window less 1; without a known window there is no threshold and nothing
triggers (BR-040).
"""

import math
from enum import Enum
from typing import Protocol

DEFAULT_RESERVE_TOKENS = 16_384
RESERVE_SHARE = 0.15


class ThresholdRules(Enum):
    """Whose arithmetic: the seed's, or ours."""

    SEED = "seed"
    OCTAVO = "octavo"


class ThresholdSettings(Protocol):
    """The part of the compaction settings that decides when; a value <= 0 means "not set" for the two overrides."""

    @property
    def enabled(self) -> bool:
        """Whether automatic compaction may run."""
        ...

    @property
    def strategy(self) -> str:
        """How room is made; `off` means never."""
        ...

    @property
    def threshold_percent(self) -> float:
        """Percentage of the window, clamped to 1-99."""
        ...

    @property
    def threshold_tokens(self) -> float:
        """Absolute tokens; wins over the percentage."""
        ...

    @property
    def reserve_tokens(self) -> float | None:
        """Tokens kept free for the answer; None means the default."""
        ...


def effective_reserve(
    window: float, settings: ThresholdSettings, rules: ThresholdRules = ThresholdRules.OCTAVO
) -> float:
    """Return the tokens kept free: the larger of 15 % of the window and the reserve."""
    given = settings.reserve_tokens
    reserve = DEFAULT_RESERVE_TOKENS if given is None else given
    if rules is ThresholdRules.SEED:
        return max(math.floor(RESERVE_SHARE * window), reserve)
    reserve = reserve if math.isfinite(reserve) and reserve >= 0 else DEFAULT_RESERVE_TOKENS
    share = max(1, math.floor(RESERVE_SHARE * window)) if known_window(window) else 1
    is_default = reserve == DEFAULT_RESERVE_TOKENS
    if reserve >= window or (is_default and reserve >= window - share):
        return share
    return max(math.floor(RESERVE_SHARE * window), reserve)


def resolve_threshold_tokens(
    window: float, settings: ThresholdSettings, rules: ThresholdRules = ThresholdRules.OCTAVO
) -> float | None:
    """Return the tokens above which the context is to be compacted.

    None under `OCTAVO` when the window is unknown (0, negative or not finite). Fractions are kept, as in the seed.
    """
    if rules is ThresholdRules.SEED:
        return _unclamped(window, settings, rules)
    if not known_window(window):
        return None
    return max(1, min(window - 1, _unclamped(window, settings, rules)))


def should_compact(
    tokens: float, window: float, settings: ThresholdSettings, rules: ThresholdRules = ThresholdRules.OCTAVO
) -> bool:
    """Whether a context of this many tokens is over the threshold; never for unknown tokens or an unknown window."""
    if not settings.enabled or settings.strategy == "off" or not window > 0:
        return False
    threshold = resolve_threshold_tokens(window, settings, rules)
    return threshold is not None and tokens > threshold


def known_window(window: float) -> bool:
    """Whether the window is a number of tokens one can reckon with."""
    return math.isfinite(window) and window > 0


def _unclamped(window: float, settings: ThresholdSettings, rules: ThresholdRules) -> float:
    fixed, percent = settings.threshold_tokens, settings.threshold_percent
    if math.isfinite(fixed) and fixed > 0:
        return min(window - 1, max(1, fixed))
    if not math.isfinite(percent) or percent <= 0:
        return window - effective_reserve(window, settings, rules)
    return math.floor(window * min(99, max(1, percent)) / 100)
