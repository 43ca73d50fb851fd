"""LSP base-protocol frames over anyio byte streams, and the JSON inside them. Knows nothing of JSON-RPC."""

import json
import re
from typing import Any

import anyio
import orjson
from anyio.abc import ByteReceiveStream
from anyio.streams.buffered import BufferedByteReceiveStream

from octavo_client.errors import DaemonGoneError

_LENGTH = re.compile(rb"^content-length:[ \t]*(\d+)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_MAX_HEADER = 8192


class FrameReader:
    """Reads frames one after the other."""

    def __init__(self, stream: ByteReceiveStream) -> None:
        self._stream = BufferedByteReceiveStream(stream)

    async def read(self) -> bytes:
        """Return the body of the next frame.

        Raises:
            DaemonGoneError: the stream ended, or what it carries are no frames.
        """
        try:
            header = await self._stream.receive_until(b"\r\n\r\n", _MAX_HEADER)
            length = _LENGTH.search(header)
            if length is None:
                raise DaemonGoneError(f"The daemon sent a frame without Content-Length: {header[:80]!r}")
            return await self._stream.receive_exactly(int(length[1]))
        except anyio.DelimiterNotFound:
            raise DaemonGoneError("The daemon sent something that is no frame.") from None
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise DaemonGoneError("The daemon closed the connection.") from None


def frame(value: Any) -> bytes:
    """Return `value` as one frame; text with lone surrogates is carried as escapes."""
    try:
        body = orjson.dumps(value)
    except TypeError:
        body = json.dumps(value, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def parse(body: bytes) -> Any:
    """Return the JSON value of a frame.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return json.loads(body)
