from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from ops.union import Sides

if TYPE_CHECKING:
    from collections.abc import Mapping

RUNS = "local/runs/release.jsonl"
FULL = "local/runs/release.1.jsonl"


def united(
    base: Mapping[str, bytes], ours: Mapping[str, bytes], theirs: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Unite states given as path to content, and return the whole result."""

    def blobs(state: Mapping[str, bytes]) -> dict[str, str]:
        return {path: content.decode() for path, content in state.items()}

    sides = Sides(blobs(base), blobs(ours), blobs(theirs), ours.__getitem__, theirs.__getitem__)
    return {**ours, **sides.changes()}


def test_lines_of_both_are_there_once_and_the_published_ones_first() -> None:
    base = {RUNS: b"1\n"}

    both = united(base, {RUNS: b"1\nours\n"}, {RUNS: b"1\ntheirs\n"})

    assert both == {RUNS: b"1\ntheirs\nours\n"}


def test_what_only_one_side_changed_is_taken_as_it_is() -> None:
    base = {"a.json": b"1", "b.json": b"1"}
    ours = {"a.json": b"2", "b.json": b"1", "mine.jsonl": b"x\n"}
    theirs = {"a.json": b"1", "b.json": b"2", "theirs.jsonl": b"y\n"}

    assert united(base, ours, theirs) == {
        "a.json": b"2",
        "b.json": b"2",
        "mine.jsonl": b"x\n",
        "theirs.jsonl": b"y\n",
    }


def test_of_a_value_that_both_changed_the_published_one_stands() -> None:
    both = united({}, {"_answers/q.json": b"no"}, {"_answers/q.json": b"yes"})

    assert both == {"_answers/q.json": b"yes"}


def test_lines_that_moved_to_a_full_file_are_not_doubled() -> None:
    base = {RUNS: b"1\n2\n"}
    ours = {FULL: b"1\n2\n", RUNS: b"3\n"}
    theirs = {RUNS: b"1\n2\n4\n"}

    assert united(base, ours, theirs) == {FULL: b"1\n2\n", RUNS: b"4\n3\n"}


def test_a_last_line_that_was_cut_off_swallows_no_other() -> None:
    assert united({}, {RUNS: b"ours"}, {RUNS: b"theirs"}) == {RUNS: b"theirs\nours\n"}


LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"e"]), unique=True, max_size=4)


@st.composite
def states(draw: st.DrawFn) -> dict[str, bytes]:
    """A file of runs that was put aside at some line, or not."""
    lines = [*draw(st.just([b"0"])), *draw(LINES)]
    cut = draw(st.integers(0, len(lines)))
    full, newest = lines[:cut], lines[cut:]
    found = {FULL: full} if full else {}
    return {
        path: b"\n".join(each) + b"\n" for path, each in {**found, RUNS: newest}.items() if each
    }


@given(ours=states(), theirs=states())
def test_no_line_is_ever_lost(ours: dict[str, bytes], theirs: dict[str, bytes]) -> None:
    def lines(*every: dict[str, bytes]) -> set[bytes]:
        return {line for each in every for text in each.values() for line in text.split()}

    assert lines(united({RUNS: b"0\n"}, ours, theirs)) == lines(ours, theirs)
