"""The settings in force: for the daemon, for one client, for one session; and who set what.

Layers, weakest first: the TOML file, the environment, `settings/update` of the daemon, then what each client that has
the session open said (`initialize`, `workspace/didChangeConfiguration`) in the order they opened it, then the session's
own. A daemon-wide update is also the asking client's latest word, so that it is not shadowed by that client's own older
ones. How layers combine is `octavo_protocol.layering`'s subject; this module holds them.
"""

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from octavo_protocol import layering
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.layering import Layer
from octavo_protocol.notifications import SessionNotice
from octavo_protocol.settings import Settings

if TYPE_CHECKING:
    from octavo.server.connection import Connection
    from octavo.server.daemon import Daemon

_log = logging.getLogger(__name__)

FILE_VARIABLE = "OCTAVO_CONFIG"
"""Environment variable that names the settings file; empty means none."""


@dataclass(slots=True)
class ClientLayers:
    """What one client said."""

    initialize: Layer = field(default_factory=dict)
    configuration: Layer = field(default_factory=dict)

    def named(self) -> tuple[tuple[str, Layer], ...]:
        """The layers with the names `settings/get` gives them, weakest first."""
        return ("initialize", self.initialize), ("configuration", self.configuration)


@dataclass(frozen=True, slots=True)
class SettingsView:
    """Settings with the layer each value comes from, by dotted key; defaults have none."""

    settings: Settings
    sources: Mapping[str, str]

    def to_wire(self, keys: Iterable[str] | None = None) -> JsonObject:
        """Return the result of `settings/get`: all of it, or the named keys and groups.

        Raises:
            OctavoError: invalid-params for a key or group that does not exist.
        """
        values = self.settings.dotted()
        if keys is not None:
            values = _selected(values, list(keys))
        chosen = {key: name for key, name in self.sources.items() if _belongs(key, values)}
        return {"settings": values, "sources": chosen}


class SettingsBook:
    """The settings of one daemon; a service.

    Args:
        daemon: The daemon whose limits follow the settings.
        environment: Environment variables; the process's own when left out.
        file: The settings file; found as `settings_file` says when left out.
    """

    def __init__(
        self, daemon: "Daemon", environment: Mapping[str, str] | None = None, file: Path | None = None
    ) -> None:
        self._daemon = daemon
        self._clients: dict[Connection, ClientLayers] = {}
        self.revision = 0
        """Counts up whenever any layer changes, so that whoever combined layers knows when to do it again."""
        self.problems: list[str] = []
        """What is wrong with the file or the environment, in sentences; told to every client that arrives."""
        environment = os.environ if environment is None else environment
        path = settings_file(environment) if file is None else file
        self._file = self._read_file(path, named=bool(environment.get(FILE_VARIABLE))) if path is not None else {}
        self._environment = self._read_environment(environment)
        self._updates: Layer = {}
        self._follow_limits()

    # -- asking ----------------------------------------------------------------------------------------------------

    def view(self, clients: Iterable["Connection"] = (), own: Layer | None = None) -> SettingsView:
        """The settings under the layers of `clients`, the last one strongest, and of a session's `own`."""
        combined: Layer = {}
        sources: dict[layering.Path, str] = {}
        for name, layer in self._stack(clients, own or {}):
            combined = layering.update(combined, layer)
            sources.update(dict.fromkeys(layer, name))
        named = {".".join(path): name for path, name in sources.items() if path in combined}
        return SettingsView(Settings.from_layers([combined]), named)

    # -- changing --------------------------------------------------------------------------------------------------

    def adopt(self, connection: "Connection") -> None:
        """Take over what a client said in `initialize`; wrong values are told to it and change nothing."""
        if connection in self._clients:
            return
        layers = self._clients[connection] = ClientLayers()
        for problem in self.problems:
            notify_problem(connection, problem)
        layers.initialize, problems = sound_part(connection.options.settings)
        for problem in problems:
            notify_problem(connection, f"A setting of initializationOptions was left out: {problem}.")
        self.revision += 1

    def configure(self, connection: "Connection", settings: Any) -> None:
        """Replace what a client said with `workspace/didChangeConfiguration`; wrong values change nothing.

        Raises:
            OctavoError: invalid-params.
        """
        self.adopt(connection)
        self._clients[connection].configuration = layering.read(Settings, settings)
        self.revision += 1

    def update(self, connection: "Connection", settings: JsonObject) -> None:
        """Change settings for every session; null takes a value back.

        Raises:
            OctavoError: invalid-params; nothing was changed.
        """
        self.adopt(connection)
        changes = layering.read(Settings, settings, nulls=True)
        self._updates = layering.update(self._updates, changes)
        mine = self._clients[connection]
        mine.configuration = layering.update(mine.configuration, changes)
        mine.initialize = layering.update(mine.initialize, dict.fromkeys(changes))
        self.revision += 1
        self._follow_limits()

    def connection_closed(self, connection: "Connection") -> None:
        """Forget what a client said; see `daemon.Watching`."""
        if self._clients.pop(connection, None) is not None:
            self.revision += 1

    # -- inside ----------------------------------------------------------------------------------------------------

    def _stack(self, clients: Iterable["Connection"], own: Layer) -> list[tuple[str, Layer]]:
        said = [layer for client in clients if client in self._clients for layer in self._clients[client].named()]
        process = [("file", self._file), ("environment", self._environment), ("configuration", self._updates)]
        return [*process, *said, ("session", own)]

    def _read_file(self, path: Path, *, named: bool = False) -> Layer:
        import tomllib  # noqa: PLC0415 - most runs have no settings file

        try:
            values = tomllib.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            if named:
                self._complain(f"There is no settings file {path}, which {FILE_VARIABLE} names")
            return {}
        except (OSError, ValueError) as error:
            self._complain(f"The settings file {path} counts for nothing: {error}")
            return {}
        layer, problems = sound_part(values)
        for problem in problems:
            self._complain(f"A setting of {path} was left out: {problem}")
        return layer

    def _read_environment(self, environment: Mapping[str, str]) -> Layer:
        layer: Layer = {}
        for setting in layering.settings_of(Settings):
            if setting.variable in environment:
                named = {setting.variable: environment[setting.variable]}
                try:
                    layer = layering.overlay([layer, layering.read_environment(Settings, named)])
                except OctavoError as error:
                    self._complain(f"The environment variable {setting.variable} was left out: {error.message}")
        return layer

    def _complain(self, problem: str) -> None:
        _log.warning("%s", problem)
        self.problems.append(f"{problem.rstrip('.')}.")

    def _follow_limits(self) -> None:
        server = self.view().settings.server
        self._daemon.max_message_bytes = server.max_message_bytes
        self._daemon.max_queue_bytes = server.max_queue_bytes


def settings_file(environment: Mapping[str, str]) -> Path | None:
    """The settings file: `OCTAVO_CONFIG`, else `octavo/config.toml` in the user's configuration folder."""
    named = environment.get(FILE_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    return Path(platformdirs.user_config_dir("octavo")) / "config.toml"


def sound_part(settings: Any, wrap: Callable[[Any], Any] = lambda value: value) -> tuple[Layer, list[str]]:
    """Return what of the settings is right, and a sentence for everything that is not.

    One misspelt key must not cost a user all the others.
    """
    try:
        return layering.read(Settings, wrap(settings)), []
    except OctavoError as error:
        if not isinstance(settings, dict) or not settings:
            return {}, [error.message.rstrip(".")]
    layers, problems = [], []
    for key, value in settings.items():
        layer, wrong = sound_part(value, partial(_nest, wrap, str(key)))
        layers.append(layer)
        problems += wrong
    return layering.overlay(layers), problems


def _nest(wrap: Callable[[Any], Any], key: str, value: Any) -> Any:
    return wrap({key: value})


def notify_problem(connection: "Connection", message: str) -> None:
    """Tell one client what is wrong with settings."""
    connection.notify("session/notice", SessionNotice(level="warning", message=message, source="settings"))


def _selected(values: JsonObject, keys: list[str]) -> JsonObject:
    out: JsonObject = {}
    for key in keys:
        found = {name: value for name, value in values.items() if name == key or name.startswith(f"{key}.")}
        if not found:
            raise OctavoError(
                ErrorKind.INVALID_PARAMS,
                f"There is no setting or group {key!r}; leave `keys` out to see all.",
                details=[{"loc": ["keys"], "msg": f"unknown key {key!r}"}],
            )
        out |= found
    return out


def _belongs(key: str, values: JsonObject) -> bool:
    """Whether a source is about one of the values; keys below a map belong to the map."""
    return key in values or any(key.startswith(f"{name}.") for name in values)
