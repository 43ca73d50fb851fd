"""The built-in table of well-known models: data only, looked up by `models`.

Figures are the vendors' published ones. They age: whatever a client registers or a user sets wins over this table.
Windows and outputs are tokens, prices USD per million tokens (input, output, cache read, cache write).
"""

from dataclasses import dataclass
from typing import TypeAlias

Prices: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """What is known of a model id; `images` and `reasoning` say what it takes, `prices` None that they are unknown."""

    vendor: str
    id: str
    window: int
    output: int
    images: bool = True
    reasoning: bool = True
    prices: Prices | None = None


PROVIDER_APIS = {
    "anthropic": "anthropic-messages",
    "openai": "openai-responses",
    "openai-codex": "openai-codex-responses",
    "google": "google-generative-ai",
    "google-gemini": "google-generative-ai",
    "gemini": "google-generative-ai",
    "cerebras": "openai-completions",
    "deepseek": "openai-completions",
    "fireworks": "openai-completions",
    "github-copilot": "openai-completions",
    "groq": "openai-completions",
    "lmstudio": "openai-completions",
    "mistral": "openai-completions",
    "moonshot": "openai-completions",
    "ollama": "openai-completions",
    "openrouter": "openai-completions",
    "together": "openai-completions",
    "vllm": "openai-completions",
    "xai": "openai-completions",
    "zai": "openai-completions",
}
"""The wire a provider speaks when nobody says otherwise."""

_OPUS: Prices = (15, 75, 1.5, 18.75)
_OPUS_45: Prices = (5, 25, 0.5, 6.25)
_SONNET: Prices = (3, 15, 0.3, 3.75)
_HAIKU_45: Prices = (1, 5, 0.1, 1.25)

CATALOGUE = (
    CatalogueRow("anthropic", "claude-opus-4-5", 200_000, 64_000, prices=_OPUS_45),
    CatalogueRow("anthropic", "claude-opus-4-1", 200_000, 32_000, prices=_OPUS),
    CatalogueRow("anthropic", "claude-opus-4", 200_000, 32_000, prices=_OPUS),
    CatalogueRow("anthropic", "claude-opus-4-0", 200_000, 32_000, prices=_OPUS),
    CatalogueRow("anthropic", "claude-sonnet-4-5", 200_000, 64_000, prices=_SONNET),
    CatalogueRow("anthropic", "claude-sonnet-4", 200_000, 64_000, prices=_SONNET),
    CatalogueRow("anthropic", "claude-sonnet-4-0", 200_000, 64_000, prices=_SONNET),
    CatalogueRow("anthropic", "claude-haiku-4-5", 200_000, 64_000, prices=_HAIKU_45),
    CatalogueRow("anthropic", "claude-3-7-sonnet", 200_000, 64_000, prices=_SONNET),
    CatalogueRow("anthropic", "claude-3-5-sonnet", 200_000, 8_192, reasoning=False, prices=_SONNET),
    CatalogueRow("anthropic", "claude-3-5-haiku", 200_000, 8_192, reasoning=False, prices=(0.8, 4, 0.08, 1)),
    CatalogueRow("anthropic", "claude-3-opus", 200_000, 4_096, reasoning=False, prices=_OPUS),
    CatalogueRow("anthropic", "claude-3-haiku", 200_000, 4_096, reasoning=False, prices=(0.25, 1.25, 0.03, 0.3)),
    CatalogueRow("openai", "gpt-5.2", 400_000, 128_000, prices=(1.75, 14, 0.175, 0)),
    CatalogueRow("openai", "gpt-5.1", 400_000, 128_000, prices=(1.25, 10, 0.125, 0)),
    CatalogueRow("openai", "gpt-5.1-codex", 400_000, 128_000, prices=(1.25, 10, 0.125, 0)),
    CatalogueRow("openai", "gpt-5", 400_000, 128_000, prices=(1.25, 10, 0.125, 0)),
    CatalogueRow("openai", "gpt-5-codex", 400_000, 128_000, prices=(1.25, 10, 0.125, 0)),
    CatalogueRow("openai", "gpt-5-mini", 400_000, 128_000, prices=(0.25, 2, 0.025, 0)),
    CatalogueRow("openai", "gpt-5-nano", 400_000, 128_000, prices=(0.05, 0.4, 0.005, 0)),
    CatalogueRow("openai", "gpt-4.1", 1_047_576, 32_768, reasoning=False, prices=(2, 8, 0.5, 0)),
    CatalogueRow("openai", "gpt-4.1-mini", 1_047_576, 32_768, reasoning=False, prices=(0.4, 1.6, 0.1, 0)),
    CatalogueRow("openai", "gpt-4.1-nano", 1_047_576, 32_768, reasoning=False, prices=(0.1, 0.4, 0.025, 0)),
    CatalogueRow("openai", "gpt-4o", 128_000, 16_384, reasoning=False, prices=(2.5, 10, 1.25, 0)),
    CatalogueRow("openai", "gpt-4o-mini", 128_000, 16_384, reasoning=False, prices=(0.15, 0.6, 0.075, 0)),
    CatalogueRow("openai", "gpt-4-turbo", 128_000, 4_096, reasoning=False, prices=(10, 30, 0, 0)),
    CatalogueRow("openai", "o3", 200_000, 100_000, prices=(2, 8, 0.5, 0)),
    CatalogueRow("openai", "o3-mini", 200_000, 100_000, images=False, prices=(1.1, 4.4, 0.55, 0)),
    CatalogueRow("openai", "o4-mini", 200_000, 100_000, prices=(1.1, 4.4, 0.275, 0)),
    CatalogueRow("openai", "o1", 200_000, 100_000, prices=(15, 60, 7.5, 0)),
    CatalogueRow("openai", "gpt-oss-120b", 131_072, 32_768, images=False),
    CatalogueRow("openai", "gpt-oss-20b", 131_072, 32_768, images=False),
    CatalogueRow("google", "gemini-3-pro", 1_048_576, 65_536, prices=(2, 12, 0.2, 0)),
    CatalogueRow("google", "gemini-2.5-pro", 1_048_576, 65_536, prices=(1.25, 10, 0.125, 0)),
    CatalogueRow("google", "gemini-2.5-flash", 1_048_576, 65_536, prices=(0.3, 2.5, 0.03, 0)),
    CatalogueRow("google", "gemini-2.5-flash-lite", 1_048_576, 65_536, prices=(0.1, 0.4, 0.01, 0)),
    CatalogueRow("google", "gemini-2.0-flash", 1_048_576, 8_192, reasoning=False, prices=(0.1, 0.4, 0.025, 0)),
    CatalogueRow("google", "gemma-3-27b-it", 131_072, 8_192, reasoning=False),
    CatalogueRow("deepseek", "deepseek-chat", 128_000, 8_192, images=False, reasoning=False),
    CatalogueRow("deepseek", "deepseek-reasoner", 128_000, 65_536, images=False),
    CatalogueRow("xai", "grok-4", 256_000, 64_000, prices=(3, 15, 0.75, 0)),
    CatalogueRow("xai", "grok-code-fast-1", 256_000, 10_000, images=False, prices=(0.2, 1.5, 0.02, 0)),
    CatalogueRow("moonshot", "kimi-k2", 262_144, 32_768, images=False, reasoning=False),
    CatalogueRow("moonshot", "kimi-k2-thinking", 262_144, 32_768, images=False),
    CatalogueRow("zai", "glm-4.6", 204_800, 131_072, images=False),
    CatalogueRow("zai", "glm-4.5", 131_072, 98_304, images=False),
    CatalogueRow("qwen", "qwen3-coder", 262_144, 65_536, images=False, reasoning=False),
    CatalogueRow("mistral", "mistral-large", 131_072, 32_768, images=False, reasoning=False),
    CatalogueRow("mistral", "devstral-medium", 131_072, 32_768, images=False, reasoning=False),
)
