"""The guardian: it starts late, ends last, and nothing outlives it, whoever is killed."""

from __future__ import annotations

import _socket
import os
import queue
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from errno import EMFILE
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from actors import guardian_link, guardian_main, orphans, process_step
from actors.faults import NoFaults
from actors.guardian import Guardian
from actors.guardian_link import GuardianLink, LinkClosed
from actors.process_tree import _stat, children, children_of_thread, parent_of
from actors.real_platform import RealPlatform
from actors.steps import RealSteps
from tests.actors.stepping import (
    MARK,
    WAIT_S,
    StalledSource,
    Started,
    open_descriptors,
    program,
    shell,
    survivors,
    wait_dead,
    wait_gone,
)
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from actors.faults import Verdict

TREE = (
    "setsid sh -c 'trap \"\" TERM; sleep 300; :' & "
    "(setsid setsid sh -c 'sleep 300; :' &) & "
    "sleep 300 & echo ready; wait"
)
"""A child, one that left the session and ignores TERM, and one that left it twice."""


@pytest.fixture
def mark() -> Iterator[str]:
    name = uuid4().hex
    yield name
    wait_gone(name)


@pytest.fixture
def steps(mark: str) -> Iterator[RealSteps]:
    service = RealSteps(RealPlatform(), NoFaults())
    yield service
    service.close()
    assert survivors(mark) == []


def guardian_pid(steps: RealSteps) -> int:
    assert steps._guardian is not None
    assert steps._guardian._link is not None
    return steps._guardian._link.pid


def test_neither_guardian_nor_wardens_have_what_stands_in_our_variables(
    steps: RealSteps, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOX_MODEL", "correct-horse")
    monkeypatch.setenv("CHANTRY_OURS", "passed on")
    step = Started(steps, shell("cat /proc/$PPID/environ; echo ready", mark))
    warden = step.wait_text("ready").heard.text()

    with open(f"/proc/{guardian_pid(steps)}/environ", encoding="utf-8") as file:
        guardian = file.read()

    for environment in (guardian, warden):
        assert "CHANTRY_OURS=passed on" in environment
        assert "correct-horse" not in environment


# Its life.


def test_there_is_no_guardian_before_the_first_step(steps: RealSteps) -> None:
    assert steps._guardian is None

    Started(steps, program("true")).wait_end()

    assert parent_of(guardian_pid(steps)) == os.getpid()


def test_warming_up_starts_the_guardian_once(steps: RealSteps) -> None:
    steps.warm_up()
    first = guardian_pid(steps)
    steps.warm_up()
    Started(steps, program("true")).wait_end()

    assert guardian_pid(steps) == first


def test_closing_ends_the_guardian_and_may_be_repeated(steps: RealSteps) -> None:
    before = open_descriptors()
    Started(steps, program("true")).wait_end()
    pid = guardian_pid(steps)

    steps.close()
    steps.close()

    assert parent_of(pid) is None
    assert open_descriptors() <= before


def test_a_closed_guardian_starts_nothing() -> None:
    guardian = Guardian(RealPlatform(), NoFaults())
    guardian.close()

    with pytest.raises(LinkClosed, match="the server is ending"):
        guardian.ensure()


def test_a_guardian_that_can_not_be_started_fails_the_step(
    steps: RealSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = open_descriptors()
    monkeypatch.setattr(sys, "executable", "/no/such/python")

    end = Started(steps, program("true")).wait_end()

    assert end.kind == "failed"
    assert end.error == "can't start 'true': No such file or directory"
    assert open_descriptors() <= before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_the_guardian_is_deaf_to_what_ends_a_server(
    steps: RealSteps, mark: str, number: signal.Signals
) -> None:
    step = Started(steps, shell("echo ready; read x; sleep 300; :", mark)).wait_text("ready")

    os.kill(guardian_pid(steps), number)
    after = Started(steps, program("echo", "still there")).wait_end()

    assert after.stdout.text == "still there\n"
    assert step.heard.ends == []


def test_the_guardian_has_a_session_of_its_own_and_no_terminal(steps: RealSteps) -> None:
    Started(steps, program("true")).wait_end()
    pid = guardian_pid(steps)

    assert os.getsid(pid) == pid
    assert os.readlink(f"/proc/{pid}/fd/0") == os.devnull
    assert os.readlink(f"/proc/{pid}/fd/1") == os.devnull


# Everyone may be killed.


def test_a_killed_guardian_loses_its_steps_and_the_next_one_works(
    steps: RealSteps, mark: str
) -> None:
    running = [Started(steps, shell(TREE, mark)).wait_text("ready") for _ in range(3)]

    os.kill(guardian_pid(steps), signal.SIGKILL)
    ends = [step.wait_end() for step in running]
    after = Started(steps, program("echo", "again", mark=mark)).wait_end()

    assert [end.kind for end in ends] == ["lost"] * 3
    assert ends[0].error == "'sh' was lost: the guardian died"
    assert ends[0].stdout.text == "ready\n"
    assert (after.kind, after.stdout.text) == ("exited", "again\n")
    wait_gone(mark)


def test_a_killed_warden_loses_its_step_only(steps: RealSteps, mark: str) -> None:
    step = Started(steps, shell(TREE, mark)).wait_text("ready")
    other = Started(steps, shell("echo ready; sleep 300; :")).wait_text("ready")
    (warden, _) = children(guardian_pid(steps))

    os.kill(warden, signal.SIGKILL)
    end = step.wait_end()

    assert survivors(mark) == []  # whoever hears of the end may clean up after it
    assert (end.kind, end.error) == ("lost", "'sh' was lost: its warden died (wait status 9)")
    assert other.heard.ends == []


def test_a_step_that_kills_its_warden_and_guardian_leaves_nothing(
    steps: RealSteps, mark: str
) -> None:
    script = "sleep 300 & kill -9 $PPID $(cut -d' ' -f 4 /proc/$PPID/stat); sleep 300"

    end = Started(steps, shell(script, mark)).wait_end()

    assert end.kind == "lost"
    assert survivors(mark) == []


def kill_at_one_stroke(*pids: int) -> None:
    """Kill them so that none can do anything about the end of another.

    Wardens come before their guardian: its end wakes them, and one may be done by its turn.
    """
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


@pytest.mark.parametrize("guardian_first", [True, False])
def test_guardian_and_wardens_killed_at_one_stroke_leave_nothing(
    steps: RealSteps, mark: str, *, guardian_first: bool
) -> None:
    for _ in range(15):
        running = [Started(steps, shell(TREE, mark)).wait_text("ready") for _ in range(2)]
        guardian = guardian_pid(steps)
        wardens = children(guardian)

        kill_at_one_stroke(*([guardian, *wardens] if guardian_first else [*wardens, guardian]))
        ends = [step.wait_end() for step in running]
        left = survivors(mark)
        after = Started(steps, program("echo", "again", mark=mark)).wait_end()

        assert [(end.kind, end.error) for end in ends] == [
            ("lost", "'sh' was lost: the guardian died")
        ] * 2
        assert left == []
        assert (after.kind, after.stdout.text) == ("exited", "again\n")


@pytest.mark.parametrize("stopped", [False, True])
def test_wardens_that_lost_their_guardian_end_their_steps_themselves(
    steps: RealSteps, mark: str, monkeypatch: pytest.MonkeyPatch, *, stopped: bool
) -> None:
    """Killed by us, who may be killed meanwhile, they could not."""
    step = Started(steps, shell(TREE, mark)).wait_text("ready")
    guardian, killed = guardian_pid(steps), list[int]()
    (warden,) = children(guardian)
    monkeypatch.setattr(orphans, "kill_children", killed.extend)
    if stopped:
        os.kill(warden, signal.SIGSTOP)

    os.kill(guardian, signal.SIGKILL)

    assert step.wait_end().kind == "lost"
    assert (killed, survivors(mark)) == ([], [])


def test_what_passes_for_a_warden_is_killed_when_half_of_the_time_is_over(
    steps: RealSteps, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Started(steps, shell(TREE, mark)).wait_text("ready")
    guardian = guardian_pid(steps)
    monkeypatch.setattr(orphans, "LIMIT_S", 0.2)
    monkeypatch.setattr(orphans, "_asked", lambda found: found)

    kill_at_one_stroke(*children(guardian), guardian)

    assert step.wait_end().kind == "lost"
    monkeypatch.undo()
    assert orphans.end_orphans(RealPlatform())
    assert survivors(mark) == []


def test_what_is_no_step_survives_the_death_of_a_guardian_and_its_warden(
    steps: RealSteps, mark: str
) -> None:
    other, over = RealSteps(RealPlatform(), NoFaults()), threading.Event()
    other.warm_up()  # from here: this guardian is the main thread's child, as orphans are
    beside = Started(other, shell("echo ready; sleep 300; :")).wait_text("ready")
    started: queue.Queue[subprocess.Popen[bytes]] = queue.Queue()

    def run_a_program() -> None:
        started.put(process := subprocess.Popen(["sleep", "300"], start_new_session=True))
        over.wait(60)
        process.kill()
        process.wait()

    threading.Thread(target=run_a_program, daemon=True).start()
    programs = (started.get(timeout=20), subprocess.Popen(["sleep", "300"]))
    step = Started(steps, shell(TREE, mark)).wait_text("ready")
    guardian = guardian_pid(steps)

    kill_at_one_stroke(*children(guardian), guardian)
    step.wait_end()
    living = [process.poll() is None for process in programs]
    ends = list(beside.heard.ends)
    over.set()
    programs[1].kill()
    programs[1].wait()
    other.close()

    assert (living, ends) == ([True, True], [])
    assert survivors(mark) == []


def test_orphans_of_programs_of_our_own_are_reaped_with_the_next_step(steps: RealSteps) -> None:
    Started(steps, program("true")).wait_end()
    script = "setsid sh -c 'echo $$; exec sleep 300 > /dev/null 2>&1' &"
    orphan = int(subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout)
    adopted_by = parent_of(orphan)
    os.kill(orphan, signal.SIGKILL)
    wait_dead(orphan)

    Started(steps, program("true")).wait_end()

    assert (adopted_by, parent_of(orphan)) == (os.getpid(), None)


def test_orphans_are_looked_for_again_when_there_was_no_descriptor_to_look_with(
    steps: RealSteps, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Started(steps, shell(TREE, mark)).wait_text("ready")
    guardian = guardian_pid(steps)
    failures = iter([OSError(EMFILE, "no descriptor is left")] * 2)

    def read(parent: int, thread: int | str) -> list[int]:
        if (error := next(failures, None)) is not None:
            raise error
        return children_of_thread(parent, thread)

    monkeypatch.setattr("actors.orphans.children_of_thread", read)
    kill_at_one_stroke(*children(guardian), guardian)

    assert step.wait_end().kind == "lost"
    assert survivors(mark) == []


@pytest.mark.parametrize("fault", [None, RuntimeError("a fault of ours")])
def test_a_step_hears_of_its_loss_also_when_orphans_can_not_be_killed(
    steps: RealSteps, mark: str, monkeypatch: pytest.MonkeyPatch, fault: Exception | None
) -> None:
    step = Started(steps, shell(TREE, mark)).wait_text("ready")
    guardian = guardian_pid(steps)

    def kills_nobody(_pids: object) -> None:
        if fault is not None:
            raise fault

    with monkeypatch.context() as patched:
        patched.setattr(orphans, "kill_children", kills_nobody)
        patched.setattr(orphans, "LIMIT_S", 0.0)
        kill_at_one_stroke(*children(guardian), guardian)
        kind = step.wait_end().kind
    left = survivors(mark)

    assert kind == "lost"
    assert left != []
    assert orphans.end_orphans(RealPlatform())


def test_a_guardian_that_could_not_kill_everything_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(guardian_main, "KILL_LIMIT_S", 0.1)
    monkeypatch.setattr(guardian_main.Guardian, "_turn", lambda _self, _timeout_ms: None)
    control = _socket.socket(fileno=theirs.detach())
    guardian = guardian_main.Guardian(control)

    all_gone = guardian.end()
    guardian._strays = True
    strays_gone = guardian.end()
    control.close()
    ours.close()

    assert (all_gone, strays_gone) == (True, False)


def _guardian(control: socket.socket) -> guardian_main.Guardian:
    return guardian_main.Guardian(_socket.socket(fileno=control.detach()))


def test_a_guardian_ends_by_the_clock_and_not_after_so_many_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With 40 wardens, each with its last three words, it once gave up while they were at it."""
    ours, theirs = socket.socketpair()
    guardian, turns = _guardian(theirs), iter(range(300))

    def turn(_self: object, _timeout_ms: int | None) -> None:
        guardian._strays = next(turns) < 299

    monkeypatch.setattr(guardian_main.Guardian, "_turn", turn)
    guardian._strays = True

    assert guardian.end()
    guardian._control.close()
    ours.close()


def test_strays_are_looked_for_until_a_look_meets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one that was reaped may have left another, which once lived on for good."""
    ours, theirs = socket.socketpair()
    guardian, dead = _guardian(theirs), os.posix_spawn("/bin/true", ["true"], {})
    os.waitid(os.P_PID, dead, os.WEXITED | os.WNOWAIT)
    looks = iter([[dead], []])
    monkeypatch.setattr(guardian_main, "children", lambda _: next(looks))

    guardian._bury_strays()
    after_the_last_end = guardian._strays
    guardian._bury_strays()

    assert (after_the_last_end, guardian._strays) == (True, False)
    guardian._control.close()
    ours.close()


def test_a_warden_gives_up_by_the_clock_and_not_after_so_many_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 500 children each one's end is a round: it once left what it was just killing."""
    report, told = os.pipe()
    warden = guardian_main.Warden(told, 0)  # that guardian is gone
    monkeypatch.setattr(guardian_main, "kill_below", lambda *_: None)

    for _ in range(500):
        warden._kill()
    before = warden._deserted()
    warden._kill_until_s = 0.0
    for _ in range(2):
        warden._kill()

    assert (before, warden._deserted(), os.read(report, 99)) == (False, True, b"stuck 0\n")
    os.close(report)
    os.close(told)


LATE_WARDEN = """
import os, sys
from actors.guardian_main import Program, _be_warden
program = Program(b"/", [b"/bin/sh", b"-c", b"touch " + os.fsencode(sys.argv[1])], [], 1)
if os.fork() == 0:
    _be_warden(os.open(os.devnull, os.O_WRONLY), int(sys.argv[2] or os.getppid()), program, (1, 2))
os.wait()
"""


@pytest.mark.parametrize(("guardian", "starts"), [("", True), ("1", False)])
def test_a_warden_whose_guardian_is_gone_before_it_looks_starts_nothing(
    tmp_path: Path, guardian: str, *, starts: bool
) -> None:
    script = [sys.executable, "-c", LATE_WARDEN, str(tmp_path / "started"), guardian]
    subprocess.run(script, cwd=ROOT, check=True, timeout=60)

    assert (tmp_path / "started").exists() == starts


def test_a_stopped_warden_obeys_all_the_same(steps: RealSteps, mark: str) -> None:
    step = Started(steps, shell("kill -STOP $PPID; echo ready; sleep 300; :", mark))
    step.wait_text("ready").handle.kill()

    assert step.wait_end().kind == "cancelled"


def test_a_guardian_that_does_not_answer_is_not_waited_for(
    steps: RealSteps, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_step, "KILL_WAIT_S", 0.1)
    step = Started(steps, shell("echo ready; sleep 300; :", mark)).wait_text("ready")
    os.kill(guardian_pid(steps), signal.SIGSTOP)

    step.handle.kill()
    end = step.wait_end()
    os.kill(guardian_pid(steps), signal.SIGCONT)

    assert (end.kind, end.error) == ("lost", "killed, but the guardian does not answer")


def test_closing_kills_a_guardian_that_does_not_answer(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.guardian.CLOSE_LIMIT_S", 0.1)
    steps = RealSteps(RealPlatform(), NoFaults())
    Started(steps, shell(TREE, mark)).wait_text("ready")
    pid = guardian_pid(steps)
    os.kill(pid, signal.SIGSTOP)

    steps.close()

    wait_dead(pid)
    wait_gone(mark)


DRIVER = """
import sys
from actors.faults import NoFaults
from actors.real_platform import RealPlatform
from actors.steps import RealSteps
from tests.actors.stepping import Started, shell

steps = RealSteps(RealPlatform(), NoFaults())
started = [Started(steps, shell(sys.argv[1], sys.argv[2])).wait_text("ready") for _ in range(4)]
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, None])
def test_nothing_outlives_the_server_however_it_ends(
    mark: str, number: signal.Signals | None
) -> None:
    server = subprocess.Popen(
        [sys.executable, "-c", DRIVER, TREE, mark],
        cwd=ROOT,
        env={**os.environ, MARK: mark},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with server:
        assert server.stdout is not None
        assert server.stdin is not None
        assert server.stdout.readline() == b"ready\n"
        assert len(survivors(mark)) > 20
        if number is None:
            server.stdin.close()  # it just ends, without closing its steps
        else:
            os.killpg(server.pid, number)

    wait_gone(mark)


@contextmanager
def driven(mark: str) -> Generator[subprocess.Popen[bytes]]:
    """Start a server whose steps stand."""
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, TREE, mark],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield server


def test_the_server_and_its_guardian_may_die_at_once(mark: str) -> None:
    with driven(mark) as server:
        (guardian,) = children(server.pid)
        os.kill(guardian, signal.SIGKILL)
        os.kill(server.pid, signal.SIGKILL)

    wait_gone(mark)


def wait_stopped(*pids: int) -> None:
    deadline_s = time.monotonic() + WAIT_S
    while any(_stat(f"/proc/{pid}")[0] != b"T" for pid in pids):
        assert time.monotonic() < deadline_s, f"not all of {pids} are stopped"


@pytest.mark.parametrize("stopped", ["guardian", "wardens"])
def test_whom_a_step_stopped_ends_it_all_the_same_when_the_server_is_killed(
    mark: str, stopped: str
) -> None:
    """Stopped, they once slept through the end, and the steps lived on for good."""
    with driven(mark) as server:
        (guardian,) = children(server.pid)
        targets = [guardian] if stopped == "guardian" else children(guardian)
        for pid in targets:
            os.kill(pid, signal.SIGSTOP)
        wait_stopped(*targets)
        if stopped == "wardens":
            kill_at_one_stroke(guardian, server.pid)
        else:
            server.kill()

    wait_gone(mark)


# The connection.


def test_a_large_environment_passes_through_the_socket(steps: RealSteps) -> None:
    env = {f"V{n}": "x" * 100_000 for n in range(15)}

    end = Started(steps, program("sh", "-c", "env | wc -c", env=env)).wait_end()

    assert int(end.stdout.text) > 1_500_000


def test_abort_and_kill_never_wait_for_the_guardian(steps: RealSteps, mark: str) -> None:
    env = {f"V{n}": "x" * 100_000 for n in range(15)}
    running = Started(steps, shell("echo ready; sleep 300; :", mark)).wait_text("ready")
    pid = guardian_pid(steps)
    os.kill(pid, signal.SIGSTOP)
    waiting = [Started(steps, program("true", env=env)) for _ in range(4)]

    for _ in range(1000):
        running.handle.abort("cancelled")
        running.handle.kill()  # the socket is full: each of these queues up
    os.kill(pid, signal.SIGCONT)

    assert running.wait_end().kind == "cancelled"
    assert [step.wait_end().kind for step in waiting] == ["exited"] * 4


def test_the_reaper_does_not_wait_for_a_slow_client(steps: RealSteps) -> None:
    slow = StalledSource()
    Started(steps, program("yes"), slow)
    assert slow.waiting.wait(20)

    assert Started(steps, program("echo", "x")).wait_end().kind == "exited"


def test_nobody_but_descendants_is_ever_killed(mark: str) -> None:
    bystander = subprocess.Popen(["sleep", "300"], env={**os.environ, MARK: mark})
    service = RealSteps(RealPlatform(), NoFaults())
    step = Started(service, shell(TREE, mark)).wait_text("ready")

    step.handle.kill()
    step.wait_end()
    service.close()

    assert survivors(mark) == [bystander.pid]
    bystander.kill()
    bystander.wait()


def test_a_link_reports_what_it_is_told_in_order() -> None:
    ours, theirs = socket.socketpair()
    pid = os.posix_spawn("/bin/true", ["true"], {})
    link = GuardianLink(pid, ours, RealPlatform(), NoFaults())
    heard: list[guardian_link.Report] = []
    out, err = os.open(os.devnull, os.O_WRONLY), os.open(os.devnull, os.O_WRONLY)

    def listen(report: guardian_link.Report) -> bool:
        heard.append(report)
        return True

    token = link.spawn([b"/", b"1", b"x"], (out, err), listen)
    select.select([theirs], [], [])
    for piece in (
        b"%d exi" % token,
        b"ted 256\n99 gone 0\n%d gone 0\n%d exited 0\n" % (token, token),
    ):
        theirs.sendall(piece)
    theirs.close()
    link.wait_end(20)

    assert heard == [guardian_link.Report("exited", 256), guardian_link.Report("gone", 0)]
    with pytest.raises(LinkClosed):
        link.spawn([b"/", b"1", b"x"], (0, 0), listen)


class AtTheFirstWait(NoFaults):
    """Does something just before the reaper waits for the first time."""

    def __init__(self) -> None:
        self.acts: queue.Queue[Callable[[], None]] = queue.Queue()
        self._done = False

    def at(self, name: str, who: str = "") -> Verdict:
        if name == guardian_link.AT_WAIT and not self._done:
            self._done = True
            self.acts.get()()
        return super().at(name, who)


def test_a_request_to_a_guardian_that_just_ended_is_lost_and_leaks_no_descriptor(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = open_descriptors()
    ours, theirs = socket.socketpair()
    faults, heard = AtTheFirstWait(), list[guardian_link.Report]()
    pid = os.posix_spawn("/bin/true", ["true"], {})
    link = GuardianLink(pid, ours, RealPlatform(), faults)
    given = (os.open(os.devnull, os.O_WRONLY), os.open(os.devnull, os.O_WRONLY))

    def listen(report: guardian_link.Report) -> bool:
        heard.append(report)
        return False

    def end_and_ask() -> None:
        theirs.close()
        link.spawn([b"/", b"1", b"x"], given, listen)

    faults.acts.put(end_and_ask)
    link.wait_end(20)

    assert heard == [guardian_link.Report("lost", 0)]
    assert open_descriptors() <= before
    assert capfd.readouterr().err == ""


def test_a_hang_up_right_after_a_request_is_not_forgotten(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    faults, ended = AtTheFirstWait(), tmp_path / "ended"
    with theirs:
        argv = ["/bin/sh", "-c", 'cat > /dev/null && touch "$0"', str(ended)]
        child = os.posix_spawn(
            argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, theirs.fileno(), 0)]
        )
    link = GuardianLink(child, ours, RealPlatform(), faults)

    def ask_and_hang_up() -> None:
        link.signal(1, b"term")
        link.hang_up()

    faults.acts.put(ask_and_hang_up)
    link.wait_end(20)

    assert ended.exists()  # it saw the end of its input, and was not killed at the limit
