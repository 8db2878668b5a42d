"""Finding what is below a process, and signalling nobody else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from actors import process_tree
from actors.process_tree import children, kill_below, parent_of, terminate_below
from tests.actors.stepping import MARK, survivors, wait_gone
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def played(mark: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run a script, and its words, in a process of its own: it adopts, stops and kills."""
    return subprocess.run(
        [sys.executable, "-c", *words],
        cwd=ROOT,
        env={**os.environ, MARK: mark},
        capture_output=True,
        check=True,
        timeout=60,
    )


SCRIPT = """
import os, subprocess, sys, time
from actors.process_tree import adopt_orphans, kill_below
adopt_orphans()
started = [
    subprocess.Popen(["sh", "-c", "(setsid sleep 300 &); echo; sleep 300; :"], stdout=-1)
    for _ in range(3)
]
for process in started:
    process.stdout.readline()
spared = started[1].pid
for _ in range(3):
    kill_below(spare=frozenset({spared}))
print(started[0].wait(), started[1].poll(), started[2].wait(), flush=True)
while True:
    pid, _ = os.waitpid(-1, os.WNOHANG)
    if pid == 0:
        break
started[1].kill()
started[1].wait()
kill_below()
"""


def test_the_spared_child_lives_and_its_siblings_die() -> None:
    mark = uuid4().hex
    ended = played(mark, SCRIPT)

    assert ended.stdout == b"-9 None -9\n"
    wait_gone(mark)


DEEP = """
import os, resource, signal, sys, time
from actors import process_tree
process_tree.adopt_orphans()
shown, bottom = os.pipe()
if os.fork() == 0:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for _ in range(60):
        if os.fork():
            os.closerange(1, 99)
            os.wait()
            os._exit(0)
    os.write(bottom, b"!")
    os.closerange(1, 99)
    time.sleep(300)
os.read(shown, 1)
lowest = os.dup(0)
os.close(lowest)
for left in (0, 1, 2, 3, 4, 20):
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + left, 1000))
    process_tree.terminate_below(0)
    process_tree.kill_below()
rounds = 0
try:
    while True:
        process_tree.kill_below()
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
        rounds += 1
        time.sleep(0.01)
except ChildProcessError:
    print("nobody left", rounds < 100, flush=True)
"""


def test_a_tree_deeper_than_there_are_descriptors_dies_in_rounds() -> None:
    """A low limit once broke the killer itself off, and all it had stopped stayed for ever."""
    mark = uuid4().hex
    ended = played(mark, DEEP)

    assert ended.stdout == b"nobody left True\n", ended.stderr
    wait_gone(mark)


MOVING = """
import os, signal, subprocess, sys
from actors import process_tree
process_tree.adopt_orphans()
parent = subprocess.Popen(["sh", "-c", "sleep 300 & echo $!; wait"], stdout=-1)
child = int(parent.stdout.readline())
told = []
real_children, real_send = process_tree.children, process_tree._send

def send(pin, number):
    told.append(number)
    return real_send(pin, number)

def children(pid):
    # The parent dies when our list of children has been read, and its own has not.
    if pid == parent.pid and told.count(signal.SIGTERM) == int(sys.argv[1]) and frozen:
        frozen.clear()
        parent.kill()
        parent.wait()
    return real_children(pid)

def freeze_below(_bury):
    frozen.append(real_freeze())
    return frozen[0]

frozen, real_freeze = [], process_tree.freeze_below
process_tree.children, process_tree._send = children, send
process_tree.freeze_below = freeze_below
process_tree.terminate_below(0)
signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
signal.alarm(20)  # nobody is left behind, should it fail
print(parent.returncode, os.waitpid(child, 0)[1])
"""


@pytest.mark.parametrize("told", [0, 2], ids=["while_told", "while_woken"])
def test_who_moves_while_its_tree_is_told_is_told_and_woken(told: int) -> None:
    """It once missed the pass: stopped for good, with the signal waiting."""
    mark = uuid4().hex
    ended = played(mark, MOVING, str(told))

    assert ended.stdout == b"-9 15\n", ended.stderr
    wait_gone(mark)


class Tree:
    """One process, 1, that has a child, 2, only when it stands still."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, threads: Iterable[str]) -> None:
        self._moments = iter(threads)
        monkeypatch.setattr(process_tree, "_stat", self._stat)
        monkeypatch.setattr(process_tree, "_threads", lambda _: ["1", "8"])
        monkeypatch.setattr(process_tree, "children", self._children)
        monkeypatch.setattr(process_tree, "_pin", lambda pid: os.dup(0) if pid else None)
        monkeypatch.setattr(process_tree, "_is_child", lambda *_: True)
        monkeypatch.setattr(process_tree, "_send", lambda *_: True)
        self._now = ""

    def _stat(self, path: str) -> list[bytes]:
        """Each look at the process is another moment; its letters are the threads' states."""
        if path == "/proc/2":
            return [b"T", *[b"0"] * 16, b"1"]
        if path == "/proc/1":
            self._now = next(self._moments)
        state = self._now[-1] if path.endswith("/8") else self._now[0]
        return [state.encode(), *[b"0"] * 16, b"%d" % len(self._now)]

    def _children(self, pid: int) -> list[int]:
        forked = self._now and not set(self._now) & {"R", "S"}
        return [1] if pid == os.getpid() else [2] if pid == 1 and forked else []


@pytest.mark.parametrize(
    "moments",
    ["RRRRTTT", "SRTTT", ["RS", "RS", "TS", "TR", "TR", "TT", "TT", "TT"], ["ZR"] * 4 + ["ZT"] * 3],
    ids=["one", "asleep", "many", "first_is_over"],
)
def test_a_tree_is_not_frozen_while_a_thread_may_be_in_the_middle_of_a_fork(
    monkeypatch: pytest.MonkeyPatch, moments: Iterable[str]
) -> None:
    """Its child, stopped by nobody and told nothing, once lived until the kill."""
    Tree(monkeypatch, moments)

    assert process_tree.freeze_below() == {1, 2}


def test_who_never_stands_still_is_waited_for_as_long_as_our_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process_tree, "TERM_PATIENCE_S", 0.0)
    Tree(monkeypatch, "R" * process_tree.MAX_PASSES)

    assert process_tree.freeze_below() == {1}


def test_the_dead_are_buried_before_each_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at thousands of them took longer than the one that lived on stayed."""
    deeds: list[str] = []
    met = iter([{1}, {2}, {2}])

    def visit(*_args: object, moving: set[int]) -> set[int]:
        assert not moving
        deeds.append("look")
        return next(met)

    monkeypatch.setattr(process_tree, "_visit", visit)

    assert process_tree.freeze_below(lambda: deeds.append("bury")) == {1, 2}
    assert deeds == ["bury", "look"] * 3


def test_the_youngest_is_looked_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    monkeypatch.setattr(process_tree, "_pin", looked_at.append)

    process_tree._visit([1, 2, 3], 0, None, signal.SIGSTOP)

    assert looked_at == [3, 2, 1]


def test_a_thread_that_ends_hides_no_child_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_thread(_parent: int, thread: int | str) -> list[int]:
        if thread == "1":
            raise FileNotFoundError(thread)
        if thread == "2":
            raise ProcessLookupError(thread)
        return [3]

    monkeypatch.setattr(process_tree, "_threads", lambda _: ["1", "2", "3"])
    monkeypatch.setattr(process_tree, "children_of_thread", of_thread)

    assert children(0) == [3]


def test_the_threads_of_a_process_are_counted() -> None:
    go = threading.Event()
    with ThreadPoolExecutor(3) as pool:
        for _ in range(3):
            pool.submit(go.wait)
        least, most, counted = 0, 1, 0
        while least != most:  # those of earlier tests may end meanwhile
            most = len(os.listdir("/proc/self/task"))
            counted = int(process_tree._stat(f"/proc/{os.getpid()}")[process_tree.THREADS])
            least = len(os.listdir("/proc/self/task"))
        go.set()

    assert counted == most > 3


def test_children_are_found_with_and_without_the_kernels_lists() -> None:
    with subprocess.Popen(["sleep", "300"]) as child:
        assert child.pid in children(os.getpid())
        assert child.pid in process_tree._children_by_scan(os.getpid())
        assert parent_of(child.pid) == os.getpid()
        child.kill()

    assert children(child.pid) == []
    assert parent_of(child.pid) is None


def test_a_kernel_without_lists_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "300"]) as child:
        monkeypatch.setattr(process_tree, "_kernel_lacks_lists", lambda: True)
        monkeypatch.setattr(process_tree, "children_of_thread", _no_list)

        assert child.pid in children(os.getpid())
        child.kill()


def _no_list(parent: int, _thread: int | str) -> list[int]:
    raise FileNotFoundError(parent)


def test_a_child_of_someone_else_is_not_signalled() -> None:
    with subprocess.Popen(["sleep", "300"]) as child:
        assert not process_tree._is_child(child.pid, os.getppid(), None)
        child.kill()


@pytest.mark.parametrize(
    ("deed", "number"), [(terminate_below, signal.SIGTERM), (kill_below, signal.SIGKILL)]
)
def test_elsewhere_a_step_is_its_process_group(
    monkeypatch: pytest.MonkeyPatch, deed: Callable[[int], None], number: int
) -> None:
    monkeypatch.setattr(process_tree, "LINUX", False)
    mark = uuid4().hex
    with subprocess.Popen(
        ["sh", "-c", "sleep 300 & echo; wait"],
        env={**os.environ, MARK: mark},
        stdout=subprocess.PIPE,
        process_group=0,
    ) as leader:
        assert leader.stdout is not None
        leader.stdout.readline()

        deed(leader.pid)

        assert leader.wait() == -number
    deed(leader.pid)
    wait_gone(mark)
    assert survivors(mark) == []
