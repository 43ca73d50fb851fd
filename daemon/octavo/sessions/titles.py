"""Session titles: what a name may look like, who may change it, and where it is written (engine.md §1.9)."""

import re
from typing import Literal

import orjson

from octavo.sessions.recovery import scrub_surrogates
from octavo_protocol.base import JsonObject

TitleSource = Literal["auto", "user"]

TITLE_SLOT_BYTES = 256
"""Length of the fixed title line of later versions, its newline included (engine.md §1.3)."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SPACES = re.compile(r" +")


def clean_title(name: str) -> str:
    """Return a title on one line: control characters become spaces, runs of spaces one, the ends are trimmed.

    Lone surrogates become U+FFFD, for no file could hold them.
    """
    return _SPACES.sub(" ", _CONTROL.sub(" ", scrub_surrogates(name))).strip()


def retitled(header: JsonObject, name: str, source: TitleSource = "auto") -> JsonObject | None:
    """Return the header with a new title, or None when the name is empty or may not replace a title the user chose."""
    if header.get("titleSource") == "user" and source == "auto":
        return None
    title = clean_title(name)
    return {**header, "title": title, "titleSource": source} if title else None


def title_slot(title: str, source: str | None, updated_at: str) -> bytes:
    """Return the title line of later versions: exactly `TITLE_SLOT_BYTES`, the title cut by code point to fit."""
    while True:
        slot: JsonObject = {"type": "title", "v": 1, "title": title}
        if source is not None:
            slot["source"] = source
        line = orjson.dumps({**slot, "updatedAt": updated_at, "pad": ""})
        missing = TITLE_SLOT_BYTES - 1 - len(line)
        if missing >= 0:
            return orjson.dumps({**slot, "updatedAt": updated_at, "pad": " " * missing}) + b"\n"
        if not title:
            raise ValueError("The timestamp or source of a title is too long for its line.")
        title = title[: -max(1, -missing // 6)]
