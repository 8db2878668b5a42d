"""The work of a run on a real project: its files, its git repository, its ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ops.branch import PATIENCE_S
from ops.errors import LedgerError, OpsError
from ops.facts import run_facts
from ops.faults import NoFaults
from ops.in_flight import InFlight, settle_interrupted
from ops.ledger import Ledger, NoLedger, open_ledger
from ops.run_id import new_run_id
from ops.run_state import RunState
from ops.run_values import Moment, RunContext
from runtimes.chant.beforehand import running_beside, unknown_history, unmet_depends
from runtimes.chant.error_text import reason_of, system_reason
from runtimes.chant.planning import planned, refusal_code
from runtimes.chant.run_tasks import Prepared, Recorded, RunRefused
from runtimes.chant.verbs.verb import REFUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.faults import Faults
    from ops.gate_ledger import Answered
    from ops.gates import GateAnswer
    from ops.git import Stopping
    from ops.in_flight import Living, Marker
    from ops.plan import Plan
    from ops.run_values import RecordGate
    from runtimes.chant.planning import Planned
    from runtimes.chant.point_tasks import PointTasks
    from runtimes.chant.run_tasks import GateLooked, RunRequest
    from runtimes.models.base import Provider

RUN_ID_BYTES = 4

CANCELLED_PATIENCE_S = 5.0
"""What the remote gets for the record of a run that somebody cancelled.  Whoever did waits for the
answer; a remote that is well takes less, and the next push takes the record along."""


class Source(Protocol):
    """Where dates and ids come from; `actors.platform` has them."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...

    def wall(self) -> float:
        """Seconds since the epoch."""
        ...

    def entropy(self, size: int) -> bytes:
        """Return random bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Keeper:
    """What a prepared run leaves in the repository while it runs."""

    ledger: Ledger
    marker: Marker


class ProjectTasks:
    """`RunTasks` for one request.  Called on leaf threads, one call at a time."""

    def __init__(
        self,
        request: RunRequest,
        source: Source,
        faults: Faults | None = None,
        provider: Callable[[str], Provider] | None = None,
    ) -> None:
        """Work for ``request``; ``provider`` finds models, None: those a person configured."""
        self._provider = provider or self._configured
        self._faults: Faults = faults or NoFaults()
        self._request = request
        self._source = source

    def prepare(self, stop: Stopping) -> Prepared | RunRefused | None:
        """See `RunTasks.prepare`."""
        try:
            return self._prepare(stop)
        except OpsError as error:
            return RunRefused(error.message, refusal_code(error))
        except OSError as error:
            return RunRefused(f"the run can't be prepared: {system_reason(error)}", REFUSED)

    def withdraw(self, prepared: Prepared) -> None:
        """See `RunTasks.withdraw`."""
        if isinstance(prepared.keeper, Keeper):
            prepared.keeper.marker.end()

    def reach_gate(self, prepared: Prepared, asked: RecordGate, stop: Stopping) -> GateLooked:
        """See `RunTasks.reach_gate`."""
        from runtimes.chant.gates import reach_gate

        keeper = prepared.keeper
        ledger = keeper.ledger if isinstance(keeper, Keeper) else None
        return reach_gate(ledger, prepared, asked, self._source.wall(), stop)

    def answer(self, given: GateAnswer, stop: Stopping) -> Answered:
        """See `runtimes.chant.run_tasks.AnswerTasks`."""
        from runtimes.chant.answer_gate import answer_gate

        request, now_s = self._request, self._source.wall()
        cwd, environ, faults = request.cwd, request.environ, self._faults
        return answer_gate(cwd, environ, given, now_s, stop=stop, faults=faults)

    def plan(self) -> Plan:
        """See `runtimes.chant.run_tasks.AnswerTasks`."""
        return planned(self._request).plan

    def mark_compensation(self, prepared: Prepared) -> None:
        """See `RunTasks.mark_compensation`."""
        if isinstance(prepared.keeper, Keeper):
            prepared.keeper.marker.mark_compensation()

    def record(
        self, prepared: Prepared, record: Mapping[str, Any], stop: Stopping | None = None
    ) -> Recorded:
        """See `RunTasks.record`.  Without a record the mark stays and keeps it, if it can."""
        keeper = prepared.keeper
        if not isinstance(keeper, Keeper):
            return Recorded()
        patience_s = CANCELLED_PATIENCE_S if record["cancels"] else PATIENCE_S
        try:
            appended = keeper.ledger.append_run(record, stop, patience_s)
        except (LedgerError, OSError) as error:  # a full disk stops us before git can say so
            kept = keeper.marker.keep(record)
            hint = "; it is kept beside it, and the next run brings it in" if kept else ""
            return Recorded(lost=reason_of(error) + hint)
        remarks = (appended.warning,) if appended.warning else ()
        try:
            keeper.marker.end()
        except OSError as error:  # it is recorded all the same
            return Recorded((*remarks, f"its note can't be taken away: {system_reason(error)}"))
        return Recorded(remarks)

    def _prepare(self, stop: Stopping) -> Prepared | RunRefused | None:
        request = self._request
        found = planned(request)
        ledger = (
            None
            if request.no_ledger
            else open_ledger(found.project.root, found.project.ledger, self._faults)
        )
        if isinstance(ledger, NoLedger):
            hint = "with --no-ledger it runs and leaves no record"
            return RunRefused(f"{ledger.reason}; {hint}", REFUSED)
        if ledger is None and (gates := _gates(found)):
            reason = f"{found.op.name} has gates ({', '.join(gates)}), which only the ledger opens"
            return RunRefused(f"{reason}; it can't run with --no-ledger", REFUSED)
        remarks = [f"warning: {problem}" for problem in found.catalog.problems]
        living: list[Living] = []
        if ledger is None:
            remarks.append("without the ledger: this run leaves no record")
        else:
            remarks += [*unknown_history(ledger), *self._settle_interrupted(ledger, stop)]
            living += InFlight(ledger.state_dir, self._faults).living()
        op, env = found.op, found.plan.env
        unmet = [] if request.ignore_depends else unmet_depends(op, env, ledger, living)
        if unmet:
            return RunRefused("; ".join(unmet) + "; --ignore-depends runs it all the same", REFUSED)
        context = self._context(found)
        if stop.is_set():
            return None
        return self._marked(
            found, context, ledger, [*remarks, *running_beside(op.name, env, living)]
        )

    def _context(self, found: Planned) -> RunContext:
        request = self._request
        facts = run_facts(found.project.root, request.environ)
        return RunContext(
            run_id=new_run_id(self._source.wall(), self._source.entropy(RUN_ID_BYTES)),
            actor=facts.actor,
            origin=request.origin,
            steward=request.steward,
            host=facts.host,
            commit=facts.commit,
            dirty=facts.dirty,
            ignored_depends=request.ignore_depends,
        )

    def _marked(
        self, found: Planned, context: RunContext, ledger: Ledger | None, remarks: list[str]
    ) -> Prepared:
        keeper = None
        if ledger is not None:
            stub = RunState(found.plan, context).record(self._now())
            notes = InFlight(ledger.state_dir, self._faults)
            marker = notes.begin({**stub, "status": "running"})
            keeper = Keeper(ledger, marker)
        return Prepared(
            plan=found.plan,
            context=context,
            root=found.project.root,
            environ=self._request.environ,
            remarks=tuple(remarks),
            keeper=keeper,
            watch=keeper.marker.wait_for_wish if keeper else None,
            points=self._points(found, context, ledger),
        )

    def _points(
        self, found: Planned, context: RunContext, ledger: Ledger | None
    ) -> PointTasks | None:
        if not any(step.point for step in found.plan.steps):
            return None
        from runtimes.chant.point_tasks import PointTasks

        return PointTasks(
            points=found.catalog.points,
            project=found.project,
            ledger=ledger,
            context=context,
            plan=found.plan,
            provider=self._provider,
            wall=self._source.wall,
        )

    def _configured(self, name: str) -> Provider:
        from runtimes.models.providers import find_provider

        return find_provider(name, self._request.environ)

    def _settle_interrupted(self, ledger: Ledger, stop: Stopping) -> list[str]:
        settled = settle_interrupted(ledger, self._source.wall(), stop=stop)
        return [
            f"run {record['id']} of {record['op']} was interrupted: its process is gone"
            if record["status"] == "interrupted"
            else f"run {record['id']} of {record['op']} is in the ledger now: {record['status']}"
            for record in settled
        ]

    def _now(self) -> Moment:
        return Moment(self._source.wall(), self._source.monotonic())


def _gates(found: Planned) -> list[str]:
    return [step.gate.gate for step in found.plan.steps if step.gate is not None]
