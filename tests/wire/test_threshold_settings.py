"""When a session is condensed and by whom is the user's choice, session by session, through a real daemon (BR-112)."""

from pathlib import Path
from typing import Any

import pytest

from octavo_client import Client, Options
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind
from octavo_protocol.methods.models import LlmCompleteParams
from octavo_protocol.model_info import ModelInfo
from wire.sessions import daemon, refused

MAIN, CHEAP = "acme/large", "acme/small"
WINDOW = 100_000
SUMMARY = "## Goal\nCount the boats in every harbour.\n\n## Next Steps\n1. Go on with the next harbour."
MODELS = [
    ModelInfo(provider="acme", id=name, api="openai-completions", context_window=WINDOW) for name in ("large", "small")
]


def turns(count: int) -> list[JsonObject]:
    """Turns of about 2,000 tokens each."""
    out: list[JsonObject] = []
    for number in range(count):
        out.append({"role": "user", "content": f"Harbour {number}: " + "how many boats, please? " * 160})
        said = f"Harbour {number}: " + "seven boats are there. " * 200
        out.append({"role": "assistant", "content": [{"type": "text", "text": said}], "stopReason": "stop"})
    return out


async def start(client: Client) -> str:
    """A session of 40,000 tokens on the main model."""
    session = await client.session_create(cwd="/p", model=MAIN, ephemeral=True)
    await client.session_append(session_id=session.session_id, messages=turns(20))
    return session.session_id


async def own(client: Client, session: str, **settings: Any) -> None:
    values = {f"compaction.{key}": value for key, value in settings.items()}
    await client.settings_update(settings=values, scope="session", session_id=session)


async def test_percent_and_tokens_move_the_threshold_of_one_session_and_off_means_off(tmp_path: Path) -> None:
    asked: list[str] = []

    async def complete(params: LlmCompleteParams) -> JsonObject:
        asked.append(f"{params.model.provider}/{params.model.id}")
        return {"content": [{"type": "text", "text": SUMMARY}], "stopReason": "stop"}

    async with daemon(tmp_path, Options(models=MODELS, handlers={"llm/complete": complete})) as client:

        async def threshold(session: str) -> int:
            return (await client.session_context_usage(session_id=session)).threshold

        mine, others = await start(client), await start(client)
        usual = await threshold(others)
        await own(client, mine, thresholdPercent=25)
        assert await threshold(mine) == WINDOW // 4
        await own(client, mine, thresholdTokens=30_000)
        assert await threshold(mine) == 30_000
        assert await threshold(others) == usual

        for off in ({"enabled": False}, {"strategy": "off"}):
            await own(client, mine, **off)
            directive = await client.session_check_maintenance(session_id=mine, at="turnEnd")
            assert (directive.action, directive.next) == ("none", "proceed")
            await own(client, mine, **dict.fromkeys(off))
        assert asked == []

        directive = await client.session_check_maintenance(session_id=others, at="turnEnd")
        assert directive.action == "none"
        directive = await client.session_check_maintenance(session_id=mine, at="turnEnd")
        assert directive.action == "compacted"


async def test_another_model_may_summarise_and_the_session_goes_on_with_its_own(tmp_path: Path) -> None:
    asked: list[str] = []

    async def complete(params: LlmCompleteParams) -> JsonObject:
        asked.append(f"{params.model.provider}/{params.model.id}")
        return {"content": [{"type": "text", "text": SUMMARY}], "stopReason": "stop"}

    async with daemon(tmp_path, Options(models=MODELS, handlers={"llm/complete": complete})) as client:
        session = await start(client)
        await own(client, session, thresholdTokens=30_000, model=CHEAP)
        directive = await client.session_check_maintenance(session_id=session, at="turnEnd")
        assert directive.action == "compacted"
        assert set(asked) == {CHEAP}
        context = await client.session_build_context(session_id=session)
        assert (context.model, context.models) == (MAIN, {"default": MAIN})
        assert (await client.session_get_info(session_id=session)).model == MAIN
        usage = await client.session_context_usage(session_id=session)
        assert (usage.model, usage.context_window) == (MAIN, WINDOW)


async def test_a_summariser_nobody_knows_is_named_for_a_request_as_for_a_setting(tmp_path: Path) -> None:
    async with daemon(tmp_path, Options(models=MODELS)) as client:
        session = await start(client)
        async with refused(ErrorKind.NO_MODEL) as caught:
            await client.session_compact(session_id=session, model="nobody", strategy="context-full")
        assert "nobody" in caught[0].message
        await own(client, session, model="nobody-either")
        async with refused(ErrorKind.NO_MODEL) as caught:
            await client.session_compact(session_id=session, strategy="context-full")
        assert "nobody-either" in caught[0].message
        assert (await client.session_get_info(session_id=session)).entry_count == 1 + 40


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("thresholdPercent", "most", "a number"),
        ("strategy", "summarise", '"context-full"'),
        ("keepRecentTokens", -1, "a whole number from 0 up"),
    ],
)
async def test_a_wrong_value_of_a_session_names_key_value_and_what_is_allowed_and_changes_nothing(
    tmp_path: Path, key: str, value: Any, allowed: str
) -> None:
    async with daemon(tmp_path, Options(models=MODELS)) as client:
        session = await start(client)
        before = await client.settings_get(session_id=session)
        async with refused(ErrorKind.INVALID_PARAMS) as caught:
            await own(client, session, **{"reserveTokens": 1, key: value})
        for part in (f"compaction.{key}", str(value), allowed):
            assert part in caught[0].message
        assert await client.settings_get(session_id=session) == before
