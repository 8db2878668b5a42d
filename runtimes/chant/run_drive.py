"""Joins the machine of a run to the effects of a turn.  No I/O: `ops` decides, actors perform."""

from __future__ import annotations

from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol, assert_never

from actors import turn
from ops import run_values as run
from ops.activities import called
from ops.errors import OpsError
from ops.events import StepOutput
from ops.run_state import RunState
from ops.step_env import process_env
from ops.step_result import failed
from ops.work import ActivityContext
from runtimes.chant.items import Remark
from runtimes.chant.leaf import own_step
from runtimes.chant.own_steps import GATE, MARK, MODEL_KEY, POINT
from runtimes.chant.run_tasks import GateLooked
from runtimes.chant.step_values import result_of, startable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from actors.work import Render, StepEnd, Stream
    from runtimes.chant.asking import Asking
    from runtimes.chant.run_tasks import Prepared, RunTasks


class Clock(Protocol):
    """Both clocks of a runtime; `actors.platform` has them."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...

    def wall(self) -> float:
        """Seconds since the epoch."""
        ...


class RunDrive:
    """One run.  ``settled`` is None until it is over."""

    def __init__(
        self, prepared: Prepared, tasks: RunTasks, clock: Clock, grace_s: float | None
    ) -> None:
        self.settled: run.Settle | None = None
        self._prepared = prepared
        self._tasks = tasks
        self._clock = clock
        self._grace_s = grace_s
        # Shared with the render functions, which number what steps print on their own threads.
        self._numbers = count(1)
        self._state = RunState(prepared.plan, prepared.context, self._numbers)
        self._held: deque[run.Effect] = deque()
        self._marking = False
        self._timeouts: dict[str, float | None] = {}
        self._looking: set[str] = set()
        """Our own steps that look a gate up."""
        self._asking = self._desk() if any(step.point for step in prepared.plan.steps) else None

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._prepared.context.run_id

    @property
    def record(self) -> Mapping[str, Any]:
        """The run's line for the ledger; empty before it has settled."""
        return self.settled.record if self.settled else {}

    @property
    def left_out(self) -> tuple[str, ...]:
        """The on_failure phases that should have run and did not."""
        return self._state.not_run

    def hear(self, said: run.RunInput) -> list[turn.TurnEffect]:
        """Give the run an input and return what is to be performed, in order."""
        self._hear(said)
        if isinstance(said, run.CancelAsked):
            # A run that stops at the gate must not use up its approval.
            looking = map(turn.AbortStep, sorted(self._looking))
            return [*self._released(), *looking, *self._silenced()]
        return self._released()

    def step_ended(self, end: StepEnd) -> list[turn.TurnEffect]:
        """Take the end of a step that this run started, or of our own that noted clean-up."""
        if end.step_id == MARK:
            self._marking = False
            return self._released()
        if end.step_id.startswith(GATE):
            return self._looked(end)
        if self._asking is not None and end.step_id.startswith(POINT):
            return self._asking.step_ended(end)
        result = result_of(end, self._timeouts.pop(end.step_id, None))
        return self.hear(run.StepFinished(end.step_id, result))

    def model_said(self, call_id: str, event: Any) -> list[turn.TurnEffect]:
        """Take a piece of the stream of a model that decides, or its end."""
        return [] if self._asking is None else self._asking.model_said(call_id, event)

    def timer_fired(self, key: str) -> list[turn.TurnEffect]:
        """Take the end of a wait: the run's own, or for a model."""
        if self._asking is not None and key.startswith(MODEL_KEY):
            return self._asking.timer_fired(key)
        return self.hear(run.Tick(key))

    def _looked(self, end: StepEnd) -> list[turn.TurnEffect]:
        self._looking.discard(end.step_id)
        looked = end.value
        if not isinstance(looked, GateLooked):
            error = end.error or f"it could not be looked up: {end.kind}"
            step_id = end.step_id.removeprefix(GATE)
            looked = GateLooked(run.GateAnswered(step_id, "unreadable", error=error))
        remarks = [Remark(f"{self.run_id}/gate/note", f"{text}\n") for text in looked.remarks]
        return [*_say(remarks), *self.hear(looked.answer)]

    def host_lost(self, reason: str, alive: frozenset[str]) -> list[turn.TurnEffect]:
        """Go on after whoever performed our effects crashed and forgot them."""
        again: list[turn.TurnEffect] = []
        if self._marking and MARK not in alive:
            again.append(self._mark())
        # What is held was not lost with the rest: it is asked for as soon as the note is written.
        held = {each.step_id for each in self._held if isinstance(each, run.StartStep)}
        return [
            *again,
            *self._silenced(),
            *self.hear(run.HostLost(reason, alive | held)),
        ]

    def _desk(self) -> Asking:
        # Models and their settings are half of what a run would have to import.
        from runtimes.chant.asking import Asking

        return Asking(self._prepared.points, self.run_id, self.hear)

    def _silenced(self) -> list[turn.TurnEffect]:
        """End what is being asked."""
        return [] if self._asking is None else self._asking.cancel()

    def _hear(self, said: run.RunInput) -> None:
        moment = run.Moment(self._clock.wall(), self._clock.monotonic())
        self._held.extend(self._state.handle(said, moment))

    def _released(self) -> list[turn.TurnEffect]:
        """Translate what the run wants, up to where it waits for the note about clean-up."""
        effects: list[turn.TurnEffect] = []
        said: list[Any] = []
        while self._held and not self._marking:
            effect = self._held.popleft()
            if isinstance(effect, run.Emit):
                said.append(effect.event)
                continue
            effects += _say(said)
            said.clear()
            effects += self._performed(effect)
        return [*effects, *_say(said)]

    def _performed(self, effect: run.Effect) -> list[turn.TurnEffect]:
        match effect:
            case run.StartStep():
                return self._start(effect)
            case run.AbortStep(step_id):
                return [turn.AbortStep(step_id)]
            case run.ArmTimer(key, delay_s):
                return [turn.ArmTimer(key, delay_s)]
            case run.DropTimer(key):
                return [turn.DropTimer(key)]
            case run.RecordGate():
                return [self._look_up(effect)]
            case run.AskPoint() if self._asking is not None:
                return self._asking.ask(effect)
            case run.AskPoint(step_id):
                self._hear(run.PointAnswered(step_id, "failed", error="this run can ask nobody"))
            case run.MarkCompensation():
                self._marking = True
                return [self._mark()]
            case run.Settle():
                self.settled = effect
            case run.Emit():
                return [turn.Say((effect.event,))]
            case _:
                assert_never(effect)
        return []

    def _start(self, effect: run.StartStep) -> list[turn.TurnEffect]:
        env = process_env(self._prepared.environ, effect.env)
        try:
            prepare = called(effect.step.fn, effect.step.call).prepare
            work = startable(prepare(effect.args, ActivityContext(self._prepared.root, env)))
        except OpsError as error:
            self._hear(run.StepFinished(effect.step_id, failed(error.message)))
            return []
        self._timeouts[effect.step_id] = effect.timeout_s
        render, limit_s = self._render(effect.step_id), effect.timeout_s
        return [turn.StartStep(effect.step_id, work, render, limit_s, self._grace_s)]

    def _look_up(self, asked: run.RecordGate) -> turn.StartStep:
        step_id, prepared, tasks = f"{GATE}{asked.step_id}", self._prepared, self._tasks
        self._looking.add(step_id)
        return own_step(step_id, lambda context: tasks.reach_gate(prepared, asked, context.cancel))

    def _render(self, step_id: str) -> Render:
        run_id, numbers, clock = self._prepared.context.run_id, self._numbers, self._clock

        def render(stream: Stream, text: str) -> tuple[StepOutput, ...]:
            return (StepOutput(run_id, step_id, next(numbers), clock.wall(), stream, text),)

        return render

    def _mark(self) -> turn.StartStep:
        return own_step(MARK, lambda _: self._tasks.mark_compensation(self._prepared))


def _say(items: Iterable[Any]) -> list[turn.TurnEffect]:
    said = tuple(items)
    return [turn.Say(said)] if said else []
