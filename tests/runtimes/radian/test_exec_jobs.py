"""Background jobs of `radian exec`: recorded, told of, and ended with the process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.radian.box import Box, make_box, objects

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


def call(name: str, **values: Any) -> dict[str, Any]:
    return {"name": name, "input": values}


def test_a_job_that_still_runs_is_ended_with_the_process(box: Box) -> None:
    background = call("shell", command="echo $$ > pid; sleep 1000", background=True)
    wait = call("shell", command="while ! test -s pid; do sleep 0.02; done")
    box.play({"tool_calls": [background]}, {"tool_calls": [wait]}, {"text": "It runs."})

    flags = ("--output", "jsonl", "--session-id", "s1", "--profile", "full")
    run = box.run("exec", "-p", "go", *flags)

    said = objects(run.stdout)
    assert (run.returncode, said[-1]["run_metrics"]["jobs_started"]) == (0, 1)
    assert {"type": "Job", "job_id": "job-1", "state": "running"} in said
    pid = (box.workspace / "pid").read_text().strip()
    assert not os.path.exists(f"/proc/{pid}")
    assert box.journal("s1")[-1]["type"] == "JobFinished"
    assert box.journal("s1")[-1]["killed"] is True


def test_the_model_is_told_of_a_job_that_ended(box: Box) -> None:
    background = call("shell", command="exit 3", background=True)
    look = {"tool_calls": [call("shell", command="sleep 0.05")]}
    told = {"when": "exit code 3", "text": "It failed."}
    box.play({"tool_calls": [background]}, told, look, then="repeat-last")

    run = box.run("exec", "-p", "go", "--session-id", "s1", "--profile", "full")

    assert (run.returncode, run.stdout) == (0, "It failed.\n")
    kinds = [each["type"] for each in box.journal("s1")]
    assert kinds.count("JobStarted") == kinds.count("JobFinished") == 1


def test_a_job_of_a_resumed_session_has_a_number_and_a_file_of_its_own(box: Box) -> None:
    for word, flags in (("first", ("--session-id", "s1")), ("second", ("--resume", "s1"))):
        background = call("shell", command=f"echo {word}; sleep 1000", background=True)
        seen = call(
            "shell", command=f"until grep -qr {word} --include 'job-*' {box.home}; do :; done"
        )
        box.play({"tool_calls": [background]}, {"tool_calls": [seen]}, {"text": "It runs."})
        assert box.run("exec", "-p", "go", *flags, "--profile", "full").returncode == 0

    started = [each["job_id"] for each in box.journal("s1") if each["type"] == "JobStarted"]
    printed = {each.stem: each.read_text() for each in box.home.rglob("job-*.txt")}
    assert started == ["job-1", "job-2"]
    assert printed == {"job-1": "first\n", "job-2": "second\n"}
