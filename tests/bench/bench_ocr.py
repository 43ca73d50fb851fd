"""How many characters an independent reader gets right: Tesseract on frames of the default shapes, enlarged.

This records a figure and sets no goal. Tesseract knows nothing of solid newline cells, so they are painted white
before it reads, and white space does not count. Run it with `python -m tests.bench.bench_ocr`.
"""

import difflib
import io
import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

from octavo.snapcompact.layout import paginate
from octavo.snapcompact.marks import CUT_OUT, NEWLINE
from octavo.snapcompact.render import render_page
from octavo.snapcompact.shapes import VARIANTS, Shape

SHAPES = ("11on16-bw", "8on22-bw", "8on16-bw", "8x13-bw", "6x12-dim")
SIZE = 800
SCALE = 4
TEXT = (
    "The session store keeps one writer per file. A second process may read it at any time, but it must not write. "
    "When the daemon starts it repairs what a crash left behind: a torn last line is set aside, never thrown away. "
    "def load(path: str, limit: int = 200) -> list[dict]: rows = [parse(x) for x in open(path)]; return rows[:limit] "
    "The test run took 41 seconds and 318 tests passed; two were skipped because the network was not there. "
    "Error: connection to 10.0.3.17:5432 refused, retry 3 of 5 in 800 ms. See docs/operations.md, section 7. "
) * 3


def read(png: bytes, shape: Shape) -> str:
    """Let Tesseract read one frame line by line."""
    with Image.open(io.BytesIO(png)) as frame:
        large = frame.convert("L").resize((frame.width * SCALE, frame.height * SCALE), Image.Resampling.LANCZOS)
    pitch = shape.cell_height * SCALE
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for row in range(large.height // pitch):
            strip = Image.new("L", (large.width + 2 * pitch, 2 * pitch), 255)
            strip.paste(large.crop((0, row * pitch, large.width, (row + 1) * pitch)), (pitch, pitch // 2))
            picture = Path(folder) / f"{row}.png"
            strip.save(picture)
            command = ["tesseract", str(picture), "stdout", "--psm", "7", "-l", "eng"]
            lines.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    return "".join(lines)


def accuracy(seen: str, written: str) -> float:
    """Share of the written characters, white space aside, that were read in their place."""
    left, right = "".join(seen.split()), "".join(written.split())
    blocks = difflib.SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(right)


def main() -> None:
    """Print the figures."""
    if shutil.which("tesseract") is None:
        print("skipped: tesseract is not installed (Debian: tesseract-ocr)")
        return
    for name in SHAPES:
        shape = VARIANTS[name]
        page = paginate(TEXT, shape, SIZE)[0]
        assert not set(page) & set(NEWLINE + CUT_OUT)
        seen = read(render_page(page, shape, frame_size=SIZE).png, shape)
        print(f"{name:12} {accuracy(seen, page):6.1%} of {len(page)} characters")


if __name__ == "__main__":
    main()
