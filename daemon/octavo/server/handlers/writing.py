"""What a host writes into a session: messages, entries, model, reasoning effort, labels; and artifacts read back.

Every answer means that the change is on disk.
"""

from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread

from octavo.server.connection import Connection
from octavo.server.hub import SessionHub
from octavo.server.registry import handles
from octavo.sessions.planning import UNSET
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.append import (
    AppendParams,
    ReadArtifactParams,
    ReadArtifactResult,
    SetLabelParams,
    SetModelParams,
    SetThinkingLevelParams,
)

if TYPE_CHECKING:
    from octavo.sessions.live import Appended


@handles("session/append")
async def append(connection: Connection, params: AppendParams) -> JsonObject:
    """Append messages or entries; the answer means they are durable."""
    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    live = await session.durable()
    done = await live.append(
        params.entries or (),
        messages=params.messages or (),
        parent_id=params.parent_id if params.parent_given else UNSET,
        expected_leaf_id=params.expected_leaf_id if params.leaf_expected else UNSET,
        ids=params.ids,
    )
    return {
        "entryIds": list(done.entry_ids),
        "repeatedIds": list(done.repeated_ids),
        "leafId": done.leaf_id,
        "seq": done.seq,
    }


@handles("session/setModel")
async def set_model(connection: Connection, params: SetModelParams) -> JsonObject:
    """Record the model from here on."""
    provider, _, model = params.model.partition("/")
    if not (provider and model):
        message = f"A model is named provider/id, not {params.model!r}."
        raise OctavoError(ErrorKind.INVALID_PARAMS, message, details=[{"loc": ["model"], "msg": message}])
    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    return _entry(await (await session.durable()).set_model(params.model, params.role))


@handles("session/setThinkingLevel")
async def set_thinking_level(connection: Connection, params: SetThinkingLevelParams) -> JsonObject:
    """Record the reasoning effort from here on."""
    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    level = None if params.thinking_level == "off" else params.thinking_level
    return _entry(await (await session.durable()).set_thinking_level(level))


@handles("session/setLabel")
async def set_label(connection: Connection, params: SetLabelParams) -> JsonObject:
    """Label an entry, or remove its label."""
    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    return _entry(await (await session.durable()).set_label(params.target_id, params.label))


@handles("session/readArtifact")
async def read_artifact(connection: Connection, params: ReadArtifactParams) -> ReadArtifactResult:
    """Read back text that was moved out of the context."""
    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    read = partial(session.host.artifacts.read, params.artifact_id, offset=params.offset, limit=params.limit)
    part = await anyio.to_thread.run_sync(read)
    return ReadArtifactResult(
        artifact_id=params.artifact_id, content=part.text, size_bytes=part.size, next_offset=part.next_offset
    )


def _entry(done: "Appended") -> JsonObject:
    return {"entryId": done.entry_ids[0], "leafId": done.leaf_id, "seq": done.seq}
