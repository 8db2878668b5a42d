"""What this process may do: profile, rules and grants, and who answers where they don't say."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from protocol.values import slotted
from runtimes.radian.permissions import decide

if TYPE_CHECKING:
    from runtimes.radian.asker import Asker
    from runtimes.radian.permissions import Decision, GrantKey, Request
    from runtimes.radian.profiles import ProfileName
    from runtimes.radian.rules import Rules

NOBODY = "nobody is there to ask; a rule (--allow), another --profile or --yes would allow it"


@slotted
class Policy:
    """The permissions of one session.  Used by one thread at a time."""

    profile: ProfileName
    rules: Rules
    yes: bool = False
    """Whatever would be asked is allowed once."""
    asker: Asker | None = None
    grants: set[GrantKey] = field(default_factory=set["GrantKey"])
    """What was allowed for the life of the process; never written anywhere."""

    def decide(self, request: Request, veto: str | None = None) -> Decision:
        """Decide one use of a tool; ``veto`` is a hook's reason against it."""
        return decide(request, self.rules, frozenset(self.grants), self.profile, veto=veto)
