"""The context of a session: built for a model or for display, and measured."""

from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread

from octavo.server.connection import Connection
from octavo.server.hub import SessionHub
from octavo.server.registry import handles
from octavo.sessions.planning import UNSET
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.context import BuildContextParams, ContextUsageParams

if TYPE_CHECKING:
    from octavo.tokens.models import KnownModel


@handles("session/buildContext")
async def build_context(connection: Connection, params: BuildContextParams) -> JsonObject:
    """Build the messages for a model, or the transcript for display."""
    from octavo.server.context_view import ContextWish, build  # noqa: PLC0415 - keeps start-up short

    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    live = await session.fresh()
    path = live.branch(params.leaf_id if params.leaf_id is not None else UNSET)
    seq = live.seq
    for entry_id in params.drop_entry_ids:
        live.tree.get(entry_id)
    wish = ContextWish(
        format=params.format or ("agent" if params.transcript else "llm"),
        transcript=params.transcript,
        include_images=params.include_images,
        drop_entry_ids=frozenset(params.drop_entry_ids),
    )
    fixed = await session.fixed_parts(params.system_prompt)
    known = session.host.model_on(path)
    built = await anyio.to_thread.run_sync(partial(build, session.host, path, known, fixed, wish))
    prompt = session.host.system_prompt if params.system_prompt is None else params.system_prompt
    context = built.context
    wire: JsonObject = {
        "messages": built.messages,
        "format": wish.format,
        "systemPrompt": [prompt] if isinstance(prompt, str) else list(prompt),
        "models": context.models,
        "thinkingLevel": context.thinking_level,
        "mode": context.mode,
        "seq": seq,
    }
    optional = {
        "model": context.models.get("default") or (known.model.ref if known is not None else None),
        "serviceTier": context.service_tier if isinstance(context.service_tier, str) else None,
        "leafId": path[-1]["id"] if path else None,
        "usage": built.usage.to_wire() if built.usage is not None else None,
    }
    return wire | {name: value for name, value in optional.items() if value is not None}


@handles("session/contextUsage")
async def context_usage(connection: Connection, params: ContextUsageParams) -> JsonObject:
    """Measure the context."""
    from octavo.server.context_view import measure  # noqa: PLC0415 - keeps start-up short

    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    live = await session.fresh()
    path = live.branch(params.leaf_id if params.leaf_id is not None else UNSET)
    fixed = await session.fixed_parts()
    known = session.host.model_on(path)
    if params.model is not None:
        known = _named(session.host.know(params.model), params.model)
    work = partial(measure, session.host, path, known, fixed, params.pending_messages)
    return (await anyio.to_thread.run_sync(work)).to_wire()


def _named(known: "KnownModel | None", ref: str) -> "KnownModel":
    if known is None:
        message = f"A model is named provider/id, not {ref!r}."
        raise OctavoError(ErrorKind.INVALID_PARAMS, message, details=[{"loc": ["model"], "msg": message}])
    return known
