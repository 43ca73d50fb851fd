"""Pages of long answers, and cursors that belong to one question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.server.paging import Pages
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.common import Page


@given(st.lists(st.integers(), unique=True).map(sorted), st.integers(1, 10))
def test_pages_show_everything_once_and_in_order(items: list[int], limit: int) -> None:
    seen: list[int] = []
    cursor = None
    while True:
        page = Pages("q", Page(limit=limit, cursor=cursor)).cut(items, key=lambda item: item)
        assert len(page.items) <= limit
        seen += page.items
        if (cursor := page.next_cursor) is None:
            break
    assert seen == items


def test_a_page_goes_on_behind_the_last_item_whatever_came_before_it() -> None:
    first = Pages("q", Page(limit=2)).cut([(1, "a"), (2, "b"), (3, "c")], key=lambda item: item)
    cursor = first.next_cursor
    second = Pages("q", Page(limit=2, cursor=cursor)).cut([(0, "new"), (2, "b"), (3, "c")], key=lambda item: item)
    assert list(second.items) == [(3, "c")]
    assert second.to_wire("items", list(second.items)) == {"items": [(3, "c")]}


@pytest.mark.parametrize("cursor", ["", "x", "AAAA", "é", "W10", "MQ", "bnVsbA"])
def test_a_cursor_we_did_not_make_is_refused(cursor: str) -> None:
    with pytest.raises(OctavoError) as caught:
        Pages("q", Page(cursor=cursor))
    assert caught.value.kind is ErrorKind.INVALID_PARAMS


def test_a_cursor_of_another_question_or_kind_is_refused() -> None:
    cursor = Pages("one", Page()).cursor([1, 2])
    for question in ("two", "one"):
        with pytest.raises(OctavoError):
            Pages(question, Page(cursor=cursor)).slice(5)
    with pytest.raises(OctavoError):
        Pages("one", Page(cursor=Pages("one", Page()).cursor("text"))).cut([1, 2], key=lambda item: item)
    with pytest.raises(OctavoError):
        Pages("one", Page(cursor=Pages("one", Page()).cursor(9))).slice(5)
