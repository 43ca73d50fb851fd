"""Post JSON and read the whole answer: the plain HTTP that remote summaries and native compaction need.

Streams and credentials of model calls are `client`'s subject. httpx is imported on the first call, so that a daemon
that never needs the network never loads it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from octavo.error_text.verdicts import scrub
from octavo.providers.blocks import body_bytes
from octavo_protocol.base import JsonObject

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Bytes of an answer, decompressed, beyond which it is refused instead of held in memory."""

CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, status text, headers by lower-case name, and the whole decompressed body."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


async def post_json(url: str, body: JsonObject, headers: Mapping[str, str]) -> Answer:
    """Post a JSON body once and return the answer, whatever its status.

    There is no time limit but the caller's cancel scope; cancelling closes the connection at once. Redirects are not
    followed, because they could carry a credential to another host.

    Raises:
        ConnectionError: The address is wrong, nobody answered, the connection broke, or the answer is too large; the
            text holds no credential.
    """
    import httpx  # noqa: PLC0415 - a quarter of the start-up time, needed by the first remote call only

    sent = {"content-type": "application/json", **headers}
    try:
        limits = httpx.Timeout(None, connect=CONNECT_SECONDS)
        async with (
            httpx.AsyncClient(timeout=limits, follow_redirects=False) as client,
            client.stream("POST", url, content=body_bytes(body), headers=sent) as response,
        ):
            received = bytearray()
            async for chunk in response.aiter_bytes():
                received += chunk
                if len(received) > MAX_ANSWER_BYTES:
                    raise ConnectionError(f"the answer exceeds {MAX_ANSWER_BYTES} bytes")
            return Answer(response.status_code, response.reason_phrase, dict(response.headers), bytes(received))
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise ConnectionError(scrub(f"{type(error).__name__}: {error}")) from error
