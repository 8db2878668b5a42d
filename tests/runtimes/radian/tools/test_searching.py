"""`grep` and `glob`, by ripgrep and by our own walk, find the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from runtimes.radian.permissions import Deny
from runtimes.radian.tools.base import ToolOutcome
from runtimes.radian.tools.glob import Glob
from runtimes.radian.tools.grep import Grep
from runtimes.radian.tools.programs import ripgrep
from tests.runtimes.radian.tools.bench import Bench

if TYPE_CHECKING:
    from pathlib import Path

WALKS = pytest.mark.parametrize("walk", [False, True], ids=["ripgrep", "walk"])


def _fill(bench: Bench) -> None:
    for name in ("top.py", "a/x.py", "a/b/y.py", "a/b/z.txt", ".hidden/h.py", "private/p.py"):
        bench.write(name, f"def {name}\n")
    for name in (".git/g.py", "node_modules/m/n.py"):
        bench.write(name, "def never\n")
    bench.write(".gitignore", "node_modules\n")
    bench.write("bin.py", b"def \0\n")


@WALKS
def test_lines_are_found(bench: Bench, walk: bool) -> None:  # noqa: FBT001 - a column
    _fill(bench)

    outcome = bench.call(Grep(walk=walk), pattern="def .*py")

    assert sorted(outcome.output.splitlines()) == [
        ".hidden/h.py:1:def .hidden/h.py",
        "a/b/y.py:1:def a/b/y.py",
        "a/x.py:1:def a/x.py",
        "private/p.py:1:def private/p.py",
        "top.py:1:def top.py",
    ]


@WALKS
def test_a_search_can_be_narrowed(bench: Bench, walk: bool) -> None:  # noqa: FBT001 - a column
    _fill(bench)
    grep = Grep(walk=walk)

    assert bench.call(grep, pattern="DEF", path="a", glob="*.txt", ignore_case=True).output == (
        "a/b/z.txt:1:def a/b/z.txt"
    )
    assert bench.call(grep, pattern="def", path="a/x.py").output == "a/x.py:1:def a/x.py"
    assert bench.call(grep, pattern="nothing like it").output == "nothing found"
    limited = bench.call(grep, pattern="def", limit=2).output.splitlines()
    assert len(limited) == 3
    assert limited[-1].startswith("[more than 2")


@WALKS
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", {"top.py", "bin.py"}),
        ("**/y.py", {"a/b/y.py"}),
        ("a/**", {"a/x.py", "a/b/y.py", "a/b/z.txt"}),
        ("a/*.{py,txt}", {"a/x.py"}),
        ("./a/?.py", {"a/x.py"}),
        ("nothing*", {"nothing found"}),
    ],
)
def test_files_are_found(bench: Bench, walk: bool, pattern: str, found: set[str]) -> None:  # noqa: FBT001 - a column
    _fill(bench)

    assert set(bench.call(Glob(walk=walk), pattern=pattern).output.splitlines()) == found


@WALKS
def test_what_may_not_be_read_is_not_searched(tmp_path: Path, walk: bool) -> None:  # noqa: FBT001 - a column
    bench = Bench(tmp_path, unreadable=("private", "**/y.py", "[k]ey"))
    _fill(bench)
    bench.write("key", "def ok")
    bench.write("[k]ey", "def not ok")

    assert "private" not in bench.call(Grep(walk=walk), pattern="def").output
    assert "private" not in bench.call(Glob(walk=walk), pattern="**/*.py").output
    assert "y.py" not in bench.call(Grep(walk=walk), pattern="def", path="a/b").output
    assert bench.call(Grep(walk=walk), pattern="ok").output == "key:1:def ok"
    bench.close()


@WALKS
def test_secrets_inside_of_a_workspace_are_not_searched(tmp_path: Path, walk: bool) -> None:  # noqa: FBT001 - a column
    bench = Bench(tmp_path)
    places = bench.context.places
    secret = (*places.secret, f"{places.workspace}/.ssh", f"{places.workspace}/[x]")
    object.__setattr__(places, "secret", secret)
    bench.write(".ssh/id", "def key")
    bench.write("[x]/id", "def key")
    bench.write("x/id", "def open")

    assert bench.call(Grep(walk=walk), pattern="def").output == "x/id:1:def open"
    bench.close()


@WALKS
def test_a_bad_pattern_is_a_failure(bench: Bench, walk: bool) -> None:  # noqa: FBT001 - a column
    assert bench.call(Grep(walk=walk), pattern="(").failed


def test_a_search_elsewhere_is_denied(bench: Bench) -> None:
    assert isinstance(bench.decide(bench.prepare(Glob(), pattern="/etc/*.conf")), Deny)
    assert isinstance(bench.decide(bench.prepare(Grep(), pattern="x", path="..")), Deny)


def test_a_pattern_never_leads_up(bench: Bench) -> None:
    outcome = bench.try_to_prepare(Glob(), pattern="../*")

    assert isinstance(outcome, ToolOutcome)
    assert outcome.failed


def test_an_option_in_a_pattern_is_a_pattern(bench: Bench) -> None:
    bench.write("a", "--files\n")

    assert bench.call(Grep(), pattern="--files").output == "a:1:--files"


@pytest.mark.parametrize("walk", [False, True])
def test_a_pipe_is_not_waited_for(bench: Bench, walk: bool) -> None:  # noqa: FBT001 - a column
    os.mkfifo(bench.workspace / "pipe")
    bench.write("a", "needle\n")

    named = bench.try_to_prepare(Grep(walk=walk), pattern="needle", path="pipe")
    around = bench.call(Grep(walk=walk), pattern="needle")

    assert isinstance(named, ToolOutcome)
    assert named.output == "pipe is neither a file nor a folder"
    assert around.output == "a:1:needle"


def swapping_ripgrep(tmp_path: Path, folder: Path, to: Path) -> str:
    """Return a ripgrep before which a folder becomes a link."""
    program = tmp_path / "rg"
    real = ripgrep(str(folder))
    program.write_text(f'#!/bin/sh\nmv {folder} {folder}-was\nln -s {to} {folder}\n{real} "$@"\n')
    program.chmod(0o755)
    return str(program)


def test_what_lies_behind_a_link_that_came_meanwhile_is_not_told(
    bench: Bench, tmp_path: Path
) -> None:
    bench.write("d/a", "needle: open")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    elsewhere.joinpath("a").write_text("needle: secret")
    elsewhere.joinpath("secret").write_text("no")
    program = swapping_ripgrep(tmp_path, bench.workspace / "d", elsewhere)

    lines = bench.call(Grep(program), pattern="needle", path="d")
    (bench.workspace / "d").unlink()
    (bench.workspace / "d-was").rename(bench.workspace / "d")
    names = bench.call(Glob(program), pattern="*", path="d")

    note = "nothing found\n[{} more are left out: their files can't be opened by these names]"
    assert lines.output == note.format(1)
    assert names.output == note.format(2)


def test_lines_are_told_as_they_stand_in_their_files(bench: Bench) -> None:
    bench.write("long", "needle" + "x" * 600 + "\r\n")
    bench.write("wide", "\ufeffneedle \u2028 one line\n".encode())
    bench.write("utf-16", "a\nneedle \u20ac\n".encode("utf-16"))

    outcome = bench.call(Grep(), pattern="needle")

    assert outcome.output.split("\n") == [
        f"long:1:needle{'x' * 494} [... the rest of the line is left out]",
        "utf-16:2:needle \u20ac",
        "wide:1:needle \u2028 one line",
    ]


def test_a_binary_file_that_was_named_is_told_to_match(bench: Bench) -> None:
    bench.write("b", b"a\0needle\n")

    outcome = bench.call(Grep(), pattern="needle", path="b")

    assert outcome.output.startswith("b: binary file matches")
