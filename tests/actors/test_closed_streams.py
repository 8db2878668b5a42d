"""A program that is started with its standard streams closed."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """\
import os, sys
from actors.closed_streams import stand_in_for_closed_streams
stand_in_for_closed_streams()
kept = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
assert kept > 2, kept
assert sys.stdin.read() == ""
print("lost", file=sys.stderr, flush=True)
try:
    print("hello", flush=True)
except OSError:
    os._exit(9)
"""


@pytest.mark.parametrize(
    ("closed", "said"),
    [
        ("", (0, "hello\n")),
        ("<&-", (0, "hello\n")),
        ("2>&-", (0, "hello\n")),
        (">&-", (9, "")),
        ("<&- >&- 2>&-", (9, "")),
    ],
)
def test_no_file_takes_the_number_of_a_closed_stream(
    tmp_path: object, closed: str, said: tuple[int, str]
) -> None:
    words = [sys.executable, "-c", PROGRAM, f"{tmp_path}/kept"]
    run = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *words],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (run.returncode, run.stdout) == said, run.stderr


MIXED = """\
import os, sys
from actors.closed_streams import print_leavable

def command():
    for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
        print(name, file=stream)
        os.write(1, b"between\\n")
    return 0

sys.exit(print_leavable("x", command))
"""


def test_what_is_not_to_be_buffered_is_not() -> None:
    run = subprocess.run(
        [sys.executable, "-c", MIXED],
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=60,
    )

    assert run.stdout.split() == ["out", "between", "err", "between"]


PRINTING = [
    ("chant list", 0),
    ("chant --help", 0),
    ("chant describe nothing-like-it", 2),
    ("chant lint", 1),
    ("radian --help", 0),
    ("radian exec --help", 0),
    ("chantry --help", 0),
    ("chantry drive --help", 0),
    ("chantry faults list", 0),
    ("chantry simulate --seeds 1", 0),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Something to lint: what nobody closed."""
    (tmp_path / "chant.toml").write_text("[project\n")
    (tmp_path / "home").mkdir()
    return tmp_path


def printed_to(out: int, words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    name, *rest = words.split()
    return subprocess.run(
        [script(name), *rest],
        cwd=ROOT / "examples/box" if "lint" not in words else folder,
        env={**os.environ, "HOME": str(folder / "home")},
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(("words", "code"), [*PRINTING, ("radian exec --list", 0)])
def test_a_reader_that_leaves_changes_no_exit_code(project: Path, words: str, code: int) -> None:
    """It was 1, which means findings, a failure or a broken rule."""
    reader, writer = os.pipe()
    os.close(reader)
    run = printed_to(writer, words, project)
    os.close(writer)

    assert run.returncode == code
    assert "BrokenPipe" not in run.stderr


@pytest.mark.parametrize("words", [words for words, code in PRINTING if code == 0])
def test_output_for_which_there_is_no_room_is_told(project: Path, words: str) -> None:
    """Help and the tables of chantry ended in a traceback."""
    full = os.open("/dev/full", os.O_WRONLY)
    run = printed_to(full, words, project)
    os.close(full)

    assert run.returncode == 1
    assert "No space left on device" in run.stderr.splitlines()[-1]
    assert "Traceback" not in run.stderr
