"""What an engine offers that runs Ops: the local one, or a durable one elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.events import RunStatus
    from ops.plan import Plan
    from ops.run_values import RunContext


@dataclass(frozen=True, slots=True)
class Approval:
    """Someone's word on a gate."""

    op: str
    gate: str
    env: str
    approver: str
    rejects: bool = False
    note: str = ""


class Engine(Protocol):
    """Starts runs and tells of them.  Every method may wait for I/O and raises `OpsError`."""

    @property
    def name(self) -> str:
        """What ``chant run --on NAME`` says."""
        ...

    def start(self, plan: Plan, context: RunContext) -> str:
        """Start a run and return its id; it goes on after this returns."""
        ...

    def approve(self, approval: Approval) -> None:
        """Record an answer to a pending gate and let a run that waits for it go on."""
        ...

    def cancel(self, run_id: str, *, hard: bool) -> None:
        """Ask a run to stop; clean-up follows unless it is ``hard``."""
        ...

    def status(self, run_id: str) -> RunStatus | None:
        """Return how a run ended; None while it runs."""
        ...

    def history(self, op: str, env: str) -> Sequence[Mapping[str, Any]]:
        """Return the records of an Op's runs, oldest first."""
        ...
