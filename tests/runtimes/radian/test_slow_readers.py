"""Readers of `radian exec` that take nothing more, and signals that come meanwhile."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from runtimes.radian.patient_out import PatientOut
from tests.runtimes.radian.box import Box, make_box
from tests.scripts import script

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

PIPE_BYTES = 4096
HUNDREDFOLD = "word " * 100_000


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


@pytest.fixture
def pipe() -> Generator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)
    os.close(writing)


def is_full(descriptor: int) -> bool:
    return not select.select((), (descriptor,), (), 0)[1]


def ends_of(box: Box) -> list[bytes]:
    data = (box.home / "sessions" / "s1.jsonl").read_bytes()
    return [line for line in data.split(b"\n")[:-1] if b'"TurnEnded"' in line]


@pytest.mark.parametrize("output", ["text", "jsonl"])
@pytest.mark.parametrize(
    ("signals", "code"),
    [
        ([signal.SIGINT, signal.SIGINT], 130),
        ([signal.SIGTERM, signal.SIGTERM], 143),
        ([signal.SIGHUP, signal.SIGTERM], 143),
    ],
)
def test_a_reader_that_takes_nothing_holds_nobody_up_who_is_told_twice_to_end(
    box: Box, pipe: tuple[int, int], output: str, signals: list[signal.Signals], code: int
) -> None:
    box.play({"text": HUNDREDFOLD, "chunk": 100})
    words = ("exec", "-p", "go", "--session-id", "s1", "--output", output)

    with subprocess.Popen(
        [script("radian"), *words],
        cwd=box.workspace,
        env=box.environ,
        stdin=subprocess.DEVNULL,
        stdout=pipe[1],
        stderr=subprocess.PIPE,
        text=True,
    ) as radian:
        while not is_full(pipe[1]):
            os.sched_yield()
        radian.send_signal(signals[0])
        while not ends_of(box):  # two alike at once would be one
            os.sched_yield()
        radian.send_signal(signals[1])
        _, said = radian.communicate(timeout=30)

    assert (radian.returncode, said) == (code, "")
    assert len(ends_of(box)) == 1


def test_a_reader_that_leaves_in_the_middle_is_no_error_of_ours(box: Box) -> None:
    box.play({"text": HUNDREDFOLD, "chunk": 100})
    with box.start("exec", "-p", "go", "--output", "jsonl") as radian:
        assert radian.stdout is not None
        assert radian.stderr is not None
        radian.stdout.readline()
        radian.stdout.close()
        assert (radian.wait(30), radian.stderr.read()) == (1, "")


def test_who_is_in_a_hurry_waits_for_no_reader(pipe: tuple[int, int]) -> None:
    fcntl.fcntl(pipe[1], fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    out = PatientOut(pipe[1])
    assert out.write(b"x" * 10_000) == PIPE_BYTES

    out.hurry(1)

    with pytest.raises(TimeoutError, match="nobody reads it"):
        out.write(b"x")
    os.read(pipe[0], PIPE_BYTES)
    assert out.write(b"y") == 1


@pytest.mark.parametrize("output", ["text", "json", "jsonl"])
def test_what_can_not_be_written_to_stderr_does_not_stop_the_work(box: Box, output: str) -> None:
    box.play({"tool_calls": [{"name": "glob", "input": {"pattern": "*"}}]}, {"text": "done"})
    (box.home / "trust.json").unlink()

    with open("/dev/full", "w", encoding="utf-8") as full:
        run = subprocess.run(
            [script("radian"), "exec", "-p", "go", "--output", output],
            cwd=box.workspace,
            env=box.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            check=False,
            timeout=60,
        )

    assert run.returncode == 0
    assert "done" in run.stdout
