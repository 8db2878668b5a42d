"""Journals and resumed sessions: what users of other agents reported, through `radian exec`."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.judges.far import KEY
from tests.judges.formats import calls_and_outputs, conversation_of
from tests.runtimes.models.servers import GOOD, model_server, status, stream
from tests.runtimes.radian.box import Box, objects
from tests.runtimes.radian.exit_rows import SLOW, one_session, until
from tests.runtimes.radian.reported.processes import ended, long_sleep, none_left
from tests.runtimes.radian.reported.test_wire import said_by_anthropic

if TYPE_CHECKING:
    import socket

    from tests.runtimes.models.servers import ModelServer, Peer

JSONL = ("--output", "jsonl", "--session-id", "s1")
FULL = ("--profile", "full")
RESUME = ("exec", "-p", "and now?", "--resume", "s1", "--output", "jsonl")


def shell(command: str) -> dict[str, Any]:
    return {"tool_calls": [{"name": "shell", "input": {"command": command}}]}


# --- B074


@pytest.mark.parametrize("left", [1, 40, -2, -1], ids=["one byte", "40", "all but two", "newline"])
def test_a_torn_last_line_costs_that_line_and_one_warning(box: Box, left: int) -> None:
    one_session(box)
    path = box.home / "sessions" / "s1.jsonl"
    whole, last = path.read_bytes()[:-1].rsplit(b"\n", 1)
    path.write_bytes(whole + b"\n" + (last + b"\n")[:left])

    first = box.run(*RESUME)
    second = box.run(*RESUME)

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    warnings = [each for each in objects(first.stdout) if each["type"] == "Warning"]
    assert len(warnings) == 1
    assert "s1.jsonl" in warnings[0]["message"]
    assert [each for each in objects(second.stdout) if each["type"] == "Warning"] == []
    assert objects(second.stdout)[-1]["turn"] == 3
    records = box.journal("s1")
    numbers = [each["seq"] for each in records]
    assert numbers == sorted(set(numbers))
    assert [each["turn"] for each in records if each["type"] == "TurnStarted"] == [1, 2, 3]


# --- B076


def test_of_two_processes_that_resume_at_once_one_is_told_to_wait(box: Box) -> None:
    one_session(box)
    box.play(SLOW, then="repeat-last")

    with box.start(*RESUME) as first, box.start(*RESUME) as second:
        # The one that has the session streams; the other one ends by itself.
        done = {first.pid: first, second.pid: second}
        loser = _first_to_end(first, second)
        winner = next(each for pid, each in done.items() if pid != loser.pid)
        code, stdout, stderr = ended(loser)
        until(winner, "Text")
        winner.send_signal(signal.SIGINT)
        kept, _, _ = ended(winner)

    assert (code, stdout, kept) == (10, "", 130)
    assert "session s1 is in use" in stderr
    turns = [each["turn"] for each in box.journal("s1") if each["type"] == "TurnStarted"]
    assert turns == [1, 2]


def _first_to_end(*processes: Any) -> Any:
    """Return the process of two that ended first, by waiting for either."""
    import os
    import select

    poll = select.poll()
    pins = {os.pidfd_open(each.pid): each for each in processes}
    for pin in pins:
        poll.register(pin, select.POLLIN)
    ((pin, _), *_) = poll.poll(60_000)
    for each in pins:
        os.close(each)
    return pins[pin]


# --- B078


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("where", ["text", "tool"])
def test_a_polite_kill_keeps_what_there_was(box: Box, number: signal.Signals, where: str) -> None:
    mark = long_sleep()
    box.play(SLOW if where == "text" else shell(f"echo ready; sleep {mark}"))

    with box.start("exec", "-p", "remember me", *JSONL, *FULL) as process:
        until(process, "Text" if where == "text" else "ToolOutput")
        process.send_signal(number)
        code, _, _ = ended(process)

    assert code == 143
    assert none_left(mark)
    records = box.journal("s1")
    assert next(each for each in records if each["type"] == "UserMessage")["content"] == [
        {"type": "text", "text": "remember me"}
    ]
    answer = next(each for each in records if each["type"] == "AssistantMessage")
    assert answer["parts"]
    assert (records[-1]["type"], records[-1]["end"]) == ("TurnEnded", "Interrupted")
    box.play({"text": "On we go."})
    assert box.run(*RESUME).returncode == 0


# --- B080


def strict(kind: str, answer: Peer) -> Peer:
    """Return a script that refuses a conversation in which a call has no result."""

    def play(sock: socket.socket, server: ModelServer) -> None:
        calls, outputs = calls_and_outputs(conversation_of(kind, server.requests[-1].body))
        good = bool(calls) and list(calls) == list(outputs)
        refusal = status(400, {"error": {"message": f"unpaired: {calls} {outputs}"}})
        (answer if good else refusal)(sock, server)

    return play


@pytest.mark.parametrize(
    ("kind", "answer"),
    [("openai-compatible", GOOD), ("anthropic", stream(said_by_anthropic("hello")))],
)
def test_after_a_kill_in_a_tool_the_next_request_pairs_every_call(
    box: Box, kind: str, answer: Peer
) -> None:
    mark = long_sleep()
    calls = [
        {"name": "glob", "input": {"pattern": "*"}},
        {"name": "shell", "input": {"command": f"echo ready; sleep {mark}"}},
        {"name": "shell", "input": {"command": "true"}},
    ]
    box.play({"tool_calls": calls})
    with box.start("exec", "-p", "go", *JSONL, *FULL) as process:
        until(process, "ToolOutput")
        process.kill()
        ended(process)
    assert none_left(mark)

    with model_server(strict(kind, answer)) as server:
        box.configure(
            f'\n[providers.far]\nkind = "{kind}"\nbase_url = "{server.url}"\ndefault_model = "m"\n'
        )
        box.run("login", "far", stdin=KEY)
        run = box.run(*RESUME, "--provider", "far")
        sent = json.dumps(server.requests[0].body)

    assert (run.returncode, objects(run.stdout)[-1]["text"]) == (0, "hello"), run.stdout
    assert sent.count("interrupted") >= 2
    assert len(server.requests) == 1


# --- B082


def test_records_of_other_versions_are_passed_over_with_a_warning(box: Box) -> None:
    one_session(box)
    path = box.home / "sessions" / "s1.jsonl"
    *before, last = path.read_text().splitlines()
    odd = [
        '{"v":1,"seq":70,"ts":"2026-11-30T10:00:00.000Z","type":"Sang","song":"la"}',
        '{"v":1,"ts":"2026-11-30T10:00:00.000Z","type":"JobStarted","job_id":"j","command":"x"}',
        json.dumps({**json.loads(last), "mood": "good"}),
    ]
    path.write_text("\n".join([*before, *odd, ""]))

    run = box.run(*RESUME)

    said = objects(run.stdout)
    assert (run.returncode, said[-1]["turn"]) == (0, 2), run.stderr
    warned = " ".join(each["message"] for each in said if each["type"] == "Warning")
    assert "Sang" in warned
    added = [each["seq"] for each in box.journal("s1")[len(before) + len(odd) :]]
    assert added == list(range(71, 71 + len(added)))


def test_a_newer_format_is_refused_and_nothing_is_written(box: Box) -> None:
    one_session(box)
    path = box.home / "sessions" / "s1.jsonl"
    path.write_text(path.read_text().replace('"v":1', '"v":2'))
    before = path.read_bytes()

    run = box.run(*RESUME)

    assert (run.returncode, run.stdout) == (10, "")
    assert "newer" in run.stderr
    assert path.read_bytes() == before
