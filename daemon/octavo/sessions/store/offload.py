"""Keep the payload of superseded compactions on disk: a large one is in memory only while a context needs it (BR-007).

An offloaded compaction stands in the tree as a stub: the same entry with its heavy fields shortened or left out, and
a note of which ones. `restore` puts the fields back from the entry's line in the file. Pure: the caller reads the line.
"""

from octavo_protocol.base import JsonObject

OFFLOAD_BYTES = 64 << 10
"""Line length from which a compaction is worth offloading; usual summaries are far below."""
NOTE = "octavoOffloaded"
"""Key of a stub: `{fields, place}`, what to restore and from where; never written to a file."""
_SMALL = 1000
_HEAD = 200


def is_large(entry: JsonObject, length: int) -> bool:
    """Whether an entry whose line has `length` bytes is offloaded when a later compaction supersedes it."""
    return length >= OFFLOAD_BYTES and entry.get("type") == "compaction"


def is_stub(entry: JsonObject) -> bool:
    """Whether the entry is in memory without its payload."""
    return NOTE in entry


def stub(entry: JsonObject, place: int) -> JsonObject:
    """The entry without its payload; strings keep their first chars so that a list has something to show.

    `place` is whatever the caller needs to find the entry's line again.
    """
    kept: JsonObject = {}
    fields: list[str] = []
    for key, value in entry.items():
        if isinstance(value, str) and len(value) > _SMALL:
            kept[key] = value[:_HEAD]
        elif isinstance(value, (dict, list)):
            kept[key] = type(value)()
        else:
            kept[key] = value
            continue
        fields.append(key)
    return {**kept, NOTE: {"fields": fields, "place": place}}


def place_of(entry: JsonObject) -> int:
    """The place a stub was made with."""
    place: int = entry[NOTE]["place"]
    return place


def restore(entry: JsonObject, line: JsonObject) -> JsonObject:
    """The whole entry: a stub's own fields, and the payload from its line.

    Ids and links come from the stub: a file of an older version has none.
    """
    fields: list[str] = entry[NOTE]["fields"]
    kept = {key: value for key, value in entry.items() if key != NOTE}
    return kept | {key: line[key] for key in fields if key in line}
