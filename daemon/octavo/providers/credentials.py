"""Where a provider's key comes from: settings, a command, or the environment. Never logged, never stored.

A key leaves this module only inside a `Secret`, whose text form is blank.
"""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

import anyio

from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.settings import ProviderSettings

COMMAND_TIMEOUT_S = 10.0
_VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openai-codex": ("OPENAI_CODEX_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
}


@dataclass(frozen=True, slots=True)
class Secret:
    """A credential that cannot be printed by accident."""

    value: str = field(repr=False)

    def __str__(self) -> str:
        return "***"


def variables(provider: str) -> tuple[str, ...]:
    """The environment variables looked at for a provider, in order."""
    own = provider.upper().replace("-", "_").replace(".", "_")
    return (f"OCTAVO_{own}_API_KEY", *_VARIABLES.get(provider, (f"{own}_API_KEY",)))


@dataclass(slots=True)
class Credentials:
    """Look keys up once and remember what a command answered until the daemon ends or the key is refused."""

    settings: Mapping[str, ProviderSettings] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    _answers: dict[str, Secret] = field(default_factory=dict)

    def of(self, provider: str) -> ProviderSettings:
        """The provider's settings, empty when there are none."""
        return self.settings.get(provider) or ProviderSettings()

    def configured(self, provider: str) -> bool:
        """Whether a key could be found, without running any command."""
        mine = self.of(provider)
        return bool(mine.api_key or mine.api_key_command or self._from_environment(provider))

    async def find(self, provider: str) -> Secret | None:
        """The key, or None when there is none.

        Raises:
            OctavoError: `no-model` when the configured command fails (its output is not repeated), or when the key
                holds what no header can carry.
        """
        mine = self.of(provider)
        if mine.api_key:
            return _sound(provider, mine.api_key)
        if mine.api_key_command:
            if provider not in self._answers:
                self._answers[provider] = await _ask(provider, mine.api_key_command)
            return self._answers[provider]
        found = self._from_environment(provider)
        return None if found is None else _sound(provider, found.value)

    def forget(self, provider: str) -> None:
        """Drop a command's answer, because the provider refused it; the next call asks again."""
        self._answers.pop(provider, None)

    def _from_environment(self, provider: str) -> Secret | None:
        named = self.of(provider).api_key_env
        names = (named,) if named else variables(provider)
        return next((Secret(self.environment[name]) for name in names if self.environment.get(name)), None)


def _sound(provider: str, value: str) -> Secret:
    """The key without the space around it that files and shells leave."""
    key = value.strip()
    if not key or not key.isascii() or not key.isprintable():
        raise OctavoError(
            ErrorKind.NO_MODEL,
            f"the key of {provider} is blank or holds characters that no HTTP header can carry; set it again",
            provider=provider,
        )
    return Secret(key)


async def _ask(provider: str, command: str | list[str]) -> Secret:
    failure = OctavoError(
        ErrorKind.NO_MODEL,
        f"the command of providers.{provider}.apiKeyCommand gave no key; run it in a shell to see why",
        provider=provider,
    )
    try:
        with anyio.fail_after(COMMAND_TIMEOUT_S):
            words = shlex.split(command) if isinstance(command, str) else command
            done = await anyio.run_process(words, check=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise failure from error
    answer = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode != 0 or not answer:
        raise failure
    return _sound(provider, answer)
