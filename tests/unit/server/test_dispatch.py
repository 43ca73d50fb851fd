"""Every request gets exactly one answer: the engine through the in-memory transport."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from octavo.server.daemon import Daemon
from octavo.server.memory import MemoryClient, connect
from octavo_protocol.base import JsonObject
from wire.probe_daemon import probe_table


@asynccontextmanager
async def client(**options: Any) -> AsyncIterator[MemoryClient]:
    with anyio.fail_after(30):
        async with Daemon(probe_table()) as daemon, connect(daemon) as peer:
            await peer.initialize(**options)
            yield peer


def kind(answer: JsonObject) -> tuple[int, str]:
    assert "result" not in answer, answer
    return answer["error"]["code"], answer["error"]["data"]["kind"]


async def next_of(peer: MemoryClient, method: str) -> JsonObject:
    while True:
        message = peer.notifications.pop(0) if peer.notifications else await peer.receive()
        if message.get("method") == method:
            return message


async def test_before_initialize_requests_are_refused_and_notifications_ignored() -> None:
    async with Daemon(probe_table()) as daemon, connect(daemon) as peer:
        peer.notify("probe/ping")
        assert kind(await peer.request("probe/ping")) == (-32002, "not-initialized")
        assert kind(await peer.request("shutdown")) == (-32002, "not-initialized")
        peer.send_bytes(b"{")
        assert (await peer.receive())["error"]["code"] == -32700
        assert "result" in await peer.initialize()
        assert (await peer.request("probe/ping"))["result"] == {"ok": True}


@pytest.mark.parametrize(
    ("params", "loc"),
    [
        (None, []),
        ([], []),
        ({"processId": "x"}, ["processId"]),
        ({"processId": True}, ["processId"]),
        ({"processId": None, "capabilities": 5}, ["capabilities"]),
        ({"initializationOptions": 3}, ["initializationOptions"]),
        ({"initializationOptions": {"client": {"complete": "maybe"}}}, ["initializationOptions", "client", "complete"]),
    ],
)
async def test_a_bad_initialize_names_its_bad_field_and_can_be_repeated(params: Any, loc: list[str]) -> None:
    async with Daemon(probe_table()) as daemon, connect(daemon) as peer:
        answer = await peer.request("initialize", params)
        assert kind(answer) == (-32602, "invalid-params")
        assert [item["loc"] for item in answer["error"]["data"]["details"]] == [loc]
        assert "result" in await peer.initialize()


async def test_initialize_advertises_what_is_implemented_and_nothing_else() -> None:
    async with Daemon(probe_table()) as daemon, connect(daemon) as peer:
        result = (await peer.initialize())["result"]
        tree = result["capabilities"]["experimental"]["sessionTree"]
        assert tree["protocolVersion"] == 1
        assert "probe/ping" in tree["methods"]
        assert "probe/missing" not in tree["methods"]
        assert result["serverInfo"]["name"] == "octavo"
        assert "octavo.probe/ping" in result["capabilities"]["executeCommandProvider"]["commands"]


async def test_a_second_initialize_is_refused() -> None:
    async with client() as peer:
        assert kind(await peer.request("initialize", {"capabilities": {}})) == (-32600, "invalid-request")


async def test_a_client_with_capabilities_newer_than_lsp_is_served() -> None:
    async with Daemon(probe_table()) as daemon, connect(daemon) as peer:
        strange = {"general": {"positionEncodings": 7}, "workspace": {"applyEdit": {"future": True}}}
        assert "result" in await peer.request("initialize", {"processId": None, "capabilities": strange})
        assert (await peer.request("probe/ping"))["result"] == {"ok": True}


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("probe/missing", {}, (-31001, "not-available")),
        ("probe/nowhere", {}, (-32601, "method-not-found")),
        ("textDocument/hover", {"bad": 1}, (-32601, "method-not-found")),
        ("$/unknown", {}, (-32601, "method-not-found")),
        ("probe/ping", {"a": "x"}, (-32602, "invalid-params")),
        ("probe/ping", {"a": 1, "extra": 2}, (-32602, "invalid-params")),
        ("probe/ping", [1], (-32602, "invalid-params")),
        ("probe/ping", "text", (-32602, "invalid-params")),
        ("probe/make", None, (-32602, "invalid-params")),
        ("probe/unencodable", {}, (-32603, "internal-error")),
        ("probe/bug", {}, (-32603, "internal-error")),
        ("probe/refuse", {}, (-31011, "entry-not-found")),
        ("workspace/executeCommand", {"command": 5}, (-32602, "invalid-params")),
        ("workspace/executeCommand", {"command": "octavo.nowhere"}, (-32602, "invalid-params")),
        ("workspace/executeCommand", {"command": "octavo.probe/ping", "arguments": [1]}, (-32602, "invalid-params")),
        (
            "workspace/executeCommand",
            {"command": "octavo.probe/ping", "arguments": [{}, {}]},
            (-32602, "invalid-params"),
        ),
        ("initialized", {}, (-32600, "invalid-request")),
        ("exit", None, (-32600, "invalid-request")),
    ],
)
async def test_every_way_to_fail_is_answered_with_its_kind(method: str, params: Any, code: tuple[int, str]) -> None:
    async with client() as peer:
        assert kind(await peer.request(method, params)) == code
        assert (await peer.request("probe/ping"))["result"] == {"ok": True}


async def test_invalid_params_list_every_bad_field() -> None:
    async with client() as peer:
        answer = await peer.request("probe/ping", {"a": "x", "b": 1})
        assert answer["error"]["data"]["details"] == [
            {"loc": ["a"], "msg": "Input should be a valid integer, unable to parse string as an integer"},
            {"loc": ["b"], "msg": "Extra inputs are not permitted"},
        ]


async def test_a_defect_shows_neither_traceback_nor_message_nor_path() -> None:
    async with client() as peer:
        error = (await peer.request("probe/bug"))["error"]
        assert "ZeroDivisionError" in error["message"]
        assert "secret" not in str(error)
        assert "/" not in str(error).replace("probe/bug", "")


async def test_a_typed_error_carries_its_data() -> None:
    async with client() as peer:
        assert (await peer.request("probe/refuse"))["error"] == {
            "code": -31011,
            "message": "Entry e1 not found.",
            "data": {"kind": "entry-not-found", "sessionId": "s", "entryId": "e1"},
        }


@pytest.mark.parametrize("body", [b'{"jsonrpc":"2.0","id":9,"method":', b'"\xff\xfe"', b" "])
async def test_a_body_that_is_not_json_is_answered_with_a_null_id_and_the_next_one_works(body: bytes) -> None:
    """BR-100."""
    async with client() as peer:
        peer.send_bytes(body)
        answer = await peer.receive()
        assert answer["id"] is None
        assert kind(answer) == (-32700, "parse-error")
        assert (await peer.request("probe/ping"))["result"] == {"ok": True}


async def test_a_batch_is_refused_as_a_whole() -> None:
    async with client() as peer:
        peer.send([{"jsonrpc": "2.0", "id": 1, "method": "probe/ping"}])
        assert kind(await peer.receive()) == (-32600, "invalid-request")


async def test_params_may_be_absent_when_nothing_is_required() -> None:
    async with client() as peer:
        for message in ({"id": 1}, {"id": 2, "params": None}, {"id": 3, "params": {}}):
            peer.send({"jsonrpc": "2.0", "method": "probe/ping", **message})
            assert (await peer.receive())["result"] == {"ok": True}


@pytest.mark.parametrize("wrapped", [False, True], ids=["method", "executeCommand"])
async def test_params_survive_whatever_they_hold(wrapped: bool) -> None:
    value = {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "exit",
        "type_name": "X",
        "content-type": "a",
        "class": None,
        "_x": [{"jsonrpc": "2.0", "result": 1.5}, [], {}, -(2**60), True],
        "\ud83d": "half \ude00",
    }
    async with client() as peer:
        params: JsonObject = {"value": value, "text": "🧩"}
        if wrapped:
            answer = await peer.request(
                "workspace/executeCommand", {"command": "octavo.probe/echo", "arguments": [params]}
            )
        else:
            answer = await peer.request("probe/echo", params)
        assert answer["result"] == params


async def test_an_id_in_flight_cannot_be_used_twice_and_the_first_request_goes_on() -> None:
    async with client() as peer:
        peer.send({"jsonrpc": "2.0", "id": 5, "method": "probe/hang"})
        await next_of(peer, "probe/hanging")
        peer.send({"jsonrpc": "2.0", "id": 5, "method": "probe/hang"})
        answer = await peer.receive()
        assert (answer["id"], *kind(answer)) == (5, -32600, "invalid-request")
        peer.notify("$/cancelRequest", {"id": 5})
        await next_of(peer, "probe/stopped")
        assert kind(await peer.receive()) == (-32800, "cancelled")
        peer.send({"jsonrpc": "2.0", "id": 5, "method": "probe/ping"})
        assert (await peer.receive())["result"] == {"ok": True}


async def test_a_request_is_cancelled_by_its_id_and_what_it_sends_on_the_way_out_precedes_the_answer() -> None:
    async with client() as peer:
        peer.send({"jsonrpc": "2.0", "id": "h", "method": "probe/hang"})
        await next_of(peer, "probe/hanging")
        peer.notify("$/cancelRequest", {"id": "h"})
        assert (await peer.receive())["method"] == "probe/stopped"
        answer = await peer.receive()
        assert (answer["id"], *kind(answer)) == ("h", -32800, "cancelled")


async def test_cancelling_before_the_handler_has_begun_cancels_it() -> None:
    async with client() as peer:
        await peer.request("probe/ping")
        # Both in one chunk of bytes: the handler has no chance to run in between.
        engine = peer.connection._engine
        assert engine is not None
        engine.feed(b'{"jsonrpc":"2.0","id":1,"method":"probe/hang"}')
        engine.feed(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}')
        answer = await peer.receive()
        while "method" in answer:
            answer = await peer.receive()
        assert kind(answer) == (-32800, "cancelled")


async def test_a_cancel_does_not_pierce_a_shielded_write() -> None:
    async with client() as peer:
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "probe/stubborn"})
        await next_of(peer, "probe/writing")
        peer.notify("$/cancelRequest", {"id": 1})
        await next_of(peer, "probe/written")
        assert kind(await peer.receive()) == (-32800, "cancelled")


@pytest.mark.parametrize("params", [{"id": "unknown"}, {"id": 1.5}, {}, None, []])
async def test_cancelling_what_does_not_run_is_ignored(params: Any) -> None:
    async with client() as peer:
        peer.notify("$/cancelRequest", params)
        assert (await peer.request("probe/ping"))["result"] == {"ok": True}


async def test_the_progress_of_a_request_is_reported_under_its_token_and_its_bar_can_cancel_it() -> None:
    async with client() as peer:
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "probe/hang", "params": {"workDoneToken": "bar"}})
        begin = await next_of(peer, "$/progress")
        assert begin["params"]["token"] == "bar"
        assert begin["params"]["value"]["kind"] == "begin"
        assert (await next_of(peer, "$/progress"))["params"]["value"]["phase"] == "waiting"
        peer.notify("window/workDoneProgress/cancel", {"token": "bar"})
        assert (await next_of(peer, "$/progress"))["params"]["value"] == {"kind": "end", "message": "cancelled"}
        assert kind(await peer.receive()) == (-32800, "cancelled")


async def test_the_client_is_asked_and_its_answer_validated() -> None:
    async with client() as peer:
        for answer, expected in (
            ({"result": {"value": [1, {"jsonrpc": "2.0"}]}}, {"value": [1, {"jsonrpc": "2.0"}], "text": ""}),
            ({"result": None}, {"text": ""}),
        ):
            peer.send({"jsonrpc": "2.0", "id": 1, "method": "probe/ask", "params": {"value": {"deep": []}}})
            question = await next_of(peer, "probe/question")
            assert question["params"] == {"value": {"deep": []}}
            peer.send({"jsonrpc": "2.0", "id": question["id"], **answer})
            assert (await peer.receive())["result"] == expected


@pytest.mark.parametrize(
    "answer",
    [
        {"result": {"text": 5}},
        {"result": [1]},
        {"error": {"code": 7, "message": "no"}},
        {"error": {}},
        {"error": "x"},
    ],
)
async def test_a_wrong_or_failed_answer_of_the_client_ends_the_question(answer: JsonObject) -> None:
    async with client() as peer:
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "probe/ask"})
        question = await next_of(peer, "probe/question")
        peer.send({"jsonrpc": "2.0", "id": question["id"], **answer})
        reply = await peer.receive()
        assert kind(reply) == (-32603, "internal-error")
        assert "ClientError" in reply["error"]["message"]


async def test_a_cancelled_request_cancels_its_question_and_a_late_answer_is_ignored() -> None:
    async with client() as peer:
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "probe/ask"})
        question = await next_of(peer, "probe/question")
        peer.notify("$/cancelRequest", {"id": 1})
        assert (await next_of(peer, "$/cancelRequest"))["params"] == {"id": question["id"]}
        assert kind(await peer.receive()) == (-32800, "cancelled")
        peer.send({"jsonrpc": "2.0", "id": question["id"], "result": {}})
        assert (await peer.request("probe/ping"))["result"] == {"ok": True}


async def test_answers_to_requests_never_asked_are_ignored() -> None:
    async with client() as peer:
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "probe/hang"})
        await next_of(peer, "probe/hanging")
        for stray in (1, "x", None, "octavo-1"):
            peer.send({"jsonrpc": "2.0", "id": stray, "result": {"ok": True}})
            peer.send({"jsonrpc": "2.0", "id": stray, "error": {"code": 1, "message": "x"}})
        assert (await peer.request("probe/ping"))["result"] == {"ok": True}
        peer.notify("$/cancelRequest", {"id": 1})
        await next_of(peer, "probe/stopped")
        assert kind(await peer.receive()) == (-32800, "cancelled")


async def test_after_shutdown_only_exit_counts() -> None:
    async with client() as peer:
        assert (await peer.request("shutdown"))["result"] is None
        assert kind(await peer.request("probe/ping")) == (-32600, "invalid-request")
        assert kind(await peer.request("shutdown")) == (-32600, "invalid-request")
        peer.notify("exit")
        await peer.connection.closed()
        assert peer.connection.exit_code == 0


async def test_exit_without_shutdown_is_remembered_as_a_failure() -> None:
    async with client() as peer:
        peer.notify("exit")
        await peer.connection.closed()
        assert peer.connection.exit_code == 1


async def test_shutdown_cancels_what_does_not_end_by_itself() -> None:
    async with client() as peer:
        peer.send({"jsonrpc": "2.0", "id": 1, "method": "probe/hang"})
        await next_of(peer, "probe/hanging")
        peer.send({"jsonrpc": "2.0", "id": 2, "method": "shutdown"})
        await next_of(peer, "probe/stopped")
        answers = [await peer.receive(), await peer.receive()]
        assert [answer["id"] for answer in answers] == [1, 2]
        assert kind(answers[0]) == (-32800, "cancelled")


async def test_with_trace_on_every_answer_is_logged_to_the_client() -> None:
    async with client() as peer:
        peer.notify("$/setTrace", {"value": "verbose"})
        await peer.request("probe/ping")
        line = await next_of(peer, "window/logMessage")
        assert line["params"]["type"] == 4
        assert line["params"]["message"].startswith("probe/ping ('memory-2') was answered after ")


async def test_thousands_of_pipelined_requests_are_each_answered_once() -> None:
    async with client() as peer:
        for n in range(3000):
            peer.send({"jsonrpc": "2.0", "id": n, "method": "probe/ping" if n % 3 else "probe/nowhere"})
        assert sorted([(await peer.receive())["id"] for _ in range(3000)]) == list(range(3000))


async def test_too_many_unanswered_requests_are_refused() -> None:
    async with client() as peer:
        for n in range(4097):
            peer.send({"jsonrpc": "2.0", "id": n, "method": "probe/hang"})
        while "error" not in (message := await peer.receive()):
            pass
        assert (message["id"], *kind(message)) == (4096, -32600, "invalid-request")


async def test_a_failing_notification_is_not_answered() -> None:
    async with client() as peer:
        for method, params in (("probe/bug", {}), ("probe/ping", {"a": "x"}), ("nowhere", {}), ("$/x", None)):
            peer.notify(method, params)
        assert (await peer.request("probe/ping"))["result"] == {"ok": True}
        assert peer.notifications == []


async def test_work_of_the_daemon_goes_on_when_its_client_is_gone(tmp_path: Any) -> None:
    async with Daemon(probe_table()) as daemon:
        async with connect(daemon) as peer:
            await peer.initialize()
            await peer.request("probe/outlive", {"text": str(tmp_path / "note")})
        with anyio.fail_after(5):
            while not (tmp_path / "note").exists():
                await anyio.lowlevel.checkpoint()
        assert daemon.connections == set()
