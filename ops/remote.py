"""The ledger's branch on a remote: fetched, united with ours, pushed.  Never forced.

Whoever publishes first stays first: a push that is refused because others were faster is tried
again on top of what they published.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ops.branch import PATIENCE_S, pauses
from ops.git import GitFailed

if TYPE_CHECKING:
    from ops.branch import Branch
    from ops.git import Git, Stopping

TIMEOUT_S = 60.0
"""For one talk with the remote."""

BEHIND = (
    "fetch first",
    "non-fast-forward",
    "stale info",
    "cannot lock ref",
    "failed to update ref",
    "reference already exists",
)
"""What git says when the remote's branch has moved, or is just being moved, by someone else."""

NOT_THERE = "couldn't find remote ref"
FETCHED = "refs/chant/published"
"""Where a remote's branch is kept, one ref a remote: no branch of the user's and no tag."""


class Remote:
    """One remote's copy of the ledger's branch."""

    def __init__(self, git: Git, branch: Branch, name: str, stop: Stopping | None = None) -> None:
        """Talk to the remote that git knows as ``name``, a name or an address.

        After ``stop`` a talk gets a few seconds, and none is begun again.
        """
        self._git = git
        self._branch = branch
        self._name = name
        self._stop = stop

    def fetch(self) -> None:
        """Bring in what others published.

        Raises:
            LedgerError: The remote can't be reached, or the two can't be united.

        """
        import hashlib

        kept = f"{FETCHED}/{hashlib.sha256(self._name.encode()).hexdigest()[:12]}"
        refs = f"+{self._branch.ref}:{kept}"
        try:
            self._talk("fetch", "--quiet", "--no-tags", self._name, refs)
        except GitFailed as error:
            if NOT_THERE in error.detail:
                return
            raise
        published = self._git.text("rev-parse", "--verify", f"{kept}^{{commit}}")
        self._branch.merge(published)

    def push(self) -> None:
        """Publish our branch, on top of what others have published meanwhile.

        Raises:
            LedgerError: The remote can't be reached or refuses, or others won for a minute.

        """
        give_up_s = time.monotonic() + PATIENCE_S
        refs = f"{self._branch.ref}:{self._branch.ref}"
        for pause_s in pauses():
            try:
                self._talk("push", "--quiet", self._name, refs)
            except GitFailed as error:
                behind = any(sign in error.detail for sign in BEHIND)
                if not behind or time.monotonic() > give_up_s or self._stopped():
                    raise
            else:
                return
            self._git.pause(pause_s)
            self.fetch()

    def _talk(self, *args: str) -> None:
        self._git.run(*args, timeout_s=TIMEOUT_S, stop=self._stop)

    def _stopped(self) -> bool:
        return self._stop is not None and self._stop.is_set()
