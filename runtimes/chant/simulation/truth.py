"""Compares the ledger with what the programs of a run really did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.serve import INTERNAL_FAULT
from ops.errors import LedgerError
from runtimes.chant.op_turn import RECORD
from runtimes.chant.simulation.project import ENV

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.simulation.world import World
    from actors.work import StepEnd
    from ops.plan import Plan, PlannedPhase
    from runtimes.chant.simulation.project import SimProject

ROUNDING_S = 1e-6
LONG_S = 100.0
"""A limit of clean-up that no drawn plan reaches by itself."""


class Truth:
    """Checks all runs of a project, once all servers have ended."""

    def __init__(self, world: World, project: SimProject) -> None:
        """Watch ``project``."""
        self._world = world
        self._project = project
        self._denied = 0

    def check(self) -> None:
        """Note each run that is not in the ledger once with its true status."""
        project = self._project
        for run_id, op in project.begun.items():
            self._check_note(run_id)
            if run_id in project.withdrawn:
                continue
            found = self._records(run_id, op)
            if len(found) > 1 and project.beside and found[0]["status"] == "interrupted":
                del found[0]  # another server took it for dead; what became of it outranks that
            if len(found) != 1:
                self._count_is_wrong(run_id, len(found))
            for record in found:
                self._check_record(record)
                self._check_interrupted(record)
                self._check_clean_up(record, project.plans[op])
            self._check_limits(run_id, project.plans[op])

    def _check_note(self, run_id: str) -> None:
        """Where nothing went wrong, no run leaves its note behind; a later server takes it away."""
        servers = self._world.servers
        left = self._project.note(run_id) is not None
        if left and run_id in self._project.settled:
            self._violated("ledger", f"the note of run {run_id} was settled, and is still there")
        wrong = self._world.planned.fired or any(s.hurried or s.killed for s in servers)
        if not wrong and left:
            self._violated("ledger", f"run {run_id} has ended, and its note is still there")

    def _violated(self, rule: str, what: str) -> None:
        self._world.server.book.violated(rule, what)

    def _records(self, run_id: str, op: str) -> list[Mapping[str, Any]]:
        """Return what the ledger says of a run, oldest first."""
        try:
            lines = self._project.ledger.runs(ENV, op)
        except LedgerError as error:
            self._violated("ledger", str(error))
            return []
        if lines.damaged != (op in self._project.torn):
            self._violated("ledger", f"{lines.damaged} damaged lines of {op}")
        return [record for record in lines.records if record["id"] == run_id]

    def _count_is_wrong(self, run_id: str, count: int) -> None:
        """A run may be missing only while its note waits for a next server."""
        noted = self._project.note(run_id) is not None
        if count or not noted:
            self._violated("ledger", f"run {run_id} is {count} times in the ledger")

    def _check_record(self, record: Mapping[str, Any]) -> None:
        run_id, status = str(record["id"]), record["status"]
        last = self._last_ends(run_id)
        well = {step: end for step, end in last.items() if not step.startswith("undo")}
        bad = [step for step, end in well.items() if end.kind != "exited" or end.exit_code]
        missing = [step for step in _programs(record) if step not in well]
        if status == "ok" and (bad or missing):
            self._violated("ledger", f"run {run_id} is ok, but not {bad or missing}")
        if status == "fail" and not bad and not self._excused(record):
            self._check_denied(record, begun=bool(well))
        if status == "cancelled" and not self._cancel_possible():
            self._violated("ledger", f"run {run_id} was cancelled, and nobody asked for it")

    def _check_denied(self, record: Mapping[str, Any], *, begun: bool) -> None:
        """A run fails without a step that did only where a client had rejected its gate."""
        steps = [step for phase in record["phases"] for step in phase["steps"]]
        gates = [s for s in steps if s["fn"].startswith("gate:") and s["status"] == "fail"]
        self._denied += 1
        if begun or not gates or self._denied > len(self._project.rejected):
            self._violated("ledger", f"run {record['id']} failed, but every step went well")

    def _check_interrupted(self, record: Mapping[str, Any]) -> None:
        """Only the end of its server interrupts a run, and whether it cleaned up is known."""
        run_id = str(record["id"])
        if record["status"] != "interrupted":
            return
        cut = any(s.killed or s.hurried or s.code == INTERNAL_FAULT for s in self._world.servers)
        # Two faults while a run is recorded, of ours or of the disk, lose its record; one between
        # its note and its first step makes it one that could not be prepared.
        fired = self._world.planned.fired
        lost = sum(each.who == RECORD or each.point.startswith("file.") for each in fired) > 1
        stillborn = fired and run_id not in dict(self._begun())
        if not cut and not stillborn and not lost:
            self._violated("ledger", f"run {run_id} is interrupted, and its server ended in order")
        cleaned = any(tag == run_id and step.startswith("undo") for tag, step in self._begun())
        if cleaned and record["compensation"] == "none":
            self._violated("ledger", f"run {run_id} cleaned up, and its record does not say so")

    def _check_clean_up(self, record: Mapping[str, Any], plan: Plan) -> None:
        """on_failure ran iff the run failed or was cancelled: each phase once, in order."""
        run_id, status = str(record["id"]), record["status"]
        began = [step for tag, step in self._begun() if tag == run_id and step.startswith("undo")]
        if status in {"ok", "gated", "waiting"} and began:
            self._violated("clean-up", f"run {run_id} is {status}, but {began[0]} ran")
        if status not in {"fail", "cancelled"}:
            return
        cut_short = self._hurried() or plan.compensation_timeout_s < LONG_S
        if record["not_run"] and not cut_short:
            self._violated("clean-up", f"run {run_id} ({status}) left out {record['not_run']}")
        phases = [p for p in reversed(plan.on_failure) if p.name not in record["not_run"]]
        order = [step.partition("-")[0] for step in dict.fromkeys(began)]
        if list(dict.fromkeys(order)) != [phase.name for phase in phases]:
            self._violated(
                "clean-up", f"run {run_id} ({status}) ran {order}, of {record['not_run']}"
            )
        if not cut_short:
            self._check_cancelled_clean_up(run_id, phases)
        for phase in phases:
            for step in phase.steps:
                if began.count(step.step_id) > step.retry.attempts:
                    self._violated("clean-up", f"{step.step_id} of {run_id} ran too often")

    def _check_limits(self, run_id: str, plan: Plan) -> None:
        """No attempt of a step is ended by its time limit sooner than that."""
        phases = (*plan.phases, *plan.on_failure)
        limits = {step.step_id: step.timeout_s for phase in phases for step in phase.steps}
        for served in self._world.servers:
            for ran in served.steps.ran:
                limit_s, after_s = limits.get(ran.step_id), ran.aborted_after_s
                if ran.tag != run_id or ran.end.kind != "timed_out":
                    continue
                if limit_s is None or after_s is None or after_s < limit_s - ROUNDING_S:
                    self._violated("time", f"{ran.step_id} had {after_s} s, not {limit_s}")

    def _check_cancelled_clean_up(self, run_id: str, phases: list[PlannedPhase]) -> None:
        """Nobody cancels clean-up; a phase that fails fast does so with its own steps."""
        steps = {step.step_id for phase in phases if not phase.fail_fast for step in phase.steps}
        for step, end in self._last_ends(run_id).items():
            if step in steps and end.kind == "cancelled":
                self._violated("clean-up", f"{step} of {run_id} was cancelled")

    def _last_ends(self, run_id: str) -> dict[str, StepEnd]:
        ends: dict[str, StepEnd] = {}
        for served in self._world.servers:
            for ran in served.steps.ran:
                if ran.tag == run_id:
                    ends[ran.step_id] = ran.end
        return ends

    def _begun(self) -> list[tuple[str, str]]:
        return [each for served in self._world.servers for each in served.steps.begun]

    def _excused(self, record: Mapping[str, Any]) -> bool:
        """A fault may have failed a run whose programs knew nothing of it."""
        failure: dict[str, Any] = record["failure"] or {}
        return bool(self._world.planned.fired) or failure.get("kind") == "lost"

    def _hurried(self) -> bool:
        return any(served.hurried for served in self._world.servers)

    def _cancel_possible(self) -> bool:
        return any(
            served.book.cancels or served.book.ended_at is not None
            for served in self._world.servers
        )


def _programs(record: Mapping[str, Any]) -> list[str]:
    """Return the steps of a record's phases that are programs."""
    forward = [phase for phase in record["phases"] if not phase["on_failure"]]
    return [str(s["id"]) for p in forward for s in p["steps"] if s["fn"] == "shell"]
