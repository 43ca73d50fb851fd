"""The model catalogue: what the daemon knows, and what clients add to it."""

from octavo.server.connection import Connection
from octavo.server.hub import SessionHub
from octavo.server.model_book import ModelBook
from octavo.server.registry import handles
from octavo.server.settings_book import SettingsBook
from octavo_protocol.base import JsonObject
from octavo_protocol.layering import public_address
from octavo_protocol.methods.models import ModelListParams, ModelRegisterParams, ModelRegisterResult


@handles("model/list")
def list_models(connection: Connection, params: ModelListParams) -> JsonObject:
    """List the catalogue; usable is what a credential, an address or a client of this connection can answer for."""
    from octavo.providers.client import HttpCompletion  # noqa: PLC0415 - the providers are loaded when needed
    from octavo.providers.credentials import Credentials  # noqa: PLC0415 - as above
    from octavo.providers.delegated import describe  # noqa: PLC0415 - as above
    from octavo.providers.router import Router  # noqa: PLC0415 - as above

    daemon = connection.daemon
    daemon.service(SessionHub).adopt(connection)
    settings = daemon.service(SettingsBook).view([connection]).settings
    router = Router(HttpCompletion(Credentials(settings.providers)))
    delegates = connection.options.client.complete
    book = daemon.service(ModelBook)
    listed = []
    for known in book.all(settings):
        model = known.model
        if params.provider is not None and model.provider != params.provider:
            continue
        row = describe(model)
        if model.base_url is not None:
            row["baseUrl"] = public_address(model.base_url)
        if known.promotion_target is not None:
            row["contextPromotionTarget"] = known.promotion_target
        row["source"] = book.source(model.ref, settings)
        row["usable"] = delegates or router.reachable(model)
        listed.append(row)
    return {"models": listed}


@handles("model/register")
def register_models(connection: Connection, params: ModelRegisterParams) -> ModelRegisterResult:
    """Add models until the daemon ends."""
    daemon = connection.daemon
    daemon.service(SessionHub).adopt(connection)
    return ModelRegisterResult(registered=daemon.service(ModelBook).register(params.models))
