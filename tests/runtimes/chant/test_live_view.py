"""The line below a run: there while nothing is said, gone before anything is."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import pytest

from ops.events import RunSettled, StepStarted
from runtimes.chant.items import PlanAnnounced
from runtimes.chant.live_view import ERASE, TICK_S, LiveView
from runtimes.chant.render import TerminalView
from tests.runtimes.chant.events import RUN_ID, settled
from tests.runtimes.chant.hosts import two_phases
from tests.runtimes.chant.projects import make_project
from tests.scripts import script

if TYPE_CHECKING:
    from pathlib import Path


def started(step_id: str) -> StepStarted:
    return StepStarted(
        RUN_ID, step_id, 2, 0.0, "Build", "shell", "Build / shell", {}, compensates=False
    )


def live(out: io.StringIO) -> LiveView:
    return LiveView(TerminalView(out, out, colors=False), out)


def last(out: io.StringIO) -> str:
    return out.getvalue().rpartition(ERASE)[2]


def test_the_line_says_how_far_the_run_is_and_what_goes_on() -> None:
    out = io.StringIO()
    view = live(out)
    view.show([PlanAnnounced(RUN_ID, two_phases()), started("pack"), settled(), started("test")])

    view.tick(0)
    assert ERASE not in out.getvalue()
    view.tick(time.monotonic() + 75)

    assert last(out) == "1 of 3 done, running: test 1 m 15 s"


def test_it_is_taken_away_before_anything_else_is_written() -> None:
    out = io.StringIO()
    view = live(out)
    view.show([PlanAnnounced(RUN_ID, two_phases()), started("pack")])
    view.tick(0)
    view.tick(time.monotonic())
    before = out.getvalue()

    view.show([settled()])

    assert out.getvalue().startswith(f"{before}{ERASE}ok Build / shell  pack")
    view.tick(0)
    view.tick(0)
    assert last(out).startswith("ok"), "nothing runs: there is nothing to tell"


def test_it_fits_the_terminal() -> None:
    out = io.StringIO()
    view = live(out)
    view.show([started(f"step-{number}") for number in range(40)])
    view.tick(0)
    view.tick(time.monotonic())

    assert len(last(out)) == 79
    assert last(out).endswith("…")


def test_a_run_that_has_settled_leaves_no_line() -> None:
    out = io.StringIO()
    with live(out) as view:
        view.show([started("pack")])
        view.tick(0)
        view.tick(time.monotonic())
        view.show([RunSettled(RUN_ID, "", 9, 0.0, "ok", "none", {})])

    assert last(out) == ""


def test_it_ticks_until_the_terminal_is_gone() -> None:
    ticked = threading.Event()

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            if ERASE in text:
                ticked.set()
                raise OSError
            return super().write(text)

    out = Gone()
    with live(out) as view:
        view.show([started("pack")])

        assert ticked.wait(30 * TICK_S)


WAITS = """\
name = "waits"

[[phases]]
name = "Work"
  [[phases.steps]]
  id = "wait"
  fn = "shell"
  args = { cmd = "read line < gate" }
"""


def seen(master: int, text: bytes) -> bytes:
    found = b""
    while text not in found:
        found += os.read(master, 4096)
    return found


def test_a_real_terminal_shows_it_and_a_pipe_does_not(tmp_path: Path) -> None:
    box = make_project(tmp_path / "box", waits=WAITS)
    os.mkfifo(box / "gate")
    master, slave = pty.openpty()
    with subprocess.Popen(
        [script("chant"), "run", "waits"],
        cwd=box,
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm"},
    ) as run:
        os.close(slave)
        seen(master, b"\r\x1b[K0 of 1 done, running: wait ")
        (box / "gate").write_text("go\n")
        rest = seen(master, b"waits is done")
        assert rest.startswith(b"\r\x1b[K")
        assert b"running:" not in rest.rpartition(b"\x1b[K")[2]
        run.wait(60)
    os.close(master)


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {}])
def test_where_a_line_can_not_be_taken_away_there_is_none(env: dict[str, str]) -> None:
    from contextlib import nullcontext

    from runtimes.chant.running import lively

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()

    assert isinstance(lively(TerminalView(out, out, colors=False), env, out), nullcontext)
    assert isinstance(
        lively(TerminalView(out, out, colors=False), {"TERM": "xterm"}, out), LiveView
    )
