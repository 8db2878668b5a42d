"""A program that is started with its standard streams closed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.shared import ROOT

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
