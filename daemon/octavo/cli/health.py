"""What `octavo doctor` looks at outside the sessions folder: programs, daemon, settings, providers, fonts, models."""

import os
import platform
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import anyio

from octavo import __version__, discovery
from octavo.cli import running
from octavo.cli.daemon_child import CommandError
from octavo_client import OctavoClientError
from octavo_protocol.base import JsonObject
from octavo_protocol.settings import Settings
from octavo_protocol.version import PROTOCOL_VERSION

State = Literal["ok", "warning", "failure"]

NATIVE = ("numpy", "PIL", "orjson", "deflate", "splintr", "regex", "pygls", "websockets")
"""Modules that must load for octavo to work whole."""
REACH_S = 5.0
"""Seconds a provider's host gets to take a connection, and a daemon to answer."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it is, in a sentence, and what to do about it."""

    subject: str
    state: State
    text: str
    remedy: str = ""

    def to_json(self) -> JsonObject:
        """Return it as `--json` prints it."""
        found = {"subject": self.subject, "state": self.state, "text": self.text}
        return {**found, "remedy": self.remedy} if self.remedy else found


def settings_in_force(environment: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """The settings a daemon would start with, and what is wrong with their sources, in sentences."""
    from octavo.server.daemon import Daemon  # noqa: PLC0415 - the other commands do not need the server
    from octavo.server.registry import Table  # noqa: PLC0415 - as above
    from octavo.server.settings_book import SettingsBook  # noqa: PLC0415 - as above

    book = SettingsBook(Daemon(Table({}, {})), environment)
    return book.view().settings, book.problems


async def host_findings(settings: Settings, problems: Iterable[str], *, offline: bool) -> list[Finding]:
    """Look at everything but the sessions."""
    findings = [_versions(), *_modules(), *await _daemon(), *_settings(problems), _fonts()]
    return [*findings, *_models(settings), *await _providers(settings, offline=offline)]


def _versions() -> Finding:
    python = platform.python_version()
    return Finding("versions", "ok", f"octavo {__version__}, protocol {PROTOCOL_VERSION}, Python {python}")


def _modules() -> list[Finding]:
    broken = []
    for name in NATIVE:
        try:
            import_module(name)
        except ImportError as error:
            broken.append(Finding("modules", "failure", f"{name} cannot be loaded: {error}", "Install octavo again."))
    loaded = f"pygls {metadata.version('pygls')}, pydantic {metadata.version('pydantic')}"
    return broken or [Finding("modules", "ok", f"all load ({loaded})")]


async def _daemon() -> list[Finding]:
    where = discovery.places(os.environ)
    if not running.listens():
        findings = [Finding("daemon", "ok", f"none runs; octavo attach starts one at {where.socket}")]
        if discovery.record(where) is not None:
            text = f"{where.record} was left by a daemon that is gone; the next one replaces it"
            findings.append(Finding("daemon", "ok", text))
        return findings
    started = time.monotonic()
    try:
        with anyio.fail_after(REACH_S):
            async with running.client("doctor") as client:
                status = await client.daemon_status()
    except (TimeoutError, CommandError, OctavoClientError, OSError) as error:
        text = f"something listens on {where.socket} but does not answer: {str(error) or 'no answer in time'}"
        return [Finding("daemon", "failure", text, "End that process and try again.")]
    took = (time.monotonic() - started) * 1000
    text = f"process {status.pid} answers on {where.socket} ({took:.0f} ms)"
    findings = [Finding("daemon", "ok", text)]
    if status.version != __version__:
        text = f"the running daemon is octavo {status.version}, this is {__version__}"
        findings.append(
            Finding("daemon", "warning", text, f"End process {status.pid}; the next client starts this one.")
        )
    for path in (where.socket, where.record, where.token):
        if _open_to_others(path):
            findings.append(Finding("daemon", "failure", f"{path} is open to other users", f"chmod 600 {path}"))
    return findings


def _open_to_others(path: str) -> bool:
    try:
        return bool(Path(path).stat().st_mode & 0o077)
    except FileNotFoundError:
        return False


def _settings(problems: Iterable[str]) -> list[Finding]:
    from octavo.server.settings_book import settings_file  # noqa: PLC0415 - see `settings_in_force`

    wrong = [Finding("settings", "warning", problem, "Correct it; docs/settings.md lists all.") for problem in problems]
    file = settings_file(os.environ)
    where = "no settings file is read" if file is None else f"{file} {'is read' if file.exists() else 'does not exist'}"
    return wrong or [Finding("settings", "ok", where)]


def _fonts() -> Finding:
    from octavo.snapcompact.fonts import NARROW_FALLBACKS, NATIVE, WIDE, table  # noqa: PLC0415 - heavy

    names = sorted({*NATIVE.values(), *NARROW_FALLBACKS, *WIDE.values()})
    try:
        glyphs = sum(len(table(name).codes) for name in names)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a packed table
        return Finding("fonts", "failure", f"a glyph table cannot be read: {error!r}", "Install octavo again.")
    return Finding("fonts", "ok", f"{len(names)} glyph tables, {glyphs:,} glyphs")


def _models(settings: Settings) -> list[Finding]:
    from octavo.server.model_book import ModelBook  # noqa: PLC0415 - see `settings_in_force`

    book = ModelBook()
    findings = [Finding("models", "ok", f"{len(book.all(settings))} in the catalogue")]
    for role, ref in settings.model_roles.items():
        if book.find(ref, settings) is None:
            text = f"modelRoles.{role} names {ref!r}, which is no provider/id"
            findings.append(Finding("models", "warning", text))
    return findings


async def _providers(settings: Settings, *, offline: bool) -> list[Finding]:
    from octavo.providers.client import WIRES  # noqa: PLC0415 - loads every wire
    from octavo.providers.credentials import Credentials  # noqa: PLC0415 - as above
    from octavo.server.model_book import ModelBook  # noqa: PLC0415 - see `settings_in_force`

    credentials = Credentials(settings.providers)
    hosts: dict[str, str] = {}
    for known in ModelBook().all(settings):
        model = known.model
        address = model.base_url or default_address(model.api)
        if model.api in WIRES and address and (model.base_url or credentials.configured(model.provider)):
            hosts.setdefault(model.provider, address)
    if not hosts:
        text = "no provider has a key; models can still be run by clients that answer llm/complete"
        return [Finding("providers", "warning", text, "Set for example ANTHROPIC_API_KEY, or providers.<name>.apiKey.")]
    findings: dict[str, Finding] = {}

    async def look(provider: str, address: str) -> None:
        key = key_source(credentials, provider)
        if offline:
            findings[provider] = Finding(f"provider {provider}", "ok", f"{key}; {address} was not looked at")
            return
        problem = await unreachable(address)
        text = f"{key}; {address} " + ("takes connections" if problem is None else f"cannot be reached: {problem}")
        remedy = "" if problem is None else "Check the network, a proxy, or providers.<name>.baseUrl."
        findings[provider] = Finding(f"provider {provider}", "ok" if problem is None else "failure", text, remedy)

    async with anyio.create_task_group() as group:
        for provider, address in hosts.items():
            group.start_soon(look, provider, address)
    return [findings[provider] for provider in sorted(findings)]


def default_address(api: str) -> str | None:
    """Where the models of an API are when nothing else is said."""
    from octavo.providers import anthropic, google, openai_chat, openai_responses  # noqa: PLC0415 - see `_providers`

    return {
        "anthropic-messages": anthropic.DEFAULT_BASE,
        "openai-completions": openai_chat.DEFAULT_BASE,
        "openai-responses": openai_responses.DEFAULT_BASE,
        "openai-codex-responses": openai_responses.DEFAULT_BASE,
        "google-generative-ai": google.DEFAULT_BASE,
    }.get(api)


def key_source(credentials: "object", provider: str) -> str:
    """Say where a provider's key comes from; never what it is."""
    from octavo.providers.credentials import Credentials, variables  # noqa: PLC0415 - see `_providers`

    assert isinstance(credentials, Credentials)
    mine = credentials.of(provider)
    if mine.api_key:
        return f"key from the setting providers.{provider}.apiKey"
    if mine.api_key_command:
        return f"key from the command of providers.{provider}.apiKeyCommand"
    names = (mine.api_key_env,) if mine.api_key_env else variables(provider)
    found = next((name for name in names if name and credentials.environment.get(name)), None)
    return "no key" if found is None else f"key from the environment variable {found}"


async def unreachable(address: str) -> str | None:
    """Try to connect to the host of a URL; the reason when that fails."""
    try:
        parts = urlsplit(address)
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError as error:
        return str(error)
    if parts.hostname is None:
        return "it is no address"
    try:
        with anyio.fail_after(REACH_S):
            stream = await anyio.connect_tcp(parts.hostname, port)
    except TimeoutError:
        return f"no connection within {REACH_S:.0f} s"
    except OSError as error:
        cause = error.__cause__ or error
        return str(cause)
    await stream.aclose()
    return None
