import pytest

from octavo.tokens.catalogue import CATALOGUE
from octavo.tokens.models import ModelRegistry, resolve_model
from octavo_protocol.model_info import ModelInfo


@pytest.mark.parametrize(
    ("provider", "model_id", "window"),
    [
        ("anthropic", "claude-sonnet-4-5", 200_000),
        ("anthropic", "claude-sonnet-4-5-20250929", 200_000),
        ("anthropic", "claude-3-5-sonnet-latest", 200_000),
        ("openrouter", "anthropic/claude-opus-4.5", 200_000),
        ("amazon-bedrock", "us.anthropic.claude-sonnet-4-20250514-v1:0", 200_000),
        ("google-vertex", "claude-opus-4@20250514", 200_000),
        ("openai", "gpt-4.1-2025-04-14", 1_047_576),
        ("openai", "gpt-4o-audio", 128_000),
        ("openai", "gpt-5-codex", 400_000),
        ("google", "gemini-3-pro-preview", 1_048_576),
        ("google", "gemini-2.5-flash-lite-preview-09-25", 1_048_576),
        ("openrouter", "openai/gpt-oss-120b:free", 131_072),
        ("ollama", "somebody/unheard-of", 0),
    ],
)
def test_a_model_is_found_under_the_names_people_give_it(provider: str, model_id: str, window: int) -> None:
    known = ModelRegistry().resolve(provider, model_id)
    assert known.model.context_window == window
    assert known.model.ref == f"{provider}/{model_id}"
    assert known.window_source == ("catalogue" if window else "unknown")


def test_an_unknown_model_takes_text_and_has_no_window() -> None:
    model = resolve_model("acme", "mystery-1")
    assert (model.context_window, model.inputs, model.api, model.prices) == (0, ("text",), "", {})


def test_prices_are_the_vendors_own_and_nobody_elses() -> None:
    assert resolve_model("anthropic", "claude-opus-4-5").prices["output"] == 25
    assert resolve_model("openrouter", "anthropic/claude-opus-4-5").prices == {}
    assert resolve_model("openai", "gpt-4o-audio").prices == {}


def test_the_window_a_client_declares_wins_and_is_named_as_the_source() -> None:
    """BR-055: catalogue 131,072, runtime limit 16,384."""
    registry = ModelRegistry([ModelInfo(provider="vllm", id="gpt-oss-20b", context_window=32_768)])
    assert registry.resolve("vllm", "gpt-oss-20b").window_source == "settings"
    registry.register([ModelInfo(provider="vllm", id="gpt-oss-20b", context_window=16_384)])
    known = registry.resolve("vllm", "gpt-oss-20b")
    assert (known.model.context_window, known.window_source) == (16_384, "client")


def test_only_the_fields_that_were_given_override() -> None:
    info = ModelInfo(provider="openai", id="gpt-4o", context_promotion_target="gpt-4.1")
    registry = ModelRegistry([info])
    known = registry.resolve("openai", "gpt-4o")
    assert known.model == resolve_model("openai", "gpt-4o")
    assert (known.window_source, known.promotion_target) == ("catalogue", "gpt-4.1")


def test_a_declared_window_of_zero_says_nothing() -> None:
    info = ModelInfo(provider="openai", id="gpt-4o", context_window=0, inputs=["text"])
    model = resolve_model("openai", "gpt-4o", [info])
    assert (model.context_window, model.accepts_images) == (128_000, False)


def test_references_divide_at_the_first_slash() -> None:
    registry = ModelRegistry()
    found = registry.resolve_ref("openrouter/anthropic/claude-opus-4.5")
    assert found is not None
    assert (found.model.provider, found.model.id) == ("openrouter", "anthropic/claude-opus-4.5")
    assert registry.resolve_ref("no-slash") is None
    assert registry.resolve_ref("") is None


def test_a_bare_id_belongs_to_the_provider_at_hand() -> None:
    registry = ModelRegistry()
    bare, foreign = registry.resolve_ref("gpt-4.1", "openai"), registry.resolve_ref("meta-llama/llama-4", "together")
    assert bare is not None
    assert foreign is not None
    assert bare.model.ref == "openai/gpt-4.1"
    assert foreign.model.ref == "together/meta-llama/llama-4"


def test_settings_can_be_replaced() -> None:
    registry = ModelRegistry([ModelInfo(provider="a", id="b", context_window=5)])
    registry.configure([])
    assert registry.resolve("a", "b").window_source == "unknown"


def test_the_list_holds_every_model_once() -> None:
    registry = ModelRegistry([ModelInfo(provider="acme", id="x"), ModelInfo(provider="openai", id="gpt-4o")])
    refs = [known.model.ref for known in registry.known()]
    assert refs == sorted(set(refs))
    assert len(refs) == len(CATALOGUE) + 1
