"""`radian exec` at a terminal of its own."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.scripts import script

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.runtimes.radian.box import Box

ENOUGH_S = 30


@dataclass
class Terminal:
    """Both sides of a terminal."""

    process: subprocess.Popen[bytes]
    descriptor: int
    seen: str = ""

    def wait_for(self, text: str) -> str:
        """Read until ``text`` has been shown; return what came before it."""
        while text not in self.seen:
            ready, _, _ = select.select([self.descriptor], [], [], ENOUGH_S)
            assert ready, self.seen
            try:
                data = os.read(self.descriptor, 65536)
            except OSError:
                data = b""
            assert data, self.seen
            self.seen += data.decode()
        before, _, self.seen = self.seen.partition(text)
        return before

    def type(self, text: str) -> None:
        """Type."""
        os.write(self.descriptor, text.encode())

    def exit_code(self) -> int:
        """Wait for the end of the process, and return its code."""
        return self.process.wait(ENOUGH_S)


@contextmanager
def at_terminal(box: Box, *words: str, command: str = "exec") -> Generator[Terminal]:
    """Start ``radian exec``, or another command, with ``words``."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [script("radian"), command, *words],
        cwd=box.workspace,
        env={**box.environ, "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait(ENOUGH_S)
        os.close(ours)
