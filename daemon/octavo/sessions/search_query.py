"""What a person asks for: words that must all occur, or a regular expression that cannot hang the daemon.

A query gives the corpus a needle (a text every match contains) to find candidates with, and then decides on each
candidate's own text. Pure but for the time limit of regular expressions.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from octavo_protocol.errors import ErrorKind, OctavoError

REGEX_SECONDS = 2.0
"""How long one text may keep a regular expression busy."""
_WORDS = re.compile(r'"([^"]+)"|(\S+)')
_SPECIAL = frozenset(".^$*+?{}[]\\|()")
_OPTIONAL = frozenset("*?{")


def fold(text: str) -> str:
    """The form in which capitals and small letters, and composed and decomposed ones, are the same."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


class Query(Protocol):
    """A question to the corpus."""

    @property
    def needle(self) -> str:
        """A folded text that every match contains; empty when there is none."""
        ...

    def accepts_folded(self, folded: str) -> bool:
        """A cheap decision on folded text that never turns away a match."""
        ...

    def spans(self, text: str) -> list[tuple[int, int]] | None:
        """Where the text matches, in chars from its start; None when it does not."""
        ...


@dataclass(frozen=True)
class Words:
    """Words (or phrases in double quotes) that must all occur, as parts of longer words too."""

    words: tuple[str, ...]
    case_sensitive: bool

    @property
    def needle(self) -> str:
        """The longest word: it has the fewest false candidates."""
        return max(map(fold, self.words), key=len)

    def accepts_folded(self, folded: str) -> bool:
        """Whether all words occur."""
        return all(fold(word) in folded for word in self.words)

    def spans(self, text: str) -> list[tuple[int, int]] | None:
        """Every place of every word; an empty list when only folding makes them occur."""
        if self.case_sensitive and not all(word in text for word in self.words):
            return None
        return [match.span() for match in self._anywhere.finditer(text)]

    @cached_property
    def _anywhere(self) -> re.Pattern[str]:
        longest_first = sorted(self.words, key=len, reverse=True)
        flags = re.NOFLAG if self.case_sensitive else re.IGNORECASE
        return re.compile("|".join(map(re.escape, longest_first)), flags)


@dataclass(frozen=True)
class Expression:
    """A regular expression, with `^` and `$` at lines; `compiled` is a pattern of the `regex` package."""

    source: str
    compiled: Any
    case_sensitive: bool

    @cached_property
    def needle(self) -> str:
        """The longest literal text of the expression that is certain to occur."""
        return fold(literal_of(self.source))

    def accepts_folded(self, folded: str) -> bool:
        """Whether the literal text occurs."""
        return self.needle in folded

    def spans(self, text: str) -> list[tuple[int, int]] | None:
        """Every match.

        Raises:
            OctavoError: `invalid-params` when the expression takes too long on one text.
        """
        try:
            # Without `concurrent` one pathological expression would stop the whole daemon.
            found = [match.span() for match in self.compiled.finditer(text, timeout=REGEX_SECONDS, concurrent=True)]
        except TimeoutError as error:
            message = f"The expression {self.source[:80]!r} takes too long to decide; make it simpler."
            raise OctavoError(ErrorKind.INVALID_PARAMS, message) from error
        return found or None


def parse_query(text: str, *, regex: bool, case_sensitive: bool) -> Query:
    """Understand a query.

    Raises:
        OctavoError: `invalid-params` when it is empty or no regular expression.
    """
    if regex:
        return _expression(text, case_sensitive)
    words = tuple(dict.fromkeys(quoted or plain for quoted, plain in _WORDS.findall(text)))
    if not words:
        raise OctavoError(ErrorKind.INVALID_PARAMS, "The query is empty; give at least one word.")
    return Words(words, case_sensitive)


def _expression(source: str, case_sensitive: bool) -> Expression:
    import regex as engine  # type: ignore[import-untyped]  # noqa: PLC0415 - loaded with the first expression

    flags = engine.MULTILINE if case_sensitive else engine.MULTILINE | engine.IGNORECASE
    try:
        compiled = engine.compile(source, flags)
    except (engine.error, RecursionError, OverflowError) as error:
        message = f"{source[:80]!r} is not a regular expression: {error}."
        raise OctavoError(ErrorKind.INVALID_PARAMS, message) from error
    if not source:
        raise OctavoError(ErrorKind.INVALID_PARAMS, "The expression is empty; give at least one character.")
    return Expression(source, compiled, case_sensitive)


def literal_of(source: str) -> str:
    """The longest run of characters that every match of an expression contains; empty when in doubt.

    Only what stands outside groups, sets and alternatives counts, and nothing that a quantifier makes optional.
    """
    if "|" in source or "(?" in source:
        return ""
    runs: list[str] = []
    run, depth, position = "", 0, 0
    while position < len(source):
        char, literal = source[position], ""
        if char == "\\":
            escaped = source[position + 1 : position + 2]
            literal = escaped if escaped and not escaped.isalnum() else ""
            if escaped in {"x", "u", "U", "N", "p", "P", "0"} or escaped.isdigit():
                return max([*runs, run], key=len) if depth == 0 and run else max(runs, key=len, default="")
            position += 2
        elif char == "[":
            position = _end_of_set(source, position)
        else:
            depth += (char == "(") - (char == ")")
            literal = char if char not in _SPECIAL else ""
            position += 1
        following = source[position : position + 1]
        if depth or not literal or following in _OPTIONAL:
            runs.append(run)
            run = ""
            if following and following in _OPTIONAL:
                position = _end_of_quantifier(source, position)
        else:
            run += literal
            if following == "+":
                runs.append(run)
                run = ""
    return max([*runs, run], key=len)


def _end_of_set(source: str, start: int) -> int:
    """Behind the `]` that closes the set; a `]` that comes first belongs to it."""
    position = start + 1
    position += source[position : position + 1] == "^"
    position += source[position : position + 1] == "]"
    while position < len(source) and source[position] != "]":
        position += 2 if source[position] == "\\" else 1
    return position + 1


def _end_of_quantifier(source: str, start: int) -> int:
    if source[start] != "{":
        return start + 1
    end = source.find("}", start)
    return len(source) if end < 0 else end + 1
