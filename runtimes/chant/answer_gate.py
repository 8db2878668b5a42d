"""Answering a gate, for a command and for a client's permission: who may, and what is recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ops.gate_ledger import GateLedger
from ops.gates import IN_STEWARD_TURN, NOTHING_PENDING, GateRefused
from ops.loading import load_catalog
from ops.project import choose_environment, find_project
from runtimes.chant.place import ledger_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.faults import Faults
    from ops.gate_ledger import Answered
    from ops.gates import GateAnswer
    from ops.git import Stopping
    from ops.ledger import Ledger
    from ops.project import Project


def answer_gate(
    cwd: str,
    environ: Mapping[str, str],
    given: GateAnswer,
    now_s: float,
    *,
    stop: Stopping,
    faults: Faults | None = None,
) -> Answered:
    """Record an answer on the ledger of the project at ``cwd``; roles are looked up there.

    After ``stop`` it is written all the same, and the remote gets a few seconds.

    Raises:
        GateRefused: It is not taken.
        OpsError: There is no such project, environment, Op or ledger, or it can't be written.

    """
    refuse_steward(environ, given.gate)
    project = find_project(cwd)
    if given.env is not None:
        choose_environment(project, given.env)
    return record_answer(project, ledger_of(project, faults, stop=stop), environ, given, now_s)


def record_answer(
    project: Project,
    ledger: Ledger,
    environ: Mapping[str, str],
    given: GateAnswer,
    now_s: float,
) -> Answered:
    """Record an answer on a ledger that is open; raises as `answer_gate`."""
    refuse_steward(environ, given.gate)
    roles = project.roles_of(given.approver) if given.attested else ()
    gates = GateLedger(ledger)
    try:
        return gates.answer(replace(given, roles=roles), now_s)
    except GateRefused as error:
        if error.code == NOTHING_PENDING and not gates.book(given.op).gates:
            _check_op(project, given.op)
        raise


def refuse_steward(environ: Mapping[str, str], gate: str) -> None:
    """Let no steward open what a person should.

    Raises:
        GateRefused: The process works for a steward.

    """
    steward = environ.get("CHANT_STEWARD")
    if steward:
        reason = f"gate {gate} is for people, and this is the turn of steward {steward}"
        raise GateRefused(IN_STEWARD_TURN, reason)


def _check_op(project: Project, name: str) -> None:
    """Say so if the project has no such Op, for nothing is pending then either."""
    catalog = load_catalog(project)
    if name not in catalog.broken:
        catalog.find(name)
