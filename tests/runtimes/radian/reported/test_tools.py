"""Permissions and tools: what users of other agents reported, tried on both surfaces."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.radian.acp.client import Client, call
from tests.runtimes.radian.box import Box, objects
from tests.runtimes.radian.exit_rows import until
from tests.runtimes.radian.reported.processes import ended, long_sleep, none_left

if TYPE_CHECKING:
    from tests.e2e.referee import Message

OUTSIDE = call("shell", command="echo out >> log", unsandboxed=True, reason="to see")
FULL = ("--profile", "full")
JSONL = ("--output", "jsonl", "--session-id", "s1")


# --- B036


def test_always_holds_in_the_next_turn_and_is_written_nowhere(box: Box) -> None:
    use: dict[str, Any] = {"tool_calls": [OUTSIDE]}
    box.play(*[use, use, {"text": "Done."}] * 2)
    config = (box.home / "config.toml").read_bytes()
    with Client(box) as client:
        session = client.open()
        running = client.prompt("go")
        client.choose(client.question(), "allow_always")
        assert client.finish(running).stop_reason == "end_turn"
        # The next turn is not asked for: its messages hold no question.
        again = client.turn("again")
        assert again.stop_reason == "end_turn"
        assert [each for each in again.messages if "id" in each and "method" in each] == []
    assert (box.workspace / "log").read_text() == "out\n" * 4
    box.play({"tool_calls": [OUTSIDE]}, {"text": "Done."})
    with Client(box) as client:
        client.load(session)
        running = client.prompt("once more")
        client.choose(client.question(), "reject_once")
        assert client.finish(running).stop_reason == "end_turn"
    assert (box.workspace / "log").read_text() == "out\n" * 4
    assert (box.home / "config.toml").read_bytes() == config
    assert sorted(os.listdir(box.home)) == ["config.toml", "sessions", "trust.json", "turns.json"]


# --- B038


@pytest.mark.parametrize("last_words", ["I could not.", ""])
def test_what_nobody_can_allow_is_denied_and_seen_by_whoever_reads(
    box: Box, last_words: str
) -> None:
    box.play({"tool_calls": [OUTSIDE]}, {"text": last_words}, then="repeat-last")

    text = box.run("exec", "-p", "write it")
    shown = box.run("exec", "-p", "write it", "--output", "json")

    assert "denied: shell needs a person's consent" in text.stderr
    # The turn itself is complete; what was denied stands on stderr and in the result.
    assert (text.returncode, shown.returncode) == (0, 0)
    (denial,) = json.loads(shown.stdout)["permission_denials"]
    assert "--yes" in denial["reason"]
    assert not (box.workspace / "log").exists()


# --- B040


def ends_of_calls(messages: list[Message]) -> dict[str, list[str]]:
    """Return the statuses that each call came to, in order."""
    begun: dict[str, list[str]] = {}
    for message in messages:
        update = message["params"]["update"]
        if update["sessionUpdate"] == "tool_call":
            assert update["title"]
            assert "rawInput" in update
            begun[update["toolCallId"]] = []
        if update["sessionUpdate"].startswith("tool_call") and update.get("status") in {
            "completed",
            "failed",
        }:
            begun[update["toolCallId"]].append(update["status"])
    return begun


@pytest.mark.parametrize(
    ("calls", "statuses", "stop_reason"),
    [
        ([call("shell", command="true")], ["completed"], "end_turn"),
        ([call("shell", command="exit 3")], ["failed"], "end_turn"),
        ([call("read", path="gone")], ["failed"], "end_turn"),
        ([call("dance")], ["failed"], "end_turn"),
        ([call("read", wrong=1)], ["failed"], "end_turn"),
        ([call("write", path="/elsewhere", content="x")], ["failed"], "end_turn"),
        ([call("shell", command="sleep 60", timeout_ms=200)], ["failed"], "end_turn"),
        (
            [call("glob", pattern="*"), call("read", path="gone")],
            ["completed", "failed"],
            "end_turn",
        ),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_each_call_is_closed_once_with_how_it_went(
    box: Box, calls: list[dict[str, Any]], statuses: list[str], stop_reason: str
) -> None:
    box.play({"tool_calls": calls}, {"text": "Ok."})
    with Client(box, *FULL) as client:
        client.open()
        turn = client.turn("go")

    assert turn.stop_reason == stop_reason
    # Calls that only read run side by side: either may be told of first.
    ends = sorted(ends_of_calls(turn.messages).values())
    assert ends == sorted([status] for status in statuses)


def test_calls_that_a_cancel_found_running_or_waiting_are_closed_as_failed(box: Box) -> None:
    running_call = call("shell", command="echo ready; sleep 60")
    box.play({"tool_calls": [running_call, call("shell", command="touch never")]})
    with Client(box, *FULL) as client:
        client.open()
        running = client.prompt("go")
        before = client.until(lambda message: "ready" in json.dumps(message))
        client.cancel()
        turn = client.finish(running)

    assert turn.stop_reason == "cancelled"
    shown = [each for each in before if "update" in each.get("params", {})]
    assert set(map(tuple, ends_of_calls(shown + turn.messages).values())) == {("failed",)}
    assert not (box.workspace / "never").exists()


def test_a_model_that_fails_after_a_call_leaves_no_call_open(box: Box) -> None:
    box.play({"tool_calls": [call("shell", command="true")]}, {"error": {"status": 400}})
    with Client(box, *FULL) as client:
        client.open()
        turn = client.turn("go")

    assert turn.stop_reason == "refusal"
    assert list(ends_of_calls(turn.messages).values()) == [["completed"]]


# --- B041, B043


@pytest.mark.parametrize(
    "command",
    [
        "sleep {} & echo done",
        "(while :; do echo x; sleep {}; done) & echo done",
        "setsid sleep {} & echo done",
        "nohup setsid sh -c 'sleep {}; :' > /dev/null 2>&1 < /dev/null & echo done",
    ],
)
def test_what_a_command_leaves_behind_is_gone_with_the_process(box: Box, command: str) -> None:
    mark = long_sleep()
    box.play({"tool_calls": [call("shell", command=command.format(mark))]}, {"text": "Ok."})

    run = box.run("exec", "-p", "go", *JSONL, *FULL)

    (result,) = [each for each in objects(run.stdout) if each["type"] == "ToolResult"]
    assert (run.returncode, result["status"]) == (0, "completed")
    assert "done" in result["output"]
    assert none_left(mark)


@pytest.mark.parametrize("flags", [(), FULL])
def test_a_timeout_and_an_interrupt_end_all_that_a_command_started(
    box: Box, flags: tuple[str, ...]
) -> None:
    first, second = long_sleep(), long_sleep()
    nested = "sh -c 'sh -c \"sleep {}; :\"; :'"
    box.play(
        {"tool_calls": [call("shell", command=nested.format(first), timeout_ms=300)]},
        {"tool_calls": [call("shell", command="echo ready; " + nested.format(second))]},
    )

    with box.start("exec", "-p", "go", *JSONL, *flags) as process:
        until(process, "ToolResult")
        until(process, "ToolOutput")
        process.send_signal(signal.SIGINT)
        code, _, _ = ended(process)

    assert code == 130
    assert none_left(first)
    assert none_left(second)


# --- B044


def peak_rss_kib(pid: int) -> int:
    """Return the most that the process has had; 0: it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found[1]) if found else 0


def test_half_a_gigabyte_of_output_is_drained_and_costs_little_memory(box: Box) -> None:
    flood = call("shell", command="yes | head -c 500000000; exit 3")
    for_ever = call("shell", command="yes", timeout_ms=1000)
    box.play({"tool_calls": [flood]}, {"tool_calls": [for_ever]}, {"text": "Ok."})

    with box.start("exec", "-p", "go", *JSONL, *FULL) as process:
        assert process.stdout is not None
        peak_kib = 0
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            # Not `ru_maxrss`: that begins with what we have ourselves, at the fork.
            peak_kib = max(peak_kib, peak_rss_kib(process.pid))

    stdout = "".join(lines)
    results = [each for each in objects(stdout) if each["type"] == "ToolResult"]
    assert [each["reason"] for each in results] == ["exit code 3", "killed after 1000 ms"]
    assert 0 < peak_kib < 120_000  # about 45,000 without a flood; 100 MB more are too much
    journal = box.home / "sessions" / "s1.jsonl"
    assert journal.stat().st_size < 200_000


# --- B046


def test_a_command_can_not_eat_what_the_client_sends(box: Box) -> None:
    commands = ("cat", "python3 -c 'input()'", "sh -c 'cat < /dev/tty'", "read x; echo $x")
    box.play({"tool_calls": [call("shell", command=each) for each in commands]}, {"text": "Ok."})
    with Client(box, *FULL) as client:
        client.open()
        running = client.prompt("go")
        asked = client.request("session/dance", {})
        answers = client.answers_to(running, asked)

    assert answers[asked]["error"]["code"] == -32601
    assert answers[running]["result"]["stopReason"] == "end_turn"


# --- B048


def test_output_that_is_no_text_is_marked_and_kept(box: Box) -> None:
    command = "printf '\\377\\376\\200ok\\000\\033[31m'"
    box.play({"tool_calls": [call("shell", command=command)]}, {"text": "Ok."})
    with Client(box, *FULL) as client:
        session = client.open()
        turn = client.turn("go")

    assert turn.stop_reason == "end_turn"
    (result,) = [each for each in box.journal(session) if each["type"] == "ToolResult"]
    assert result["output"] == "\ufffd\ufffd\ufffdok\0\x1b[31m"
    assert list(ends_of_calls(turn.messages).values()) == [["completed"]]
