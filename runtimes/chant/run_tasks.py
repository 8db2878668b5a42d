"""The work of a run that looks at the disk, as functions for leaf threads.

`OpTurn` starts each as a step of its own and never does any of it itself.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.gate_ledger import Answered
    from ops.gates import GateAnswer
    from ops.git import Stopping
    from ops.in_flight import Waiting, Wish
    from ops.plan import Plan
    from ops.run_values import GateAnswered, Origin, RecordGate, RunContext
    from runtimes.chant.point_tasks import PointTasks


@frozen
class RunRequest:
    """Which run was asked for, where, and by whom."""

    op: str
    cwd: str
    """Absolute."""
    environ: Mapping[str, str]
    """What the server, or the command line, was started with.  Never shown."""
    env: str | None = None
    params: tuple[str, ...] = ()
    """As typed: ``name=value``."""
    no_ledger: bool = False
    ignore_depends: bool = False
    origin: Origin = "cli"
    steward: str | None = None


@frozen
class Prepared:
    """A run that may start: checked, planned, and marked as in flight."""

    plan: Plan
    context: RunContext
    root: str
    """The project's folder, where its steps run.  Absolute."""
    environ: Mapping[str, str]
    remarks: tuple[str, ...] = ()
    """What people should know before it starts, one sentence each."""
    keeper: Any = None
    """The tasks' own: the ledger and the marker."""
    watch: Callable[[Waiting, Wish | None], Wish | None] | None = None
    """Waits until another process asks the run to stop, see `ops.in_flight.Marker.wait_for_wish`;
    None where nobody can."""
    points: PointTasks | None = None
    """What asks the run's questions; None where a run has none to ask."""


@frozen
class RunRefused:
    """The run can't start; nothing has happened.  ``code`` is the exit code."""

    reason: str
    code: int


@frozen
class Recorded:
    """The run is in the ledger, or ``lost`` says why it is not."""

    remarks: tuple[str, ...] = ()
    lost: str | None = None


@frozen
class GateLooked:
    """What the ledger says of a gate; whatever it lets the run do is written there already."""

    answer: GateAnswered
    remarks: tuple[str, ...] = ()


class RunTasks(Protocol):
    """What `OpTurn` has done for it.  Each may wait for disk and git, none for people."""

    def prepare(self, stop: Stopping) -> Prepared | RunRefused | None:
        """Load, check, plan, and mark the run as in flight; None when ``stop`` came first."""
        ...

    def withdraw(self, prepared: Prepared) -> None:
        """Take the mark of a run back that was cancelled before its first step."""
        ...

    def reach_gate(self, prepared: Prepared, asked: RecordGate, stop: Stopping) -> GateLooked:
        """Look a gate up, and record that it is asked, or that its approval is used."""
        ...

    def mark_compensation(self, prepared: Prepared) -> None:
        """Note durably that clean-up begins."""
        ...

    def record(self, prepared: Prepared, record: Mapping[str, Any], stop: Stopping) -> Recorded:
        """Append the run to the ledger and drop its mark.

        After ``stop`` no remote holds it up; one that hears nothing, not for long where the run
        was cancelled.
        """
        ...


class AnswerTasks(Protocol):
    """What a prompt has done for it that answers a request of ours.  Each may wait for disk."""

    def answer(self, given: GateAnswer, stop: Stopping) -> Answered:
        """Record what was said of a gate; after ``stop`` no remote holds it up for long.

        Raises:
            GateRefused: It is not taken.
            OpsError: There is no ledger, or it can't be written.

        """
        ...

    def plan(self) -> Plan:
        """Return what the command line would run now.

        Raises:
            OpsError: It would run nothing.

        """
        ...


class SessionTasks(RunTasks, AnswerTasks, Protocol):
    """All that one command line of a session has done for it."""


@frozen
class RunOutcome:
    """What a run came to, for the command line."""

    code: int
    record: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reason: str = ""
    """Why it never started; empty when it did."""
