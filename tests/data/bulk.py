"""The long outputs of the week: what a terminal prints when nobody says `| head`. Deterministic arithmetic, no clock."""

import json
import math

PORTS = [
    "Aalborg",
    "Aberdeen",
    "Ålesund",
    "Antifer",
    "Arcachon",
    "Avonmouth",
    "Barmouth",
    "Belfast",
    "Bergen",
    "Bodø",
    "Bordeaux",
    "Boulogne",
    "Brouwershavn",
    "Calais",
    "Cherbourg",
    "Cobh",
    "Concarneau",
    "Cromer",
    "Dagebüll",
    "Den-Helder",
    "Devonport",
    "Dieppe",
    "Douglas",
    "Dover",
    "Dublin",
    "Dunkerque",
    "Emden",
    "Esbjerg",
    "Felixstowe",
    "Fishguard",
    "Galway",
    "Gijón",
    "Greenock",
    "Heimsjø",
    "Hendaye",
    "Heysham",
    "Hinkley",
    "Holyhead",
    "Honningsvåg",
    "Husum",
    "Ilfracombe",
    "Immingham",
    "Jersey",
    "Kinlochbervie",
    "Kristiansund",
    "Lagos",
    "Leith",
    "Lerwick",
    "Leixões",
    "Liverpool",
    "Lowestoft",
    "Millport",
    "Mumbles",
    "Narvik",
    "Newhaven",
    "Newlyn",
    "Norderney",
    "Oban",
    "Ostende",
    "Penzance",
    "Plymouth",
    "Portrush",
    "Roscoff",
    "Saint-Malo",
    "Santander",
    "Setúbal",
    "Sheerness",
    "Southend",
    "Stavanger",
    "Stornoway",
    "Terschelling",
    "Tórshavn",
    "Tromsø",
    "Ullapool",
    "Vardø",
    "Vigo",
    "Vlissingen",
    "Weymouth",
]


def level(hour: float, *, shift: float = 0.0) -> float:
    """A made-up tide: four waves with the right periods."""
    waves = ((0.312, 12.42, 0.4), (0.166, 12.0, 1.1), (0.256, 23.93, 2.3), (0.197, 25.82, 0.7))
    return sum(a * math.cos(2 * math.pi * hour / period - phase - shift) for a, period, phase in waves)


def dump(hours: int, *, step: int = 10, shift: float = 0.0) -> str:
    """What `tidewatch.dump` prints: a line every ten minutes."""
    lines = []
    for minute in range(0, hours * 60, step):
        day, rest = divmod(minute, 1440)
        stamp = f"2026-03-{2 + day:02d}T{rest // 60:02d}:{rest % 60:02d}:00"
        lines.append(f"{stamp}  {level(minute / 60, shift=shift):+.3f}")
    return "\n".join(lines)


def forecast(points: int) -> str:
    """The answer of the forecast endpoint, as curl shows it."""
    series = [
        [f"2026-03-{5 + n // 144:02d}T{n % 144 // 6:02d}:{n % 6 * 10:02d}:00", round(level(n / 6), 3)]
        for n in range(points)
    ]
    return json.dumps({"station": "OSA", "points": series, "extremes": [["high", series[44][0], 1.38]]})


def stations(first: str) -> str:
    """The stations file: what is known of each port, after the lines that matter to the story."""
    rows = [
        f"X{n:02d};{name};{50 + n * 0.173:.4f};{-9 + n * 0.211:.4f};{-1.2 - n * 0.043:.2f};Europe/Paris;shom"
        for n, name in enumerate(PORTS)
    ]
    return first + "\n".join(rows) + "\n"


def comparison(stations_: tuple[str, ...], days: int) -> str:
    """What `tools/compare.py` prints: a line for every station and day."""
    lines = []
    for number, station in enumerate(stations_):
        for day in range(days):
            worst = abs(math.sin(number * 7 + day)) * 4.4e-13
            lines.append(f"{station}  2026-03-{2 + day:02d}  144 points  largest difference {worst:.1e} m  ok")
    return "\n".join(lines)


def office_table(days: int) -> str:
    """A month of the office's tide table."""
    lines = []
    for day in range(days):
        hours = [(day * 24 + 50 * n / 8) for n in range(4)]
        cells = "  ".join(f"{int(h) % 24:02d}:{int(h * 60) % 60:02d} {90 + level(h) * 100:4.0f}cm" for h in hours)
        lines.append(f"2026-03-{1 + day:02d}  大阪  {cells}")
    return "\n".join(lines)


def build_log(steps: int) -> str:
    """An image build that says everything it does."""
    packages = (
        "anyio",
        "click",
        "fastapi",
        "h11",
        "httpcore",
        "httpx",
        "idna",
        "numpy",
        "pydantic",
        "starlette",
        "uvicorn",
    )
    lines = ["STEP 1/7: FROM python:3.11-slim AS build", "STEP 2/7: COPY . /src", "--> 5f0d1c22"]
    for number in range(steps):
        name = packages[number % len(packages)]
        lines.append(f"Collecting {name}>={number % 9}.{number % 7}")
        lines.append(
            f"  Using cached {name}-{number % 9}.{number % 7}.{number % 5}-py3-none-any.whl ({37 + number * 3} kB)"
        )
    return "\n".join([*lines, "STEP 7/7: CMD", "COMMIT tidewatch", "8f0c6b1d"])


def fortran(lines: int) -> str:
    """The beginning of the institute's predictor, in capitals and columns."""
    out = ["C     PREDICTOR OF TIDES, VERSION OF 1973", "      PROGRAM PRED", "      DIMENSION A(60), P(60), S(60)"]
    for number in range(lines):
        label = 100 + number * 10
        out.append(f"  {label:4d} H = H + A({number % 60 + 1}) * COS(S({number % 60 + 1}) * T - P({number % 60 + 1}))")
        if number % 7 == 3:
            out.append(f"      IF (IYR.LT.74) GO TO {label + 10}")
    return "\n".join([*out, "      STOP", "      END"])


def profile(rows: int) -> str:
    """A long profile."""
    head = "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)"
    names = (
        "harmonic.py:17(level)",
        "{built-in method math.cos}",
        "{built-in method math.radians}",
        "api.py:31(forecast)",
    )
    body = [
        f"{5760 // (n + 1):9d} {0.212 / (n + 1):8.3f} {0.001:8.3f} {0.389 / (n + 1):8.3f} {0.001:8.3f} {names[n % 4]}"
        for n in range(rows)
    ]
    return "\n".join(["         141,913 function calls in 0.401 seconds", head, *body])
