"""The savings journal of inline imaging: one line each time a tool result was first sent as frames (§8.7).

Append-only and shared by every process that images results; a line is written with one `O_APPEND` write, so writers
never mix. Readers take what they can read. The journal is statistics: losing a line costs nobody anything, but the
caller still learns about it.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from octavo_protocol.base import JsonObject

JOURNAL = "snapcompact-savings.jsonl"
"""Name of the savings journal, beside the sessions folder."""


@dataclass(frozen=True, slots=True)
class Saving:
    """One result that went out as frames. `ts` is Unix time in ms, `saved_tokens` text tokens minus frame tokens."""

    ts: int
    session: str
    provider: str
    model: str
    tool_call_id: str
    saved_tokens: int

    def to_json(self) -> JsonObject:
        """The line's object, in the seed's field names."""
        return {
            "ts": self.ts,
            "session": self.session,
            "provider": self.provider,
            "model": self.model,
            "toolCallId": self.tool_call_id,
            "savedTokens": self.saved_tokens,
        }


@dataclass(slots=True)
class SavingsRecorder:
    """Writes the savings of one session, each tool call once.

    `session` is None for a session without a file: nothing is recorded then. `on_error` hears of a write that failed;
    a full disk never fails the request whose savings were to be recorded.
    """

    path: Path
    session: str | None
    now_ms: Callable[[], int]
    on_error: Callable[[OSError], None]
    _seen: set[str] = field(default_factory=set)

    def record(self, *, provider: str, model: str, tool_call_id: str, saved_tokens: int) -> bool:
        """Append one line, unless the call was recorded before or saved nothing; return whether a line was written."""
        if self.session is None or saved_tokens <= 0 or tool_call_id in self._seen:
            return False
        self._seen.add(tool_call_id)
        saving = Saving(self.now_ms(), self.session, provider, model, tool_call_id, saved_tokens)
        try:
            _append(self.path, json.dumps(saving.to_json(), separators=(",", ":")).encode() + b"\n")
        except OSError as error:
            self.on_error(error)
            return False
        return True


def read_savings(path: Path) -> list[Saving]:
    """Every readable saving in file order, the first per (session, tool call); a missing file holds none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    found: dict[tuple[str, str], Saving] = {}
    for line in data.split(b"\n"):
        saving = _parse(line)
        if saving is not None:
            found.setdefault((saving.session, saving.tool_call_id), saving)
    return list(found.values())


def _append(path: Path, line: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _parse(line: bytes) -> Saving | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    texts = [value.get(name) for name in ("session", "provider", "model", "toolCallId")]
    ts, saved = _count(value.get("ts")), _count(value.get("savedTokens"))
    if not all(isinstance(text, str) for text in texts) or ts is None or saved is None or saved <= 0:
        return None
    session, provider, model, call = map(str, texts)
    return Saving(ts, session, provider, model, call, saved)


def _count(value: object) -> int | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**53:
        return int(value)
    return None
