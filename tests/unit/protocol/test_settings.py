"""Settings: keys, defaults, layers, and what is said when one is wrong."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo_protocol import layering
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.layering import settings_of
from octavo_protocol.settings import Settings

SEED = {
    "compaction.enabled": True,
    "compaction.strategy": "context-full",
    "compaction.thresholdPercent": -1,
    "compaction.thresholdTokens": -1,
    "compaction.reserveTokens": 16384,
    "compaction.keepRecentTokens": 20000,
    "compaction.autoContinue": True,
    "compaction.remoteEnabled": True,
    "compaction.remoteEndpoint": None,
    "compaction.handoffSaveToDisk": False,
    "compaction.idleEnabled": False,
    "compaction.idleThresholdTokens": 200000,
    "compaction.idleTimeoutSeconds": 300,
    "compaction.supersedeReads": True,
    "compaction.dropUseless": True,
    "branchSummary.enabled": False,
    "branchSummary.reserveTokens": 16384,
    "contextPromotion.enabled": True,
    "snapcompact.systemPrompt": "none",
    "snapcompact.toolResults": False,
    "snapcompact.shape": "auto",
    "retry.enabled": True,
    "retry.maxRetries": 10,
    "retry.baseDelayMs": 500,
    "retry.maxDelayMs": 300000,
    "retry.modelFallback": True,
    "retry.fallbackChains": {},
    "retry.fallbackRevertPolicy": "cooldown-expiry",
    "treeFilterMode": "default",
}


def refusal(updates: Any) -> OctavoError:
    with pytest.raises(OctavoError) as caught:
        Settings.from_dotted(updates)
    assert caught.value.kind is ErrorKind.INVALID_PARAMS
    return caught.value


def test_defaults_are_the_seeds() -> None:
    values = Settings().dotted()
    assert {key: values[key] for key in SEED} == SEED


def test_every_setting_is_described() -> None:
    assert [setting.key for setting in settings_of(Settings) if not setting.field.description] == []


def test_variables_are_unique() -> None:
    names = [setting.variable for setting in settings_of(Settings)]
    assert len(set(names)) == len(names)
    assert "OCTAVO_COMPACTION_KEEP_RECENT_TOKENS" in names


@pytest.mark.parametrize(
    "updates",
    [
        {"compaction.strategy": "off", "compaction.enabled": False},
        {"compaction": {"strategy": "off", "enabled": False}},
        {"compaction": {"strategy": "off"}, "compaction.enabled": False},
        {"octavo": {"compaction": {"strategy": "off"}, "compaction.enabled": False}},
    ],
)
def test_keys_may_be_dotted_or_nested_or_both(updates: dict[str, Any]) -> None:
    settings = Settings.from_dotted(updates)
    assert (settings.compaction.strategy, settings.compaction.enabled) == ("off", False)


def test_maps_take_whole_values_and_dotted_members() -> None:
    settings = Settings.from_dotted(
        {
            "modelRoles": {"default": "a/b"},
            "modelRoles.smol": "a/c",
            "providers.my.host": {"baseUrl": "http://127.0.0.1:1"},
            "providers.my.host.apiKeyEnv": "MY_KEY",
        }
    )
    assert settings.model_roles == {"default": "a/b", "smol": "a/c"}
    assert settings.providers["my.host"].base_url == "http://127.0.0.1:1"
    assert settings.providers["my.host"].api_key_env == "MY_KEY"


@pytest.mark.parametrize(
    ("updates", "key", "value", "allowed"),
    [
        ({"compaction.strategy": "zip"}, "compaction.strategy", '"zip"', '"snapcompact"'),
        ({"compaction": {"enabled": "yes"}}, "compaction.enabled", '"yes"', "true or false"),
        ({"retry.maxRetries": -1}, "retry.maxRetries", "-1", "a whole number from 0 up"),
        ({"compaction.keepRecentTokens": 1.5}, "compaction.keepRecentTokens", "1.5", "a whole number"),
        ({"retry.fallbackChains": {"default": "a/b"}}, "retry.fallbackChains.default", '"a/b"', "a list of a string"),
        ({"modelRoles.smol": 3}, "modelRoles.smol", "3", "a string"),
    ],
)
def test_a_wrong_value_names_the_key_the_value_and_what_is_allowed(
    updates: dict[str, Any], key: str, value: str, allowed: str
) -> None:
    error = refusal(updates)
    assert f"`{key}` cannot be {value}" in error.message
    assert allowed in error.message
    (detail,) = error.data["details"]
    assert detail["key"] == key
    assert allowed in detail["allowed"]


def test_every_wrong_value_is_listed() -> None:
    error = refusal({"compaction.strategy": "zip", "retry.maxRetries": -1})
    assert {detail["key"] for detail in error.data["details"]} == {"compaction.strategy", "retry.maxRetries"}


@pytest.mark.parametrize(
    ("updates", "words"),
    [
        ({"compaction.stratgy": "off"}, "did you mean `compaction.strategy`"),
        ({"zzz": 1}, "there is no setting `zzz`"),
        ({"compaction": 3}, "`compaction` must be an object, not 3"),
        ({"compaction.enabled.really": True}, "`compaction.enabled` has no keys below it"),
        ([1], "settings must be an object, not [1]"),
    ],
)
def test_a_wrong_key_is_explained(updates: Any, words: str) -> None:
    assert words in refusal(updates).message


def test_a_credential_is_shown_neither_in_errors_nor_in_listings() -> None:
    error = refusal({"providers.a": {"apiKey": "", "headers": {"x": 7}}})
    assert "(hidden)" in error.message
    settings = Settings.from_dotted({"providers.a": {"apiKey": "sk-1", "headers": {"Authorization": "Bearer sk-2"}}})
    assert "sk-" not in str(settings.dotted())
    assert settings.providers["a"].api_key == "sk-1"


def test_what_stands_in_an_address_or_a_command_is_hidden_too() -> None:
    address = "https://ada:sk-3@models.example:8443/v1?key=sk-4#part"
    given = {
        "providers.a": {"baseUrl": address, "apiKeyCommand": ["echo", "sk-5"]},
        "compaction.remoteEndpoint": "http://example.org/summary?token=sk-6",
        "models": [{"provider": "a", "id": "m", "baseUrl": address}],
    }
    shown = Settings.from_dotted(given).dotted()
    assert "sk-" not in str(shown)
    assert shown["providers"]["a"]["baseUrl"] == "https://(hidden)@models.example:8443/v1?(hidden)#part"
    assert shown["compaction.remoteEndpoint"] == "http://example.org/summary?(hidden)"
    assert Settings.from_dotted(given).providers["a"].base_url == address


@pytest.mark.parametrize(
    "spoilt", [{"providers": '{"a": {"apiKey": "sk-7"'}, {"providers.a": "sk-7"}, {"providers": {"a": ["sk-7"]}}]
)
def test_a_spoilt_provider_is_refused_without_showing_what_may_be_its_key(spoilt: Any) -> None:
    assert "sk-7" not in refusal(spoilt).message


def test_layers_win_in_order_key_by_key_and_tell_where_a_value_is_from() -> None:
    layers = [
        (
            "file",
            layering.read_toml(
                Settings, "[compaction]\nstrategy = 'off'\nkeepRecentTokens = 5\n[modelRoles]\na = 'x/y'"
            ),
        ),
        (
            "environment",
            layering.read_environment(Settings, {"OCTAVO_COMPACTION_STRATEGY": "shake", "OCTAVO_OTHER": "1"}),
        ),
        ("session", layering.read(Settings, {"modelRoles.b": "x/z"})),
    ]
    settings = Settings.from_layers([layer for _, layer in layers])
    assert settings.compaction.strategy == "shake"
    assert settings.compaction.keep_recent_tokens == 5
    assert settings.model_roles == {"a": "x/y", "b": "x/z"}
    assert layering.sources(layers) == {
        "compaction.strategy": "environment",
        "compaction.keepRecentTokens": "file",
        "modelRoles.a": "file",
        "modelRoles.b": "session",
    }


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("OCTAVO_COMPACTION_ENABLED", "off", "compaction.enabled", False),
        ("OCTAVO_COMPACTION_ENABLED", "1", "compaction.enabled", True),
        ("OCTAVO_COMPACTION_THRESHOLD_PERCENT", "72.5", "compaction.thresholdPercent", 72.5),
        ("OCTAVO_COMPACTION_MODEL", "a/1", "compaction.model", "a/1"),
        ("OCTAVO_LANGUAGE", "42", "language", "42"),
        ("OCTAVO_MODEL_ROLES", '{"smol": "a/b"}', "modelRoles", {"smol": "a/b"}),
        ("OCTAVO_RETRY_FALLBACK_CHAINS", '{"default": ["a/b"]}', "retry.fallbackChains", {"default": ["a/b"]}),
    ],
)
def test_the_environment_spells_values_as_text(variable: str, text: str, key: str, value: Any) -> None:
    settings = Settings.from_layers([layering.read_environment(Settings, {variable: text})])
    assert settings.dotted()[key] == value


@pytest.mark.parametrize("text", ["soon", "NaN", "-Infinity", ""])
def test_a_number_in_the_environment_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(OctavoError, match=r"compaction\.thresholdPercent"):
        layering.read_environment(Settings, {"OCTAVO_COMPACTION_THRESHOLD_PERCENT": text})


def test_a_broken_settings_file_is_refused_with_its_place() -> None:
    with pytest.raises(OctavoError, match="line 2"):
        layering.read_toml(Settings, "[compaction]\nenabled = = 1")


def test_merging_changes_what_is_named_and_null_takes_it_back() -> None:
    settings = Settings.from_dotted(
        {"compaction.strategy": "off", "modelRoles": {"a": "x/y", "b": "x/z"}, "language": "de"}
    )
    merged = settings.merge({"compaction.strategy": None, "modelRoles.a": None, "compaction.enabled": False})
    assert merged.compaction.strategy == "context-full"
    assert merged.compaction.enabled is False
    assert merged.model_roles == {"b": "x/z"}
    assert merged.language == "de"
    assert settings.compaction.strategy == "off"


def test_null_takes_back_a_whole_group() -> None:
    settings = Settings.from_dotted({"compaction.strategy": "off", "compaction.enabled": False})
    assert settings.merge({"compaction": None}) == Settings()


def test_a_wrong_merge_changes_nothing() -> None:
    settings = Settings.from_dotted({"compaction.strategy": "off"})
    with pytest.raises(OctavoError):
        settings.merge({"compaction.enabled": False, "compaction.strategy": "zip"})
    assert settings == Settings.from_dotted({"compaction.strategy": "off"})


_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "compaction.enabled": st.booleans(),
    "compaction.thresholdPercent": st.floats(allow_nan=False, allow_infinity=False),
    "compaction.keepRecentTokens": st.integers(0, 10**9),
    "language": st.text(min_size=1),
    "treeFilterMode": st.sampled_from(["default", "all"]),
}


@given(st.fixed_dictionaries({}, optional=_VALUES), st.fixed_dictionaries({}, optional=_VALUES))
def test_merging_is_laying_one_over_the_other(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert Settings.from_dotted(first).merge(second) == Settings.from_dotted({**first, **second})
