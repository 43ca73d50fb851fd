"""The golden wire files are what the models read and write; a change of the wire shows as a change of a file."""

import json
from pathlib import Path
from typing import Any

import pytest

from octavo_protocol.errors import ERRORS, ErrorData, ErrorKind
from octavo_protocol.methods import METHODS
from octavo_protocol.notifications import NOTIFICATIONS

GOLDEN = Path(__file__).parent / "golden"


def load(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def files(folder: str) -> list[Path]:
    return sorted((GOLDEN / folder).glob("*.json"))


def test_there_is_a_file_for_every_method_error_kind_and_notification() -> None:
    assert {load(path)["request"]["method"] for path in files("requests")} == set(METHODS)
    assert {path.stem for path in files("errors")} == {kind.value for kind in ErrorKind}
    assert {load(path)["notification"]["method"] for path in files("notifications")} == set(NOTIFICATIONS)


@pytest.mark.parametrize("path", files("requests"), ids=lambda p: p.stem)
def test_a_request_and_its_answer_survive_their_models(path: Path) -> None:
    golden = load(path)
    spec = METHODS[golden["request"]["method"]]
    params = spec.params.model_validate(golden["request"]["params"])
    assert params.model_dump(mode="json", by_alias=True, exclude_unset=True) == golden["request"]["params"]
    assert (
        spec.result.model_validate(golden["response"]["result"], extra="forbid").to_wire()
        == golden["response"]["result"]
    )
    assert golden["request"]["id"] == golden["response"]["id"]
    assert golden["direction"] == spec.direction.value


@pytest.mark.parametrize("path", files("errors"), ids=lambda p: p.stem)
def test_an_error_carries_the_code_of_its_kind(path: Path) -> None:
    error = load(path)["response"]["error"]
    data = ErrorData.model_validate(error["data"], extra="forbid")
    assert data.kind.value == path.stem
    assert error["code"] == ERRORS[data.kind].code
    assert data.to_wire() == error["data"]


@pytest.mark.parametrize("path", files("notifications"), ids=lambda p: p.stem)
def test_a_notification_survives_its_model(path: Path) -> None:
    golden = load(path)["notification"]
    spec = NOTIFICATIONS[golden["method"]]
    assert spec.params.model_validate(golden["params"], extra="forbid").to_wire() == golden["params"]
    assert "id" not in golden
