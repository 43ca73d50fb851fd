"""Frames are read back from their pixels and must say what was written."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.snapcompact.fonts import WIDE, drawable_lut, narrow_lut, table
from octavo.snapcompact.layout import paginate
from octavo.snapcompact.marks import plain_text
from octavo.snapcompact.normalize import normalize, normalize_seed
from octavo.snapcompact.render import render_page
from octavo.snapcompact.shapes import VARIANTS, Shape
from unit.snapcompact.decoder import Cell, Reader, cells_of

INDEXED = [name for name, shape in VARIANTS.items() if not shape.resampled]

SCRIPTS = {
    "ascii": "".join(map(chr, range(0x20, 0x7F))),
    "latin": "café Łódź Übergröße naïve ¿qué? œuvre ﬁn ½ × ÷",
    "greek": "Καλημέρα κόσμε, τί κάνεις;",
    "cyrillic": "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "hebrew": "שלום עולם",
    "arabic": "مرحبا بالعالم هذا اختبار",
    "thai": "สวัสดีชาวโลก",
    "devanagari": "नमस्ते दुनिया",
    "georgian": "გამარჯობა მსოფლიო",
    "armenian": "Բարեւ աշխարհ",
    "tamil, which no font has": "வணக்கம் உலகம்",
    "chinese": "中文：你好，世界。这是一个测试，漢字也行。",
    "japanese": "日本語：こんにちは世界、テストです。ｶﾅ",
    "korean": "한국어: 안녕하세요 세계. 뷁",
    "astral han": "𠀀𠮷",
    "emoji": "✅ done ❌ ⚠️ 🚀 🎉 👍🏽 🇫🇷 👩‍👩‍👧",
    "symbols": "→ ⇒ ≤ ≠ ∑ │├─└ ░▒▓ “q” … € ★ ♥ ✓ ⠿",
    "private": "\ue0b0 \uf115 \U000f0000",
}

CODE = '''def resolve(model, shape=None):
    """Choose the shape.  Twice spaced."""
    if shape is not None:
\tfor name,  value in table.items():
            print(f"{name:>10}          {value:0.2f}")\t# O0 l1
'''


def read_back(text: str, shape: Shape, size: int, normalized: str | None = None) -> tuple[list[Cell], list[Cell]]:
    """Return what was read of all frames of a text, and what should have been read."""
    shown = normalize(text) if normalized is None else normalized
    reader = Reader(shape)
    pages = paginate(shown, shape, size)
    seen: list[Cell] = []
    for page in pages:
        cells = reader.read(render_page(page, shape, frame_size=size).png, size)
        if seen and shape.columns == 2:
            if seen[-1][0] == "↵":
                seen.pop()
            else:
                seen.append((" ", False))
        seen += cells
    expected = [(part, dim) for char, dim in cells_of(shown) for part in reader.canonical(char)]
    return trimmed(seen), trimmed(expected)


def trimmed(cells: list[Cell]) -> list[Cell]:
    while cells and cells[-1][0] == " ":
        cells.pop()
    return cells


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("variant", INDEXED)
def test_every_script_is_read_back_from_every_indexed_shape(variant: str, script: str) -> None:
    seen, expected = read_back((SCRIPTS[script] + "\n") * 6, VARIANTS[variant], 480)
    assert [char for char, _ in seen] == [char for char, _ in expected]
    gray = {char for char, dim in seen if dim}
    assert not gray or VARIANTS[variant].stopword_dim


@pytest.mark.parametrize("variant", INDEXED)
def test_code_keeps_its_indentation_in_every_indexed_shape(variant: str) -> None:
    shape = VARIANTS[variant]
    seen, _ = read_back(CODE * 3, shape, 480)
    first = Reader(shape).first
    back = {twin: char for char, twin in first.items() if ord(char) < 0x80}
    assert plain_text("".join(back.get(char, char) for char, _ in seen)) == plain_text(normalize(CODE * 3))
    assert "    if shape is not None:" in plain_text(normalize(CODE))
    assert "\tfor name,  value in" in plain_text(normalize(CODE))
    assert '          {value:0.2f}")\t# O0 l1' in plain_text(normalize(CODE))


@pytest.mark.parametrize("variant", INDEXED)
def test_gray_spans_are_read_back_over_page_ends(variant: str) -> None:
    shape = VARIANTS[variant]
    text = "[User]: go\n\n" + "".join(
        f"[Tool Result]: \x0eFAILED xyz{n} 中{'x' * (n % 7)}\x0f\n\nok{n}. " for n in range(160)
    )
    seen, expected = read_back(text, shape, 320)
    assert seen == expected
    assert any(dim for _, dim in seen)


@pytest.mark.samples
def test_a_real_transcript_is_read_back_from_the_default_shape(samples: Path) -> None:
    text = "\n".join(islice(transcript(samples / "pi" / "before-compaction.jsonl"), 150))
    seen, expected = read_back(text, VARIANTS["11on16-bw"], 1568)
    assert seen == expected
    assert len(seen) > 50_000


@settings(max_examples=60, deadline=None)
@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=120), st.sampled_from(["11on16-bw", "8on22-bw"])
)
def test_any_text_is_read_back(text: str, variant: str) -> None:
    seen, expected = read_back(text, VARIANTS[variant], 352)
    assert seen == expected


@pytest.mark.parametrize("variant", ["11on16-bw", "8on22-bw", "8x13-bw"])
def test_every_character_of_the_fonts_has_a_bitmap_of_its_own_or_a_twin_that_looks_the_same(variant: str) -> None:
    codes = np.flatnonzero(drawable_lut())
    text = "".join(chr(code) for code in codes if normalize(f"x{chr(code)}x") == f"x{chr(code)}x")
    assert len(text) > 25_000
    seen, expected = read_back("", VARIANTS[variant], 1568, normalized=text)
    assert seen == expected


def test_han_characters_of_default_shapes_have_no_twins() -> None:
    lut = narrow_lut()
    codes = {code for name in WIDE.values() for code in table(name).codes.tolist() if 0x4E00 <= code <= 0x9FFF}
    assert len(codes) > 17_000
    assert not any(lut[code] for code in codes)
    for variant in ("11on16-bw", "8on16-bw", "8on22-bw"):
        twins = {char for char in Reader(VARIANTS[variant]).first if ord(char) in codes}
        assert twins <= {"丨"}, "it looks like two bars of a bracket"


def test_seed_layout_is_read_back_in_latin_1() -> None:
    text = normalize_seed("caf\xe9 \xa7 1. Two  words\n\n  three \u2014 four " * 40)
    shape = VARIANTS["8x13-bw"]
    reader = Reader(shape, slashed=False)
    pages = paginate(text, shape, 320, "seed")
    seen = [
        char
        for page in pages
        for char, _ in reader.read(render_page(page, shape, layout="seed", zero="plain", frame_size=320).png, 320)
    ]
    assert "".join(seen).rstrip() == reader.canonical(text).rstrip()


def transcript(path: Path) -> Iterator[str]:
    """Yield the texts of a session, tool results gray."""
    for line in path.read_text().splitlines():
        message = json.loads(line).get("message") or {}
        content = message.get("content")
        blocks = [{"text": content}] if isinstance(content, str) else content or []
        for text in (block["text"] for block in blocks if isinstance(block, dict) and block.get("text")):
            yield f"\x0e{text}\x0f" if message["role"] == "toolResult" else text
