"""``chantry drive`` as a user runs it, with agents that behave and agents that don't."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

from tests.scripts import script

if TYPE_CHECKING:
    from collections.abc import Generator

HERE = Path(__file__).parent
FAKE = (sys.executable, str(HERE / "fake_agent.py"))
SDK = (sys.executable, str(HERE / "sdk_agent.py"))
CONTROL = (
    "import fcntl, os, sys, termios; os.setsid(); "
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
"""Takes stdin as its controlling terminal and becomes the given program."""


def drive(
    *prompts: str, agent: tuple[str, ...] = FAKE, flags: tuple[str, ...] = (), stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run it to its end, without a terminal."""
    return subprocess.run(
        command(*prompts, agent=agent, flags=flags),
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def command(*prompts: str, agent: tuple[str, ...], flags: tuple[str, ...] = ()) -> list[str]:
    asked = [word for prompt in prompts for word in ("--prompt", prompt)]
    return [script("chantry"), "drive", *flags, *asked, "--", *agent]


def read_until(stream: IO[str], text: str) -> str:
    """Read lines until one holds ``text``, and return all of them."""
    seen = ""
    for line in stream:
        seen += line
        if text in line:
            return seen
    pytest.fail(f"{text!r} never came; this came: {seen}")


@pytest.fixture
def running(request: pytest.FixtureRequest) -> Generator[subprocess.Popen[str]]:
    """A drive in the middle of a turn; the parameter is the prompt."""
    with subprocess.Popen(
        command(request.param, agent=FAKE), stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def test_a_plan_is_shown_up_front_and_fills_in_line_by_line() -> None:
    done = drive("plan")

    assert done.stdout.splitlines()[2:] == [
        "> plan",
        "  · Build / a",
        "  · Build / b",
        "  · Build / c",
        "  ▸ Build / a",
        "compiling",
        "half a line",
        "  ✓ Build / a",
        "  ▸ Build / b",
        "  ✗ Build / b  exit code 2",
        "  - Build / c  skipped",
        "  ✓ Rollback / shell",
        "  turn over: end_turn",
    ]
    assert (done.returncode, done.stderr) == (0, "")


def test_an_agent_on_the_official_sdk_is_driven() -> None:
    done = drive("go", agent=SDK, flags=("--yes",))

    assert done.stdout.splitlines()[2:] == [
        "> go",
        "  Let me see",
        "  ✓ Look",
        "  · Edit",
        "  · Edit box.py",
        "  Edit box.py: Allow",
        "  ✓ Edit box.py",
        "edited",
        "  turn over: end_turn",
    ]
    assert (done.returncode, done.stderr) == (0, "")


def test_what_we_do_not_know_is_one_line_each_and_no_crash() -> None:
    done = drive("strange", "hello")

    assert "  update hologram_update, not shown\n" in done.stdout
    assert "  notification _own/notification, not known here\n" in done.stdout
    assert "you said hello" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("prompt", "code"), [("stop:refusal", 4), ("stop:waiting", 3), ("stop:max_tokens", 1)]
)
def test_the_exit_code_tells_how_the_last_turn_ended(prompt: str, code: int) -> None:
    assert drive("hello", prompt).returncode == code


def test_prompts_come_from_stdin_when_none_are_given() -> None:
    done = drive(stdin="one\n\ntwo")

    assert [line for line in done.stdout.splitlines() if "said" in line] == [
        "you said one",
        "you said two",
    ]
    assert done.returncode == 0


def test_the_death_of_the_agent_is_reported_with_its_last_words() -> None:
    done = drive("die", "never sent")

    assert done.returncode == 1
    problem, title, *words = done.stderr.splitlines()
    assert problem == "the agent died in the middle of a turn: exit code 7"
    assert title == "  the last lines it wrote to stderr:"
    assert words[-2:] == ["  line 29", "  out of \N{REPLACEMENT CHARACTER} luck"]
    assert "never sent" not in done.stdout


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [
        ("killed", "the agent died in the middle of a turn: killed by SIGKILL"),
        ("silent", "the agent died in the middle of a turn: exit code 0"),
        ("fail", "the agent answers with an error: internal error (-32603)"),
    ],
)
def test_other_ends_are_reported(prompt: str, problem: str) -> None:
    done = drive(prompt)

    assert (done.returncode, done.stderr) == (1, f"{problem}\n")


@pytest.mark.parametrize(
    ("flag", "problem"),
    [
        ("--version-2", "the agent speaks version 2 of the protocol, and we speak 1"),
        ("--login", "the agent wants a login first: authentication required"),
        ("--nameless", "the answer to session/new is malformed: sessionId is missing"),
    ],
)
def test_without_a_session_there_is_a_message(flag: str, problem: str) -> None:
    done = drive("hello", agent=(*FAKE, flag))

    assert (done.returncode, done.stderr) == (1, f"{problem}\n")


def test_a_program_that_is_not_there_is_named() -> None:
    done = drive("hello", agent=("/nowhere/agent",))

    assert done.returncode == 1
    assert done.stderr == "chantry: can't start /nowhere/agent: No such file or directory\n"


def test_without_a_terminal_permissions_are_rejected() -> None:
    done = drive("ask")

    assert '{"optionId": "no", "outcome": "selected"}' in done.stdout
    assert "nobody to ask here; --yes would allow it" in done.stdout


def test_json_prints_the_wire_both_ways_and_nothing_else() -> None:
    done = drive("strange", flags=("--json",))

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(line.keys() in ({"from", "message"}, {"from", "text"}) for line in lines)
    ours = [line["message"] for line in lines if line["from"] == "client"]
    assert [message.get("method") for message in ours] == [
        "initialize",
        "session/new",
        "session/prompt",
        None,
    ]
    assert {"from": "agent", "text": "just a print"} in lines
    assert lines[-1]["message"]["result"] == {"stopReason": "end_turn"}


@pytest.mark.parametrize(
    ("flags", "where", "why"),
    [
        ((), ">/dev/full", "chantry: the output can't be written: No space left on device\n"),
        (
            ("--json",),
            ">/dev/full",
            "chantry: the output can't be written: No space left on device\n",
        ),
        ((), ">&-", "chantry: the output can't be written: Bad file descriptor\n"),
        ((), "| true", ""),
    ],
)
def test_nobody_drives_an_agent_unseen(
    flags: tuple[str, ...], where: str, why: str, tmp_path: Path
) -> None:
    """A full disk and a closed stdout gave a traceback, and an agent no time to clean up."""
    tidied = tmp_path / "tidied"
    tidy = f'"$@"; : > "{tidied}"'
    argv = command("plan", agent=("sh", "-c", tidy, "sh", *FAKE), flags=flags)
    line = f'set -o pipefail; "$@" {where}'

    ended = subprocess.run(
        ["bash", "-c", line, "bash", *argv],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )

    assert (ended.returncode, ended.stderr) == (1, why)
    assert tidied.exists()


def test_a_flood_comes_through_whole() -> None:
    done = drive("flood")

    numbers = [int(line) for line in done.stdout.splitlines() if line.isdigit()]
    assert numbers == list(range(20_000))


@pytest.mark.parametrize("running", ["wait"], indirect=True)
def test_ctrl_c_cancels_the_turn(running: subprocess.Popen[str]) -> None:
    assert running.stdout
    read_until(running.stdout, "ready")

    running.send_signal(signal.SIGINT)
    rest = running.stdout.read()

    assert rest.splitlines() == [
        "  cancelling; Ctrl-C again ends the agent",
        "  ! Waiting  stopped",
        "  turn over: cancelled",
    ]
    assert running.wait(60) == 130


@pytest.mark.parametrize("running", ["stubborn"], indirect=True)
def test_the_second_ctrl_c_ends_an_agent_that_does_not_listen(
    running: subprocess.Popen[str],
) -> None:
    assert running.stdout
    pid = int(read_until(running.stdout, "ready").partition("pid ")[2].split()[0])
    running.send_signal(signal.SIGINT)
    read_until(running.stdout, "cancelling")

    running.send_signal(signal.SIGINT)
    read_until(running.stdout, "ending")
    running.send_signal(signal.SIGINT)

    assert running.wait(60) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("running", ["stubborn"], indirect=True)
def test_sigterm_ends_the_agent_first_and_a_second_one_at_once(
    running: subprocess.Popen[str],
) -> None:
    assert running.stdout
    pid = int(read_until(running.stdout, "ready").partition("pid ")[2].split()[0])

    running.terminate()
    read_until(running.stdout, "ended from outside")
    running.terminate()

    assert running.wait(60) == 143
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_on_a_terminal_a_permission_is_asked_and_answered() -> None:
    ours, theirs = os.openpty()
    argv = [sys.executable, "-c", CONTROL, *command("ask", agent=FAKE)]
    with (
        subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs) as process,
        os.fdopen(ours, "r+b", buffering=0) as terminal,
    ):
        os.close(theirs)
        seen = b""
        while not seen.endswith(b"answer (1-2): "):
            seen += terminal.read(4096)
        terminal.write(b"1\n")
        while b"turn over" not in seen:
            seen += terminal.read(4096)
        process.wait(60)

    assert b'{"optionId": "yes", "outcome": "selected"}' in seen
    assert process.returncode == 0


def test_help_documents_the_exit_codes() -> None:
    done = subprocess.run(
        [script("chantry"), "drive", "--help"], capture_output=True, text=True, check=True
    )

    for code in (0, 1, 2, 3, 4, 130):
        assert f"\n    {code} " in done.stdout
