"""What a frame costs, per provider family (snapcompact.md §1.4, §3).

The seed prices every frame as the full square of its shape; `square_tokens` keeps that figure because shapes carry it.
`frame_tokens` prices the pixels really sent, which is less for a frame whose height hugs its text. Request budgets
(how many images, how many bytes) are the archive's business, not this module's.
"""

import math
from typing import Literal

Family = Literal["anthropic", "openai", "google"]

OPENAI_APIS = frozenset({"openai-completions", "openai-responses", "openai-codex-responses", "azure-openai-responses"})
GOOGLE_APIS = frozenset({"google-generative-ai", "google-gemini-cli", "google-vertex"})

_GOOGLE_TOKENS = 1120
_ANTHROPIC_PATCH_PX, _ANTHROPIC_PATCH_CAP, _ANTHROPIC_TOKENS_PER_PATCH = 28, 4784, 1.05
_OPENAI_PATCH_PX, _OPENAI_PATCH_CAP, _OPENAI_TOKENS_PER_PATCH = 32, 10_000, 1.2


def family_of(api: str | None) -> Family:
    """Map the wire a provider speaks to the family that bills it; unknown and absent wires bill like Anthropic."""
    if api in OPENAI_APIS:
        return "openai"
    if api in GOOGLE_APIS:
        return "google"
    return "anthropic"


def frame_tokens(family: Family, width: int, height: int) -> int:
    """Price one image of `width` × `height` px in tokens, from its real area where the provider bills by area."""
    if family == "google":
        return _GOOGLE_TOKENS
    if family == "openai":
        patches = min(_patches(width, height, _OPENAI_PATCH_PX), _OPENAI_PATCH_CAP)
        return math.ceil(patches * _OPENAI_TOKENS_PER_PATCH)
    patches = min(_patches(width, height, _ANTHROPIC_PATCH_PX), _ANTHROPIC_PATCH_CAP)
    return math.ceil(patches * _ANTHROPIC_TOKENS_PER_PATCH)


def square_tokens(family: Family, size: int) -> int:
    """Price a full `size` × `size` px frame in tokens: the seed's figure for every frame of a shape."""
    return frame_tokens(family, size, size)


def _patches(width: int, height: int, patch_px: int) -> int:
    return math.ceil(width / patch_px) * math.ceil(height / patch_px)
