"""Turns without a run: a verb's output streams, refusals are said, every end is one end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from actors.turn import AbortStep, EndTurn, StepEnded, TurnStarted
from actors.work import StepEnd
from runtimes.chant.items import Remark, VerbOutput
from runtimes.chant.verb_turn import VERB, RemarkedTurn, SaidTurn, VerbTurn
from tests.runtimes.chant.hosts import PlayedHost

if TYPE_CHECKING:
    from actors.work import WorkContext


def answers(context: WorkContext) -> int:
    context.emit("stdout", "hello")
    return 3


def refuses(context: WorkContext) -> str:
    del context
    return "no project here"


def test_a_verb_runs_as_one_step_and_its_exit_code_is_told() -> None:
    host = PlayedHost(VerbTurn("list", answers, "k")).start()
    assert list(host.running[VERB].render("stdout", "a")) == [VerbOutput("k/stdout", "a")]
    host.perform(VERB)

    assert host.result is not None
    assert host.result.stop_reason == "end_turn"
    assert host.result.meta == {"chant": {"exitCode": 3}}


def test_a_verb_that_may_not_run_is_a_refusal_with_the_reason() -> None:
    host = PlayedHost(VerbTurn("list", refuses, "k")).start()
    host.perform(VERB)

    assert host.result is not None
    assert host.result.stop_reason == "refusal"
    assert host.said == [Remark("k/refusal", "no project here\n")]


def test_a_bug_in_a_verb_is_an_internal_error() -> None:
    host = PlayedHost(VerbTurn("list", answers, "k")).start()
    host.hear(StepEnded(StepEnd(VERB, "failed", error="secret")))

    assert host.result is not None
    assert host.result.error is not None
    assert host.said == []


def test_a_cancelled_verb_answers_cancelled() -> None:
    host = PlayedHost(VerbTurn("list", answers, "k")).start()
    host.cancel()
    host.cancel()
    assert host.effects.count(AbortStep(VERB)) == 1
    host.perform(VERB)

    assert host.result is not None
    assert host.result.stop_reason == "cancelled"


@given(st.lists(st.sampled_from(["cancel", "end", "fail"]), max_size=8))
def test_a_verb_turn_ends_at_most_once_whatever_comes(events: list[str]) -> None:
    host = PlayedHost(VerbTurn("list", answers, "k")).start()
    for event in [*events, "end"]:
        if event == "cancel":
            host.cancel()
        elif event == "fail":
            host.fail()
        elif VERB in host.running:
            host.perform(VERB)

    assert host.result is not None


def test_a_refusal_says_why_and_runs_nothing() -> None:
    host = PlayedHost(SaidTurn("no verb", "refusal", "k")).start()
    host.cancel()

    assert [type(effect).__name__ for effect in host.effects] == ["Say", "EndTurn"]
    assert host.said == [Remark("k/refusal", "no verb\n")]


def test_a_cancel_before_a_refusal_is_said_answers_cancelled() -> None:
    host = PlayedHost(SaidTurn("no verb", "refusal", "k"))
    host.cancel()

    assert host.result is not None
    assert host.result.stop_reason == "cancelled"
    assert host.said == []


def test_a_remark_comes_before_the_turns_own_words() -> None:
    turn = RemarkedTurn(SaidTurn("no verb", "refusal", "k"), "links are passed over", "k")

    effects = turn.handle(TurnStarted())

    texts = [item.text for effect in effects for item in getattr(effect, "items", ())]
    assert texts == ["links are passed over\n", "no verb\n"]
    assert isinstance(effects[-1], EndTurn)
