"""Write PNG files by hand (snapcompact.md §6): IHDR, PLTE, IDAT, IEND and nothing else.

Small images are compressed by libdeflate, which is several times faster than zlib at the same size; large ones in
pieces by zlib, so that a cancelled rendering stops soon.
"""

import struct
import zlib
from collections.abc import Callable, Iterable, Sequence

import deflate
import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_INDEXED, _TRUECOLOR = 3, 2
_LEVEL = 6
_WHOLE_BYTES = 4 << 20
_PIECE_BYTES = 1 << 20

Check = Callable[[], None]
"""Called between pieces of work; raises to stop it."""


def indexed_png(
    scanlines: NDArray[np.uint8], width: int, depth: int, palette: Sequence[tuple[int, int, int]], check: Check
) -> bytes:
    """Encode palette indices.

    Args:
        scanlines: (height, 1 + bytes per row): the filter byte 0, then packed indices.
        width: Pixels a row.
        depth: Bits a pixel: 1, 2 or 4.
        palette: RGB of every index.
        check: Called between pieces of a large image.
    """
    colours = bytes(value for colour in palette for value in colour)
    header = _header(width, len(scanlines), depth, _INDEXED)
    return _file(header, (b"PLTE", colours), (b"IDAT", _compress(scanlines, check)))


def truecolor_png(bands: Iterable[NDArray[np.uint8]], width: int, height: int, check: Check) -> bytes:
    """Encode RGB bands of shape (rows, width, 3), each row with the filter that leaves the smallest residue.

    One band and its residues are held at a time.
    """
    stream = zlib.compressobj(_LEVEL)
    parts = []
    above = np.zeros((1, width * 3), np.uint8)
    for band in bands:
        rows = band.reshape(len(band), width * 3)
        check()
        parts.append(stream.compress(_filtered(rows, above)))
        above = rows[-1:]
    parts.append(stream.flush())
    return _file(_header(width, height, 8, _TRUECOLOR), (b"IDAT", b"".join(parts)))


def _header(width: int, height: int, depth: int, colour_type: int) -> tuple[bytes, bytes]:
    return b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)


def _file(*chunks: tuple[bytes, bytes]) -> bytes:
    parts = [_SIGNATURE]
    for kind, body in (*chunks, (b"IEND", b"")):
        parts += (struct.pack(">I", len(body)), kind, body, struct.pack(">I", zlib.crc32(body, zlib.crc32(kind))))
    return b"".join(parts)


def _compress(scanlines: NDArray[np.uint8], check: Check) -> bytes:
    raw = np.ascontiguousarray(scanlines).reshape(-1).data
    if len(raw) <= _WHOLE_BYTES:
        return bytes(deflate.zlib_compress(raw, _LEVEL))
    stream = zlib.compressobj(_LEVEL)
    parts = []
    for at in range(0, len(raw), _PIECE_BYTES):
        check()
        parts.append(stream.compress(raw[at : at + _PIECE_BYTES]))
    parts.append(stream.flush())
    return b"".join(parts)


def _filtered(rows: NDArray[np.uint8], previous: NDArray[np.uint8]) -> bytes:
    """Filter every row by Sub, Up, Average or Paeth or not at all, whichever has the least sum of absolute bytes."""
    current = rows.astype(np.int16)
    above = np.concatenate((previous, rows[:-1])).astype(np.int16)
    left, corner = np.zeros_like(current), np.zeros_like(current)
    left[:, 3:], corner[:, 3:] = current[:, :-3], above[:, :-3]
    guesses = (np.zeros_like(current), left, above, (left + above) // 2, _paeth(left, above, corner))
    out = np.zeros((len(rows), 1 + rows.shape[1]), np.uint8)
    least = np.full(len(rows), np.iinfo(np.int64).max)
    for kind, guess in enumerate(guesses):
        residue = (current - guess).astype(np.uint8)
        cost = np.abs(residue.view(np.int8).astype(np.int16)).sum(axis=1, dtype=np.int64)
        better = cost < least
        out[better, 0], out[better, 1:], least[better] = kind, residue[better], cost[better]
    return out.tobytes()


def _paeth(left: NDArray[np.int16], above: NDArray[np.int16], corner: NDArray[np.int16]) -> NDArray[np.int16]:
    near_left, near_above = np.abs(above - corner), np.abs(left - corner)
    near_corner = np.abs(left + above - 2 * corner)
    choose_left = (near_left <= near_above) & (near_left <= near_corner)
    return np.where(choose_left, left, np.where(near_above <= near_corner, above, corner))
