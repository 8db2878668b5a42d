"""What is heard in, effects out: no process, no terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from protocol.jsonrpc import Failure, Notification, Request, Result, decode
from runtimes.chantry.conversation import CANCELLING, Conversation, Script
from runtimes.chantry.effects import Ask, AskNoMore, End, Send, Show
from runtimes.chantry.shown import Note, Problem, Prompted, Question, TurnOver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.chantry.effects import Effect
    from runtimes.chantry.permission import Policy

INITIALIZED = {"protocolVersion": 1, "agentInfo": {"name": "fake", "version": "9"}}
OPTIONS = [
    {"optionId": "y", "name": "Allow", "kind": "allow_once"},
    {"optionId": "n", "name": "Reject", "kind": "reject_once"},
]
QUESTION = {"sessionId": "s", "toolCall": {"toolCallId": "t", "title": "Move"}, "options": OPTIONS}


def conversation(*prompts: str, policy: Policy = "ask", interactive: bool = True) -> Conversation:
    """Make one that has its session; with prompts, the first has been sent."""
    script = Script(prompts=prompts, cwd="/box", policy=policy, interactive=interactive)
    talk = Conversation(script, lambda: 0.0)
    talk.begin()
    talk.received(Result(1, INITIALIZED))
    talk.received(Result(2, {"sessionId": "s"}))
    return talk


def sent(effects: Sequence[Effect]) -> list[dict[str, Any]]:
    return [json.loads(effect.line) for effect in effects if isinstance(effect, Send)]


def shown(effects: Sequence[Effect]) -> list[object]:
    return [effect.item for effect in effects if isinstance(effect, Show)]


def chose(message: dict[str, Any]) -> Any:
    return message["result"]["outcome"]


def test_it_greets_opens_a_session_and_sends_the_first_prompt() -> None:
    script = Script(prompts=("hello",), cwd="/box", policy="ask", interactive=False)
    talk = Conversation(script, lambda: 0.0)

    (greeting,) = sent(talk.begin())
    (opening,) = sent(talk.received(Result(1, INITIALIZED)))
    effects = talk.received(Result(2, {"sessionId": "s"}))

    assert greeting["method"] == "initialize"
    assert greeting["params"]["protocolVersion"] == 1
    assert opening["method"] == "session/new"
    assert opening["params"] == {"cwd": "/box", "mcpServers": []}
    (prompt,) = sent(effects)
    assert prompt["method"] == "session/prompt"
    assert prompt["params"]["prompt"] == [{"type": "text", "text": "hello"}]
    assert Prompted("hello") in shown(effects)


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ({"stopReason": "end_turn"}, 0),
        ({"stopReason": "refusal"}, 4),
        ({"stopReason": "cancelled"}, 130),
        ({"stopReason": "waiting"}, 3),
        ({"stopReason": "max_tokens"}, 1),
        ({"stopReason": "of_its_own"}, 1),
        ({"stopReason": "end_turn", "_meta": {"chant": {"exitCode": 3, "status": "gated"}}}, 3),
        ({"stopReason": "end_turn", "_meta": {"chant": {"exitCode": "3"}}}, 0),
        ({"stopReason": "end_turn", "_meta": {"chant": True}}, 0),
        ({"stopReason": "cancelled", "_meta": {"chant": {"exitCode": 0}}}, 130),
    ],
)
def test_the_last_stop_reason_is_the_exit_code(result: dict[str, Any], code: int) -> None:
    effects = conversation("hello").received(Result(3, result))

    assert effects[-1] == End(code)


def test_prompts_go_out_one_after_the_other_also_after_a_refusal() -> None:
    talk = conversation("rm -rf /", "list")

    (second,) = sent(talk.received(Result(3, {"stopReason": "refusal"})))
    effects = talk.received(Result(4, {"stopReason": "end_turn"}))

    assert second["params"]["prompt"][0]["text"] == "list"
    assert effects[-1] == End(0)


def test_an_error_is_shown_and_the_next_prompt_goes_out() -> None:
    talk = conversation("one", "two")

    effects = talk.received(Failure(3, -32603, "internal error"))

    assert Problem("the agent answers with an error: internal error (-32603)") in shown(effects)
    assert sent(effects)[0]["params"]["prompt"][0]["text"] == "two"
    assert talk.received(Failure(4, -32603, "internal error"))[-1] == End(1)


def test_without_prompts_they_are_typed_until_the_end_of_input() -> None:
    talk = conversation()

    assert talk.typed("  ") == [Ask("> ", fresh=False)]
    (prompt,) = sent(talk.typed("hello"))
    effects = talk.received(Result(3, {"stopReason": "refusal"}))

    assert prompt["params"]["prompt"][0]["text"] == "hello"
    assert effects[-1] == Ask("> ", fresh=False)
    assert talk.typing_ended() == [End(4)]


def test_ctrl_c_cancels_and_the_second_ends_the_agent() -> None:
    talk = conversation("one", "two")

    first = talk.interrupted()
    second = talk.interrupted()
    third = talk.interrupted()

    assert sent(first) == [
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}}
    ]
    assert shown(first) == [Note(CANCELLING)]
    assert second[-1] == End(130, "brisk")
    assert third == [End(130, "none")]


def test_an_answer_that_comes_while_the_agent_is_being_ended_starts_nothing() -> None:
    talk = conversation("one", "two")
    talk.interrupted()
    talk.interrupted()

    assert talk.received(Result(3, {"stopReason": "cancelled"})) == []


def test_whoever_cancels_a_turn_does_not_want_the_prompts_behind_it() -> None:
    talk = conversation("one", "two")
    talk.interrupted()

    effects = talk.received(Result(3, {"stopReason": "end_turn"}))

    assert sent(effects) == []
    assert effects[-1] == End(130)


def test_a_turn_that_ended_before_the_cancel_reached_it_ended_well() -> None:
    talk = conversation("only")
    talk.interrupted()

    assert talk.received(Result(3, {"stopReason": "end_turn"}))[-1] == End(0)


def test_a_cancelled_turn_leaves_the_user_at_the_prompt() -> None:
    talk = conversation()
    talk.typed("wait")
    talk.interrupted()

    assert talk.received(Result(3, {"stopReason": "cancelled"}))[-1] == Ask("> ", fresh=False)
    assert talk.interrupted()[-1] == End(130, "brisk")


def test_a_question_is_put_until_the_answer_is_one_of_its_options() -> None:
    talk = conversation("go")

    question = talk.received(Request(900, "session/request_permission", QUESTION))
    again = talk.typed("maybe")
    answered = talk.typed("1")

    assert shown(question) == [Question(("? Move", "  1  Allow", "  2  Reject"))]
    assert question[-1] == Ask("answer (1-2): ", fresh=True)
    assert again == [Ask("answer (1-2): ", fresh=True)]
    (answer,) = sent(answered)
    assert answer["id"] == 900
    assert chose(answer) == {"outcome": "selected", "optionId": "y"}


@pytest.mark.parametrize(
    ("policy", "interactive", "option"),
    [("allow", True, "y"), ("reject", True, "n"), ("ask", False, "n")],
)
def test_where_nobody_is_asked_the_policy_answers(
    *, policy: Policy, interactive: bool, option: str
) -> None:
    talk = conversation("go", policy=policy, interactive=interactive)

    (answer,) = sent(talk.received(Request("q", "session/request_permission", QUESTION)))

    assert chose(answer) == {"outcome": "selected", "optionId": option}


def test_a_question_without_a_fitting_option_gets_the_cancelled_outcome() -> None:
    talk = conversation("go", policy="allow")
    only_no = {**QUESTION, "options": OPTIONS[1:]}

    (answer,) = sent(talk.received(Request("q", "session/request_permission", only_no)))

    assert chose(answer) == {"outcome": "cancelled"}


def test_two_questions_are_asked_in_order_and_ctrl_c_answers_both() -> None:
    talk = conversation("go")
    talk.received(Request(900, "session/request_permission", QUESTION))
    assert talk.received(Request(901, "session/request_permission", QUESTION)) == []

    effects = talk.interrupted()

    assert AskNoMore() in effects
    cancel, *answers = sent(effects)
    assert cancel["method"] == "session/cancel"
    assert [answer["id"] for answer in answers] == [900, 901]
    assert all(chose(answer) == {"outcome": "cancelled"} for answer in answers)


def test_a_question_during_a_cancel_is_not_put() -> None:
    talk = conversation("go")
    talk.interrupted()

    effects = talk.received(Request(900, "session/request_permission", QUESTION))

    assert chose(sent(effects)[0]) == {"outcome": "cancelled"}
    assert not any(isinstance(effect, Ask) for effect in effects)


def test_a_question_that_outlives_its_turn_is_withdrawn() -> None:
    talk = conversation("go")
    talk.received(Request(900, "session/request_permission", QUESTION))

    effects = talk.received(Result(3, {"stopReason": "waiting"}))

    assert effects[0] == AskNoMore()
    assert chose(sent(effects)[0]) == {"outcome": "cancelled"}
    assert effects[-1] == End(3)


DURABLE = {**QUESTION, "_meta": {"chant": {"requestId": "r1"}}}
WAITS = {
    "stopReason": "waiting",
    "_meta": {"chant": {"status": "gated", "exitCode": 3, "state": "waiting", "requestId": "r1"}},
}


def test_a_question_that_a_later_prompt_answers_is_put_after_the_turn() -> None:
    talk = conversation("go")

    assert talk.received(Request("r1", "session/request_permission", DURABLE)) == []
    put = talk.received(Result(3, WAITS))
    again = talk.typed("maybe")
    answered = talk.typed("1")
    over = talk.received(Result(4, {"stopReason": "end_turn"}))

    assert put[-1] == Ask("answer (1-2): ", fresh=True)
    assert again == [Ask("answer (1-2): ", fresh=True)]
    answer, prompt = sent(answered)
    assert chose(answer) == {"outcome": "selected", "optionId": "y"}
    assert prompt["method"] == "session/prompt"
    permission = {"requestId": "r1", "optionId": "y"}
    assert prompt["params"]["_meta"] == {"chant": {"permission": permission}}
    assert over[-1] == End(0)


@pytest.mark.parametrize(("policy", "option"), [("allow", "y"), ("reject", "n")])
def test_a_policy_answers_by_a_later_prompt_too(*, policy: Policy, option: str) -> None:
    talk = conversation("go", policy=policy, interactive=False)
    talk.received(Request("r1", "session/request_permission", DURABLE))

    _, prompt = sent(talk.received(Result(3, WAITS)))

    assert prompt["params"]["_meta"]["chant"]["permission"]["optionId"] == option


def test_where_nobody_can_be_asked_a_late_question_stays_open() -> None:
    talk = conversation("go", interactive=False)
    talk.received(Request("r1", "session/request_permission", DURABLE))

    effects = talk.received(Result(3, WAITS))

    assert [chose(answer) for answer in sent(effects)] == [{"outcome": "cancelled"}]
    assert effects[-1] == End(3)


@pytest.mark.parametrize("how", ["typing ended", "ctrl-c", "agent died"])
def test_a_late_question_without_an_answer_is_dropped(how: str) -> None:
    talk = conversation("go")
    talk.received(Request("r1", "session/request_permission", DURABLE))
    talk.received(Result(3, WAITS))

    match how:
        case "typing ended":
            effects = talk.typing_ended()
        case "ctrl-c":
            effects = talk.interrupted()
        case _:
            effects = talk.agent_gone("exit code 1", ())

    assert [chose(answer) for answer in sent(effects)] == [{"outcome": "cancelled"}]
    assert isinstance(effects[-1], End)


def test_a_late_question_of_a_cancelled_turn_is_dropped() -> None:
    talk = conversation("go")
    talk.received(Request("r1", "session/request_permission", DURABLE))

    cancel, answer = sent(talk.interrupted())

    assert cancel["method"] == "session/cancel"
    assert chose(answer) == {"outcome": "cancelled"}
    assert talk.received(Result(3, {"stopReason": "cancelled"}))[-1] == End(130)


def test_what_we_do_not_offer_is_refused_and_what_we_do_not_know_is_noted() -> None:
    talk = conversation("go")

    refused = talk.received(Request("f", "fs/read_text_file", {"path": "/etc/hosts"}))
    noted = talk.received(Notification("_own/thing", {}))
    strange = {"sessionId": "s", "update": {"sessionUpdate": "hologram"}}
    unknown = talk.received(Notification("session/update", strange))

    assert sent(refused)[0]["error"]["code"] == -32601
    assert shown(noted) == [Note("notification _own/thing, not known here")]
    assert shown(unknown) == [Note("update hologram, not shown")]


def test_updates_of_another_session_are_not_mixed_in() -> None:
    talk = conversation("go")
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}

    effects = talk.received(Notification("session/update", {"sessionId": "other", "update": chunk}))

    assert shown(effects) == [Note("an update for another session, other")]


def test_an_agent_of_another_version_is_left() -> None:
    script = Script(prompts=("hello",), cwd="/box", policy="ask", interactive=False)
    talk = Conversation(script, lambda: 0.0)
    talk.begin()

    effects = talk.received(Result(1, {"protocolVersion": 2}))

    assert shown(effects) == [Problem("the agent speaks version 2 of the protocol, and we speak 1")]
    assert effects[-1] == End(1)


def test_a_malformed_answer_ends_it_with_a_message() -> None:
    effects = conversation("go").received(Result(3, {"stopReason": None}))

    assert Problem("the answer to session/prompt is malformed: stopReason must be text") in shown(
        effects
    )
    assert effects[-1] == End(1)


def test_a_late_answer_is_passed_over() -> None:
    assert conversation("go").received(Result(77, {})) == []


def test_the_death_of_the_agent_ends_the_turn_and_names_its_last_words() -> None:
    talk = conversation("go")
    call = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T"}
    talk.received(Notification("session/update", {"sessionId": "s", "update": call}))

    effects = talk.agent_gone("exit code 7", ("out of luck",))

    over, problem = shown(effects)
    assert isinstance(over, TurnOver)
    assert [row.state for row in over.stopped] == ["stopped"]
    assert isinstance(problem, Problem)
    assert problem.text.splitlines() == [
        "the agent died in the middle of a turn: exit code 7",
        "  the last lines it wrote to stderr:",
        "  out of luck",
    ]
    assert effects[-1] == End(1)


def test_an_agent_that_ends_after_we_said_goodbye_did_not_die() -> None:
    talk = conversation("go")
    talk.received(Result(3, {"stopReason": "end_turn"}))

    assert talk.agent_gone("exit code 0", ()) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"Traceback (most recent call last):", "Traceback (most recent call last):"),
        (b'{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0"}'),
        (b"\xff" + b"x" * 200, "\ufffd" + "x" * 159 + " …"),
    ],
)
def test_a_line_that_is_no_message_is_shown_with_the_reason(line: bytes, told: str) -> None:
    (note,) = shown(conversation("hello").received(decode(line), line))

    assert isinstance(note, Note)
    assert note.text.startswith("a line that is no message (")
    assert note.text.endswith(f"): {told}")
