#!/usr/bin/env python3
"""Build the packed glyph tables of this folder from the packages that ship the fonts.

    apt-get download xfonts-base xfonts-efont-unicode && for deb in *.deb; do dpkg-deb -x "$deb" debs; done
    pip install numpy unscii
    python fonts/build.py debs

A table is LZMA-compressed: the header `<4sHHI` (magic OCTF, cell width and height in px, number of glyphs), the code
points in ascending order as uint32, then every glyph's rows, each padded to whole bytes, most significant bit left.
"""

import gzip
import lzma
import struct
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
Bitmap = NDArray[np.bool_]
Glyphs = dict[int, Bitmap]

METRICS, BITMAPS, ENCODINGS = 1 << 2, 1 << 3, 1 << 5
COMPRESSED_METRICS, MSB_BYTES, MSB_BITS = 0x100, 1 << 2, 1 << 3


@dataclass(frozen=True, slots=True)
class Metric:
    """Bearings, advance and extents of a glyph, in px."""

    left: int
    right: int
    advance: int
    ascent: int
    descent: int


class Pcf:
    """One X.org Portable Compiled Format font, gzip-compressed."""

    def __init__(self, path: Path) -> None:
        self.data = gzip.decompress(path.read_bytes())
        (count,) = struct.unpack_from("<I", self.data, 4)
        rows = [struct.unpack_from("<4I", self.data, 8 + 16 * at) for at in range(count)]
        self.offsets = {kind: offset for kind, _, _, offset in rows}

    def _open(self, kind: int) -> tuple[int, int, str]:
        offset = self.offsets[kind]
        (form,) = struct.unpack_from("<I", self.data, offset)
        return offset + 4, form, ">" if form & MSB_BYTES else "<"

    def metrics(self) -> list[Metric]:
        """Metrics of every glyph, by glyph index."""
        at, form, order = self._open(METRICS)
        if form & COMPRESSED_METRICS:
            (count,) = struct.unpack_from(f"{order}H", self.data, at)
            raw = struct.iter_unpack("5B", self.data[at + 2 : at + 2 + 5 * count])
            return [Metric(*(value - 0x80 for value in row)) for row in raw]
        (count,) = struct.unpack_from(f"{order}I", self.data, at)
        raw = struct.iter_unpack(f"{order}5hH", self.data[at + 4 : at + 4 + 12 * count])
        return [Metric(*row[:5]) for row in raw]

    def encoding(self) -> dict[int, int]:
        """Code point to glyph index."""
        at, _, order = self._open(ENCODINGS)
        low, high, first, last, _default = struct.unpack_from(f"{order}5H", self.data, at)
        per_row = high - low + 1
        indices = struct.unpack_from(f"{order}{per_row * (last - first + 1)}H", self.data, at + 10)
        pairs = ((((row // per_row + first) << 8) | (row % per_row + low), glyph) for row, glyph in enumerate(indices))
        return {code: glyph for code, glyph in pairs if glyph != 0xFFFF}

    def ink(self, metrics: list[Metric]) -> Iterator[Bitmap]:
        """Ink boxes of every glyph, by glyph index."""
        at, form, order = self._open(BITMAPS)
        (count,) = struct.unpack_from(f"{order}I", self.data, at)
        starts = struct.unpack_from(f"{order}{count}I", self.data, at + 4)
        data = self.data[at + 4 + 4 * count + 16 :]
        padding = 1 << (form & 3)
        for start, metric in zip(starts, metrics, strict=True):
            height, width = metric.ascent + metric.descent, metric.right - metric.left
            stride = -(-max(width, 1) // (8 * padding)) * padding
            rows = np.frombuffer(data, np.uint8, stride * height, start).reshape(height, stride)
            bits = np.unpackbits(rows, axis=1, bitorder="big" if form & MSB_BITS else "little")
            yield bits[:, :width].astype(bool)


def pcf_glyphs(path: Path, cell: tuple[int, int], ascent: int, *, advance: int | None = None) -> Glyphs:
    """Draw the glyphs of a font into cells of `cell` px, baseline `ascent` px below the top; clip at the cell."""
    font = Pcf(path)
    metrics = font.metrics()
    ink = list(font.ink(metrics))
    glyphs = {}
    for code, index in font.encoding().items():
        metric = metrics[index]
        if code >= 0x20 and not 0x7F <= code < 0xA0 and advance in (None, metric.advance):
            glyphs[code] = place(ink[index], cell, metric.left, ascent - metric.ascent)
    return glyphs


def place(ink: Bitmap, cell: tuple[int, int], x: int, y: int) -> Bitmap:
    """Copy an ink box into a blank cell at (x, y), clipped."""
    width, height = cell
    out = np.zeros((height, width), bool)
    rows = slice(max(0, y), max(0, min(height, y + ink.shape[0])))
    cols = slice(max(0, x), max(0, min(width, x + ink.shape[1])))
    out[rows, cols] = ink[rows.start - y : rows.stop - y, cols.start - x : cols.stop - x]
    return out


def shrink(glyphs: Glyphs, cell: tuple[int, int]) -> Glyphs:
    """Resample glyphs of one size into smaller cells by area, ink where at least two fifths of a pixel is covered."""
    width, height = cell
    rows, cols = next(iter(glyphs.values())).shape
    down, across = area_weights(rows, height), area_weights(cols, width)
    return {code: down @ ink.astype(np.float32) @ across.T >= 0.4 for code, ink in glyphs.items()}


def area_weights(source: int, target: int) -> NDArray[np.float32]:
    """Weights that average `source` samples into `target` by the area they share."""
    edges = np.arange(target + 1) * source / target
    pixels = np.arange(source)
    low, high = np.maximum(edges[:-1, None], pixels), np.minimum(edges[1:, None], pixels + 1)
    return (np.clip(high - low, 0, None) * target / source).astype(np.float32)


def unscii_glyphs() -> Glyphs:
    """Read UNSCII 8 from the PyPI package."""
    from unscii.raw_unscii.unscii_8 import unscii_8_bytes  # noqa: PLC0415 - one function needs it

    rows = {code: np.array(glyph, np.uint8)[:, None] for code, glyph in unscii_8_bytes.items()}
    return {code: np.unpackbits(glyph, axis=1).astype(bool) for code, glyph in rows.items() if is_text(code)}


def is_text(code: int) -> bool:
    """Whether a code point can occur in normalised text: no control, no private use."""
    return unicodedata.category(chr(code)) not in {"Cc", "Cs", "Co", "Cn"}


def save(name: str, glyphs: Glyphs) -> None:
    """Write one packed table."""
    codes = sorted(glyphs)
    height, width = glyphs[codes[0]].shape
    rows = np.packbits(np.stack([glyphs[code] for code in codes]), axis=2)
    raw = struct.pack("<4sHHI", b"OCTF", width, height, len(codes)) + np.array(codes, "<u4").tobytes() + rows.tobytes()
    packed = lzma.compress(raw, preset=9 | lzma.PRESET_EXTREME)
    (HERE / f"{name}.octf").write_bytes(packed)
    print(f"{name}: {len(codes)} glyphs of {width}x{height} px, {len(packed)} bytes")


def only_text(glyphs: Glyphs) -> Glyphs:
    """Keep code points that can occur, and of those no blank glyph that stands for a visible character."""
    return {code: ink for code, ink in glyphs.items() if is_text(code) and (ink.any() or code in (0x20, 0xA0, 0x2800))}


def main() -> None:
    """Build every table from the folder that holds the unpacked Debian packages."""
    misc = Path(sys.argv[1]) / "usr/share/fonts/X11/misc"
    native = {
        "5x8": only_text(pcf_glyphs(misc / "5x8.pcf.gz", (5, 8), 7)),
        "6x12": only_text(pcf_glyphs(misc / "6x12.pcf.gz", (6, 12), 10)),
        "8x13": only_text(pcf_glyphs(misc / "8x13.pcf.gz", (8, 13), 11)),
        "8x8": unscii_glyphs(),
    }
    tall = only_text(pcf_glyphs(misc / "h16.pcf.gz", (8, 16), 14))
    arabic_9x15 = shrink(only_text(pcf_glyphs(misc / "9x15.pcf.gz", (9, 16), 13)), (8, 16))
    arabic_10x20 = shrink(only_text(pcf_glyphs(misc / "10x20.pcf.gz", (10, 20), 16)), (8, 16))
    known = set().union(*native.values())
    others = {**arabic_10x20, **arabic_9x15, **tall}
    large = set(native["8x13"]) | set(native["6x12"])
    fallback = {code: ink for code, ink in others.items() if code not in large and ink.any()}
    wide = {
        size: only_text(pcf_glyphs(misc / f"f{size}.pcf.gz", (size, size), ascent, advance=size))
        for size, ascent in ((10, 8), (12, 10), (14, 12), (16, 14))
    }
    full_width = {code for code in set().union(*wide.values()) if unicodedata.east_asian_width(chr(code)) in "WF"}
    narrow = (known | set(fallback)) - full_width
    for name, glyphs in native.items():
        save(
            f"misc-fixed-{name}" if name != "8x8" else "unscii-8", {c: ink for c, ink in glyphs.items() if c in narrow}
        )
    save("narrow-8x16", {code: ink for code, ink in fallback.items() if code in narrow})
    for size in (10, 12, 16):
        save(f"wide-{size}", {code: ink for code, ink in wide[size].items() if code not in narrow})
    covered = set(wide[10]) & set(wide[12]) & set(wide[16])
    save("wide-14", {code: ink for code, ink in wide[14].items() if code not in narrow and code not in covered})


if __name__ == "__main__":
    main()
