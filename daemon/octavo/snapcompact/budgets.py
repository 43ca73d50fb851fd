"""How many frames and bytes a request may carry: vendor image limits, the byte budget, and the window (§7.2).

Pure tables and arithmetic; what a frame costs is the business of `billing`.
"""

from collections.abc import Sequence

MAX_FRAMES = 8
"""Frames an archive may hold at most unless the caller asks for another number (seed)."""

DATA_BYTES_BUDGET = 3_000_000
"""Base64 characters of frames one request may carry; newest frames are kept."""

UNKNOWN_PROVIDER_IMAGES = 5
"""Images a provider we know nothing of is trusted with: the smallest limit any measured vendor has."""

_PROVIDER_IMAGES = {
    "anthropic": 90,
    "amazon-bedrock": 90,
    "openai": 200,
    "openai-codex": 200,
    "google": 200,
    "google-vertex": 200,
    "google-gemini-cli": 200,
    "openrouter": 8,
}
_DEFAULT_RESERVE_TOKENS = 16_384


def provider_image_budget(provider: str | None) -> int:
    """Images one request to `provider` may carry before the vendor refuses it or drops the rest silently."""
    return _PROVIDER_IMAGES.get(provider or "", UNKNOWN_PROVIDER_IMAGES)


def provider_frame_budget(provider: str | None, max_frames: int = MAX_FRAMES) -> int:
    """Frames an archive for `provider` may hold: at least 1, at most `max_frames` and the vendor's image limit."""
    return max(1, min(max_frames, provider_image_budget(provider)))


def effective_reserve(context_window: int, reserve_tokens: int = _DEFAULT_RESERVE_TOKENS) -> int:
    """Tokens of the window that must stay free: 15 % of it, or the setting if that is more (§7.3)."""
    return max(context_window * 15 // 100, reserve_tokens)


def newest_within(
    sizes: Sequence[int], budget: int = DATA_BYTES_BUDGET, *, pinned: int = 0, unbroken: bool = False
) -> list[int]:
    """Indices of the items that fit a byte budget, in order.

    The last item is always kept (one frame may be larger than the budget, and an archive without its newest frame is
    worth nothing); then the first `pinned` items, if they fit; then every other that still fits, newest first, or with
    `unbroken` only up to the first that does not.
    """
    if not sizes:
        return []
    newest = len(sizes) - 1
    kept = {newest}
    left = budget - sizes[newest]
    for index in range(min(pinned, newest)):
        if sizes[index] <= left:
            kept.add(index)
            left -= sizes[index]
    for index in range(newest - 1, min(pinned, newest) - 1, -1):
        if sizes[index] <= left:
            kept.add(index)
            left -= sizes[index]
        elif unbroken:
            break
    return sorted(kept)
