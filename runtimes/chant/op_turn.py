"""A turn that runs an Op: prepare, announce the plan, run, record, answer.  Pure.

Every stage but the run itself is one step of ours on a leaf thread.  A cancel before the run
begins leaves nothing behind; after that it goes to the run, which cleans up in its own way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from actors.turn import (
    AbortStep,
    CancelAsked,
    EndTurn,
    MachineFailed,
    ModelSaid,
    Say,
    StartStep,
    StepEnded,
    TimerFired,
    TurnResult,
    TurnStarted,
)
from ops import run_values as run
from protocol.errors import InternalError
from runtimes.chant.cancel_watch import WATCH, CancelWatch
from runtimes.chant.items import PlanAnnounced, RecordWritten, Refusal, Remark
from runtimes.chant.leaf import own_step
from runtimes.chant.run_drive import Clock, RunDrive
from runtimes.chant.run_tasks import Prepared, Recorded, RunOutcome, RunRefused
from runtimes.chant.verbs.verb import CANCELLED, FAILED, OK, WAITING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from actors.turn import CancelReason, TurnEffect, TurnEvent
    from actors.work import StepEnd
    from runtimes.chant.items import Item, PermissionAsked
    from runtimes.chant.run_tasks import RunTasks

PREPARE = "(prepare)"
WITHDRAW = "(withdraw)"
RECORD = "(record)"

OwnStage: TypeAlias = Literal["preparing", "withdrawing", "recording"]
Stage: TypeAlias = Literal["new", "running", "ended"] | OwnStage

OWN_STEPS: dict[str, str] = {"preparing": PREPARE, "withdrawing": WITHDRAW, "recording": RECORD}
RUN_CODES = {"ok": OK, "fail": FAILED, "cancelled": CANCELLED, "gated": WAITING, "waiting": WAITING}
"""A run's status to the exit code of ``chant run``."""


class AtGate(Protocol):
    """What a turn does beside telling people when its run stops at a gate."""

    @property
    def stop_reason(self) -> str:
        """How the turn ends then."""
        ...

    def ask(self, record: Mapping[str, Any]) -> PermissionAsked:
        """Put the question of the run of ``record`` to the client."""
        ...


class OpTurn:
    """One run of an Op as a turn, for a session or for the command line."""

    def __init__(
        self,
        tasks: RunTasks,
        clock: Clock,
        key: str,
        grace_s: float | None = None,
        *,
        at_gate: AtGate | None = None,
        denied: run.GateAnswered | None = None,
    ) -> None:
        """Make a turn that has not begun.

        Args:
            tasks: The work on disk and ledger.
            clock: Dates the run's events.
            key: Begins the ids of remarks; unique in the session.
            grace_s: What a cancelled step gets between TERM and KILL; None takes the host's.
            at_gate: Asks the client when the run stops at a gate; None only tells.
            denied: The run does not go forward, see `ops.run_values.RunBegun`.

        """
        self._tasks = tasks
        self._clock = clock
        self._key = key
        self._grace_s = grace_s
        self._at_gate = at_gate
        self._denied = denied
        self._stage: Stage = "new"
        self._asked: CancelReason | None = None
        self._prepared: Prepared | None = None
        self._drive: RunDrive | None = None
        self._watch: CancelWatch | None = None
        self._recorded_again = False
        self._hurry = Hurry()
        self._alive: dict[str, bool] = {}
        """Steps that were really asked for, and whether they still run; see `_failed`."""

    def handle(self, event: TurnEvent) -> list[TurnEffect]:
        """Take one event; see `actors.turn.TurnMachine`."""
        if isinstance(event, StepEnded):
            self._alive[event.end.step_id] = False
        effects = [] if self._stage == "ended" else self._take(event)
        self._alive.update((each.step_id, True) for each in effects if isinstance(each, StartStep))
        return effects

    def _take(self, event: TurnEvent) -> list[TurnEffect]:
        match event:
            case TurnStarted() if self._stage == "new":
                return self._own("preparing")
            case StepEnded(end):
                return self._step_ended(end)
            case CancelAsked(reason):
                return self._cancel(reason)
            case TimerFired(key) if self._drive and self._stage == "running":
                return self._running(self._drive.timer_fired(key))
            case ModelSaid(call_id, said) if self._drive and self._stage == "running":
                return self._running(self._drive.model_said(call_id, said))
            case MachineFailed():
                return self._failed()
            case _:
                return []

    def _own(self, stage: OwnStage) -> list[TurnEffect]:
        """Enter a stage that is one step of ours."""
        self._stage = stage
        return [self._own_step(stage)]

    def _own_step(self, stage: OwnStage) -> TurnEffect:
        """Make the step of a stage.

        A hard stop spares it: what it leaves half done on the disk passes for an interrupted run.
        """
        match stage:
            case "preparing":
                prepare = self._tasks.prepare
                return own_step(PREPARE, lambda context: prepare(context.cancel), spared=True)
            case "withdrawing":
                prepared = self._known_run()
                withdraw = self._tasks.withdraw
                return own_step(WITHDRAW, lambda _: withdraw(prepared), spared=True)
            case "recording":
                prepared, record = self._known_run(), self._known_drive().record
                # Not the step's own token: one that is aborted before it began would not record.
                keep, hurry = self._tasks.record, self._hurry
                return own_step(RECORD, lambda _: keep(prepared, record, hurry), spared=True)

    def _step_ended(self, end: StepEnd) -> list[TurnEffect]:
        if end.step_id == WATCH and self._watch is not None:
            return self._watch_ended(self._watch, end)
        if self._stage == "running":
            return self._running(self._known_drive().step_ended(end))
        if end.step_id != OWN_STEPS.get(self._stage):
            return []  # a step of the run that had been given up for lost
        match self._stage:
            case "preparing":
                return self._prepare_ended(end)
            case "recording":
                return self._record_ended(end)
            case _ if self._asked:
                return self._end(TurnResult("cancelled", value=RunOutcome(CANCELLED)))
            case _:
                return self._end(TurnResult(error=InternalError(), value=RunOutcome(FAILED)))

    def _prepare_ended(self, end: StepEnd) -> list[TurnEffect]:
        found = end.value  # also when it was aborted: what it left behind must be taken back
        if isinstance(found, Prepared):
            self._prepared = found
            return self._own("withdrawing") if self._asked else self._begin(found)
        if self._asked:
            return self._end(TurnResult("cancelled", value=RunOutcome(CANCELLED)))
        if isinstance(found, RunRefused):
            return self._refuse(found)
        reason = f"the run could not be prepared: {end.error or end.kind}"
        outcome = RunOutcome(FAILED, reason=reason)
        return self._end(TurnResult("refusal", error=InternalError(), value=outcome))

    def _refuse(self, refused: RunRefused) -> list[TurnEffect]:
        outcome = RunOutcome(refused.code, reason=refused.reason)
        said = Refusal(f"{self._key}/refusal", f"{refused.reason}\n")
        meta = {"chant": {"exitCode": refused.code}}
        return self._end(TurnResult("refusal", meta, value=outcome), said)

    def _begin(self, prepared: Prepared) -> list[TurnEffect]:
        self._stage = "running"
        self._drive = RunDrive(prepared, self._tasks, self._clock, self._grace_s)
        self._watch = CancelWatch(prepared)
        plan = PlanAnnounced(prepared.context.run_id, prepared.plan)
        said = Say((*self._remarks(prepared.remarks), plan))
        return [
            said,
            *self._watch.start(),
            *self._running(self._drive.hear(run.RunBegun(self._denied))),
        ]

    def _running(self, effects: list[TurnEffect]) -> list[TurnEffect]:
        """Pass on what the run wants; when it has settled, its record comes next."""
        if not self._known_drive().settled:
            return effects
        listening = self._watch.stop() if self._watch else []
        return [*effects, *listening, *self._own("recording")]

    def _watch_ended(self, watch: CancelWatch, end: StepEnd) -> list[TurnEffect]:
        """Cancel the run if another process asked for it, and listen on: a second may follow."""
        wish = watch.ended(end)
        if self._stage != "running":
            return []
        if wish is None:
            return watch.start() if watch.broke(end) else []
        said = Say(tuple(self._remarks(["cancelled by chant run cancel"])))
        cancel = run.CancelAsked(hard=wish == "hard_stop")
        return [said, *watch.start(), *self._running(self._known_drive().hear(cancel))]

    def _cancel(self, reason: CancelReason) -> list[TurnEffect]:
        first, self._asked = self._asked is None, reason
        if self._stage == "recording" or reason != "client":
            self._hurry.set()
        match self._stage:
            case "new":
                return self._end(TurnResult("cancelled", value=RunOutcome(CANCELLED)))
            case "preparing":
                return [AbortStep(PREPARE)] if first else []
            case "running":
                cancel = run.CancelAsked(hard=reason == "hard_stop")
                return self._running(self._known_drive().hear(cancel))
            case _:
                return []

    def _failed(self) -> list[TurnEffect]:
        """Go on after we raised: what that event made us want was never performed."""
        alive = frozenset(step_id for step_id, runs in self._alive.items() if runs)
        match self._stage:
            case "running" if self._drive is not None:
                lost = self._drive.host_lost("a fault of chant", alive)
                listening = self._watch.lost() if self._watch and WATCH not in alive else []
                return [*listening, *self._running(lost)]
            case "recording" if RECORD not in self._alive:
                return self._own("recording")
            case "preparing" | "running" if self._prepared is not None:
                return self._own("withdrawing")
            case _ if not alive:
                return self._end(TurnResult(error=InternalError(), value=RunOutcome(FAILED)))
            case _:
                return [AbortStep(PREPARE)] if self._asked and PREPARE in alive else []

    def _record_ended(self, end: StepEnd) -> list[TurnEffect]:
        drive = self._known_drive()
        reported = isinstance(end.value, Recorded)
        if end.kind in {"failed", "lost"} and not self._recorded_again:
            # A fault of ours, or no thread to be had.  The ledger takes a run only once, and one
            # that is not there would pass for interrupted.
            self._recorded_again = True
            return [self._own_step("recording")]
        recorded = end.value if reported else Recorded(lost=end.error or end.kind)
        said: list[str] = [*recorded.remarks]
        if drive.left_out:
            said.append(f"clean-up was cut short; not run: {', '.join(drive.left_out)}")
        if recorded.lost is not None:
            said.append(f"the run is not in the ledger: {recorded.lost}")
        last: list[Item] = [*self._remarks(said), RecordWritten(drive.run_id, drive.record)]
        result = self._result(recorded)
        if self._at_gate is None or drive.record["status"] != "gated" or self._asked:
            return self._end(result, *last)
        asked = self._at_gate.ask(drive.record)
        waits = {**result.meta["chant"], "state": "waiting", "requestId": asked.request_id}
        ends = TurnResult(self._at_gate.stop_reason, {"chant": waits}, value=result.value)
        return self._end(ends, *last, asked)

    def _result(self, recorded: Recorded) -> TurnResult:
        record = self._known_drive().record
        status = str(record["status"])
        # A run that nobody can find again did not go well.
        code = RUN_CODES[status] or (OK if recorded.lost is None else FAILED)
        chant = {"runId": record["id"], "status": status, "exitCode": code}
        stop_reason = "cancelled" if self._asked or status == "cancelled" else "end_turn"
        return TurnResult(stop_reason, {"chant": chant}, value=RunOutcome(code, record))

    def _end(self, result: TurnResult, *said: Item | PermissionAsked) -> list[TurnEffect]:
        self._stage = "ended"
        return [Say(said), EndTurn(result)] if said else [EndTurn(result)]

    def _remarks(self, texts: Sequence[str]) -> list[Remark]:
        return [Remark(f"{self._key}/remark", f"{text}\n") for text in texts]

    def _known_run(self) -> Prepared:
        if self._prepared is None:
            raise _OutOfOrderError(self._stage)
        return self._prepared

    def _known_drive(self) -> RunDrive:
        if self._drive is None:
            raise _OutOfOrderError(self._stage)
        return self._drive


class Hurry:
    """Set when nobody wants to wait for the record of a run; read on its step's own thread.

    A client's cancel before that is no reason: the remote then gets the few seconds that
    `RunTasks.record` gives a cancelled run, which a remote that is well does not need.
    """

    def __init__(self) -> None:
        self._set = False

    def set(self) -> None:
        """Note it, for good."""
        self._set = True

    def is_set(self) -> bool:
        """Tell whether it was set."""
        return self._set


class _OutOfOrderError(RuntimeError):
    """A stage was entered without what it needs: a bug of ours."""
