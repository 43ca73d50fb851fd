"""Which files the agent read and changed, carried from summary to summary, and the `<files>` tree that shows them.

Knows tool calls and paths only: no disk, no project root. Source: engine.md §10, seed.md "File-operation context".
Deviation from the seed: paths with a `scheme://` are no files and stay out of the lists (`FileRules.SEED` keeps them).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum

from octavo import templates
from octavo_protocol.base import JsonObject

MAX_FILES = 20
"""How many files a `<files>` block lists before it says how many it left out."""

JS_WHITESPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What `\\s` and `trim()` mean in the seed's language."""

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_RANGE = r"L?[0-9]+(?:(?:-|\.\.)(?:L?[0-9]+)?|\+L?[0-9]+)?"
_RANGES = re.compile(rf"{_RANGE}(?:,{_RANGE})*", re.IGNORECASE)
_TRAILING_SPACE = re.compile(f"[{JS_WHITESPACE}]*")
_OWN_TAGS = ("files", "read-files", "modified-files")


class FileRules(Enum):
    """Whether `scheme://` paths count as files: `SEED` yes, `OCTAVO` no."""

    SEED = "seed"
    OCTAVO = "octavo"


@dataclass(slots=True)
class FileOps:
    """The cumulative sets of paths, as the tool calls named them (read selectors stripped)."""

    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    edited: set[str] = field(default_factory=set)

    def copy(self) -> "FileOps":
        """Return sets of their own with the same paths."""
        return FileOps(set(self.read), set(self.written), set(self.edited))


@dataclass(frozen=True, slots=True)
class FileLists:
    """Read but never changed, and changed; both in UTF-16 code unit order."""

    read_files: list[str]
    modified_files: list[str]

    def to_details(self) -> JsonObject:
        """Return the form that compaction and branch_summary entries store under `details`."""
        return {"readFiles": list(self.read_files), "modifiedFiles": list(self.modified_files)}


def utf16_key(text: str) -> bytes:
    """Return the sort key of JavaScript's default string order."""
    return text.encode("utf-16-be", "surrogatepass")


def split_read_selector(path: str) -> tuple[str, str | None]:
    """Split `path:selector` of a read call; the selector is None when the tail is no selector."""
    base, selector = _split_last(path, _is_selector)
    if selector is None:
        return path, None
    wanted = _is_ranges if selector.lower() == "raw" else _is_raw if _is_ranges(selector) else None
    if wanted is not None:
        outer, inner = _split_last(base, wanted)
        if inner is not None:
            return outer, f"{inner}:{selector}"
    return base, selector


def strip_read_selector(path: str) -> str:
    """Return the path of a read call without its selector, so that one file has one name."""
    return split_read_selector(path)[0]


def read_supersede_key(path: object) -> str | None:
    """Return what two reads must share for the newer to replace the older: path, or path NUL selector (§11.2).

    None for an empty path, for `scheme://` resources, and for anything that is not a string.
    """
    if not isinstance(path, str) or not path or "://" in path:
        return None
    base, selector = split_read_selector(path)
    return base if selector is None else f"{base}\0{selector}"


def collect_from_message(message: JsonObject, ops: FileOps) -> None:
    """Add the paths of an assistant message's `read`, `write` and `edit` calls to `ops`."""
    content = message.get("content")
    if message.get("role") != "assistant" or not isinstance(content, list):
        return
    for block in content:
        if not isinstance(block, dict) or block.get("type") != "toolCall":
            continue
        arguments = block.get("arguments")
        path = arguments.get("path") if isinstance(arguments, dict) else None
        if not isinstance(path, str) or not path:
            continue
        match block.get("name"):
            case "read":
                ops.read.add(strip_read_selector(path))
            case "write":
                ops.written.add(path)
            case "edit":
                ops.edited.add(path)


def seed_from_details(details: object, ops: FileOps) -> None:
    """Add what an earlier summary entry recorded: `readFiles` as read, `modifiedFiles` as edited."""
    if not isinstance(details, dict):
        return
    ops.read.update(strip_read_selector(path) for path in _strings(details.get("readFiles")))
    ops.edited.update(_strings(details.get("modifiedFiles")))


def file_lists(ops: FileOps, rules: FileRules = FileRules.OCTAVO) -> FileLists:
    """Return the two sorted lists; a changed file is not listed as read."""
    modified = ops.edited | ops.written
    read = ops.read - modified
    if rules is FileRules.OCTAVO:
        modified = {path for path in modified if not _SCHEME.search(path)}
        read = {path for path in read if not _SCHEME.search(path)}
    return FileLists(sorted(read, key=utf16_key), sorted(modified, key=utf16_key))


def format_files(read_files: Iterable[str], modified_files: Iterable[str], read_set: Iterable[str] = ()) -> str:
    """Return the `<files>` block, or "" when no file is named.

    Args:
        read_files: Files only read, marked `(Read)`.
        modified_files: Changed files, marked `(RW)` when they are also in `read_set`, else `(Write)`.
        read_set: Every file ever read in the session.
    """
    known = set(read_set)
    marks = dict.fromkeys(read_files, "Read")
    marks.update((path, "RW" if path in known else "Write") for path in modified_files)
    paths = sorted(marks, key=utf16_key)
    tree = format_grouped_paths(paths[:MAX_FILES], lambda path: f" ({marks[path]})")
    if len(paths) > MAX_FILES:
        tree += f"\n… ({len(paths) - MAX_FILES} more files omitted)"
    return templates.render("file-operations", files=tree)


def upsert_files(
    summary: str, read_files: Iterable[str], modified_files: Iterable[str], read_set: Iterable[str] = ()
) -> str:
    """Replace every file block of the summary, also of older forms, by one fresh block at its end."""
    bare = strip_file_blocks(summary).rstrip(JS_WHITESPACE)
    block = format_files(read_files, modified_files, read_set)
    if not block:
        return bare
    return f"{bare}\n\n{block}" if bare else block


def strip_file_blocks(summary: str) -> str:
    """Remove `<files>`, `<read-files>` and `<modified-files>` elements with the white space after them."""
    for tag in _OWN_TAGS:
        summary = _without_elements(summary, f"<{tag}>", f"</{tag}>")
    return summary


def format_grouped_paths(paths: Iterable[str], suffix: Callable[[str], str] = lambda _: "") -> str:
    """Return the paths as a directory tree: files of a directory first, chains of single directories in one header."""
    root = _Directory()
    for path in paths:
        root.insert(path, suffix(path))
    return "\n".join(root.lines())


@dataclass(slots=True)
class _Directory:
    files: dict[str, str] = field(default_factory=dict)
    directories: "dict[str, _Directory]" = field(default_factory=dict)

    def insert(self, path: str, suffix: str) -> None:
        if _SCHEME.match(path):
            self.files.setdefault(path, suffix)
            return
        segments = path.replace("\\", "/").split("/")
        if segments == [""]:
            return
        name = segments.pop()
        node = self
        for segment in segments:
            node = node.directories.setdefault(segment, _Directory())
        if name:
            node.files.setdefault(name, suffix)

    def lines(self) -> Iterable[str]:
        yield from (name + suffix for name, suffix in self.files.items())
        # An explicit stack: a path may have more segments than Python has frames.
        stack = [(1, name, node) for name, node in reversed(self.directories.items())]
        while stack:
            depth, name, node = stack.pop()
            chain = [name]
            while not node.files and len(node.directories) == 1:
                ((name, node),) = node.directories.items()
                chain.append(name)
            yield f"{'#' * depth} {'/'.join(chain)}/"
            yield from (file + suffix for file, suffix in node.files.items())
            stack.extend((depth + 1, name, child) for name, child in reversed(node.directories.items()))


def _split_last(path: str, wanted: Callable[[str], bool]) -> tuple[str, str | None]:
    colon = path.rfind(":")
    if colon > 0 and wanted(path[colon + 1 :]):
        return path[:colon], path[colon + 1 :]
    return path, None


def _is_selector(tail: str) -> bool:
    return tail.lower() in {"raw", "conflicts"} or _is_ranges(tail)


def _is_raw(tail: str) -> bool:
    return tail.lower() == "raw"


def _is_ranges(tail: str) -> bool:
    return _RANGES.fullmatch(tail) is not None


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _without_elements(text: str, opening: str, closing: str) -> str:
    # str.find instead of a lazy regex: many opening tags without an end must stay linear.
    kept = []
    position = 0
    while (start := text.find(opening, position)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        kept.append(text[position:start])
        space = _TRAILING_SPACE.match(text, end + len(closing))
        position = space.end() if space else end + len(closing)
    kept.append(text[position:])
    return "".join(kept)
