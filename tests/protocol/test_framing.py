from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.framing import Frame, Line, LineSplitter, LineTooLong, MemoryStore

LINES = st.binary(min_size=1, max_size=40).filter(
    lambda line: b"\n" not in line and not line.isspace() and not line.endswith(b"\r")
)
BOM = b"\xef\xbb\xbf"


def feed_in_pieces(splitter: LineSplitter, stream: bytes, size: int) -> list[Frame]:
    pieces = [stream[i : i + size] for i in range(0, len(stream), size)]
    return [frame for piece in pieces for frame in splitter.feed(piece)]


@settings(deadline=None)
@given(lines=st.lists(LINES), cut=st.integers(1, 7), end=st.sampled_from([b"\n", b"\r\n"]))
def test_chunking_never_changes_the_frames(lines: list[bytes], cut: int, end: bytes) -> None:
    stream = b"".join(line + end for line in lines)
    # A mark at the very start is no part of the first line.
    expected = [Line(line) for line in lines]
    if lines and lines[0].startswith(BOM):
        stream = BOM + stream

    assert feed_in_pieces(LineSplitter(), stream, cut) == expected


@settings(deadline=None)
@given(stream=st.binary(max_size=200), cut=st.integers(1, 9), limit=st.integers(1, 20))
def test_any_bytes_give_the_same_frames_in_any_pieces(stream: bytes, cut: int, limit: int) -> None:
    whole = LineSplitter(limit).feed(stream)

    assert feed_in_pieces(LineSplitter(limit), stream, cut) == whole


@settings(deadline=None)
@given(chunks=st.lists(st.binary(max_size=30)), limit=st.integers(1, 20))
def test_no_more_than_the_limit_is_ever_held(chunks: list[bytes], limit: int) -> None:
    splitter = LineSplitter(limit)

    for chunk in chunks:
        frames = splitter.feed(chunk)
        assert len(splitter._held) <= limit
        assert all(len(frame.data) <= limit for frame in frames if isinstance(frame, Line))


def test_twenty_messages_in_one_chunk_are_twenty_frames() -> None:
    assert LineSplitter().feed(b"{}\n" * 20) == [Line(b"{}")] * 20


def test_blank_and_space_only_lines_are_dropped() -> None:
    assert LineSplitter().feed(b"\n \n\t \r\n\r\n{}\n   \n") == [Line(b"{}")]


@pytest.mark.parametrize("cut", [1, 2, 3, 100])
def test_a_byte_order_mark_crlf_and_blank_lines_leave_two_messages(cut: int) -> None:
    stream = BOM + b'{"id":1}\r\n\r\n\n \n{"id":2}\n'

    assert feed_in_pieces(LineSplitter(), stream, cut) == [Line(b'{"id":1}'), Line(b'{"id":2}')]


def test_a_byte_order_mark_later_on_stays() -> None:
    assert LineSplitter().feed(b"{}\n" + BOM + b"{}\n") == [Line(b"{}"), Line(BOM + b"{}")]


def test_a_byte_order_mark_alone_is_a_blank_line() -> None:
    assert LineSplitter().feed(BOM + b"\n{}\n") == [Line(b"{}")]


@pytest.mark.parametrize(
    "separator", ["\u2028", "\u2029", "\x85", "\v", "\f", "\x1c", "\x1d", "\x1e"]
)
def test_only_a_line_feed_ends_a_line(separator: str) -> None:
    line = f'{{"text":"a{separator}b"}}'.encode()

    assert LineSplitter().feed(line + b"\n") == [Line(line)]


def test_a_line_of_exactly_the_limit_is_kept() -> None:
    assert LineSplitter(4).feed(b"1234\n") == [Line(b"1234")]


@pytest.mark.parametrize("cut", [1, 3, 100])
def test_an_over_long_line_is_one_value_and_the_next_line_is_served(cut: int) -> None:
    frames = feed_in_pieces(LineSplitter(4), b"123456789\nnext\n", cut)

    assert frames == [LineTooLong(4), Line(b"next")]


def test_an_over_long_line_is_not_reported_before_its_newline() -> None:
    splitter = LineSplitter(4)

    assert splitter.feed(b"123456789") == []
    assert splitter.feed(b"0\n") == [LineTooLong(4)]


def test_a_line_without_its_newline_is_not_handed_out() -> None:
    assert LineSplitter().feed(b'{"id":1}') == []


def test_a_line_of_several_chunks_is_handed_out_without_a_copy() -> None:
    splitter = LineSplitter()
    splitter.feed(b"abc")
    assert isinstance(splitter._held, MemoryStore)
    held = splitter._held._held

    (frame,) = splitter.feed(b"def\r\nghi")

    assert frame == Line(b"abcdef")
    assert isinstance(frame, Line)
    assert frame.data is held
    assert splitter.feed(b"\n") == [Line(b"ghi")]
