"""Standard input and signals: what users of other agents reported of their headless runs."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.runtimes.radian.exit_rows import until
from tests.runtimes.radian.reported.processes import ended, long_sleep, none_left
from tests.scripts import script

if TYPE_CHECKING:
    from tests.runtimes.radian.box import Box

JSONL = ("--output", "jsonl", "--session-id", "s1")
FULL = ("--profile", "full")


# --- B112


def run_without(box: Box, closed: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `radian exec` with a stream closed: ``<&-``, ``>&-`` or ``2>&-``."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", script("radian"), "exec", *words],
        cwd=box.workspace,
        env=box.environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_a_prompt_needs_neither_stdin_nor_stderr(box: Box, closed: str) -> None:
    box.play({"tool_calls": [{"name": "shell", "input": {"command": "echo hi"}}]}, {"text": "ok"})

    run = run_without(box, closed, "-p", "say ok", "--session-id", "s1", *FULL)

    assert (run.returncode, run.stdout) == (0, "ok\n"), run.stderr
    assert "Traceback" not in run.stderr
    assert box.journal("s1")[-1]["end"] == "Completed"


@pytest.mark.parametrize("words", [("-p", "-"), ()])
def test_a_closed_stdin_is_an_empty_prompt(box: Box, words: tuple[str, ...]) -> None:
    run = run_without(box, "<&-", *words)

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "radian exec: the prompt is empty\n"


@pytest.mark.parametrize("output", ["text", "json", "jsonl"])
@pytest.mark.parametrize("closed", [">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_a_closed_stdout_is_an_error_and_nothing_is_printed_into_the_journal(
    box: Box, output: str, closed: str
) -> None:
    box.play({"text": "ok"})

    run = run_without(box, closed, "-p", "go", "--session-id", "s1", "--output", output)

    assert (run.returncode, run.stdout) == (1, "")
    assert "Traceback" not in run.stderr
    assert [each["seq"] for each in box.journal("s1")] == list(range(1, len(box.journal("s1")) + 1))


# --- B117


ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}


def run_in_ascii(box: Box, *words: str) -> tuple[int, str, str]:
    run = subprocess.run(
        [script("radian"), *words],
        cwd=box.workspace,
        env={**box.environ, **ASCII},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def test_what_is_printed_is_utf8_whatever_the_locale(box: Box) -> None:
    name = "héllo 💫"
    command = f"python3 -c \"print('✓')\" > '{name}'; cat h*"
    shell = {"name": "shell", "input": {"command": command}}
    read = {"name": "read", "input": {"path": name}}
    box.play({"tool_calls": [shell]}, {"tool_calls": [read]}, {"text": "fertig 💫"})

    code, stdout, stderr = run_in_ascii(box, "exec", "-p", name, "--session-id", "s1")

    assert (code, stdout) == (0, "fertig 💫\n"), stderr
    assert f"read: Read {name}" in stderr
    assert (box.workspace / name).read_text(encoding="utf-8") == "✓\n"
    results = [each["output"] for each in box.journal("s1") if each["type"] == "ToolResult"]
    assert ["✓" in each for each in results] == [True, True]


def test_small_commands_can_name_what_is_not_ascii(box: Box) -> None:
    folder = box.workspace / "héllo 💫"
    folder.mkdir()

    code, stdout, stderr = run_in_ascii(box, "trust", str(folder))

    assert (code, stderr) == (0, "")
    assert str(folder) in stdout


# --- B115


STUBBORN = "trap '' TERM INT HUP; echo ready; while :; do sleep {}; done"


@pytest.mark.parametrize("flags", [(), FULL], ids=["sandboxed", "full"])
def test_a_second_interrupt_does_not_wait_for_a_tool_that_will_not_stop(
    box: Box, flags: tuple[str, ...]
) -> None:
    mark = long_sleep()
    box.play({"tool_calls": [{"name": "shell", "input": {"command": STUBBORN.format(mark)}}]})

    with box.start("exec", "-p", "go", *JSONL, *flags) as process:
        until(process, "ToolOutput")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        code, stdout, _ = ended(process)

    assert code == 130
    assert json.loads(stdout.splitlines()[-1])["status"] == "interrupted"
    assert box.journal("s1")[-1]["end"] == "Interrupted"
    assert none_left(mark)


def test_a_reader_that_leaves_in_a_tool_ends_it_and_the_turn(box: Box) -> None:
    mark = long_sleep()
    command = f"echo ready; while :; do echo more; sleep 0.01; done; sleep {mark}"
    box.play({"tool_calls": [{"name": "shell", "input": {"command": command}}]})

    with box.start("exec", "-p", "go", *JSONL, *FULL) as process:
        until(process, "ToolOutput")
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(60) == 1

    assert box.journal("s1")[-1]["end"] == "Interrupted"
    assert none_left(mark)
