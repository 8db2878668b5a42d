"""Server-sent events, whatever their line ends and however they are split."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.models.sse import EventTooLong, SseSplitter


def read(chunks: list[bytes]) -> list[bytes]:
    splitter = SseSplitter()
    events = [event for chunk in chunks for event in splitter.feed(chunk)]
    return events + splitter.finish()


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data:a\r\n\r\ndata:  b\r\n\r\n", [b"a", b" b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"event: x\nid: 1\nretry: 3\ndata: a\n\n", [b"a"]),
        (b": comment\n\n: more\n\ndata: a\n\n", [b"a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: a\n", [b"a"]),
        (b"data: a", [b"a"]),
        (b"data\n\ndatax: a\n\n", []),
        (b"event: ping\n\n", []),
        (b"data: \n\ndata:\n\ndata: a\n\n", [b"a"]),
        (b"data: a\n\ndata: \n\ndata: b\n\n", [b"a", b"b"]),
        (b"data:   \n\ndata:\ndata:\n\ndata: a\n\n", [b"a"]),
        (b"", []),
    ],
)
def test_the_data_of_events_is_handed_out(text: bytes, events: list[bytes]) -> None:
    assert read([text]) == events
    assert read([text[at : at + 1] for at in range(len(text))]) == events


LINES = st.sampled_from(
    [b"data: a", b"data:", b'data: {"x": 1}', b": c", b"event: e", b"", b"\xff"]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(lines=st.lists(st.tuples(LINES, ENDS)), sizes=st.integers(1, 7))
def test_splitting_never_changes_the_events(lines: list[tuple[bytes, bytes]], sizes: int) -> None:
    text = b"".join(line + end for line, end in lines)

    assert read([text[at : at + sizes] for at in range(0, len(text), sizes)]) == read([text])


def plainly(text: bytes) -> list[bytes]:
    """Read it as the specification says, line by line, with an end for a last event without one."""
    events, pieces = list[bytes](), list[bytes]()
    for line in re.split(rb"\r\n|\n|\r", text + b"\n\n"):
        name, colon, value = line.partition(b":")
        if name == b"data" and colon:
            pieces.append(value.removeprefix(b" "))
        elif not line and pieces:
            events.append(b"\n".join(pieces))
            pieces.clear()
    return [event for event in events if event.strip()]


@given(lines=st.lists(st.tuples(LINES, ENDS)), sizes=st.integers(1, 80))
def test_many_events_at_once_are_read_as_one_by_one(
    lines: list[tuple[bytes, bytes]], sizes: int
) -> None:
    text = b"".join(line + end for line, end in lines)

    assert read([text[at : at + sizes] for at in range(0, len(text), sizes)]) == plainly(text)


def test_an_event_that_never_ends_is_given_up() -> None:
    splitter = SseSplitter(limit=10)
    splitter.feed(b"data: 1234")

    with pytest.raises(EventTooLong, match="longer than 10 bytes"):
        splitter.feed(b"56789")


def test_many_lines_without_an_end_are_given_up_too() -> None:
    splitter = SseSplitter(limit=10)

    with pytest.raises(EventTooLong):
        splitter.feed(b"data: 1234\n" * 3)
