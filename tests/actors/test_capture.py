"""What is kept, shown and counted of a step's output."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.capture import StepOutput, StreamCapture
from actors.work import Captured
from tests.actors.stepping import Recorder, show


def _capture(*chunks: bytes, edge: int = 8) -> Captured:
    capture = StreamCapture(edge)
    for chunk in chunks:
        capture.feed(chunk)
    return capture.captured()


def test_short_output_is_kept_whole() -> None:
    assert _capture(b"one", b"two") == Captured("onetwo", 6, hashlib.sha256(b"onetwo").hexdigest())


def test_no_output_has_no_digest() -> None:
    assert _capture() == Captured("", 0, "")


def test_of_long_output_both_ends_are_kept_and_the_gap_is_said() -> None:
    captured = _capture(b"0123456789", b"abcdefghij", b"ABCDEFGHIJ")

    assert captured.text == "01234567\n[... 14 bytes left out ...]\nCDEFGHIJ"
    assert captured.total_bytes == 30


def test_the_gap_never_cuts_a_character() -> None:
    captured = _capture(("a" + "ä" * 20).encode())

    assert captured.text == "aäää\n[... 26 bytes left out ...]\nääää"
    assert _capture(("€" * 20).encode()).text == "€€\n[... 48 bytes left out ...]\n€€"


@given(chunks=st.lists(st.binary(max_size=30), max_size=20), edge=st.integers(1, 20))
def test_chunking_never_changes_what_is_captured(chunks: list[bytes], edge: int) -> None:
    whole = b"".join(chunks)

    assert _capture(*chunks, edge=edge) == _capture(whole, edge=edge)
    assert _capture(whole, edge=edge).total_bytes == len(whole)


@given(size=st.integers(0, 5000), step=st.integers(1, 64))
def test_what_is_held_is_bounded(size: int, step: int) -> None:
    capture = StreamCapture(64)

    for _ in range(0, size, step):
        capture.feed(b"x" * step)

    assert len(capture._head) + len(capture._tail) <= 3 * 64


@given(data=st.binary(max_size=60), cut=st.integers(1, 7))
def test_shown_text_is_the_decoded_whole(data: bytes, cut: int) -> None:
    source = Recorder()
    output = StepOutput(source, show)

    for start in range(0, len(data), cut):
        output.feed("stdout", data[start : start + cut])
    output.finish()

    assert source.text() == data.decode("utf-8", "replace")
    assert output.captured("stdout").text == source.text()


def test_streams_do_not_mix() -> None:
    source = Recorder()
    output = StepOutput(source, show)

    output.feed("stdout", b"\xc3")
    output.feed("stderr", b"\xa4")
    output.feed("stdout", b"\xa4")

    assert source.items == [("stderr", "\ufffd"), ("stdout", "ä")]
    assert output.captured("stderr").total_bytes == 1


@pytest.mark.parametrize("cut", [1, 3, 4, 10, 100])
def test_past_the_limit_nothing_is_shown_but_all_is_counted(cut: int) -> None:
    source = Recorder()
    output = StepOutput(source, show, live_limit_bytes=10)
    data = b"0123456789" * 10

    for start in range(0, len(data), cut):
        output.feed("stdout", data[start : start + cut])
    output.finish()

    assert source.text() == (
        "0123456789\n[more than 10 bytes: the rest is not shown here, its end is in the result]\n"
    )
    assert output.captured("stdout").total_bytes == 100


def test_output_of_exactly_the_limit_has_no_note() -> None:
    source = Recorder()
    output = StepOutput(source, show, live_limit_bytes=10)

    output.feed("stdout", b"0123456789")
    output.finish()

    assert source.text() == "0123456789"
