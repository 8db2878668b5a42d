"""A simulated project: its Ops, its ledger, and the truth about its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from ops.errors import OpNotFound
from ops.in_flight import InFlight, Machine, over_path, settle_interrupted
from ops.ledger import Ledger
from ops.project import LedgerSettings, Project, Steward
from ops.run_files import runs_path
from ops.run_id import new_run_id
from ops.run_state import RunState
from ops.run_values import Moment, RunContext
from runtimes.chant.answer_gate import record_answer
from runtimes.chant.place import Premises
from runtimes.chant.point_tasks import PointTasks
from runtimes.chant.project_tasks import RUN_ID_BYTES, Keeper, ProjectTasks
from runtimes.chant.run_tasks import Prepared, RunRefused
from runtimes.chant.simulation.branch import SimBranch
from runtimes.chant.simulation.model import CAPABILITY, POINTS, STEWARD
from runtimes.chant.verbs.verb import USAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.simulation.disk import SimDisk
    from actors.simulation.platform import SimPlatform
    from ops.gate_ledger import Answered
    from ops.gates import GateAnswer
    from ops.git import Stopping
    from ops.plan import Plan
    from runtimes.chant.run_tasks import RunRequest
    from runtimes.models.base import Provider

ENV = "local"
STATE = "state"
PID = 7
"""Of every server: a machine that was started again gives the numbers out anew."""
SETTINGS = Project("/", stewards={STEWARD: Steward(STEWARD, capabilities=(CAPABILITY,))})
RunMoment: TypeAlias = Literal["recorded", "cleaning", "writing"]
"""The ledger has moved; clean-up is about to be marked; a file is open, and nothing in it yet."""


class SimProject:
    """Outlives servers, as the disk does."""

    def __init__(self, platform: SimPlatform, disk: SimDisk, plans: Mapping[str, Plan]) -> None:
        """Have ``plans`` by the names of their Ops."""
        self.platform = platform
        self.disk = disk
        self.plans = plans
        self._branch = SimBranch(platform, disk, lambda: self.reached("recorded"))
        branch = cast("Any", self._branch)
        self.ledger = Ledger(LedgerSettings(), STATE, branch, cast("Any", None))
        self._changed = platform.condition()
        self._reached: dict[RunMoment, int] = {}
        disk.opened = lambda: self.reached("writing")
        self.watched = False
        """Runs listen for ``chant run cancel`` of another process."""
        self.beside = False
        """Servers run at once, and can't see whether the other lives."""
        self.torn: set[str] = set()
        """Ops whose ledger began with a line that was cut off."""
        self.provider: Provider | None = None
        """Answers where a model is asked."""
        self.process = 0
        """Counts servers; a note of another one is abandoned."""
        self.rejected: list[str] = []
        """Requests that a client has said no to."""
        self.begun: dict[str, str] = {}
        """Op by id of each run that may have left a trace."""
        self.withdrawn: set[str] = set()
        """Runs that were cancelled, or whose server was killed, before their first step."""
        self.noted: dict[str, int] = {}
        """The server by id of each run."""
        self.settled: set[str] = set()
        """Runs of which a later server has settled what their own had left."""

    def reached(self, moment: RunMoment) -> None:
        """Note that some run came to a moment."""
        with self._changed:
            self._reached[moment] = self._reached.get(moment, 0) + 1
            self._changed.notify_all()

    def wait_for(self, moment: RunMoment, times: int = 1) -> None:
        """Wait until runs have come to a moment so many times."""
        with self._changed:
            while self._reached.get(moment, 0) < times:
                self._changed.wait()

    def tear(self, op: str) -> None:
        """Begin the ledger of an Op with a line that somebody's tool has cut off."""
        self.torn.add(op)
        self._branch.edit(lambda _tree: {runs_path(ENV, op): b'{"id": "2026'}, "torn")

    def premises(self) -> Premises:
        """Return where verbs find this project, whatever the working directory is."""

        def project(cwd: str) -> Project:
            del cwd
            return SETTINGS

        def ledger(settings: Project) -> Ledger:
            del settings
            return self.ledger

        return Premises(project, ledger, self.platform.wall)

    @property
    def in_flight(self) -> InFlight:
        """The notes of runs, as the newest server's process sees them."""
        me = str(self.process)

        def started(pid: int) -> str:
            del pid
            return me

        return InFlight(STATE, machine=Machine(self.disk, lambda: PID, started))

    def note(self, run_id: str) -> bytes | None:
        """Return the note of a run, also one that tells by its name that it is over; or None."""
        path = f"{STATE}/runs/{run_id}.json"
        found = self.disk.read(path)
        return self.disk.read(over_path(path)) if found is None else found

    def settle_interrupted(self) -> list[str]:
        """Record the runs whose process is gone."""
        earlier = {run_id for run_id, server in self.noted.items() if server < self.process}
        notes = self.in_flight.abandoned()
        settled = settle_interrupted(self.ledger, self.platform.wall(), notes)
        self.settled |= earlier
        return [str(record["id"]) for record in settled]


class SimTasks(ProjectTasks):
    """The real tasks of a run on a simulated project."""

    def __init__(self, request: RunRequest, project: SimProject) -> None:
        """Work for ``request``."""
        super().__init__(request, project.platform, provider=lambda _name: self._model())
        self._project = project
        self._op = request.op
        self._environ = request.environ

    def withdraw(self, prepared: Prepared) -> None:
        """See `RunTasks.withdraw`."""
        super().withdraw(prepared)
        self._project.withdrawn.add(prepared.context.run_id)

    def answer(self, given: GateAnswer, stop: Stopping) -> Answered:
        """See `AnswerTasks.answer`."""
        now_s, ledger = self._project.platform.wall(), self._project.ledger.heeding(stop)
        return record_answer(SETTINGS, ledger, self._environ, given, now_s)

    def plan(self) -> Plan:
        """See `AnswerTasks.plan`."""
        plan = self._project.plans.get(self._op)
        if plan is None:
            message = f"no op {self._op!r}"
            raise OpNotFound(message)
        return plan

    def mark_compensation(self, prepared: Prepared) -> None:
        """See `RunTasks.mark_compensation`."""
        self._project.reached("cleaning")
        super().mark_compensation(prepared)

    def _prepare(self, stop: Stopping) -> Prepared | RunRefused | None:
        project, platform = self._project, self._project.platform
        plan = project.plans.get(self._op)
        if plan is None:
            return RunRefused(f"no op {self._op!r}", USAGE)
        remarks = [f"run {run_id} was interrupted" for run_id in project.settle_interrupted()]
        run_id = new_run_id(platform.wall(), platform.entropy(RUN_ID_BYTES))
        context = RunContext(run_id, steward=STEWARD)
        if stop.is_set():
            return None
        now = Moment(platform.wall(), platform.monotonic())
        stub = {**RunState(plan, context).record(now), "status": "running"}
        project.begun[context.run_id] = self._op
        project.noted[context.run_id] = project.process
        try:
            marker = project.in_flight.begin(stub)
        except BaseException:  # also a kill: then the run has not begun
            project.withdrawn.add(context.run_id)
            raise
        keeper = Keeper(project.ledger, marker)
        points = PointTasks(
            points=POINTS,
            project=SETTINGS,
            ledger=project.ledger,
            context=context,
            plan=plan,
            provider=self._provider,
            wall=platform.wall,
        )
        watch = marker.wait_for_wish if project.watched else None
        return Prepared(plan, context, "/", {}, tuple(remarks), keeper, watch, points)

    def _model(self) -> Provider:
        provider = self._project.provider
        assert provider is not None  # noqa: S101 - who has questions sets one
        return provider
