"""Replace what no reader needs in a frame: data URLs and walls of base64, by a short note that says what was there.

Hex dumps, hashes and long identifiers stay; only text that looks like base64 by its mixture of characters goes.
"""

import re

_DATA_URL = re.compile(
    r"(?P<image>!\[[^\]\n]{0,200}\]\()?"
    r"data:(?P<mime>[\w.+-]{1,80}/[\w.+-]{1,80})?(?:;[\w=.+-]{1,80}){0,8};base64,(?P<body>[\w+/=%-]*)"
    r"(?(image)\)?)",
    re.ASCII,
)
_WORD = re.compile(r"(?<![\w+/-])[\w+/-]{256,}+={0,2}", re.ASCII)
_LINE = re.compile(r"[\w+/-]{60,}={0,2}", re.ASCII)
_TAIL_LINE = re.compile(r"[\w+/-]{20,}={0,2}|[\w+/-]+={1,2}", re.ASCII)
_BLANKS = " \t"
_MIN_DATA_URL_CHARS = 64
_MIN_WORD_CHARS = 256
_MIN_WALL_LINES = 6
_MIN_LINE_CHARS = 60
_SAMPLE_CHARS = 256
_MIN_DISTINCT = 24


def omit_data_urls(text: str) -> str:
    """Replace every base64 data URL, with the Markdown image around it, by its type and length."""
    return _DATA_URL.sub(_describe_url, text) if ";base64," in text else text


def omit_long_words(line: str) -> str:
    """Replace base64 words of 256 or more characters in a line."""
    if max(map(len, line.split(" "))) < _MIN_WORD_CHARS:
        return line
    return _WORD.sub(lambda word: _note(len(word[0])) if _is_base64(word[0]) else word[0], line)


def omit_base64_lines(lines: list[str]) -> list[str]:
    """Replace six or more successive lines of base64, equally indented or not, by one note."""
    candidates = [
        at for at, line in enumerate(lines) if len(line) >= _MIN_LINE_CHARS and _LINE.fullmatch(line.strip(_BLANKS))
    ]
    if len(candidates) < _MIN_WALL_LINES:
        return lines
    kept: list[str] = []
    done = 0
    for start, end in _runs(candidates):
        body = [line.strip(_BLANKS) for line in lines[start:end]]
        if len(body) < _MIN_WALL_LINES or not _is_base64("".join(body[:_MIN_WALL_LINES])):
            continue
        stop = end
        if end < len(lines) and _TAIL_LINE.fullmatch(tail := lines[end].strip(_BLANKS)) and len(tail) <= len(body[0]):
            body.append(tail)
            stop += 1
        kept += lines[done:start]
        kept.append(_note(sum(map(len, body))))
        done = stop
    return kept + lines[done:]


def _runs(indices: list[int]) -> list[tuple[int, int]]:
    """Group ascending indices into (first, past the last) of unbroken runs."""
    runs = []
    start = previous = indices[0]
    for index in indices[1:]:
        if index != previous + 1:
            runs.append((start, previous + 1))
            start = index
        previous = index
    return [*runs, (start, previous + 1)]


def _describe_url(url: re.Match[str]) -> str:
    if len(url["body"]) < _MIN_DATA_URL_CHARS:
        return url[0]
    return f"[data URL omitted: {url['mime'] or 'text/plain'}, {len(url['body'])} base64 chars]"


def _note(chars: int) -> str:
    return f"[base64 omitted: {chars} chars]"


def _is_base64(word: str) -> bool:
    sample = word[:_SAMPLE_CHARS]
    classes = (any(map(test, sample)) for test in (str.islower, str.isupper, str.isdigit))
    return all(classes) and len(set(sample)) >= _MIN_DISTINCT
