"""Templates: blocks, values, and the tidying of what comes out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo import templates
from octavo.resources import data


@pytest.mark.parametrize(
    ("template", "values", "expected"),
    [
        ("{{a}}|{{{a}}}|{{missing}}|{{a.b}}", {"a": "<&>"}, "<&>|<&>||"),
        ("{{a.b.c}}", {"a": {"b": {"c": 1}}}, "1"),
        ("{{yes}} {{no}} {{none}}.", {"yes": True, "no": False, "none": None}, "true false ."),
        ("{{#if a}}yes{{else}}no{{/if}}", {"a": 0}, "no"),
        ("{{#if a}}yes{{else}}no{{/if}}", {"a": []}, "no"),
        ("{{#if a}}{{#if b}}both{{else}}one{{/if}}{{/if}}", {"a": 1, "b": ""}, "one"),
        ("{{#unless a}}no{{/unless}}", {}, "no"),
        ("{{#each l}}{{@index}}={{this}};{{/each}}", {"l": ["x", "y"]}, "0=x;1=y;"),
        ("{{#each l}}{{name}}{{sep}}{{/each}}", {"l": [{"name": "x"}, {"name": "y"}], "sep": ","}, "x,y,"),
        ("{{#each l}}x{{else}}none{{/each}}", {"l": []}, "none"),
        ("a\n{{! remark }}\nb\n{{!-- {{a}} --}}\nc", {}, "a\nb\nc"),
        ("a\n{{#if x}}\nb\n{{/if}}\nc", {"x": 1}, "a\nb\nc"),
        ("a\n{{#if x}}\nb\n{{/if}}\nc", {}, "a\nc"),
        ("a {{#if x}}b{{/if}} c", {"x": 1}, "a b c"),
        ('{{#xml "t"}} x {{/xml}}', {}, "<t>\nx\n</t>"),
        ("{{#xml tag}}x{{/xml}}", {"tag": "u"}, "<u>\nx\n</u>"),
        ('{{#xml "t"}}\n{{/xml}}', {}, ""),
    ],
)
def test_a_template_renders(template: str, values: dict[str, Any], expected: str) -> None:
    assert templates.render_text(template, values) == expected


@pytest.mark.parametrize("template", ["{{#if a}}", "{{/if}}", "{{#if a}}{{/each}}", "{{else}}", "{{#loop a}}{{/loop}}"])
def test_a_malformed_template_is_an_error(template: str) -> None:
    with pytest.raises(ValueError, match="template"):
        templates.render_text(template, {})


@given(st.text())
def test_values_are_never_read_as_templates(value: str) -> None:
    assert templates.render_text("[{{a}}]", {"a": value}) == templates.format_text(f"[{value}]")


@given(st.lists(st.sampled_from(["", "a ", "\t", "```", "</x>", "| a |", "\ufeff", "  b"])).map("\n".join))
def test_tidying_leaves_no_blank_runs_and_no_trailing_space_outside_fences(value: str) -> None:
    fenced = False
    blank = False
    lines = templates.format_text(value).split("\n")
    for line in lines:
        assert line == line.rstrip()
        if not fenced:
            assert not (blank and not line)
            assert not (blank and line.strip() == "</x>")
        if line.startswith("```"):
            fenced = not fenced
        blank = not fenced and not line and len(lines) > 1


def test_tables_are_compacted_where_they_stand() -> None:
    table = "  | a  |  b |\n  |:--|:-:|--:|\n|x|"
    assert templates.format_text(table) == "  |a|b|\n  |:---|:---:|---:|\n|x|"


def test_every_prompt_on_disk_is_a_valid_template() -> None:
    names = [path.name.removesuffix(".md") for path in data("prompts").iterdir() if path.name.endswith(".md")]
    assert "compaction-summary-context" in names
    for name in names:
        templates.render(name)
        assert templates.text(name)
