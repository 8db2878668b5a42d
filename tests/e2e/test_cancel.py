"""Cancelling: rows P06 to P11 and R03, R04 of the conformance list; B019, B021, B022, B024."""

from __future__ import annotations

import json
import random
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.agents import ECHO, run_op
from tests.e2e.talk import Talk, chunk_text, open_mine, prompt_params
from tests.e2e.wire import line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HANG = "echo ready; exec sleep 600"


def test_p06_p07_b019_a_cancelled_turn_says_so_and_the_next_works(talk: Talk) -> None:
    talk.open()
    for _ in range(3):
        running = talk.start_shell(HANG)
        talk.cancel()

        assert talk.finish(running).stop_reason == "cancelled"
        assert talk.exchange(b"") == []
        assert talk.turn(talk.kind.quick).stop_reason == "end_turn"


def test_b019_a_cancel_in_the_middle_of_a_flood(talk: Talk) -> None:
    talk.open()
    running = talk.prompt(talk.kind.flood)
    for _ in range(20):
        talk.next()
    talk.cancel()

    assert talk.finish(running).stop_reason == "cancelled"
    assert talk.exchange(b"") == []


def test_p06_a_step_that_ignores_term_is_killed_after_the_grace(talk: Talk) -> None:
    with Talk(talk.kind, talk.folder, command=talk.kind.with_grace()) as quick:
        quick.open()
        running = quick.start_shell("trap '' TERM; echo ready; while :; do sleep 600; done")
        quick.cancel()

        assert quick.finish(running).stop_reason == "cancelled"


def test_p08_b022_a_cancel_while_idle_changes_nothing(talk: Talk) -> None:
    talk.open()
    for _ in range(3):
        talk.cancel()
        talk.cancel()
        assert talk.turn(talk.kind.quick).stop_reason == "end_turn"


def test_p08_a_late_cancel_does_not_hit_the_next_prompt(talk: Talk) -> None:
    talk.open()
    for _ in range(20):
        request_id = talk.prompt(talk.kind.quick)
        talk.cancel()  # maybe in time, maybe late
        assert talk.finish(request_id).stop_reason in {"end_turn", "cancelled"}
        assert talk.turn(talk.kind.quick).stop_reason == "end_turn"


def test_p09_prompt_and_cancel_in_one_write(talk: Talk) -> None:
    talk.open()
    for _ in range(10):
        params = prompt_params(talk.session, talk.kind.shell("touch touched; sleep 600"))
        cancel = line(method="session/cancel", params={"sessionId": talk.session})
        talk.send(line(id="p", method="session/prompt", params=params) + cancel)

        assert talk.finish("p").stop_reason == "cancelled"


def test_p09_session_prompt_and_cancel_in_one_write(naming: Talk) -> None:
    talk = naming
    talk.initialize()
    sent = open_mine(talk, "r")
    params = prompt_params(talk.named, talk.kind.shell("sleep 600"))
    sent += line(id="p", method="session/prompt", params=params)
    talk.send(sent + line(method="session/cancel", params={"sessionId": talk.named}))

    found = talk.answers_to("r", "p")

    assert found["p"]["result"]["stopReason"] == "cancelled"
    assert talk.turn(talk.kind.quick, talk.named).stop_reason == "end_turn"


@pytest.mark.needs("many_sessions", "queues")
def test_b024_p11_a_cancel_empties_the_queue_of_its_session_only(talk: Talk) -> None:
    talk.open()
    mine = talk.session
    other = talk.new_session()
    first = talk.prompt(talk.kind.shell(HANG), mine)
    talk.until_text("ready")
    second = talk.prompt(talk.kind.shell("touch second"), mine)
    third = talk.prompt(talk.kind.shell("touch third"), other)
    talk.cancel(mine)

    found = talk.answers_to(first, second, third)

    reasons = [found[each]["result"]["stopReason"] for each in (first, second, third)]
    assert reasons == ["cancelled", "cancelled", "end_turn"]
    assert not (talk.folder / "second").exists()
    assert (talk.folder / "third").exists()


@pytest.mark.needs("many_sessions", "queues")
def test_b024_a_cancel_of_a_waiting_session_leaves_the_running_turn_alone(talk: Talk) -> None:
    talk.open()
    mine = talk.session
    other = talk.new_session()
    first = talk.prompt(talk.kind.shell(HANG), mine)
    talk.until_text("ready")
    second = talk.prompt(talk.kind.quick, other)
    talk.cancel(other)
    assert talk.finish(second).stop_reason == "cancelled"
    assert talk.exchange(b"") == []
    talk.cancel(mine)

    assert talk.finish(first).stop_reason == "cancelled"


def test_b021_20_rounds_of_stop_leave_the_session_usable(talk: Talk) -> None:
    talk.open()
    chance = random.Random(21)  # noqa: S311 - no secret, and the same each time
    cancel = line(method="session/cancel", params={"sessionId": talk.session})
    for number in range(20):
        params = prompt_params(talk.session, talk.kind.shell(f"echo ready {number}; sleep 600"))
        moment = chance.choice(("at once", "first update", "output"))
        prompt = line(id=number, method="session/prompt", params=params)
        talk.send(prompt + cancel if moment == "at once" else prompt)
        if moment == "first update":
            talk.next()
        elif moment == "output":
            talk.until_text(f"ready {number}")
        talk.send(cancel)

        assert talk.finish(number).stop_reason == "cancelled"
        assert talk.turn(talk.kind.quick).stop_reason == "end_turn"


def test_a_cancelled_run_cleans_up_before_it_answers(chant: Talk) -> None:
    chant.open()
    running = chant.prompt(run_op("undo", HANG))
    chant.until_text("ready")
    chant.cancel()
    chant.cancel()

    turn = chant.finish(running)

    assert turn.stop_reason == "cancelled"
    assert (chant.folder / "undone").exists()
    assert not (chant.folder / "never").exists()
    record = json.loads(chunk_text(turn.messages[-1]))
    assert (record["status"], record["compensation"]) == ("cancelled", "ok")
    statuses = [step["status"] for phase in record["phases"] for step in phase["steps"]]
    assert statuses == ["cancelled", "not_reached", "ok"]
    show = ["git", "-C", str(chant.folder), "show", "chant/lifecycle:local/runs/undo.jsonl"]
    (kept,) = subprocess.run(show, capture_output=True, check=True).stdout.splitlines()
    assert json.loads(kept) == record


# --- questions of ours, which only the echo agent asks so far


@pytest.fixture
def asker(tmp_path: Path) -> Iterator[Talk]:
    with Talk(ECHO, tmp_path) as talk:
        talk.open()
        yield talk


def question(talk: Talk) -> dict[str, Any]:
    *_, asked = talk.until(lambda message: message.get("method") == "session/request_permission")
    return asked


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ({"result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}, "Selected"),
        ({"result": {"outcome": {"outcome": "cancelled"}}}, "CancelledOutcome"),
        ({"result": {"outcome": {"outcome": "selected", "optionId": "other"}}}, "Malformed"),
        ({"result": {"outcome": {"outcome": "selected"}}}, "Malformed"),
        ({"result": {"outcome": "selected", "optionId": "yes"}}, "Malformed"),
        ({"result": {"outcome": {"outcome": "allowed", "optionId": "yes"}}}, "Malformed"),
        ({"result": "yes"}, "Malformed"),
        ({"result": None}, "Malformed"),
        ({"result": True}, "Malformed"),
        ({"result": []}, "Malformed"),
        ({"error": {"code": -32603, "message": "no"}}, "Malformed"),
        ({"error": None}, "Malformed"),
        ({"error": "no"}, "Malformed"),
        ({"result": {"outcome": {"outcome": "cancelled"}}, "error": {"code": 1}}, "Malformed"),
    ],
    ids=repr,
)  # fmt: skip
def test_j18_j22_r04_whatever_is_no_grant_is_a_refusal(
    asker: Talk, answer: dict[str, Any], read: str
) -> None:
    request_id = asker.prompt("ask")
    asked = question(asker)
    assert isinstance(asked["id"], int | str)
    asker.send(line(id=asked["id"], **answer))

    turn = asker.finish(request_id)

    assert turn.stop_reason == "end_turn"
    assert read in turn.text


def test_r03_r06_a_cancel_ends_the_question_and_its_answer_comes_too_late(asker: Talk) -> None:
    request_id = asker.prompt("ask")
    asked = question(asker)
    asker.cancel()
    assert asker.finish(request_id).stop_reason == "cancelled"

    outcome = {"outcome": {"outcome": "selected", "optionId": "yes"}}
    assert asker.exchange(line(id=asked["id"], result=outcome)) == []
    assert asker.turn("echo ok").text == "ok"


def test_j22_each_question_has_a_fresh_id(asker: Talk) -> None:
    for _ in range(3):
        request_id = asker.prompt("ask")
        asked = question(asker)
        # Never the client's own number for a request of its own.
        outcome = {"outcome": {"outcome": "selected", "optionId": "no"}}
        asker.send(line(id=asked["id"], result=outcome))
        asker.finish(request_id)  # the referee remembers the ids


def test_r06_an_answer_given_twice_counts_once(asker: Talk) -> None:
    request_id = asker.prompt("ask")
    asked = question(asker)
    outcome = {"outcome": {"outcome": "selected", "optionId": "yes"}}
    asker.send(line(id=asked["id"], result=outcome) * 2)

    assert "Selected" in asker.finish(request_id).text
    assert asker.exchange(b"") == []
