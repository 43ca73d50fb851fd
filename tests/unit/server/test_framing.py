"""The frame readers, fed by hand: no sockets, no event loop."""

import itertools
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.server.framing import (
    HEADERS,
    MAX_JUNK,
    MESSAGES,
    NDJSON,
    BadHeader,
    Body,
    Event,
    Framing,
    HeaderReader,
    LineReader,
    Oversized,
    Reader,
)

LIMIT = 1 << 20


def run(reader: Reader, *chunks: bytes) -> list[Event]:
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return [*events, *reader.flush()]


def bodies(events: list[Event]) -> list[bytes]:
    return [event.data for event in events if isinstance(event, Body)]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    marks = sorted({0, len(data), *(p % (len(data) + 1) for p in places)})
    return [data[a:b] for a, b in itertools.pairwise(marks)]


texts = st.text(max_size=40).map(lambda text: json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass"))


@given(st.lists(texts, max_size=6), st.lists(st.integers(0, 10_000), max_size=20))
@pytest.mark.parametrize("framing", [HEADERS, NDJSON], ids=lambda f: f.name)
def test_frames_survive_any_split_of_the_bytes(framing: Framing, payload: list[bytes], places: list[int]) -> None:
    data = b"".join(framing.encode(body) for body in payload)
    assert bodies(run(framing.reader(LIMIT), *cut(data, places))) == payload


def test_frames_survive_being_fed_byte_by_byte() -> None:
    data = b"".join(HEADERS.encode(body) for body in (b"{}", b"", "测试🧩".encode()))
    assert bodies(run(HeaderReader(LIMIT), *(data[i : i + 1] for i in range(len(data))))) == [
        b"{}",
        b"",
        "测试🧩".encode(),
    ]


def test_the_announced_length_counts_bytes_and_not_characters() -> None:
    """BR-095."""
    body = json.dumps({"text": "测试🧩"}, ensure_ascii=False).encode()
    assert HEADERS.encode(body) == b"Content-Length: %d\r\n\r\n" % len(body) + body


@pytest.mark.parametrize(
    "head",
    [
        b"content-length: 2\r\n\r\n",
        b"CONTENT-LENGTH:2\r\n\r\n",
        b"Content-Length : 2 \r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\nContent-Type: x\r\n\r\n",
        b"Content-Length: 2\n\n",
    ],
)
def test_a_header_is_read_in_any_case_order_and_spacing(head: bytes) -> None:
    assert run(HeaderReader(LIMIT), head + b"{}") == [Body(b"{}")]


def test_junk_before_a_header_is_reported_once_and_the_frame_behind_it_is_read() -> None:
    """BR-097."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"probe/ping"}'
    events = run(HeaderReader(LIMIT), b"log line\r\nContent: x\r\n" + HEADERS.encode(body) + HEADERS.encode(b"{}"))
    assert [type(event) for event in events] == [BadHeader, Body, Body]
    assert bodies(events) == [body, b"{}"]


@pytest.mark.parametrize(
    "junk",
    [
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: five\r\n\r\n",
        b"Content-Length: 99999999999999999999999999\r\n\r\n",
        b"Content-Length:\r\n\r\n",
        b"Content-Type: x\r\n\r\n",
        b"\x00\xff\xfe\r\n",
        b"no line end before the next header: ",
        b"x" * 100_000,
    ],
)
def test_a_bad_header_costs_one_report_and_the_next_frame_works(junk: bytes) -> None:
    events = run(HeaderReader(LIMIT), junk, HEADERS.encode(b"{}"))
    assert [type(event) for event in events] == [BadHeader, Body]
    assert bodies(events) == [b"{}"]


def test_a_length_that_was_too_short_loses_its_own_frame_only() -> None:
    events = run(HeaderReader(LIMIT), b'Content-Length: 3\r\n\r\n{"a":1}' + HEADERS.encode(b"{}"))
    assert bodies(events) == [b'{"a', b"{}"]


def test_endless_junk_ends_the_connection_instead_of_spinning() -> None:
    reader = HeaderReader(LIMIT)
    events = run(reader, *[b"junk without end " * 64] * (MAX_JUNK // 1024 + 2))
    assert [event.fatal for event in events if isinstance(event, BadHeader)] == [False, True]
    assert run(reader, HEADERS.encode(b"{}")) == []


def test_ten_gigabytes_announced_are_refused_without_being_stored() -> None:
    reader = HeaderReader(LIMIT)
    events = list(reader.feed(b"Content-Length: 10000000000\r\n\r\n"))
    assert events == []
    assert reader.owes_report
    assert list(reader.flush()) == [Oversized(10_000_000_000, b"")]
    for _ in range(64):
        assert list(reader.feed(b"x" * LIMIT)) == []
    assert len(reader._buffer) == 0


def test_an_oversized_frame_is_skipped_and_reported_with_its_beginning() -> None:
    big = b'{"jsonrpc":"2.0","id":7,"method":"m","params":"' + b"x" * LIMIT + b'"}'
    data = HEADERS.encode(big) + HEADERS.encode(b"{}")
    first, *rest = run(HeaderReader(LIMIT), *cut(data, list(range(0, len(data), 65_536))))
    assert isinstance(first, Oversized)
    assert first.length == len(big)
    assert big.startswith(first.prefix)
    assert first.prefix
    assert rest == [Body(b"{}")]


def test_a_frame_of_exactly_the_limit_is_taken() -> None:
    assert bodies(run(HeaderReader(4), HEADERS.encode(b"1234") + HEADERS.encode(b"12345"))) == [b"1234"]


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_after_mutated_bytes_a_good_frame_is_read_unless_more_was_announced_than_came(seed: int, changes: int) -> None:
    chance = random.Random(seed)
    data = bytearray(b"".join(HEADERS.encode(b'{"n":%d}' % n) for n in range(5)))
    for _ in range(changes):
        where = chance.randrange(len(data))
        match chance.randrange(3):
            case 0:
                data[where] = chance.randrange(256)
            case 1:
                del data[where]
            case _:
                data.insert(where, chance.randrange(256))
    limit = 1000
    reader = HeaderReader(limit)
    run(reader, *cut(bytes(data), [chance.randrange(len(data)) for _ in range(4)]), b"\r\n" * limit)
    waits_for_more = reader._skip > 0
    assert bodies(run(reader, HEADERS.encode(b'"end"'))) == ([] if waits_for_more else [b'"end"'])


def test_a_long_line_in_ndjson_is_skipped_and_the_next_one_read() -> None:
    events = run(LineReader(10), b'{"id":1,"x', b"x" * 100, b'yz"}\n{}\n')
    assert [type(event) for event in events] == [Oversized, Body]
    assert bodies(events) == [b"{}"]


def test_ndjson_ignores_blank_lines_and_reads_a_last_line_without_end() -> None:
    assert bodies(run(LineReader(LIMIT), b"\n\r\n{}\r\n\n[]")) == [b"{}\r", b"[]"]


def test_a_transport_with_its_own_messages_passes_them_through() -> None:
    assert run(MESSAGES.reader(3), b"{}", b"1234") == [Body(b"{}"), Oversized(4, b"1234")]
    assert MESSAGES.encode(b"{}") == b"{}"
    assert not MESSAGES.merges


def test_reading_a_large_body_in_small_pieces_is_linear() -> None:
    reader = HeaderReader(64 << 20)
    body = b"x" * (32 << 20)
    data = HEADERS.encode(body)
    events = run(reader, *(data[i : i + 65_536] for i in range(0, len(data), 65_536)))
    assert len(bodies(events)[0]) == len(body)
