"""Names: entry ids, session ids, file names and the folder a working directory's sessions live in (engine.md §1.1).

Nothing here reads a clock, a random source or the disk; those come in as arguments.
"""

import hashlib
from collections.abc import Callable, Container
from datetime import UTC, datetime

_DRAWS = 100
_MAX_FOLDER_BYTES = 240
"""Longer names would not fit a file system's 255 bytes together with what tools append to them."""
_KEPT_BYTES = 200
_SEPARATORS = str.maketrans("/\\:", "---")


def new_entry_id(taken: Container[str], *, random_bytes: Callable[[int], bytes], now_ms: Callable[[], int]) -> str:
    """Return an id no entry of `taken` has: 8 hex digits, or 16 time-sortable ones after 100 collisions."""
    for _ in range(_DRAWS):
        candidate = random_bytes(4).hex()
        if candidate not in taken:
            return candidate
    while True:
        candidate = snowflake(now_ms(), random_bytes)
        if candidate not in taken:
            return candidate


def snowflake(now_ms: int, random_bytes: Callable[[int], bytes]) -> str:
    """Return 16 hex digits that sort by time: 42 bits of epoch milliseconds, 22 random bits."""
    chance = int.from_bytes(random_bytes(3), "big") & 0x3FFFFF
    return f"{(now_ms & (1 << 42) - 1) << 22 | chance:016x}"


def new_session_id(now_ms: int, random_bytes: Callable[[int], bytes]) -> str:
    """Return a UUID of version 7 (RFC 9562): 48 bits of epoch milliseconds, then randomness."""
    value = (now_ms & (1 << 48) - 1) << 80 | int.from_bytes(random_bytes(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def stable_ids(seed: str) -> Callable[[], str]:
    """Return a source of 8-hex ids that yields the same sequence for the same `seed` and never repeats itself.

    A version 1 file has no ids; drawing them from its session id makes every opening of the file agree until it is
    rewritten.
    """
    drawn: set[str] = set()
    count = 0

    def draw() -> str:
        nonlocal count
        while True:
            count += 1
            candidate = hashlib.sha256(f"{seed}:{count}".encode()).hexdigest()[:8]
            if candidate not in drawn:
                drawn.add(candidate)
                return candidate

    return draw


def iso_timestamp(now_ms: int) -> str:
    """Return epoch milliseconds as the ISO form entries carry, `2026-01-01T00:00:00.000Z`."""
    moment = datetime.fromtimestamp(now_ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{now_ms % 1000:03d}Z"


def epoch_ms(timestamp: object) -> int | None:
    """Return an ISO timestamp as epoch milliseconds, or None when it is not one."""
    if not isinstance(timestamp, str):
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def session_file_name(timestamp: str, session_id: str) -> str:
    """Return `<timestamp with ':' and '.' as '-'>_<session id>.jsonl`."""
    return f"{timestamp.replace(':', '-').replace('.', '-')}_{session_id}.jsonl"


def session_folder_name(cwd: str, *, home: str, temp: str) -> str:
    """Return the folder name for the sessions of `cwd` (engine.md §1.1, computeDefaultSessionDir).

    All three paths are absolute and free of symlinks; the caller resolves them. The encoding is lossy (`a-b` and `a/b`
    meet), so the working directory is always taken from the header, never from the folder. A name that no file system
    would take is cut, a digest of the whole telling it from others.
    """
    name = _folder_name(cwd, home, temp)
    raw = name.encode("utf-8", "surrogatepass")
    if len(raw) <= _MAX_FOLDER_BYTES:
        return name
    return f"{raw[:_KEPT_BYTES].decode('utf-8', 'ignore')}-{hashlib.sha256(raw).hexdigest()[:16]}"


def _folder_name(cwd: str, home: str, temp: str) -> str:
    if (relative := _below(cwd, home)) is not None:
        return f"-{relative.translate(_SEPARATORS)}"
    if (relative := _below(cwd, temp)) is not None:
        return f"-tmp-{relative.translate(_SEPARATORS)}" if relative else "-tmp"
    return f"--{cwd.lstrip('/' + chr(92)).translate(_SEPARATORS)}--"


def _below(path: str, root: str) -> str | None:
    path, root = path.rstrip("/\\"), root.rstrip("/\\")
    if not root:
        return None
    if path == root:
        return ""
    if path.startswith(root) and path[len(root)] in "/\\":
        return path[len(root) + 1 :]
    return None
