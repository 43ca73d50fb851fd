"""Adapters for how frames are shaped, priced, laid out and drawn; archives and serialisation have their own."""

import hashlib
import io
import json
import math
import re
import struct
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image

from conformance.support import COPIES, Vector, adapter
from octavo.snapcompact import billing, shapes
from octavo.snapcompact.ink import dim_stopwords
from octavo.snapcompact.layout import paginate, wrap
from octavo.snapcompact.normalize import normalize, normalize_seed
from octavo.snapcompact.render import Frame, pages_of, render_page
from octavo_protocol.completion import Model

_TOGGLES = re.compile("[\x0e\x0f]")

LATER_ONLY = {"silver16-bw"}
"""Variants of later versions of the format that octavo does not offer."""


def model(api: str | None, model_id: str = "") -> Model:
    return Model(provider="any", id=model_id, api=api or "")


def without_absent(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value is not None}


@adapter("snapcompact:billing")
def prices(vector: Vector) -> None:
    if vector.section:
        case = vector.case
        assert billing.square_tokens(billing.family_of(case["api"]), case["size"]) == case["tokens"]


@adapter("snapcompact:shapes")
def shape_table(vector: Vector) -> None:
    order = [name for name in vector.data["order"] if name not in LATER_ONLY]
    assert [name for name in order if vector.data["shapes"].get(name, {"in_seed": True})["in_seed"]] == list(
        shapes.VARIANTS
    )
    for name, given in vector.data["shapes"].items():
        if name in LATER_ONLY:
            continue
        for api, price in given["priced"].items():
            shape = shapes.resolve_shape(model(None if api == "undefined" else api), name)
            assert shape.to_json() == {**given["geometry"], **price}
            assert shapes.is_shape(shape.to_json())
    ours: dict[str, shapes.Shape] = {**shapes.FAMILY_SHAPES, "legacy": shapes.LEGACY_SHAPE}
    assert {family: ours[family].to_json() for family in vector.data["family_shapes"]} == vector.data["family_shapes"]


@adapter("snapcompact:geometry")
def geometry(vector: Vector) -> None:
    if not vector.section or vector.case["variant"] in LATER_ONLY:
        return
    case = vector.case
    shape = shapes.variant(case["variant"])
    ours = {
        "cols": shape.cols(case["size"]),
        "rows": shape.rows(case["size"]),
        "capacity": shape.capacity(case["size"]),
    }
    assert ours == {key: case[key] for key in ours}
    assert (shape.frame_size == case["size"]) is case["isDefaultSize"]


@adapter("snapcompact:resolve_shape")
def resolution(vector: Vector) -> None:
    case = vector.case
    if vector.section == "ideal":
        ideal = shapes.ideal_for(case["id"])
        ours = ideal and without_absent({"variant": ideal.variant, "frameSize": ideal.frame_size})
        assert ours == case["seed"]
    elif vector.section == "by_api_only":
        shape = shapes.resolve_shape(model(case["api"]))
        assert shape.to_json() == case["seed"]
        assert shape is shapes.resolve_shape(model(case["api"]), "auto")
    elif vector.section:
        shape = shapes.resolve_shape(model(case["api"], case["id"]))
        seed = case["seed"]
        assert (shape.name, shape.frame_size, shape.frame_tokens, shape.detail) == (
            seed["variant"],
            seed["frameSize"],
            seed["frameTokenEstimate"],
            seed["imageDetail"],
        )


@adapter("snapcompact:normalize")
def normalisation(vector: Vector) -> None:
    if vector.section:
        assert normalize_seed(vector.case["input"]) == vector.case["seed"]


@adapter("snapcompact:normalize_fold_table")
def fold_table(vector: Vector) -> None:
    """Every code point of the scanned ranges, between two letters: listed ones exactly, others kept or `?`."""
    ranges = json.loads(vector.data["note"].split("Ranges scanned: ")[1])
    listed = {int(code, 16): folded for code, folded in vector.data["fold"]["seed"].items()}
    scanned = {code for first, last in ranges for code in range(first, last + 1)} | listed.keys()
    for code in sorted(scanned):
        ours = normalize_seed(f"x{chr(code)}y")[1:-1]
        assert (ours == listed[code]) if code in listed else (ours in (chr(code), "?")), hex(code)


@adapter("snapcompact:normalize_coverage")
def coverage(vector: Vector) -> None:
    """How many code points of U+00A0-1FFFF, surrogates aside, are kept, printed as `?` or dropped."""
    if vector.section:
        return
    given = _seed_counts(vector.data)
    assert given, "no counts of the seed"
    for words, count in zip((r"kee?p|identity", r"\?|question|unknown", r"drop|empty"), _coverage(), strict=True):
        named = [value for key, value in given.items() if re.search(words, key)]
        assert named == [count] * len(named), words


@cache
def _coverage() -> tuple[int, int, int]:
    kept = printed = dropped = 0
    for code in (*range(0xA0, 0xD800), *range(0xE000, 0x20000)):
        char = chr(code)
        folded = normalize_seed(f"x{char}y")[1:-1]
        kept += folded == char
        printed += folded == "?"
        dropped += not folded
    return kept, printed, dropped


def _seed_counts(data: dict[str, Any]) -> dict[str, int]:
    """The numbers of the seed: `{seed: {kept: …}}` or `{kept: {seed: …}}`, however deep."""
    found: dict[str, int] = {}
    for key, value in data.items():
        if not isinstance(value, dict):
            continue
        if key == "seed":
            found |= {name.lower(): number for name, number in value.items() if isinstance(number, int)}
        elif isinstance(value.get("seed"), int):
            found[key.lower()] = value["seed"]
        else:
            found |= _seed_counts(value)
    return found


@adapter("snapcompact:_png_manifest")
def pictures(vector: Vector) -> None:
    """A list of pictures, each under its file name; the pictures themselves may not be there."""
    if vector.section:
        name = next(str(value) for value in vector.case.values() if str(value).endswith(".png"))
        compare_picture(next(vector.path.parent.glob(f"**/{Path(name).name}"), Path(name)), vector.path.parent)


def compare_picture(path: Path, folder: Path) -> None:
    """Compare our frame with a picture of 18.2.3 named `<variant>__<size>__<text>__p<page>.png`."""
    variant, size, text_id, page = path.stem.split("__")
    beside, copy = (place / "render.json" for place in (folder, COPIES / "snapcompact"))
    data = json.loads((beside if beside.is_file() else copy).read_text("utf-8"))
    case = {"variant": variant, "frameSize": int(size), "text_id": text_id, "page": int(page.removeprefix("p"))}
    if variant in LATER_ONLY or not path.is_file() or (drawn := _drawn(case, data["texts"])) is None:
        return
    frame, text, _ = drawn
    image = Image.open(path).convert("RGB")
    given = {"width": image.width, "height": image.height, "rgb_sha256": hashlib.sha256(image.tobytes()).hexdigest()}
    shape = shapes.variant(variant)
    # Lanczos leaves single samples one step apart; the sizes are compared all the same.
    compare_pixels(frame, given, exact=draws_like_unscii_2(shape, text) and not shape.resampled)


@adapter("snapcompact:wrap")
def wrapping(vector: Vector) -> None:
    if vector.section:
        assert wrap(vector.case["text"], vector.case["width"]) == vector.case["seed"]


@adapter("snapcompact:frames")
def frame_counts(vector: Vector) -> None:
    if vector.section and vector.case["variant"] not in LATER_ONLY:
        text = _normalized(vector.data["texts"][vector.case["text"]])
        pages = paginate(text, shapes.variant(vector.case["variant"]), layout="seed")
        assert len(pages) == vector.case["seed"]


@cache
def _normalized(text: str) -> str:
    return normalize_seed(text)


@adapter("snapcompact:dim_stopwords")
def stopwords(vector: Vector) -> None:
    if vector.section:
        assert dim_stopwords(vector.case["text"]) == vector.case["seed"]


@adapter("snapcompact:render_seed_derived")
def seed_pixels(vector: Vector) -> None:
    if vector.section:
        case = vector.case
        shape = shapes.variant(case["variant"])
        frame = render_page(case["page_text"], shape, layout="seed", zero="plain", frame_size=case["frameSize"])
        compare_pixels(frame, case, exact=draws_like_unscii_2(shape, case["page_text"]))


@adapter("snapcompact:render")
def later_pixels(vector: Vector) -> None:
    """18.2.3 draws what the seed draws, but with the slashed zero; text beyond Latin-1 it normalises differently."""
    if not vector.section or vector.case["variant"] in LATER_ONLY:
        return
    case = vector.case
    if (drawn := _drawn(case, vector.data["texts"])) is None:
        return
    frame, page, pages = drawn
    assert pages == case["pages"]
    compare_pixels(frame, case, exact=draws_like_unscii_2(shapes.variant(case["variant"]), page))
    image = Image.open(io.BytesIO(frame.png))
    depth, colour_type = struct.unpack(">BB", frame.png[24:26])
    assert (depth, colour_type) == (case["bit_depth"], case["color_type"])
    if colour_type == 3:
        palette = image.getpalette() or []
        used = [palette[at : at + 3] for at in range(0, 3 * len(case["palette"]), 3)]
        assert used == case["palette"]


def _drawn(case: dict[str, Any], texts: dict[str, str]) -> tuple[Frame, str, int] | None:
    """The frame of a case, its page's text and the number of pages; None where 18.2.3 lays out differently."""
    shape, size = shapes.variant(case["variant"]), case["frameSize"]
    text = texts[case["text_id"]]
    if case["text_id"] == "t09_two_pages":
        text = "abcdefghij " * math.ceil(shape.capacity(size) * 1.3 / 11)
    if not text.isascii() and max(text) > "\xff":
        return None
    pages = pages_of(text, shape, layout="seed", frame_size=size)
    if shape.columns == 2 and toggles_move_words(normalize_seed(text), shape.cols(size)):
        return None
    page = pages[case["page"]]
    return render_page(page, shape, layout="seed", zero="slashed", frame_size=size), page, len(pages)


@adapter("snapcompact:renderability_v18")
def nothing_is_unrenderable(vector: Vector) -> None:
    """18.2.3 measures how much of a text would print as `?`; here every character is drawn, so there is no measure."""
    if vector.section:
        text = normalize(vector.case["text"])
        assert text
        assert "?" not in text


def draws_like_unscii_2(shape: shapes.Shape, page: str) -> bool:
    """Whether the page avoids the six characters that the packaged revision of UNSCII 8 draws differently."""
    return shape.font != "8x8" or not set(page) & set("¸¼¾ÈÉË")


def toggles_move_words(text: str, width: int) -> bool:
    """Whether lines break elsewhere because the seed counts dim toggles when it wraps; 18.2.3 does not."""
    return wrap(_TOGGLES.sub("", text), width) != [_TOGGLES.sub("", line) for line in wrap(text, width)]


def compare_pixels(frame: Frame, case: dict[str, Any], *, exact: bool) -> None:
    image = Image.open(io.BytesIO(frame.png)).convert("RGB")
    assert image.size == (case["width"], case["height"]) == (frame.width, frame.height)
    if exact:
        assert hashlib.sha256(image.tobytes()).hexdigest() == case["rgb_sha256"]
