"""Ops in Python: what they declare, what is said of broken ones, and that they stay outside."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ops import builders as b
from ops.checking import check_op
from ops.errors import OpInvalid, OpNotFound
from ops.loading import load_catalog
from ops.op_child import FILE_LIMIT_S
from ops.python_ops import read_python_ops
from tests.ops.projects import RELEASE, catalog, project, small_op
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from ops.loading import Catalog

CONFIG = '[project]\nname = "box"\nenvironments = ["local", "prod"]\npython_ops = true\n'

SCRIBBLE = """\
import os, sys
for fd in range(3, 20):
    link = f"/proc/self/fd/{{fd}}"
    if os.path.exists(link) and "chant-op" in os.readlink(link):
        os.write(fd, {})
        os._exit(0)
"""
KILL_OURS = "import os\nos.kill(os.getppid(), 9)\n"
"""What evaluates it; that is what a file can do to the others."""

PYTHON_RELEASE = """\
from ops.builders import (
    Op, copy, exec_, gate, http_check, outcome, output_of, parameter, phase, shell,
)

op = Op(
    "release",
    overview="Build and ship",
    labels={"team": "box"},
    environments=["local", "prod"],
    params={"version": parameter(required=True)},
    phases=[
        phase("Build", [
            shell(
                'make dist VERSION="$CHANT_PARAM_VERSION"', id="pack", outcome=outcome("artifact"),
            ),
            exec_("python3", "-m", "pytest", "-q", env={"CI": "true"}, timeout="10m"),
        ]),
        phase("Deploy", [
            gate("deploy-window", "Someone watches the dashboards", timeout="48h"),
            copy(output_of("pack", "stdout"), "/srv/box/"),
            http_check(
                "http://127.0.0.1:8099/health",
                status=200, retries=5, interval="1s", profile="poll",
            ),
        ]),
    ],
    on_failure=[phase("Rollback", [shell("make rollback")])],
)
"""
GOOD = """\
from ops.builders import Op, phase, shell
op = Op("good", phases=[phase("A", [shell("true")])])
"""


def python_catalog(folder: Path, files: dict[str, str]) -> Catalog:
    return catalog(folder, {"chant.toml": CONFIG, **files})


def test_both_forms_declare_the_same_op(tmp_path: Path) -> None:
    in_python = python_catalog(tmp_path / "python", {"ops/release_op.py": PYTHON_RELEASE})
    in_toml = catalog(tmp_path / "toml", {"ops/release.op.toml": RELEASE})

    assert in_python.find("release") == in_toml.find("release")
    assert check_op(in_python.find("release"), in_python) == ()


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("x = 1\nprint('hello')\n", 2, "an Op must not print anything; it printed 'hello'"),
        ("import os\nos.write(1, b'raw')\n" + GOOD, 4, "must not print anything; it printed 'raw'"),
        ("\nraise ValueError('no such thing')\n", 2, "ValueError: no such thing"),
        ("def f():\n    return {}['k']\n\nf()\n", 2, "KeyError: 'k'"),
        ("x = (\n", 1, "SyntaxError: '(' was never closed"),
        ("import os\n\nos._exit(3)\n", 3, "ended before it had declared an Op (exit code 3)"),
        ("import sys\nsys.exit('bye')\n", 2, "it ends the process (SystemExit: bye)"),
        ("import os\nos.kill(os.getpid(), 9)\n", 2, "(signal 9)"),
        ("x = 1\n", 1, "it must say op = Op(...), with Op from ops.builders; op is nothing"),
        ("op = {}\n", 1, "op is a dict"),
        ("import no_such_module\n", 1, "No module named 'no_such_module'"),
        ("raise ValueError('\\x1b[1A\\nno')\n", 1, "ValueError: \\x1b[1A\\nno"),
        (SCRIBBLE.format(b'{"op": 1}more'), 6, "it wrote into what it is to declare"),
        (SCRIBBLE.format(b'{"file": "good_op.py"}'), 6, "it wrote into what it is to declare"),
        (SCRIBBLE.format(b'{"op": {}, "lines": 7}'), 6, "it wrote into what it is to declare"),
        (SCRIBBLE.format(b'{"op": {}, "lines": [[{}, 7]]}'), 6, "it wrote into what it is to"),
        (KILL_OURS, 1, "it was not evaluated: the process that evaluates Ops ended"),
        ("\n\nx = b'a' * (4 << 30)\n", 3, "MemoryError"),
        (
            "from ops.builders import *\nop = Op('big', overview='x' * 2_000_000, phases=[])\n",
            1,
            "what it declares is larger than 1048576 bytes",
        ),
        (
            "from ops.builders import shell\nx = [\n  shell('x', env={'A': object()}),\n]\n",
            3,
            "TypeError: args.env.A is of type object",
        ),
    ],
)  # fmt: skip
def test_a_file_that_declares_nothing_is_a_problem_with_its_line(
    tmp_path: Path, text: str, line: int, reason: str
) -> None:
    found = python_catalog(tmp_path, {"bad_op.py": text, "good_op.py": GOOD})

    assert list(found.ops) == ["good"]
    (problem,) = found.problems
    assert (problem.file, problem.line) == ("bad_op.py", line)
    assert reason in problem.reason
    with pytest.raises(OpInvalid, match=r"bad_op\.py:"):
        found.find("bad")


def test_a_file_that_does_not_end_is_ended(tmp_path: Path) -> None:
    found = python_catalog(tmp_path, {"a_op.py": "while True:\n    pass\n", "good_op.py": GOOD})

    (problem,) = found.problems
    assert problem.reason == f"it did not end within {FILE_LIMIT_S:g} s"
    assert list(found.ops) == ["good"]


def test_a_file_that_stops_what_evaluates_it_is_named_and_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever listed Ops waited for ever, and the stopped process outlived even that."""
    monkeypatch.setattr("ops.python_ops.ANSWER_LIMIT_S", 4.0)
    pid = tmp_path / "pid"
    text = (
        f"import os\nopen({str(pid)!r}, 'w').write(str(os.getppid()))\nos.kill(os.getppid(), 19)\n"
    )

    found = python_catalog(tmp_path, {"bad_op.py": text, "good_op.py": GOOD})

    assert list(found.ops) == ["good"]
    (problem,) = found.problems
    said = "the process that evaluates Ops says nothing any more"
    assert problem.reason == f"it was not evaluated: {said}"
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_what_a_file_starts_is_gone_when_it_was_read(tmp_path: Path) -> None:
    text = f"""\
import os
if os.fork() == 0:
    os.setsid()
    with open({str(tmp_path / "new")!r}, "w") as stream:
        stream.write(str(os.getpid()))
    os.write(int(os.environ.get("NOTHING", "2")), b"up")
    os.rename({str(tmp_path / "new")!r}, {str(tmp_path / "pid")!r})
    import signal
    signal.pause()
while not os.path.exists({str(tmp_path / "pid")!r}):
    os.sched_yield()
"""
    found = python_catalog(tmp_path, {"a_op.py": text + GOOD})

    assert list(found.ops) == ["good"]
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_the_evaluation_ends_with_whoever_asked_for_it(tmp_path: Path) -> None:
    hanging = f"""\
import os, time
with open({str(tmp_path / "pids.new")!r}, "w") as stream:
    stream.write(f"{{os.getpid()}} {{os.getppid()}}")
os.rename({str(tmp_path / "pids.new")!r}, {str(tmp_path / "pids")!r})
time.sleep(600)
"""
    project(tmp_path, {"chant.toml": CONFIG, "a_op.py": hanging})
    asking = (
        "import sys; from ops.python_ops import read_python_ops as r; r(sys.argv[1], ['a_op.py'])"
    )
    with subprocess.Popen([sys.executable, "-c", asking, str(tmp_path)], cwd=ROOT) as asker:
        until = ["/bin/sh", "-c", "until [ -e pids ]; do sleep 0.02; done"]
        subprocess.run(until, cwd=tmp_path, check=True, timeout=60)
        pids = map(int, (tmp_path / "pids").read_text().split())
        pins = [os.pidfd_open(pid) for pid in pids]
        asker.kill()

    for pin in pins:
        poll = select.poll()
        poll.register(pin, select.POLLIN)
        assert poll.poll(FILE_LIMIT_S * 1000 - 1000), "it still runs"
        os.close(pin)


def test_the_shape_is_judged_as_in_toml_with_the_line_of_the_builder(tmp_path: Path) -> None:
    text = """\
from ops.builders import Op, phase, shell, gate, output_of, exec_

op = Op("wrong", phases=[
    phase("A", [
        shell("true", profil="x"),
        gate("g", quorum=0),
    ]),
])
"""

    found = python_catalog(tmp_path, {"wrong_op.py": text})

    assert [(each.line, each.reason.partition(";")[0]) for each in found.problems] == [
        (5, "step p1.s1: unknown key 'profil' (did you mean profile?)"),
        (6, "step p1.s2: quorum must be at least 1, not 0"),
    ]


def test_what_an_op_means_is_judged_with_the_line_of_the_builder(tmp_path: Path) -> None:
    text = """\
from ops.builders import Op, activity, exec_, output_of, phase

op = Op("wrong", phases=[
    phase("A", [
        exec_("echo", output_of("nowhere")),
        activity("shel", {"cmd": "true"}),
    ]),
])
"""
    found = python_catalog(tmp_path, {"wrong_op.py": text})

    problems = check_op(found.find("wrong"), found)

    assert [(each.file, each.line) for each in problems] == [("wrong_op.py", 5), ("wrong_op.py", 6)]
    assert "did you mean shell?" in problems[1].reason


def test_files_may_share_helpers_that_lie_beside_them(tmp_path: Path) -> None:
    helper = "from ops.builders import shell\n\ndef say(x):\n    return shell(f'echo {x}')\n"
    text = "from helper import say\nfrom ops.builders import Op, phase\n"
    text += 'op = Op("mine", phases=[phase("A", [say("hi")])])\n'

    found = python_catalog(tmp_path, {"ops/helper.py": helper, "ops/mine_op.py": text})

    assert list(found.ops) == ["mine"]
    assert not (tmp_path / "ops" / "__pycache__").exists()


def test_folders_of_the_project_never_pass_for_our_packages(tmp_path: Path) -> None:
    bad = "raise RuntimeError('the wrong package')\n"

    found = python_catalog(
        tmp_path, {"ops/__init__.py": bad, "ops/builders.py": bad, "json.py": bad, "a_op.py": GOOD}
    )

    assert list(found.ops) == ["good"]


def test_nothing_is_evaluated_unless_the_project_allows_it(tmp_path: Path) -> None:
    touching = f"open({str(tmp_path / 'touched')!r}, 'w')\n{GOOD}"

    found = catalog(tmp_path, {"good_op.py": touching, "a.op.toml": small_op("a")})

    assert (list(found.ops), found.problems) == (["a"], ())
    assert not (tmp_path / "touched").exists()
    with pytest.raises(OpNotFound, match=r"does not say python_ops = true: good_op\.py"):
        found.find("good")


def test_a_file_is_evaluated_in_another_process_without_our_secrets(tmp_path: Path) -> None:
    text = "import os\nfrom ops.builders import *\n"
    text += "op = Op('good', overview=str((os.getppid(), sorted(os.environ), os.read(0, 9))),"
    text += " phases=[phase('A', [shell('true')])])\n"
    project(tmp_path, {"chant.toml": CONFIG, "a_op.py": text})

    table, findings = read_python_ops(
        str(tmp_path), ["a_op.py"], {"PATH": "/bin", "TOKEN": "secret", "PYTHONPATH": "/x"}
    )["a_op.py"]

    assert findings.problems == []
    assert table is not None
    assert "TOKEN" not in table.text("overview")
    assert "['PATH']" in table.text("overview").replace("'LC_CTYPE', ", "")
    assert table.text("overview").endswith("b'')")
    assert "chant_op" not in sys.modules


def test_an_op_in_python_and_one_in_toml_of_one_name_are_both_named(tmp_path: Path) -> None:
    found = python_catalog(tmp_path, {"a.op.toml": small_op("good"), "b_op.py": GOOD})

    assert [str(each) for each in found.problems] == [
        "b_op.py:2: op 'good' is also declared in a.op.toml"
    ]


def test_the_builders_make_every_activity_of_the_table() -> None:
    from ops.activities.table import ACTIVITIES

    made = {name.removesuffix("_") for name in vars(b) if not name.startswith("_")}

    assert set(ACTIVITIES) <= made


def test_two_loads_declare_the_same_digests(tmp_path: Path) -> None:
    from ops.plan import make_plan

    place = project(tmp_path, {"chant.toml": CONFIG, "release_op.py": PYTHON_RELEASE})

    plans = [
        make_plan(load_catalog(place).find("release"), place, "local", {"version": "1"}, {})
        for _ in range(2)
    ]

    assert plans[0].op_digest == plans[1].op_digest
