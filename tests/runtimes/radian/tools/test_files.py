"""`read`, `write` and `patch` on real files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from runtimes.radian.permissions import Ask, Deny
from runtimes.radian.tools.base import Diff, Location, ToolOutcome
from runtimes.radian.tools.patch import Patch
from runtimes.radian.tools.read import Read
from runtimes.radian.tools.write import Write
from tests.runtimes.radian.tools.bench import Bench, FullDisk, SwapsFolder

if TYPE_CHECKING:
    from pathlib import Path


def test_lines_come_numbered(bench: Bench) -> None:
    bench.write("a.txt", "one\r\ntwo\nthree")

    assert bench.call(Read(), path="a.txt").output == "1\tone\n2\ttwo\n3\tthree"
    assert bench.call(Read(), path="a.txt", offset=2, limit=1).output == (
        "2\ttwo\n[the file goes on: next offset 3]"
    )


@pytest.mark.parametrize(
    ("content", "output"),
    [
        (b"", "[the file is empty]"),
        (b"a\xff\n", "1\ta\ufffd\n[bytes that are not UTF-8 are shown as \ufffd]"),
        (b"\xef\xbb\xbfa", "1\ta"),
        (b"x" * 5000 + b"\ny", "1\t" + "x" * 4000 + " [line cut]\n2\ty"),
    ],
)
def test_odd_files_are_read_all_the_same(bench: Bench, content: bytes, output: str) -> None:
    bench.write("a", content)

    assert bench.call(Read(), path="a").output == output


def test_a_long_file_is_read_in_pieces(bench: Bench) -> None:
    bench.write("a", "x" * 100 + "\n" * 1 + ("y" * 99 + "\n") * 5000)

    output = bench.call(Read(), path="a").output

    assert len(output) < 80_000
    assert output.splitlines()[-1].startswith("[the file goes on: next offset ")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing", "No such file"),
        (".", "is a folder"),
        ("pipe", "no regular file"),
        ("image.png", "a PNG image (3x2)"),
        ("binary", "a binary file"),
    ],
)
def test_what_is_no_text_is_refused_at_once(bench: Bench, name: str, why: str) -> None:
    os.mkfifo(bench.workspace / "pipe")
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\3\0\0\0\2"
    bench.write("image.png", head)
    bench.write("binary", b"a\0b")

    outcome = bench.call(Read(), path=name)

    assert outcome.failed
    assert why in outcome.output


def test_a_link_out_of_the_workspace_is_outside(bench: Bench) -> None:
    (bench.workspace / "link").symlink_to("/etc")
    request = bench.prepare(Read(), path="link/passwd").request

    assert (request.target, request.zone) == ("/etc/passwd", "elsewhere")


@pytest.mark.parametrize(
    "path", ["~/.ssh/id", "link/id", "../.ssh/id", "../.radian/x", "../.netrc"]
)
def test_the_secret_set_is_shut_whatever_the_way(bench: Bench, path: str) -> None:
    (bench.home / ".ssh").mkdir()
    (bench.home / ".ssh/id").write_text("key")
    (bench.workspace / "link").symlink_to(bench.home / ".ssh")
    path = path.replace("~", str(bench.home))

    for tool, values in (
        (Read(), {}),
        (Write(), {"content": "x"}),
        (Patch(), {"old": "key", "new": "x"}),
    ):
        prepared = bench.prepare(tool, path=path, **values)
        assert prepared.view.diff is None
        assert isinstance(bench.decide(prepared), Deny)


def test_a_link_that_is_turned_while_a_person_decides_is_noticed(bench: Bench) -> None:
    bench.write("dir/a", "mine")
    prepared = bench.prepare(Read(), path="dir/a")
    (bench.workspace / "dir").rename(bench.workspace / "old")
    (bench.workspace / "dir").symlink_to("/etc")

    assert "leads elsewhere" in bench.run(Read(), prepared).output


def test_a_new_file_is_written_with_its_folders(bench: Bench) -> None:
    outcome = bench.call(Write(), path="a/b/c.txt", content="hi\n")

    assert outcome == ToolOutcome("a/b/c.txt made, 3 bytes")
    assert (bench.workspace / "a/b/c.txt").read_bytes() == b"hi\n"


def test_a_written_file_keeps_mode_line_ends_and_the_link_to_it(bench: Bench) -> None:
    path = bench.write("a.sh", b"a\r\nb\r\n")
    path.chmod(0o751)
    (bench.workspace / "link").symlink_to("a.sh")

    bench.call(Write(), path="link", content="x\ny\n")

    assert path.read_bytes() == b"x\r\ny\r\n"
    assert path.stat().st_mode & 0o777 == 0o751
    assert (bench.workspace / "link").is_symlink()


def test_a_change_is_shown_before_it_is_made(bench: Bench) -> None:
    path = str(bench.write("a.txt", "one\ntwo\n"))
    prepared = bench.prepare(Patch(), path="a.txt", old="two", new="2")

    assert prepared.view.title == "Patch a.txt"
    assert prepared.view.locations == (Location(path, 2),)
    assert prepared.view.diff == Diff(path, "one\ntwo\n", "one\n2\n")


def test_a_patch_changes_the_named_bytes_only(bench: Bench) -> None:
    path = bench.write("a", b"\xef\xbb\xbfa\r\nb\r\nc\nd\re")

    bench.call(Patch(), path="a", old="b", new="B")

    assert path.read_bytes() == b"\xef\xbb\xbfa\r\nB\r\nc\nd\re"


def test_several_edits_are_made_all_or_none(bench: Bench) -> None:
    path = bench.write("a", "one two")
    both = [{"old": "one", "new": "1"}, {"old": "two", "new": "2"}]

    failed = bench.call(Patch(), path="a", edits=[*both, {"old": "three", "new": "3"}])
    assert "edits[2]" in failed.output
    assert path.read_text() == "one two"

    bench.call(Patch(), path="a", edits=both)
    assert path.read_text() == "1 2"


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({}, "give either old and new, or edits"),
        ({"old": "a"}, "new: is missing"),
        ({"old": "a", "new": "b", "edits": [{"old": "a", "new": "b"}]}, "give either"),
        ({"edits": [{"old": "a"}]}, "edits[0].new: is missing"),
        ({"old": 1, "new": "b"}, "old: must be text, not the number 1"),
        ({"old": "a", "new": "b", "al": True}, "al: is unknown; known are path, old"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_their_path(
    bench: Bench, values: dict[str, object], why: str
) -> None:
    outcome = bench.try_to_prepare(Patch(), path="a", **values)

    assert isinstance(outcome, ToolOutcome)
    assert (outcome.failed, outcome.reason) == (True, "invalid arguments")
    assert why in outcome.output


def test_a_file_that_changed_since_it_was_read_is_left_alone(bench: Bench) -> None:
    path = bench.write("a", "one")
    bench.call(Read(), path="a")
    prepared = bench.prepare(Patch(), path="a", old="one", new="1")
    path.write_text("one and more")

    assert "changed since it was read" in bench.run(Patch(), prepared).output
    assert "changed since it was read" in bench.call(Write(), path="a", content="x").output
    assert path.read_text() == "one and more"

    bench.call(Read(), path="a")
    bench.call(Patch(), path="a", old="one", new="1")
    bench.call(Patch(), path="a", old="1", new="2")
    assert path.read_text() == "2 and more"


def test_a_touched_file_is_no_changed_one(bench: Bench) -> None:
    path = bench.write("a", "one")
    bench.call(Read(), path="a")
    os.utime(path, (1, 1))

    assert not bench.call(Write(), path="a", content="two").failed


@pytest.mark.parametrize("name", [".git/hooks/x", ".radian/config.toml", "sub/.git/config"])
def test_what_others_run_is_asked_for(bench: Bench, name: str) -> None:
    assert isinstance(bench.decide(bench.prepare(Write(), path=name, content="x")), Ask)


@pytest.mark.parametrize("at", ["file.write", "file.rename", "file.replace"])
def test_a_disk_that_fails_leaves_the_file_as_it_was(tmp_path: Path, at: str) -> None:
    bench = Bench(tmp_path, faults=FullDisk(at))
    path = bench.write("a", "one")

    outcome = bench.call(Write(), path="a", content="two")

    assert outcome.failed
    assert "No space left" in outcome.output
    assert path.read_text() == "one"
    assert os.listdir(bench.workspace) == ["a"]
    bench.close()


def swapping(tmp_path: Path, at: str) -> tuple[Bench, Path]:
    """Return a workspace whose folder ``d`` becomes a link to the returned one at a fault point."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    elsewhere.joinpath("a.txt").write_text("secret\n")
    folder = tmp_path / "home" / "box" / "d"
    bench = Bench(tmp_path, faults=SwapsFolder(at, folder, elsewhere))
    bench.write("d/a.txt", "open\n")
    return bench, elsewhere


def test_a_link_in_the_place_of_a_folder_is_not_followed_by_who_reads(tmp_path: Path) -> None:
    bench, _ = swapping(tmp_path, "file.open")

    outcome = bench.run(Read(), bench.prepare(Read(), path="d/a.txt"))
    bench.close()

    assert (outcome.failed, "leads elsewhere" in outcome.output) == (True, True)


@pytest.mark.parametrize("name", ["a.txt", "new.txt", "further/new.txt"])
def test_a_link_in_the_place_of_a_folder_is_not_followed_by_who_writes(
    tmp_path: Path, name: str
) -> None:
    bench, elsewhere = swapping(tmp_path, "file.replace")

    outcome = bench.call(Write(), path=f"d/{name}", content="mine\n")
    bench.close()

    assert (outcome.failed, "leads elsewhere" in outcome.output) == (True, True)
    assert elsewhere.joinpath("a.txt").read_text() == "secret\n"
    assert not elsewhere.joinpath(name).exists() or name == "a.txt"


def test_a_file_is_written_where_its_folder_was_also_when_that_moves(tmp_path: Path) -> None:
    bench, elsewhere = swapping(tmp_path, "file.rename")

    bench.call(Write(), path="d/new.txt", content="mine\n")
    bench.close()

    assert os.listdir(elsewhere) == ["a.txt"]
    assert sorted(os.listdir(bench.workspace / "d-before")) == ["a.txt", "new.txt"]


def test_what_the_disk_refuses_is_told_of_the_file_by_its_own_name(tmp_path: Path) -> None:
    bench = Bench(tmp_path, faults=FullDisk("file.rename"))

    outcome = bench.call(Write(), path="a.txt", content="mine\n")
    bench.close()

    path = os.path.realpath(bench.workspace / "a.txt")
    assert (outcome.failed, outcome.output) == (True, f"{path}: No space left on device")
