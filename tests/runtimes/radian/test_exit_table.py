"""Each row of the table of exits, brought about through the real command."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from runtimes.radian.exit_codes import ABOUT, ENDINGS, GAVE_UP, TERMINATED
from tests.runtimes.radian.box import Box, make_box
from tests.runtimes.radian.exit_rows import (
    BARE,
    SLOW,
    TURNS,
    BareRow,
    TurnRow,
    one_session,
    until,
)
from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


@pytest.mark.parametrize("row", TURNS, ids=lambda row: row.name)
def test_a_turn_ends_as_its_row_says(box: Box, row: TurnRow) -> None:
    box.configure(row.config)
    journal = box.home / "sessions" / "s1.jsonl"
    box.play(*json.loads(json.dumps(row.calls).replace("{journal}", str(journal))))

    words = ("exec", "-p", "go", "--output", "jsonl", "--session-id", "s1", *row.flags)
    with box.start(*words) as process:
        if row.signal:
            until(process, "Text")
            process.send_signal(row.signal)
        stdout, stderr = process.communicate(timeout=60)

    *_, ended, result = (json.loads(line) for line in stdout.splitlines())
    kind, why, *words_of_result = row.end
    assert process.returncode == row.end.exit_code, stderr
    assert [result["exit_code"], result["status"], result["stop_reason"]] == words_of_result
    reason = why if kind == "Incomplete" else None
    assert (result["type"], result.get("reason")) == ("Result", reason)
    assert ("error" in result) == (kind == "Failed")
    assert (ended["type"], ended["end"], ended.get("reason")) == ("TurnEnded", kind, reason)
    told = [each for each in stderr.splitlines() if each.startswith("radian: ")]
    assert len(told) == (kind != "Completed")
    assert all(kind.lower() in each and result.get("error", "") in each for each in told)
    if why == "internal":  # then there is no journal any more
        return
    record = box.journal("s1")[-1]
    assert (record["type"], record["end"], record.get("reason")) == ("TurnEnded", kind, reason)
    assert record.get("origin") == (why if kind == "Failed" else None)
    assert record.get("retryable", False) == (row.end.exit_code == GAVE_UP.exit_code)


@pytest.mark.parametrize("row", BARE, ids=lambda row: row.name)
def test_what_comes_to_no_turn_says_why_in_one_line(box: Box, row: BareRow) -> None:
    box.play({"text": "never"})
    if row.before:
        row.before(box)
    turns = turns_of(box)

    run = run_into(box, row.stdout, *row.words)

    assert (run.returncode, run.stdout or "") == (row.code, ""), run.stderr
    assert row.said in run.stderr
    assert run.stderr.count("\n") == 1
    assert turns_of(box) == turns


def test_a_session_that_is_open_elsewhere_is_refused(box: Box) -> None:
    box.play(SLOW)
    words = ("exec", "-p", "go", "--output", "jsonl", "--session-id", "s1")
    with box.start(*words) as process:
        until(process, "Text")

        run = box.run("exec", "-p", "me too", "--resume", "s1")

        assert (run.returncode, run.stdout, run.stderr.count("\n")) == (10, "", 1)
        assert "session s1 is in use" in run.stderr
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert [each["turn"] for each in box.journal("s1") if each["type"] == "TurnStarted"] == [1]


@pytest.mark.parametrize("output", ["text", "json", "jsonl"])
def test_a_turn_whose_output_can_not_be_written_fails(box: Box, output: str) -> None:
    box.play({"text": "word " * 2000, "chunk": 50})

    words = ("-p", "go", "--output", output, "--session-id", "s1")
    run = run_into(box, "/dev/full", *words)

    assert run.returncode == 1
    # What says which session this is comes before the turn, which then is not begun.
    kinds = [each["type"] for each in box.journal("s1")]
    assert kinds[-1] == ("RunStarted" if output == "jsonl" else "TurnEnded")


def test_a_turn_whose_reader_left_is_interrupted(box: Box) -> None:
    box.play(SLOW)

    with box.start("exec", "-p", "go", "--output", "jsonl", "--session-id", "s1") as process:
        until(process, "Text")
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(60) == 1

    record = box.journal("s1")[-1]
    assert (record["type"], record["end"]) == ("TurnEnded", "Interrupted")


@pytest.mark.parametrize(
    "words", [("--list",), ("--search", "one"), ("--export", "s1"), ("--fork", "s1")]
)
def test_what_is_printed_for_a_reader_that_left_is_no_failure(
    box: Box, words: tuple[str, ...]
) -> None:
    one_session(box)
    program = [script("radian"), "exec", *words]

    with subprocess.Popen(
        program,
        cwd=box.workspace,
        env=box.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()
        assert (process.wait(60), said) == (0, "")


def test_every_row_of_the_table_is_brought_about() -> None:
    assert {(row.end.kind, row.end.why) for row in TURNS} == set(ENDINGS)
    told = {row.end.exit_code for row in TURNS} | {row.code for row in BARE}
    assert told == set(ABOUT)


def test_the_guide_and_the_help_have_the_table_of_the_code() -> None:
    guide = (ROOT / "docs/exec.md").read_text(encoding="utf-8").splitlines()
    rows = [f"| {code} | {status_of(code)} | {about} |" for code, about in ABOUT.items()]

    first = guide.index(rows[0])
    assert guide[first : first + len(rows) + 1] == [*rows, ""]
    shown = subprocess.run(
        [script("radian"), "exec", "--help"], capture_output=True, text=True, check=True
    ).stdout
    shown = " ".join(shown.split())
    assert [code for code, about in ABOUT.items() if f" {code} {about}" not in shown] == []


def status_of(code: int) -> str:
    """Return the status and the reasons that a result with the exit code can have."""
    endings = [*ENDINGS.items(), (("Failed", "model"), GAVE_UP)]
    found = [(key, ending.status) for key, ending in endings if ending.exit_code == code]
    if code == TERMINATED:
        found = [(("Interrupted", ""), "interrupted")]
    statuses = dict.fromkeys(status for _, status in found)
    reasons = [f"`{why}`" for (kind, why), _ in found if kind == "Incomplete"]
    return ", ".join([*statuses, *reasons])


def run_into(box: Box, stdout: str, *words: str) -> subprocess.CompletedProcess[Any]:
    """Run ``radian exec`` with its output into a file."""
    if not stdout:
        return box.run("exec", *words)
    with open(stdout, "w", encoding="utf-8") as file:
        return subprocess.run(
            [script("radian"), "exec", *words],
            cwd=box.workspace,
            env=box.environ,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )


def turns_of(box: Box) -> int:
    """Count the turns of all journals."""
    return sum(
        path.read_text().count('"TurnStarted"') for path in box.home.glob("sessions/*.jsonl")
    )
