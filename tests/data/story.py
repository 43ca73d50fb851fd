"""The week on tidewatch, as tasks: what was asked, what was tried, what came back.

Words and listings only; `build_example.py` gives them ids, times and usage.
"""

from dataclasses import dataclass, field
from typing import Any

from bulk import stations


@dataclass(frozen=True)
class Step:
    """One tool call and what it answered (`read` and `edit` take their output from the files)."""

    say: str
    tool: str
    arguments: dict[str, Any]
    output: str = ""
    error: bool = False


@dataclass(frozen=True)
class Task:
    """One user turn: the request, the steps, the closing words."""

    ask: str
    steps: tuple[Step, ...]
    answer: str


@dataclass(frozen=True)
class Branch:
    """Tasks that were tried and left behind, and the summary of what was learned."""

    tasks: tuple[Task, ...]
    summary: str
    details: dict[str, list[str]]


@dataclass(frozen=True)
class Day:
    """A day of work, bookmarked with a label at its end."""

    label: str
    items: tuple[Task | Branch, ...] = field(default=())


def bash(say: str, command: str, output: str, *, error: bool = False) -> Step:
    """A shell command and its output."""
    return Step(say, "bash", {"command": command}, output, error)


def read(say: str, path: str) -> Step:
    """A file, as it is at that moment of the story."""
    return Step(say, "read", {"path": path})


def edit(say: str, path: str, old: str, new: str) -> Step:
    """A replacement in a file; it must apply, or the story is wrong."""
    return Step(say, "edit", {"path": path, "oldText": old, "newText": new}, f"Replaced 1 occurrence in {path}")


def write(say: str, path: str, content: str) -> Step:
    """A new file."""
    return Step(say, "write", {"path": path, "content": content}, f"Wrote {len(content.splitlines())} lines to {path}")


def search(say: str, pattern: str, output: str) -> Step:
    """A search over the project."""
    return Step(say, "grep", {"pattern": pattern, "path": "."}, output)


def passed(count: int, seconds: float, *, warnings: int = 0) -> str:
    """What the test runner prints when all is well."""
    extra = f", {warnings} warnings" if warnings else ""
    return f"{'.' * min(count, 72)}\n{count} passed{extra} in {seconds:.2f}s"


STATIONS = """\
# id;name;lat;lon;datum_m;timezone;source
CUX;Cuxhaven;53.8678;8.7175;-5.00;Europe/Berlin;bsh
HEL;Helgoland;54.1789;7.8900;-4.98;Europe/Berlin;bsh
BRE;Brest;48.3829;-4.4949;-4.13;Europe/Paris;shom
OSA;大阪;34.6500;135.4333;-1.62;Asia/Tokyo;jma
KOB;神戸;34.6833;135.1833;-1.57;Asia/Tokyo;jma
TOK;東京;35.6500;139.7667;-1.88;Asia/Tokyo;jma
"""

PARSER = '''\
"""Read harmonic constants from the text files that the hydrographic offices publish."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

LINE = re.compile(r"^(?P<name>[A-Z0-9]+)\\s+(?P<amplitude>[\\d.]+)\\s+(?P<phase>[\\d.]+)$")


@dataclass(frozen=True)
class Constituent:
    """One tidal constituent: amplitude in metres, phase in degrees."""

    name: str
    amplitude: float
    phase: float


class ParseError(ValueError):
    """A line that is neither a comment nor a constituent."""


def parse(text: str) -> list[Constituent]:
    """Parse a whole file; comments start with '#'."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        match = LINE.match(line)
        if match is None:
            raise ParseError(f"line {number}: {line!r}")
        found.append(Constituent(match["name"], float(match["amplitude"]), float(match["phase"])))
    return found


def load(path: Path) -> list[Constituent]:
    """Read one station's constants."""
    return parse(path.read_text())
'''

HARMONIC = '''\
"""Predict water levels from harmonic constants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from tidewatch.constants import SPEEDS
from tidewatch.parser import Constituent

EPOCH = datetime(2000, 1, 1)


def level(constituents: Iterable[Constituent], at: datetime, datum: float) -> float:
    """Water level in metres above the station datum at one moment."""
    hours = (at - EPOCH).total_seconds() / 3600
    total = 0.0
    for part in constituents:
        angle = math.radians(SPEEDS[part.name] * hours - part.phase)
        total += part.amplitude * math.cos(angle)
    return total - datum


def series(constituents: list[Constituent], start: datetime, hours: int, datum: float) -> Iterator[tuple[datetime, float]]:
    """Levels every ten minutes."""
    for step in range(hours * 6):
        at = start + timedelta(minutes=10 * step)
        yield at, level(constituents, at, datum)


def extremes(points: list[tuple[datetime, float]]) -> list[tuple[str, datetime, float]]:
    """High and low waters: the turning points of a series."""
    found = []
    for (_, before), (at, here), (_, after) in zip(points, points[1:], points[2:]):
        if before < here >= after:
            found.append(("high", at, here))
        elif before > here <= after:
            found.append(("low", at, here))
    return found
'''

CONSTANTS = '''\
"""Angular speeds of the constituents in degrees per hour (IHO list, 2017)."""

SPEEDS = {
    "M2": 28.9841042,
    "S2": 30.0,
    "N2": 28.4397295,
    "K2": 30.0821373,
    "K1": 15.0410686,
    "O1": 13.9430356,
    "P1": 14.9589314,
    "Q1": 13.3986609,
    "M4": 57.9682084,
    "MS4": 58.9841042,
    "MF": 1.0980331,
    "SA": 0.0410686,
    "SSA": 0.0821373,
}
'''

API = '''\
"""The HTTP face of tidewatch."""

from __future__ import annotations

from datetime import datetime

from fastapi import FastAPI, HTTPException

from tidewatch.harmonic import extremes, series
from tidewatch.stations import STATIONS

app = FastAPI(title="tidewatch")
CACHE: dict[tuple[str, str, int], list] = {}


@app.get("/stations")
def stations() -> list[dict]:
    """Every station we know."""
    return [station.public() for station in STATIONS.values()]


@app.get("/forecast/{station_id}")
def forecast(station_id: str, start: datetime, hours: int = 48) -> dict:
    """Levels and turning points for one station."""
    station = STATIONS.get(station_id)
    if station is None:
        raise HTTPException(404, f"unknown station {station_id}")
    key = (station_id, start.isoformat(), hours)
    if key not in CACHE:
        CACHE[key] = list(series(station.constituents, start, hours, station.datum))
    points = CACHE[key]
    return {
        "station": station_id,
        "points": [(at.isoformat(), round(value, 3)) for at, value in points],
        "extremes": [(kind, at.isoformat(), round(value, 2)) for kind, at, value in extremes(points)],
    }
'''

STATION_CODE = '''\
"""The stations file, loaded once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tidewatch.parser import Constituent, load

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Station:
    """Where a gauge stands and how it answers."""

    id: str
    name: str
    lat: float
    lon: float
    datum: float
    timezone: str
    constituents: list[Constituent]

    def public(self) -> dict:
        """What the API shows."""
        return {"id": self.id, "name": self.name, "lat": self.lat, "lon": self.lon, "timezone": self.timezone}


def read_stations() -> dict[str, Station]:
    """Read data/stations.csv and the constants beside it."""
    found = {}
    for line in (DATA / "stations.csv").read_text().splitlines():
        if line.startswith("#"):
            continue
        ident, name, lat, lon, datum, zone, _source = line.split(";")
        constants = load(DATA / f"{ident}.har")
        found[ident] = Station(ident, name, float(lat), float(lon), float(datum), zone, constants)
    return found


STATIONS = read_stations()
'''

CHART = """\
import { scaleLinear, scaleTime } from "./scales";

export interface Point { at: string; level: number }

const PAD = { top: 12, right: 8, bottom: 24, left: 40 };

/** Draw the level curve into a canvas; levels are metres above datum. */
export function drawChart(canvas: HTMLCanvasElement, points: Point[], now: Date): void {
  const ctx = canvas.getContext("2d");
  if (!ctx) return;
  const width = canvas.width - PAD.left - PAD.right;
  const height = canvas.height - PAD.top - PAD.bottom;
  const x = scaleTime(points.map((p) => new Date(p.at)), [PAD.left, PAD.left + width]);
  const y = scaleLinear(points.map((p) => p.level), [PAD.top + height, PAD.top]);
  ctx.clearRect(0, 0, canvas.width, canvas.height);
  ctx.beginPath();
  points.forEach((p, i) => {
    const px = x(new Date(p.at));
    const py = y(p.level);
    if (i === 0) ctx.moveTo(px, py);
    else ctx.lineTo(px, py);
  });
  ctx.stroke();
  const nowX = x(now);
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(nowX, PAD.top);
  ctx.lineTo(nowX, PAD.top + height);
  ctx.stroke();
  ctx.setLineDash([]);
}
"""

TESTS = """\
from datetime import datetime

import pytest

from tidewatch.harmonic import extremes, level, series
from tidewatch.parser import Constituent, ParseError, parse

M2 = Constituent("M2", 1.34, 23.0)
S2 = Constituent("S2", 0.35, 75.0)


def test_parse_reads_three_columns():
    assert parse("M2 1.340 23.0\\n# comment\\n\\nS2 0.35 75") == [M2, S2]


def test_parse_names_the_bad_line():
    with pytest.raises(ParseError, match="line 2"):
        parse("M2 1.34 23\\nnot a constituent")


def test_level_is_periodic_in_m2():
    start = datetime(2026, 3, 1)
    points = list(series([M2], start, 25, 0.0))
    highs = [at for kind, at, _ in extremes(points) if kind == "high"]
    assert len(highs) == 2


def test_spring_tide_is_higher_than_neap():
    spring = max(v for _, v in series([M2, S2], datetime(2026, 3, 4), 24, 0.0))
    neap = max(v for _, v in series([M2, S2], datetime(2026, 3, 11), 24, 0.0))
    assert spring > neap
"""

FILES = {
    "tidewatch/data/stations.csv": stations(STATIONS),
    "tidewatch/parser.py": PARSER,
    "tidewatch/harmonic.py": HARMONIC,
    "tidewatch/constants.py": CONSTANTS,
    "tidewatch/api.py": API,
    "tidewatch/stations.py": STATION_CODE,
    "web/chart.ts": CHART,
    "tests/test_harmonic.py": TESTS,
}
