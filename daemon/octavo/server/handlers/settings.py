"""Settings: read them, change them, and take over what a client says of them when it arrives and later."""

from octavo.server.connection import Connection
from octavo.server.hub import SessionHub
from octavo.server.registry import handles
from octavo.server.settings_book import SettingsBook, SettingsView, notify_problem
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.common import Empty
from octavo_protocol.methods.settings import SettingsGetParams, SettingsUpdateParams
from octavo_protocol.notifications import DidChangeConfiguration


@handles("initialized")
def initialized(connection: Connection, _: Empty) -> None:
    """Take over the settings and models of `initialize`, and say what is wrong with them."""
    connection.daemon.service(SessionHub).adopt(connection)


@handles("workspace/didChangeConfiguration")
def did_change_configuration(connection: Connection, params: DidChangeConfiguration) -> None:
    """Replace what the client said of the settings; a wrong value changes nothing."""
    connection.daemon.service(SessionHub).adopt(connection)
    try:
        connection.daemon.service(SettingsBook).configure(connection, params.settings)
    except OctavoError as error:
        notify_problem(connection, f"The new settings count for nothing: {error.message.rstrip('.')}.")


@handles("settings/get")
def get_settings(connection: Connection, params: SettingsGetParams) -> JsonObject:
    """Return the settings in force, and who set them."""
    return _view(connection, params.session_id).to_wire(params.keys)


@handles("settings/update")
def update_settings(connection: Connection, params: SettingsUpdateParams) -> JsonObject:
    """Change settings for every session, or for one."""
    hub = connection.daemon.service(SessionHub)
    if params.scope == "session":
        if params.session_id is None:
            message = "The scope `session` needs a `sessionId`."
            raise OctavoError(ErrorKind.INVALID_PARAMS, message, details=[{"loc": ["sessionId"], "msg": message}])
        hub.get(connection, params.session_id).host.update_settings(params.settings)
    else:
        hub.adopt(connection)
        connection.daemon.service(SettingsBook).update(connection, params.settings)
    return _view(connection, params.session_id).to_wire()


def _view(connection: Connection, session_id: str | None) -> SettingsView:
    hub = connection.daemon.service(SessionHub)
    if session_id is not None:
        return hub.get(connection, session_id).host.settings_view
    hub.adopt(connection)
    return connection.daemon.service(SettingsBook).view([connection])
