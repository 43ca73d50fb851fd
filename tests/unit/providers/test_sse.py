"""The event-stream decoder, byte by byte."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.providers import sse
from octavo.providers.sse import EventTooLargeError, SseDecoder, SseEvent

STREAM = 'event: a\ndata: 大\ndata: two\r\n\r\n: comment\ndata:no space\rdata\r\rdata: {"x":1}\n\n'.encode()
EVENTS = [SseEvent("a", "大\ntwo"), SseEvent("message", "no space\n"), SseEvent("message", '{"x":1}')]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_do_not_depend_on_where_the_bytes_are_cut(cuts: list[int]) -> None:
    decoder = SseDecoder()
    edges = [0, *sorted(cuts), len(STREAM)]
    found = [e for a, b in itertools.pairwise(edges) for e in decoder.feed(STREAM[a:b])]
    assert found == EVENTS


def test_an_event_without_data_is_no_event() -> None:
    assert list(SseDecoder().feed(b"event: ping\n\n\n\ndata: x\n\n")) == [SseEvent("message", "x")]


def test_an_unfinished_event_is_not_delivered() -> None:
    assert list(SseDecoder().feed(b"data: half")) == []


def test_an_endless_event_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_CHARS", 1000)
    decoder = SseDecoder()
    with pytest.raises(EventTooLargeError):
        list(decoder.feed(b"data: " + b"x" * 10_000))
    with pytest.raises(EventTooLargeError):
        list(SseDecoder().feed(b"data: x\n" * 10_000))
