"""May a prepared call run?  What the policy says, what a person answers, as one ruling.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.values import frozen
from runtimes.radian.asker import Chosen, NotAnswered
from runtimes.radian.permissions import Allow, Ask, Deny
from runtimes.radian.policy import NOBODY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.radian.asker import Reply
    from runtimes.radian.permissions import GrantKey
    from runtimes.radian.policy import Policy
    from runtimes.radian.records import DecidedBy, Decision
    from runtimes.radian.tools.base import Prepared

DECIDED_BY: Mapping[str, DecidedBy] = {
    "hook": "hook",
    "rule": "rule",
    "grant": "grant",
    "profile": "profile",
    "person": "user",
    "yes": "yes",
    "nobody": "nobody",
}


@frozen
class Ruling:
    """What was decided and by whom; of a denial, why."""

    decision: Decision
    source: DecidedBy
    reason: str | None = None


def rule(prepared: Prepared, policy: Policy, veto: str | None = None) -> Ruling | Ask:
    """Decide a call, or say what a person must be asked.  ``veto``: a hook's reason against it."""
    decision = policy.decide(prepared.request, veto)
    match decision:
        case Allow(source):
            return Ruling("allow_once", DECIDED_BY[source])
        case Deny(source, reason):
            return Ruling("deny", DECIDED_BY[source], reason)
        case Ask() if policy.yes:
            return Ruling("allow_once", "yes")
        case Ask(reason) if policy.asker is None:
            words = f"{prepared.tool} needs a person's consent: {NOBODY}"
            return Ruling("deny", "nobody", f"{words} ({reason})" if reason else words)
        case Ask():
            return decision


def rule_by_reply(reply: Reply, grant: GrantKey | None, policy: Policy) -> Ruling:
    """Read a person's answer; allowing a use always is remembered in ``policy``."""
    if isinstance(reply, NotAnswered):
        return Ruling("deny", "user", reply.reason)
    chosen = reply.option_id if isinstance(reply, Chosen) else ""
    if chosen == "allow_always" and grant is not None:
        policy.grants.add(grant)
        return Ruling("allow_always", "user")
    if chosen == "allow_once":
        return Ruling("allow_once", "user")
    return Ruling("deny", "user", "the user rejected it")
