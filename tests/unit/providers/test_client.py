"""The HTTP client against real sockets: answers, refusals, silence, cuts, nonsense."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from octavo.providers.client import HttpCompletion, Timeouts, explain
from octavo.providers.credentials import Credentials
from octavo.providers.router import Router
from octavo_protocol.completion import CompletionRequest, CompletionResult, Model
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.settings import ProviderSettings
from support.model_server import ModelServer, Reply, chat, error, model_server

GOLDEN = Path(__file__).parents[2] / "wire" / "providers"
KEY = "sk-test-0123456789abcdef"
APIS = ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"]


def completion(*, idle: float = 5, total: float = 20) -> HttpCompletion:
    return HttpCompletion(Credentials({"p": ProviderSettings(api_key=KEY)}, {}), Timeouts(2, idle, total))


def request(server: ModelServer | str, api: str = "openai-completions") -> CompletionRequest:
    url = server if isinstance(server, str) else server.url
    model = Model("p", "m", api, 100_000, 8_000, base_url=url)
    return CompletionRequest(model, ("system",), ({"role": "user", "content": "hello"},))


async def ask(server: ModelServer, api: str = "openai-completions") -> CompletionResult:
    with anyio.fail_after(20):
        return await completion().complete(request(server, api))


@pytest.mark.parametrize("api", APIS)
async def test_every_api_streams_its_answer_through_a_real_connection(api: str) -> None:
    async with model_server(Reply(body=(GOLDEN / f"{api}.sse").read_bytes(), chunks=9)) as server:
        heard: list[int] = []
        result = await completion().complete(request(server, api), heard.append)
        assert result.text == "満潮 07:12"
        assert heard == sorted(heard)
        assert heard[-1] > 0
        await server.wait_until(connected=0)


async def test_a_server_that_does_not_stream_is_understood_too() -> None:
    body = b'{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}'
    async with model_server(Reply(body=body, content_type="application/json")) as server:
        assert (await ask(server)).text == "whole"


async def test_a_compatible_server_without_a_key_gets_no_authorization_header() -> None:
    async with model_server(chat("hi")) as server:
        result = await HttpCompletion(Credentials({}, {})).complete(request(server))
        assert result.text == "hi"
        assert "authorization" not in server.headers[0]
        assert server.paths == ["/chat/completions"]


async def test_a_refusal_carries_status_message_and_the_time_to_wait() -> None:
    async with model_server(error(429, "slow down", retry_after="7")) as server:
        result = await ask(server)
        assert (result.stop_reason, result.error_status, result.retry_after_ms) == ("error", 429, 7000)
        assert result.error_message == "429 slow down"


async def test_a_provider_that_repeats_the_key_does_not_leak_it() -> None:
    async with model_server(error(401, f"invalid key {KEY}")) as server:
        result = await ask(server)
        assert result.error_message is not None
        assert KEY not in result.error_message
        assert result.error_status == 401


async def test_a_credential_is_found_in_headers_and_address_however_it_is_repeated() -> None:
    async with model_server(
        error(400, "bad dXNlcjpwYXNzd29yZCA0NzEx, password 4711, 0123456789, tenant-9876")
    ) as server:
        address = server.url.replace("http://", "http://user:password%204711@") + "/v1?code=0123456789"
        headers = {"X-Proxy-Auth": "tenant-9876", "X-Title": "bad"}
        completion = HttpCompletion(Credentials({"p": ProviderSettings(headers=headers)}, {}), Timeouts(2, 5, 20))
        result = await completion.complete(request(address))
        assert result.error_message == "400 bad [redacted], [redacted], [redacted], [redacted]"


async def test_an_answer_that_echoes_the_key_is_cleaned_before_it_can_be_stored() -> None:
    async with model_server(chat(f"Your header was Bearer {KEY}, sent by lm-studio.")) as server:
        assert (await ask(server)).text == "Your header was Bearer [redacted], sent by lm-studio."


async def test_a_short_key_is_a_word_that_may_be_written_about() -> None:
    async with model_server(chat("The tests run on lm-studio.")) as server:
        completion = HttpCompletion(Credentials({"p": ProviderSettings(api_key="lm-studio")}, {}), Timeouts(2, 5, 20))
        assert (await completion.complete(request(server))).text == "The tests run on lm-studio."


async def test_a_redirect_is_named_and_not_followed() -> None:
    async with model_server(Reply(307, headers={"location": "/elsewhere"})) as server:
        result = await ask(server)
        assert result.error_message == "the address redirects (307); set the one it leads to"
        assert len(server.paths) == 1


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://a\x00b/v1", "no address", "http://host:99999999/", "x" * 70_000]
)
async def test_an_address_that_is_none_is_an_error_and_not_a_defect(url: str) -> None:
    with anyio.fail_after(20):
        result = await completion().complete(request(url))
    assert result.stop_reason == "error"
    assert result.error_message is not None
    assert KEY not in result.error_message


async def test_html_from_a_proxy_becomes_one_readable_line() -> None:
    page = b"<html><head><title>502</title></head><body><h1>Bad Gateway</h1></body></html>"
    async with model_server(Reply(502, page, "text/html")) as server:
        assert (await ask(server)).error_message == "502 502 Bad Gateway"


async def test_a_web_page_in_place_of_an_answer_is_called_what_it_is() -> None:
    async with model_server(Reply(body=b"<html><body>Log in</body></html>", content_type="text/html")) as server:
        assert (await ask(server)).error_message == "the address answers with a web page; check the base URL"


@pytest.mark.parametrize(
    "body", [b"data: {not json}\n\n", b"data: [1,2]\n\n", b'data: {"choices":[7]}\n\n', b"\xff\xfe"]
)
async def test_nonsense_is_an_error_and_not_an_answer(body: bytes) -> None:
    async with model_server(Reply(body=body)) as server:
        result = await ask(server)
        assert result.stop_reason == "error"
        assert result.content == ()


@pytest.mark.parametrize("api", APIS)
async def test_a_stream_cut_in_the_middle_is_an_error(api: str) -> None:
    whole = (GOLDEN / f"{api}.sse").read_bytes()
    async with model_server(Reply(body=whole[: len(whole) // 2], cut=True)) as server:
        assert (await ask(server, api)).stop_reason == "error"


async def test_a_provider_that_hangs_after_the_headers_times_out_and_says_so() -> None:
    async with model_server(Reply(body=b": hello\n\n", hang=True)) as server:
        result = await completion(idle=0.2).complete(request(server))
        assert result.timed_out
        assert result.stop_reason == "error"


async def test_the_whole_call_has_a_deadline_however_steadily_the_provider_drips() -> None:
    drip = Reply(body=b": x\n\n" * 2000, chunks=2000, hang=True)
    async with model_server(drip) as server:
        assert (await completion(total=0.5).complete(request(server))).timed_out


async def test_cancelling_closes_the_connection_of_a_hanging_provider() -> None:
    async with model_server(Reply(silent=True)) as server:
        with anyio.move_on_after(10) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(completion().complete, request(server))
                await server.wait_until(asked=1)
                tasks.cancel_scope.cancel()
        assert not scope.cancelled_caught
        await server.wait_until(connected=0)


async def test_nobody_listening_is_a_connection_error() -> None:
    result = await completion().complete(request("http://127.0.0.1:9"))
    assert (result.error_message or "").startswith("connection error")


async def test_a_model_without_key_or_address_is_a_typed_error_before_any_connection() -> None:
    lonely = CompletionRequest(Model("nowhere", "m", "openai-completions"), (), ())
    for router in (Router(HttpCompletion(Credentials({}, {}))), HttpCompletion(Credentials({}, {}))):
        with pytest.raises(OctavoError, match="No API key for nowhere") as caught:
            await router.complete(lonely)
        assert caught.value.kind is ErrorKind.NO_MODEL


async def test_headers_of_the_settings_travel_with_every_call() -> None:
    async with model_server(chat("hi")) as server:
        settings = {"p": ProviderSettings(headers={"x-team": "tides"})}
        await HttpCompletion(Credentials(settings, {})).complete(request(server))
        assert server.headers[0]["x-team"] == "tides"


async def test_an_unknown_api_names_itself_and_the_way_out() -> None:
    with pytest.raises(OctavoError, match="llm/complete"):
        await completion().complete(CompletionRequest(Model("p", "m", "smoke-signals"), (), ()))


def test_an_empty_refusal_reads_as_no_body() -> None:
    assert explain(413, "") == "413 status code (no body)"


@pytest.mark.parametrize("api", APIS)
async def test_half_an_emoji_anywhere_in_a_history_does_not_keep_it_from_being_sent(api: str) -> None:
    half = "\ud83d"
    called = {"type": "toolCall", "id": "c1", "name": "write", "arguments": {"text": half}}
    signed = {"type": "thinking", "thinking": half, "thinkingSignature": "sig"}
    messages = (
        {"role": "user", "content": half},
        {"role": "assistant", "api": "anthropic-messages", "content": [signed, called]},
        {"role": "toolResult", "toolCallId": "c1", "toolName": "write", "content": half},
    )
    async with model_server(Reply(body=(GOLDEN / f"{api}.sse").read_bytes())) as server:
        asked = replace(request(server, api), messages=messages, system_prompt=(f"{half} keep tide tables",))
        result = await completion().complete(asked)
        assert (result.error_message, result.text) == (None, "満潮 07:12")
