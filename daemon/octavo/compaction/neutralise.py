"""Text that must not act: boundary tags and control tokens in a talk made harmless, secrets taken out.

Works on text only. Images, signatures, encrypted reasoning and provider payloads are never looked into, so they stay
byte-identical. Source: engine.md §17b (59, 60, 72, 73), known failures BR-070, BR-074.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from octavo.js_text import well_formed
from octavo_protocol.base import JsonObject

BOUNDARY_TAGS = (
    "conversation",
    "previous-summary",
    "additional-context",
    "summary",
    "files",
    "read-files",
    "modified-files",
    "handoff-context",
)
"""The elements our prompts and context templates wrap untrusted text in."""

_BOUNDARY = re.compile(rf"<(?=\s*+(?:/\s*+)?(?:{'|'.join(BOUNDARY_TAGS)})(?![\w-]))", re.IGNORECASE)
_HARMONY = re.compile(r"<\|(start|end|message|channel|constrain|return|call)\|>")


def boundaries(text: str) -> str:
    """Return the text with `<` of every boundary tag (any case, spacing, closing) as `&lt;`, harmony tokens escaped."""
    return _HARMONY.sub(r"<\\|\1\\|>", _BOUNDARY.sub("&lt;", text))


def has_boundary(text: str) -> bool:
    """Whether the text holds a tag that could break out of its wrapper."""
    return _BOUNDARY.search(text) is not None


@dataclass(slots=True)
class Redactor:
    """Takes secrets out of text and counts what it took; a find is never an error."""

    count: int = 0

    def text(self, text: str) -> str:
        """Return well-formed text in which every recognised secret reads `[redacted <kind>]`."""
        text = well_formed(text)
        if "PRIVATE KEY-----" in text:
            text = _PRIVATE_KEY.sub(self._replacement("private key"), text)
        return "".join(map(self._slice, _slices(text)))

    def _slice(self, text: str) -> str:
        for kind, pattern, cheap in _SECRETS:
            if cheap(text):
                text = pattern.sub(self._replacement(kind), text)
        return text

    def message(self, message: JsonObject) -> JsonObject:
        """Return the LLM message with its text, tool arguments and results redacted; the same object if unchanged.

        Blocks that carry a signature are left alone: the provider verifies them.
        """
        content = message.get("content")
        if isinstance(content, str):
            clean = self.text(content)
            return message if clean == content else {**message, "content": clean}
        if not isinstance(content, list):
            return message
        blocks = [self._block(block) for block in content]
        changed = any(new is not old for new, old in zip(blocks, content, strict=True))
        return {**message, "content": blocks} if changed else message

    def strings(self, value: Any) -> Any:
        """Return a JSON value with every string redacted; for tool arguments."""
        if isinstance(value, str):
            clean = self.text(value)
            return value if clean == value else clean
        if isinstance(value, dict):
            fields = {key: self.strings(item) for key, item in value.items()}
            return value if all(fields[key] is value[key] for key in value) else fields
        if isinstance(value, list):
            entries = [self.strings(item) for item in value]
            return value if all(new is old for new, old in zip(entries, value, strict=True)) else entries
        return value

    def _block(self, block: Any) -> Any:
        if not isinstance(block, dict):
            return block
        key = {"text": "text", "toolCall": "arguments"}.get(str(block.get("type")))
        if key is None or key not in block or any(name.endswith("Signature") for name in block):
            return block
        clean = self.strings(block[key])
        return block if clean is block[key] else {**block, key: clean}

    def _replacement(self, kind: str) -> Callable[[re.Match[str]], str]:
        def replace(found: re.Match[str]) -> str:
            groups = found.groupdict()
            if groups.get("value", "").startswith("[redacted"):
                return found[0]
            self.count += 1
            return f"{groups.get('before') or ''}[redacted {kind}]{groups.get('after') or ''}"

        return replace


def _needs(*parts: str) -> Callable[[str], bool]:
    return lambda text: any(part in text for part in parts)


def _any_case(word: str) -> str:
    # A class for the first letter only keeps the search fast; IGNORECASE would try every position slowly.
    return f"[{word[0]}{word[0].upper()}](?i:{word[1:]})"


_NAMES = "|".join(
    _any_case(word)
    for word in (
        "pass(?:word|wd|phrase)",
        "secret",
        "api[_-]?key",
        "access[_-]?(?:key|token)",
        "auth[_-]?token",
        "client[_-]?secret",
    )
)

# A call, a dotted name or a type is code about a secret, not the secret.
_CODE = (
    r"(?<== )[a-z_]{1,60}+(?![\w.-])|[a-z_]{1,60}+(?:\.[a-z_]{1,60}+)++(?![\w.-])|[a-z_.]{1,120}+[(\[]"
    r"|(?:string|number|boolean|undefined|required|optional)\b"
)

_SLICE = 128 * 1024
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s\\:,.]|-(?!----)){0,20000}+"
    r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY-----"
)


def _slices(text: str) -> Iterator[str]:
    # The interpreter lock is held while one pattern works, so a large text goes in slices that end with a line.
    start = 0
    while len(text) - start > _SLICE:
        end = text.rfind("\n", start, start + _SLICE) + 1 or text.find("\n", start + _SLICE) + 1 or len(text)
        yield text[start:end]
        start = end
    yield text[start:]


# (kind, pattern, a test that is cheap and true whenever the pattern can match). Every quantifier is possessive or
# bounded, so that hostile text stays linear.
_SECRETS: tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...] = (
    ("AWS key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), _needs("AKIA", "ASIA")),
    (
        "GitHub token",
        re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,255}+|github_pat_[A-Za-z0-9_]{30,255}+)"),
        _needs("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    ("GitLab token", re.compile(r"\bglpat-[A-Za-z0-9_-]{20,64}+"), _needs("glpat-")),
    ("API key", re.compile(r"\bsk-[A-Za-z0-9_-]{20,255}+"), _needs("sk-")),
    ("Stripe key", re.compile(r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}+"), _needs("k_live_", "k_test_")),
    ("Slack token", re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,255}+"), _needs("xox")),
    ("Google key", re.compile(r"\b(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,255}+)"), _needs("AIza", "ya29.")),
    ("npm token", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b"), _needs("npm_")),
    ("Hugging Face token", re.compile(r"\bhf_[A-Za-z0-9]{30,64}+"), _needs("hf_")),
    (
        "token",
        re.compile(r"\beyJ[A-Za-z0-9_-]{10,4000}+\.eyJ[A-Za-z0-9_-]{10,8000}+\.[A-Za-z0-9_-]{10,4000}+"),
        _needs("eyJ"),
    ),
    (
        "credential",
        re.compile(
            r"(?P<before>\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC)\s{1,4})(?P<value>[A-Za-z0-9._~+/-]{16,4000}+={0,2})"
        ),
        _needs("earer", "asic", "BEARER", "BASIC"),
    ),
    (
        "password",
        re.compile(r"(?P<before>://[^\s:/@\"'<>]{1,100}:)(?P<value>[^\s/@\"'<>]{3,200}+)(?P<after>@)"),
        _needs("://"),
    ),
    (
        "secret",
        re.compile(
            rf"(?P<before>(?:{_NAMES})(?:\\?[\"'])?\s{{0,4}}(?:=|:(?!:))\s{{0,4}}(?:\\?[\"'])?)"
            rf"(?P<value>(?!\[redacted|(?i:{_CODE}))[^\s\"'\\,;(){{}}<>\[\]$&|]{{6,500}}+)",
        ),
        _needs("ass", "ASS", "ecret", "ECRET", "ey", "EY", "oken", "OKEN"),
    ),
)
