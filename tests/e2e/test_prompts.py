"""Prompts and updates: rows P01 to P19 of the conformance list, B005, B029, B031.

Much is judged on the way by the `Referee`: schema, message ids, open tool calls, updates outside
turns.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.agents import CHANT, RADIAN, run_op
from tests.e2e.talk import Talk, chunk_text
from tests.e2e.wire import line

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.agents import AgentKind

MIB = 1 << 20


def ask(talk: Talk, blocks: object) -> dict[str, Any]:
    params = {"sessionId": talk.session, "prompt": blocks}
    return talk.call("session/prompt", params)


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_p01_a_prompt_is_answered_after_its_updates(shared: Talk) -> None:
    turn = shared.turn(shared.kind.shell("echo out; echo err >&2"))

    assert turn.stop_reason == "end_turn"
    assert "out" in turn.text
    assert "err" in turn.text
    sessions = {message["params"]["sessionId"] for message in turn.messages}
    assert sessions == {shared.session}


def test_p02_a_resource_link_beside_text_is_taken(shared: Talk) -> None:
    link = {"type": "resource_link", "uri": "file:///tmp/a.txt", "name": "a.txt"}

    answer = ask(shared, [text(shared.kind.quick), link])

    assert answer["result"]["stopReason"] == "end_turn"


@pytest.mark.parametrize(
    ("blocks", "named"),
    [
        ([{"type": "image", "data": "aGk=", "mimeType": "image/png"}], "image"),
        ([{"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}], "audio"),
        ([{"type": "resource", "resource": {"uri": "x:y", "blob": "aGk="}}], "resource"),
        ([{"type": "video"}], "video"),
        ([{"type": ""}], "type"),
        ([{"type": 7}], "type"),
        ([{}], "type"),
        ([7], "prompt[0]"),
        ([None], "prompt[0]"),
        ([{"type": "text"}], "text"),
        ([{"type": "text", "text": 7}], "text"),
        ([{"type": "resource_link", "uri": "x:y"}], "name"),
        ([], "prompt"),
        (None, "prompt"),
        ("list", "prompt"),
        ({}, "prompt"),
    ],
    ids=repr,
)  # fmt: skip
def test_p03_p04_b031_what_was_not_offered_is_refused_by_name(
    shared: Talk, blocks: object, named: str
) -> None:
    answer = ask(shared, blocks)

    assert answer["error"]["code"] == -32602
    if named not in shared.kind.blocks:  # else it is what is in the block that can't be taken
        assert named in answer["error"]["message"]


PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(16)).decode()


@pytest.mark.needs("blocks")
@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "data": PNG, "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "a's text"}},
        {"type": "resource", "resource": {"uri": "file:///a.png", "blob": PNG}},
    ],
    ids=["image", "text", "blob"],
)
def test_p03_what_was_offered_is_taken(shared: Talk, block: dict[str, Any]) -> None:
    answer = ask(shared, [text(shared.kind.quick), block])

    assert answer["result"]["stopReason"] == "end_turn"


@pytest.mark.parametrize("words", ["", " ", "\n\t ", "\u00a0", "\u2028"], ids=ascii)
def test_p05_b031_an_empty_prompt_is_never_a_silent_end(shared: Talk, words: str) -> None:
    shared.crashes = True  # the echo agent's machine raises
    turn = shared.finish(shared.request("session/prompt", params_of(shared, text(words))))

    assert "error" in turn.answer or (turn.stop_reason == "refusal" and turn.text)


def params_of(talk: Talk, *blocks: object) -> dict[str, Any]:
    return {"sessionId": talk.session, "prompt": list(blocks)}


def test_p05_a_megabyte_of_text_is_answered(shared: Talk) -> None:
    turn = shared.turn(f"{shared.kind.long} {'x' * MIB}")

    assert turn.stop_reason in {"end_turn", "refusal"}


@pytest.mark.needs("queues")
def test_p10_b029_a_second_prompt_waits_and_both_are_answered(talk: Talk) -> None:
    talk.open()
    (talk.folder / "go").unlink(missing_ok=True)
    first = talk.start_shell("mkfifo go; echo ready; read line < go; echo one $line")
    second = talk.prompt(talk.kind.shell("echo two"))
    assert talk.exchange(b"") == []
    (talk.folder / "go").write_text("went\n", encoding="utf-8")

    one, two = talk.finish(first), talk.finish(second)

    assert (one.stop_reason, two.stop_reason) == ("end_turn", "end_turn")
    assert "one went" in one.text
    assert "two" in two.text


@pytest.mark.needs("refuses_a_second")
def test_p10_a_second_prompt_is_refused_and_both_are_answered(talk: Talk) -> None:
    talk.open()
    first = talk.start_shell("mkfifo go; echo ready; read line < go; echo one $line")
    refused = talk.call("session/prompt", params_of(talk, text(talk.kind.quick)))
    (talk.folder / "go").write_text("went\n", encoding="utf-8")

    assert refused["error"]["code"] == -32600
    assert "one went" in talk.finish(first).text


@pytest.mark.needs("queues")
def test_p10_sixty_four_prompts_wait_and_the_next_is_refused(talk: Talk) -> None:
    talk.open()
    running = talk.start_shell("echo ready; exec sleep 600")
    waiting = [talk.prompt(talk.kind.quick) for _ in range(64)]

    refused = talk.call("session/prompt", params_of(talk, text(talk.kind.quick)))

    assert refused["error"]["code"] == -32600
    talk.cancel()
    answers = talk.answers_to(running, *waiting)
    assert {answer["result"]["stopReason"] for answer in answers.values()} == {"cancelled"}


def test_p12_a_client_without_capabilities_is_asked_nothing(talk: Talk) -> None:
    talk.open()
    turn = talk.turn(talk.kind.shell("echo out"))

    assert {message["method"] for message in turn.messages} == {"session/update"}


def test_p13_a_failed_run_closes_every_call(chant: Talk) -> None:
    chant.open()

    turn = chant.turn(run_op("undo", "echo out; exit 3"))

    assert turn.stop_reason == "end_turn"
    assert (chant.folder / "undone").exists()
    assert not (chant.folder / "never").exists()
    kinds = [message["params"]["update"]["sessionUpdate"] for message in turn.messages]
    assert kinds[:2] == ["tool_call", "tool_call"], "the plan comes before anything runs"
    calls = turn.updates("tool_call")
    assert len({call["toolCallId"] for call in calls}) == 3
    assert [call.get("status", "pending") for call in calls[:2]] == ["pending", "pending"]
    record = json.loads(chunk_text(turn.messages[-1]))
    assert record["status"] == "fail"


TWICE_WRONG = """\
name = "twice-wrong"

[[phases]]
name = "Work"
  [[phases.steps]]
  fn = "shell"
  args = { cmd = "exit 3" }

[[on_failure]]
name = "Second"
  [[on_failure.steps]]
  fn = "shell"
  args = { cmd = "touch second" }

[[on_failure]]
name = "First"
  [[on_failure.steps]]
  fn = FIRST
"""


@pytest.mark.parametrize(
    ("first", "error"),
    [
        ('"shell"\n  args = { cmd = "exit 9" }', "exit code 9"),
        ('"exec"\n  args = { argv = ["no-such-program"] }', "no-such-program"),
    ],
    ids=["fails", "missing"],
)
def test_p13_b093_a_clean_up_that_fails_hides_nothing_and_the_next_one_runs(
    chant: Talk, first: str, error: str
) -> None:
    path = chant.folder / "ops" / "twice-wrong.op.toml"
    path.write_text(TWICE_WRONG.replace("FIRST", first), encoding="utf-8")
    chant.open()

    turn = chant.turn("run twice-wrong")

    assert turn.stop_reason == "end_turn"
    record = json.loads(chunk_text(turn.messages[-1]))
    assert (record["status"], record["compensation"]) == ("fail", "partial")
    cause = record["failure"]
    assert (cause["phase"], cause["exit_code"], cause["error"]) == ("Work", 3, "exit code 3")
    _, cleaned, second = record["phases"]
    assert cleaned["steps"][0]["status"] == "fail"
    assert error in cleaned["steps"][0]["error"]
    assert second["steps"][0]["status"] == "ok"
    assert (chant.folder / "second").exists()


def test_p14_a_prompt_that_can_not_be_carried_out_is_answered(shared: Talk) -> None:
    shared.crashes = True  # the echo agent's machine raises

    turn = shared.turn(shared.kind.wrong)

    if shared.kind.name != "echo":
        assert turn.stop_reason == "refusal"
        assert turn.messages, "it says why"
    else:
        assert turn.answer["error"]["code"] == -32603
        assert "no such verb" not in json.dumps(turn.answer)


CRASH = """\
[[fault]]
point = "{point}"
fault = "crash"
hit = {hit}
"""


@pytest.mark.parametrize(
    ("point", "hit"),
    [("executor.decide", 2), ("step.call", 1), ("step.return", 2), ("step.spawn", 1),
     ("outlet.speak", 1)],
)  # fmt: skip
@pytest.mark.parametrize("agent", [CHANT, RADIAN], ids=lambda agent: agent.name)
def test_p14_a_prompt_in_which_a_part_crashes_is_answered_and_the_next_works(
    agent: AgentKind, tmp_path: Path, point: str, hit: int
) -> None:
    agent.prepare(tmp_path)
    plan = tmp_path / "plan.toml"
    plan.write_text(CRASH.format(point=point, hit=hit), encoding="utf-8")
    with Talk(agent, tmp_path, command=(*agent.command, "--faults", str(plan))) as talk:
        talk.crashes = True
        talk.open()
        for words in (agent.quick, agent.shell("echo one"), agent.shell("echo two")):
            answer = talk.turn(words).answer
            assert "result" in answer or answer["error"]["code"] == -32603

        assert talk.turn(agent.shell("echo three")).stop_reason == "end_turn"
        assert "fired: crash" in talk.stderr()


@pytest.mark.parametrize(
    "words",
    ["rm -rf /", "run", "run no-such-op", "run sh --no-such-flag", "RUN sh", "run sh && touch x",
     "run 'sh", "run sh \\", "$HOME", "list | cat", "run sh --param nope=1",
     "run sh --env moon --param script=x", "run sh", "acp", "acp serve"],
)  # fmt: skip
def test_p14_chant_refuses_with_a_reason_and_without_effect(chant: Talk, words: str) -> None:
    chant.open()
    before = files_of(chant.folder)

    turn = chant.turn(words)

    assert turn.stop_reason == "refusal", turn.text
    assert turn.text
    assert files_of(chant.folder) == before


def files_of(folder: Path) -> dict[Path, tuple[int, bytes]]:
    """Return what lies in a folder, and when it was written."""
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    }


BROKEN = """\
name = "broken"
overview = "Can't be run"

[[phases]]
name = "Work"
  [[phases.steps]]
  fn = "{fn}"
  args = {args}
"""


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('name = "broken"\noverview = \n', 2, ""),
        (BROKEN.format(fn="shel", args="{ cmd = 'touch x' }"), 7, "'shel'"),
        (BROKEN.format(fn="shell", args="{ cnd = 'touch x' }"), 8, "cmd"),
        (BROKEN.format(fn="shell", args="{ cmd = 7 }"), 8, "cmd"),
        ('nome = "broken"\n' + BROKEN.format(fn="shell", args="{ cmd = 'touch x' }"), 1, "name"),
    ],
    ids=["no TOML", "activity", "argument", "value", "key"],
)
def test_p14_a_broken_op_is_refused_by_file_and_line_and_without_effect(
    chant: Talk, text: str, line: int, said: str
) -> None:
    (chant.folder / "ops" / "broken.op.toml").write_text(text, encoding="utf-8")
    chant.open()
    before = files_of(chant.folder)

    turn = chant.turn("run broken")

    assert turn.stop_reason == "refusal", turn.text
    assert f"ops/broken.op.toml:{line}" in turn.text
    assert said in turn.text
    assert files_of(chant.folder) == before
    assert "hi" in chant.turn(chant.kind.shell("echo hi")).text


@pytest.mark.needs("shows_all")
def test_p15_p19_long_output_is_cut_and_whole(talk: Talk) -> None:
    talk.open()
    # 200 kB of three-byte characters in one line, which must be cut between characters.
    shell = """awk 'BEGIN { for (i = 0; i < 66000; i++) printf "✓"; printf "end" }'"""

    request_id = talk.prompt(talk.kind.shell(shell))
    turn = talk.finish(request_id)

    assert turn.stop_reason == "end_turn"
    streamed = turn.text.partition("end")[0]
    assert set(streamed) == {"✓"}
    assert len(streamed) == 66_000


def test_p19_no_line_is_over_60_kib(talk: Talk) -> None:
    talk.open()
    talk.turn(talk.kind.shell("head -c 300000 /dev/zero | tr '\\0' '\"'"))
    talk.turn(talk.kind.shell("head -c 100000 /dev/zero"))
    talk.turn(talk.kind.shell("head -c 100000 /dev/urandom"))

    assert talk.referee.longest < 60 * 1024


def test_output_that_is_not_utf_8_is_shown_with_marks(talk: Talk) -> None:
    talk.open()

    turn = talk.turn(talk.kind.shell(r"printf 'a\377\376b\303'"))

    assert turn.stop_reason == "end_turn"
    assert "a\ufffd" in turn.text


def test_b005_nothing_of_a_turn_follows_its_answer(talk: Talk) -> None:
    talk.open()
    # A run of chant writes its ledger each time, which is not what this is about.
    for number in range(50 if talk.kind.name == "echo" else 15):
        # The referee refuses updates that come when no turn is open.
        turn = talk.turn(talk.kind.shell(f"for i in 1 2 3 4 5; do echo {number} $i; done"))
        assert f"{number} 5" in turn.text


def test_b005_550_pieces_in_order(talk: Talk) -> None:
    talk.open()

    turn = talk.turn(talk.kind.shell('i=0; while [ $i -lt 550 ]; do echo "=$i="; i=$((i+1)); done'))

    wanted = "".join(f"={i}=\n" for i in range(550))
    assert wanted in turn.text


def test_x12_200_turns_leave_memory_threads_and_descriptors_where_they_were(talk: Talk) -> None:
    from tests.e2e.processes import descriptors_of, resident_kib, threads_of

    talk.open()
    for _ in range(20):
        talk.turn(talk.kind.quick)
    talk.turn(talk.kind.shell("echo warm"))
    talk.exchange(b"")
    before = (threads_of(talk.pid), descriptors_of(talk.pid))
    before_kib = resident_kib(talk.pid)

    for number in range(180):
        talk.turn(talk.kind.shell("echo x") if number % 20 == 0 else talk.kind.quick)
    talk.exchange(b"")

    after = (threads_of(talk.pid), descriptors_of(talk.pid))
    # A thread that has said its last word may still be on its way out.
    assert after[0] <= before[0] + 2
    assert after[1] <= before[1] + 2
    # What was said stays in memory where it is told to a model again: 5 KiB a turn.
    assert resident_kib(talk.pid) < before_kib + 4 * 1024


def test_an_answer_that_nobody_waits_for_in_a_turn_changes_nothing(talk: Talk) -> None:
    talk.open()
    running = talk.start_shell("echo ready; exec sleep 600")
    assert talk.exchange(line(id=1, result={"outcome": {"outcome": "cancelled"}})) == []
    talk.cancel()

    assert talk.finish(running).stop_reason == "cancelled"
