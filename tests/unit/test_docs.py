"""What the pages say exists: commands, options, links, make targets, methods."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from octavo.cli import reference
from octavo.cli.main import COMMANDS, parser_of
from octavo_protocol.methods import METHODS
from octavo_protocol.notifications import NOTIFICATIONS
from octavo_protocol.settings import Settings

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/*.md"), *ROOT.glob("clients/*.md")])
WRITTEN = [page for page in PAGES if page.name not in {"protocol.md", "settings.md", "CHANGELOG.md"}]
"""Pages written by hand, whose examples nothing else holds to the truth."""

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def commands(page: Path) -> Iterator[str]:
    """The lines of shell blocks, without their comments."""
    for language, body in _BLOCK.findall(page.read_text("utf-8")):
        if language == "sh":
            yield from (line.split(" #")[0].strip() for line in body.splitlines() if line.strip())


def anchors(page: Path) -> set[str]:
    """The names under which GitHub links to the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_and_headings_that_exist(page: Path) -> None:
    text = _BLOCK.sub("", page.read_text("utf-8"))
    for link in _LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{name_of(page)} links to {link}"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{name_of(page)} links to {link}"


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_commands_in_pages_can_be_typed(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line in commands(page):
        for command in re.split(r" *(?:\||&&) *", line):
            program, *arguments = command.split()
            if program == "make":
                assert {word for word in arguments if "=" not in word} <= targets, line
            if program == "octavo":
                parser_of(arguments[0]).parse_args(arguments[1:])


def test_the_command_line_page_is_what_the_parsers_declare() -> None:
    text = reference.PAGE.read_text("utf-8")
    assert text == reference.page(text), "docs/cli.md is stale: run `make schema`"


def test_every_command_and_option_is_described() -> None:
    text = reference.tables()
    for name in COMMANDS:
        assert f"## octavo {name}\n" in text
        for action in parser_of(name)._actions:
            assert action.help, f"octavo {name}: {action.dest} has no help"


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_methods_notifications_and_settings_named_in_pages_exist(page: Path) -> None:
    known = set(METHODS) | set(NOTIFICATIONS)
    groups = {key.split(".")[0] for key in Settings().dotted() if "." in key}
    text = page.read_text("utf-8")
    for method in re.findall(r"`((?:session|snapcompact|hook|llm|agent|maintenance|model|settings)/\w+)`", text):
        assert method in known, f"{name_of(page)} names {method}"
    for key in re.findall(r"`(\w+\.[a-z]\w*)`", text):
        if key.split(".")[0] in groups - {"client"}:
            assert key in Settings().dotted(), f"{name_of(page)} names the setting {key}"


def test_every_page_is_in_the_index_and_every_image_is_shown() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, f"docs/README.md does not link {page.name}"
    pages = "".join(page.read_text("utf-8") for page in PAGES)
    for image in (ROOT / "docs" / "images").iterdir():
        assert f"images/{image.name}" in pages
        assert image.stat().st_size <= 300_000
