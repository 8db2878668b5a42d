"""The command line as people use it: output, exit codes, signals, a reader that leaves."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import termios
from typing import TYPE_CHECKING, Any

import pytest

from actors.local_host import LocalResult
from actors.turn import TurnResult
from protocol.errors import InternalError
from runtimes.chant.run_tasks import RunOutcome
from runtimes.chant.running import run_op
from runtimes.chant.verbs.run import RUN
from runtimes.chant.verbs.verb import Invocation
from runtimes.version import VERSION
from tests.runtimes.chant.projects import FAILING, RELEASE, ledger_lines, make_project
from tests.scripts import script

if TYPE_CHECKING:
    from pathlib import Path

SLOW = """\
name = "slow"

[[phases]]
name = "Work"
  [[phases.steps]]
  fn = "shell"
  args = { cmd = 'echo at work; exec sleep 60' }

[[on_failure]]
name = "Undo"
  [[on_failure.steps]]
  fn = "shell"
  args = { cmd = 'echo cleaning; if [ -e linger ]; then exec sleep 60; fi' }
"""


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return make_project(tmp_path / "box", release=RELEASE, failing=FAILING, slow=SLOW)


def chant(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [script("chant"), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


def started(folder: Path, *words: str, **given: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [script("chant"), *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
        **given,
    )


def test_a_run_shows_what_happens_and_leaves_a_record(box: Path) -> None:
    run = chant(box, "run", "release", "--param", "version=7")

    assert run.returncode == 0, run.stderr
    assert "  pack │ packed 7 in local\n" in run.stdout
    assert run.stdout.splitlines()[-1].startswith("✓ release is done in ")
    assert len(ledger_lines(box, "local", "release")) == 1


def test_a_failed_run_rolls_back_and_says_what_failed(box: Path) -> None:
    run = chant(box, "run", "failing")

    assert run.returncode == 1
    assert "  undo │ undo after boom\n" in run.stdout
    assert run.stdout.endswith(" at Work / shell (boom): exit code 3; clean-up: ok\n")


def test_json_is_the_record_and_nothing_else(box: Path) -> None:
    run = chant(box, "run", "failing", "--json")

    record = json.loads(run.stdout)
    assert run.returncode == 1
    assert record["status"] == "fail"
    assert json.loads(ledger_lines(box, "local", "failing")[0]) == record


def test_progress_json_is_lines_and_the_record_last(box: Path) -> None:
    run = chant(box, "run", "release", "--progress-json")

    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert lines[0]["event"] == "plan"
    assert lines[-1]["event"] == "record"
    assert lines[-1]["record"]["status"] == "ok"


def test_a_plan_runs_nothing(box: Path) -> None:
    run = chant(box, "run", "failing", "--plan", "--json")

    assert run.returncode == 0
    assert [phase["name"] for phase in json.loads(run.stdout)["phases"]] == ["Work"]
    assert ledger_lines(box, "local", "failing") == []


def test_output_that_can_not_be_written_is_told_in_one_line(box: Path) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        run = subprocess.run(
            [script("chant"), "list"],
            cwd=box,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert run.returncode == 1
    assert run.stderr == "chant: the output can't be written: No space left on device\n"


def test_listing_and_building(box: Path) -> None:
    assert chant(box, "list").stdout.splitlines()[1] == "release  Build and deploy"
    assert chant(box, "build", "--check").returncode == 1, "dist/ is not there yet"
    built = chant(box, "build", "--json")
    assert json.loads(built.stdout)["written"] is True
    assert (box / "dist" / "manifest.json").exists()
    assert chant(box, "build", "--check").returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("run", 2, "OP is missing"),
        ("rm -rf /", 2, "'rm' is not a verb of chant"),
        ("run release --nope", 2, "no flag '--nope'"),
        ("run nope", 2, "unknown op 'nope'"),
        ("run release --env nix", 2, "unknown environment 'nix'"),
        ("acp --grace forever", 2, "--grace needs seconds"),
        ("acp serve x", 2, "unexpected word 'x'"),
        ("help nope", 2, "'nope' is not a verb of chant; known: acp, approve"),
        ("help run nope", 2, "no verb continues 'run' with 'nope'"),
        ("help workspace ponts", 2, "not 'ponts'; did you mean 'points'?"),
    ],
)
def test_what_is_wrong_goes_to_stderr_with_a_code(
    box: Path, words: str, code: int, said: str
) -> None:
    run = chant(box, *words.split())

    assert (run.returncode, run.stdout) == (code, "")
    assert said in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("words", "verb", "code", "reason"),
    [
        ("run nope", "run", 2, "unknown op 'nope'; known: failing, release, slow"),
        ("run nope --plan", "run", 2, "unknown op 'nope'; known: failing, release, slow"),
        ("run log nope", "run log", 2, "unknown op 'nope'; known: failing, release, slow"),
        ("run release --env nix", "run", 2, "unknown environment 'nix'; known: local, prod"),
        ("lifecycle show nope", "lifecycle show", 4, "unknown snapshot 'nope'; there are none"),
        ("init chant.toml", "init", 1, "File exists: '{box}/chant.toml'"),
    ],
)
def test_the_errors_of_all_verbs_read_alike_and_are_a_document_with_json(
    box: Path, words: str, verb: str, code: int, reason: str
) -> None:
    reason = reason.format(box=box)
    plain = chant(box, *words.split())
    as_json = chant(box, *words.split(), "--json")

    assert (plain.returncode, plain.stdout) == (code, "")
    assert plain.stderr == f"chant {verb}: {reason}\n"
    assert (as_json.returncode, as_json.stderr) == (code, plain.stderr)
    assert json.loads(as_json.stdout) == {"error": reason, "exit_code": code}


def test_a_command_line_that_can_not_be_read_is_a_document_too_with_json(box: Path) -> None:
    run = chant(box, "run", "--json")

    assert run.returncode == 2
    assert json.loads(run.stdout) == {
        "error": "chant run: OP is missing: the Op's name, see chant list",
        "exit_code": 2,
    }


@pytest.mark.parametrize(("verb", "words"), [("list", ["list"]), ("run", ["run", "release"])])
def test_a_folder_that_is_gone_is_told_like_other_errors(
    tmp_path: Path, verb: str, words: list[str]
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    run = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD"; exec "$0" "$@" --json', script("chant"), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    reason = "the working directory can't be used: No such file or directory"
    assert (run.returncode, run.stderr) == (4, f"chant {verb}: {reason}\n")
    assert json.loads(run.stdout) == {"error": reason, "exit_code": 4}


def test_a_run_that_a_fault_of_ours_keeps_from_starting_says_so(
    box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = RunOutcome(1, reason="the run could not be prepared: no thread")
    ended = LocalResult(TurnResult("refusal", error=InternalError(), value=outcome), [])
    monkeypatch.setattr("runtimes.chant.running.run_turn", lambda *_: ended)
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()

    code = run_op(Invocation(RUN, {"OP": ("release",)}), str(box), {}, out, err)

    assert code == 1
    assert err.getvalue() == "chant run: the run could not be prepared: no thread\n"


def test_a_run_that_a_signal_stops_before_it_begins_is_cancelled(
    box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = LocalResult(TurnResult("cancelled"), [signal.SIGINT])
    monkeypatch.setattr("runtimes.chant.running.run_turn", lambda *_: ended)
    buffer, err = io.BytesIO(), io.StringIO()
    out = io.TextIOWrapper(buffer)

    code = run_op(Invocation(RUN, {"OP": ("release",)}, {"--json": ()}), str(box), {}, out, err)
    out.flush()

    assert (code, err.getvalue()) == (130, "")
    assert json.loads(buffer.getvalue())["error"] == "cancelled before it began"


@pytest.mark.parametrize(
    "words", ["--help", "-h", "run --help", "acp --help", "acp -h", "help run", "build --help"]
)
def test_help_is_on_stdout(box: Path, words: str) -> None:
    run = chant(box, *words.split())

    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("Usage: chant ")


def test_the_version_is_told(box: Path) -> None:
    assert chant(box, "--version").stdout == f"chant {VERSION}\n"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_cancels_and_cleans_up(box: Path, number: signal.Signals, code: int) -> None:
    with started(box, "run", "slow") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "at work" in line:
                process.send_signal(number)
        assert process.wait(30) == code

    record = json.loads(ledger_lines(box, "local", "slow")[0])
    assert (record["status"], record["compensation"]) == ("cancelled", "ok")


@pytest.mark.parametrize(("second", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_second_signal_stops_the_clean_up_too(
    box: Path, second: signal.Signals, code: int
) -> None:
    (box / "linger").touch()
    with started(box, "run", "slow") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "at work" in line:
                process.send_signal(signal.SIGINT)
            elif "cleaning" in line:
                process.send_signal(second)
        assert process.wait(30) == code

    record = json.loads(ledger_lines(box, "local", "slow")[0])
    assert (record["status"], record["compensation"]) == ("cancelled", "failed")


def test_a_run_goes_on_when_its_reader_leaves(box: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        run = subprocess.run(
            [script("chant"), "run", "release"],
            cwd=box,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
    finally:
        os.close(writer)

    assert (run.returncode, run.stderr) == (0, "")
    assert len(ledger_lines(box, "local", "release")) == 1


def test_who_types_chant_acp_at_a_terminal_is_told_what_it_is_for(box: Path) -> None:
    keyboard, terminal = os.openpty()
    with subprocess.Popen(
        [script("chant"), "acp"],
        cwd=box,
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as agent:
        os.close(terminal)
        assert agent.stderr is not None
        told = agent.stderr.readline()
        os.close(keyboard)
        out, _ = agent.communicate(timeout=60)

    assert "chantry drive -- chant acp" in told
    assert out == ""


def test_a_table_is_as_wide_as_its_terminal(box: Path) -> None:
    keyboard, terminal = os.openpty()
    termios.tcsetwinsize(terminal, (24, 60))
    try:
        run = subprocess.run(
            [script("chant"), "doctor"],
            cwd=box,
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=subprocess.PIPE,
            timeout=60,
            check=True,
        )
    finally:
        os.close(terminal)
    shown = b""
    with os.fdopen(keyboard, "rb", buffering=0) as screen, contextlib.suppress(OSError):
        while piece := screen.read(1024):  # until nobody has the terminal any more: EIO
            shown += piece

    assert run.stderr == b""
    below = " " * len("pass  ledger      ")
    said = f"pass  ledger      branch chant/lifecycle begins with the\r\n{below}first run\r\n"
    assert said in shown.decode()
