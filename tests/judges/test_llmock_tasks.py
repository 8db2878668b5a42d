"""`radian exec` does its task against llmock, which injects faults and then judges the client.

A wait that nobody asked for is shortened by chance, so two of them in a row need not grow, and
llmock calls that a finding now and then.  So each call here meets at most one fault without a hint;
that waits grow is tested in `tests/runtimes/models`.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.judges.far import ADD, KEY, broken_project, configure, everything_kept, exec_words
from tests.judges.formats import FORMATS
from tests.runtimes.models.judges import LLMOCK, llmock, told
from tests.runtimes.radian.box import Box, make_box, objects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

BASES = {
    "openai-compatible": "/v1",
    "openai": "/v1",
    "anthropic": "/anthropic/v1",
    "gemini": "/gemini/v1beta",
}
READ = {"name": "read", "arguments": {"path": "sums.py"}}
PATCH = {"name": "patch", "arguments": {"path": "sums.py", "old": "a - b", "new": "a + b"}}
TEST = {"name": "shell", "arguments": {"command": "python3 test_sums.py"}}


def calls(tool_call: dict[str, Any]) -> dict[str, Any]:
    # With some words before it, so that a fault after the first chunk hits no whole answer.
    return {"type": "reply", "text": "Let me see what I can do.", "tool_calls": [tool_call]}


STEPS = [calls(READ), calls(PATCH), calls(TEST), {"type": "reply", "text": "It is mended."}]


class Trouble(NamedTuple):
    """What happens to the first call of the task, which is made again until it went well."""

    name: str
    faults: list[dict[str, Any]]
    retries: int
    spoilt: int = 0
    """Answers that were begun, and so have to be said again."""


def broken(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "stream_fault", "kind": kind, "after_chunks": 1, **more}


def failed(status: int, **more: Any) -> dict[str, Any]:
    return {"type": "fail", "status": status, **more}


TROUBLES = (
    Trouble("none", [], 0),
    Trouble("limited", [failed(429, retry_after=0.5), broken("truncate")], 2, spoilt=1),
    Trouble("busy", [failed(503, retry_after=0.1, times=3), broken("disconnect")], 4, spoilt=1),
    Trouble("malformed", [broken("malformed")], 1, spoilt=1),
    Trouble("stalled", [broken("stall", stall_seconds=30.0)], 1, spoilt=1),
)
REFUSALS = ((401, 11, "credential"), (403, 11, "credential"), (400, 5, "model"), (404, 5, "model"))


@pytest.fixture(scope="module")
def running_judge() -> Iterator[str]:
    # It looks whether a client stops reading: on a busy machine, too, there must be time for it.
    with llmock("--stream-chunk-delay-ms", "10") as url:
        yield url


@pytest.fixture
def judge(running_judge: str) -> str:
    told(f"{running_judge}/_llmock/reset", {})
    return running_judge


@pytest.fixture(params=FORMATS)
def box(request: pytest.FixtureRequest, judge: str, tmp_path: Path) -> Box:
    made = make_box(tmp_path)
    broken_project(made.workspace)
    idle = '\n[providers.far]\nstream_idle_timeout = "3s"'
    configure(made, request.param, judge + BASES[request.param])
    config = made.home / "config.toml"
    config.write_text(config.read_text().replace("\n[providers.far]", idle))
    return made


def verdict_of(judge: str) -> subprocess.CompletedProcess[str]:
    """Run the judge's own command."""
    words = [str(LLMOCK), "report", "--url", judge, "--strict"]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


def test_a_task_is_done_whatever_happens_on_the_way_and_llmock_finds_nothing(
    box: Box, judge: str
) -> None:
    for trouble in TROUBLES:
        broken_project(box.workspace)
        steps = [STEPS[0]] * trouble.spoilt + STEPS
        told(f"{judge}/_llmock/scenario", {"behaviors": [*trouble.faults, *steps]})

        run = box.run(*exec_words(session=trouble.name))

        said = objects(run.stdout)
        result = said[-1]
        assert (run.returncode, result["text"]) == (0, "It is mended."), (trouble.name, run.stdout)
        assert (box.workspace / "sums.py").read_text() == ADD.format("+")
        metrics = result["run_metrics"]
        assert (metrics["retries"], metrics["tool_calls"]) == (trouble.retries, 3), trouble.name
        assert sum(each["type"] == "Retry" for each in said) == trouble.retries
        assert box.journal(trouble.name)[-1]["end"] == "Completed"
    report = verdict_of(judge)

    assert report.returncode == 0, report.stdout
    faults = sum(trouble.retries for trouble in TROUBLES)
    assert f"{faults} fault(s) injected" in " ".join(report.stdout.split())


def test_what_is_refused_is_not_asked_again_and_llmock_finds_nothing(box: Box, judge: str) -> None:
    for status, code, origin in REFUSALS:
        told(f"{judge}/_llmock/scenario", {"behaviors": [failed(status, message=f"no {KEY}")]})

        # The judge takes the same words after a failure for another attempt.
        run = box.run(*exec_words(session=f"s{status}", prompt=f"question {status}"))

        result = objects(run.stdout)[-1]
        assert (run.returncode, result["exit_code"], result["status"]) == (code, code, "failed")
        assert result["run_metrics"]["retries"] == 0
        assert box.journal(f"s{status}")[-1]["origin"] == origin
        assert KEY not in everything_kept(box, run.stdout, run.stderr)
    report = verdict_of(judge)

    assert report.returncode == 0, report.stdout


def test_calls_that_make_no_sense_are_told_to_the_model_and_llmock_finds_nothing(
    box: Box, judge: str
) -> None:
    for kind in ("unknown_tool", "malformed_arguments"):
        fault = {"type": "tool_fault", "kind": kind}
        replies = [STEPS[0], {"type": "reply", "text": "I see."}]
        told(f"{judge}/_llmock/scenario", {"behaviors": [fault, *replies]})

        run = box.run(*exec_words(session=kind))

        said = objects(run.stdout)
        assert (run.returncode, said[-1]["text"]) == (0, "I see."), run.stdout
        results = [each for each in said if each["type"] == "ToolResult"]
        assert {each["status"] for each in results} <= {"failed"}
        assert len(results) <= 1
    report = verdict_of(judge)

    assert report.returncode == 0, report.stdout
