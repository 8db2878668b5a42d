"""The questions that a run asks, as effects of its turn: look up, call a model, write down.

No I/O: each question is one or two steps of ours, with a model's stream between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from actors import turn
from actors.model_call import ModelEnded, ModelRequest
from ops.points_asking import NotReached
from ops.points_reply import MAX_REPLY_CHARS, read_reply
from ops.run_values import PointAnswered
from runtimes.chant.items import Remark
from runtimes.chant.leaf import own_step
from runtimes.chant.own_steps import MODEL_KEY, POINT
from runtimes.chant.point_tasks import PointLooked
from runtimes.models.base import CallFailed, Finished, TextDelta
from runtimes.models.providers import ProviderMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from actors.work import StepEnd
    from ops.points import Point
    from ops.points_asking import ModelWanted, Said
    from ops.run_values import AskPoint
    from runtimes.chant.point_tasks import PointTasks

MODEL_LIMIT_S = 120.0
"""A decision is a few words; a model that needs longer counts as not reached."""


@dataclass(slots=True)
class _Call:
    """A model that is being asked."""

    step_id: str
    point: Point
    wanted: ModelWanted
    pieces: list[str] = field(default_factory=list[str])
    length: int = 0
    end: Finished | CallFailed | None = None
    late: bool = False


class Asking:
    """The questions of one run.  ``answered`` tells the run, and returns what it wants then."""

    def __init__(
        self,
        tasks: PointTasks | None,
        run_id: str,
        answered: Callable[[PointAnswered], list[turn.TurnEffect]],
    ) -> None:
        """Ask nothing yet; without ``tasks`` every question fails."""
        self._tasks = tasks
        self._run_id = run_id
        self._answered = answered
        self._looking: set[str] = set()
        self._calls: dict[str, _Call] = {}

    def ask(self, asked: AskPoint) -> list[turn.TurnEffect]:
        """Begin with a question."""
        tasks = self._tasks
        if tasks is None:
            error = "this run can ask nobody"
            return self._answered(PointAnswered(asked.step_id, "failed", error=error))
        return [self._look(asked.step_id, lambda stop: tasks.ask(asked, stop))]

    def step_ended(self, end: StepEnd) -> list[turn.TurnEffect]:
        """Take the end of a step whose id begins with `POINT`."""
        self._looking.discard(end.step_id)
        step_id, looked = end.step_id.removeprefix(POINT), end.value
        if not isinstance(looked, PointLooked):
            error = end.error or f"it could not be asked: {end.kind}"
            return self._answered(PointAnswered(step_id, "failed", error=error))
        texts = [Remark(f"{self._run_id}/point/note", f"{text}\n") for text in looked.remarks]
        said: list[turn.TurnEffect] = [turn.Say(tuple(texts))] if texts else []
        if looked.wanted is not None:
            return said + self._call(step_id, looked.point, looked.wanted)
        if looked.answer is not None:
            return said + self._answered(looked.answer)
        return said

    def model_said(self, call_id: str, event: Any) -> list[turn.TurnEffect]:
        """Take a piece of a model's stream, or its end."""
        call = self._calls.get(call_id)
        if call is None:
            return []
        match event:
            case TextDelta(text):
                return self._more(call_id, call, text)
            case Finished() | CallFailed():
                call.end = event
            case ModelEnded():
                del self._calls[call_id]
                return [turn.DropTimer(f"{MODEL_KEY}{call_id}"), self._write(call, event)]
            case _:
                pass
        return []

    def timer_fired(self, key: str) -> list[turn.TurnEffect]:
        """End a call that takes too long."""
        call_id = key.removeprefix(MODEL_KEY)
        call = self._calls.get(call_id)
        if call is None:
            return []
        call.late = True
        return [turn.AbortCall(call_id)]

    def cancel(self) -> list[turn.TurnEffect]:
        """Let go of what is being asked: the run does not wait for it any more."""
        calls, self._calls = self._calls, {}
        ended: list[turn.TurnEffect] = [turn.AbortStep(each) for each in sorted(self._looking)]
        for call_id in calls:
            ended += [turn.DropTimer(f"{MODEL_KEY}{call_id}"), turn.AbortCall(call_id)]
        return ended

    def _look(self, step_id: str, look: Callable[[Any], PointLooked]) -> turn.TurnEffect:
        own_id = f"{POINT}{step_id}"
        self._looking.add(own_id)
        return own_step(own_id, lambda context: look(context.cancel))

    def _call(self, step_id: str, point: Point, wanted: ModelWanted) -> list[turn.TurnEffect]:
        tasks = self._known_tasks()
        call_id = f"{step_id}/{wanted.place}"
        self._calls[call_id] = _Call(step_id, point, wanted)
        request = ModelRequest(lambda cancel: tasks.open_call(point, wanted, cancel), _unseen)
        timer = turn.ArmTimer(f"{MODEL_KEY}{call_id}", MODEL_LIMIT_S)
        return [turn.StartCall(call_id, request), timer]

    def _more(self, call_id: str, call: _Call, text: str) -> list[turn.TurnEffect]:
        first_too_many = call.length <= MAX_REPLY_CHARS < call.length + len(text)
        call.length += len(text)
        if call.length <= MAX_REPLY_CHARS:
            call.pieces.append(text)
        return [turn.AbortCall(call_id)] if first_too_many else []

    def _write(self, call: _Call, ended: ModelEnded) -> turn.TurnEffect:
        tasks, said = self._known_tasks(), _said(call, ended)
        return self._look(
            call.step_id,
            lambda stop: tasks.after_model(call.point, call.step_id, call.wanted, said, stop),
        )

    def _known_tasks(self) -> PointTasks:
        assert self._tasks is not None  # noqa: S101 - only asked where there are tasks
        return self._tasks


def _said(call: _Call, ended: ModelEnded) -> Said | NotReached:
    """Judge how a call ended."""
    if call.late:
        return NotReached(f"it gave no answer within {MODEL_LIMIT_S:g} s")
    if call.length > MAX_REPLY_CHARS:
        return NotReached(f"its reply is longer than {MAX_REPLY_CHARS} characters")
    match call.end:
        case Finished("stop"):
            return read_reply(call.point, "".join(call.pieces))
        case Finished(reason):
            return NotReached(f"its reply ended with {reason!r}")
        case CallFailed(message):
            return NotReached(message)
        case None if isinstance(ended.error, ProviderMissing):
            return NotReached(str(ended.error))
        case None if ended.error is not None:
            return NotReached("the call failed by a fault of ours; the log has it")
        case None:
            return NotReached("its reply broke off")


def _unseen(event: Any) -> Iterable[Any]:
    """Show nothing of what a decider's model says: its proposal comes with the question."""
    del event
    return ()
