"""A simulated project: its Ops, its ledger, and the truth about its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ops.ledger import Ledger
from ops.project import LedgerSettings
from ops.record import interrupted_record
from ops.run_id import new_run_id
from ops.run_state import RunState
from ops.run_values import Moment, RunContext
from runtimes.chant.project_tasks import RUN_ID_BYTES, Keeper, ProjectTasks
from runtimes.chant.run_tasks import Prepared, RunRefused
from runtimes.chant.simulation.branch import SimBranch
from runtimes.chant.simulation.notes import SimMarker, abandoned
from runtimes.chant.verbs.verb import USAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.simulation.disk import SimDisk
    from actors.simulation.platform import SimPlatform
    from ops.plan import Plan
    from runtimes.chant.run_tasks import Recorded, RunRequest, Stopping

ENV = "local"


class SimProject:
    """Outlives servers, as the disk does."""

    def __init__(self, platform: SimPlatform, disk: SimDisk, plans: Mapping[str, Plan]) -> None:
        """Have ``plans`` by the names of their Ops."""
        self.platform = platform
        self.disk = disk
        self.plans = plans
        branch = cast("Any", SimBranch(platform, disk))
        self.ledger = Ledger(LedgerSettings(), "state", branch, cast("Any", None))
        self.process = 0
        """Counts servers; a note of another one is abandoned."""
        self.begun: dict[str, str] = {}
        """Op by id of each run that may have left a trace."""
        self.withdrawn: set[str] = set()
        """Runs that were cancelled, or whose server was killed, before their first step."""
        self.lost: dict[str, str] = {}
        """Runs that are not in the ledger, as their turns were told, and why."""

    def settle_interrupted(self) -> list[str]:
        """Record the runs whose process is gone, as `ops.in_flight` does."""
        settled: list[str] = []
        for marker, compensating in abandoned(self.disk, self.process):
            record = interrupted_record(
                marker.record, self.platform.wall(), compensating=compensating
            )
            if self.ledger.append_run(record).commit is not None:
                settled.append(str(record["id"]))
            marker.end()
        return settled


class SimTasks(ProjectTasks):
    """The real tasks of a run on a simulated project."""

    def __init__(self, request: RunRequest, project: SimProject) -> None:
        """Work for ``request``."""
        super().__init__(request, project.platform)
        self._project = project
        self._op = request.op

    def withdraw(self, prepared: Prepared) -> None:
        """See `RunTasks.withdraw`."""
        super().withdraw(prepared)
        self._project.withdrawn.add(prepared.context.run_id)

    def record(self, prepared: Prepared, record: Mapping[str, Any]) -> Recorded:
        """See `RunTasks.record`."""
        recorded = super().record(prepared, record)
        if recorded.lost is not None:
            self._project.lost[prepared.context.run_id] = recorded.lost
        return recorded

    def _prepare(self, stop: Stopping) -> Prepared | RunRefused | None:
        project, platform = self._project, self._project.platform
        plan = project.plans.get(self._op)
        if plan is None:
            return RunRefused(f"no op {self._op!r}", USAGE)
        remarks = [f"run {run_id} was interrupted" for run_id in project.settle_interrupted()]
        context = RunContext(new_run_id(platform.wall(), platform.entropy(RUN_ID_BYTES)))
        if stop.is_set():
            return None
        now = Moment(platform.wall(), platform.monotonic())
        stub = {**RunState(plan, context).record(now), "status": "running"}
        marker = SimMarker(project.disk, project.process, stub)
        project.begun[context.run_id] = self._op
        try:
            marker.write(compensating=False)
        except BaseException:  # also a kill: then the run has not begun
            project.withdrawn.add(context.run_id)
            raise
        keeper = Keeper(project.ledger, cast("Any", marker))
        return Prepared(plan, context, "/", {}, tuple(remarks), keeper)
