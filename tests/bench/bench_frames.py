"""How fast frames are drawn and how large they are, on 600,000 characters of a real session with gray tool output.

Goals: at `11on16-bw` and 1568 px at least 2.3 times the characters a second of the same raster with zlib at level 6,
at no more than 101 % of its bytes; 1.5 times more with two threads; normalising at least 20 million ASCII characters
a second; cancelling within 100 ms. Run it with `python -m tests.bench.bench_frames` or `make bench`.
"""

import asyncio
import json
import re
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from octavo.snapcompact.cells import set_page
from octavo.snapcompact.layout import paginate
from octavo.snapcompact.normalize import normalize, normalize_seed
from octavo.snapcompact.raster import rasterize
from octavo.snapcompact.render import render_page, render_text_async
from octavo.snapcompact.shapes import VARIANTS, Shape

SAMPLE = Path(__file__).parents[3] / "shared" / "samples" / "pi" / "before-compaction.jsonl"
CHARS = 600_000
ROUNDS = 5
RESULT_CHARS = 2000
SHAPES = ("11on16-bw", "8on22-bw", "8on16-bw", "8x13-bw", "6x12-dim", "8x8u-bw", "doc-8on16-sent-dim")


def best(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter, rounds: int = ROUNDS) -> float:
    """Seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def serialised_session() -> str:
    """Print the sample as an archive would, tool results cut to 2,000 characters and gray."""
    sections: list[str] = []
    for line in SAMPLE.read_text().splitlines():
        message = json.loads(line).get("message") or {}
        content = message.get("content") or []
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = "".join(block.get("text", "") for block in blocks if block.get("type") == "text")
        if message.get("role") == "toolResult":
            cut = (
                text if len(text) <= 2000 else f"{text[:1200]} [... {len(text) - 2000} chars elided ...] {text[-800:]}"
            )
            sections.append(f"[Tool Result]: \x0e{cut}\x0f")
            continue
        if text:
            sections.append(f"[{str(message.get('role')).title()}]: {text}")
        calls = [block for block in blocks if block.get("type") == "toolCall"]
        if calls:
            spelled = (f"{call['name']}({json.dumps(call.get('arguments'))[:500]})" for call in calls)
            sections.append(f"[Tool Call]: {'; '.join(spelled)}")
    whole = "\n\n".join(sections)
    return (whole * (CHARS // len(whole) + 1))[:CHARS]


def zlib_bytes(pages: list[str], shape: Shape) -> int:
    """Draw the same rasters and compress them with stdlib zlib at level 6; return the total bytes."""
    total = 0
    for page in pages:
        grid = set_page(page, shape, shape.frame_size, "octavo")
        raster = rasterize(grid, shape, shape.frame_size, slashed=True, octavo=True, check=lambda: None)
        total += len(zlib.compress(raster.scanlines.tobytes(), 6))
    return total


def measure(text: str, shape: Shape) -> None:
    """Print one shape's figures; processor time where one thread works, so that other processes do not count."""
    pages = paginate(text, shape)
    frames = [render_page(page, shape) for page in pages]
    ours = best(lambda: [render_page(page, shape) for page in pages], time.process_time)
    plain = best(lambda: zlib_bytes(pages, shape), time.process_time)
    alone, together = [], []
    with ThreadPoolExecutor(2) as pool:
        for _ in range(ROUNDS):
            alone.append(best(lambda: [render_page(page, shape) for page in pages], rounds=1))
            together.append(best(lambda: list(pool.map(lambda page: render_page(page, shape), pages)), rounds=1))
    size, plain_size = sum(len(frame.png) for frame in frames), zlib_bytes(pages, shape)
    print(
        f"{shape.name:20} {len(pages):3} frames  {len(text) / ours / 1e6:5.2f} M chars/s  "
        f"x{plain / ours:4.2f} of zlib 6  {size / plain_size:6.1%} of its bytes  "
        f"two threads x{min(alone) / min(together):4.2f}  {size / len(frames):8.0f} B/frame"
    )


async def cancel_latency_ms() -> float:
    """Milliseconds from cancelling a rendering of large frames to its return."""
    started = 0.0
    with anyio.CancelScope() as scope:

        def first(_done: int, _all: int) -> None:
            nonlocal started
            started = time.perf_counter()
            scope.cancel()

        await render_text_async("Some words. " * 400_000, VARIANTS["5x8-sent"], on_frame=first)
    return (time.perf_counter() - started) * 1000


def main() -> None:
    """Print the figures."""
    if not SAMPLE.is_file():
        print("skipped: the public transcripts are not beside the checkout")
        return
    text = serialised_session()
    ascii_text = re.sub(r"[^\x00-\x7f]", "?", text)
    for name, work in (("normalise", normalize), ("normalise, seed", normalize_seed)):
        for kind, given in (("ASCII", ascii_text), ("as it is", text)):
            seconds = best(partial(work, given), time.process_time)
            print(f"{name:16} {kind:9} {len(given) / seconds / 1e6:6.1f} M chars/s")
    shown = normalize(text)
    seconds = best(lambda: paginate(shown, VARIANTS["11on16-bw"]), time.process_time)
    print(f"paginate                   {len(shown) / seconds / 1e6:6.1f} M chars/s")
    for name in SHAPES:
        measure(shown, VARIANTS[name])
    print(f"cancel latency {asyncio.run(cancel_latency_ms()):.1f} ms")


if __name__ == "__main__":
    main()
