"""A small prepared compaction, for tests of what comes after the preparation."""

from typing import Any

from octavo.compaction.prepare import Preparation
from octavo_protocol.settings import CompactionSettings
from support.summariser import assistant, user

HISTORY = [user("Please fix the tide parser and keep the tests green, would you?"), assistant("Done, it reads commas.")]
RECENT = [user("And now the docs, please."), assistant("Working on the docs.")]


def prepared(**fields: Any) -> Preparation:
    """The preparation with some fields replaced."""
    basis: dict[str, Any] = {
        "first_kept_entry_id": "kept",
        "messages_to_summarize": HISTORY,
        "turn_prefix_messages": [],
        "recent_messages": RECENT,
        "is_split_turn": False,
        "tokens_before": 1000,
        "recent_tokens": 10,
        "keep_recent_tokens": 20_000,
        "settings": CompactionSettings(),
    }
    return Preparation(**{**basis, **fields})
