"""A long line waits on disk."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.spill import SpillingStore
from protocol.framing import Line, LineSplitter, LineTooLong
from protocol.jsonrpc import Request, decode
from tests.actors.stepping import open_descriptors

if TYPE_CHECKING:
    from collections.abc import Callable


@given(pieces=st.lists(st.binary(min_size=1, max_size=9)), room=st.integers(0, 20))
def test_what_is_taken_is_what_was_appended(pieces: list[bytes], room: int) -> None:
    store = SpillingStore(room)
    for piece in pieces:
        store.append(piece)

    assert len(store) == len(b"".join(pieces))
    assert bytes(store.take()) == b"".join(pieces)
    assert len(store) == 0


def test_a_dropped_line_leaves_nothing_for_the_next() -> None:
    store = SpillingStore(4)
    store.append(b"abcdefgh")
    store.drop()
    store.append(b"ij")

    assert bytes(store.take()) == b"ij"


def test_a_spilled_line_is_decoded_like_any_other() -> None:
    splitter = LineSplitter(store=SpillingStore(8))
    line = (
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"' + b"y" * 50 + b'"}}\r'
    )

    frames = [frame for chunk in (line[:30], line[30:], b"\n") for frame in splitter.feed(chunk)]

    assert len(frames) == 1
    assert isinstance(frames[0], Line)
    assert decode(frames[0].data) == Request(1, "x", {"a": "y" * 50})


def test_a_spilled_blank_line_is_passed_over() -> None:
    splitter = LineSplitter(store=SpillingStore(8))

    assert splitter.feed(b" " * 5000) + splitter.feed(b" " * 5000) + splitter.feed(b"\n") == []


def test_an_over_long_line_is_dropped_and_the_next_one_read() -> None:
    splitter = LineSplitter(limit=100, store=SpillingStore(8))

    frames = [f for chunk in (b"x" * 60, b"x" * 60, b"x\nok\n") for f in splitter.feed(chunk)]

    assert frames == [LineTooLong(100), Line(b"ok")]


def test_no_descriptor_is_left_behind() -> None:
    before = open_descriptors()
    store = SpillingStore(1)
    for _ in range(20):
        store.append(b"abc")
        assert bytes(store.take()) == b"abc"
        store.append(b"abc")
        store.drop()

    assert open_descriptors() <= before


@pytest.mark.parametrize("fails_at", range(4))
def test_a_disk_that_fails_costs_memory_and_not_the_line(
    monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    calls = iter(range(100))

    def failing(write: Callable[..., int]) -> Callable[..., int]:
        def pwrite(fd: int, data: memoryview, offset: int) -> int:
            if next(calls) >= fails_at:
                raise OSError(errno.ENOSPC, "no space left on device")
            return write(fd, data[:3], offset)

        return pwrite

    monkeypatch.setattr(os, "pwrite", failing(os.pwrite))
    store = SpillingStore(2)
    for piece in (b"abcd", b"efgh", b"ijkl"):
        store.append(piece)

    assert bytes(store.take()) == b"abcdefghijkl"


def test_no_place_for_a_file_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/nowhere/at/all")
    store = SpillingStore(2)
    store.append(b"abcdef")

    assert bytes(store.take()) == b"abcdef"
