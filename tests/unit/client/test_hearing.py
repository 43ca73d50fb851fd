"""Who listens hears, in order, until it stops."""

import pytest

from octavo_client import Notification
from octavo_client.hearing import Hearing


def test_callbacks_hear_what_they_asked_for_until_they_are_stopped() -> None:
    hearing, some, every = Hearing(), list[object](), list[str]()
    stop = hearing.on("future/thing", some.append)
    hearing.on_every(lambda notification: every.append(notification.method))
    for method in ("future/thing", "other/thing"):
        hearing._tell(Notification(method, {"x": 1}))
    stop()
    stop()
    hearing._tell(Notification("future/thing", {"x": 2}))
    assert some == [{"x": 1}]
    assert every == ["future/thing", "other/thing", "future/thing"]


def test_one_listener_s_mistake_is_logged_and_the_others_hear(caplog: pytest.LogCaptureFixture) -> None:
    hearing, heard = Hearing(), list[object]()
    hearing.on("future/thing", lambda _: 1 / 0)  # type: ignore[arg-type]
    hearing.on("future/thing", heard.append)
    hearing._tell(Notification("future/thing", {}))
    assert heard == [{}]
    assert "future/thing" in caplog.text


async def test_streams_end_when_nothing_more_comes_and_are_ended_from_then_on() -> None:
    hearing = Hearing()
    with hearing.subscribe() as early:
        hearing._tell(Notification("a/b", {}))
        hearing._fall_silent()
        with hearing.subscribe() as late:
            assert [notification.method async for notification in early] == ["a/b"]
            assert [notification async for notification in late] == []
