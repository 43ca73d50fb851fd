"""The Python client against a scripted peer in another process, over real pipes and a real socket."""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import anyio
import pytest
from pydantic import ValidationError

from octavo_client import Client, DaemonGoneError, OctavoClientError, Options
from octavo_client import child as child_module
from octavo_client import client as client_module
from octavo_client.framing import FrameReader, parse
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.compaction import CompactionResult
from octavo_protocol.methods.hooks import SessionBeforeTreeResult
from octavo_protocol.methods.models import AgentAbortParams, AgentAbortResult, LlmCompleteParams
from octavo_protocol.notifications import DidChange, ProgressValue

PEER = [sys.executable, str(Path(__file__).parent / "echo_peer.py")]


@asynccontextmanager
async def echo(options: Options | None = None) -> AsyncIterator[Client]:
    with anyio.fail_after(20):
        async with Client.spawn(PEER, options, stderr=DEVNULL) as client:
            yield client


@asynccontextmanager
async def peer_on_socket(path: Path) -> AsyncIterator[None]:
    async with await anyio.open_process([*PEER, "--socket", str(path)], stderr=DEVNULL) as process:
        assert process.stdout is not None
        assert await process.stdout.receive() == b"ready\n"
        yield
        process.kill()


async def test_the_greeting_tells_both_sides_who_they_are() -> None:
    async def complete(params: LlmCompleteParams) -> dict[str, Any]:
        return {}

    handlers = {"llm/complete": complete, "hook/sessionBeforeTree": complete}
    options = Options(handlers=handlers, hooks=["sessionTree"], settings={"language": "de"}, token="t")
    async with echo(options) as client:
        assert client.server_info == {"name": "echo", "version": "1"}
        assert client.capabilities.protocol_version == 1
        assert await client.request("test/options") == {
            "settings": {"language": "de"},
            "token": "t",
            "client": {"complete": True, "agent": False, "hooks": ["sessionBeforeTree", "sessionTree"]},
        }


async def test_a_helper_sends_its_fields_and_gives_a_model_that_ignores_newer_fields() -> None:
    async with echo() as client:
        info = await client.session_get_info(session_id="abc")
        assert (info.session_id, info.version) == ("abc", 3)


async def test_answers_find_their_requests_in_any_order() -> None:
    async with echo() as client, anyio.create_task_group() as tasks:
        got: list[str] = []

        async def ask(session_id: str) -> None:
            got.append((await client.session_get_info(session_id=session_id)).session_id)

        tasks.start_soon(ask, "slow")
        tasks.start_soon(ask, "fast")
    assert sorted(got) == ["fast", "slow"]


async def test_what_is_not_given_is_not_sent_and_none_is_sent_as_null() -> None:
    sent: list[Any] = []

    class Spy(Client):
        async def _ask(self, method: str, params: Any, result: Any) -> Any:
            sent.append(params.model_dump(by_alias=True, exclude_unset=True))
            return result.model_construct()

    async with anyio.create_task_group() as tasks:
        async with Spy.spawn(PEER, stderr=DEVNULL) as client:
            await client.session_append(session_id="s", messages=[{"role": "user", "x": None}], parent_id=None)
        tasks.cancel_scope.cancel()
    assert sent == [{"sessionId": "s", "messages": [{"role": "user", "x": None}], "parentId": None}]


async def test_wrong_params_never_leave_the_client() -> None:
    async with echo() as client:
        with pytest.raises(ValidationError):
            await client.session_append(session_id="s")


async def test_an_error_answer_is_typed_and_progress_arrives_before_it() -> None:
    reports: list[ProgressValue] = []
    async with echo() as client:
        with pytest.raises(OctavoClientError, match="p answered 529") as caught:
            await client.session_compact(session_id="s", on_progress=reports.append)
        assert caught.value.kind is ErrorKind.PROVIDER_ERROR
        assert caught.value.code == -31031
        assert caught.value.data["retryAfterMs"] == 5
    assert [(value.kind, value.tokens_out) for value in reports] == [("begin", None), ("report", 7)]


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        ({"code": -31010, "message": "m"}, ErrorKind.SESSION_NOT_FOUND, -31010),
        ({"code": -5, "message": "m", "data": {"kind": "from-the-future"}}, None, -5),
        ("nonsense", ErrorKind.INTERNAL_ERROR, -32603),
        ({"code": "x", "data": []}, ErrorKind.INTERNAL_ERROR, -32603),
    ],
)
async def test_errors_of_newer_or_broken_daemons_are_errors_too(error: Any, kind: ErrorKind | None, code: int) -> None:
    async with echo() as client:
        with pytest.raises(OctavoClientError) as caught:
            await client.request("test/error", {"error": error})
        assert (caught.value.kind, caught.value.code) == (kind, code)


async def test_cancelling_the_caller_cancels_the_request_at_the_daemon() -> None:
    async with echo() as client:
        with anyio.move_on_after(0.05) as scope:
            await client.request("test/never")
        assert scope.cancelled_caught
        assert await client.request("test/cancelled") == [2]


async def test_a_late_answer_to_a_cancelled_request_is_ignored() -> None:
    async with echo() as client:
        with anyio.move_on_after(0.05):
            await client.session_get_info(session_id="slow")
        assert (await client.session_get_info(session_id="fast")).session_id == "fast"
        assert await client.request("test/echo", {"still": "alive"}) == {"still": "alive"}


async def test_notifications_reach_streams_and_callbacks_in_order_and_typed() -> None:
    changes = [["session/didChange", {"sessionId": "s", "epoch": "e", "seq": n, "kind": "leaf"}] for n in (1, 2, 3)]
    heard: list[int] = []
    async with echo() as client:
        stop = client.on("session/didChange", lambda change: heard.append(change.seq))
        with client.subscribe("session/didChange") as some, client.subscribe() as every:
            await client.request("test/notify", {"notifications": [*changes, ["future/thing", {"x": 1}]]})
            first = await some.receive()
            assert isinstance(first.params, DidChange)
            assert [first.params.seq, (await some.receive()).params.seq] == [1, 2]
            names = [(await every.receive()).method for _ in range(4)]
            assert names == ["session/didChange"] * 3 + ["future/thing"]
        stop()
        await client.request("test/notify", {"notifications": changes})
    assert heard == [1, 2, 3]


async def test_a_failing_listener_neither_ends_the_connection_nor_silences_others() -> None:
    change = ["session/didChange", {"sessionId": "s", "epoch": "e", "seq": 1, "kind": "leaf"}]
    broken = ["session/didChange", {"seq": "not a number"}]
    async with echo() as client:
        client.on("session/didChange", lambda _: 1 / 0)
        with client.subscribe("session/didChange") as events:
            await client.request("test/notify", {"notifications": [broken, change]})
            await events.receive()
            assert (await events.receive()).params.seq == 1


async def test_the_daemon_s_requests_are_answered_by_handlers() -> None:
    seen: list[AgentAbortParams] = []

    async def abort(params: AgentAbortParams) -> AgentAbortResult:
        seen.append(params)
        return AgentAbortResult(stopped=True)

    async def before_tree(params: Any) -> SessionBeforeTreeResult | None:
        return None

    async def complete(params: Any) -> None:
        raise OctavoError(ErrorKind.NO_MODEL, "no model here")

    async def compacting(params: Any) -> None:
        raise ZeroDivisionError

    handlers = {
        "agent/abort": abort,
        "hook/sessionBeforeTree": before_tree,
        "llm/complete": complete,
        "hook/sessionCompacting": compacting,
    }

    async def asked(client: Client, method: str, params: dict[str, Any]) -> Any:
        return await client.request("test/ask", {"id": 900, "method": method, "params": params})

    async with echo(Options(handlers=handlers)) as client:
        answer = await asked(client, "agent/abort", {"sessionId": "s", "reason": "compaction", "added": "later"})
        assert answer["result"] == {"stopped": True}
        assert seen[0].session_id == "s"
        tree = {"sessionId": "s", "preparation": {"targetId": "a", "entriesToSummarize": [], "userWantsSummary": False}}
        assert (await asked(client, "hook/sessionBeforeTree", tree))["result"] is None
        model = {"provider": "p", "id": "m"}
        call = {"requestId": "r", "purpose": "summary", "model": model, "systemPrompt": [], "messages": []}
        assert (await asked(client, "llm/complete", call))["error"]["data"]["kind"] == "no-model"
        run = {"sessionId": "s", "operationId": "o", "messages": []}
        assert (await asked(client, "hook/sessionCompacting", run))["error"]["code"] == -32603
        assert (await asked(client, "hook/unknown", {}))["error"]["code"] == -32601
        assert (await asked(client, "window/workDoneProgress/create", {"token": 1}))["result"] is None


async def test_a_handler_is_cancelled_when_the_daemon_cancels_its_request() -> None:
    cancelled = anyio.Event()

    async def abort(params: AgentAbortParams) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    async with echo(Options(handlers={"agent/abort": abort})) as client:
        params = {"id": 901, "method": "agent/abort", "params": {"sessionId": "s", "reason": "compaction"}}
        answer = await client.request("test/askAndCancel", params)
        assert answer["error"]["code"] == -32800
        await cancelled.wait()


def test_a_handler_for_something_no_daemon_asks_is_a_mistake() -> None:
    async def handler(params: Any) -> None: ...

    send, receive = anyio.create_memory_object_stream[bytes](1)
    with send, receive, pytest.raises(ValueError, match="session/open"):
        Client(receive, send, Options(handlers={"session/open": handler}))  # type: ignore[arg-type]


async def test_the_end_of_the_daemon_ends_requests_and_streams_and_later_requests() -> None:
    async with echo() as client, anyio.create_task_group() as tasks:
        failures: list[BaseException] = []

        async def ask() -> None:
            try:
                await client.request("test/never")
            except DaemonGoneError as error:
                failures.append(error)

        with client.subscribe() as events:
            tasks.start_soon(ask)
            with pytest.raises(DaemonGoneError):
                await client.request("test/die")
            assert [event async for event in events] == []
        with pytest.raises(DaemonGoneError):
            await client.request("test/echo")
        with client.subscribe() as events:
            assert [event async for event in events] == []
    assert len(failures) == 1


@pytest.mark.parametrize(
    "text", ["HTTP/1.1 200 OK\r\n\r\n", "Content-Length: 3\r\n\r\n{,}", "Content-Length: 2\r\n\r\n[]"]
)
async def test_a_peer_that_speaks_nonsense_is_gone(text: str) -> None:
    async with echo() as client:
        with pytest.raises(DaemonGoneError):
            await client.request("test/raw", {"text": text})


async def test_a_program_that_ends_at_once_is_reported() -> None:
    with anyio.fail_after(20), pytest.raises(DaemonGoneError):
        async with Client.spawn([sys.executable, "-c", "pass"]):
            pytest.fail("there is nobody to greet")


async def test_what_the_body_raises_comes_out_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with echo():
            raise ZeroDivisionError


async def test_a_daemon_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[anyio.abc.Process] = []
    open_process = anyio.open_process

    async def remember(*args: Any, **kwargs: Any) -> anyio.abc.Process:
        started.append(await open_process(*args, **kwargs))
        return started[-1]

    for module in (client_module, child_module):
        monkeypatch.setattr(module, "GRACE_S", 0.2)
    monkeypatch.setattr(anyio, "open_process", remember)
    stubborn = "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    with anyio.fail_after(20), anyio.move_on_after(0.5):
        async with Client.spawn([sys.executable, "-c", stubborn]):
            pytest.fail("it never answers")
    assert [process.returncode in {-9, -15} for process in started] == [True]


async def test_leaving_tells_the_requests_of_other_tasks_that_still_wait() -> None:
    reasons: list[str] = []

    async def wait(client: Client) -> None:
        try:
            await client.request("test/never")
        except DaemonGoneError as error:
            reasons.append(str(error))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            async with echo() as client:
                tasks.start_soon(wait, client)
                await client.request("test/echo")
                assert (client.gone, reasons) == (None, [])
            assert await client.ended() is None
    assert reasons


async def test_the_end_of_the_daemon_is_told_to_those_who_wait_for_it() -> None:
    seen: list[Client] = []

    async def remember(one: Client) -> None:
        seen.append(one)
        await one.request("test/die")

    async with echo() as client:
        reason = await client.each_connection(remember)
        assert isinstance(reason, DaemonGoneError)
        assert (client.gone, await client.ended()) == (reason, reason)
    assert seen == [client]
    assert await client.ended() is reason


async def test_the_token_for_a_port_is_said_with_the_other_options() -> None:
    options = Options(hooks=["sessionTree"])
    said: list[Any] = []

    async def greet(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            said.append(parse(await FrameReader(stream).read())["params"]["initializationOptions"])

    with anyio.fail_after(20):
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            port = listener.extra(anyio.abc.SocketAttribute.local_port)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listener.serve, greet)
                with pytest.raises(DaemonGoneError):
                    async with Client.connect_tcp("127.0.0.1", port, token="secret", options=options):
                        pytest.fail("nobody answers")
                tasks.cancel_scope.cancel()
    assert [(one["token"], one["client"]["hooks"]) for one in said] == [("secret", ["sessionTree"])]


async def test_attaching_asks_the_program_for_a_bridge_and_ties_nobody_s_life_to_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands: list[list[str]] = []
    greetings: list[Any] = []
    open_process = anyio.open_process

    class Spy(Client):
        async def _greet(self, process_id: int | None) -> None:
            greetings.append(process_id)
            await super()._greet(process_id)

    async def remember(command: list[str], **kwargs: Any) -> anyio.abc.Process:
        commands.append(command)
        return await open_process(command, **kwargs)

    monkeypatch.setattr(anyio, "open_process", remember)
    for start in (True, False):
        with anyio.fail_after(20):
            async with Spy.attach(start=start, program=PEER) as client:
                assert client.server_info["name"] == "echo"
    assert commands == [[*PEER, "attach"], [*PEER, "attach", "--no-start"]]
    assert greetings == [None, None]


async def test_large_and_odd_text_survives_the_wire() -> None:
    text = "é漢\U0001f600\ud83d\x00" + "a" * 3_000_000
    async with echo() as client:
        assert await client.request("test/echo", {"text": text, "n": None}) == {"text": text, "n": None}


async def test_a_daemon_on_a_socket_serves_clients_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "octavo.sock"
    with anyio.fail_after(20):
        async with peer_on_socket(path):
            for _ in range(2):
                async with Client.connect_unix(path) as client:
                    assert (await client.session_get_info(session_id="x")).session_id == "x"


async def test_a_socket_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        async with Client.connect_unix(tmp_path / "octavo.sock"):
            pytest.fail("nobody listens")


def test_the_client_does_not_need_the_daemon_package() -> None:
    code = "import sys, octavo_client; print(sorted(m for m in sys.modules if m.split('.')[0] in {'octavo', 'pygls'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_helpers_return_the_models_of_the_protocol() -> None:
    assert Client.session_compact.__annotations__["return"] is CompactionResult
