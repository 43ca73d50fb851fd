"""Find the vectors, load what they refer to, and hold the table of adapters."""

import importlib
import json
import os
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Vector:
    """One golden case. `data` is the whole file.

    A snapcompact file holds many cases in lists: each becomes a vector with the list's name as `section` and the item
    as `case`. One more vector of the file, with section "", stands for what the file says as a whole.
    """

    name: str
    function: str
    path: Path
    data: dict[str, Any]
    section: str = ""
    case: Any = None

    @property
    def input(self) -> Any:
        return self.data["input"]

    @property
    def expected(self) -> Any:
        return self.data["expected"]


Adapter = Callable[[Vector], None]
ADAPTERS: dict[str, Adapter] = {}


def adapter(*functions: str) -> Callable[[Adapter], Adapter]:
    """Register the decorated comparison for the named upstream functions."""

    def register(compare: Adapter) -> Adapter:
        for function in functions:
            assert function not in ADAPTERS, f"two adapters for {function}"
            ADAPTERS[function] = compare
        return compare

    return register


def vectors_folder() -> Path:
    """`OCTAVO_VECTORS`, else the vectors beside the checkout, else the synthetic copies in this folder."""
    if named := os.environ.get("OCTAVO_VECTORS"):
        return Path(named)
    beside = ROOT.parent / "shared" / "vectors"
    return beside if beside.is_dir() else Path(__file__).parent / "vectors"


def samples_folder() -> Path:
    """Where the public transcripts are, if they are anywhere."""
    return Path(os.environ.get("OCTAVO_SAMPLES", ROOT.parent / "shared" / "samples"))


@cache
def collect() -> tuple[Vector, ...]:
    """Every vector of the folder, engine first, in name order."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent / "adapters")]):
        importlib.import_module(f"conformance.adapters.{module.name}")
    found = []
    for path in sorted((vectors_folder() / "engine").glob("*.json")):
        data = json.loads(path.read_text())
        found.append(Vector(data["name"], data["function"], path, data))
    for path in sorted((vectors_folder() / "snapcompact").glob("*.json")):
        found.extend(_cases(path))
    return tuple(found)


def _cases(path: Path) -> Iterator[Vector]:
    data = json.loads(path.read_text())
    name, function = f"snapcompact-{path.stem}", f"snapcompact:{path.stem}"
    yield Vector(name, function, path, data)
    for section, cases in data.items():
        if isinstance(cases, list) and cases and all(isinstance(case, dict) for case in cases):
            for at, case in enumerate(cases):
                yield Vector(f"{name}-{section}-{at:03}", function, path, data, section, case)


@cache
def fixture_entries(name: str) -> tuple[dict[str, Any], ...]:
    """The entries of a sample named like `fixtures/before-compaction.jsonl (sha256 …)`, migrated, ids `e<line>`."""
    from octavo.sessions.migrate import migrate_to_current
    from octavo.sessions.reading import parse_lines

    stem = Path(name.split(" ", maxsplit=1)[0]).name
    header, *entries = parse_lines((samples_folder() / "pi" / stem).read_bytes()).objects
    counter = iter(range(1, len(entries) + 1))
    return tuple(migrate_to_current(header, entries, new_id=lambda: f"e{next(counter)}").entries)
