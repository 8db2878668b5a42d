"""Programs as steps: real processes, real pipes."""

from __future__ import annotations

import os
import random
import sys
import threading
from dataclasses import replace
from errno import EMFILE
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from actors import guardian_link, process_step
from actors.faults import NoFaults
from actors.process_tree import children
from actors.real_platform import RealPlatform
from actors.steps import RealSteps
from actors.work import Captured, ProcessWork
from tests.actors.stepping import (
    Recorder,
    StalledSource,
    Started,
    call,
    open_descriptors,
    program,
    shell,
    survivors,
    wait_gone,
    wait_runs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from actors.faults import Verdict
    from actors.platform import Task


@pytest.fixture
def mark() -> Iterator[str]:
    """Name this test's processes; none may be left when it and its service are over."""
    name = uuid4().hex
    yield name
    wait_gone(name)


@pytest.fixture
def steps(mark: str) -> Iterator[RealSteps]:
    service = RealSteps(RealPlatform(), NoFaults())
    yield service
    service.close()
    assert survivors(mark) == []


# How a program ends, and what it printed.


def test_output_and_exit_code_of_a_program_are_reported(steps: RealSteps) -> None:
    step = Started(steps, shell("echo out; echo err >&2; exit 3"))

    end = step.wait_end()

    assert (end.step_id, end.kind, end.exit_code, end.error) == ("s1", "exited", 3, None)
    assert (end.stdout.text, end.stdout.total_bytes) == ("out\n", 4)
    assert (end.stderr.text, end.stderr.total_bytes) == ("err\n", 4)
    assert (step.heard.text("stdout"), step.heard.text("stderr")) == ("out\n", "err\n")


def test_a_silent_program_captures_nothing(steps: RealSteps) -> None:
    end = Started(steps, program("true")).wait_end()

    assert (end.kind, end.exit_code, end.stdout, end.stderr) == (
        "exited",
        0,
        Captured(),
        Captured(),
    )


def test_a_signal_that_ends_a_program_counts_from_128(steps: RealSteps) -> None:
    end = Started(steps, shell("kill -SEGV $$")).wait_end()

    assert (end.kind, end.exit_code) == ("exited", 139)


def test_the_last_words_of_a_program_are_never_lost(steps: RealSteps) -> None:
    for _ in range(50):
        end = Started(steps, shell("printf %60000d 7")).wait_end()

        assert end.stdout.total_bytes == 60000


def test_output_that_is_not_utf8_is_shown_with_marks(steps: RealSteps) -> None:
    step = Started(steps, shell(r"printf '\377\376\200ok\000\033[31m'"))

    end = step.wait_end()

    assert end.kind == "exited"
    assert end.stdout.text == step.heard.text() == "\ufffd\ufffd\ufffdok\0\x1b[31m"
    assert end.stdout.total_bytes == 11


def test_a_character_in_two_writes_is_one_character(steps: RealSteps) -> None:
    step = Started(steps, shell(r"printf 'a\303'; read x; printf '\244'; printf '\303'"))

    assert step.wait_end().stdout.text == "aä\ufffd"
    assert step.heard.text() == "aä\ufffd"


def test_endless_output_is_counted_but_not_kept() -> None:
    before = _peak_kib()
    service = RealSteps(RealPlatform(), NoFaults(), live_limit_bytes=1_000_000)
    step = Started(service, shell("yes | head -c 500000000; exit 3"))

    end = step.wait_end()
    grown = _peak_kib() - before
    service.close()

    assert (end.exit_code, end.stdout.total_bytes) == (3, 500_000_000)
    assert len(end.stdout.text) < 600_000
    assert len(step.heard.text()) < 1_000_200
    assert grown < 50_000


def test_an_endless_program_can_be_stopped(steps: RealSteps, mark: str) -> None:
    step = Started(steps, program("yes", mark=mark)).wait_text("y\n")

    step.handle.abort("timed_out")

    assert step.wait_end().kind == "timed_out"
    assert survivors(mark) == []


# What a program gets.


def test_a_program_gets_exactly_its_environment_and_folder(
    steps: RealSteps, tmp_path: Path
) -> None:
    work = ProcessWork(("/usr/bin/env",), str(tmp_path), {"A": "1=2", "B": "ä\n"})
    where = ProcessWork(("/bin/sh", "-c", "pwd -P"), str(tmp_path), {})

    assert Started(steps, work).wait_end().stdout.text == "A=1=2\nB=ä\n\n"
    assert Started(steps, where).wait_end().stdout.text == f"{tmp_path.resolve()}\n"


def test_a_program_reads_what_it_is_given_and_then_the_end(steps: RealSteps) -> None:
    given = b"0123456789\n" * 100_000  # more than a pipe holds, and nobody has to wait for it

    end = Started(
        steps, replace(shell("dd bs=5 count=1 status=none >&2; wc -c"), stdin=given)
    ).wait_end()

    assert (end.exit_code, end.stderr.text) == (0, "01234")
    assert int(end.stdout.text) == len(given) - 5


def test_without_anything_to_read_stdin_is_at_its_end(steps: RealSteps) -> None:
    nothing, empty = shell("wc -c"), replace(shell("wc -c"), stdin=b"")

    assert [int(Started(steps, each).wait_end().stdout.text) for each in (nothing, empty)] == [0, 0]


def test_what_a_program_does_not_read_is_let_go(steps: RealSteps) -> None:
    Started(steps, program("true")).wait_end()
    _wait_pumps()
    before = open_descriptors()

    for name in ("true", "no-such-program"):
        Started(steps, replace(program(name), stdin=b"x" * 1_000_000)).wait_end()
    _wait_pumps()

    assert open_descriptors() <= before


def test_a_program_may_read_and_report(steps: RealSteps) -> None:
    work = replace(shell("cat >&3; echo out"), stdin=b"both", reports=True)

    end = Started(steps, work).wait_end()

    assert (end.value, end.stdout.text) == (b"both", "out\n")


def test_too_much_for_stdin_is_a_step_that_can_not_start(steps: RealSteps) -> None:
    work = replace(program("true"), stdin=b"x" * (process_step.MAX_STDIN_BYTES + 1))

    end = Started(steps, work).wait_end()

    assert (end.kind, "for its stdin" in (end.error or "")) == ("failed", True)


@pytest.mark.parametrize(
    "argv",
    [
        ("cat",),
        (sys.executable, "-c", "input()"),
        ("sh", "-c", "cat < /dev/tty"),
    ],
    ids=["cat", "input", "tty"],
)
def test_a_program_that_asks_gets_no_input_and_no_terminal(
    steps: RealSteps, argv: tuple[str, ...]
) -> None:
    end = Started(steps, program(*argv)).wait_end()

    assert end.kind == "exited"
    assert (end.exit_code == 0) == (argv == ("cat",))


def test_a_program_inherits_no_descriptor_but_its_three(steps: RealSteps) -> None:
    leak = os.dup(2)
    os.set_inheritable(leak, True)  # noqa: FBT003 - positional only
    try:
        end = Started(steps, shell("ls /proc/$$/fd")).wait_end()
    finally:
        os.close(leak)

    assert end.stdout.text.split() == ["0", "1", "2"]


def test_a_program_starts_with_default_signals(steps: RealSteps) -> None:
    work = program("grep", "-E", "Sig(Blk|Ign)", "/proc/self/status")

    blocked, ignored = Started(steps, work).wait_end().stdout.text.splitlines()

    assert int(blocked.split()[1], 16) == 0
    # Two that the C library keeps for itself are ignored by its own posix_spawn.
    assert int(ignored.split()[1], 16) & ~0x1_8000_0000 == 0


def test_a_program_leads_its_own_group(steps: RealSteps) -> None:
    end = Started(steps, program("cut", "-d ", "-f1,5", "/proc/self/stat")).wait_end()

    pid, group = end.stdout.text.split()
    assert pid == group


# Programs that can't start.


def test_a_program_that_is_not_there_fails_by_name(steps: RealSteps) -> None:
    end = Started(steps, program("no-such-program")).wait_end()

    assert (end.kind, end.exit_code) == ("failed", None)
    assert end.error == "can't start 'no-such-program': program not found"


def test_a_folder_that_is_not_there_is_named(steps: RealSteps) -> None:
    end = Started(steps, program("ls", cwd="/no/such")).wait_end()

    assert end.kind == "failed"
    assert end.error == "can't start 'ls' in '/no/such': No such file or directory"


def test_a_file_that_may_not_be_run_fails_by_name(steps: RealSteps, tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n", encoding="ascii")

    by_path = Started(steps, program("./tool", cwd=str(tmp_path))).wait_end()
    searched = Started(steps, program("tool", env={"PATH": f"/nowhere:{tmp_path}"})).wait_end()

    why = "Permission denied; is it executable (chmod +x)?"
    assert by_path.error == f"can't start './tool': {why}"
    assert searched.error == f"can't start 'tool': {why}"


def test_the_path_of_the_step_finds_the_program(steps: RealSteps, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho here\n", encoding="ascii")
    tool.chmod(0o755)

    end = Started(steps, program("tool", env={"PATH": f"/nowhere:{tmp_path}"})).wait_end()

    assert end.stdout.text == "here\n"


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (("echo", "x" * 200_000), "can't start 'echo': Argument list too long"),
        (("echo", *["x" * 100_000] * 200), "can't start 'echo': Argument list too long"),
        (("echo", "a\0b"), "can't start 'echo': a NUL byte in"),
        (("",), "can't start '': no program given"),
        ((), "can't start an empty command: no program given"),
    ],
    ids=["long", "huge", "nul", "empty", "none"],
)
def test_what_no_kernel_takes_fails_by_name(
    steps: RealSteps, argv: tuple[str, ...], error: str
) -> None:
    end = Started(steps, program(*argv)).wait_end()

    assert end.kind == "failed"
    assert (end.error or "").startswith(error)
    assert Started(steps, program("true")).wait_end().exit_code == 0


def test_an_odd_environment_fails_the_step_only(steps: RealSteps) -> None:
    end = Started(steps, program("true", env={"A=B": "c"})).wait_end()

    assert (end.kind, "environment variable" in (end.error or "")) == ("failed", True)


# Background children.


@pytest.mark.parametrize(
    "script",
    [
        "sleep 300 & echo done",
        "(while :; do echo x; sleep 1; done) & echo done",
        "setsid sleep 300 & echo done",
        "(yes 2>/dev/null) & echo done",
    ],
)
def test_a_step_ends_with_its_program_though_a_child_holds_the_pipe(
    steps: RealSteps, mark: str, script: str
) -> None:
    end = Started(steps, shell(script, mark)).wait_end()

    assert (end.kind, end.exit_code) == ("exited", 0)
    if "yes" not in script:  # that one drowns the word
        assert "done\n" in end.stdout.text


def test_what_a_step_left_behind_dies_with_the_service(steps: RealSteps, mark: str) -> None:
    Started(steps, shell("setsid sleep 300 & echo done", mark)).wait_end()
    assert survivors(mark)

    steps.close()

    assert survivors(mark) == []


# Stopping a whole tree.

DOUBLE_FORK = (
    "import os,time\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "print('ready', flush=True)\n"
    "time.sleep(300)\n"
)

TREES = {
    "shell": "echo ready; sleep 300; :",
    "make": "sh -c 'sh -c \"echo ready; sleep 300; :\"; :'",
    "setsid": "setsid sh -c 'echo ready; sleep 300; :'; :",
    "double_fork": f'{sys.executable} -c "$SCRIPT"; sleep 300',
    "without_environment": "env -i setsid sh -c 'sleep 300; :' & echo ready; sleep 300",
    "stopped": "sleep 300 & kill -STOP $!; echo ready; wait",
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_an_abort_ends_the_whole_tree(steps: RealSteps, mark: str, tree: str) -> None:
    work = program("sh", "-c", tree, mark=mark, env={"SCRIPT": DOUBLE_FORK})
    step = Started(steps, work).wait_text("ready")
    if not tree.endswith("wait"):
        # What is to be told of the abort has to be there.
        wait_runs(mark, "sleep")

    step.handle.abort("timed_out")

    assert step.wait_end().kind == "timed_out"
    assert survivors(mark) == []


RABBIT = """
import os, signal
if os.fork():
    signal.pause()
print("ready", flush=True)
while True:
    if os.fork():
        os._exit(0)
"""
"""Lives on in its child, again and again: whoever was just looked at is over."""


def test_an_abort_catches_up_with_a_program_that_lives_on_in_its_children(
    steps: RealSteps, mark: str
) -> None:
    for _ in range(12):
        step = Started(steps, program(sys.executable, "-c", RABBIT, mark=mark)).wait_text("ready")

        step.handle.abort("cancelled")

        assert step.wait_end().kind == "cancelled"
    assert survivors(mark) == []


DEAF = "trap '' TERM; (trap '' TERM; setsid sh -c 'echo ready; sleep 300; :'); sleep 300; :"


def test_a_kill_ends_a_tree_that_ignores_the_abort(steps: RealSteps, mark: str) -> None:
    step = Started(steps, shell(DEAF, mark)).wait_text("ready")

    step.handle.abort("cancelled")
    assert step.heard.ends == []
    step.handle.kill()

    end = step.wait_end()
    assert (end.kind, end.exit_code) == ("cancelled", 137)
    assert survivors(mark) == []


def test_an_aborted_step_lasts_until_its_last_process_is_gone(steps: RealSteps, mark: str) -> None:
    script = "(trap '' TERM; echo ready; while :; do sleep 0.1; done) & wait"
    step = Started(steps, shell(script, mark)).wait_text("ready")

    step.handle.abort("cancelled")
    assert survivors(mark)
    assert step.heard.ends == []
    step.handle.kill()

    assert (step.wait_end().kind, survivors(mark)) == ("cancelled", [])


def test_a_shell_does_not_go_on_after_an_abort(steps: RealSteps, mark: str, tmp_path: Path) -> None:
    for _ in range(20):
        step = Started(steps, shell(f"echo ready; sleep 300; touch {tmp_path}/next", mark))
        step.wait_text("ready").handle.abort("cancelled")
        step.wait_end()

    assert os.listdir(tmp_path) == []


def test_a_program_may_tidy_up_and_its_words_are_kept(steps: RealSteps, mark: str) -> None:
    script = "trap 'echo tidied; exit 7' TERM; sleep 300 & echo ready; wait"
    step = Started(steps, shell(script, mark)).wait_text("ready")

    step.handle.abort("cancelled")

    end = step.wait_end()
    assert (end.kind, end.exit_code, end.stdout.text) == ("cancelled", 7, "ready\ntidied\n")


LOSER = """
import os, signal
told, tell = os.pipe()
signal.signal(signal.SIGTERM, lambda *_: os.write(tell, b"!"))
if os.fork() == 0:
    os.read(told, 1)  # the parent loses nothing from here on
    print("ready", flush=True)
    os.read(told, 1)
    os.execvp("sleep", ["sleep", "300"])
signal.signal(signal.SIGTERM, signal.SIG_DFL)
os.write(tell, b"!")
signal.pause()
"""
"""Its child takes a TERM with its parent's handler, before it runs its program: what a shell's
child does when the signal comes in the millisecond after the fork."""


def test_a_child_that_loses_the_abort_before_it_runs_its_program_is_told_again(
    steps: RealSteps, mark: str
) -> None:
    step = Started(steps, program(sys.executable, "-c", LOSER, mark=mark)).wait_text("ready")

    step.handle.abort("cancelled")

    assert (step.wait_end().kind, survivors(mark)) == ("cancelled", [])


@pytest.mark.parametrize("last", ["", "exec "], ids=["itself", "by a program"])
def test_who_tidies_up_with_the_default_handler_is_not_told_again(
    steps: RealSteps, mark: str, last: str
) -> None:
    # Longer than the guardian takes between two looks; an `exec` of the step itself is no loss.
    tidy = f"trap - TERM; {last}sh -c 'sleep 0.3; echo tidied'"
    trap = f'trap "{tidy}" TERM; echo ready; sleep 300'
    script = trap if last else f"({trap}) & wait"
    step = Started(steps, shell(script, mark)).wait_text("ready")

    step.handle.abort("cancelled")

    assert step.wait_end().stdout.text == "ready\ntidied\n"


def test_aborting_one_step_leaves_the_others_alone(steps: RealSteps, mark: str) -> None:
    other = Started(steps, shell("setsid sh -c 'echo ready; sleep 300; :'; :", mark))
    step = Started(steps, shell("setsid sh -c 'echo ready; sleep 300; :'; :", mark))
    other.wait_text("ready")
    step.wait_text("ready").handle.abort("cancelled")
    step.wait_end()

    assert other.heard.ends == []
    assert len(survivors(mark)) >= 3

    other.handle.abort("cancelled")
    assert other.wait_end().kind == "cancelled"


def test_a_bomb_of_forks_is_ended(steps: RealSteps, mark: str) -> None:
    script = "f() { i=0; while [ $i -lt 40 ]; do (sleep 300; :) & i=$((i+1)); done; echo ready; }"
    step = Started(steps, shell(f"{script}; f & f & f; f; wait", mark)).wait_text("ready")

    step.handle.kill()

    assert (step.wait_end().kind, survivors(mark)) == ("cancelled", [])


def test_an_abort_before_the_start_runs_nothing(steps: RealSteps, tmp_path: Path) -> None:
    steps.close()

    end = Started(steps, shell(f"touch {tmp_path}/ran")).wait_end()

    assert (end.kind, end.exit_code) == ("cancelled", None)
    assert os.listdir(tmp_path) == []


def test_calls_after_the_end_change_nothing(steps: RealSteps) -> None:
    step = Started(steps, program("true"))
    step.wait_end()

    step.handle.abort("cancelled")
    step.handle.kill()
    steps.close()

    assert [end.kind for end in step.heard.ends] == ["exited"]


# Slow clients, many steps, races.


def test_a_client_that_does_not_read_does_not_delay_the_end(steps: RealSteps) -> None:
    slow = StalledSource()
    step = Started(steps, shell("echo first; echo last"), slow)

    end = step.wait_end()

    assert (end.kind, end.stdout.text) == ("exited", "first\nlast\n")


def test_a_client_that_does_not_read_stalls_the_program(steps: RealSteps, mark: str) -> None:
    slow = StalledSource()
    step = Started(steps, program("yes", mark=mark), slow)
    assert slow.waiting.wait(20)

    step.handle.abort("cancelled")

    assert step.wait_end().kind == "cancelled"
    assert slow.ends[0].stdout.total_bytes < 2 * process_step.LAST_READ_BYTES


def test_64_steps_run_at_once(steps: RealSteps, mark: str) -> None:
    started = [Started(steps, shell(f"echo {n}; exit {n}", mark)) for n in range(64)]

    ends = [step.wait_end() for step in started]

    assert [end.exit_code for end in ends] == list(range(64))
    assert [end.stdout.text for end in ends] == [f"{n}\n" for n in range(64)]


def test_64_steps_are_stopped_at_once(steps: RealSteps, mark: str) -> None:
    started = [Started(steps, shell("echo ready; sleep 300; :", mark)) for _ in range(64)]
    for step in started:
        step.wait_text("ready")

    for step in started:
        step.handle.abort("cancelled")

    assert {step.wait_end().kind for step in started} == {"cancelled"}
    assert survivors(mark) == []


@pytest.mark.parametrize("seed", range(60))
def test_there_is_one_end_whatever_races(steps: RealSteps, mark: str, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a schedule, not a secret
    script = chance.choice(
        ["exit 0", "echo x", "sleep 0.003", "sleep 300", "trap '' TERM; sleep 3"]
    )
    started = [Started(steps, shell(script, mark)) for _ in range(4)]
    threads = [
        threading.Thread(target=_disturb, args=(step, random.Random(seed + n)))  # noqa: S311
        for n, step in enumerate(started)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kinds = {step.wait_end().kind for step in started}
    steps.close()

    assert kinds <= {"exited", "cancelled", "timed_out"}
    assert [len(step.heard.ends) for step in started] == [1] * 4
    assert survivors(mark) == []


def _disturb(step: Started, chance: random.Random) -> None:
    deeds: list[Callable[[], None]] = [
        lambda: step.handle.abort("cancelled"),
        lambda: step.handle.abort("timed_out"),
        step.handle.kill,
    ]
    threading.Event().wait(chance.random() * 0.006)
    for deed in chance.sample(deeds, 2):
        deed()
    step.handle.kill()


def test_200_steps_leave_no_descriptor_and_no_thread_behind(steps: RealSteps) -> None:
    for _ in range(5):
        Started(steps, program("true")).wait_end()
    _wait_pumps()
    before = open_descriptors()

    for n in range(200):
        step = Started(steps, program("true" if n % 3 else "no-such-program"))
        if n % 5 == 0:
            step.handle.abort("cancelled")
        step.wait_end()
    _wait_pumps()

    assert open_descriptors() <= before


def _wait_pumps() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("step-pump"):
            thread.join(20)


# Faults.


class Plan(NoFaults):
    """Fails at the n-th pass of one point."""

    def __init__(self, point: str, nth: int = 1) -> None:
        self._point = point
        self._left = nth

    def at(self, name: str, who: str = "") -> Verdict:
        del who
        if name == self._point:
            self._left -= 1
            if self._left == 0:
                message = f"fault at {name}"
                raise RuntimeError(message)
        return "pass"


@pytest.mark.parametrize(
    ("point", "kind"),
    [
        ("guardian.start", "failed"),
        ("step.spawn", "failed"),
        ("step.read", "lost"),
        ("step.report", "lost"),
        ("step.end", "lost"),
    ],
)
def test_a_fault_at_any_point_still_gives_one_end(mark: str, point: str, kind: str) -> None:
    service = RealSteps(RealPlatform(), Plan(point))
    step = Started(service, shell("echo x; exec sleep 0.2", mark))

    end = step.wait_end()
    after = Started(service, shell("echo y", mark)).wait_end()
    service.close()

    assert end.kind == kind
    assert end.error
    assert len(step.heard.ends) == 1
    assert (after.kind, after.stdout.text) == ("exited", "y\n")


class BrokenSource(Recorder):
    """An outlet with a bug."""

    def offer(self, items: object) -> None:
        message = f"no room for {items}"
        raise RuntimeError(message)


def test_a_broken_outlet_ends_the_step_and_kills_the_program(steps: RealSteps, mark: str) -> None:
    step = Started(steps, shell("echo x; sleep 300; :", mark), BrokenSource())

    end = step.wait_end()

    assert (end.kind, "no room" in (end.error or "")) == ("lost", True)
    assert survivors(mark) == []


def _peak_kib() -> int:
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def test_a_program_reports_on_a_descriptor_of_its_own(steps: RealSteps, mark: str) -> None:
    work = replace(shell("echo seen; printf report >&3", mark), reports=True)

    end = Started(steps, work).wait_end()

    assert (end.kind, end.value, end.stdout.text) == ("exited", b"report", "seen\n")


def test_a_report_larger_than_a_pipe_arrives_whole(steps: RealSteps, mark: str) -> None:
    work = replace(shell("head -c 500000 /dev/zero >&3", mark), reports=True)

    assert Started(steps, work).wait_end().value == bytes(500_000)


def test_no_other_program_has_a_third_descriptor(steps: RealSteps, mark: str) -> None:
    end = Started(steps, shell("ls /proc/self/fd", mark)).wait_end()

    assert end.stdout.text.split() == ["0", "1", "2", "3"]  # the last is the folder being listed
    assert end.value is None


# When the system has nothing left to give.


class Scarce(RealPlatform):
    """A platform on which no thread whose name begins with ``short`` can be started."""

    short = "none"

    def spawn(self, name: str, target: Callable[[], None]) -> Task:
        if name.startswith(self.short):
            message = "can't start new thread"
            raise RuntimeError(message)
        return super().spawn(name, target)


@pytest.mark.parametrize("short", ["step-pump", "step-reaper"])
def test_a_program_that_there_is_no_thread_for_fails_and_the_next_one_runs(short: str) -> None:
    """It once crashed whoever started it, and 64 of them at once the whole server."""
    platform = Scarce()
    steps = RealSteps(platform, NoFaults())
    before = open_descriptors()
    platform.short = short

    end = Started(steps, program("true")).wait_end()

    assert (end.kind, end.error) == ("failed", "can't start 'true': can't start new thread")
    assert open_descriptors() <= before
    platform.short = "none"
    assert Started(steps, program("true")).wait_end().exit_code == 0
    steps.close()


def test_a_call_that_there_is_no_thread_for_fails() -> None:
    platform = Scarce()
    platform.short = "step-"

    end = Started(RealSteps(platform, NoFaults()), call(lambda _: None)).wait_end()

    assert (end.kind, end.error) == ("failed", "can't start new thread")


def test_programs_that_there_are_no_descriptors_for_fail_and_the_next_one_runs(
    steps: RealSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    Started(steps, program("true")).wait_end()
    monkeypatch.setattr(process_step, "Bell", _no_bell)

    end = Started(steps, program("true")).wait_end()

    assert (end.kind, end.error) == ("failed", "can't start 'true': Too many open files")
    monkeypatch.undo()
    assert Started(steps, program("true")).wait_end().exit_code == 0


def test_a_guardian_that_there_is_no_descriptor_for_is_reaped(
    steps: RealSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, programs = open_descriptors(), children(os.getpid())
    monkeypatch.setattr(guardian_link, "Bell", _no_bell)

    end = Started(steps, program("true")).wait_end()

    assert (end.kind, end.error) == ("failed", "can't start 'true': Too many open files")
    assert open_descriptors() <= before
    assert children(os.getpid()) == programs


def _no_bell(_platform: RealPlatform) -> None:
    raise OSError(EMFILE, os.strerror(EMFILE))
