"""The end of the process: rows X01 to X11 of the conformance list, B010, B110 and the matrix.

Each way to end meets each state; what counts is the exit code and that nobody is left alive.
How long it took is only printed (``-s`` or ``-rP`` show it).
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.e2e.agents import CHANT, GRACE_S, RADIAN, run_op
from tests.e2e.processes import described, wait_until_caught
from tests.e2e.talk import Talk
from tests.e2e.wire import line

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from tests.e2e.agents import AgentKind

IGNORES_TERM = "trap '' TERM; echo ready; while :; do sleep 600; done"
LEFT_ITS_SESSION = (
    "setsid sh -c 'trap \"\" TERM HUP; (setsid sleep 600 &) ; echo up > up; sleep 600'"
    " > /dev/null 2>&1 & "
    "until [ -e up ]; do sleep 0.01; done; echo ready; sleep 600"
)
"""A child that went into a session of its own and from there forked twice, deaf to TERM."""


def be_idle(talk: Talk) -> None:
    talk.open()
    talk.turn(talk.kind.shell("echo warm"))


def be_full(talk: Talk) -> None:
    talk.open()
    talk.prompt(talk.kind.flood)
    talk.wait_until_stalled()


def be_deaf(talk: Talk) -> None:
    talk.open()
    talk.start_shell(IGNORES_TERM)


def be_escaped(talk: Talk) -> None:
    talk.open()
    talk.start_shell(LEFT_ITS_SESSION)


def leave(talk: Talk) -> None:
    talk.end_input()


def leave_in_mid_line(talk: Talk) -> None:
    talk.send_without_reading(b'{"jsonrpc":"2.0","id":1,"met')
    talk.end_input()


def break_pipe(talk: Talk) -> None:
    talk.stop_reading()
    # Nobody hears of a broken pipe before something is written.
    talk.send_without_reading(line(id="last", method="no/such"))


def signalled(number: signal.Signals) -> Callable[[Talk], None]:
    return lambda talk: talk.process.send_signal(number)


STATES = {"idle": be_idle, "full": be_full, "deaf": be_deaf, "escaped": be_escaped}


@dataclass(frozen=True)
class Ending:
    do: Callable[[Talk], None]
    code: int


ENDINGS = {
    "end": Ending(leave, 0),
    "midline": Ending(leave_in_mid_line, 0),
    "TERM": Ending(signalled(signal.SIGTERM), 143),
    "HUP": Ending(signalled(signal.SIGHUP), 129),
    "INT": Ending(signalled(signal.SIGINT), 130),
    "pipe": Ending(break_pipe, 0),
}


@pytest.fixture
def graceful(kind: AgentKind, folder: Path) -> Iterator[Talk]:
    """An agent whose steps get a short grace."""
    with Talk(kind, folder, command=kind.with_grace()) as talk:
        yield talk


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("state", STATES)
def test_every_end_leaves_nobody_alive(
    graceful: Talk, state: str, ending: str, record_property: Callable[[str, object], None]
) -> None:
    STATES[state](graceful)
    started = time.monotonic()
    ENDINGS[ending].do(graceful)

    code = graceful.exit_code()

    took_ms = (time.monotonic() - started) * 1000
    left = graceful.alive()
    assert left == set(), described(left)
    assert code == ENDINGS[ending].code
    record_property("took_ms", round(took_ms))
    over_ms = took_ms - (GRACE_S * 1000 if state in {"deaf", "escaped"} else 0)
    print(f"SHUTDOWN {graceful.kind.name} {state} {ending}: {took_ms:.0f} ms, {over_ms:.0f} over")  # noqa: T201


@pytest.mark.parametrize("state", STATES)
def test_x09_a_killed_server_leaves_nobody_alive(graceful: Talk, state: str) -> None:
    STATES[state](graceful)
    started = time.monotonic()
    graceful.process.kill()
    graceful.process.wait()

    left = graceful.wait_for_no_one()

    assert left == set(), described(left)
    took_ms = (time.monotonic() - started) * 1000
    print(f"SHUTDOWN {graceful.kind.name} {state} KILL: {took_ms:.0f} ms")  # noqa: T201


def test_x02_end_of_input_in_mid_message_writes_nothing(talk: Talk) -> None:
    talk.open()
    assert talk.exchange(b"") == []
    raw = talk.raw
    talk.send(b'{"jsonrpc":"2.0","id":1,"method":"no/such"}')
    talk.end_input()

    assert talk.exit_code() == 0
    assert talk.drain() == []
    assert talk.raw == raw


def test_b010_stdin_at_its_end_from_the_start(kind: AgentKind, folder: Path) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    with Talk(kind, folder, stdin=null) as talk:
        os.close(null)

        assert talk.exit_code() == 0
        assert talk.drain() == []


@pytest.mark.parametrize("closed", ["<&-", "<&- >&-", "<&- >&- 2>&-", ">&- </dev/null"])
def test_a_start_without_stdin_or_stdout_is_a_normal_end(
    kind: AgentKind, folder: Path, closed: str
) -> None:
    """A pipe of our own once took the place of stdin, and the process waited on it for ever."""
    command = ("/bin/sh", "-c", f'exec "$@" {closed}', "sh", *kind.command)
    with Talk(kind, folder, command=command) as talk:
        assert talk.exit_code() == 0
        assert talk.drain() == []


def test_a_launcher_that_ignores_its_childrens_ends_does_no_harm(
    kind: AgentKind, folder: Path
) -> None:
    script = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN);"
        "os.execvp(sys.argv[1], sys.argv[1:])"
    )
    ignoring = (sys.executable, "-c", script, *kind.command)
    with Talk(kind, folder, command=ignoring) as talk:
        talk.open()

        assert "hi" in talk.turn(kind.shell("echo hi")).text


def test_x06_no_signal_shows_a_traceback_once_our_code_runs(kind: AgentKind, folder: Path) -> None:
    # Before, it is the interpreter's: SIGHUP is only caught by us.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Talk(kind, folder) as talk:
            wait_until_caught(talk.pid, signal.SIGHUP)
            talk.process.send_signal(number)

            assert talk.exit_code() == 128 + number


def test_what_was_asked_before_the_end_of_input_is_answered(kind: AgentKind, folder: Path) -> None:
    for _ in range(10):
        with Talk(kind, folder) as talk:
            asked = [
                talk.request("initialize", {"protocolVersion": 1}),
                talk.request("session/new", {"cwd": str(folder), "mcpServers": []}),
            ]
            talk.end_input()

            assert [message["id"] for message in talk.drain() if "id" in message] == asked
            assert talk.exit_code() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_x04_a_signal_right_after_the_handshake(talk: Talk, number: signal.Signals) -> None:
    talk.initialize()
    talk.process.send_signal(number)

    assert talk.exit_code() == 128 + number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_x05_x06_a_signal_to_the_whole_tree_ends_it_all_the_same(
    kind: AgentKind, folder: Path, number: signal.Signals
) -> None:
    """As Ctrl-C at a terminal, and acpx, which signals each process that it finds below."""
    with Talk(kind, folder, command=("/usr/bin/env", "setsid", *kind.command)) as talk:
        talk.open()
        talk.start_shell("echo ready; exec sleep 600")
        tree = talk.alive()
        assert len(tree) > (1 if kind.name == "echo" else 2)
        os.killpg(talk.pid, number)
        for pid in tree - {talk.pid}:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

        assert talk.exit_code() == 128 + number
        assert talk.wait_for_no_one() == set()
        assert talk.stderr() == ""


def test_b110_a_second_signal_skips_the_grace(talk: Talk) -> None:
    # The grace is the default, seconds; the clean-up below would take minutes.
    talk.open()
    talk.start_shell(IGNORES_TERM)
    talk.process.send_signal(signal.SIGTERM)
    talk.process.send_signal(signal.SIGINT)

    # Of two at once either may be seen first.
    assert talk.exit_code() in {143, 130}
    assert talk.alive() == set()


def test_x03_the_end_of_input_lets_a_run_clean_up(chant: Talk) -> None:
    chant.open()
    chant.prompt(run_op("undo", "echo ready; sleep 600"))
    chant.until_text("ready")
    chant.end_input()

    assert chant.exit_code() == 0
    assert (chant.folder / "undone").exists()
    assert not (chant.folder / "never").exists()
    assert chant.alive() == set()


def test_b110_sigterm_during_the_clean_up_lets_it_end(chant: Talk) -> None:
    undo = (chant.folder / "ops" / "undo.op.toml").read_text(encoding="utf-8")
    slow = undo.replace("echo undone", "mkfifo go; echo cleaning; read x < go; echo undone")
    (chant.folder / "ops" / "undo.op.toml").write_text(slow, encoding="utf-8")
    chant.open()
    chant.prompt(run_op("undo", "echo ready; sleep 600"))
    chant.until_text("ready")
    chant.cancel()
    chant.until_text("cleaning")
    chant.process.send_signal(signal.SIGTERM)
    (chant.folder / "go").write_text("now\n", encoding="utf-8")

    assert chant.exit_code() == 143
    assert (chant.folder / "undone").exists()


def test_x10_stderr_closed_does_no_harm(kind: AgentKind, folder: Path) -> None:
    closed = ("/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *kind.command)
    with Talk(kind, folder, command=closed) as talk:
        talk.open()
        talk.turn(kind.wrong)
        assert "hi" in talk.turn(kind.shell("echo hi; echo ho >&2")).text
        talk.end_input()

        assert talk.exit_code() == 0


SAYS_MUCH = {**os.environ, "CHANTRY_LOG": "DEBUG"}
"""An environment in which each actor tells on stderr what it does."""


@contextmanager
def a_full_pipe() -> Generator[int]:
    """Make a pipe that takes nothing more, and that nobody reads; hand out its writing end."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writer, True)
    try:
        yield writer
    finally:
        os.close(writer)
        os.close(reader)


@pytest.mark.parametrize("ending", ["end", "TERM"])
def test_x10_stderr_full_does_no_harm(kind: AgentKind, folder: Path, ending: str) -> None:
    with a_full_pipe() as full, Talk(kind, folder, stderr=full, env=SAYS_MUCH) as talk:
        talk.open()
        for _ in range(3):
            talk.turn(kind.wrong)
        assert "hi" in talk.turn(kind.shell("echo hi")).text
        ENDINGS[ending].do(talk)

        assert talk.exit_code() == ENDINGS[ending].code
    with Talk(kind, folder, env=SAYS_MUCH) as talk:
        talk.crashes = True  # the echo agent's machine raises
        talk.open()
        talk.turn(kind.wrong)
        assert talk.stderr().count("started") > 5, "else the pipe above was never in the way"


FLAGS = [["--no-such-flag"], ["--grace", "soon", "--log-level"], ["nonsense"]]
SERVING = pytest.mark.parametrize("kind", [CHANT, RADIAN], ids=lambda kind: kind.name)


@SERVING
@pytest.mark.parametrize("words", FLAGS, ids=" ".join)
def test_x11_a_wrong_flag_is_one_message_on_stderr_and_a_code(
    kind: AgentKind, tmp_path: Path, words: list[str]
) -> None:
    with Talk(kind, tmp_path, command=(*kind.command, *words)) as talk:
        assert talk.exit_code() == 2
        assert talk.drain() == []
        assert talk.raw == 0
        assert f"{kind.name} acp: " in talk.stderr()


@SERVING
@pytest.mark.parametrize("words", [*FLAGS, ["--grace", "soon"]], ids=" ".join)
def test_x10_x11_a_wrong_flag_ends_it_where_stderr_takes_nothing(
    kind: AgentKind, tmp_path: Path, words: list[str]
) -> None:
    """Usage once went to a stdout that was open, and the process waited for room in a full pipe."""
    command = (*kind.command, *words)
    closed = ("/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *command)
    with Talk(kind, tmp_path, command=closed) as talk:
        assert talk.exit_code() == 2
        assert (talk.drain(), talk.raw) == ([], 0)
    with a_full_pipe() as full, Talk(kind, tmp_path, command=command, stderr=full) as talk:
        assert talk.exit_code() == 2
        assert (talk.drain(), talk.raw) == ([], 0)


def test_x10_a_stderr_that_nobody_reads_any_more(kind: AgentKind, folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with Talk(kind, folder, stderr=writer) as talk:
        os.close(writer)
        talk.open()
        talk.turn(kind.wrong)
        assert "hi" in talk.turn(kind.shell("echo hi")).text
        talk.end_input()

        assert talk.exit_code() == 0


@pytest.mark.needs("shows_all")
def test_x08_f21_a_slow_reader_loses_nothing(talk: Talk) -> None:
    talk.open()
    count = 20_000
    if talk.kind.name == "echo":
        request_id = talk.prompt(f"stream {count} 200")
        wanted = "".join(f"{number:08d}".ljust(200, "x") for number in range(count))
    else:
        request_id = talk.prompt(talk.kind.shell(f"seq 1 {count}"))
        wanted = "".join(f"{number}\n" for number in range(1, count + 1))
    if talk.kind.name == "echo":
        talk.wait_until_stalled()

    turn = talk.finish(request_id)

    assert wanted in turn.text


@pytest.mark.needs("shows_all")
def test_x08_f21_a_stalled_client_stalls_the_child_and_nothing_is_lost(talk: Talk) -> None:
    talk.open()
    count = 700_000  # more than pipes and gate hold
    request_id = talk.prompt(talk.kind.shell(f"seq 1 {count}; touch ended"))
    talk.wait_until_stalled()
    assert not (talk.folder / "ended").exists()

    turn = talk.finish(request_id)

    assert turn.stop_reason == "end_turn"
    assert "".join(f"{number}\n" for number in range(1, count + 1)) in turn.text
    assert (talk.folder / "ended").exists()
