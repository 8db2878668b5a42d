"""A run's questions as effects of its turn: looked up, a model in between, time out, cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from actors import turn
from actors.model_call import ModelEnded
from actors.work import CallableWork, StepEnd
from ops.plan import PlannedStep
from ops.points_asking import ModelWanted, NotReached, Said, ask
from ops.points_reply import MAX_REPLY_CHARS
from ops.run_values import AskPoint, PointAnswered
from runtimes.chant.asking import MODEL_LIMIT_S, Asking
from runtimes.chant.point_tasks import PointLooked
from runtimes.models.base import CallFailed, Finished, ReasoningDelta, TextDelta, Usage
from runtimes.models.providers import ProviderMissing
from tests.ops.questions import NOW_S, asker, point
from tests.runtimes.chant.hosts import Context

if TYPE_CHECKING:
    from runtimes.chant.point_tasks import PointTasks

ASK = AskPoint("ask", PlannedStep("ask", "Build", "point", "point:ship-it", point="ship-it"), {})
CALL = "ask/1"


def wanted() -> ModelWanted:
    found = ask(point(), {"risk": "odd"}, asker("box"), ("inference",), NOW_S)
    assert isinstance(found, ModelWanted)
    return found


class FakeTasks:
    """Wants a model first, and keeps what it is told of it."""

    def __init__(self) -> None:
        self.said: list[Said | NotReached] = []

    def ask(self, asked: AskPoint, stop: object) -> PointLooked:
        del asked, stop
        return PointLooked(point(), wanted=wanted(), remarks=("warning: late",))

    def after_model(self, _point: Any, step_id: str, _wanted: Any, said: Any, _stop: Any) -> Any:
        self.said.append(said)
        return PointLooked(point(), PointAnswered(step_id, "open", fact={"id": "q"}))


class Host:
    """Performs what `Asking` wants."""

    def __init__(self) -> None:
        self.tasks = FakeTasks()
        self.answers: list[PointAnswered] = []
        tasks: Any = self.tasks
        self.asking = Asking(tasks, "r1", self._answered)

    def _answered(self, answer: PointAnswered) -> list[turn.TurnEffect]:
        self.answers.append(answer)
        return []

    def look(self, effects: list[turn.TurnEffect]) -> list[turn.TurnEffect]:
        """Run the one step of ours among ``effects`` and tell its end."""
        (step,) = [each for each in effects if isinstance(each, turn.StartStep)]
        assert isinstance(step.work, CallableWork)
        value = step.work.run(Context())
        return self.asking.step_ended(StepEnd(step.step_id, "returned", value=value))

    def call(self) -> list[turn.TurnEffect]:
        """Ask, and come to the model's call."""
        return self.look(self.asking.ask(ASK))

    def hear(self, *events: Any) -> list[turn.TurnEffect]:
        return [effect for event in events for effect in self.asking.model_said(CALL, event)]

    def said(self, *events: Any) -> Said | NotReached:
        """Bring a whole stream and return what was made of it."""
        self.call()
        self.look(self.hear(*events))
        (said,) = self.tasks.said
        return said


DONE = ModelEnded("done")
YES = '{"answer": "yes", "confidence": 0.9}'


def test_a_model_is_called_after_the_question_was_looked_up_and_has_a_limit() -> None:
    said, call, timer = Host().call()

    assert isinstance(said, turn.Say)
    assert isinstance(call, turn.StartCall)
    assert call.call_id == CALL
    assert list(call.request.render(TextDelta("secret"))) == []
    assert timer == turn.ArmTimer(f"model:{CALL}", MODEL_LIMIT_S)


def test_the_pieces_of_a_reply_are_joined_and_the_rest_is_passed_over() -> None:
    host = Host()

    said = host.said(
        ReasoningDelta("hm"),
        TextDelta(YES[:9]),
        TextDelta(YES[9:]),
        Usage(1, 1),
        Finished("stop"),
        DONE,
    )

    assert said == Said("yes", 0.9)
    assert host.answers == [PointAnswered("ask", "open", fact={"id": "q"})]


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ((CallFailed("down", 503), DONE), "down"),
        ((TextDelta(YES), DONE), "its reply broke off"),
        ((TextDelta(YES), Finished("length"), DONE), "its reply ended with 'length'"),
        ((ModelEnded("failed", ProviderMissing("no such provider")),), "no such provider"),
        ((ModelEnded("failed", ValueError("key=hunter2")),), "the call failed by a fault of ours"),
    ],
)
def test_a_call_that_brings_no_whole_reply_is_not_reached(
    events: tuple[Any, ...], reason: str
) -> None:
    said = Host().said(*events)

    assert isinstance(said, NotReached)
    assert said.reason.startswith(reason)
    assert "hunter2" not in said.reason


def test_a_reply_without_end_is_cut_off_once() -> None:
    host = Host()
    host.call()
    piece = TextDelta("x" * (MAX_REPLY_CHARS // 2))

    effects = host.hear(piece, piece, piece, piece)

    assert effects == [turn.AbortCall(CALL)]
    host.look(host.hear(ModelEnded("cancelled")))
    assert host.tasks.said == [NotReached(f"its reply is longer than {MAX_REPLY_CHARS} characters")]


def test_a_model_that_takes_too_long_is_not_reached() -> None:
    host = Host()
    host.call()

    assert host.asking.timer_fired(f"model:{CALL}") == [turn.AbortCall(CALL)]
    host.look(host.hear(ModelEnded("cancelled")))

    assert host.tasks.said == [NotReached("it gave no answer within 120 s")]
    assert host.asking.timer_fired(f"model:{CALL}") == []


def test_a_cancel_lets_go_of_the_call_and_its_end_asks_nobody() -> None:
    host = Host()
    host.call()

    assert host.asking.cancel() == [turn.DropTimer(f"model:{CALL}"), turn.AbortCall(CALL)]
    assert host.hear(ModelEnded("cancelled")) == []
    assert host.answers == []


def test_a_cancel_while_a_question_is_looked_up_stops_looking() -> None:
    host = Host()
    host.asking.ask(ASK)

    assert host.asking.cancel() == [turn.AbortStep("(point) ask")]


def test_a_look_that_went_wrong_is_a_failed_question() -> None:
    host = Host()
    host.asking.ask(ASK)

    host.asking.step_ended(StepEnd("(point) ask", "failed", error="boom"))

    assert host.answers == [PointAnswered("ask", "failed", error="boom")]


def test_a_run_without_questions_of_its_own_fails_one_that_comes_all_the_same() -> None:
    answers: list[PointAnswered] = []
    tasks: PointTasks | None = None

    def answered(answer: PointAnswered) -> list[turn.TurnEffect]:
        answers.append(answer)
        return []

    Asking(tasks, "r1", answered).ask(ASK)

    assert answers == [PointAnswered("ask", "failed", error="this run can ask nobody")]
