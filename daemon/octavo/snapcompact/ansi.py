"""Remove terminal escape sequences from text (snapcompact.md §4, last bullet).

Only sequences that ESC introduces are known; an 8-bit CSI is an ordinary control character to the caller.
"""

import re

_SEQUENCE = re.compile(
    r"""\x1b(?:
        \[ [0-?]* [ -/]* (?:[@-~]|\Z)?         # CSI; a truncated one vanishes with its parameters
      | [\]PX^_] .*? (?:\x07|\x1b\\|\Z)        # OSC, DCS, SOS, PM, APC up to BEL or ST, else to the end
      | [ -/]+ (?:[0-~]|\Z)?                   # character set selections and other intermediates
      | [0-~]                                  # two-byte escapes
    )""",
    re.VERBOSE | re.DOTALL,
)


def strip_ansi(text: str) -> str:
    """Return the text without ANSI escape sequences; a lone ESC stays for the control filter."""
    return _SEQUENCE.sub("", text) if "\x1b" in text else text
