"""What is derived from the protocol models is up to date, complete, and deterministic."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from octavo_protocol.errors import ErrorKind
from octavo_protocol.generate import outputs, schema
from octavo_protocol.generate.__main__ import main
from octavo_protocol.layering import settings_of
from octavo_protocol.methods import METHODS
from octavo_protocol.notifications import NOTIFICATIONS
from octavo_protocol.settings import Settings

ROOT = Path(__file__).parents[3]
REFERENCE = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs/settings.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def bundle() -> dict[str, Any]:
    return schema.bundle()


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def test_no_derived_file_is_stale() -> None:
    stale = [str(path.relative_to(ROOT)) for path in outputs.stale(ROOT)]
    assert stale == [], "run `make schema`"


def test_generating_twice_gives_the_same_text() -> None:
    assert outputs.outputs(ROOT) == outputs.outputs(ROOT)


def test_the_check_names_a_stale_file_and_fails_and_writing_heals_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--root", str(tmp_path)]) == 0
    assert main(["--root", str(tmp_path), "--check"]) == 0
    page = tmp_path / "docs/protocol.md"
    text = page.read_text()
    page.write_text(text + "edited\n")
    leftover = tmp_path / "tests/wire/golden/requests/session.gone.json"
    leftover.write_text("{}")
    capsys.readouterr()
    assert main(["--root", str(tmp_path), "--check"]) == 1
    assert sorted(capsys.readouterr().out.split()) == [
        "docs/protocol.md",
        "stale",
        "stale",
        "tests/wire/golden/requests/session.gone.json",
    ]
    assert main(["--root", str(tmp_path)]) == 0
    assert page.read_text() == text
    assert not leftover.exists()


@pytest.mark.parametrize("name", [*METHODS, *NOTIFICATIONS])
def test_the_reference_has_a_section_for_every_method_and_notification(name: str) -> None:
    assert f"\n#### `{name}`\n" in REFERENCE


@pytest.mark.parametrize("kind", ErrorKind)
def test_the_reference_has_a_section_for_every_error_kind(kind: ErrorKind) -> None:
    assert f"\n#### {kind.value}\n\n`-3" in REFERENCE


def test_the_settings_page_has_a_row_for_every_setting() -> None:
    missing = [setting.key for setting in settings_of(Settings) if f"| `{setting.key}` |" not in SETTINGS]
    assert missing == []


def test_every_link_of_the_reference_leads_to_a_heading_or_file() -> None:
    headings = {line.lstrip("# ").strip("`").lower() for line in REFERENCE.splitlines() if line.startswith("#")}
    targets = {part.split(")")[0] for part in REFERENCE.split("](#")[1:]}
    assert targets - headings == set()


def test_every_reference_of_the_bundle_resolves(bundle: dict[str, Any]) -> None:
    missing = {ref for ref in references(bundle) if ref.removeprefix("#/$defs/") not in bundle["$defs"]}
    assert missing == set()


def test_every_reference_of_the_openrpc_document_resolves() -> None:
    document = json.loads((ROOT / "protocol/schema/openrpc.json").read_text(encoding="utf-8"))
    for ref in references(document):
        at = document
        for part in ref.removeprefix("#/").split("/"):
            at = at[part]


def test_every_type_has_one_definition_under_its_own_name(bundle: dict[str, Any]) -> None:
    assert [name for name in bundle["$defs"] if not name.isalnum() or name.endswith(("Input", "Output"))] == []


def test_every_type_and_field_of_the_bundle_is_described(bundle: dict[str, Any]) -> None:
    bare = [
        f"{name}.{field}"
        for name, definition in bundle["$defs"].items()
        for field, described in definition.get("properties", {}).items()
        if not described.get("description")
    ]
    bare += [name for name, d in bundle["$defs"].items() if "properties" in d and not d.get("description")]
    assert bare == []


def test_entries_messages_notifications_errors_and_settings_are_in_the_bundle(bundle: dict[str, Any]) -> None:
    assert {"Entry", "Message", "ContentBlock", "SessionHeader", "ErrorData", "Settings"} <= set(bundle["$defs"])
    assert set(bundle["x-methods"]) == set(METHODS)
    assert set(bundle["x-notifications"]) == set(NOTIFICATIONS)
    assert set(bundle["x-errors"]) == {kind.value for kind in ErrorKind}


def test_what_the_daemon_always_sends_is_required_and_never_null(bundle: dict[str, Any]) -> None:
    change = bundle["$defs"]["Change"]
    assert change["required"] == ["seq", "kind", "entryIds"]
    assert change["properties"]["leafId"]["type"] == "string"


def test_params_are_closed_and_results_are_open(bundle: dict[str, Any]) -> None:
    assert bundle["$defs"]["CompactParams"]["additionalProperties"] is False
    assert "additionalProperties" not in bundle["$defs"]["CompactionResult"]
