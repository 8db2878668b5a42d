"""Gates over the protocol, by bytes: told, asked, answered later, refused.

B032, B034, B095, B097, B099, B101 and rows R01 to R08.  Every refusal is followed by a look at the
ledger's ref: it must not have moved.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.agents import CHANT
from tests.e2e.talk import Talk, Turn
from tests.e2e.wire import line
from tests.runtimes.chant.test_approve import GATED
from tests.scripts import script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Make = Callable[..., Talk]

RUN = "chant run gated"
APPROVE = "chant approve gated window --approver me"
ASK = "session/request_permission"


@pytest.fixture
def box(tmp_path: Path) -> Path:
    CHANT.prepare(tmp_path)
    (tmp_path / "ops" / "gated.op.toml").write_text(GATED)
    return tmp_path


@pytest.fixture
def make(box: Path) -> Iterator[Make]:
    """Start an agent on the project with flags; all of them are ended with the test."""
    talks: list[Talk] = []

    def started(*flags: str, **env: str) -> Talk:
        kind = replace(CHANT, command=(*CHANT.command, *flags))
        talk = Talk(kind, box, env={**os.environ, **env}).__enter__()
        talks.append(talk)
        talk.open()
        return talk

    yield started
    for talk in talks:
        talk.__exit__(None, None, None)


def tip(folder: Path) -> str:
    words = ["git", "-C", str(folder), "for-each-ref", "refs/heads/chant/lifecycle"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def facts(folder: Path) -> list[dict[str, Any]]:
    words = ["git", "-C", str(folder), "show", "chant/lifecycle:_gates/gated.jsonl"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return [json.loads(row) for row in text.splitlines()]


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().split()


def requests(turn: Turn) -> list[dict[str, Any]]:
    return [message for message in turn.messages if message.get("method") == ASK]


def updates(turn: Turn, kind: str) -> list[dict[str, Any]]:
    told = [each for each in turn.messages if each.get("method") == "session/update"]
    found = [each["params"]["update"] for each in told]
    return [update for update in found if update["sessionUpdate"] == kind]


def meta(turn: Turn) -> dict[str, Any]:
    chant: dict[str, Any] = turn.answer["result"]["_meta"]["chant"]
    return chant


def stopped(talk: Talk) -> dict[str, Any]:
    """Run to the gate under --durable-requests; return the request."""
    turn = talk.turn(RUN)
    (request,) = requests(turn)
    return request


def reply(talk: Talk, permission: object, session: str | None = None, words: str = "go on") -> Turn:
    params = {
        "sessionId": session or talk.session,
        "prompt": [{"type": "text", "text": words}],
        "_meta": {"chant": {"permission": permission}},
    }
    return talk.finish(talk.request("session/prompt", params))


def option(request: dict[str, Any], option_id: str) -> dict[str, Any]:
    return {"requestId": request["params"]["_meta"]["chant"]["requestId"], "optionId": option_id}


def test_b095_a_closed_gate_is_a_normal_end_of_turn(make: Make, box: Path) -> None:
    turn = make().turn(RUN)

    assert turn.stop_reason == "end_turn"
    assert "\nchant approve gated window --approver <you>\n" in turn.text
    assert requests(turn) == []
    assert (meta(turn)["status"], meta(turn)["exitCode"]) == ("gated", 3)
    assert log(box) == ["one"]
    last = updates(turn, "agent_message_chunk")[-1]["content"]["text"]
    record = json.loads(last)
    (pending,) = facts(box)
    assert {**pending, "approvals": [], "name": "window", "step": "window"} == record["gate"]


def test_an_approval_at_a_terminal_opens_the_gate_for_the_next_run(make: Make, box: Path) -> None:
    talk = make()
    talk.turn(RUN)
    words = [script("chant"), "approve", "gated", "window", "--approver", "ann"]
    subprocess.run(words, cwd=box, check=True, capture_output=True)

    through, again = talk.turn(RUN), talk.turn(RUN)

    assert meta(through)["status"] == "ok"
    assert meta(again)["status"] == "gated"
    assert log(box) == ["one", "one", "two", "one"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("flags", [(), ("--durable-requests",)])
def test_b110_a_signal_at_a_gate_ends_the_process_and_the_gate_still_waits(
    make: Make, box: Path, flags: tuple[str, ...], number: signal.Signals
) -> None:
    talk = make(*flags)
    talk.turn(RUN)
    waiting = tip(box)
    talk.process.send_signal(number)

    assert talk.exit_code() == 128 + number
    assert talk.alive() == set()
    assert talk.stderr() == ""
    assert tip(box) == waiting
    words = [script("chant"), "approve", "gated", "window", "--approver", "ann"]
    subprocess.run(words, cwd=box, check=True, capture_output=True)
    assert meta(make(*flags).turn(RUN))["status"] == "ok"
    assert log(box) == ["one", "one", "two"]


@pytest.mark.parametrize("flag", ["", " --reject", " --expire"])
def test_a_session_does_not_answer_the_gate_that_it_reached(
    make: Make, box: Path, flag: str
) -> None:
    talk = make()
    talk.turn(RUN)
    before = tip(box)

    turn = talk.turn(APPROVE + flag)

    assert turn.stop_reason == "refusal"
    assert turn.text.startswith("same-origin: ")
    assert tip(box) == before


def test_a_gate_that_a_terminal_reached_may_be_answered_in_a_session(make: Make, box: Path) -> None:
    subprocess.run([script("chant"), "run", "gated"], cwd=box, check=False, capture_output=True)
    talk = make()

    turn = talk.turn(APPROVE)

    assert turn.stop_reason == "end_turn"
    answer = json.loads(turn.text)["answer"]
    assert (answer["channel"], answer["attested"]) == ("acp", False)
    assert meta(talk.turn(RUN))["status"] == "ok"


def test_a_command_in_a_step_can_not_open_the_gate_of_its_session(make: Make, box: Path) -> None:
    talk = make()
    talk.turn(RUN)
    gates = facts(box)

    turn = talk.turn(talk.kind.shell(f"{script('chant')} {APPROVE.removeprefix('chant ')}"))

    assert "same-origin: " in turn.text
    assert facts(box) == gates


@pytest.mark.parametrize(
    ("flags", "reason"),
    [((), "waiting"), (("--strict-stop-reasons",), "end_turn")],
)
def test_r08_under_durable_requests_the_client_is_asked_and_the_turn_waits(
    make: Make, box: Path, flags: tuple[str, ...], reason: str
) -> None:
    turn = make("--durable-requests", *flags).turn(RUN)

    (request,) = requests(turn)
    params, chant = request["params"], request["params"]["_meta"]["chant"]
    assert [(each["optionId"], each["kind"]) for each in params["options"]] == [
        ("allow", "allow_once"),
        ("reject", "reject_once"),
    ]
    assert (chant["op"], chant["gate"], chant["requestId"]) == ("gated", "window", request["id"])
    opened = {each["toolCallId"]: each["title"] for each in updates(turn, "tool_call")}
    assert opened[params["toolCall"]["toolCallId"]] == params["toolCall"]["title"]
    assert turn.stop_reason == reason
    assert (meta(turn)["state"], meta(turn)["requestId"]) == ("waiting", request["id"])
    assert turn.messages[-1] == request
    assert log(box) == ["one"]


def test_r01_allowing_records_the_approval_and_runs_the_command_line_again(
    make: Make, box: Path
) -> None:
    talk = make("--durable-requests")
    request = stopped(talk)

    turn = reply(talk, option(request, "allow"))

    assert (turn.stop_reason, meta(turn)["status"]) == ("end_turn", "ok")
    assert requests(turn) == []
    assert log(box) == ["one", "one", "two"]
    pending, approved, passed = facts(box)
    assert (approved["kind"], passed["kind"]) == ("approved", "passed")
    assert (approved["channel"], approved["attested"]) == ("acp", False)
    assert approved["pending"] == passed["pending"] == pending["id"]


def test_r05_one_answer_is_good_for_one_run(make: Make, box: Path) -> None:
    talk = make("--durable-requests")
    request = stopped(talk)
    reply(talk, option(request, "allow"))
    before = tip(box)

    again = reply(talk, option(request, "allow"))

    assert again.stop_reason == "end_turn"
    assert "prompt the command line again" in again.text
    assert tip(box) == before
    assert len(requests(talk.turn(RUN))) == 1


def test_b034_b099_rejecting_records_it_and_cleans_up_where_the_op_says_how(
    make: Make, box: Path
) -> None:
    talk = make("--durable-requests")
    request = stopped(talk)

    turn = reply(talk, option(request, "reject"), words=RUN)

    assert (turn.stop_reason, meta(turn)["status"]) == ("end_turn", "fail")
    assert log(box) == ["one", "undo"]
    assert [fact["kind"] for fact in facts(box)] == ["pending", "rejected"]
    record = json.loads(updates(turn, "agent_message_chunk")[-1]["content"]["text"])
    steps = {step["id"]: step["status"] for part in record["phases"] for step in part["steps"]}
    assert (steps["one"], steps["window"], steps["two"]) == ("skipped", "fail", "skipped")
    assert record["compensation"] == "ok"
    assert len(requests(talk.turn(RUN))) == 1


def test_rejecting_where_there_is_nothing_to_clean_up_runs_nothing(make: Make, box: Path) -> None:
    path = box / "ops" / "gated.op.toml"
    path.write_text(GATED[: GATED.index("[[on_failure]]")])
    talk = make("--durable-requests")
    request = stopped(talk)

    turn = reply(talk, option(request, "reject"))

    assert turn.stop_reason == "end_turn"
    assert "is rejected over acp" in turn.text
    assert log(box) == ["one"]
    assert talk.turn("list").stop_reason == "end_turn"


def test_b097_a_plan_that_changed_while_the_client_was_asked_asks_again(
    make: Make, box: Path
) -> None:
    talk = make("--durable-requests")
    request = stopped(talk)
    path = box / "ops" / "gated.op.toml"
    path.write_text(GATED.replace("echo two", "echo changed"))

    turn = reply(talk, option(request, "allow"))

    (again,) = requests(turn)
    assert turn.stop_reason == "waiting"
    assert "the plan changed since run" in turn.text
    assert again["id"] != request["id"]
    assert log(box) == ["one", "one"]
    assert meta(reply(talk, option(again, "allow")))["status"] == "ok"


@pytest.mark.parametrize(
    "answer",
    [
        {"result": {"outcome": {"outcome": "selected", "optionId": "allow"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "reject"}}},
        {"result": {"outcome": {"outcome": "cancelled"}}},
        {"result": None},
        {"error": {"code": -32601, "message": "what?"}},
    ],
    ids=str,
)
def test_r02_r06_an_answer_to_the_request_itself_opens_nothing_and_takes_nothing_away(
    make: Make, box: Path, answer: dict[str, Any]
) -> None:
    talk = make("--durable-requests")
    request_id = talk.prompt(RUN)
    (*_, request) = talk.until(lambda message: message.get("method") == ASK)
    talk.send(line(id=request["id"], **answer))  # as clients do that allow everything
    turn = talk.finish(request_id)
    before = tip(box)
    talk.send(line(id=request["id"], **answer))

    assert turn.stop_reason == "waiting"
    assert talk.exchange(b"") == []
    assert tip(box) == before
    assert meta(reply(talk, option(request, "allow")))["status"] == "ok"


UNCLEAR: list[Any] = [
    None,
    7,
    [],
    {},
    {"optionId": "allow"},
    {"requestId": 1, "optionId": "allow"},
    {"requestId": "?"},
    {"requestId": "?", "optionId": "allow_once"},
    {"requestId": "?", "optionId": "ALLOW"},
    {"requestId": "?", "optionId": None},
    {"requestId": "?", "optionId": ["allow"]},
]


def test_r04_whatever_is_no_clear_answer_opens_nothing(make: Make, box: Path) -> None:
    talk = make("--durable-requests")
    request = stopped(talk)
    before = tip(box)

    for permission in UNCLEAR:
        if isinstance(permission, dict) and permission.get("requestId") == "?":
            permission["requestId"] = request["id"]
        turn = reply(talk, permission, words=RUN)
        assert turn.stop_reason == "refusal", permission
        assert turn.text.endswith("nothing was done\n"), permission

    assert tip(box) == before
    assert log(box) == ["one"]
    assert meta(reply(talk, option(request, "allow")))["status"] == "ok"


def test_an_answer_in_a_new_process_says_to_prompt_again(make: Make, box: Path) -> None:
    first = make("--durable-requests")
    request = stopped(first)
    session = first.session
    first.end_input()
    assert first.exit_code() == 0
    before = tip(box)

    second = make("--durable-requests")
    second.call("session/resume", {"sessionId": session, "cwd": str(box), "mcpServers": []})
    turn = reply(second, option(request, "allow"), session)

    assert turn.stop_reason == "end_turn"
    assert "prompt the command line again" in turn.text
    assert tip(box) == before
    assert log(box) == ["one"]


def test_a_resume_in_the_same_process_keeps_the_request(make: Make, box: Path) -> None:
    talk = make("--durable-requests")
    request = stopped(talk)

    talk.call("session/resume", {"sessionId": talk.session, "cwd": str(box), "mcpServers": []})

    assert meta(reply(talk, option(request, "allow")))["status"] == "ok"


def test_a_request_belongs_to_its_session(make: Make, box: Path) -> None:
    talk = make("--durable-requests")
    request, first = stopped(talk), talk.session
    other = talk.new_session()
    before = tip(box)

    assert "no such request" in reply(talk, option(request, "allow"), other).text
    assert tip(box) == before
    assert meta(reply(talk, option(request, "allow"), first))["status"] == "ok"


def test_b032_b099_a_cancel_while_nothing_runs_closes_the_request(make: Make, box: Path) -> None:
    talk = make("--durable-requests")
    request, first = stopped(talk), talk.session
    before = tip(box)
    talk.cancel()
    outcome = {"outcome": {"outcome": "cancelled"}}
    talk.send(line(id=request["id"], result=outcome))  # as a client must when it cancels

    late = reply(talk, option(request, "allow"), first)

    assert (late.stop_reason, tip(box)) == ("end_turn", before)
    assert "no such request" in late.text
    assert log(box) == ["one"]
    assert len(requests(talk.turn(RUN))) == 1


def test_a_cancel_of_another_session_closes_nothing(make: Make) -> None:
    talk = make("--durable-requests")
    request, first = stopped(talk), talk.session
    talk.cancel(talk.new_session())

    assert meta(reply(talk, option(request, "allow"), first))["status"] == "ok"


def test_r07_two_requests_are_told_apart(make: Make, box: Path) -> None:
    talk = make("--durable-requests")
    first = stopped(talk)
    (second,) = requests(talk.turn(f"{RUN} --param version=2"))

    late = reply(talk, option(second, "allow"))
    early = reply(talk, option(first, "reject"))

    assert (version_of(late), version_of(early)) == ("2", "1")
    assert meta(late)["status"] == "ok"
    assert meta(early)["status"] == "fail"
    assert [fact["kind"] for fact in facts(box)].count("passed") == 1


def version_of(turn: Turn) -> str:
    """Read the param that a turn's run was started with."""
    record = json.loads(updates(turn, "agent_message_chunk")[-1]["content"]["text"])
    return str(record["params"]["version"])


@pytest.mark.parametrize("option_id", ["allow", "reject"])
def test_in_a_stewards_session_a_permission_is_refused(
    make: Make, box: Path, option_id: str
) -> None:
    talk = make("--durable-requests", CHANT_STEWARD="box-steward")
    request = stopped(talk)
    before = tip(box)

    turn = reply(talk, option(request, option_id))

    assert turn.stop_reason == "refusal"
    assert "gate-in-steward-turn: " in turn.text
    assert tip(box) == before
    assert talk.turn(APPROVE).text.startswith("gate-in-steward-turn: ")
    assert tip(box) == before
    assert log(box) == ["one"]


def test_a_gate_that_was_answered_elsewhere_meanwhile_takes_no_second_answer(
    make: Make, box: Path
) -> None:
    talk = make("--durable-requests")
    request = stopped(talk)
    words = [script("chant"), "approve", "gated", "window", "--approver", "ann", "--reject"]
    subprocess.run(words, cwd=box, check=True, capture_output=True)
    before = tip(box)

    turn = reply(talk, option(request, "allow"))

    assert turn.stop_reason == "refusal"
    assert "ann rejected it" in turn.text
    assert tip(box) == before
    assert log(box) == ["one"]


def test_b101_an_answer_that_can_not_be_recorded_leaves_the_gate_shut_and_the_request_open(
    make: Make, box: Path
) -> None:
    talk = make("--durable-requests")
    request = stopped(talk)
    before = tip(box)
    config = box / ".git" / "config"
    good = config.read_text()
    config.write_text(good + "[core\n")

    turn = reply(talk, option(request, "allow"))
    config.write_text(good)

    assert turn.stop_reason == "refusal"
    assert "the gate stays shut: " in turn.text
    assert tip(box) == before
    assert log(box) == ["one"]


def test_without_the_flag_an_answer_finds_no_request(make: Make, box: Path) -> None:
    talk = make()
    talk.turn(RUN)
    before = tip(box)

    turn = reply(talk, {"requestId": "1", "optionId": "allow"}, words=RUN)

    assert (turn.stop_reason, tip(box)) == ("end_turn", before)
    assert "prompt the command line again" in turn.text
    assert log(box) == ["one"]


@pytest.mark.parametrize(
    ("flags", "code", "done"),
    [(["--yes"], 0, ["one", "one", "two"]), (["--no"], 1, ["one", "undo"]), ([], 3, ["one"])],
)
def test_our_own_client_answers_by_a_later_prompt(
    box: Path, flags: list[str], code: int, done: list[str]
) -> None:
    drive = [script("chantry"), "drive", "--cwd", str(box), *flags, "--prompt", RUN]
    agent = [*CHANT.command, "--durable-requests"]

    run = subprocess.run(
        [*drive, "--", *agent],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (run.returncode, log(box)) == (code, done), run.stdout
