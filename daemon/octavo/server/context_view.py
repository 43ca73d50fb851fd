"""A session's context as a client asks for it: built, measured, with its pictures, in the shape of one API.

Everything here runs in a thread on entries that never change; the handlers bring the path and send the answer. Figures
are `tokens.breakdown`'s, shapes of APIs are `providers`'.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from octavo.server.session_host import SessionHost
from octavo.sessions.context import SessionContext, build_context
from octavo.sessions.llm_messages import to_llm_messages
from octavo.sessions.pictures import without_images, without_missing_images
from octavo.tokens.breakdown import ContextUsage, FixedParts, context_usage
from octavo.tokens.models import KnownModel
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model
from octavo_protocol.methods.common import ContextFormat

_LEFT_OUT = "custom"
"""Type of the stand-in for an entry that was left out: it keeps its place in the path and holds no message."""


@dataclass(frozen=True, slots=True)
class ContextWish:
    """What of a context is wanted; fields as in `session/buildContext`."""

    format: ContextFormat = "llm"
    transcript: bool = False
    include_images: bool = True
    drop_entry_ids: Collection[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class BuiltContext:
    """Messages in the wanted shape, the context they were made of, and how full it is (None for a transcript)."""

    messages: list[JsonObject]
    context: SessionContext
    usage: ContextUsage | None


def build(
    host: SessionHost, path: Sequence[JsonObject], known: KnownModel | None, fixed: FixedParts, wish: ContextWish
) -> BuiltContext:
    """Build the context at the end of a path; reads the blob store, so call it in a thread."""
    if wish.drop_entry_ids:
        path = [_left_out(entry) if entry.get("id") in wish.drop_entry_ids else entry for entry in path]
    context = _context(host, path, known, transcript=wish.transcript)
    usage = None if wish.transcript else _usage(host, path, context, known, fixed)
    messages = context.messages if wish.format == "agent" else to_llm_messages(context.messages)
    if wish.include_images:
        messages = host.session.resolved(messages).value
        if wish.format != "agent":
            messages = [without_missing_images(message) for message in messages]
    else:
        messages = [without_images(message) for message in messages]
    convert = _CONVERTERS.get(wish.format)
    model = None if known is None else known.model
    return BuiltContext(messages if convert is None else convert(messages, model), context, usage)


def measure(
    host: SessionHost,
    path: Sequence[JsonObject],
    known: KnownModel | None,
    fixed: FixedParts,
    pending: Sequence[JsonObject] = (),
) -> ContextUsage:
    """Say how full the context at the end of a path is for a model, `pending` messages included."""
    context = _context(host, path, known, transcript=False)
    context.messages = [*context.messages, *pending]
    context.entry_ids = [*context.entry_ids, *("" for _ in pending)]
    return _usage(host, path, context, known, fixed)


def _context(
    host: SessionHost, path: Sequence[JsonObject], known: KnownModel | None, *, transcript: bool
) -> SessionContext:
    return build_context(
        path,
        transcript=transcript,
        provider=None if known is None else known.model.provider,
        archive_blocks=host.archives.blocks,
    )


def _usage(
    host: SessionHost, path: Sequence[JsonObject], context: SessionContext, known: KnownModel | None, fixed: FixedParts
) -> ContextUsage:
    return context_usage(
        path,
        context,
        None if known is None else known.model,
        host.settings.compaction,
        fixed=fixed,
        estimator=host.estimator,
        window_source="unknown" if known is None else known.window_source,
    )


def _left_out(entry: JsonObject) -> JsonObject:
    kept: JsonObject = {key: entry[key] for key in ("id", "parentId", "timestamp") if key in entry}
    return {**kept, "type": _LEFT_OUT}


def _reads_images(model: Model | None) -> bool:
    """Whether pictures may be sent; a model we know nothing of may get them."""
    return model is None or model.accepts_images or not model.context_window


def _anthropic(messages: list[JsonObject], model: Model | None) -> list[JsonObject]:
    from octavo.providers.anthropic import to_messages  # noqa: PLC0415 - each API when it is first asked for

    return to_messages(tuple(messages), vision=_reads_images(model))


def _openai_chat(messages: list[JsonObject], model: Model | None) -> list[JsonObject]:
    from octavo.providers.openai_chat import to_messages  # noqa: PLC0415 - as above

    # As the provider's own request does: only OpenAI's servers know the developer role.
    official = model is not None and model.provider == "openai" and model.base_url is None
    return to_messages(tuple(messages), (), vision=_reads_images(model), developer=official)


def _openai_responses(messages: list[JsonObject], model: Model | None) -> list[JsonObject]:
    from octavo.providers.openai_responses import to_input  # noqa: PLC0415 - as above

    return to_input(tuple(messages), vision=_reads_images(model))


def _google(messages: list[JsonObject], model: Model | None) -> list[JsonObject]:
    from octavo.providers.google import to_contents  # noqa: PLC0415 - as above

    return to_contents(tuple(messages), vision=_reads_images(model))


_CONVERTERS: dict[ContextFormat, Callable[[list[JsonObject], Model | None], list[JsonObject]]] = {
    "anthropic": _anthropic,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "google": _google,
}
