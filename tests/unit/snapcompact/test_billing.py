import pytest

from octavo.snapcompact.billing import Family, family_of, frame_tokens, square_tokens
from octavo.snapcompact.render import render_text
from octavo.snapcompact.shapes import FAMILY_SHAPES


@pytest.mark.parametrize(
    ("family", "size", "tokens"),
    [
        ("anthropic", 28, 2),
        ("anthropic", 1568, 3293),
        ("anthropic", 1932, 5000),
        ("anthropic", 2576, 5024),
        ("openai", 1568, 2882),
        ("openai", 1932, 4466),
        ("openai", 4096, 12_000),
        ("google", 28, 1120),
        ("google", 2048, 1120),
    ],
)
def test_a_full_square_costs_the_familys_formula(family: Family, size: int, tokens: int) -> None:
    assert square_tokens(family, size) == tokens


def test_a_frame_that_hugs_its_text_costs_its_real_area() -> None:
    assert frame_tokens("anthropic", 1568, 16) == 59
    assert frame_tokens("openai", 1568, 22) == 59
    assert frame_tokens("google", 1568, 16) == 1120
    frame = render_text("One short line.", FAMILY_SHAPES["anthropic"])[0]
    assert (frame.height, frame.tokens) == (16, 59)
    assert FAMILY_SHAPES["anthropic"].frame_tokens == 3293


@pytest.mark.parametrize(
    ("api", "family"),
    [
        ("azure-openai-responses", "openai"),
        ("google-gemini-cli", "google"),
        ("bedrock", "anthropic"),
        (None, "anthropic"),
    ],
)
def test_the_wire_decides_who_bills(api: str | None, family: Family) -> None:
    assert family_of(api) == family
