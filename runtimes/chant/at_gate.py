"""What a run that stopped at a gate asks its client, under ``--durable-requests``.  Pure.

The request is sent and not waited for: the turn ends, and a later prompt answers.  An answer to
the request itself opens nothing: clients that allow everything by themselves answer at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protocol.values import frozen
from runtimes.chant.items import PermissionAsked
from runtimes.chant.permissions import OpenRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.chant.permissions import PermissionDesk
    from runtimes.chant.verbs.verb import Invocation

WAITING = "waiting"
END_TURN = "end_turn"


@frozen
class DurableGates:
    """Asks for one command line in one session."""

    desk: PermissionDesk
    session_id: str
    invocation: Invocation
    key: str
    """Begins request ids; unique in the session, also among its other processes."""
    strict: bool
    """End turns with a stop reason of the protocol's closed set."""

    @property
    def stop_reason(self) -> str:
        """How a turn ends that waits for an answer."""
        return END_TURN if self.strict else WAITING

    def ask(self, record: Mapping[str, Any]) -> PermissionAsked:
        """Open a request for the gate that the run of ``record`` stopped at."""
        fact: Mapping[str, Any] = record["gate"]
        request = OpenRequest(f"{self.key}/permission", self.session_id, self.invocation, fact)
        self.desk.open(request)
        return PermissionAsked(request.request_id, record["id"], _title(record), fact)


def _title(record: Mapping[str, Any]) -> str:
    """Return the title that the gate's step was announced with."""
    step_id = record["gate"]["step"]
    titles = (
        f"{phase['name']} / {step['fn']}"
        for phase in record["phases"]
        for step in phase["steps"]
        if step["id"] == step_id
    )
    return next(titles)
