"""Telling of trouble when there is hardly anything left to do it with."""

from __future__ import annotations

import subprocess
import sys

from tests.shared import ROOT

UNREADABLE = """
import sys
from actors.logs import carry_stdlib, log
from actors.telemetry import LoggedTelemetry

class Unreadable:
    def find_spec(self, name, path=None, target=None):
        if name == "loguru":
            raise OSError(24, "Too many open files")

sys.meta_path.insert(0, Unreadable())
carry_stdlib()
LoggedTelemetry().event("crashed", "writer", reason=ValueError("a bug"))
log().debug("not {}", "wanted")
log().error("{} failed", "it")
import logging
logging.getLogger("library").warning("from a library")
del sys.meta_path[0]
log().warning("read again")
"""


def test_trouble_is_told_in_short_where_the_log_can_not_be_read() -> None:
    words = [sys.executable, "-c", UNREADABLE]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=False, timeout=60, text=True)

    *short, again = done.stderr.splitlines()
    assert short == [
        "WARNING | writer crashed reason=a bug: ValueError: a bug",
        "ERROR | it failed",
        "WARNING | from a library",
    ]
    assert again.endswith("read again")
    assert done.returncode == 0
