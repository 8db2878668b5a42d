"""Commands that a test can find again among all processes."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

from tests.e2e.processes import described, marked, wait_until_gone

if TYPE_CHECKING:
    import subprocess

NUMBERS = itertools.count(1)


def long_sleep() -> str:
    """Return a number of seconds that no other sleep has: its own mark."""
    return f"4{os.getpid()}.{next(NUMBERS):04}"


def none_left(mark: str) -> bool:
    """Wait for the end of all that carry the mark."""
    left = wait_until_gone(marked(mark), 10)
    assert not left, described(left)
    return True


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for a program and return its code, stdout and stderr."""
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr
