"""The archive of frames a compaction entry carries under `preserveData.snapcompact` (snapcompact.md §7.1).

The stored shape is the seed's — `{frames, totalChars, truncatedChars, textTail?}` — plus `text`, the bounded source
text (with `textDropped`, how many characters the bound cost). From it frames are drawn again for another family of
models, or handed to a summary when the strategy changes. Archives without it, and archives of the later
text-sourced shape (`textHead`), still open. Nothing here draws or lays out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from octavo.js_text import cut, utf16_length
from octavo.snapcompact.budgets import DATA_BYTES_BUDGET, newest_within
from octavo.snapcompact.frames import FrameRecord, count, frame_from, frame_problem, is_frame, text_of
from octavo.snapcompact.marks import NEWLINE, plain_text
from octavo.templates import render
from octavo_protocol.base import JsonObject

ARCHIVE_KEY = "snapcompact"
REMOTE_KEY = "openaiRemoteCompaction"

MAX_SOURCE_UNITS = 480_000
"""Bound of the stored source text in UTF-16 units: below the 500,000 at which session files cut long strings."""


@dataclass(frozen=True, slots=True)
class Archive:
    """Frames oldest to newest, and what is known of their text.

    `truncated_chars` counts characters no frame and no tail shows any more. `text_tail` is newer than every frame.
    `text` is everything ever archived, normalised, oldest first, within `MAX_SOURCE_UNITS`; `text_dropped` of its
    characters were elided for that. `text_head` is set only in archives of the later text-sourced shape.
    """

    frames: tuple[FrameRecord, ...] = ()
    truncated_chars: int = 0
    text_tail: str | None = None
    text: str | None = None
    text_dropped: int = 0
    text_head: str | None = None

    @property
    def total_chars(self) -> int:
        """Characters visible on the frames."""
        return sum(frame.chars for frame in self.frames)

    @property
    def data_bytes(self) -> int:
        """Base64 characters of all frames."""
        return sum(len(frame.data) for frame in self.frames)

    def to_json(self) -> JsonObject:
        """The value stored under `ARCHIVE_KEY`."""
        value: JsonObject = {
            "frames": [frame.to_json() for frame in self.frames],
            "totalChars": self.total_chars,
            "truncatedChars": self.truncated_chars,
        }
        if self.text_tail:
            value["textTail"] = self.text_tail
        if self.text:
            value["text"] = self.text
        if self.text_dropped:
            value["textDropped"] = self.text_dropped
        if self.text_head:
            value["textHead"] = self.text_head
        return value


@dataclass(frozen=True, slots=True)
class ArchiveReading:
    """What was read: the archive, or None, and one sentence per thing that had to be left out."""

    archive: Archive | None
    problems: tuple[str, ...] = ()


def read_archive(preserve_data: object) -> Archive | None:
    """The archive in a compaction's `preserveData`, or None; exactly the seed's guard, nothing is decoded.

    A text-sourced archive without frames counts when it has text.
    """
    value = preserve_data.get(ARCHIVE_KEY) if isinstance(preserve_data, dict) else None
    if not isinstance(value, dict) or not isinstance(value.get("frames"), list):
        return None
    frames = value["frames"]
    if not all(map(is_frame, frames)) or not (frames or text_of(value, "textHead")):
        return None
    return _archive(value, [frame_from(item) for item in frames])


def open_archive(preserve_data: object) -> ArchiveReading:
    """Read an archive that may be damaged: keep every sound frame, name every other one.

    Characters of a frame that is left out count as truncated, so that the reading guide owns up to the gap.
    """
    value = preserve_data.get(ARCHIVE_KEY) if isinstance(preserve_data, dict) else None
    if value is None:
        return ArchiveReading(None)
    if not isinstance(value, dict) or not isinstance(value.get("frames"), list):
        return ArchiveReading(None, ("the snapcompact archive is not an object with a list of frames",))
    sound: list[FrameRecord] = []
    problems: list[str] = []
    lost = 0
    for number, item in enumerate(value["frames"], 1):
        problem = frame_problem(item)
        if problem is None:
            sound.append(frame_from(item))
            continue
        problems.append(f"frame {number} was left out: {problem}")
        lost += count(item.get("chars")) if isinstance(item, dict) else 0
    archive = _archive(value, sound)
    if not sound and not archive.text and not archive.text_tail:
        return ArchiveReading(None, tuple(problems) or ("the snapcompact archive is empty",))
    return ArchiveReading(replace(archive, truncated_chars=archive.truncated_chars + lost), tuple(problems))


def with_archive(preserve_data: JsonObject | None, archive: Archive) -> JsonObject:
    """`preserveData` for a new compaction: other keys survive, a provider's own compaction does not."""
    others = {name: value for name, value in (preserve_data or {}).items() if name != REMOTE_KEY}
    return others | {ARCHIVE_KEY: archive.to_json()}


def archive_text(archive: Archive) -> str:
    """All text that is known of an archive, for a summary, a search or an export.

    The source text where it was kept; of an older archive only the texts beside the frames.
    """
    if archive.text:
        return plain_text(archive.text)
    return "\n".join(plain_text(part) for part in (archive.text_head, archive.text_tail) if part)


def extend_source(old: str, new: str, head_units: int, limit: int = MAX_SOURCE_UNITS) -> tuple[str, int]:
    """Join source texts and keep them within `limit` UTF-16 units; return the text and how many units were elided.

    Too long a text loses its middle: the first `head_units` and the newest stay.
    """
    joined = NEWLINE.join(part for part in (old, new) if part)
    length = utf16_length(joined)
    if length <= limit:
        return joined, 0
    head = min(head_units, limit // 2)
    tail = limit - head - len(NEWLINE)
    return f"{cut(joined, 0, head)}{NEWLINE}{cut(joined, length - tail, length)}", length - head - tail


def history_blocks(archive: Archive, byte_budget: int = DATA_BYTES_BUDGET) -> list[JsonObject]:
    """Content blocks that show an archive to a model, oldest first: text head, frames, within a byte budget.

    Newest frames are kept; a run of frames that does not fit, or whose image lies in a missing blob, becomes one line
    of text. The text tail is part of the summary, not of these blocks.
    """
    usable = [index for index, frame in enumerate(archive.frames) if not frame.data.startswith("blob:")]
    sizes = [len(archive.frames[index].data) for index in usable]
    kept = {usable[index] for index in newest_within(sizes, byte_budget)}
    blocks: list[JsonObject] = []
    if archive.text_head:
        blocks.append(_text_block(plain_text(archive.text_head)))
    omitted = 0
    for index, frame in enumerate(archive.frames):
        if index not in kept:
            omitted += 1
            continue
        blocks.extend(_omission(omitted))
        omitted = 0
        blocks.append(frame.image_block())
    blocks.extend(_omission(omitted))
    return blocks


def _omission(count: int) -> Iterable[JsonObject]:
    if count:
        yield _text_block(render("snapcompact-frames-omitted", count=count, one=count == 1).strip())


def _text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _archive(value: JsonObject, frames: Sequence[FrameRecord]) -> Archive:
    return Archive(
        frames=tuple(frames),
        truncated_chars=count(value.get("truncatedChars")),
        text_tail=text_of(value, "textTail"),
        text=text_of(value, "text"),
        text_dropped=count(value.get("textDropped")),
        text_head=text_of(value, "textHead"),
    )
