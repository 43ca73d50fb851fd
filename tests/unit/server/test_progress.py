"""The progress bar of one request."""

from typing import Any

import anyio
import pytest

from octavo.server.progress import Progress


class Sink:
    def __init__(self) -> None:
        self.sent: list[tuple[dict[str, Any], bool]] = []

    def notify(self, method: str, params: Any, *, ephemeral: bool = False, key: str | None = None) -> None:
        assert method == "$/progress"
        assert params["token"] == "t"
        assert key == "progress:'t'"
        self.sent.append((params["value"], ephemeral))


def test_a_run_is_framed_by_begin_and_end_and_reports_between_may_be_dropped() -> None:
    sink = Sink()
    with Progress(sink, "t", "Compacting", lambda: 0) as bar:
        bar.report("summary", percentage=140, tokensOut=5)
    begin, report, end = sink.sent
    assert begin == ({"kind": "begin", "title": "Compacting", "cancellable": True, "percentage": 0}, False)
    assert report[0]["phase"] == report[0]["message"] == "summary"
    assert (report[0]["percentage"], report[0]["tokensOut"], report[1]) == (100, 5, True)
    assert end == ({"kind": "end", "message": "done"}, False)


def test_reports_are_throttled_within_a_phase_and_immediate_at_its_change() -> None:
    sink = Sink()
    clock = iter([0, *range(0, 1000, 10)])
    with Progress(sink, "t", "x", lambda: next(clock)) as bar:
        for _ in range(30):
            bar.report("a")
        bar.report("b")
    assert [value.get("phase") for value, _ in sink.sent] == [None, "a", "a", "a", "b", None]


@pytest.mark.parametrize(
    ("error", "outcome"), [(ValueError("x"), "failed"), (anyio.get_cancelled_exc_class, "cancelled")]
)
async def test_the_end_is_told_however_the_run_ends(error: Any, outcome: str) -> None:
    sink = Sink()
    raised = error if isinstance(error, Exception) else error()()
    with pytest.raises(type(raised)), Progress(sink, "t", "x", lambda: 0):
        raise raised
    assert sink.sent[-1] == ({"kind": "end", "message": outcome}, False)


def test_without_a_token_nothing_is_sent() -> None:
    sink = Sink()
    with Progress(sink, None, "x", lambda: 0) as bar:
        bar.report("a")
    assert sink.sent == []
