"""Stewards over the protocol, by bytes: whose turns they are, what waits, and what is refused.

Every refusal is followed by a look at the ledger's ref: it must not have moved.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.agents import CHANT
from tests.e2e.talk import Talk, Turn
from tests.runtimes.chant.stewards import make_box, make_model, says, tip
from tests.runtimes.chant.talk import chant
from tests.runtimes.chant.test_approve import GATED
from tests.scripts import script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Make = Callable[..., Talk]

AS = ("--steward", "box-steward")
LINE = re.compile(r"chant workspace points answer (\S+) --answer <yes\|no> --by <you>")


@pytest.fixture
def box(tmp_path: Path) -> Path:
    made = make_box(tmp_path / "box")
    (made / "ops" / "gated.op.toml").write_text(GATED)
    return made


@pytest.fixture
def make(box: Path) -> Iterator[Make]:
    """Start an agent in the project with flags; all of them are ended with the test."""
    talks: list[Talk] = []

    def started(*flags: str, **env: str) -> Talk:
        kind = replace(CHANT, command=(*CHANT.command, *flags))
        talk = Talk(kind, box, cwd=str(box), env={**os.environ, **env}).__enter__()
        talks.append(talk)
        talk.open()
        return talk

    yield started
    for talk in talks:
        talk.__exit__(None, None, None)


def meta(turn: Turn) -> dict[str, Any]:
    found: dict[str, Any] = turn.answer["result"]["_meta"]["chant"]
    return found


def question_of(turn: Turn) -> str:
    found = LINE.search(turn.text)
    assert found is not None, turn.text
    return found[1]


def test_every_turn_is_the_stewards_and_children_inherit_it(make: Make, box: Path) -> None:
    turn = make(*AS).turn("chant run plain")

    record = json.loads(turn.updates("agent_message_chunk")[-1]["content"]["text"])
    assert record["steward"] == "box-steward"
    assert (box / "plain").read_text() == "box-steward acp\n"


def test_a_waiting_question_ends_the_turn_and_its_answer_lets_the_next_run_through(
    make: Make, box: Path, tmp_path: Path
) -> None:
    talk = make(*AS, **make_model(tmp_path / "radian", says("yes", 0.9)))

    turn = talk.turn("chant run release")

    assert turn.stop_reason == "end_turn"
    assert (meta(turn)["status"], meta(turn)["exitCode"]) == ("waiting", 3)
    assert "open question: Ship this build?" in turn.text
    assert "asked by: steward box-steward" in turn.text
    assert "proposed by qwen at local: yes (90% sure)" in turn.text
    assert (
        chant(
            box,
            "workspace",
            "points",
            "answer",
            question_of(turn),
            "--answer",
            "yes",
            "--by",
            "ann",
        ).code
        == 0
    )
    again = talk.turn("chant run release")
    assert meta(again)["status"] == "ok"
    assert (box / "shipped").read_text() == "box-steward\n"


def test_the_plan_is_shown_and_every_call_is_closed(make: Make) -> None:
    turn = make(*AS).turn("chant run release")

    opened = [each["title"] for each in turn.updates("tool_call")]
    final = {
        each["toolCallId"].rpartition("/")[2]: each["rawOutput"]["status"]
        for each in turn.updates("tool_call_update")
        if each["status"] != "in_progress"
    }
    assert opened == ["Build / shell", "Build / point:ship-it", "Build / shell"]
    assert final == {"scan": "ok", "ask": "waiting", "ship": "skipped"}


@pytest.mark.parametrize("verb", ["answer", "retract"])
def test_the_session_of_a_steward_can_not_answer_or_retract(
    make: Make, box: Path, verb: str
) -> None:
    talk = make(*AS)
    question = question_of(talk.turn("chant run release"))
    before = tip(box)
    words = " --answer yes" if verb == "answer" else ""

    turn = talk.turn(f"chant workspace points {verb} {question}{words} --by ann")

    assert turn.stop_reason == "refusal"
    assert "answer-in-steward-turn" in turn.text
    assert tip(box) == before


def test_a_child_of_a_stewards_turn_can_not_answer_either(make: Make, box: Path) -> None:
    talk = make(*AS)
    question = question_of(talk.turn("chant run release"))
    questions = f"_answers/{question}.json"
    before = shown(box, questions)
    line = f"{script('chant')} workspace points answer {question} --answer yes --by ann"

    turn = talk.turn(f"chant run nested --param line={shlex.quote(line)}")

    assert meta(turn)["status"] == "fail"
    assert "answer-in-steward-turn" in (box / "out").read_text()
    assert shown(box, questions) == before


def shown(folder: Path, path: str) -> str:
    words = ["git", "-C", str(folder), "show", f"chant/lifecycle:{path}"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_the_session_of_a_steward_can_not_open_a_gate(make: Make, box: Path) -> None:
    talk = make(*AS)
    talk.turn("chant run gated")
    before = tip(box)

    turn = talk.turn("chant approve gated window --approver me")

    assert turn.stop_reason == "refusal"
    assert "gate-in-steward-turn" in turn.text
    assert tip(box) == before


def test_a_gate_that_a_client_opens_in_a_stewards_session_stays_shut(make: Make, box: Path) -> None:
    talk = make(*AS, "--durable-requests")
    turn = talk.turn("chant run gated")
    (request,) = [each for each in turn.messages if each.get("method", "").endswith("permission")]
    before = tip(box)
    permission = {
        "requestId": request["params"]["_meta"]["chant"]["requestId"],
        "optionId": "allow",
    }
    params = {
        "sessionId": talk.session,
        "prompt": [{"type": "text", "text": "go on"}],
        "_meta": {"chant": {"permission": permission}},
    }

    answered = talk.finish(talk.request("session/prompt", params))

    assert "gate-in-steward-turn" in answered.text
    assert tip(box) == before
    assert (box / "log").read_text().split() == ["one"]


def test_a_session_that_is_no_stewards_may_answer_for_a_person(make: Make, box: Path) -> None:
    talk = make()
    question = question_of(talk.turn("chant run release"))

    turn = talk.turn(f"chant workspace points answer {question} --answer yes --by ann")

    assert turn.stop_reason == "end_turn"
    record = json.loads(shown(box, f"_answers/{question}.json"))
    assert (record["votes"][0]["channel"], record["votes"][0]["attested"]) == ("acp", False)


def test_a_cancel_while_the_model_thinks_ends_the_turn_and_asks_nobody(
    make: Make, box: Path, tmp_path: Path
) -> None:
    slow = says("yes", 0.9, delay_ms=600_000)
    talk = make(*AS, **make_model(tmp_path / "radian", slow))
    request = talk.prompt("chant run release")
    talk.until(
        lambda message: "ask" in json.dumps(message) and "in_progress" in json.dumps(message)
    )

    talk.cancel()
    turn = talk.finish(request)

    assert turn.stop_reason == "cancelled"
    assert (box / "undone").exists()
    assert chant(box, "workspace", "points", "--json").document["questions"] == []


def test_the_operator_is_refused_in_a_prompt_unless_it_ends_by_itself(
    make: Make, box: Path
) -> None:
    talk = make(*AS)

    refused = talk.turn("chant operator --steward box-steward")
    assert refused.stop_reason == "refusal"
    assert "can't be prompted: it would not end" in refused.text
    assert tip(box) == ""
    once = talk.turn("chant operator --steward box-steward --once")

    assert once.stop_reason == "end_turn"
    assert meta(once)["exitCode"] == 3
    assert json.loads(once.text)["env"] == "prod"


def started(box: Path, *flags: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [script("chant"), "acp", *flags],
        cwd=box,
        env={**os.environ, **env},
        input=b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n',
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("flags", "env", "said"),
    [
        (
            ("--steward", "nobody"),
            {},
            "unknown steward 'nobody'; known: box-steward, plain-steward",
        ),
        (("serve", "--steward", "box-stewar"), {}, "did you mean box-steward?"),
        (("--steward=",), {}, "unknown steward ''"),
        (("--steward", "box-steward"), {"CHANT_STEWARD": "other"}, "turn of steward other"),
        (("--steward", "box-steward", "--faults", "plan.toml"), {}, "--allow-faults permits it"),
        (("--faults", "plan.toml"), {"CHANT_STEWARD": "box-steward"}, "--allow-faults permits it"),
    ],
    ids=str,
)
def test_a_steward_that_can_not_be_served_ends_before_the_handshake(
    box: Path, flags: tuple[str, ...], env: dict[str, str], said: str
) -> None:
    (box / "plan.toml").write_text("")

    ended = started(box, *flags, **env)

    assert ended.returncode == 2
    assert ended.stdout == b""
    assert said in ended.stderr.decode()


def test_a_steward_needs_a_project_where_the_process_starts(tmp_path: Path) -> None:
    ended = started(tmp_path, "--steward", "box-steward")

    assert ended.returncode == 2
    assert ended.stdout == b""
    assert b"no project at" in ended.stderr
