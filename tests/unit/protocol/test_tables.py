"""The tables of the protocol are complete, unambiguous, and their examples are what their models say."""

import subprocess
import sys
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from octavo_protocol.base import Reply, Wire
from octavo_protocol.entries import Entry
from octavo_protocol.errors import ERRORS, ErrorData, ErrorKind
from octavo_protocol.generate import examples, schema
from octavo_protocol.lifecycle import ClientOptions
from octavo_protocol.messages import Message
from octavo_protocol.methods import METHODS, Direction
from octavo_protocol.methods.append import AppendParams
from octavo_protocol.methods.common import Empty, WorkDone
from octavo_protocol.methods.session import OpenParams
from octavo_protocol.methods.tree import GetEntriesParams
from octavo_protocol.notifications import NOTIFICATIONS, ModelPromoted

STANDARD = {-32700, -32600, -32601, -32602, -32603, -32002, -32800, -32801}


def test_every_method_of_the_protocol_is_in_the_table() -> None:
    session = (
        "create open list close delete rename move fork import export append setModel setThinkingLevel setLabel "
        "setBusy getInfo getTree getBranch getEntries search buildContext contextUsage prepareCompaction compact "
        "getHeldCompaction applyCompaction discardCompaction abortCompaction undoCompaction navigateTree "
        "abortBranchSummary "
        "checkMaintenance runIdleCompaction prune shake handoff readArtifact reload setHostContext"
    )
    other = (
        "snapcompact/shapes snapcompact/estimate snapcompact/render snapcompact/inline model/list model/register "
        "settings/get settings/update daemon/status daemon/metrics "
        "maintenance/tick llm/complete agent/abort hook/sessionBeforeCompact "
        "hook/sessionCompacting hook/sessionBeforeTree"
    )
    assert set(METHODS) == {f"session/{name}" for name in session.split()} | set(other.split())


def test_names_are_unique_across_methods_and_notifications() -> None:
    assert all(name == spec.name for name, spec in METHODS.items())
    assert all(name == spec.name for name, spec in NOTIFICATIONS.items())
    assert set(METHODS).isdisjoint(NOTIFICATIONS)
    assert len({spec.python_name for spec in METHODS.values()}) == len(METHODS)


def test_models_are_named_once() -> None:
    names = [model.__name__ for model in _below(Wire)]
    assert sorted(names) == sorted(set(names))


def _below(model: type[Wire]) -> list[type[Wire]]:
    found = {m for child in model.__subclasses__() for m in [child, *_below(child)]}
    return sorted((m for m in found if m.__module__.startswith("octavo_protocol")), key=lambda m: m.__qualname__)


@pytest.mark.parametrize("model", schema.models().values(), ids=lambda m: m.__name__)
def test_every_field_is_described(model: type[Wire]) -> None:
    assert [name for name, field in model.model_fields.items() if not field.description] == []
    assert model.__doc__


@pytest.mark.parametrize("spec", METHODS.values(), ids=lambda s: s.name)
def test_a_method_says_what_it_does_in_sentences(spec: Any) -> None:
    first = spec.doc.split(". ")[0]
    assert spec.doc.endswith(".")
    assert spec.doc[0].isupper()
    assert len(first) <= 105, "the first sentence becomes one line of a docstring"


@pytest.mark.parametrize("spec", METHODS.values(), ids=lambda s: s.name)
def test_long_requests_take_a_token_and_can_be_cancelled(spec: Any) -> None:
    assert issubclass(spec.params, WorkDone) == spec.long_running
    assert spec.cancellable or not spec.long_running


@pytest.mark.parametrize("spec", METHODS.values(), ids=lambda s: s.name)
def test_the_receiver_of_params_refuses_and_the_reader_of_answers_ignores_unknown_fields(spec: Any) -> None:
    receives_strictly = spec.direction is Direction.CLIENT_TO_DAEMON
    assert issubclass(spec.params, Reply) != receives_strictly
    assert issubclass(spec.result, Reply) == receives_strictly


@pytest.mark.parametrize("name", METHODS)
def test_the_example_of_a_method_is_what_its_models_say(name: str) -> None:
    spec, example = METHODS[name], examples.requests()[name]
    assert _round_trip(spec.params, example["params"]).items() >= example["params"].items()
    assert _round_trip(spec.result, example["result"]) == example["result"]


@pytest.mark.parametrize("name", NOTIFICATIONS)
def test_the_example_of_a_notification_is_what_its_model_says(name: str) -> None:
    payload = examples.notifications()[name]
    assert _round_trip(NOTIFICATIONS[name].params, payload) == payload


@pytest.mark.parametrize("kind", ErrorKind)
def test_the_example_of_an_error_is_what_its_model_says(kind: ErrorKind) -> None:
    example = examples.errors()[kind.value]
    data = {"kind": kind.value, **example["data"]}
    assert _round_trip(ErrorData, data) == data
    assert example["method"] is None or example["method"] in METHODS or kind is ErrorKind.METHOD_NOT_FOUND
    if example["method"] in METHODS and kind is not ErrorKind.INVALID_PARAMS:
        METHODS[example["method"]].params.model_validate(example["params"])


def test_there_is_no_example_without_a_row() -> None:
    assert set(examples.requests()) == set(METHODS)
    assert set(examples.notifications()) == set(NOTIFICATIONS)
    assert set(examples.errors()) == {kind.value for kind in ErrorKind}


def _round_trip(model: type[Wire], value: dict[str, Any]) -> dict[str, Any]:
    """Validate with unknown fields refused everywhere, and return what would be sent."""
    return model.model_validate(value, extra="forbid").to_wire()


def test_entries_and_messages_of_the_examples_fit_their_descriptions() -> None:
    entry, message = TypeAdapter[Any](Entry), TypeAdapter[Any](Message)
    for stored in examples.requests()["session/getBranch"]["result"]["entries"]:
        entry.validate_python(stored)
    for said in examples.requests()["session/append"]["params"]["messages"]:
        message.validate_python(said)


def test_every_error_kind_has_a_code_of_its_own_outside_reserved_ranges() -> None:
    assert set(ERRORS) == set(ErrorKind)
    codes = [spec.code for spec in ERRORS.values()]
    assert len(set(codes)) == len(codes)
    for code in set(codes) - STANDARD:
        assert not -32768 <= code <= -32000
        assert not -32899 <= code <= -32800


def test_every_error_kind_says_when_and_what_to_do() -> None:
    for spec in ERRORS.values():
        assert spec.when.endswith(".")
        assert spec.remedy.endswith(".")


def test_hooks_a_client_can_register_are_the_ones_of_the_tables() -> None:
    ClientOptions(hooks=[name.removeprefix("hook/") for name in [*METHODS, *NOTIFICATIONS] if name.startswith("hook/")])


def test_a_raw_entry_keeps_nulls_and_unknown_fields_on_the_wire() -> None:
    raw = {"type": "future", "parentId": None, "x": {"y": [None]}, "content": None}
    params = AppendParams.model_validate({"sessionId": "s", "entries": [raw]})
    assert params.to_wire()["entries"] == [raw]


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"messages": [], "entries": None},
        {"messages": [{"content": "no role"}]},
        {"messages": [{"role": 7}]},
        {"entries": [{"id": "no type"}]},
        {"entries": [{"type": "session", "id": "x"}]},
        {"entries": ["text"]},
        {"messages": [{"role": "user"}], "entries": [{"type": "custom"}]},
        {"messages": [{"role": "user"}], "ids": ["a", "b"]},
        {"messages": [{"role": "user"}], "leafId": "misspelled"},
    ],
)
def test_an_append_that_says_too_little_or_too_much_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AppendParams.model_validate({"sessionId": "s", **bad})


def test_an_append_tells_null_from_absent() -> None:
    said = AppendParams.model_validate(
        {"sessionId": "s", "messages": [{"role": "user"}], "parentId": None, "expectedLeafId": None}
    )
    silent = AppendParams.model_validate({"sessionId": "s", "messages": [{"role": "user"}]})
    assert (said.parent_given, said.leaf_expected) == (True, True)
    assert (silent.parent_given, silent.leaf_expected) == (False, False)


def test_a_session_is_opened_by_one_name() -> None:
    for bad in ({}, {"sessionId": "a", "path": "b"}):
        with pytest.raises(ValidationError):
            OpenParams.model_validate(bad)


def test_entries_are_asked_for_by_id_or_by_change() -> None:
    with pytest.raises(ValidationError):
        GetEntriesParams.model_validate({"sessionId": "s", "ids": ["a"], "sinceSeq": 1})


def test_words_python_reserves_keep_their_name_on_the_wire() -> None:
    sent = ModelPromoted(session_id="s", from_="a/b", to="a/c", reason="overflow").to_wire()
    assert sent == {"sessionId": "s", "from": "a/b", "to": "a/c", "reason": "overflow"}


def test_an_older_reader_ignores_what_a_newer_daemon_adds() -> None:
    assert Empty.model_validate({"new": 1}).to_wire() == {}


def test_importing_the_tables_builds_no_validator() -> None:
    """Initialize must answer within half a second, and building 190 validators takes a good part of that."""
    code = (
        "from octavo_protocol.methods import METHODS\n"
        "from octavo_protocol.notifications import NOTIFICATIONS\n"
        "models = [m for s in METHODS.values() for m in (s.params, s.result)]\n"
        "models += [s.params for s in NOTIFICATIONS.values()]\n"
        "print(sum(m.__pydantic_complete__ for m in models))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


def test_wire_models_cannot_be_changed() -> None:
    built: BaseModel = Empty()
    with pytest.raises(ValidationError):
        setattr(built, "x", 1)  # noqa: B010 -- mypy knows it is frozen
