"""What a turn of chant says, before anyone decided how it looks.

The events of `ops` are said as they are; these are the few things beside them.  `updates` makes
protocol messages of all of them, `render` makes lines for a terminal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.events import Event
    from ops.plan import Plan


@frozen
class PlanAnnounced:
    """What is about to run: every declared step, before the first one starts."""

    run_id: str
    plan: Plan


@dataclass(frozen=True, slots=True)
class Remark:
    """Text for people that belongs to no step: a warning, a refusal, help."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Refusal(Remark):
    """Why a run was refused; on the command line it reads like the errors of other verbs."""


@frozen
class VerbOutput:
    """A piece of what a verb printed."""

    message_id: str
    text: str


@frozen
class RecordWritten:
    """The run's line in the ledger, the last thing a run says."""

    run_id: str
    record: Mapping[str, Any]


@frozen
class PermissionAsked:
    """The client is asked to open a gate: a request of its own, which a later prompt answers."""

    request_id: str
    run_id: str
    title: str
    """Of the gate's tool call."""
    fact: Mapping[str, Any]
    """The pending fact, with ``step``, the id of the gate's step."""


Item: TypeAlias = "Event | PlanAnnounced | Remark | VerbOutput | RecordWritten"
"""All that becomes updates of a session; `PermissionAsked` becomes a request."""
