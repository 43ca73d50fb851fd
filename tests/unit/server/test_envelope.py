"""What kind of message a body is."""

import json
from typing import Any

import pytest

from octavo.server import envelope
from octavo.server.envelope import Notification, Request, Response, Unreadable
from octavo_protocol.errors import ErrorKind


def read(message: Any) -> envelope.Message:
    return envelope.read(json.dumps(message).encode())


def test_requests_notifications_and_answers_are_told_apart() -> None:
    assert read({"jsonrpc": "2.0", "id": 0, "method": "m", "params": {"a": 1}}) == Request(0, "m", {"a": 1})
    assert read({"jsonrpc": "2.0", "method": "m"}) == Notification("m", None)
    assert read({"jsonrpc": "2.0", "id": "x", "result": None}) == Response("x", None, None)
    assert read({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "no"}}) == Response(
        "x", None, {"code": 1, "message": "no"}
    )


def test_a_jsonrpc_key_inside_params_is_data() -> None:
    inner = {"jsonrpc": "2.0", "id": 9, "method": "exit", "type_name": "X", "class": 1}
    assert read({"jsonrpc": "2.0", "id": 1, "method": "m", "params": inner}) == Request(1, "m", inner)


@pytest.mark.parametrize(
    ("message", "answer_to"),
    [
        ([{"jsonrpc": "2.0", "id": 1, "method": "m"}], None),
        ([], None),
        ("text", None),
        (None, None),
        ({"id": 1, "method": "m"}, 1),
        ({"jsonrpc": "1.0", "id": 1, "method": "m"}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, 1),
        ({"jsonrpc": "2.0", "id": None, "method": "m"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "m"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "m"}, None),
        ({"jsonrpc": "2.0", "id": {"a": 1}, "method": "m"}, None),
        ({"jsonrpc": "2.0", "id": 1}, 1),
    ],
)
def test_what_is_no_message_is_an_invalid_request(message: Any, answer_to: Any) -> None:
    found = read(message)
    assert isinstance(found, Unreadable)
    assert found.id == answer_to
    assert found.error.kind is ErrorKind.INVALID_REQUEST


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"m","params":"xxx', 7),
        (b' { "id" : "a\\"b" , "params":"xxx', 'a"b'),
        (b'{"method":"m","jsonrpc":"2.0","id":-1}', -1),
        (b'{"jsonrpc":"2.0","method":"m","params":{"id":7},"id":8', None),
        (b'{"jsonrpc":"2.0","id":1.5,', None),
        (b'{"jsonrpc":"2.0","id":12', None),
        (b"", None),
    ],
)
def test_the_id_of_a_message_that_is_not_read_is_found_in_its_beginning(prefix: bytes, found: Any) -> None:
    assert envelope.sniff_id(prefix) == found


@pytest.mark.parametrize("broken", [b"NaN", b"-Infinity", b'"half \xff"', b'"\x01"'])
def test_whoever_waits_for_a_message_that_is_almost_json_is_told(broken: bytes) -> None:
    request = envelope.read(b'{"jsonrpc":"2.0","params":{"cost":%b},"id":7,"method":"m"}' % broken)
    if broken == b'"\x01"':  # no parser can tell what that was
        assert isinstance(request, Unreadable)
        assert request.id is None
        return
    assert isinstance(request, Unreadable)
    assert (request.id, request.error.kind) == (7, ErrorKind.PARSE_ERROR)
    answer = envelope.read(b'{"jsonrpc":"2.0","id":"ours","result":{"cost":%b}}' % broken)
    assert isinstance(answer, Response)
    assert answer.id == "ours"
    assert answer.error is not None
    assert answer.error["message"].startswith("The message is not JSON")
    told = envelope.read(b'{"jsonrpc":"2.0","method":"m","params":{"cost":%b}}' % broken)
    assert isinstance(told, Unreadable)
    assert told.id is None
