"""Find words that a summary puts into the user's mouth and that the user never wrote.

Only what claims to be a quotation is judged: lines in the user's voice (`User: …`) and quoted spans after the user is
named as speaking. Paraphrase is the summariser's job. Known failure BR-070.
"""

import re
from collections.abc import Iterable, Sequence

from octavo.compaction.entry_messages import stored_message
from octavo.compaction.verbatim import user_text
from octavo_protocol.base import JsonObject

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_VOICE = re.compile(r"^\s*(?:[-*>]\s+)?(?:\*\*|\[)?(?:user|human)(?:\*\*|\])?\s*:(?:\*\*)?\s*(\S.*)$", re.IGNORECASE)
_SPEAKS = re.compile(
    r"\buser(?:'s)?\b[^\"“«\n]{0,60}\b(?:said|says|asked|asks|wrote|told|instructed|requested|ordered|replied|answered|"
    r"confirmed|message|request|instruction|words)\b[^\"“«\n]{0,40}[\"“«]([^\"”»\n]{8,2000})[\"”»]",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


def invented_lines(summary: str, path: Sequence[JsonObject]) -> list[int]:
    """Return the numbers (from 0) of the summary's lines that quote words nobody said on the path."""
    claims = list(_claims(summary))
    if not claims:
        return []
    sources = [_normal(text) for text in _said(path)]
    return [number for number, quote in claims if not any(_was_said(quote, source) for source in sources)]


def without_lines(summary: str, numbers: Iterable[int]) -> str:
    """Return the summary without these lines."""
    gone = set(numbers)
    if not gone:
        return summary
    return "\n".join(line for number, line in enumerate(summary.split("\n")) if number not in gone)


def _claims(summary: str) -> Iterable[tuple[int, str]]:
    fence = ""
    for number, line in enumerate(summary.split("\n")):
        if mark := _FENCE.match(line):
            fence = "" if fence and line.strip() == fence else fence or mark[1]
        elif not fence:
            if voice := _VOICE.match(line):
                yield number, voice[1]
            elif spoken := _SPEAKS.search(line):
                yield number, spoken[1]


def _was_said(quote: str, source: str) -> bool:
    """Whether the words stand in the source in this order; an ellipsis may leave some out."""
    position = 0
    for part in re.split(r"\.{3,}|…|\[[^\]]*\]", quote):
        words = _normal(part)
        found = source.find(words, position)
        if found < 0:
            return False
        position = found + len(words)
    return True


def _said(path: Sequence[JsonObject]) -> Iterable[str]:
    for entry in path:
        if entry.get("type") in {"compaction", "branch_summary"}:
            if isinstance(entry.get("summary"), str):
                yield entry["summary"]
            continue
        message = stored_message(entry)
        if message.get("role") in {"user", "bashExecution"}:
            yield user_text(message) or str(message.get("command") or "")


def _normal(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
