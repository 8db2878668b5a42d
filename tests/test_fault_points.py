"""Whatever waits, writes or starts something can be made to fail, or says why it can't."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from runtimes.fault_points import MODULES, all_points
from tests.shared import ROOT
from tests.waiting_places import places

if TYPE_CHECKING:
    from pathlib import Path

SEARCHED = ("actors", "ops", "runtimes/chant", "runtimes/models", "runtimes/radian")

APART = frozenset({"simulation", "resources"})
"""The simulation is where the faults come from; reading resources is part of no run."""

A_WAKE_PIPE = "a wake pipe never waits; who rings or polls it is at a point of its own"
CALLER_ASKS = "whoever calls it has just asked"
MAIN_THREAD = "the main thread's wait for a note; what leaves notes is at points of its own"
A_SIGNAL = "a signal to a process waits for nothing, and its failure is an answer"
OTHER_PROCESS = "the guardian's process: tests break it from outside, by killing it"
ON_A_TOKEN = "waits on a cancel signal, whose own wait is the platform's"
LAST_RESORT = "the bounded end of a process that is being left"
SET_UP = "makes the object only"
COMMAND_LINE = "a command at a terminal, not a server; its wait is bounded or ended by a signal"
READS_OPS = "reading declarations is part of no run, and has a limit of its own"

EXEMPT: dict[str, str] = {
    "actors/bell.py": A_WAKE_PIPE,
    "actors/guardian_main.py": OTHER_PROCESS,
    "actors/orphans.py": LAST_RESORT,
    "actors/process_tree.py": OTHER_PROCESS,
    "actors/stdio.py WakePipe": A_WAKE_PIPE,
    "actors/stdio.py Source.__init__": SET_UP,
    "actors/stdio.py Source._read": CALLER_ASKS,
    "actors/stdio.py Sink.__init__": SET_UP,
    "actors/stdio.py Sink._woken": CALLER_ASKS,
    "actors/guardian.py _spawn": CALLER_ASKS,
    "actors/guardian.py Guardian._start": CALLER_ASKS,
    "actors/guardian_link.py GuardianLink.wait_end": LAST_RESORT,
    "actors/guardian_link.py GuardianLink._reap": LAST_RESORT,
    "actors/process_step.py ProcessStep._wait_for_verdict": LAST_RESORT,
    "actors/local_host.py _wait": MAIN_THREAD,
    "actors/serve.py Server.run": MAIN_THREAD,
    "actors/serve.py Server._await": MAIN_THREAD,
    "actors/logs.py _write": "stderr: a failed write is passed over",
    "actors/logs.py _write_line": "the log: a failed write is passed over",
    "actors/supervisor.py Supervisor.ended": ON_A_TOKEN,
    "ops/activities/polling.py poll": ON_A_TOKEN,
    "ops/activities/sleep.py prepare.run": ON_A_TOKEN,
    "actors/notes.py": MAIN_THREAD,
    "ops/disk.py": CALLER_ASKS,
    "ops/git.py _wait": CALLER_ASKS,
    "ops/in_flight.py Marker.wait_for_wish": ON_A_TOKEN,
    "ops/lease.py take_lease": "asks for a lock without waiting; a refusal is an answer",
    "ops/op_child.py": READS_OPS,
    "ops/python_ops.py": READS_OPS,
    "ops/processes.py _lives": A_SIGNAL,
    "runtimes/chant/live_view.py": COMMAND_LINE,
    "runtimes/chant/operator/operating.py": COMMAND_LINE,
    "runtimes/chant/verbs/run_cancel.py": COMMAND_LINE,
    "runtimes/models/calling.py call_model": ON_A_TOKEN,
    "runtimes/models/credentials.py CredentialStore.write": "a person stores a key, at a terminal",
    "runtimes/models/hang_up.py aside": "within a call, which has model.open and model.chunk",
    "runtimes/models/scripted.py Scripted.stream": ON_A_TOKEN,
    "runtimes/radian/journal_disk.py": CALLER_ASKS,
    "runtimes/radian/mcp/specs.py _all_of": "a file that a flag names; its wait is bounded",
    "runtimes/radian/patient_out.py": COMMAND_LINE,
    "runtimes/radian/terminal_asker.py _read": COMMAND_LINE,
    "runtimes/radian/typed_line.py": COMMAND_LINE,
    "runtimes/radian/tools/landlock_main.py": "the sandbox's own process, about to be a program",
}
"""Module, or module and (class and) function: why no fault can be put there."""


def _modules() -> list[Path]:
    """Return the searched modules, without `APART`."""
    found = [path for folder in SEARCHED for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if APART.isdisjoint(path.parts)]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _exemption(module: str, function: str) -> str | None:
    return next(
        (
            key
            for key in EXEMPT
            if f"{module} {function}".startswith(f"{key}.")
            or key in {module, f"{module} {function}"}
        ),
        None,
    )


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_a_fault_can_be_put_wherever_something_waits_writes_or_starts(path: Path) -> None:
    module = _name(path)
    bare = [
        f"{module}:{place.line}: {place.call} in {place.function}"
        for place in places(path.read_text(encoding="utf-8"))
        if place.covered is None and _exemption(module, place.function) is None
    ]

    assert bare == []


def test_no_exemption_outlives_its_place() -> None:
    used = {
        _exemption(_name(path), place.function)
        for path in _modules()
        for place in places(path.read_text(encoding="utf-8"))
        if place.covered is None
    }

    assert set(EXEMPT) - used == set()


@pytest.mark.parametrize(
    ("body", "covered"),
    [
        ("self._changed.wait()", None),
        ("os.write(1, data)", None),
        ("self._poll.poll()", None),
        ("subprocess.run(argv)", None),
        ("os.posix_spawn(path, argv, env)", None),
        ("notes.get(timeout=1)", None),
        ("self._faults.at(BEFORE)\n        os.write(1, data)", "a point in the function"),
        ("self._platform.spawn('x', run)", "the platform's own point"),
        (
            "self._changed = self._platform.condition()\n        self._changed.wait()",
            "the platform's own point",
        ),
    ],
)
def test_the_search_finds_each_kind_of_place(body: str, covered: str | None) -> None:
    source = f"class A:\n    def f(self):\n        {body}\n"

    assert [(place.function, place.covered) for place in places(source)] == [("A.f", covered)]


def test_the_search_leaves_dictionaries_and_texts_alone() -> None:
    source = "def f():\n    d.get(1)\n    ', '.join(x)\n    os.path.join(a, b)\n    COMMA.join(x)\n"

    assert list(places(source)) == []


def test_every_module_that_declares_a_point_is_listed() -> None:
    declaring = {
        _name(path).removesuffix(".py").replace("/", ".")
        for folder in SEARCHED
        for path in (ROOT / folder).rglob("*.py")
        if _declares(path.read_text(encoding="utf-8"))
    }

    assert declaring == set(MODULES)


def test_every_point_is_consulted_and_says_what_it_is() -> None:
    points = all_points()

    assert all(each.about and each.can for each in points.values())
    assert list(points) == sorted(points)


def _declares(source: str) -> bool:
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "point"
        for node in ast.parse(source).body
    )
