"""Draw a text as frames: one PNG each, a contact sheet to look at, and the sentences that explain them to a model.

Prints what the frames cost and what the same text costs as text.
"""

import argparse
import re
import sys
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path

from octavo.cli import daemon_child
from octavo.cli.daemon_child import CommandError
from octavo.cli.pictures import Picture, write_contact_sheet, write_pictures
from octavo.cli.progress_line import ProgressLine
from octavo.cli.terminal import Terminal, clean, count, pad, print_json, size, standard_output
from octavo_client import UNSET
from octavo_protocol.base import JsonObject
from octavo_protocol.methods.snapcompact import EstimateResult, RenderResult

SHEET = "contact-sheet.png"
GUIDE = "guide.md"
_NUMBERED = re.compile(r"\d{2,}\.png")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `octavo render`."""
    parser.add_argument("file", metavar="FILE", help="text file, or - for stdin")
    parser.add_argument("--model", metavar="PROVIDER/ID", help="model that will read the frames")
    parser.add_argument("--shape", metavar="NAME", help="shape (default: the one the model reads best)")
    parser.add_argument("--out", metavar="DIR", help="folder of the pictures (default: NAME-frames right here)")
    parser.add_argument("--frame-size", type=int, metavar="PX", help="width of a frame instead of the shape's")
    parser.add_argument("--max-frames", type=int, metavar="N", help="stop after so many frames")
    parser.add_argument("--layout", choices=("octavo", "seed"), help="normalisation and paging")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Draw the text."""
    return daemon_child.run("render", lambda: _render(arguments, *_read(arguments)))


def _read(arguments: argparse.Namespace) -> tuple[str, Path]:
    """The text and the folder its frames go to.

    Raises:
        CommandError: the file is no text.
        OSError: it cannot be read.
    """
    if arguments.file == "-":
        data, name = sys.stdin.buffer.read(), "stdin"
    else:
        data, name = Path(arguments.file).read_bytes(), Path(arguments.file).stem
    if b"\0" in data[:8192]:
        raise CommandError(f"{arguments.file} holds NUL bytes, so it is not text.")
    out = Path(arguments.out) if arguments.out is not None else Path(f"{name}-frames")
    return data.decode("utf-8-sig", "replace"), out


async def _render(arguments: argparse.Namespace, text: str, out: Path) -> int:
    choice: JsonObject = {
        "model": arguments.model or UNSET,
        "shape": arguments.shape or UNSET,
        "frame_size": UNSET if arguments.frame_size is None else arguments.frame_size,
        "layout": arguments.layout or UNSET,
    }
    async with daemon_child.daemon(name="render") as client:
        with ProgressLine(sys.stderr) as progress:
            drawn = await client.snapcompact_render(
                **choice,
                text=text,
                max_frames=UNSET if arguments.max_frames is None else arguments.max_frames,
                on_progress=progress.show,
            )
        estimate = await client.snapcompact_estimate(**choice, text=text)
    if not drawn.frames:
        raise CommandError(f"{arguments.file} holds nothing that could be drawn.")
    pictures = _pictures(drawn)
    paths = [*write_pictures(pictures, out), out / SHEET]
    write_contact_sheet(pictures, out / SHEET)
    (out / GUIDE).write_text(f"{drawn.guide}\n", "utf-8")
    if arguments.json:
        print_json(_document(drawn, estimate, pictures, paths))
        return 0
    _tell(arguments, drawn, estimate, pictures, paths)
    return 0


def _pictures(drawn: RenderResult) -> list[Picture]:
    return [
        Picture(b64decode(frame.data), f"{number}  {frame.chars:,} chars  {frame.tokens:,} tokens")
        for number, frame in enumerate(drawn.frames, 1)
    ]


def _document(
    drawn: RenderResult, estimate: EstimateResult, pictures: Sequence[Picture], paths: Sequence[Path]
) -> JsonObject:
    document = drawn.to_wire()
    for frame, picture, path in zip(document["frames"], pictures, paths[:-1], strict=True):
        del frame["data"]
        frame |= {"path": str(path), "bytes": len(picture.png)}
    return document | {"contactSheet": str(paths[-1]), "chars": estimate.chars, "cells": estimate.cells}


def _tell(
    arguments: argparse.Namespace,
    drawn: RenderResult,
    estimate: EstimateResult,
    pictures: Sequence[Picture],
    paths: Sequence[Path],
) -> None:
    terminal = standard_output()
    shape, frames = drawn.shape, drawn.frames
    terminal.heading(count(len(frames), "frame"), f"{shape.name} for {clean(arguments.model or 'any model')}")
    grid = f"{shape.cols} × {shape.rows} cells of {shape.cell_width} × {shape.cell_height} px"
    _row(terminal, "shape", f"{shape.frame_size} px wide · {grid}{' in two columns' if shape.columns == 2 else ''}")
    _row(terminal, "characters", f"{estimate.chars:,}")
    if drawn.dropped_chars:
        _row(terminal, "left out", f"{drawn.dropped_chars:,} characters beyond {count(len(frames), 'frame')}")
    _row(terminal, "cells", f"{estimate.cells:,}")
    _row(terminal, "bytes", f"{sum(len(picture.png) for picture in pictures):,}  ({size(_base64(pictures))} as base64)")
    _row(terminal, "as frames", f"{drawn.frame_tokens:,} tokens")
    _row(terminal, "as text", f"{drawn.text_tokens:,} tokens{_verdict(drawn)}")
    terminal.line()
    last = f" … {paths[-2].name}" if len(frames) > 1 else ""
    _row(terminal, "frames", f"{paths[0]}{last}")
    _row(terminal, "look at", str(paths[-1]))
    _row(terminal, "to a model", str(paths[0].parent / GUIDE))
    if older := sorted(_older(paths)):
        _row(terminal, "note", f"{', '.join(older[:5])} in that folder {'is' if len(older) == 1 else 'are'} older")


def _row(terminal: Terminal, name: str, text: str) -> None:
    terminal.line(f"  {terminal.paint(pad(name, 12), 'dim')}{text}")


def _base64(pictures: Sequence[Picture]) -> int:
    return sum(-(-len(picture.png) // 3) * 4 for picture in pictures)


def _verdict(drawn: RenderResult) -> str:
    if drawn.dropped_chars or not drawn.text_tokens:
        return ""
    share = drawn.frame_tokens / drawn.text_tokens
    return f"  → frames cost {100 * abs(share - 1):.0f} % {'less' if share < 1 else 'more'}"


def _older(paths: Sequence[Path]) -> set[str]:
    """Numbered pictures in the folder that this run did not write."""
    ours = {path.name for path in paths}
    return {path.name for path in paths[0].parent.iterdir() if _NUMBERED.fullmatch(path.name)} - ours
