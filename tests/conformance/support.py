"""Find the vectors, load what they refer to, and hold the table of adapters."""

import importlib
import json
import os
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
COPIES = Path(__file__).parent / "vectors"
"""Synthetic vectors that are part of this repository."""


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
        return self.data.get("input")

    @property
    def expected(self) -> Any:
        return self.data["expected"]

    @property
    def is_later(self) -> bool:
        """Whether the vector shows a later version than the seed."""
        return self.name.startswith("later-") or "18.2.3" in str(self.data.get("upstream"))


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


def find_adapter(function: str) -> Adapter | None:
    """Return the adapter of a function, also when a vector spells its name a little differently.

    The name as it stands is looked for first; then without regard to case and spaces; then to brackets; then to what
    stands in brackets, if all that match it share one adapter.
    """
    if function in ADAPTERS:
        return ADAPTERS[function]
    for reduce in (_without_spaces, _without_brackets, _without_remarks):
        wanted = reduce(function)
        found = {compare for name, compare in ADAPTERS.items() if reduce(name) == wanted}
        if wanted and len(found) == 1:
            return found.pop()
    return None


def _without_spaces(function: str) -> str:
    return re.sub(r"\s+", "", function).lower()


def _without_brackets(function: str) -> str:
    return re.sub(r"[()\[\]]", "", _without_spaces(function))


def _without_remarks(function: str) -> str:
    return re.sub(r"\([^()]*\)", "", _without_spaces(function))


def vectors_folder() -> Path:
    """`OCTAVO_VECTORS`, else the vectors beside the checkout, else the synthetic copies in this folder."""
    if named := os.environ.get("OCTAVO_VECTORS"):
        return Path(named)
    beside = ROOT.parent / "shared" / "vectors"
    return beside if beside.is_dir() else COPIES


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
        data = json.loads(path.read_text("utf-8"))
        found.append(Vector(data.get("name", path.stem), data["function"], path, data))
    for path in sorted((vectors_folder() / "snapcompact").glob("*.json")):
        found.extend(_cases(path))
    return tuple(found)


def _cases(path: Path) -> Iterator[Vector]:
    data = json.loads(path.read_text("utf-8"))
    if isinstance(data, list):
        data = {"vectors": data}
    name, function = f"snapcompact-{path.stem}", f"snapcompact:{path.stem}"
    yield Vector(name, function, path, data)
    for section, cases in data.items():
        if isinstance(cases, list) and cases and all(isinstance(case, dict) for case in cases):
            for at, case in enumerate(cases):
                yield Vector(f"{name}-{section}-{at:03}", function, path, data, section, case)


def other_vector(stem: str) -> Vector:
    """The vector whose number another one refers to, such as `shake-01`, in the folder or among the copies."""
    if (found := next((other for other in collect() if other.name.startswith(f"{stem}-")), None)) is not None:
        return found
    copies = sorted((COPIES / "engine").glob(f"{stem}-*.json"))
    assert copies, f"no vector {stem}"
    data = json.loads(copies[0].read_text("utf-8"))
    return Vector(data["name"], data["function"], copies[0], data)


def referred(value: Any, key: str) -> Any:
    """Return the value, or the `key` of another vector's input when the value is words such as `same as ser-01`."""
    return other_vector(value.rsplit(" ", maxsplit=1)[-1]).input[key] if isinstance(value, str) else value


@cache
def fixture_entries(name: str) -> tuple[dict[str, Any], ...]:
    """The entries of a sample named like `fixtures/before-compaction.jsonl (sha256 …)`, migrated, ids `e<line>`.

    A test that needs a sample is skipped where there are none.
    """
    from octavo.sessions.migrate import migrate_to_current
    from octavo.sessions.reading import parse_lines

    path = samples_folder() / "pi" / Path(name.split(" ", maxsplit=1)[0]).name
    if not path.is_file():
        pytest.skip(f"the sample {path.name} is not here")
    header, *entries = parse_lines(path.read_bytes()).objects
    counter = iter(range(1, len(entries) + 1))
    return tuple(migrate_to_current(header, entries, new_id=lambda: f"e{next(counter)}").entries)
