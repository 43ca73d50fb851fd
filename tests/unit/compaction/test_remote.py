import json

import anyio
import pytest

from octavo.compaction.native import NativeCompactor
from octavo.compaction.remote import RemoteSummarizer
from octavo.providers.http import post_json
from octavo_protocol.errors import ErrorKind, OctavoError
from support.model_server import Reply, model_server
from support.summariser import model, user


def answer(value: object, status: int = 200) -> Reply:
    return Reply(status, json.dumps(value).encode(), "application/json")


async def failure(reply: Reply, path: str = "/s", seconds: float = 10) -> OctavoError:
    async with model_server(reply) as server:
        remote = RemoteSummarizer(post_json, server.url + path, "m", "sk-key", seconds)
        with anyio.fail_after(20), pytest.raises(OctavoError) as caught:
            await remote.summarize("SYS", "PROMPT", max_tokens=100)
        await server.wait_until(connected=0)
    assert caught.value.kind is ErrorKind.PROVIDER_ERROR
    assert "sk-key" not in caught.value.message
    return caught.value


async def test_the_own_form_sends_both_prompts_and_no_credential() -> None:
    async with model_server(answer({"summary": "S", "extra": 1})) as server:
        assert await RemoteSummarizer(post_json, f"{server.url}/s", api_key="sk-key").summarize("SYS", "P") == "S"
    assert server.requests == [{"systemPrompt": "SYS", "prompt": "P"}]
    assert "authorization" not in server.headers[0]
    assert server.headers[0]["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/chat/completions/", "/chat/completions?version=1"])
@pytest.mark.parametrize("content", ["the text", [{"type": "text", "text": "the "}, {"type": "text", "text": "text"}]])
async def test_a_chat_completions_address_is_spoken_to_in_its_own_form(path: str, content: object) -> None:
    async with model_server(answer({"choices": [{"message": {"content": content}}]})) as server:
        remote = RemoteSummarizer(post_json, server.url + path, "m", "sk-key")
        assert await remote.summarize("SYS", "P", max_tokens=7) == "the text"
    messages = [{"role": "system", "content": "SYS"}, {"role": "user", "content": "P"}]
    assert server.requests == [{"model": "m", "messages": messages, "stream": False, "max_tokens": 7}]
    assert server.headers[0]["authorization"] == "Bearer sk-key"


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
async def test_a_refusal_carries_its_status_and_how_long_to_wait(status: int) -> None:
    error = await failure(Reply(status, b"{}", "application/json", {"retry_after": "7"}))
    assert error.data["status"] == status
    assert error.data["retryAfterMs"] == 7000
    assert error.message.startswith(f"Remote compaction failed ({status} ")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html>sign in</html>", "text/html"),
        Reply(200, b"", "application/json"),
        Reply(200, b'{"summary": NaN}', "application/json"),
        Reply(200, b"\xff\xfe\x00", "application/json"),
        Reply(200, b"[" * 200_000, "application/json"),
        answer([1]),
        answer({"summary": 5}),
        answer({}),
    ],
    ids=["html", "empty", "nan", "bytes", "deep", "list", "number", "missing"],
)
async def test_a_body_that_is_no_summary_is_a_typed_error(reply: Reply) -> None:
    assert (await failure(reply)).data.get("status") is None


@pytest.mark.parametrize(
    "value", [{}, {"choices": []}, {"choices": [None]}, {"choices": [{"message": {"content": " "}}]}, {"choices": {}}]
)
async def test_a_chat_answer_without_text_is_a_typed_error(value: object) -> None:
    assert "missing summary" in (await failure(answer(value), "/chat/completions")).message


async def test_a_silent_endpoint_times_out_and_its_connection_is_closed() -> None:
    error = await failure(Reply(silent=True), seconds=0.1)
    assert error.data["details"] == {"timedOut": True}
    assert "timed out" in error.message


async def test_an_endpoint_that_stops_in_the_middle_times_out_too() -> None:
    error = await failure(Reply(200, b'{"summary": "', "application/json", hang=True), seconds=0.1)
    assert error.data["details"] == {"timedOut": True}


async def test_a_cut_connection_and_a_closed_port_are_typed_errors() -> None:
    assert "Remote compaction failed" in (await failure(Reply(200, b'{"sum', "application/json", cut=True))).message
    with pytest.raises(OctavoError, match="Remote compaction failed"):
        await RemoteSummarizer(post_json, "http://127.0.0.1:1/s").summarize("S", "P")
    for url in ("not a url", "http://[", "ftp://host/x", "http://\ud800/"):
        with pytest.raises(OctavoError, match="Remote compaction failed"):
            await RemoteSummarizer(post_json, url).summarize("S", "P")


async def test_cancelling_closes_the_connection_at_once() -> None:
    with anyio.fail_after(10):
        async with model_server(Reply(silent=True)) as server, anyio.create_task_group() as group:
            group.start_soon(RemoteSummarizer(post_json, f"{server.url}/s").summarize, "S", "P")
            await server.wait_until(asked=1)
            group.cancel_scope.cancel()
        assert server.requests == [{"systemPrompt": "S", "prompt": "P"}]


async def test_a_redirect_is_not_followed_with_the_prompt_in_hand() -> None:
    error = await failure(Reply(307, b"", "text/plain", {"location": "http://127.0.0.1:1/"}))
    assert error.data["status"] == 307


@pytest.mark.parametrize(
    "reply",
    [
        answer({"output": [{"type": "reasoning"}, {"type": "message", "role": "assistant", "content": []}]}),
        answer({"output": [{"type": "compaction"}]}),
        answer({"output": "x"}),
        answer({}),
        answer({"output": []}, 500),
        Reply(200, b"<html></html>", "text/html"),
    ],
    ids=["no-item", "no-content", "no-list", "nothing", "500", "html"],
)
async def test_a_native_answer_without_a_compaction_item_is_a_typed_error(reply: Reply) -> None:
    """BR-059."""
    async with model_server(reply) as server:
        openai = model(provider="openai", id="gpt-5", base_url=f"{server.url}/v1")
        with pytest.raises(OctavoError) as caught:
            await NativeCompactor(post_json, "sk-key").compact(openai, [user("x")], None, "INSTR")
    assert caught.value.kind is ErrorKind.PROVIDER_ERROR
    assert server.paths == ["/v1/responses/compact"]
