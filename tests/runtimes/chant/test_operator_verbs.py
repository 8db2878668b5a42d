"""The operator as a process: once, for long, its lease, its end, its status."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.chant.projects import ledger_lines
from tests.runtimes.chant.stewards import make_box, tip
from tests.runtimes.chant.talk import chant
from tests.scripts import script

if TYPE_CHECKING:
    from pathlib import Path

AS = ("operator", "--steward", "box-steward")


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return make_box(tmp_path / "box")


def start(box: Path) -> subprocess.Popen[str]:
    """Start an operator and wait until it operates."""
    process = subprocess.Popen(
        [script("chant"), *AS], cwd=box, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "operating " in line:
            return process
    raise AssertionError(process.communicate())


def status(box: Path) -> Any:
    return chant(box, "operator", "status", "--json").document["stewards"][0]


def test_once_gives_every_scheduled_op_its_turn_in_the_stewards_name(box: Path) -> None:
    once = chant(box, *AS, "--once", "--json")

    assert once.code == 3
    assert {run["op"]: run["status"] for run in once.document["runs"]} == {
        "release": "waiting",
        "plain": "ok",
    }
    assert (box / "plain").read_text() == "box-steward operator\n"
    (line,) = ledger_lines(box, "prod", "plain")
    assert '"origin":"operator"' in line
    assert '"steward":"box-steward"' in line


def test_an_op_that_waits_is_skipped_until_it_is_answered(box: Path) -> None:
    first = chant(box, *AS, "--once", "--json")
    question = first.document["waiting"]["release"].removeprefix("question ")

    skipped = chant(box, *AS, "--once", "--json")
    runs = len(ledger_lines(box, "prod", "release"))
    chant(box, "workspace", "points", "answer", question, "--answer", "yes", "--by", "ann")
    ran = chant(box, *AS, "--once", "--json")

    assert [run["op"] for run in skipped.document["runs"]] == ["plain"]
    assert skipped.document["waiting"] == {"release": f"question {question}"}
    assert runs == 1
    assert ran.code == 0
    assert (box / "shipped").read_text() == "box-steward\n"


def test_status_shows_the_schedule_and_what_waits_and_starts_nothing(box: Path) -> None:
    chant(box, *AS, "--once")
    before = tip(box)

    row = status(box)

    assert row["running"] is False
    assert [(each["op"], each["last"]) for each in row["schedule"]] == [
        ("release", "waiting"),
        ("plain", "ok"),
    ]
    assert row["schedule"][0]["waits_on"].startswith("question ship-it-")
    assert row["schedule"][0]["next"].endswith(
        ("00:00.000Z", "15:00.000Z", "30:00.000Z", "45:00.000Z")
    )
    assert tip(box) == before


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 130)]
)
def test_a_signal_ends_it_cleanly_and_frees_the_lease(box: Path, number: int, code: int) -> None:
    with start(box) as operator:
        assert status(box)["operator"]["pid"] == operator.pid
        operator.send_signal(number)
        _, err = operator.communicate(timeout=60)

    assert operator.returncode == code
    assert "the operator has ended" in err
    assert "Traceback" not in err
    assert status(box)["running"] is False


def test_a_second_operator_of_an_environment_is_refused_by_name(box: Path) -> None:
    with start(box) as operator:
        second = chant(box, *AS, "--once")
        operator.terminate()
        operator.communicate(timeout=60)

    assert second.code == 4
    assert f"prod is operated by process {operator.pid}" in second.err


def test_the_lease_of_a_killed_operator_is_taken_over(box: Path) -> None:
    with start(box) as operator:
        operator.kill()
        operator.communicate(timeout=60)

    assert status(box)["running"] is False
    assert chant(box, *AS, "--once").code == 3


def test_what_it_does_is_in_its_log(box: Path) -> None:
    chant(box, *AS, "--once")

    text = (box / ".git" / "chant" / "operator" / "prod.log").read_text()

    assert "INFO plain ended ok" in text
    assert "scan │ medium" in text


@pytest.mark.parametrize(
    ("words", "env", "code", "said"),
    [
        (("--steward", "nobody"), {}, 2, "unknown steward 'nobody'; known: box-steward, plain"),
        ((), {}, 2, "--steward needs a name; declared: box-steward, plain-steward"),
        (("--steward", "box-steward"), {"CHANT_STEWARD": "other"}, 4, "turn of steward other"),
    ],
)
def test_it_starts_only_for_a_steward_that_the_project_declares(
    box: Path, words: tuple[str, ...], env: dict[str, str], code: int, said: str
) -> None:
    refused = chant(box, "operator", "--once", *words, **env)

    assert refused.code == code
    assert said in refused.err
    assert tip(box) == ""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('cron = "0 3 * * *"', 'cron = "at three"', "must have five fields"),
        ('op = "plain"', 'op = "plane"', "unknown op 'plane' (did you mean plain?)"),
    ],
)
def test_a_schedule_that_cannot_be_kept_is_refused(
    box: Path, old: str, new: str, said: str
) -> None:
    config = box / "chant.toml"
    config.write_text(config.read_text().replace(old, new))

    refused = chant(box, *AS, "--once")

    assert refused.code in {2, 4}
    assert said in refused.err


def test_a_run_that_was_killed_with_its_operator_is_told_by_the_next_one(box: Path) -> None:
    slow = 'name = "plain"\n[[phases]]\nname = "Only"\n[[phases.steps]]\nfn = "shell"\n'
    fifo = box / "fifo"
    os.mkfifo(fifo)
    (box / "ops" / "plain.op.toml").write_text(
        slow + 'args = { cmd = "echo on > fifo; exec cat fifo" }\n'
    )
    process = subprocess.Popen(
        [script("chant"), *AS, "--once"], cwd=box, stderr=subprocess.DEVNULL, text=True
    )
    with fifo.open(encoding="utf-8") as stream:
        assert stream.readline() == "on\n"
    process.kill()
    process.wait(timeout=60)
    (box / "ops" / "plain.op.toml").write_text(slow + 'args = { cmd = "true" }\n')

    again = chant(box, *AS, "--once", "--json")

    assert {run["op"]: run["status"] for run in again.document["runs"]} == {"plain": "ok"}
    statuses = [
        line.split('"status":"')[1].split('"')[0] for line in ledger_lines(box, "prod", "plain")
    ]
    assert statuses[0] == "interrupted"
