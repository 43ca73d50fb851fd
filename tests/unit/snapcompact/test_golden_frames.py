"""Frames of octavo's own layout, pixel for pixel as they were when a person last looked at them.

`python tests/unit/snapcompact/test_golden_frames.py` writes the golden files anew; look at the pictures before you
keep them.
"""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from octavo.snapcompact.render import Frame, render_text
from octavo.snapcompact.shapes import VARIANTS

GOLDEN = Path(__file__).parent / "golden"
SIZE = 480
PICTURES = ("11on16-bw", "8on22-bw", "8on16-bw", "6x12-dim", "doc-8on16-sent-dim")

TEXTS = {
    "code": 'def f(x) -> str:\n    if x:\n\treturn  "O0 l1" # ok\n\n\n        deeper = {"a": [1, 2]}\nend',
    "transcript": "[User]: Run it! Now.\n\n[Tool Result]: \x0eFAILED test_a::test_one\n    assert 3 == 4\n1 failed\x0f"
    "\n\n[Assistant]: The fix is in. Why? Because it was the off-by-one of the day.",
    "table": "name        size   when\nmain.py     1024   2026-06-17\n│├── a\n│└── b → c",
    "european": "Łódź, Über, œuvre. Привет, мир! Καλημέρα κόσμε; “q” – …",
    "right to left": "שלום עולם — مرحبا بالعالم",
    "cjk": "中文：你好，世界。日本語テスト、かな。 한국어 세계 end. Next",
    "indic and thai": "नमस्ते दुनिया สวัสดี வணக்கம்",
    "emoji": "✅ done ❌ fail ⚠️ 🚀 🎉 ★ ♥ ✓",
}


def facts(frame: Frame) -> dict[str, Any]:
    with Image.open(io.BytesIO(frame.png)) as image:
        digest = hashlib.sha256(image.convert("RGB").tobytes()).hexdigest()
    return {"width": frame.width, "height": frame.height, "chars": frame.chars, "tokens": frame.tokens, "rgb": digest}


def drawn(variant: str) -> dict[str, list[dict[str, Any]]]:
    shape = VARIANTS[variant]
    return {name: [facts(frame) for frame in render_text(text, shape, frame_size=SIZE)] for name, text in TEXTS.items()}


@pytest.mark.parametrize("variant", VARIANTS)
def test_frames_look_as_they_did(variant: str) -> None:
    golden = json.loads((GOLDEN / "frames.json").read_text())
    assert drawn(variant) == golden[variant]


@pytest.mark.parametrize("variant", PICTURES)
def test_the_kept_pictures_are_what_is_drawn(variant: str) -> None:
    frame = render_text("\n".join(TEXTS.values()), VARIANTS[variant], frame_size=SIZE)[0]
    with Image.open(GOLDEN / f"{variant}.png") as kept, Image.open(io.BytesIO(frame.png)) as ours:
        assert kept.convert("RGB").tobytes() == ours.convert("RGB").tobytes()


def write() -> None:
    (GOLDEN / "frames.json").write_text(json.dumps({name: drawn(name) for name in VARIANTS}, indent=1) + "\n")
    for variant in PICTURES:
        frame = render_text("\n".join(TEXTS.values()), VARIANTS[variant], frame_size=SIZE)[0]
        (GOLDEN / f"{variant}.png").write_bytes(frame.png)


if __name__ == "__main__":
    write()
