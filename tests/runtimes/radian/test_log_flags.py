"""`--log-level` and `--log-file`, of `radian exec` and `radian acp` alike."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.runtimes.radian.acp.client import Client
from tests.runtimes.radian.acp.test_start_up import HEAVY, HELLO, SCRIPT
from tests.runtimes.radian.box import Box, make_box
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-a-key-that-nobody-may-see"
MASKED = f"""
import os, sys
from actors.logs import direct, log, mask_lines
from runtimes.models.secrets import Secrets

secrets = Secrets({{"RADIAN_HOME": "/nowhere"}})
secrets.remember("{KEY}")
mask_lines(secrets.mask)
if len(sys.argv) > 1:
    direct("INFO", os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o600))
log().warning("called with {{}}", "{KEY}")
try:
    raise ValueError("no such key: {KEY}")
except ValueError as error:
    log().opt(exception=error).error("failed")
"""


@pytest.fixture
def box(tmp_path: Path) -> Box:
    made = make_box(tmp_path)
    made.play({"text": "Yes."}, then="repeat-last")
    return made


def test_the_log_goes_to_a_file_that_only_its_owner_reads(box: Box) -> None:
    path = box.workspace / "log.txt"

    run = box.run("exec", "-p", "hi", "--log-level", "debug", "--log-file", "log.txt")

    assert (run.returncode, run.stdout, run.stderr) == (0, "Yes.\n", "")
    assert "DEBUG" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_there_is_added_to_and_closed_to_others(box: Box) -> None:
    path = box.workspace / "log.txt"
    path.write_text("before\n")
    path.chmod(0o644)

    box.run("exec", "-p", "hi", "--log-level", "DEBUG", f"--log-file={path}")

    assert path.read_text().startswith("before\n")
    assert "DEBUG" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_a_file_the_log_goes_to_stderr_and_is_quiet_by_default(box: Box) -> None:
    usual = box.run("exec", "-p", "hi")
    loud = box.run("exec", "-p", "hi", "--log-level", "debug")

    assert (usual.stdout, usual.stderr) == ("Yes.\n", "")
    assert loud.stdout == "Yes.\n"
    assert "DEBUG" in loud.stderr


def test_the_log_of_acp_leaves_stdout_to_the_protocol(box: Box) -> None:
    path = box.workspace / "log.txt"

    with Client(box, "--log-level", "debug", "--log-file", str(path)) as client:
        client.open()
        assert client.turn("hi").text == "Yes."
        client.end_input()
        assert client.exit_code() == 0
        assert client.stderr() == ""

    assert "DEBUG" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("command", [("exec", "-p", "hi"), ("acp",)])
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--log-level", "loud"), "--log-level must be one of trace, debug, info"),
        (("--log-file", "."), "--log-file .: Is a directory"),
        (("--log-file", "no/such/log.txt"), "--log-file no/such/log.txt: No such file"),
        (("--log-file", ""), "names no file"),
        (("--log-file", "/dev/stdout"), "/dev/stdout: this is stdout"),
    ],
)
def test_what_can_not_be_is_a_mistake_of_usage(
    box: Box, command: tuple[str, ...], flags: tuple[str, ...], said: str
) -> None:
    run = box.run(*command, *flags)

    assert (run.returncode, run.stdout) == (2, "")
    assert said in run.stderr
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("to_file", [True, False])
def test_keys_are_masked_in_lines_and_tracebacks(tmp_path: Path, *, to_file: bool) -> None:
    path = tmp_path / "log.txt"
    words = [str(path)] if to_file else []

    run = subprocess.run(
        [sys.executable, "-c", MASKED, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    written = path.read_text() if to_file else run.stderr
    assert (run.stdout, run.stderr) == ("", "") if to_file else run.stdout == ""
    assert KEY not in written
    # Python 3.13 shows the lines of a ``-c`` program in tracebacks, with the key that stands there.
    assert "called with [secret]\n" in written
    assert "ValueError: no such key: [secret]\n" in written


def test_initialize_does_not_wait_for_the_log(tmp_path: Path) -> None:
    flags = f'"acp", "--log-level", "warning", "--log-file", {str(tmp_path / "log")!r}, '
    program = SCRIPT.replace('"acp", ', flags, 1)
    assert program != SCRIPT

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        input=HELLO,
        capture_output=True,
        check=True,
        env={**os.environ, "CHANTRY_LOG": ""},
    )

    assert set(done.stderr.decode().split()) & HEAVY == set()
