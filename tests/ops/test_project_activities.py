"""Activities of a project: found in the source, called in a process of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ops.activities import called
from ops.activities.python import PIECE_CHARS
from ops.checking import check_op
from ops.model import ActivityStep
from ops.project_activities import GROUP, project_activities
from ops.step_result import reported
from ops.work import ActivityContext, ProcessWork
from tests.ops.projects import catalog, project

if TYPE_CHECKING:
    from pathlib import Path

    from ops.loading import Catalog

CONFIG = '[project]\nname = "box"\n\n[activities]\nmodules = ["tools.acts"]\n'
ACTS = '''\
"""Nothing of this runs while it is looked for."""
open("imported", "w")

def publish(version: str, *, dry: bool = False) -> dict:
    """Publish a version.

    In detail.
    """
    print("publishing", version)
    return {"version": version, "dry": dry}

async def later(*, x=1): return [x]

def anything(**given): return given

def _hidden(): pass

class Thing: pass
'''


def op_with(step: str) -> str:
    return f'name = "it"\n[[phases]]\nname = "A"\n[[phases.steps]]\n{step}\n'


def box(folder: Path, step: str, acts: str = ACTS) -> Catalog:
    files = {"chant.toml": CONFIG, "tools/acts.py": acts, "it.op.toml": op_with(step)}
    return catalog(folder, files)


def only_step(found: Catalog) -> ActivityStep:
    (step,) = found.find("it").phases[0].steps
    assert isinstance(step, ActivityStep)
    return step


def carry_out(
    work: ProcessWork, pass_to: int = 3
) -> tuple[subprocess.CompletedProcess[str], bytes]:
    """Run a worker as a step would: its report comes on descriptor 3."""
    kept, given = os.pipe()

    def give() -> None:
        os.dup2(given, pass_to)

    with os.fdopen(kept, "rb") as report:
        ran = subprocess.run(
            work.argv,
            cwd=work.cwd,
            env=dict(work.env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=give,
            close_fds=False,
            timeout=60,
        )
        os.close(given)
        return ran, report.read()


def call(folder: Path, acts: str, args: dict[str, object]) -> tuple[str, dict[str, object], str]:
    """Call ``tools.acts:f`` and return its status, output and error."""
    project(folder, {"tools/acts.py": acts})
    context = ActivityContext(str(folder), {"PATH": os.environ["PATH"]})
    work = called("f", "tools.acts:f").prepare(args, context)
    assert isinstance(work, ProcessWork)
    ran, report = carry_out(work)
    result = reported(ran.returncode, report)
    return result.status, dict(result.output), result.error or ran.stderr


def test_functions_of_the_modules_are_activities_and_nothing_runs(tmp_path: Path) -> None:
    found = box(tmp_path, 'fn = "publish"\nargs = { version = "1" }')

    assert sorted(found.activities) == ["anything", "later", "publish"]
    assert found.activities["publish"].summary == "Publish a version."
    assert only_step(found).call == "tools.acts:publish"
    assert check_op(found.find("it"), found) == ()
    assert not (tmp_path / "imported").exists()


def test_modules_are_not_even_read_when_no_op_asks_for_one(tmp_path: Path) -> None:
    found = box(tmp_path, 'fn = "shell"\nargs = { cmd = "true" }', acts="(")

    assert (found.activities, found.problems) == ({}, ())


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ('fn = "publsh"', "unknown fn 'publsh' (did you mean publish?); known: anything, build"),
        ('fn = "publish"', "publish needs version"),
        ('fn = "publish"\nargs = { version = "1", dri = 1 }', "did you mean dry?"),
        ('fn = "_hidden"', "unknown fn '_hidden'"),
    ],
)
def test_a_step_is_checked_against_the_function(tmp_path: Path, step: str, reason: str) -> None:
    found = box(tmp_path, step)

    (problem,) = check_op(found.find("it"), found)

    assert reason in problem.reason


def test_a_function_that_takes_anything_gets_anything(tmp_path: Path) -> None:
    found = box(tmp_path, 'fn = "anything"\nargs = { whatever = 1 }')

    assert check_op(found.find("it"), found) == ()


def test_all_says_which_functions_are_activities(tmp_path: Path) -> None:
    acts = '__all__ = ["_one", "missing"]\ndef _one(): pass\ndef two(): pass\n'

    assert list(box(tmp_path, 'fn = "_one"', acts).activities) == ["_one"]


@pytest.mark.parametrize(
    ("acts", "reason"),
    [
        (
            "def shell(): pass\n",
            "tools/acts.py:1: tools.acts:shell can't be an activity: chant has",
        ),
        ("def a(:\n", "tools/acts.py:1: module tools.acts can't be read: invalid syntax"),
    ],
)
def test_what_is_wrong_with_a_module_is_said(tmp_path: Path, acts: str, reason: str) -> None:
    found = box(tmp_path, 'fn = "other"', acts)

    assert reason in "\n".join(map(str, found.problems))


@pytest.mark.parametrize("module", ["tools.acts", "../outside", "tools..acts"])
def test_a_module_that_is_not_there_is_named_with_its_line(tmp_path: Path, module: str) -> None:
    config = CONFIG.replace("tools.acts", module)
    files = {"chant.toml": config, "it.op.toml": op_with('fn = "other"'), "outside.py": ""}

    (problem,) = catalog(tmp_path, files).problems

    assert (problem.file, problem.line) == ("chant.toml", 5)
    assert f"there is no module {module!r}" in problem.reason


def test_two_modules_can_t_bring_one_name(tmp_path: Path) -> None:
    config = '[activities]\nmodules = ["a", "b"]\n'
    same = "def same(): pass\n"

    found = project_activities(
        project(tmp_path, {"chant.toml": config, "a.py": same, "b.py": same})
    )

    assert [each.reason for each in found.problems] == [
        "b:same can't be an activity: a:same has that name"
    ]


def test_installed_packages_bring_activities_by_entry_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    info = site / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nship = acme:ship_it\nall = acme.more\n")
    (site / "acme").mkdir()
    (site / "acme" / "__init__.py").write_text("raise SystemExit\ndef ship_it(what): pass\n")
    (site / "acme" / "more.py").write_text("def extra(): pass\n")
    monkeypatch.syspath_prepend(str(site))

    found = project_activities(project(tmp_path / "box", {}))

    assert {name: each.call for name, each in found.activities.items()} == {
        "ship": "acme:ship_it",
        "extra": "acme.more:extra",
    }
    assert found.problems == []
    assert "acme" not in sys.modules


def test_args_go_in_and_the_result_comes_out(tmp_path: Path) -> None:
    acts = "def f(a, b): print('noise', flush=True); return {'sum': a + b, 'n': None}\n"

    assert call(tmp_path, acts, {"a": [1], "b": ["ä"]}) == (
        "ok",
        {"stdout": "", "sum": [1, "ä"], "n": None},
        "",
    )


@pytest.mark.parametrize(
    ("acts", "error"),
    [
        ("def f(): raise KeyError('x')\n", "KeyError: 'x'"),
        ("def f(): return object()\n", "TypeError: what it returned is no JSON"),
        ("def f(): return float('nan')\n", "TypeError: what it returned is no JSON"),
        (
            "def f(): return 'x' * (1 << 21)\n",
            "ValueError: what it returned is larger than 1048576",
        ),
        ("def f(a): return 1\n", "TypeError: f() missing 1 required positional argument"),
        ("import nothing_there\n", "ModuleNotFoundError: No module named 'nothing_there'"),
        ("x = 1\n", "AttributeError: module 'tools.acts' has no attribute 'f'"),
        ("f = 1\n", "TypeError: tools.acts:f is no function"),
        ("import sys\ndef f(): sys.exit(5)\n", "SystemExit: 5"),
        ("import os\ndef f(): os._exit(5)\n", "it ended without a result (exit code 5)"),
        ("import os\ndef f(): os._exit(0)\n", "it ended without a result (exit code 0)"),
        ("import os\ndef f(): os.kill(os.getpid(), 9)\n", "it ended without a result"),
        ("import os\ndef f(): os.write(3, b'forged')\n", "it ended without a result"),
    ],
)
def test_whatever_goes_wrong_is_the_step_s_error(tmp_path: Path, acts: str, error: str) -> None:
    status, _, said = call(tmp_path, acts, {})

    assert status == "fail"
    assert error in said


def test_a_traceback_begins_in_the_project(tmp_path: Path) -> None:
    project(tmp_path, {"tools/acts.py": "def f():\n    raise ValueError('no')\n"})
    work = called("f", "tools.acts:f").prepare({}, ActivityContext(str(tmp_path), {}))
    assert isinstance(work, ProcessWork)

    ran, _ = carry_out(work)

    assert "acts.py" in ran.stderr.splitlines()[1]
    assert "worker_main" not in ran.stderr


def test_a_folder_called_ops_is_the_project_s_own(tmp_path: Path) -> None:
    files = {"ops/__init__.py": "", "ops/work.py": "MINE = 42\n", "json.py": "raise SystemExit\n"}
    project(tmp_path, files)

    status, output, _ = call(tmp_path, "import json, ops.work\ndef f(): return ops.work.MINE\n", {})

    assert (status, output["value"]) == ("ok", 42)


def test_args_may_be_larger_than_one_argument_of_a_program(tmp_path: Path) -> None:
    text = "ä" * PIECE_CHARS

    status, output, _ = call(tmp_path, "def f(text): return len(text)\n", {"text": text})

    assert (status, output["value"]) == ("ok", PIECE_CHARS)


def test_a_cancelled_function_may_clean_up(tmp_path: Path) -> None:
    acts = "import os, signal\ndef f():\n    try: os.kill(os.getpid(), signal.SIGTERM)\n"
    acts += "    finally: open('cleaned', 'w')\n"

    status, _, error = call(tmp_path, acts, {})

    assert (status, error) == ("fail", f"SystemExit: {128 + signal.SIGTERM}")
    assert (tmp_path / "cleaned").exists()


def test_a_report_is_a_value_or_an_error() -> None:
    assert reported(0, json.dumps({"value": 1}).encode()).output == {"stdout": "", "value": 1}
    assert reported(0, b'{"error": "no"}').error == "no"
    assert reported(3, b'{"value": 1}').error == "exit code 3"
    assert reported(0, b"[]").error == "it ended without a result (exit code 0)"
