"""What octavo relies on inside pygls, by signature and by one behaviour each: a new version fails here first."""

import inspect
from concurrent.futures import Future
from typing import Any

import anyio
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import JsonRPCNotification, JsonRPCProtocol, JsonRPCRequestMessage, LanguageServerProtocol

from octavo.server.daemon import Daemon
from octavo.server.memory import MemoryClient, connect
from octavo.server.rpc import Engine, _converter
from wire.probe_daemon import probe_table


def parameters(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("__init__", ["self", "server", "converter"]),
        ("_execute_handler", ["self", "msg_id", "handler", "callback", "args", "kwargs"]),
        ("_handle_cancel_notification", ["self", "msg_id"]),
        ("_handle_notification", ["self", "method_name", "params"]),
        ("_handle_request", ["self", "msg_id", "method_name", "params"]),
        ("_handle_response", ["self", "msg_id", "result", "error"]),
        ("_send_handler_result", ["self", "future", "msg_id"]),
        ("_check_handler_result", ["self", "future"]),
        ("_send_data", ["self", "data"]),
        ("send_request", ["self", "method", "params", "callback", "msg_id"]),
    ],
)
def test_a_private_method_has_the_signature_octavo_overrides_or_calls(name: str, expected: list[str]) -> None:
    assert parameters(getattr(JsonRPCProtocol, name)) == expected


@pytest.mark.parametrize(
    "name",
    ["lsp_initialize", "lsp_shutdown", "lsp_exit", "lsp_set_trace", "lsp_work_done_progress_cancel",
     "lsp_workspace__execute_command"],
)  # fmt: skip
def test_the_lsp_methods_octavo_overrides_or_uses_exist(name: str) -> None:
    assert hasattr(getattr(LanguageServerProtocol, name), "method_name")


def test_the_state_octavo_reads_is_where_it_is_expected() -> None:
    server = LanguageServer("x", "1", converter_factory=_converter, protocol_cls=LanguageServerProtocol)
    protocol = server.protocol
    assert protocol._request_futures == {}
    assert protocol._result_types == {}
    assert protocol._shutdown is False
    assert protocol.trace is types.TraceValue.Off
    assert {"initialize", "shutdown", "exit", "$/setTrace", "workspace/executeCommand"} <= set(
        protocol.fm.builtin_features
    )
    assert protocol.fm.features == {}
    assert protocol.fm.commands == {}


def test_the_messages_pygls_builds_have_the_members_octavo_encodes() -> None:
    request = JsonRPCRequestMessage(id="1", method="m", jsonrpc="2.0", params={"a": 1})
    assert (request.id, request.method, request.params) == ("1", "m", {"a": 1})
    assert not hasattr(JsonRPCNotification(method="m", jsonrpc="2.0", params=None), "id")


def test_an_error_of_the_peer_becomes_an_exception_with_its_code_and_data() -> None:
    error = JsonRpcException.from_error(types.ResponseError(code=-31011, message="m", data={"kind": "k"}))
    assert (error.code, error.message, error.data) == (-31011, "m", {"kind": "k"})


async def test_a_request_octavo_sends_is_correlated_by_its_id() -> None:
    async with Daemon(probe_table()) as daemon, connect(daemon) as peer:
        engine = await engine_of(peer)
        future = engine.protocol.send_request("probe/question", {"a": 1}, msg_id="mine")
        assert isinstance(future, Future)
        assert await peer.receive() == {"jsonrpc": "2.0", "id": "mine", "method": "probe/question", "params": {"a": 1}}
        engine.protocol._handle_response("mine", {"b": 2}, None)
        assert future.result(0) == {"b": 2}


async def test_a_notification_with_an_lsp_type_is_encoded_by_the_converter() -> None:
    async with Daemon(probe_table()) as daemon, connect(daemon) as peer:
        engine = await engine_of(peer)
        engine.window_log_message(types.LogMessageParams(type=types.MessageType.Info, message="m"))
        assert await peer.receive() == {
            "jsonrpc": "2.0",
            "method": "window/logMessage",
            "params": {"type": 3, "message": "m"},
        }


@pytest.mark.parametrize(
    "capabilities",
    [{}, {"general": {"positionEncodings": ["utf-8", "utf-16"]}}, {"general": {"positionEncodings": ["ebcdic"]}}],
)
async def test_the_greeting_advertises_what_pygls_would(capabilities: dict[str, Any]) -> None:
    async with Daemon(probe_table()) as daemon, connect(daemon) as peer:
        answer = await peer.request("initialize", {"processId": None, "capabilities": capabilities})
        engine = await engine_of(peer, initialize=False)
        ours = answer["result"]["capabilities"]
        theirs = _converter().unstructure(engine.server_capabilities)
        del ours["experimental"]
        ours["executeCommandProvider"]["commands"].sort()
        theirs["executeCommandProvider"]["commands"].sort()
        assert ours == theirs


async def test_closed_connections_are_not_kept_alive_by_caches() -> None:
    import gc
    import weakref

    async with Daemon(probe_table()) as daemon:
        async with connect(daemon) as peer:
            engine = weakref.ref(await engine_of(peer))
        del peer
        await anyio.lowlevel.checkpoint()
        gc.collect()
        assert engine() is None


async def engine_of(peer: MemoryClient, *, initialize: bool = True) -> Engine:
    if initialize:
        await peer.initialize()
    assert (await peer.request("probe/ping"))["result"] == {"ok": True}
    engine = peer.connection._engine
    assert isinstance(engine, Engine)
    return engine
