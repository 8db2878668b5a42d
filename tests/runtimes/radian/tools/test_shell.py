"""`shell` and `job` with real programs, in a real sandbox where there is one."""

from __future__ import annotations

import os
import re
import resource
from typing import TYPE_CHECKING

import pytest

from actors.faults import NoFaults
from runtimes.radian.permissions import Allow, Ask, Deny
from runtimes.radian.tools import full_output
from runtimes.radian.tools.base import ToolOutcome
from runtimes.radian.tools.full_output import MAX_RESULT_BYTES
from runtimes.radian.tools.job import JobTool
from runtimes.radian.tools.sandbox import NoSandbox, Sandboxes
from runtimes.radian.tools.shell import Shell
from tests.runtimes.radian.tools.bench import Bench, FullDisk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runtimes.radian.tools.sandbox import SandboxKind

KINDS: tuple[SandboxKind, ...] = ("bubblewrap", "landlock")


@pytest.fixture
def free(tmp_path: Path) -> Iterator[Bench]:
    """Make a bench whose commands run without a sandbox."""
    made = Bench(tmp_path, "full")
    yield made
    made.close()


@pytest.fixture(params=KINDS)
def boxed(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Make a bench with each kind of sandbox that works here."""
    sandboxes = Sandboxes(NoFaults(), kinds=(request.param,))
    if isinstance(found := sandboxes.found(), NoSandbox):
        pytest.skip(found.reason)
    made = Bench(tmp_path, sandboxes=sandboxes)
    yield made
    made.close()


def _lives(mark: str) -> bool:
    """Tell whether a process has ``mark`` among its arguments."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if mark.encode() in file.read().split(b"\0"):
                    return True
        except OSError:
            continue
    return False


def test_a_command_prints_in_order_and_its_code_is_told(free: Bench) -> None:
    outcome = free.call(Shell(), command="echo one; echo two >&2; echo three; exit 3")

    assert outcome == ToolOutcome(
        "one\ntwo\nthree\n\n[exit code 3]", failed=True, reason="exit code 3"
    )
    assert free.call(Shell(), command="true").output == "[no output]"


@pytest.mark.parametrize(
    "command",
    [
        "sleep 300 & echo done",
        "(while :; do echo x; sleep 1; done) & echo done",
        "setsid sleep 300 & echo done",
    ],
)
def test_the_result_follows_the_commands_own_exit(free: Bench, command: str) -> None:
    outcome = free.call(Shell(), command=command)

    assert not outcome.failed
    assert "done" in outcome.output


def test_a_timeout_ends_the_whole_tree(boxed: Bench) -> None:
    command = "sh -c 'sh -c \"sleep 300.0417; :\"; :'"
    outcome = boxed.call(Shell(), command=command, timeout_ms=500)

    assert (outcome.failed, outcome.reason) == (True, "killed after 500 ms")
    assert not _lives("300.0417")


def test_a_cancel_ends_the_whole_tree(boxed: Bench) -> None:
    prepared = boxed.prepare(Shell(), command="echo ready; sh -c 'sleep 300.0418; :'; :")
    running = boxed.begin(Shell(), prepared)
    running.wait(lambda: "ready" in running.heard)
    running.handle.abort("cancelled")

    assert running.outcome().reason == "cancelled"
    assert not _lives("300.0418")


def test_endless_output_is_bounded_and_all_of_it_is_in_a_file(free: Bench) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    outcome = free.call(Shell(), command="yes | head -c 30000000; echo the end; exit 3")

    assert outcome.reason == "exit code 3"
    assert len(outcome.output) < 40_000
    assert "the end" in outcome.output
    assert outcome.full_output_file is not None
    left_out, where = left_out_of(outcome.output)
    assert left_out == 30_000_008 - MAX_RESULT_BYTES
    assert where == f"all of it is in {outcome.full_output_file}"
    assert os.path.getsize(outcome.full_output_file) == 30_000_008
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_what_found_no_room_in_the_file_is_not_said_to_be_there(
    free: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_output, "MAX_FILE_BYTES", 100_000)

    outcome = free.call(Shell(), command="yes | head -c 700000")

    assert outcome.full_output_file is not None
    assert os.path.getsize(outcome.full_output_file) == 100_000
    left_out, where = left_out_of(outcome.output)
    assert left_out == 700_000 - MAX_RESULT_BYTES
    assert where == f"its first 100000 are in {outcome.full_output_file}"


def left_out_of(output: str) -> tuple[int, str]:
    """Return what the one note in an output says."""
    ((count, where),) = re.findall(r"\[\.\.\. (\d+) bytes left out; (.*) \.\.\.\]", output)
    return int(count), where


def test_a_disk_that_fails_costs_the_file_only(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "full", faults=FullDisk("output.keep"))

    outcome = bench.call(Shell(), command="yes | head -c 100000")

    assert (outcome.failed, outcome.full_output_file) == (False, None)
    bench.close()


@pytest.mark.parametrize("command", ["cat", "python3 -c 'input()'", "sh -c 'cat < /dev/tty'"])
def test_a_command_has_no_input_and_no_terminal(boxed: Bench, command: str) -> None:
    boxed.call(Shell(), command=command, timeout_ms=20_000)

    assert boxed.call(Shell(), command="cat").output == "[no output]"


def test_bytes_that_are_no_text_are_marked(free: Bench) -> None:
    outcome = free.call(Shell(), command="printf '\\377\\376\\200ok\\000\\033[31m'")

    assert outcome.output == "\ufffd\ufffd\ufffdok\0\x1b[31m"
    assert not outcome.failed


def test_a_sandboxed_command_writes_the_workspace_and_nothing_else(boxed: Bench) -> None:
    outcome = boxed.call(
        Shell(),
        command=f"echo a > new; mkdir d; echo b > d/x; echo c > $TMPDIR/t || echo c > /tmp/t;"
        f" echo d > {boxed.home}/outside; echo e > /etc/outside; cat new d/x",
    )

    assert outcome.output.splitlines()[-2:] == ["a", "b"]
    assert not (boxed.home / "outside").exists()
    assert not os.path.exists("/etc/outside")
    assert (boxed.workspace / "d/x").read_text() == "b\n"


def test_a_sandboxed_command_sees_no_secret_and_no_network(boxed: Bench) -> None:
    (boxed.home / ".ssh").mkdir()
    (boxed.home / ".ssh/id").write_text("the key")
    (boxed.home / ".netrc").write_text("the password")
    connect = "import socket; socket.create_connection(('127.0.0.1', 22), 2)"

    seen = boxed.call(Shell(), command=f"cat {boxed.home}/.ssh/id {boxed.home}/.netrc; ls /tmp")
    network = boxed.call(Shell(), command=f'python3 -c "{connect}" || cat /proc/net/dev')

    assert "the key" not in seen.output
    assert "the password" not in seen.output
    assert "Error" in network.output
    assert "eth0" not in network.output


def test_a_sandboxed_command_has_no_power_of_root_to_undo_the_sandbox(boxed: Bench) -> None:
    (boxed.home / ".netrc").write_text("the password")
    boxed.write(".git/config", "[core]\n")
    undo = (
        f"umount -l {boxed.home}/.netrc; cat {boxed.home}/.netrc; mount -o remount,bind,rw /;"
        " touch /etc/outside; mknod disk b 8 0; chroot / true && echo rooted;"
        " grep -c '^Cap.*:.*[1-9a-f]' /proc/self/status"
    )

    outcome = boxed.call(Shell(), command=undo)

    assert outcome.output.splitlines()[-3:] == ["0", "", "[exit code 1]"]
    assert "the password" not in outcome.output
    assert "rooted" not in outcome.output
    assert not os.path.exists("/etc/outside")
    assert not (boxed.workspace / "disk").exists()


def test_bubblewrap_keeps_git_as_it_is(tmp_path: Path) -> None:
    sandboxes = Sandboxes(NoFaults(), kinds=("bubblewrap",))
    if isinstance(found := sandboxes.found(), NoSandbox):
        pytest.skip(found.reason)
    bench = Bench(tmp_path, sandboxes=sandboxes)
    bench.write(".git/config", "[core]\n")

    outcome = bench.call(Shell(), command="echo x > .git/hooks; echo y >> .git/config; ls .git")

    assert "Read-only file system" in outcome.output
    assert (bench.workspace / ".git/config").read_text() == "[core]\n"
    assert os.listdir(bench.workspace / ".git") == ["config"]
    bench.close()


def test_the_profile_read_only_writes_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "read-only")
    if isinstance(found := bench.context.sandboxes.found(), NoSandbox):
        pytest.skip(found.reason)
    bench.write("a", "hi")

    assert bench.call(Shell(), command="cat a; echo x > b").failed
    assert os.listdir(bench.workspace) == ["a"]
    bench.close()


def test_without_a_sandbox_every_command_is_asked_for_and_says_why(tmp_path: Path) -> None:
    sandboxes = Sandboxes(NoFaults(), kinds=("bubblewrap",), bubblewrap="/bin/false")
    bench = Bench(tmp_path, sandboxes=sandboxes)

    decision = bench.decide(bench.prepare(Shell(), command="ls"))

    assert isinstance(decision, Ask)
    assert decision.reason == "no sandbox works here: bubblewrap: exit code 1"
    bench.close()


def test_a_command_out_of_the_sandbox_needs_a_reason_and_a_person(bench: Bench) -> None:
    refused = bench.try_to_prepare(Shell(), command="git push", unsandboxed=True)
    assert isinstance(refused, ToolOutcome)
    assert "needs a reason" in refused.output

    prepared = bench.prepare(Shell(), command="git push", unsandboxed=True, reason="network")
    decision = bench.decide(prepared)
    assert isinstance(decision, Ask)
    assert decision.reason == "network"
    assert decision.grant is not None
    assert decision.grant.covers == "exactly this command without a sandbox"


def test_a_command_elsewhere_is_refused(bench: Bench) -> None:
    outcome = bench.try_to_prepare(Shell(), command="ls", cwd="/etc")

    assert isinstance(outcome, ToolOutcome)
    assert "is not in the workspace" in outcome.output


def test_a_job_outlives_its_call_and_its_end_is_told(free: Bench) -> None:
    started = free.call(Shell(), command="echo hello; exit 4", background=True)
    job = free.wait_ended()

    assert started.output.startswith("job-1 runs; its output goes to ")
    assert (job.job_id, job.state, job.exit_code) == ("job-1", "exited", 4)
    assert free.call(JobTool(), action="output", job_id="job-1").output == (
        "job-1: exited 4: echo hello; exit 4\nhello"
    )


def test_a_stopped_job_is_killed_and_never_a_success(free: Bench) -> None:
    free.call(Shell(), command="sleep 300.0419", background=True)
    assert free.call(JobTool(), action="list").output == "job-1: running: sleep 300.0419"

    stopped = free.call(JobTool(), action="stop", job_id="job-1")

    assert stopped.output == "job-1: killed: sleep 300.0419\n[no output]"
    assert not _lives("300.0419")
    assert free.wait_ended().state == "killed"


def test_an_unknown_job_is_named(free: Bench) -> None:
    outcome = free.try_to_prepare(JobTool(), action="stop", job_id="job-7")

    assert isinstance(outcome, ToolOutcome)
    assert outcome.output == "there is no job 'job-7'; known are none"


def test_a_background_job_is_judged_as_a_command(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    if isinstance(found := bench.context.sandboxes.found(), NoSandbox):
        pytest.skip(found.reason)

    assert isinstance(
        bench.decide(bench.prepare(Shell(), command="sleep 1", background=True)), Allow
    )
    bench.close()


def test_read_only_has_no_jobs(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "read-only")

    assert isinstance(
        bench.decide(bench.prepare(Shell(), command="sleep 1", background=True)), Deny
    )
    bench.close()
