"""Where keys come from, and that they stay inside."""

import sys

import pytest

from octavo.providers.credentials import Credentials, Secret, variables
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.settings import ProviderSettings


def test_a_secret_cannot_be_printed() -> None:
    secret = Secret("sk-very-secret")
    assert "very" not in f"{secret} {secret!r}"


async def test_settings_win_over_the_environment() -> None:
    found = Credentials({"anthropic": ProviderSettings(api_key="mine")}, {"ANTHROPIC_API_KEY": "theirs"})
    assert await found.find("anthropic") == Secret("mine")


async def test_the_own_variable_wins_over_the_vendors() -> None:
    env = {"OCTAVO_GOOGLE_API_KEY": "a", "GEMINI_API_KEY": "b"}
    assert await Credentials({}, env).find("google") == Secret("a")
    assert variables("my-box") == ("OCTAVO_MY_BOX_API_KEY", "MY_BOX_API_KEY")


async def test_a_named_variable_is_the_only_one_looked_at() -> None:
    env = {"ANTHROPIC_API_KEY": "usual", "WORK_KEY": "work"}
    found = Credentials({"anthropic": ProviderSettings(api_key_env="WORK_KEY")}, env)
    assert await found.find("anthropic") == Secret("work")


async def test_a_command_is_asked_once_until_its_key_is_refused(tmp_path: object) -> None:
    count = f"{tmp_path}/count"
    script = f"open({count!r},'a').write('x'); print('key-'+open({count!r}).read())"
    found = Credentials({"p": ProviderSettings(api_key_command=f'{sys.executable} -c "{script}"')}, {})
    assert [await found.find("p"), await found.find("p")] == [Secret("key-x")] * 2
    found.forget("p")
    assert await found.find("p") == Secret("key-xx")


async def test_space_around_a_key_is_not_part_of_it() -> None:
    assert await Credentials({}, {"OPENAI_API_KEY": " key\r\n"}).find("openai") == Secret("key")
    assert await Credentials({"p": ProviderSettings(api_key="key\n")}, {}).find("p") == Secret("key")


@pytest.mark.parametrize("key", ["mine\nand more", "schlüssel-geheim", " \n"])
async def test_a_key_that_no_header_can_carry_is_named_without_being_shown(key: str) -> None:
    with pytest.raises(OctavoError, match="the key of p is blank or holds characters") as caught:
        await Credentials({"p": ProviderSettings(api_key=key)}, {}).find("p")
    assert caught.value.kind is ErrorKind.NO_MODEL
    assert "mine" not in caught.value.message
    assert "geheim" not in caught.value.message


@pytest.mark.parametrize("command", ["/nonexistent/tool", "false", "true", "echo 'unbalanced"])
async def test_a_command_that_gives_no_key_is_a_typed_error_that_names_the_setting(command: str) -> None:
    with pytest.raises(OctavoError, match=r"providers\.p\.apiKeyCommand") as caught:
        await Credentials({"p": ProviderSettings(api_key_command=command)}, {}).find("p")
    assert caught.value.kind is ErrorKind.NO_MODEL
