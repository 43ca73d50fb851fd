"""Layers of settings: which wins, who is told what is wrong, and what a client takes with it when it goes."""

from pathlib import Path
from typing import Any

import pytest

from octavo.server.daemon import Daemon
from octavo.server.registry import Table
from octavo.server.settings_book import SettingsBook, settings_file
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.lifecycle import InitializationOptions

KEY = "compaction.keepRecentTokens"


class Client:
    """The part of a connection that settings need."""

    def __init__(self, **settings: Any) -> None:
        self.options = InitializationOptions(settings=settings)
        self.told: list[str] = []

    def notify(self, method: str, params: Any) -> None:
        assert method == "session/notice"
        self.told.append(params.message)


def book(environment: dict[str, str] | None = None, file: Path | None = None) -> SettingsBook:
    return SettingsBook(Daemon(Table({}, {})), {"OCTAVO_CONFIG": "", **(environment or {})}, file)


def kept(of: SettingsBook, *clients: Any, own: Any = None) -> int:
    return of.view(clients, own).settings.compaction.keep_recent_tokens


def test_later_layers_win_key_by_key_and_each_value_names_its_source(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('language = "Dutch"\n[compaction]\nkeepRecentTokens = 1\nreserveTokens = 11\nenabled = false\n')
    settings = book({"OCTAVO_COMPACTION_KEEP_RECENT_TOKENS": "2", "OCTAVO_COMPACTION_RESERVE_TOKENS": "22"}, file)
    one, two = Client(**{KEY: 4}), Client(compaction={"keepRecentTokens": 5})
    settings.adopt(one)  # type: ignore[arg-type]
    settings.adopt(two)  # type: ignore[arg-type]
    assert kept(settings) == 2
    assert kept(settings, two, one) == 4
    assert kept(settings, one, two) == 5
    settings.configure(one, {"octavo": {KEY: 6}})  # type: ignore[arg-type]
    assert kept(settings, two, one) == 6
    view = settings.view([one], {("compaction", "keepRecentTokens"): 7})  # type: ignore[list-item]
    assert view.settings.compaction.keep_recent_tokens == 7
    assert dict(view.sources) == {
        "language": "file",
        "compaction.enabled": "file",
        "compaction.reserveTokens": "environment",
        KEY: "session",
    }
    assert dict(settings.view([one]).sources)[KEY] == "configuration"  # type: ignore[list-item]


def test_an_update_holds_for_everyone_and_is_the_last_word_of_the_client_that_made_it() -> None:
    settings = book()
    asking, other = Client(**{KEY: 1}), Client(**{KEY: 2})
    settings.adopt(other)  # type: ignore[arg-type]
    settings.update(asking, {KEY: 3})  # type: ignore[arg-type]
    assert (kept(settings), kept(settings, asking), kept(settings, other)) == (3, 3, 2)
    settings.update(asking, {KEY: None})  # type: ignore[arg-type]
    assert (kept(settings), kept(settings, asking)) == (20_000, 20_000)


def test_a_client_takes_its_settings_with_it() -> None:
    settings = book()
    client = Client(**{KEY: 1})
    settings.adopt(client)  # type: ignore[arg-type]
    revision = settings.revision
    settings.connection_closed(client)  # type: ignore[arg-type]
    assert kept(settings, client) == 20_000
    assert settings.revision > revision


def test_a_wrong_update_changes_nothing_and_names_the_key() -> None:
    settings = book()
    client = Client(**{KEY: 1})
    for change in ({KEY: "many"}, {"compaction.keepRecentToken": 3}, {KEY: 5, "nothing": 1}):
        with pytest.raises(OctavoError) as caught:
            settings.update(client, change)  # type: ignore[arg-type]
        assert caught.value.kind is ErrorKind.INVALID_PARAMS
        assert caught.value.data["details"][0]["key"] in {KEY, "compaction.keepRecentToken", "nothing"}
        with pytest.raises(OctavoError):
            settings.configure(client, change)  # type: ignore[arg-type]
    assert kept(settings, client) == 1


def test_one_wrong_key_does_not_cost_the_right_ones(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        '[compaction]\nkeepRecentTokens = 1\nenable = true\n[providers.acme]\nbaseUrl = "http://x"\napiKey = 3\n'
    )
    settings = book({"OCTAVO_COMPACTION_RESERVE_TOKENS": "lots", "OCTAVO_COMPACTION_STRATEGY": "shake"}, file)
    found = settings.view().settings
    assert (found.compaction.keep_recent_tokens, found.compaction.strategy) == (1, "shake")
    assert found.providers["acme"].base_url == "http://x"
    assert len(settings.problems) == 3
    client = Client(**{KEY: 9, "unknown": 1, "snapcompact": {"shape": "round", "toolResults": True}})
    settings.adopt(client)  # type: ignore[arg-type]
    assert kept(settings, client) == 9
    assert settings.view([client]).settings.snapcompact.tool_results  # type: ignore[list-item]
    assert len(client.told) == 5
    assert any("compaction.enabled" in text for text in client.told)
    assert "round" in client.told[-1]


@pytest.mark.parametrize("text", ["no toml at all", "\x00"])
def test_an_unreadable_file_is_told_and_counts_for_nothing(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    settings = book({}, file)
    assert kept(settings) == 20_000
    assert len(settings.problems) == 1
    assert book({}, tmp_path).problems
    assert not book({}, tmp_path / "missing.toml").problems


def test_credentials_are_never_shown() -> None:
    settings = book()
    client = Client(providers={"acme": {"apiKey": "sk-secret", "headers": {"x-auth": "sk-secret"}}})
    settings.adopt(client)  # type: ignore[arg-type]
    assert "sk-secret" not in str(settings.view([client]).to_wire())  # type: ignore[list-item]
    bad = Client(providers={"acme": {"apiKey": ["sk-secret"]}})
    settings.adopt(bad)  # type: ignore[arg-type]
    assert "sk-secret" not in str(bad.told)


def test_some_of_the_settings_are_shown_by_key_or_group() -> None:
    settings = book({"OCTAVO_LANGUAGE": "Dutch", "OCTAVO_HOOKS_TIMEOUT_MS": "5"})
    shown = settings.view().to_wire(["hooks", "language"])
    assert shown == {
        "settings": {"hooks.timeoutMs": 5, "language": "Dutch"},
        "sources": {"hooks.timeoutMs": "environment", "language": "environment"},
    }
    with pytest.raises(OctavoError) as caught:
        settings.view().to_wire(["hook"])
    assert caught.value.kind is ErrorKind.INVALID_PARAMS


def test_the_daemon_takes_messages_as_large_as_the_settings_say() -> None:
    daemon = Daemon(Table({}, {}))
    settings = SettingsBook(daemon, {"OCTAVO_CONFIG": "", "OCTAVO_SERVER_MAX_MESSAGE_BYTES": "70000"})
    assert daemon.max_message_bytes == 70_000
    settings.update(Client(), {"server.maxMessageBytes": 80_000})  # type: ignore[arg-type]
    assert daemon.max_message_bytes == 80_000


def test_the_file_is_where_the_environment_says() -> None:
    assert settings_file({"OCTAVO_CONFIG": "/x/y.toml"}) == Path("/x/y.toml")
    assert settings_file({"OCTAVO_CONFIG": ""}) is None
    usual = settings_file({})
    assert usual is not None
    assert usual.parts[-2:] == ("octavo", "config.toml")


def test_a_settings_file_that_was_named_and_is_not_there_is_told(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    named = SettingsBook(Daemon(Table({}, {})), {"OCTAVO_CONFIG": str(missing)})
    assert named.problems == [f"There is no settings file {missing}, which OCTAVO_CONFIG names."]
    assert book({}, missing).problems == []
