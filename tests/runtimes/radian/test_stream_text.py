"""The events of a turn as lines: plain in a pipe, coloured at a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from runtimes.radian.events import Asked, ToolCall, ToolResult
from runtimes.radian.stream_text import TextView

if TYPE_CHECKING:
    from collections.abc import Mapping

SAID = (
    ToolCall(1, "c", "shell", "make", "execute", {}),
    ToolResult(1, "c", "failed", "", "exit code 2"),
    Asked("? fetch: a.org\n  1. Allow once\nNumber: "),
)
PLAIN = """\
> shell: make
! shell: make: exit code 2
? fetch: a.org
  1. Allow once
Number: """
COLOURED = """\
\x1b[36m> shell: make\x1b[0m
\x1b[31m! shell: make: exit code 2\x1b[0m
\x1b[1m? fetch: a.org\x1b[0m
  1. Allow once
Number: """


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("err", "environ", "shown"),
    [
        (io.StringIO(), {"TERM": "xterm"}, PLAIN),
        (Tty(), {"TERM": "xterm"}, COLOURED),
        (Tty(), {"TERM": "dumb"}, PLAIN),
        (Tty(), {"TERM": "xterm", "NO_COLOR": "1"}, PLAIN),
    ],
    ids=["pipe", "terminal", "dumb", "NO_COLOR"],
)
def test_lines_have_colours_where_a_terminal_takes_them(
    monkeypatch: pytest.MonkeyPatch, err: io.StringIO, environ: Mapping[str, str], shown: str
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    TextView(io.StringIO(), err, live=True).show(SAID)

    assert err.getvalue() == shown
