"""What a provider's module gives to the HTTP client: where to post, what, and how to read the answer."""

from dataclasses import dataclass
from typing import Any, Protocol

from octavo_protocol.base import JsonObject
from octavo_protocol.completion import CompletionResult


class StreamFailedError(Exception):
    """The stream itself reported an error, or ended too early; the text is the provider's."""


def stream_failure(error: Any) -> StreamFailedError:
    """The failure for an error object in a stream: its message, and its kind, which a message often does not repeat."""
    if not isinstance(error, dict):
        return StreamFailedError(str(error))
    named = [error.get(key) for key in ("code", "status", "type")]
    kinds = [str(kind) for kind in named if isinstance(kind, str | int) and kind not in {"", "error"}]
    message = str(error.get("message") or "the provider reported an error")
    return StreamFailedError(f"{message} ({', '.join(kinds)})" if kinds else message)


class StreamReader(Protocol):
    """Folds a provider's events into one result; no I/O."""

    def accept(self, name: str, data: str) -> int:
        """Take one event; returns the number of output characters it brought."""
        ...

    def result(self) -> CompletionResult:
        """The whole answer, or `StreamFailedError` when the stream ended early."""
        ...


@dataclass(frozen=True, slots=True)
class Wired:
    """One HTTP POST: address, headers (with the credential), JSON body, and the reader of its event stream."""

    url: str
    headers: dict[str, str]
    body: JsonObject
    reader: StreamReader
