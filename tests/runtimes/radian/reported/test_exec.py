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


def test_a_prompt_needs_no_stdin_at_all(box: Box) -> None:
    box.play({"text": "ok"}, then="repeat-last")
    words = [script("radian"), "exec", "-p", "say ok"]

    closed = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *words],
        cwd=box.workspace,
        env=box.environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (closed.returncode, closed.stdout) == (0, "ok\n"), closed.stderr


def test_a_prompt_from_a_closed_stdin_is_a_usage_error(box: Box) -> None:
    for words in (["-p", "-"], []):
        run = subprocess.run(
            ["/bin/sh", "-c", 'exec "$@" <&-', "sh", script("radian"), "exec", *words],
            cwd=box.workspace,
            env=box.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (run.returncode, run.stdout) == (2, ""), run.stderr
        assert "stdin" in run.stderr or "prompt is empty" in run.stderr


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
