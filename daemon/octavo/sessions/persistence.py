"""What an entry looks like on disk: limits, dropped keys, payloads moved to the blob store (engine.md §1.7).

Pure but for the blob store it is given. It does not write lines (`store.jsonl`) and does not read them back
(`blobs.resolve`).

Two sets of rules: `SEED` is the contract's, kept for comparison with golden vectors; `OCTAVO` is what we write. It
differs where the seed loses data for good: signatures, encrypted reasoning and thinking are kept whole whatever their
length (a shortened one makes the provider refuse the session for ever, BR-034), and every picture is stored as a
blob wherever it sits (`details.images`, snapcompact frames), so that the length limit never cuts base64 and the
same picture is stored once (BR-010).
"""

import base64
import binascii
import math
import re
from dataclasses import dataclass
from typing import Any

from octavo.js_text import utf16_length
from octavo.sessions.blobs import PREFIX, BlobStore
from octavo.sessions.recovery import scrub_surrogates
from octavo.sessions.store.jsonl import encode_line
from octavo_protocol.base import JsonObject

MAX_STRING = 500_000
"""UTF-16 chars that a persisted string may have."""
NOTICE = "\n\n[Session persistence truncated large content]"
MIN_BLOB = 1024
"""Base64 chars from which a picture is worth a blob."""

_DROPPED = frozenset({"partialJson", "jsonlEvents"})
_SIGNATURES = frozenset({"thinkingSignature", "thoughtSignature", "textSignature"})
_OPAQUE = _SIGNATURES | {"signature", "encrypted_content", "encryptedContent", "thinking", "redactedThinking"}
_OPAQUE_BLOCKS = frozenset({"redactedThinking", "redacted_thinking"})
_TELLTALE = re.compile(rb'"(?:partialJson|jsonlEvents|image_url|__queueChipText)"')


@dataclass(frozen=True, slots=True)
class PersistRules:
    """Which data the transform keeps.

    `keep_opaque`: never shorten what a provider verifies. `blob_any_image`: pictures under any key, not only in
    arrays called `content`, and only base64 that comes back exactly.
    """

    keep_opaque: bool
    blob_any_image: bool


SEED = PersistRules(keep_opaque=False, blob_any_image=False)
OCTAVO = PersistRules(keep_opaque=True, blob_any_image=True)


def persist_line(entry: JsonObject, blobs: BlobStore, rules: PersistRules = OCTAVO) -> tuple[JsonObject, bytes]:
    """The entry in its stored form, and its line. Most entries are small and plain; those are encoded once, not walked.

    Raises:
        TypeError, ValueError, RecursionError: The entry is not JSON, or nested too deeply to be encoded.
    """
    try:
        line = encode_line(entry)
    except (TypeError, ValueError):
        entry = normalise(entry)
        line = encode_line(entry)
    if len(line) < MIN_BLOB and _TELLTALE.search(line) is None:
        return entry, line
    stored = prepare_entry(entry, blobs, rules)
    return stored, line if stored is entry else encode_line(stored)


def normalise(value: Any) -> Any:
    """The nearest value that JSON in UTF-8 can carry, the same that reading would make of it.

    Half surrogate pairs become U+FFFD, NaN and infinities null, integers beyond 64 bits floats. Anything that is not
    JSON at all raises `TypeError`.
    """
    if isinstance(value, str):
        return scrub_surrogates(value)
    if isinstance(value, dict):
        return {_key(key): normalise(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [normalise(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return float(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    raise TypeError(f"{type(value).__name__} is not JSON")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError("the keys of JSON objects are strings")
    return scrub_surrogates(key)


def prepare_entry(entry: JsonObject, blobs: BlobStore, rules: PersistRules = OCTAVO) -> JsonObject:
    """The entry as it is stored; the same object when nothing had to change."""
    walk = _Walk(blobs, rules)
    stored: JsonObject = walk.value(_without_chip(entry), "", {})
    return stored


def _without_chip(entry: JsonObject) -> JsonObject:
    details = entry.get("details")
    if entry.get("type") != "custom_message" or not isinstance(details, dict) or "__queueChipText" not in details:
        return entry
    return {**entry, "details": {key: value for key, value in details.items() if key != "__queueChipText"}}


def _truncate(text: str) -> str:
    units = text.encode("utf-16-le", "surrogatepass")
    end = 2 * (MAX_STRING - len(NOTICE))
    last = int.from_bytes(units[end - 2 : end], "little")
    if 0xD800 <= last < 0xDC00:
        end -= 2
    return units[:end].decode("utf-16-le", "surrogatepass") + NOTICE


class _Walk:
    """One pass over one entry."""

    def __init__(self, blobs: BlobStore, rules: PersistRules) -> None:
        self._blobs = blobs
        self._rules = rules

    def value(self, value: Any, key: str, owner: JsonObject) -> Any:
        """The stored form of `value`, which its owner holds under `key` (for list items: the list's key)."""
        if isinstance(value, str):
            return self._string(value, key, owner)
        if isinstance(value, list):
            items = [self._item(item, key, owner) for item in value]
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        if isinstance(value, dict):
            return self._object(value)
        return value

    def _item(self, item: Any, key: str, owner: JsonObject) -> Any:
        if key == "content" and not self._rules.blob_any_image and isinstance(item, dict) and _is_image_block(item):
            return self._object(self._externalise(item))
        return self.value(item, key, owner)

    def _object(self, value: JsonObject) -> JsonObject:
        source = value
        if self._rules.blob_any_image and _is_picture(value):
            source = self._externalise(value)
        result: JsonObject = {}
        changed = source is not value
        for key, item in source.items():
            if key in _DROPPED:
                changed = True
                continue
            new = self.value(item, key, source)
            changed = changed or new is not item
            result[key] = new
        if not changed:
            return value
        content, lines = result.get("content"), result.get("lineCount")
        if isinstance(content, str) and isinstance(lines, (int, float)) and not isinstance(lines, bool):
            result["lineCount"] = content.count("\n") + 1
        return result

    def _string(self, text: str, key: str, owner: JsonObject) -> str:
        if key == "image_url" and text.startswith("data:image/") and ";base64," in text:
            return self._blobs.put(text.encode("utf-8", "surrogatepass"))
        # A char takes at most two UTF-16 units, so shorter strings need no counting.
        if 2 * len(text) <= MAX_STRING or utf16_length(text) <= MAX_STRING:
            return text
        if self._rules.keep_opaque and (key in _OPAQUE or owner.get("type") in _OPAQUE_BLOCKS):
            return text
        if key in _SIGNATURES:
            return ""
        return _truncate(text)

    def _externalise(self, block: JsonObject) -> JsonObject:
        data: str = block["data"]
        if self._rules.blob_any_image:
            decoded = _exact_base64(data)
            if decoded is None:
                return block
        else:
            decoded = _lenient_base64(data)
        mime = block.get("mimeType")
        return {**block, "data": self._blobs.put(decoded, mime if isinstance(mime, str) else None)}


def _is_image_block(value: JsonObject) -> bool:
    return value.get("type") == "image" and _is_payload(value.get("data"))


def _is_picture(value: JsonObject) -> bool:
    mime = value.get("mimeType")
    labelled = value.get("type") == "image" or (isinstance(mime, str) and mime.startswith("image/"))
    return labelled and _is_payload(value.get("data"))


def _is_payload(data: Any) -> bool:
    return isinstance(data, str) and len(data) >= MIN_BLOB and not data.startswith(PREFIX)


def _exact_base64(text: str) -> bytes | None:
    """The bytes, if encoding them again gives this very text; anything else stays where it is."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None


def _lenient_base64(text: str) -> bytes:
    """Decode as JavaScript's Buffer does: both alphabets, foreign characters skipped, missing padding supplied."""
    kept = "".join(char for char in text.split("=", maxsplit=1)[0].translate(_URL_SAFE) if char in _ALPHABET)
    kept = kept[: len(kept) - 1] if len(kept) % 4 == 1 else kept
    return base64.b64decode(kept + "=" * (-len(kept) % 4))


_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_URL_SAFE = str.maketrans("-_", "+/")
