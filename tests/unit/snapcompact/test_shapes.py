import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from octavo.snapcompact import shapes
from octavo.snapcompact.shapes import FAMILY_SHAPES, VARIANTS, is_shape, resolve_shape
from octavo_protocol.completion import Model
from octavo_protocol.errors import ErrorKind, OctavoError


def model(model_id: str, api: str = "anthropic-messages") -> Model:
    return Model(provider="any", id=model_id, api=api)


def test_an_unmeasured_model_gets_its_familys_own_shape() -> None:
    assert resolve_shape(model("some-model")) is FAMILY_SHAPES["anthropic"]
    assert resolve_shape(model("some-model", "google-vertex")) is FAMILY_SHAPES["google"]
    assert resolve_shape(model("some-model", "openai-responses")) is FAMILY_SHAPES["openai"]
    assert resolve_shape(None) is FAMILY_SHAPES["anthropic"]
    assert resolve_shape(model("claude-3-5-sonnet"), "auto") is FAMILY_SHAPES["anthropic"]


@pytest.mark.parametrize(
    ("model_id", "name", "size"),
    [
        ("claude-opus-4-70", "11on16-bw", 1932),
        ("CLAUDE-OPUS-4.8", "11on16-bw", 1932),
        ("claude-next-fable", "11on16-bw", 1932),
        ("claude-opus-5", "11on16-bw", 1568),
        ("opus-4-8", "11on16-bw", 1568),
        ("gemini-3-pro", "8on22-bw", 2048),
        ("chatgpt-4o-latest", "8on22-bw", 1568),
        ("kimi-k2", "8on16-bw", 1568),
        ("glm-4.6v", "8on16-bw", 1568),
        ("gemini-claude", "11on16-bw", 1568),
    ],
)
def test_the_first_rule_that_matches_the_model_id_chooses(model_id: str, name: str, size: int) -> None:
    shape = resolve_shape(model(model_id))
    assert (shape.name, shape.frame_size) == (name, size)


def test_letters_that_only_fold_to_ascii_match_no_rule() -> None:
    assert shapes.ideal_for("\u212aimi-k2") is None


def test_a_model_is_priced_by_who_carries_the_request() -> None:
    carried = resolve_shape(model("claude-opus-4-8", "openai-completions"))
    assert (carried.frame_size, carried.frame_tokens, carried.detail) == (1932, 4466, "original")
    assert resolve_shape(model("claude-opus-4-8", "google-vertex")).frame_tokens == 1120


def test_a_forced_variant_beats_the_model_at_its_own_size() -> None:
    shape = resolve_shape(model("gemini-3-pro", "google-vertex"), "5x8-bw")
    assert (shape.name, shape.frame_size, shape.frame_tokens) == ("5x8-bw", 2576, 1120)


@pytest.mark.parametrize("name", ["silver16-bw", "6x10-sent", "", "AUTO"])
def test_an_unknown_variant_is_refused_by_name(name: str) -> None:
    with pytest.raises(OctavoError, match=r"No frame shape is called .*11on16-bw") as refused:
        resolve_shape(model("x"), name)
    assert refused.value.kind is ErrorKind.INVALID_PARAMS


@pytest.mark.parametrize("size", [0, -5, 16_385, 10**6])
def test_a_frame_size_out_of_range_is_refused(size: int) -> None:
    with pytest.raises(OctavoError, match="cannot be drawn") as refused:
        shapes.check_frame_size(VARIANTS["11on16-bw"], size)
    assert refused.value.kind is ErrorKind.INVALID_PARAMS


@pytest.mark.parametrize(("name", "size"), [("11on16-bw", 15), ("8on22-bw", 21), ("8x8r-bw", 15), ("doc-8on16-bw", 39)])
def test_a_frame_too_small_for_one_cell_is_refused(name: str, size: int) -> None:
    with pytest.raises(OctavoError, match="too small for one cell"):
        shapes.check_frame_size(VARIANTS[name], size)
    shapes.check_frame_size(VARIANTS[name], size + 1)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_passes_the_guard_for_every_family(name: str) -> None:
    for family in FAMILY_SHAPES:
        record = shapes.priced(VARIANTS[name], family).to_json()
        assert is_shape(record)
        assert record.get("imageDetail") == ("original" if family == "openai" else None)


@pytest.mark.parametrize(
    "change",
    [
        {"cellWidth": 0},
        {"cellWidth": "8"},
        {"cellHeight": True},
        {"variant": "color"},
        {"columns": 3},
        {"columns": True},
        {"stretch": "yes"},
        {"stopwordDim": 1},
        {"font": "9x9"},
        {"font": ["8x13"]},
        {"imageDetail": "huge"},
        {"frameTokenEstimate": None},
        {"lineRepeat": -1},
    ],
)
def test_the_guard_refuses_a_malformed_record(change: dict[str, Any]) -> None:
    record = VARIANTS["8on16-bw"].to_json()
    assert is_shape({**record, "columns": 1})
    assert not is_shape({**record, **change})


@pytest.mark.parametrize("value", [None, 3, "11on16-bw", [], {}])
def test_the_guard_refuses_what_is_no_record(value: Any) -> None:
    assert not is_shape(value)


def test_another_frame_size_has_another_price() -> None:
    shape = FAMILY_SHAPES["anthropic"].sized(1932)
    assert (shape.capacity(), shape.frame_tokens) == (21_000, 5000)
    assert replace(shape, frame_size=1568).capacity() == 13_916


def test_choosing_a_shape_loads_neither_numpy_nor_pillow() -> None:
    code = (
        "import sys; from octavo.snapcompact import shapes, billing, normalize, layout, marks;"
        "normalize.normalize('a  b'); layout.paginate('abc', shapes.VARIANTS['11on16-bw']);"
        "sys.exit(bool({'numpy', 'PIL'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
