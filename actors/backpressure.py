"""BackpressureActor: owns the gate, closes it, and says when a client does not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from actors.base import Actor
from actors.messages import Tick
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from actors.address import Address
    from actors.base import System
    from actors.gate import Gate

STALL_NOTICE_S = 30.0
"""A client that leaves the gate full for this long is worth a line in the log."""


class GateStatus(NamedTuple):
    """The answer to an ask for `GateStatus` itself: the gate's figures at one moment."""

    pending: int = 0
    peak: int = 0
    waiting: int = 0
    abandoned: int = 0


BackpressureMessage: TypeAlias = GateStatus | Tick


class BackpressureActor(Actor[BackpressureMessage]):
    """The gate's owner.  Producers and the writer use the gate itself, never this mailbox."""

    def __init__(self, system: System, address: Address[BackpressureMessage], gate: Gate) -> None:
        """Own ``gate``, which outlives a restart of this actor."""
        super().__init__(system, address)
        self._gate = gate
        self._stalled_since: float | None = None

    def started(self) -> None:
        """Begin to look for a client that does not read."""
        self.arm_timer("stall", STALL_NOTICE_S)

    def receive(self, message: BackpressureMessage) -> GateStatus | None:
        """Report, or look whether somebody waits."""
        match message:
            case GateStatus():
                gate = self._gate
                return GateStatus(gate.pending, gate.peak, gate.waiting, gate.abandoned)
            case Tick():
                self._look()
        return None

    def stopped(self) -> None:
        """No owner, no gate."""
        abandoned = self._gate.close()
        self.system.telemetry.event("gate_closed", self.address.name, abandoned=abandoned)

    def _look(self) -> None:
        now = self.system.platform.monotonic()
        if not self._gate.waiting:
            self._stalled_since = None
        elif self._stalled_since is None:
            self._stalled_since = now
        else:
            self.system.telemetry.event(
                "client_stalled",
                self.address.name,
                seconds=round(now - self._stalled_since),
                waiting=self._gate.waiting,
            )
        self.arm_timer("stall", STALL_NOTICE_S)
